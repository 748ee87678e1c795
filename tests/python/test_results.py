import json
import math
import os
import re
import sqlite3
import subprocess
import sys

import pytest

import corun
from built_package import PACKAGE, ROOT, SERVING
from corun import tables as tables_module
from results_fixture import write_results


@pytest.fixture
def path(tmp_path):
    return write_results(tmp_path / "demo results?.sqlite")


@pytest.fixture
def without_pandas(monkeypatch):
    monkeypatch.setattr(tables_module, "pandas", None)


def test_tables_are_data_frames_with_the_columns_of_the_file(path):
    results = corun.open(path)
    assert list(results.metrics.columns) == ["run", "client", "metric", "value", "unit"]
    assert len(results.runs) == 5
    assert results.frames["present_ns"].sum() == 4 * 16_000_000


def test_tables_are_dicts_where_pandas_is_absent(path, without_pandas):
    results = corun.open(path)
    assert results.runs[0]["policy"] == "pilotfish"
    assert results.summary()[1] == {"scenario": "one game", "policy": "nvshare", "client": "game", "metric": "fps_mean",
                                    "unit": "fps", "value": 30.0, "lo": None, "hi": None, "n": 1,
                                    "band_lo": None, "band_hi": None}


def test_a_table_that_was_not_recorded_is_empty(path):
    assert len(corun.open(path).decisions) == 0


def test_summary_is_mean_and_student_interval_over_seeds(path, without_pandas):
    row = corun.open(path).summary("fps_mean")[0]
    assert (row["policy"], row["n"], row["value"]) == ("pilotfish", 3, 62.0)
    half = 4.3027 * 2.0 / math.sqrt(3)
    assert row["lo"] == pytest.approx(62.0 - half) and row["hi"] == pytest.approx(62.0 + half)


def test_summary_and_compare_have_the_bands_of_captured_programs(tmp_path):
    clients = [{"name": name, "trace": str(ROOT / f"traces/samples/{trace}.kineto.json.gz"), "pacing": "sync_each_job",
                "solo_rate": rate} for name, trace, rate in (("cnn", "cnn_train_small", "375.69/s"),
                                                             ("vit", "vit_infer_bs32", "122.95/s"))]
    pair = corun.Experiment({"version": 1, "name": "pair", "device": "h200", "horizon": "500ms", "seeds": 1,
                             "clients": clients, "policies": ["passthrough", "exclusive"]})
    results = corun.run(pair)
    rates = results.summary("throughput_per_s").set_index(["policy", "client"])
    vit = rates.loc["passthrough", "vit"]
    assert 0.9 * vit.value < vit.band_lo < vit.value < vit.band_hi < 1.5 * vit.value
    assert rates.loc["exclusive"].band_lo.isna().all(), "too few measured co-runs"
    with pytest.warns(UserWarning, match="fewer than 3 have no interval"):
        effects = corun.compare(results, baseline="passthrough", metric="throughput_per_s").set_index("client")
    assert effects.loc["vit"].baseline_band_lo == vit.band_lo and effects.value_band_hi.isna().all()


def test_summary_leaves_failed_runs_out(path, without_pandas):
    with sqlite3.connect(path) as database:
        database.execute("INSERT INTO metrics VALUES ('f1', 'game', 'fps_mean', 1.0, 'fps')")
    assert {row["policy"] for row in corun.open(path).summary()} == {"pilotfish", "nvshare"}


def test_a_metric_that_no_run_has_is_empty_and_a_misspelt_one_an_error(path):
    results = corun.open(path)
    assert len(results.summary("slowdown")) == len(results.samples("slowdown")) == 0
    for read in (results.summary, results.samples):
        with pytest.raises(corun.InputError, match="no metric `fps`: did you mean `fps_mean` or `fps_1low`"):
            read("fps")


