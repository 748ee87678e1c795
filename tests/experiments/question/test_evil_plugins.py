"""Policies in shared libraries that misbehave: what they cost, and what they never cost.

A plug-in runs inside simcli. What it throws and what it asks for wrongly is an error of that run alone; what ends or
stops the process ends the program, and the runs that had finished are in the results all the same.
"""

import pathlib
import re
import sqlite3
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/reliability"))
import results_rows  # noqa: E402
from test_transcripts import simcli  # noqa: E402

pytestmark = pytest.mark.skipif(not simcli().exists(), reason="simcli is not built: ./dev build")
EXPERIMENT = """
name: evil
device: h200
horizon: 500ms
seeds: 2
clients:
  - {{ name: game, synthetic: {{ game: {{ gpu: 4ms }} }}, pacing: 60fps }}
  - {{ name: load, synthetic: {{ requests: {{ rate: 400/s, mean: 1ms }} }} }}
policies:
  - passthrough
  - plugin: {{ file: {plugin}, parameters: {{ deed: {deed} }} }}
  - exclusive
"""
ERRORS = {
    "throws": " s threw: I give up",
    "throws_a_number": " s threw something that is no exception",
    "names_a_stranger": "open(client 4000000000) but there are 2 clients",
    "admits_too_much": "admit(client 0, 1000000) but",
    "wakes_in_the_past": "is not in the future",
    "asks_for_everything": "shares are in [0, 1] and sum to 1 at most",
    "eats_memory": "out of memory",
}


@pytest.fixture(scope="module")
def plugin(tmp_path_factory):
    library = tmp_path_factory.mktemp("plugin") / "evil.so"
    subprocess.run(["g++", "-std=c++20", "-O1", "-shared", "-fPIC", "-I", ROOT,
                    ROOT / "tests/experiments/plugins/evil.cpp", "-o", library], check=True)
    return library


def run(folder, plugin, deed, seconds=60):
    (folder / "e.yaml").write_text(EXPERIMENT.format(plugin=plugin, deed=deed))
    command = [simcli(), "run", "e.yaml", "-o", "r.sqlite", "--jobs", "1"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=seconds)


def finished(folder):
    """(policy, seed, error) of the rows there are; the database must be whole."""
    results_rows.rows_by_run(folder / "r.sqlite")
    with sqlite3.connect(folder / "r.sqlite") as database:
        return database.execute("SELECT policy, seed, error FROM runs ORDER BY rowid").fetchall()


@pytest.mark.parametrize("deed", ERRORS)
def test_what_a_plugin_throws_or_asks_for_is_an_error_of_its_own_runs_alone(tmp_path, plugin, deed):
    done = run(tmp_path, plugin, deed)
    assert done.returncode == 7, (done.returncode, done.stderr)
    runs = finished(tmp_path)
    assert [(policy, seed) for policy, seed, _ in runs] == [
        (policy, seed) for policy in ("passthrough", "evil", "exclusive") for seed in (1, 2)]
    for policy, _, error in runs:
        assert (ERRORS[deed] in error) if policy == "evil" else error is None, error
        if policy == "evil" and deed != "eats_memory":
            assert re.match(r"policy 'evil' at t=0\.\d{9} s", error), error


def test_a_plugin_that_prints_changes_no_result(tmp_path, plugin):
    assert run(tmp_path, plugin, "writes_to_stdout").returncode == 0
    assert [error for *_, error in finished(tmp_path)] == [None] * 6


@pytest.mark.parametrize("deed, code", [("exits", 5), ("aborts", -6), ("crashes", -11), ("writes_nowhere", -11),
                                        ("never_stops_calling_itself", -11), ("breaks_a_promise", 70)])
def test_a_plugin_that_ends_the_program_costs_no_finished_run(tmp_path, plugin, deed, code):
    assert run(tmp_path, plugin, deed).returncode == code
    assert finished(tmp_path) == [("passthrough", 1, None), ("passthrough", 2, None)]


