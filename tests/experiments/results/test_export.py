"""What `simcli export` writes: traces, decoded here without any code of the project's, and tables."""

import collections
import csv
import json
import sqlite3
import subprocess

import pytest

from test_transcripts import HERE, ROOT, simcli

VARINT, FIXED64, BYTES = 0, 1, 2
BEGIN, END, INSTANT = 1, 2, 3
MONOTONIC = 3


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 0x80:
            return value, at


def fields(data):
    """Field number -> list of values of one protobuf message."""
    found, at = collections.defaultdict(list), 0
    while at < len(data):
        tag, at = varint(data, at)
        number, wire = tag >> 3, tag & 7
        if wire == VARINT:
            value, at = varint(data, at)
        elif wire == FIXED64:
            value, at = int.from_bytes(data[at:at + 8], "little"), at + 8
        else:
            assert wire == BYTES, f"wire type {wire}"
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size
        found[number].append(value)
    return found


def texts(interned, number):
    return {name[1][0]: name[2][0].decode() for name in map(fields, interned[number])}


class Export:
    """The packets of a trace as Perfetto's importer would take them: tracks, names, slices that nest, and arrows."""

    def __init__(self, data):
        self.tracks, self.parents, self.processes, self.threads = {}, {}, {}, {}
        self.names, self.detail_names, self.detail_texts = {}, {}, {}
        self.slices = collections.defaultdict(list)  # name of a track -> (name, begin, end)
        self.rows = collections.defaultdict(set)  # name of a track -> tracks of that name
        self.details = collections.defaultdict(list)  # name of an event -> what is said of each such event
        self.flowing, self.arrows, self.clocks = {}, [], set()
        self.open, self.instants, self.last = collections.defaultdict(list), set(), 0
        for packet in fields(data)[1]:
            self.take(fields(packet))
        assert not any(self.open.values()), "every slice ends"
        assert not self.flowing, "every arrow arrives"

    def take(self, packet):
        assert packet[10] == [1], "one sequence"
        if 6 in packet:
            self.clocks = {fields(clock)[1][0] for clock in fields(packet[6][0])[1]}
        if 12 in packet:
            assert packet[13] == [1], "the state begins with the names"
            interned = fields(packet[12][0])
            self.names = texts(interned, 2)
            self.detail_names, self.detail_texts = texts(interned, 3), texts(interned, 29)
        if 60 in packet:
            self.take_track(fields(packet[60][0]))
        if 11 in packet:
            self.take_event(packet, fields(packet[11][0]))

    def take_track(self, track):
        uuid = track[1][0]
        assert uuid not in self.tracks
        self.tracks[uuid] = track[2][0].decode() if 2 in track else ""
        if 3 in track:
            process = fields(track[3][0])
            self.processes[process[1][0]] = process[6][0].decode()
        if 4 in track:
            thread = fields(track[4][0])
            assert 2 not in track, "a thread's track has the thread's name"
            assert (thread[1][0], thread[2][0]) not in self.threads, "one track for a thread"
            self.threads[thread[1][0], thread[2][0]] = thread[5][0].decode() if 5 in thread else ""
            self.tracks[uuid] = f"thread {thread[2][0]}"
        if 5 in track:
            assert track[5][0] in self.tracks, "a parent comes first"
            self.parents[uuid] = track[5][0]

    def take_event(self, packet, event):
        when, track = packet[8][0], event[11][0]
        assert packet[58] == [MONOTONIC] and packet[13] == [2]
        assert when >= self.last, "in order of time"
        self.last = when
        self.rows[self.tracks[track]].add(track)
        if event[9] == [END]:
            name, begin = self.open[track].pop()
            self.slices[self.tracks[track]].append((name, begin, when))
            return
        name = self.names[event[10][0]]
        if event[9] == [BEGIN]:
            self.open[track].append((name, when))
        else:
            assert event[9] == [INSTANT]
            self.slices[self.tracks[track]].append((name, when, when))
            self.instants.add(name)
        self.details[name].append(dict(map(self.detail, event[4])))
        for flow in event[47]:
            assert flow not in self.flowing
            self.flowing[flow] = name
        for flow in event[48]:
            self.arrows.append((self.flowing.pop(flow), name))

    def detail(self, annotation):
        annotation = fields(annotation)
        value = self.detail_texts[annotation[17][0]] if 17 in annotation else annotation[3][0]
        return self.detail_names[annotation[1][0]], value

    def count(self, start_of_name):
        return sum(len(slices) for track, slices in self.slices.items() if track.startswith(start_of_name))


