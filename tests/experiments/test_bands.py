"""Bands around predicted figures: the same wherever a figure is shown, and no part of results."""

import csv
import json
import re
import sqlite3
import subprocess

import pytest

from test_transcripts import ROOT, simcli

PAIR = """\
version: 1
name: pair
device: {device}
horizon: 1s
warmup: 200ms
seeds: 3
clients:
  - {{ name: cnn, trace: {root}/traces/samples/cnn_train_small.kineto.json.gz, pacing: sync_each_job,
      solo_rate: 375.69/s{keys} }}
  - {{ name: vit, trace: {root}/traces/samples/vit_infer_bs32.kineto.json.gz, pacing: sync_each_job,
      solo_rate: 122.95/s{keys} }}
policies: [passthrough, nvshare: {{ quantum: 100ms }}]
record: {{ frames: none, decisions: none }}
"""
TABLE = {tuple(row.values())[:4]: row for row in csv.DictReader(open(ROOT / "experiments/bands/bands.csv"))}
FEW = "too few measured co-runs"


def said(*arguments):
    done = subprocess.run([str(simcli()), *map(str, arguments)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def run(folder, device="h200", keys="", *options):
    (folder / "pair.yaml").write_text(PAIR.format(root=ROOT, device=device, keys=keys))
    return said("run", folder / "pair.yaml", "-o", folder / "pair.sqlite", "-f", "--progress", "none", *options)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """With results, and what `run` printed of them in words and as JSON."""
    folder = tmp_path_factory.mktemp("bands")
    (folder / "said.json").write_text(run(folder, "h200", "", "--json"))
    (folder / "said.txt").write_text(run(folder))
    return folder


def figures(folder):
    """{(policy, client): metrics}, as `run --json` has them."""
    [scenario] = json.loads((folder / "said.json").read_text())["scenarios"]
    return {(client["policy"], client["client"]): client["metrics"] for client in scenario["clients"]}


def test_json_names_the_class_of_errors(folder):
    [scenario] = json.loads((folder / "said.json").read_text())["scenarios"]
    classes = {(client["policy"], client["client"]): client.get("error_class") for client in scenario["clients"]}
    assert classes["passthrough", "vit"] == "turns of 2 programs" and classes["nvshare", "vit"] == FEW
    assert classes["passthrough", "device"] is None


def test_each_answer_says_how_the_way_of_sharing_is_known(folder, tmp_path):
    [scenario] = json.loads((folder / "said.json").read_text())["scenarios"]
    assert {(client["policy"], client["client"]): client.get("basis") for client in scenario["clients"]} == {
        (policy, client): None if client == "device" else "compared"
        for policy in ("passthrough", "nvshare") for client in ("cnn", "vit", "device")}
    assert re.search(r"^nvshare +cnn +compared ", (folder / "said.txt").read_text(), re.MULTILINE)
    said("report", folder / "pair.sqlite", "-o", folder / "r.html", "-f")
    island = re.search(r'id="contents">(.*?)</script>', (folder / "r.html").read_text(), re.DOTALL)[1]
    assert [setting["basis"] for setting in json.loads(island)["scenarios"][0]["settings"]] == ["compared"] * 2
    assert re.search("^passthrough +cnn +data sheet ", run(tmp_path, "l4", ", accept: [other_gpu]"), re.MULTILINE)


def test_the_table_of_compared_mechanisms_is_what_studies_say():
    subprocess.run([ROOT / "studies/bands/compared.py", "--check"], check=True, timeout=300)


def test_figures_that_hang_on_slower_hosts_are_ranges(folder, tmp_path):
    """vit waits for the device, cnn hardly does; and nothing of a policy that holds launches was measured."""
    path = tmp_path / "pair.yaml"
    path.write_text(PAIR.format(root=ROOT, device="h200", keys=""))
    arguments = "run", path, "-o", tmp_path / "pair.sqlite", "-f", "--progress", "none", "--slower-hosts"
    text, [scenario] = said(*arguments), json.loads(said(*arguments, "--json"))["scenarios"]
    shown = {(client["policy"], client["client"]): client["metrics"] for client in scenario["clients"]}
    rate = shown["passthrough", "vit"]["throughput_per_s"]
    assert rate["mean"] == figures(folder)["passthrough", "vit"]["throughput_per_s"]["mean"]
    assert rate["slower_hosts"] < 0.99 * rate["mean"]
    assert f"{rate['slower_hosts']:.1f} to {rate['mean']:.1f} /s" in text
    assert "0.6 times as quick" in text
    alone = shown["passthrough", "vit"]["solo_throughput_per_s"]
    assert alone["slower_hosts"] == alone["mean"]
    assert all("slower_hosts" not in metric for metric in shown["nvshare", "vit"].values())
    assert said("hash", tmp_path / "pair.sqlite").split()[0] == said("hash", folder / "pair.sqlite").split()[0]


def expected(folder, client, bound):
    """Ends of the band of its rate in turns with one other program."""
    metrics, row = figures(folder)["passthrough", client], TABLE["kept", "turns", bound, "2"]
    rate, alone = metrics["throughput_per_s"]["mean"], metrics["solo_throughput_per_s"]["mean"]
    return pytest.approx([rate * float(row["low"]), min(alone, rate * float(row["high"]))])


def test_a_run_has_the_bands_of_its_class_and_none_of_policies_of_few_measured_co_runs(folder):
    shown = figures(folder)
    for client, bound in (("vit", "device"), ("cnn", "host")):
        rate = shown["passthrough", client]["throughput_per_s"]
        assert [rate["band_low"], rate["band_high"]] == expected(folder, client, bound), client
        assert "band_low" not in shown["passthrough", client]["wait_p99_ms"]
        assert all("band_low" not in metric for metric in shown["nvshare", client].values())
    text = (folder / "said.txt").read_text()
    low, high = (f"{shown['passthrough', 'vit']['throughput_per_s'][end]:.1f}" for end in ("band_low", "band_high"))
    assert f"/s ({low} to {high})" in text
    assert f"no band, {FEW}: nvshare\n" in text
    assert max(map(len, text.split("in brackets")[1].split("no band,")[0].splitlines())) < 120


def test_compare_and_report_show_the_bands_of_the_run(folder):
    path = folder / "pair.sqlite"
    found = json.loads(said("compare", path, "--metric", "throughput_per_s", "--json"))["comparisons"]
    for row in found:
        baseline = row["baseline"]
        assert [baseline["band_low"], baseline["band_high"]] == expected(
            folder, row["client"], "device" if row["client"] == "vit" else "host")
        assert row["policy"] == "nvshare" and "band_low" not in row["value"]
    said("compare", path, "--export-csv", folder / "effects.csv", "-f")
    for row in csv.DictReader(open(folder / "effects.csv")):
        assert bool(row["baseline_band_lo"]) == (row["metric"] == "throughput_per_s") and row["value_band_lo"] == ""
    text = said("compare", path)
    assert re.search(r" /s \([\d.]+ to [\d.]+\) ", text) and FEW in text
    said("report", path, "-o", folder / "r.html", "-f")
    island = re.search(r'id="contents">(.*?)</script>', (folder / "r.html").read_text(), re.DOTALL)[1]
    [scenario] = json.loads(island)["scenarios"]
    bands = {(scenario["settings"][value[0]]["label"], *value[1:3]): value[8]
             for value in scenario["values"] if len(value) > 8}
    rate = figures(folder)["passthrough", "vit"]["throughput_per_s"]
    assert bands["passthrough", "vit", "throughput_per_s"] == f"({rate['band_low']:.1f} to {rate['band_high']:.1f})"
    assert {policy for policy, *_ in bands} == {"passthrough"}
    assert "Too few measured co-runs for a band: nvshare." in scenario["bands"]


def test_bands_are_no_part_of_results(folder, tmp_path):
    path = tmp_path / "older.sqlite"
    path.write_bytes((folder / "pair.sqlite").read_bytes())
    with sqlite3.connect(path) as database:
        assert database.execute("SELECT count(*), min(mechanism), max(programs) FROM error_classes "
                                "WHERE unmeasured = ''").fetchone() == (6, "turns", 2)
        database.execute("DROP TABLE error_classes")
    database.close()
    assert said("hash", path).split()[0] == said("hash", folder / "pair.sqlite").split()[0]
    text = said("compare", path)
    assert "band" not in text and FEW not in text and "(" not in text.splitlines()[2], "older files do not say"


def test_advice_says_about_where_a_missing_rate_changes_the_best_way():
    samples = ROOT / "traces/samples"
    done = subprocess.run(
        [simcli(), "advise", samples / "resnet50_train_bs64.kineto.json.gz",
         samples / "encoder_infer_bs1.kineto.json.gz", "--solo-rate", "resnet50_train_bs64=31.014/s",
         "--modes", "mps,mps_split", "--json"],
        capture_output=True, text=True, timeout=300)
    assert done.returncode == 6, done.stderr
    its = json.loads(done.stdout)["hangs_on"]
    assert its["program"] == "encoder_infer_bs1" and its["at_low"] != its["at_high"]
    assert its["rate_per_s"]["low"] < its["changes_at_per_s"] < its["rate_per_s"]["high"]


def test_the_table_that_closes_a_sweep_has_bands_of_each_point(folder, tmp_path):
    sweep = PAIR.format(root=ROOT, device="h200", keys="") + "sweep: { nvshare.quantum: [50ms, 100ms] }\n"
    (tmp_path / "sweep.yaml").write_text(sweep)
    text = said("sweep", tmp_path / "sweep.yaml", "-o", tmp_path / "sweep.sqlite", "--progress", "none")
    row = {tuple(line.split()[1:4]): line for line in text.splitlines() if "throughput_per_s" in line}
    rate = figures(folder)["passthrough", "vit"]["throughput_per_s"]
    assert f"({rate['band_low']:.1f} to {rate['band_high']:.1f})" in row["passthrough", "vit", "throughput_per_s"]
    assert "(" not in row["nvshare", "vit", "throughput_per_s"].split("ms")[0], "never compared"


def test_merged_files_keep_what_bands_need(folder, tmp_path):
    said("merge", folder / "pair.sqlite", "-o", tmp_path / "merged.sqlite")
    assert said("compare", tmp_path / "merged.sqlite") == said("compare", folder / "pair.sqlite")


def test_a_band_of_an_unmeasured_device_is_wider_and_says_so(folder, tmp_path):
    text = run(tmp_path, "l4", ", accept: [other_gpu]")
    assert text.count("wider: nothing measured the device") == 2
    kept = re.compile(r"vit +\S+ \(([\d.]+) to ([\d.]+)\)")
    wide, narrow = (kept.search(words.split("in brackets")[1]) for words in (text, (folder / "said.txt").read_text()))
    assert float(wide[2]) / float(wide[1]) > 1.2 * float(narrow[2]) / float(narrow[1])


SERVED = """\
version: 1
name: served
device: h200
horizon: 1500ms
warmup: 300ms
clients:
  - name: chat
    trace: {grid}/1b.corun
    server: {{ requests: {{ rate: 30/s, prompt: 200, output: 10 }}, max_batch: 32, kv_tokens: 65536, pads: true,
               step_times: {grid}/1b.steps.csv }}
  - {{ name: train, trace: {grid}/wide_training.corun, solo_rate: 488/s }}
policies: [passthrough]
record: {{ frames: none, decisions: none }}
"""


def test_a_server_and_a_program_next_to_it_have_bands_of_their_own(tmp_path):
    (tmp_path / "served.yaml").write_text(SERVED.format(grid=ROOT / "studies/serving/grid"))
    arguments = "run", tmp_path / "served.yaml", "-o", tmp_path / "served.sqlite", "-f", "--progress", "none"
    [scenario] = json.loads(said(*arguments, "--json"))["scenarios"]
    shown = {client["client"]: client["metrics"] for client in scenario["clients"]}
    for client, metric, figure, bound in (("chat", "ttft_p99_ms", "ttft", "requests"),
                                          ("chat", "tpot_p99_ms", "tpot", "requests")):
        row, its = TABLE[figure, "turns with servers", bound, "2"], shown[client][metric]
        assert its["band_high"] == pytest.approx(its["mean"] * float(row["high"]), rel=1e-3), metric
    row, rate = TABLE["kept", "turns with servers", "programs", "2"], shown["train"]["throughput_per_s"]
    assert rate["band_low"] == pytest.approx(rate["mean"] * float(row["low"]), rel=1e-3)
    assert "p99 TTFT" in said(*arguments).partition("in brackets")[2]