@pytest.mark.parametrize("deed, signal", [("aborts", "SIGABRT"), ("crashes", "SIGSEGV"), ("writes_nowhere", "SIGSEGV"),
                                          ("never_stops_calling_itself", "SIGSEGV")])
def test_a_crash_says_which_policy_and_when_and_where_to_look(tmp_path, plugin, deed, signal):
    said = run(tmp_path, plugin, deed).stderr
    assert f"error: the program crashed ({signal}: " in said
    assert re.search(r", in run [0-9a-f]{12} of policy `evil` \(plug-in .*evil\.so\), scenario `evil`, seed 1\n",
                     said), said
    said_ns, was_ns = (int(re.search(text, said)[1]) for text in (r"simulated time: (\d+) ns", r"evil at (\d+) ns"))
    assert was_ns - 20_000_000 < said_ns <= was_ns
    assert "runs that had been written are whole" in said and "a plug-in runs inside this program" in said


def test_a_plugin_that_closes_our_files_is_said_and_costs_no_finished_run(tmp_path, plugin):
    done = run(tmp_path, plugin, "closes_files")
    assert done.returncode == 4, (done.returncode, done.stderr)
    assert finished(tmp_path)[:2] == [("passthrough", 1, None), ("passthrough", 2, None)]


def test_a_plugin_that_never_returns_costs_no_finished_run(tmp_path, plugin):
    with pytest.raises(subprocess.TimeoutExpired):
        run(tmp_path, plugin, "never_returns", seconds=3)
    assert finished(tmp_path) == [("passthrough", 1, None), ("passthrough", 2, None)]


def test_a_broken_promise_leaves_what_is_needed_to_repeat_it(tmp_path, plugin):
    done = run(tmp_path, plugin, "breaks_a_promise")
    assert done.returncode == 70
    bundle, = tmp_path.glob("corun-violation-*")
    assert f"./{bundle.name}" in done.stderr
    said = (bundle / "violation.txt").read_text()
    for words in ("decisions_ < 100", "simulated time: ", "policy: evil", "seed: 1", "command: ",
                  "run e.yaml -o r.sqlite"):
        assert words in said, said
    assert (bundle / "experiment.yaml").read_text() == (tmp_path / "e.yaml").read_text()
    assert (bundle / "decisions.csv").read_text().startswith("time_ns,action,client,")
    assert len((bundle / "decisions.csv").read_text().splitlines()) > 2
    assert str(plugin) in (bundle / "captures.txt").read_text()
    assert "seed=1" in (bundle / "run.txt").read_text().replace(": ", "=").replace(" ", "=")


def sweep(folder, plugin, deeds, *options):
    (folder / "e.yaml").write_text(EXPERIMENT.format(plugin=plugin, deed="throws"))
    command = [simcli(), "sweep", "e.yaml", "-o", "r.sqlite", "-L", f"plugin.parameters.deed={','.join(deeds)}",
               *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)


def test_a_sweep_of_which_some_points_fail_ends_with_7_and_has_the_others(tmp_path, plugin):
    done = sweep(tmp_path, plugin, ["writes_to_stdout", "throws"])
    assert done.returncode == 7
    assert "failed: " in done.stderr and " s threw: I give up" in done.stderr
    errors = [error for policy, _, error in finished(tmp_path) if policy == "evil"]
    assert sorted(error is None for error in errors) == [False, False, True, True]
    assert sweep(tmp_path, plugin, ["writes_to_stdout"], "-f").returncode == 0


def test_failed_runs_are_kept_on_resume_and_those_without_memory_done_again(tmp_path, plugin):
    for deeds, said in ((["throws", "writes_to_stdout"], "8 runs completed (2 failed), 0 to do\n"),
                        (["eats_memory", "writes_to_stdout"],
                         "6 runs completed, 2 to do (2 again, after running out of memory)\n")):
        assert sweep(tmp_path, plugin, deeds, "-f").returncode == 7
        before = finished(tmp_path)
        again = sweep(tmp_path, plugin, deeds, "--resume")
        assert again.returncode == 7 and said in again.stderr
        assert sorted(map(str, finished(tmp_path))) == sorted(map(str, before)), "the same end as without a resume"
