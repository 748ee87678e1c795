"""What happens to results when the machine fails: killed, disk full, out of memory."""

import pathlib
import resource
import shlex
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import ledger  # noqa: E402
import results_rows  # noqa: E402

FILES = ledger.ROOT / "tests/experiments/transcripts/files"
SIMCLI = ledger.ROOT / "build/release/simcli"
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
    if share < 0.3:  # full before there was a run
        return
    left = results_rows.rows_by_run(output)
    assert 0 < len(left) < len(rows)
    for name in left:
        assert left[name] == rows[name]


def test_a_disk_that_is_full_costs_no_finished_run(tmp_path, whole):
    """A small file system of its own, which is full before all runs are there."""
    path, rows = whole
    disk, kept = tmp_path / "disk", tmp_path / "kept"
    disk.mkdir(), kept.mkdir()
    size = path.stat().st_size * 9 // 10  # with a journal in it
    script = ('mount -t tmpfs -o size="$1" tmpfs "$2" || exit 77; "$3" run "$4" -o "$2/r.sqlite" --jobs 1'
              ' --set seeds=20; code=$?; cp "$2"/r.sqlite* "$5"; exit $code')
    words = [script, "sh", str(size), disk, SIMCLI, FILES / "tiny.yaml", kept]
    done = subprocess.run(["unshare", "-rm", "sh", "-c", *words], capture_output=True, text=True, timeout=120)
    if done.returncode in (1, 77) and not list(kept.iterdir()):
        pytest.skip("no file system of our own here")
    assert done.returncode == 4 and "full" in done.stderr, (done.returncode, done.stderr)
    left = results_rows.rows_by_run(kept / "r.sqlite")
    assert 0 < len(left) < len(rows)
    for name in left:
        assert left[name] == rows[name]


@pytest.mark.parametrize("stream", [">/dev/full", ">&-"])
@pytest.mark.parametrize("command", ["run", "run --json", "check", "plan", "plan --json"])
def test_a_lost_standard_output_is_said_and_costs_no_results(tmp_path, whole, command, stream):
    output = tmp_path / "r.sqlite"
    runs = command.startswith("run")
    more = ["-o", str(output), "--set", "seeds=20"] if runs else ["--set", "seeds=20"]
    done = shell([SIMCLI, *command.split(), FILES / "tiny.yaml", *more], stream)
    assert done.returncode == 4, (done.returncode, done.stderr)
    assert "error[E0600]: standard output cannot be written, what was to be printed is lost: " in done.stderr
    if runs:
        assert results_rows.rows_by_run(output) == whole[1]


@pytest.mark.parametrize("words", ["--help", "policy list", "policy list --json", "version", "metrics", "hash FILE",
                                   "compare FILE", "info FILE", "sql FILE", "sql FILE -c 'SELECT 1'"])
def test_every_command_says_that_its_output_is_lost(whole, words):
    path = shlex.quote(str(whole[0] if "info" not in words else FILES / "alone.corun"))
    done = shell(f"{SIMCLI} {words.replace('FILE', path)}", ">/dev/full")
    assert done.returncode == 4 and "E0600" in done.stderr, (done.returncode, done.stderr)
    assert shell(f"{SIMCLI} {words.replace('FILE', path)}", "2>/dev/full").returncode == 0


@pytest.mark.parametrize("stream", ["2>/dev/full", "2>&-", "<&- 2>&-"])
def test_a_lost_standard_error_is_no_error(tmp_path, whole, stream):
    output = tmp_path / "r.sqlite"
    done = shell([SIMCLI, "run", FILES / "tiny.yaml", "-o", str(output), "--set", "seeds=20", "--progress", "plain"],
                 stream)
    assert done.returncode == 0 and "passthrough" in done.stdout
    assert results_rows.rows_by_run(output) == whole[1]


def shell(command, streams):
    line = command if isinstance(command, str) else " ".join(shlex.quote(str(word)) for word in command)
    return subprocess.run(["sh", "-c", f"{line} {streams}"], capture_output=True, text=True, timeout=120)


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