def export(capture, folder):
    output = folder / "x.pftrace"
    subprocess.run([str(simcli()), "export", str(capture), "-o", str(output)], check=True, capture_output=True)
    return Export(output.read_bytes())


@pytest.fixture(name="trace")
def trace_of_two_programs(tmp_path):
    return export(HERE / "transcripts" / "files" / "together.corun", tmp_path)


def test_frames_and_kernels_of_two_programs_are_on_one_axis(trace):
    assert trace.processes == {4242: "train", 77: "game"}
    assert MONOTONIC in trace.clocks
    assert trace.slices["GPU 0 context 1 stream 7"][:2] == [
        ("gemm", 5_000_006_000, 5_000_026_000), ("relu", 5_000_066_000, 5_000_086_000)]
    assert trace.slices["frames of game vulkan 1"][:2] == [
        ("frame 1", 5_000_100_000, 5_000_150_000), ("frame 2", 5_000_150_000, 5_000_250_000)]


def test_a_thread_of_the_host_is_a_thread_of_its_process(trace):
    assert trace.threads == {(4242, 4242): "main", (77, 77): "main"}
    assert trace.count("thread 4242") == 8


def test_visits_that_overlap_go_to_a_second_row_of_the_same_track(trace):
    assert len(trace.rows["graphics queue 1"]) == 2
    assert len(trace.slices["graphics queue 1"]) == 8


def test_an_arrow_leads_from_every_call_to_its_first_operation(trace):
    arrows = collections.Counter(trace.arrows)
    assert arrows["launch", "gemm"] + arrows["launch", "relu"] == 8
    assert arrows["launch", "render 2"] == 2


def test_visits_carry_the_number_of_their_frame_and_an_arrow_leads_to_them(trace):
    visits = [name for name, _, _ in trace.slices["graphics queue 1"]]
    assert sorted(visits) == [f"render {i}" for i in (1, 2, 3, 4) for _ in range(2)]
    for i in (1, 2, 3, 4):
        assert trace.arrows.count((f"frame {i}", f"render {i}")) == 2


def test_kernels_have_short_names_and_tell_the_rest_when_asked(trace):
    assert trace.details["gemm"][0]["full name"] == "gemm(float*, float const*)"


def test_spans_of_the_gpu_are_shown_where_frames_have_several_visits(trace):
    assert trace.count("GPU spans") == 4


SAMPLES = sorted((ROOT / "traces" / "samples").glob("*.*.gz")) + sorted((ROOT / "traces" / "samples").glob("*.csv"))


@pytest.mark.parametrize("capture", SAMPLES, ids=lambda path: path.name)
def test_every_capture_can_be_exported_whole(tmp_path, capture):
    said = subprocess.run([str(simcli()), "info", str(capture), "--json"], check=True, capture_output=True, text=True)
    facts = json.loads(said.stdout)
    trace = export(capture, tmp_path)
    assert trace.count("GPU 0") == facts["kernels"] + facts["memops"]
    assert trace.count("frames of") == facts["frames"]


H200 = ROOT / "traces" / "samples" / "h200"


@pytest.fixture(name="recorded", scope="module")
def recorded_trace(tmp_path_factory):
    if not (H200 / "together.corun").exists():
        pytest.skip("traces/samples/h200 is not there")
    return export(H200 / "together.corun", tmp_path_factory.mktemp("h200"))


def test_spans_that_repeat_the_only_visit_of_their_frame_are_left_out(recorded):
    assert recorded.count("graphics queue") > 200
    assert recorded.count("GPU spans") == 0


def test_no_arrow_is_lost_where_work_began_before_its_call(recorded):
    frames = [arrow for arrow in recorded.arrows if "frame" in arrow[0] + arrow[1]]
    assert len(frames) == recorded.count("graphics queue")
    assert all(a.split()[1] == b.split()[1] for a, b in frames)
    launches = collections.Counter(a == "launch" for a, b in recorded.arrows if "launch" in (a, b))
    assert launches[True] > launches[False] > 0


def test_a_first_frame_of_no_length_is_an_instant(recorded):
    [(name, begin, end)] = [frame for frame in recorded.slices["frames of ioquake3 gl 1"] if frame[1] == frame[2]]
    assert name == "frame 1" and recorded.instants == {"notes", name}


