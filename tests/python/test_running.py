import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import warnings

import pytest

import corun
from built_package import PACKAGE, PAIR

pytest.importorskip("corun.core", reason="the compiled part is not built: ./dev build")


def rows(path, table):
    with sqlite3.connect(path) as database:
        columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})") if row[1] != "wall_time_s"]
        return database.execute(f"SELECT {', '.join(columns)} FROM {table}").fetchall()


def test_results_are_those_of_simcli_for_any_number_of_jobs(tmp_path):
    corun.run(PAIR, jobs=1, output=tmp_path / "one.sqlite")
    corun.run(PAIR, jobs=4, output=tmp_path / "four.sqlite")
    subprocess.run([PACKAGE.parent / "simcli", "run", PAIR, "-o", tmp_path / "cli.sqlite"], check=True,
                   capture_output=True)
    for table in ("runs", "metrics", "frames", "decisions"):
        assert rows(tmp_path / "one.sqlite", table) == rows(tmp_path / "four.sqlite", table)
        assert rows(tmp_path / "one.sqlite", table) == rows(tmp_path / "cli.sqlite", table)


def test_seed_and_until_replace_those_of_the_experiment():
    results = corun.run(PAIR, seed=7, until="500ms")
    assert list(results.runs.seed) == [7, 7] and set(results.runs.horizon_ns) == {500_000_000}
    assert list(corun.run(PAIR, seed=[3, 4], until="500ms").runs.seed) == [3, 4, 3, 4]
    with pytest.raises(corun.InputError, match="`2` is no duration"):
        corun.run(PAIR, until="2")


def test_results_without_a_file_go_with_the_object():
    results = corun.run(PAIR, until="200ms")
    assert os.path.exists(results.path)
    results.close()
    assert not os.path.exists(results.path)


def test_a_results_file_is_replaced_only_when_asked(tmp_path):
    path = tmp_path / "results.sqlite"
    corun.run(PAIR, until="200ms", output=path)
    with pytest.raises(corun.InputError, match="exists"):
        corun.run(PAIR, until="200ms", output=path)
    assert len(corun.run(PAIR, until="200ms", seed=1, output=path, overwrite=True).runs) == 2


def test_without_baselines_there_is_no_slowdown():
    assert len(corun.run(PAIR, until="200ms").summary("slowdown")) > 0
    assert len(corun.run(PAIR, until="200ms", baselines=False).summary("slowdown")) == 0


def test_other_threads_go_on_while_it_runs():
    turns = []
    is_over = threading.Event()

    def count():
        while not is_over.wait(0.005):
            turns.append(time.monotonic())

    thread = threading.Thread(target=count)
    thread.start()
    begin = time.monotonic()
    corun.run(PAIR, seed=range(400), jobs=1)
    end = time.monotonic()
    is_over.set()
    thread.join()
    during = [turn for turn in turns if begin < turn < end]
    assert end - begin > 0.2, "too quick to tell"
    assert len(during) > (end - begin) / 0.005 / 4


def test_an_interrupt_keeps_what_is_finished(tmp_path, monkeypatch):
    from corun import running

    path = tmp_path / "results.sqlite"
    interrupt = threading.Thread(target=lambda: os.kill(os.getpid(), signal.SIGINT))

    def interrupt_once(self, done):
        if done >= 5 and interrupt.ident is None:
            interrupt.start()

    monkeypatch.setattr(running._Progress, "update", interrupt_once)
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt) as raised:
        corun.run(PAIR, seed=range(3000), jobs=2, baselines=False, output=path)
    assert time.monotonic() - begin < 20
    done = len(raised.value.results.sql("SELECT id FROM runs"))
    assert 5 <= done < 6000
    assert f"{done} of 6000 runs done; results so far: {path}" in raised.value.__notes__[0]
    assert [name for name in os.listdir(tmp_path)] == ["results.sqlite"]
    assert len(corun.open(path).sql("SELECT id FROM runs")) == done


