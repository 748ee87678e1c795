"""An interrupted run keeps what it has done."""

import signal
import sqlite3
import subprocess

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