@pytest.mark.parametrize("name, why", [
    ({"policy": "nvshre"}, "no policy `nvshre`: did you mean `nvshare`"),
    ({"scenario": "one gam"}, "no scenario `one gam`: did you mean `one game`"),
    ({"client": "gmae"}, "no client `gmae`: did you mean `game`"),
    ({"client": "solitaire"}, "no client `solitaire`: there are game"),
])
def test_misspelt_names_are_errors_that_name_the_near_ones(quick, path, name, why):
    with pytest.raises(corun.InputError, match=why):
        corun.open(path).table("frames", **name)
    if "scenario" not in name:
        with pytest.raises(corun.InputError, match=why.partition(": ")[0]):
            corun.open(quick).frame_times(**name)


def test_a_client_without_frames_has_none_to_show(quick):
    assert len(corun.open(quick).frame_times(client="train")) == 0


def test_findings_are_the_sentences_of_simcli(quick):
    said = subprocess.run([PACKAGE.parent / "simcli", "compare", quick, "--baseline", "passthrough", "--metric",
                           "throughput_per_s"], capture_output=True, text=True, check=True).stdout
    found = corun.open(quick).findings(baseline="passthrough")
    effects = [sentence for sentence in found if "times the throughput of passthrough" in sentence]
    assert len(effects) == 2 and all(effect in said for effect in effects)
    conclusions = corun.open(quick).findings()
    assert conclusions[0].startswith("passthrough keeps game at ") and conclusions == found[:len(conclusions)]
    assert not [sentence for sentence in conclusions if " times the " in sentence], "which take a baseline"
    with pytest.raises(corun.InputError, match="no policy `nvshar`"):
        corun.open(quick).findings(baseline="nvshar")


def test_a_report_is_the_page_of_simcli(quick, tmp_path):
    output = tmp_path / "a b.html"
    results = corun.open(quick)
    assert results.report(output, baseline="nvshare") == output
    page = output.read_text()
    subprocess.run([PACKAGE.parent / "simcli", "report", quick, "-o", output, "--baseline", "nvshare", "-f"],
                   check=True, capture_output=True)
    assert shown(page) == shown(output.read_text())
    with pytest.raises(corun.InputError, match="exists"):
        results.report(output)
    assert results.report(output, overwrite=True) == output


def shown(page):
    """What a report shows, but for the command that made it."""
    contents = json.loads(re.search(r'id="contents">(.*?)</script>', page, re.DOTALL)[1])
    return {name: value for name, value in contents.items() if name != "command"}


def test_summary_reads_the_file_once(quick, monkeypatch):
    from corun import _core, core

    calls = []
    counted = type("Counted", (), {"__getattr__": lambda self, name: getattr(_core, name),
                                   "samples": lambda self, *given: calls.append(given) or _core.samples(*given)})()
    monkeypatch.setattr(core, "_core", counted)
    results = corun.open(quick)
    rows = []
    results._connection.set_trace_callback(rows.append)
    assert len(results.summary("fps_mean")) == 2
    assert len(calls) == 1 and not [query for query in rows if "FROM metrics" in query]


def test_the_revision_is_that_of_the_file(path):
    assert corun.open(path).revision == "0", "from before there were any"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE IF NOT EXISTS properties (key TEXT PRIMARY KEY, value TEXT)")
        database.execute("INSERT INTO properties VALUES ('results_revision', '7')")
    assert corun.open(path).revision == "7"


def test_repr_says_what_is_in_the_file(path):
    text = repr(corun.open(path))
    assert "5 runs (1 failed), policies pilotfish, nvshare, djay" in text


def test_runs_come_in_the_order_of_the_plan_and_failed_ones_last(path, without_pandas):
    assert [run["id"] for run in corun.open(path).runs] == ["z1", "z2", "z3", "n1", "f1"]


def test_a_notebook_shows_the_summary(path):
    assert "<table" in corun.open(path)._repr_html_()


def test_the_file_is_opened_read_only(path):
    with corun.open(path) as results, pytest.raises(sqlite3.OperationalError, match="readonly"):
        results.sql("DELETE FROM runs")


