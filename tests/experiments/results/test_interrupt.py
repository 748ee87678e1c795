"""An interrupted run keeps what it has done."""

import signal
import sqlite3
import subprocess
import time

import pytest

from test_transcripts import HERE, simcli


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_run_with_its_rows_in_one_file(tmp_path, number, code):
    experiment = HERE / "transcripts" / "files" / "tiny.yaml"
    results = tmp_path / "r.sqlite"
    command = [str(simcli()), "run", str(experiment), "-o", str(results), "--jobs", "1", "--set", "seeds=2000"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert "4000 runs" in process.stderr.readline()
        process.send_signal(number)
        said = process.stderr.read()
        assert process.wait(timeout=60) == code
    assert "stopped after" in said
    assert [path.name for path in tmp_path.iterdir()] == ["r.sqlite"]
    with sqlite3.connect(results) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        runs = database.execute("SELECT count(*) FROM runs").fetchone()[0]
        assert f"stopped after {runs} of 4000 runs" in said


LONG = """\
name: long
device: { file: gpu.yaml }
policies: [passthrough]
clients:
  - { name: game, synthetic: { game: { gpu: 4ms } }, pacing: 60fps, phase: 0 }
  - { name: load, synthetic: { requests: { arrivals: periodic, rate: 100/s, service: constant, mean: 1ms } }, phase: 0 }
scenarios:
  - { name: short, horizon: 2s }
  - { name: long, horizon: 30000s }
record: { frames: none, decisions: none }
"""


def wait_for_runs(results, number):
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            with sqlite3.connect(f"file:{results}?mode=ro", uri=True) as database:
                if database.execute("SELECT count(*) FROM runs").fetchone()[0] >= number:
                    return
        except sqlite3.Error:
            pass  # not there yet
        time.sleep(0.02)
    raise AssertionError(f"no {number} runs in a minute")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_simulation_of_hours_ends_at_once_and_says_how_to_go_on(tmp_path, number):
    (tmp_path / "gpu.yaml").write_bytes((HERE / "transcripts" / "files" / "gpu.yaml").read_bytes())
    (tmp_path / "long.yaml").write_text(LONG)
    command = [str(simcli()), "run", "long.yaml", "-o", "r.sqlite", "--jobs", "1", "--progress", "none"]
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=tmp_path, text=True, **streams) as process:
        wait_for_runs(tmp_path / "r.sqlite", 1)
        time.sleep(0.2)  # the long one is under way
        assert process.poll() is None
        process.send_signal(number)
        begin = time.monotonic()
        said = process.stderr.read()
        assert process.wait(timeout=60) == 128 + number
        assert time.monotonic() - begin < 5
    assert f"stopped after 1 of 2 runs\nresume: simcli {' '.join(command[1:])} --resume\n" in said
    assert "failed" not in said
    with sqlite3.connect(tmp_path / "r.sqlite") as database:
        assert database.execute("SELECT scenario, error FROM runs").fetchall() == [("short", None)]
