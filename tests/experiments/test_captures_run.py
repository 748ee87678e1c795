"""`simcli run` of captures, without an experiment file."""

import json
import os
import pathlib
import sqlite3
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIMCLI = pathlib.Path(os.environ.get("CORUN_BUILD", ROOT / "build" / "release")) / "simcli"
TRAINING = ROOT / "traces/samples/resnet50_train_bs64.kineto.json.gz"
ENCODER = ROOT / "traces/samples/encoder_infer_bs1.kineto.json.gz"


def run(folder, *words):
    return subprocess.run([SIMCLI, "run", *map(str, words), "--progress", "none", "--diagnostics", "short"], cwd=folder,
                          capture_output=True, text=True, timeout=300)


def rates(path):
    database = sqlite3.connect(path)
    rows = database.execute("SELECT scenario, policy, client, value FROM metrics JOIN runs ON runs.id = run "
                            "WHERE metric = 'throughput_per_s' AND seed = 1")
    return {row[:3]: row[3] for row in rows}


def test_captures_run_in_turns_and_under_mps_by_the_names_that_they_are_given(tmp_path):
    done = run(tmp_path, TRAINING, f"enc={ENCODER}", "--policy", "passthrough", "--policy", "exclusive", "--policy",
               "mps", "--solo-rate", "enc=750/s", "--until", "2s", "-o", "r.sqlite")
    assert done.returncode == 0, done.stderr
    found = rates(tmp_path / "r.sqlite")
    assert set(found) == {
        (scenario, policy, client) for scenario, policy in [("in_turns", "passthrough"), ("in_turns", "exclusive"),
                                                            ("mps", "passthrough")]
        for client in ("resnet50_train_bs64", "enc")}
    assert found["mps", "passthrough", "enc"] > 1.2 * found["in_turns", "passthrough", "enc"]


def test_the_experiment_that_it_writes_has_the_same_results_elsewhere(tmp_path):
    done = run(tmp_path, TRAINING, "--until", "2s", "--set", "resnet50_train_bs64.duration_jitter=10%",
               "-o", "a.sqlite", "--write", "e.yaml")
    assert done.returncode == 0, done.stderr
    (tmp_path / "below").mkdir()
    assert run(tmp_path / "below", "../e.yaml", "--until", "2s", "-o", "../b.sqlite").returncode == 0
    hashes = subprocess.run([SIMCLI, "hash", "a.sqlite", "b.sqlite"], cwd=tmp_path, capture_output=True, text=True)
    first, second = [line.split()[0] for line in hashes.stdout.splitlines()]
    assert first == second
    assert "duration_jitter: 10%" in (tmp_path / "e.yaml").read_text()


@pytest.mark.parametrize("words, said", [
    (["e.yaml", TRAINING], "e.yaml: error[E0400]: an experiment file stands among other files"),
    (["e.yaml", "--policy", "mps"], "`--gpu`, `--policy`, `--solo-rate` and `--write` are for captures"),
    (["nothere.corun", TRAINING], "nothere.corun: error[E0400]: there is no such file"),
    ([TRAINING, "--policy", "pilotfsh"], "did you mean `pilotfish`?"),
    ([TRAINING, "--set", "resnet.step=1"], "no program is called `resnet`; there are resnet50_train_bs64"),
    ([TRAINING, "--gpu", "h300"], "unknown device model `h300`"),
])
def test_a_wrong_word_is_named(tmp_path, words, said):
    (tmp_path / "e.yaml").write_text("version: 1\n")
    done = run(tmp_path, *words, "-o", "r.sqlite")
    assert done.returncode == 2
    assert said in done.stderr, done.stderr
    assert not (tmp_path / "r.sqlite").exists()


def test_advise_takes_names_too(tmp_path):
    done = subprocess.run([SIMCLI, "advise", f"a={TRAINING}", f"b={ENCODER}", "--modes", "time_sliced", "--json",
                           "--solo-rate", "a=31/s", "--solo-rate", "b=750/s"], cwd=tmp_path, capture_output=True,
                          text=True, timeout=300)
    assert [program["name"] for program in json.loads(done.stdout)["ways"][0]["programs"]] == ["a", "b"], done.stderr