def test_a_failing_policy_is_a_row_and_a_warning_beside_others_and_an_error_alone():
    class Fails(corun.Policy):
        def decide(self, view, act):
            raise ZeroDivisionError("of the test")

    experiment = corun.Experiment(PAIR, policies=[Fails]).set("policies", ["passthrough", "fails"])
    with pytest.warns(UserWarning, match="2 of 4 runs failed.*policy 'fails' at t=0"):
        results = corun.run(experiment, until="100ms")
    assert results.runs.error.notna().sum() == 2 and len(results.metrics) > 0
    with pytest.raises(corun.PolicyError, match="ZeroDivisionError: of the test") as raised:
        corun.run(experiment.set("policies", ["fails"]), until="100ms")
    assert len(raised.value.results.runs) == 2


def test_resuming_says_how_many_failed_before(tmp_path):
    class Fails(corun.Policy):
        def decide(self, view, act):
            raise ZeroDivisionError("of the test")

    experiment = corun.Experiment(PAIR, policies=[Fails]).set("policies", ["passthrough", "fails"])
    path = tmp_path / "r.sqlite"
    with pytest.warns(UserWarning, match="2 of 4 runs failed, see"):
        corun.run(experiment, until="100ms", output=path).close()
    with pytest.warns(UserWarning,
                      match="2 of 4 runs failed, 2 of them before this went on, see .*: policy 'fails' at t=0"):
        corun.run(experiment, until="100ms", output=path, resume=True).close()


def test_progress_is_a_bar_of_tqdm_or_a_plain_line(capfd, monkeypatch):
    from corun import running

    clock = iter(range(0, 1000, 2))
    monkeypatch.setattr(running.time, "monotonic", lambda: next(clock))
    for module in ("tqdm.auto", "tqdm.std"):
        monkeypatch.setitem(sys.modules, module, None)
    corun.run(PAIR, until="100ms", progress=True)
    assert "pair: " in capfd.readouterr().err
    corun.run(PAIR, until="100ms", progress=False)
    assert capfd.readouterr().err == ""


def test_the_summary_is_shown(quick):
    results = corun.open(quick)
    text = repr(results)
    assert "10 runs (0 failed), policies passthrough, nvshare" in text
    heading, *lines = text.splitlines()[1:]
    assert heading.split("  ")[0] == "policy" and re.split("  +", heading)[1:] == [
        "client", "rate", "1% low (fps)", "p99 frame (ms)", "missed", "slowdown", "p99 step (ms)", "harvest"]
    assert len(lines) == 4 and max(map(len, lines)) <= 120, "a line a client and policy; the device has none"
    fps = results.summary("fps_mean").set_index("policy").value["nvshare"]
    harvest = results.summary("harvest_ratio").set_index("policy").value["nvshare"]
    assert lines[2].startswith("nvshare") and f" {fps:.3g} " in lines[2]
    assert lines[3].split()[0] == "train" and f"  {harvest:.3g}" in lines[3]
    assert "<th>1% low (fps)</th>" in results._repr_html_() and "<td>nvshare</td>" in results._repr_html_()


def test_a_long_summary_is_cut(tmp_path):
    clients = [{"name": f"train{number}", "synthetic": {"kernels": {"duration": "1ms", "count": 10}}}
               for number in range(25)]
    experiment = corun.Experiment(PAIR).set("clients", clients).set("policies", ["passthrough", "exclusive"])
    results = corun.run(experiment, until="100ms", seed=1, baselines=False)
    lines = repr(results).splitlines()
    assert len(lines) == 43 and lines[-1] == "and 10 more lines: see summary()"
    assert "and 10 more lines" in results._repr_html_()


def test_names_in_a_summary_are_text(tmp_path):
    path = tmp_path / "hostile.sqlite"
    hostile = "<img src=x onerror=alert(1)>"
    corun.run(PAIR, until="300ms", output=path).close()
    with sqlite3.connect(path) as database:
        database.execute("UPDATE metrics SET client = ? WHERE client = 'game'", (hostile,))
    shown = corun.open(path)._repr_html_()
    assert hostile not in shown and "&lt;img src=x" in shown


def test_runs_that_are_too_short_are_named(quick):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        texts = corun.open(quick).warnings()
    assert texts and all(text.startswith("pair, nvshare, game: ") for text in texts)
    assert "too few for a 99th percentile" in texts[-1]
    short = corun.run(PAIR, until="400ms").warnings()
    assert any(text.startswith("pair, passthrough, game: ") for text in short)