def test_notes_stand_at_the_start_of_the_program_that_they_name(recorded):
    first = min(begin for slices in recorded.slices.values() for _, begin, _ in slices)
    assert recorded.slices["notes"] == [("notes", first, first)]
    [notes] = recorded.details["notes"]
    assert "frames have visits whose GPU time is not known" in notes["note 1"]


def test_the_shape_of_a_launch_is_told(recorded):
    for of_kernel in recorded.details["cudnn::bn_bw_1C11_kernel_new"]:
        assert set(of_kernel) >= {"full name", "grid", "block", "registers per thread"}
    assert any("bytes" in of_set for of_set in recorded.details["Memset"])


@pytest.fixture(name="results", scope="module")
def results_of_a_short_run(tmp_path_factory):
    output = tmp_path_factory.mktemp("results") / "held.sqlite"
    experiment = HERE / "transcripts" / "files" / "held.yaml"
    done = subprocess.run([str(simcli()), "run", str(experiment), "-o", str(output), "--set", "record.operations=all"],
                          capture_output=True, text=True, check=False)
    assert output.exists(), done.stderr
    return output


def export_results(results, output, *options):
    subprocess.run([str(simcli()), "export", str(results), "-o", str(output), *options], check=True,
                   capture_output=True)
    return output


def rows_of(results, query, *values):
    database = sqlite3.connect(results)
    return database.execute(query, values).fetchall()


def first_run(results):
    return rows_of(results, "SELECT id, scenario || '.' || policy || '.' || seed FROM runs LIMIT 1")[0]


def test_a_run_is_a_timeline_of_operations_holds_and_decisions(results, tmp_path):
    run, name = first_run(results)
    trace = Export(export_results(results, tmp_path / "r.pftrace", "--run", name).read_bytes())
    clients = {row[0] for row in rows_of(results, "SELECT DISTINCT client FROM operations WHERE run = ?", run)}
    assert clients <= set(trace.processes.values())
    for start, table in {"stream ": "operations", "held at its gate": "holds", "decisions": "decisions",
                         "frames, present to present": "frames"}.items():
        [(count,)] = rows_of(results, f"SELECT count(*) FROM {table} WHERE run = ?", run)
        assert trace.count(start) == count, table
    spans = rows_of(results, "SELECT begin_ns, end_ns FROM operations WHERE run = ? ORDER BY 1, 2", run)
    shown = sorted(s[1:] for track, slices in trace.slices.items() if track.startswith("stream ") for s in slices)
    assert shown == spans


def test_a_timeline_says_from_where_on_holds_were_not_recorded(tmp_path):
    results = tmp_path / "r.sqlite"
    subprocess.run([str(simcli()), "run", str(HERE / "transcripts" / "files" / "sweep.yaml"), "-o", str(results),
                    "--seed", "1",
                    "--set", "policies=[nvshare]", "--set", "record.decisions=first 3"], check=True,
                   capture_output=True)
    [(until, horizon)] = rows_of(results, "SELECT holds_until_ns, horizon_ns FROM runs")
    assert until < horizon
    trace = Export(export_results(results, tmp_path / "r.pftrace").read_bytes())
    ends = [s for track, slices in trace.slices.items() for s in slices if s[0].startswith("not recorded from here on")]
    assert ends and all(span[1:] == (until, horizon) for span in ends)


def test_chrome_json_has_the_same_slices(results, tmp_path):
    _, name = first_run(results)
    events = json.loads(export_results(results, tmp_path / "r.json", "--run", name).read_text())["traceEvents"]
    trace = Export(export_results(results, tmp_path / "r2.pftrace", "--run", name).read_bytes())
    slices = [s for track in trace.slices.values() for s in track]
    earliest = min(0, *(begin for _, begin, _ in slices))
    complete = sorted((e["name"], round(e["ts"] * 1000), round((e["ts"] + e["dur"]) * 1000))
                      for e in events if e["ph"] == "X")
    assert complete == sorted((name, begin - earliest, end - earliest) for name, begin, end in slices if begin < end)
    assert sum(e["ph"] == "i" for e in events) == sum(begin == end for _, begin, end in slices)
    assert sum(e["ph"] == "s" for e in events) == sum(e["ph"] == "f" for e in events)


