"""What happens to results when the machine fails: killed, disk full, out of memory."""

import pathlib
import resource
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import record  # noqa: E402
import results_rows  # noqa: E402

FILES = record.ROOT / "tests/experiments/transcripts/files"
SIMCLI = record.ROOT / "build/release/simcli"
pytestmark = pytest.mark.skipif(not SIMCLI.exists(), reason="simcli is not built: ./dev build")


def run(output, *more, **limits):
    command = [SIMCLI, "run", FILES / "tiny.yaml", "-o", output, "--jobs", "1", *more]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **limits)


def test_a_killed_run_leaves_finished_runs_whole():
    done = subprocess.run([sys.executable, pathlib.Path(__file__).with_name("kill_runs.py"), "--trials", "8"],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "none damaged" in done.stdout


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "r.sqlite"
    assert run(path, "--set", "seeds=20").returncode == 0
    return path, results_rows.rows_by_run(path)


@pytest.mark.parametrize("share", [0.02, 0.2, 0.5, 0.9])
def test_a_full_disk_is_said_and_costs_no_finished_run(tmp_path, whole, share):
    path, rows = whole
    limit = int(path.stat().st_size * share)
    output = tmp_path / "r.sqlite"
    done = run(output, "--set", "seeds=20",
               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    assert done.returncode in (2, 4), (done.returncode, done.stderr)
    assert "error" in done.stderr and "results" in done.stderr, done.stderr
    try:
        left = results_rows.rows_by_run(output)
    except results_rows.sqlite3.OperationalError:
        left = {}  # full before there was a table
    assert len(left) < len(rows)
    for name in left:
        assert left[name] == rows[name]


@pytest.mark.parametrize("mebibytes", [64, 80, 100, 150])
def test_too_little_memory_is_an_error_and_no_crash(tmp_path, mebibytes):
    limit = mebibytes << 20
    done = run(tmp_path / "r.sqlite", "--set", "horizon=20s", "--set", "seeds=2",
               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    assert done.returncode in (0, 4, 5, 7, 127), (done.returncode, done.stderr)  # 127: the libraries did not fit
    if done.returncode in (4, 5, 7):
        assert "memory" in done.stderr + done.stdout, done.stderr


def test_an_output_that_cannot_be_written_is_said_before_anything_runs(tmp_path):
    (tmp_path / "file").touch()
    for output in ("/dev/full", tmp_path, tmp_path / "file" / "x.sqlite"):
        done = run(output)
        assert done.returncode == 2 and str(output) in done.stderr, (output, done.stderr)
        assert "simulated seconds" not in done.stdout