def test_a_missing_file_names_the_command_that_writes_one(tmp_path):
    with pytest.raises(corun.InputError, match="simcli run"):
        corun.open(tmp_path / "absent.sqlite")


def test_other_files_are_refused_with_their_name(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("not a database, but long enough to look at" * 40)
    with pytest.raises(corun.InputError, match="notes.txt"):
        corun.open(text)
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as database:
        database.execute("CREATE TABLE runs (id)")
    with pytest.raises(corun.InputError, match="no table metrics"):
        corun.open(other)


def test_a_newer_schema_is_refused(path):
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 99")
    with pytest.raises(corun.InputError, match="schema 99 is newer"):
        corun.open(path)


def test_what_a_run_counts_none_of_is_zero_in_the_mean(path, without_pandas):
    pytest.importorskip("corun.core")
    with sqlite3.connect(path) as database:
        database.execute("INSERT INTO metrics VALUES ('z2', 'game', 'kills', 3.0, 'count')")
        database.execute("INSERT INTO metrics VALUES ('z2', 'game', 'quality_mean', 0.5, 'ratio')")
    with corun.open(path) as results:
        assert [(row["value"], row["n"]) for row in results.summary("kills")] == [(1.0, 3)]
        assert [(row["value"], row["n"]) for row in results.summary("quality_mean")] == [(0.5, 1)]


def test_tables_are_read_without_the_compiled_part(path):
    """With nothing but the sources, as where the package is only copied."""
    code = ("import corun, sys; r = corun.open(sys.argv[1]); print(len(r.runs), len(r.frames)); print(repr(r))\n"
            "try: r.summary()\nexcept ImportError as error: print(error)")
    done = subprocess.run([sys.executable, "-c", code, path], env=os.environ | {"PYTHONPATH": str(ROOT / "python")},
                          capture_output=True, text=True, check=True)
    assert done.stdout.startswith("5 4\n<corun.Results ") and "pip install ." in done.stdout


def test_measured_and_simulated_runs_are_never_averaged(path, without_pandas):
    with sqlite3.connect(path) as database:
        database.execute("INSERT INTO runs VALUES ('g1', 'demo', 'one game', 'pilotfish', 1, 'gpu', NULL)")
        database.execute("INSERT INTO metrics VALUES ('g1', 'game', 'fps_mean', 20.0, 'fps')")
    results = corun.open(path)
    assert results.backends == ["gpu", "sim"]
    with pytest.raises(corun.InputError, match="several backends: choose one of gpu, sim by `backend`"):
        results.summary("fps_mean")
    assert [row["value"] for row in results.summary("fps_mean", backend="sim")] == [62.0, 30.0]
    assert [row["value"] for row in results.summary("fps_mean", backend="gpu")] == [20.0]
    with pytest.raises(corun.InputError, match="no run of backend `live`"):
        results.summary("fps_mean", backend="live")
    assert "pilotfish (gpu)" in repr(results) and "pilotfish (sim)" in repr(results)


def p99(values):
    ordered = sorted(values)
    return ordered[math.ceil(0.99 * len(ordered)) - 1]


def test_requests_are_those_that_the_metrics_of_a_server_count():
    with corun.run(SERVING, seed=1) as results:
        requests, seconds = results.requests, 10.0
        told = {row.metric: row.value for row in results.metrics[results.metrics.client == "chat"].itertuples()}
        warm = requests[requests.end_ns >= results.runs.warmup_ns[0]]
        assert 10 < len(warm) <= 4 * 2 * seconds
        assert p99((warm.first_token_ns - warm.arrival_ns) / 1e6) == pytest.approx(told["ttft_p99_ms"])
        assert (requests.end_ns > requests.first_token_ns).sum() == (requests.output > 1).sum()


def test_requests_are_left_out_where_the_experiment_says_so():
    with corun.run(corun.Experiment(SERVING).set("record", {"requests": "none"}), seed=1, until="2s") as results:
        assert len(results.requests) == 0
        assert "ttft_p99_ms" in set(results.metrics.metric)
