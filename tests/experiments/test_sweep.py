"""Sweeps that are interrupted, resumed, shared out and refused."""

import os
import re
import shutil
import signal
import sqlite3
import subprocess
import time

import pytest

from kill_and_resume import hash_of, kill_and_resume, runs_in, sweep, undisturbed
from test_transcripts import HERE, simcli

EXPERIMENT = HERE / "transcripts" / "files" / "sweep.yaml"
MANY = ("-L", "nvshare.quantum={from: 1ms, to: 150ms, step: 1ms}", "-L", "horizon=30s", "--jobs", "2")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Hash of an undisturbed sweep of MANY, and the seconds it took."""
    path = tmp_path_factory.mktemp("whole") / "whole.sqlite"
    lasts = undisturbed(EXPERIMENT, path, *MANY)
    return hash_of(path), lasts


def test_a_sweep_that_is_killed_again_and_again_ends_with_the_same_rows(tmp_path, whole):
    expected, lasts = whole
    path = tmp_path / "killed.sqlite"
    found = kill_and_resume(EXPERIMENT, path, 4, lasts, 5, *MANY)
    assert found == sorted(found), "what is written stays"
    assert any(0 < runs < 302 for runs in found), f"no kill was midway: {found}"
    assert hash_of(path) == expected


def wait_for_runs(process, path, least):
    """Until so many runs are written. Fails where the program ends, or a minute passes, before."""
    deadline = time.monotonic() + 60
    while runs_in(path) < least:
        assert process.poll() is None, f"it ended with {process.returncode}"
        assert time.monotonic() < deadline, f"{runs_in(path)} runs after a minute"
        time.sleep(0.005)


@pytest.fixture(name="begin")
def begin_and_end():
    """Starts programs, and ends those that are left."""
    started = []

    def begin(command, **options):
        started.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, text=True, **options))
        return started[-1]

    yield begin
    for process in started:
        process.kill()
        process.wait()
        if process.stderr:
            process.stderr.close()


@pytest.mark.parametrize("jobs", ["1", "8"])
def test_the_number_of_workers_changes_nothing(tmp_path, whole, jobs):
    undisturbed(EXPERIMENT, tmp_path / "r.sqlite", *MANY[:-1], jobs)
    assert hash_of(tmp_path / "r.sqlite") == whole[0]


def test_an_interrupt_says_how_to_go_on_and_that_works(tmp_path, whole, begin):
    path = tmp_path / "r.sqlite"
    process = begin(sweep(EXPERIMENT, path, *MANY), stderr=subprocess.PIPE)
    process.stderr.readline()
    wait_for_runs(process, path, 3)
    process.send_signal(signal.SIGINT)
    said = process.stderr.read()
    assert process.wait() == 130
    stopped = re.search(r"stopped after (\d+) of 302 runs\nresume: simcli (.*) --resume\n", said)
    assert stopped and int(stopped[1]) == runs_in(path) < 302
    again = subprocess.run(f"{simcli()} {stopped[2]} --resume", shell=True, capture_output=True, text=True)
    assert again.returncode == 0 and f"{stopped[1]} runs completed, {302 - int(stopped[1])} to do" in again.stderr
    assert hash_of(path) == whole[0]


def test_a_plain_run_is_resumed_too(tmp_path, begin):
    tiny = HERE / "transcripts" / "files" / "tiny.yaml"
    run = [str(simcli()), "run", str(tiny), "--set", "seeds=600", "--progress", "none", "-j", "1", "-o"]
    whole, killed = tmp_path / "whole.sqlite", tmp_path / "killed.sqlite"
    expected = subprocess.run([*run, str(whole)], check=True, capture_output=True, text=True).stdout
    process = begin([*run, str(killed)], stderr=subprocess.DEVNULL)
    wait_for_runs(process, killed, 5)
    process.kill()
    process.wait()
    assert runs_in(killed) < 1200
    assert subprocess.run([*run, str(killed), "--resume"], check=True, capture_output=True,
                          text=True).stdout == expected
    assert hash_of(killed) == hash_of(whole)


def test_a_file_that_is_being_written_is_left_alone(tmp_path, begin):
    path = tmp_path / "r.sqlite"
    long = (*MANY[:3], "horizon=120s", *MANY[4:])
    first = begin(sweep(EXPERIMENT, path, *long), stderr=subprocess.DEVNULL)
    wait_for_runs(first, path, 1)
    for option in ("--resume", "-f"):
        second = subprocess.run(sweep(EXPERIMENT, path, option, *long), capture_output=True, text=True)
        assert second.returncode == 2 and "another process is writing this results file" in second.stderr
    first.send_signal(signal.SIGINT)
    assert first.wait() == 130 and runs_in(path) > 0


def test_rows_that_were_changed_are_noticed(tmp_path):
    path, other = tmp_path / "r.sqlite", tmp_path / "other.sqlite"
    undisturbed(EXPERIMENT, path)
    shutil.copy(path, other)
    with sqlite3.connect(other) as database:
        database.execute("UPDATE metrics SET value = value * 1.0000001 WHERE rowid = 7")
    database.close()
    assert hash_of(other) != hash_of(path)
    merged = subprocess.run([simcli(), "merge", path, other, "-o", tmp_path / "m.sqlite"], capture_output=True,
                            text=True)
    assert merged.returncode == 2 and "has other rows here than in" in merged.stderr
    before = hash_of(path)
    shutil.copy(path, tmp_path / "kept.sqlite")
    again = subprocess.run([simcli(), "merge", path, other, "-f", "-o", tmp_path / "kept.sqlite"], capture_output=True)
    assert again.returncode == 2 and hash_of(tmp_path / "kept.sqlite") == before, "what it was to replace is whole"


def test_other_expectations_are_another_question(tmp_path):
    files = HERE / "transcripts" / "files"
    shutil.copy(files / "gpu.yaml", tmp_path)
    for name, bound in (("a", 1), ("b", 1000)):
        expected = f"expect: [ passthrough.game.frame_time_p99 <= {bound}ms ]\n"
        (tmp_path / f"{name}.yaml").write_text((files / "tiny.yaml").read_text() + expected)
    run = [simcli(), "run", tmp_path / "a.yaml", "-o", tmp_path / "r.sqlite", "--progress", "none"]
    assert subprocess.run(run, capture_output=True).returncode in (0, 6)
    again = subprocess.run([simcli(), "run", tmp_path / "b.yaml", "-o", tmp_path / "r.sqlite", "--resume"],
                           capture_output=True, text=True)
    assert again.returncode == 2 and "other expectations of the same runs" in again.stderr


def test_as_many_runs_at_a_time_as_this_process_may_use_processors(tmp_path):
    usable = sorted(os.sched_getaffinity(0))
    for count in {1, len(usable)}:
        done = subprocess.run(sweep(EXPERIMENT, tmp_path / f"{count}.sqlite", *MANY[:2]), check=True,
                              capture_output=True,
                              text=True, preexec_fn=lambda: os.sched_setaffinity(0, usable[:count]))
        assert re.search(rf" {count} jobs?  ", done.stderr)


def test_results_of_another_revision_are_neither_resumed_nor_merged(tmp_path):
    tiny = HERE / "transcripts" / "files" / "tiny.yaml"
    now, other = tmp_path / "now.sqlite", tmp_path / "other.sqlite"
    for path in (now, other):
        subprocess.run([simcli(), "run", tiny, "-o", path, "--progress", "none"], check=True, stdout=subprocess.DEVNULL)
    with sqlite3.connect(other) as database:
        database.execute("UPDATE properties SET value = 'before' WHERE key = 'results_revision'")
    resumed = subprocess.run([simcli(), "run", tiny, "-o", other, "--resume"], capture_output=True, text=True)
    merged = subprocess.run([simcli(), "merge", now, other, "-o", tmp_path / "m.sqlite"], capture_output=True,
                            text=True)
    for refused in (resumed, merged):
        assert refused.returncode == 2 and "revision before" in refused.stderr, refused.stderr
    assert not (tmp_path / "m.sqlite").exists()