def test_chrome_json_of_a_capture_keeps_its_arrows(tmp_path):
    events = json.loads(export_results(HERE / "transcripts" / "files" / "together.corun",
                                       tmp_path / "x.json").read_text())["traceEvents"]
    starts = {e["id"]: e["ts"] for e in events if e["ph"] == "s"}
    ends = {e["id"]: e["ts"] for e in events if e["ph"] == "f"}
    assert starts.keys() == ends.keys() and len(starts) >= 8
    assert {e["args"]["name"] for e in events if e["name"] == "process_name"} == {"train", "game"}


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_tables_hold_every_row_of_the_results(results, tmp_path, ending):
    if ending == "parquet" and subprocess.run(["python3", "-c", "import pyarrow"], capture_output=True,
                                              check=False).returncode:
        pytest.skip("pyarrow is not installed")
    path = export_results(results, tmp_path / f"m.{ending}", "--table", "metrics")
    if ending == "csv":
        found = [(r["run"], r["client"], r["metric"], float(r["value"])) for r in csv.DictReader(path.open())]
    elif ending == "jsonl":
        found = [(r["run"], r["client"], r["metric"], r["value"])
                 for r in map(json.loads, path.read_text().splitlines())]
    else:
        read = "import json, sys, pyarrow.parquet as p; print(json.dumps(p.read_table(sys.argv[1]).to_pylist()))"
        said = subprocess.run(["python3", "-c", read, str(path)], check=True, capture_output=True, text=True).stdout
        found = [(r["run"], r["client"], r["metric"], r["value"]) for r in json.loads(said)]
    assert found == rows_of(results, "SELECT run, client, metric, value FROM metrics ORDER BY rowid")


def test_a_table_of_one_run_says_which_run_that_is(results, tmp_path):
    run, name = first_run(results)
    lines = list(csv.DictReader(export_results(results, tmp_path / "o.csv", "--table", "operations", "--run",
                                               name).open()))
    assert lines and {line["run"] for line in lines} == {run}
    assert {f"{line['run_scenario']}.{line['run_policy']}.{line['run_seed']}" for line in lines} == {name}


@pytest.mark.parametrize("options, code, said", [
    (["-o", "x.csv", "--table", "nothing"], 2, "there are: runs, metrics"),
    (["-o", "x.xls", "--table", "metrics"], 2, ".parquet, .csv, .jsonl"),
    (["-o", "x.csv", "--run", "RUN"], 2, "tables need --table"),
    (["-o", "x.pftrace", "--run", "nobody"], 2, "choose one with --run"),
    (["-o", "x.parquet", "--table", "metrics", "--python", "no-such-python"], 3, "pip install pyarrow")])
def test_what_cannot_be_exported_is_refused_with_a_way_out(results, tmp_path, options, code, said):
    options = [first_run(results)[1] if word == "RUN" else word for word in options]
    done = subprocess.run([str(simcli()), "export", str(results), *options], cwd=tmp_path, capture_output=True,
                          text=True, check=False)
    assert done.returncode == code and said in done.stderr, done.stderr
    assert list(tmp_path.iterdir()) == []


def stand_in(folder, *lines):
    """A program in place of the Python that writes Parquet; its last argument is the file to write."""
    program = folder / "python"
    program.write_text("\n".join(("#!/bin/sh", "for part; do :; done", *lines)) + "\n")
    program.chmod(0o700)
    return ["--table", "metrics", "--python", str(program)]


def test_parquet_is_written_beside_and_touches_no_file_of_another_name(results, tmp_path):
    (tmp_path / "x.parquet.part").write_text("somebody's")
    options = stand_in(tmp_path, 'echo "$part" >> names', 'echo new > "$part"')
    for more in ([], ["-f"]):
        subprocess.run([str(simcli()), "export", str(results), "-o", "x.parquet", *options, *more], cwd=tmp_path,
                       check=True, capture_output=True)
    assert (tmp_path / "x.parquet").read_text() == "new\n"
    names = (tmp_path / "names").read_text().split()
    assert len(set(names)) == 2 and "x.parquet.part" not in names, "two exports at once do not write one file"
    assert (tmp_path / "x.parquet.part").read_text() == "somebody's"
    assert {path.name for path in tmp_path.iterdir()} == {"x.parquet", "x.parquet.part", "python", "names"}


@pytest.mark.parametrize("end, code", [("exit 1", 4), ("exit 3", 3), ("kill -9 $$", 4)])
def test_parquet_that_fails_leaves_nothing_and_replaces_nothing(results, tmp_path, end, code):
    (tmp_path / "x.parquet").write_text("old")
    options = stand_in(tmp_path, 'echo half > "$part"', end)
    done = subprocess.run([str(simcli()), "export", str(results), "-o", "x.parquet", "-f", *options], cwd=tmp_path,
                          capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert (tmp_path / "x.parquet").read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == {"x.parquet", "python"}
