"""`-o -` of commands that write one file: standard output gets its bytes alone, standard error all else."""

import shutil
import sqlite3
import subprocess

import pytest

from test_transcripts import HERE, ROOT, simcli

FILES = HERE / "transcripts" / "files"
TRACES = ROOT / "traces" / "samples"


@pytest.fixture(name="folder")
def folder_with_files(tmp_path):
    shutil.copytree(FILES, tmp_path, dirs_exist_ok=True)
    return tmp_path


def run(folder, *arguments, code=0, feed=b""):
    done = subprocess.run([str(simcli()), *map(str, arguments)], cwd=folder, input=feed, capture_output=True,
                          timeout=280)
    assert done.returncode == code, done.stderr.decode()
    return done.stdout, done.stderr.decode()


def test_an_imported_capture_is_that_of_the_file(folder):
    run(folder, "import", "frames.csv", "-o", "frames.corun")
    assert run(folder, "import", "frames.csv", "-o", "-") == ((folder / "frames.corun").read_bytes(), "")
    assert "several traces cannot be one file" in run(folder, "import", "frames.csv", "play.csv", "-o", "-", code=2)[1]
    assert "both the file and the JSON" in run(folder, "import", "frames.csv", "-o", "-", "--json", code=2)[1]
    assert not (folder / "-").exists()


def test_merged_results_are_those_of_the_file(folder):
    for seed in ("1", "2"):
        run(folder, "sweep", "sweep.yaml", "--shard", f"{seed}/2", "-o", f"{seed}.sqlite", "--progress", "none")
    run(folder, "merge", "1.sqlite", "2.sqlite", "-o", "both.sqlite")
    merged, said = run(folder, "merge", "1.sqlite", "2.sqlite", "-o", "-")
    assert said.startswith("standard output: ") and " runs" in said
    (folder / "piped.sqlite").write_bytes(merged)
    assert run(folder, "hash", "piped.sqlite")[0].split()[0] == run(folder, "hash", "both.sqlite")[0].split()[0]
    assert sqlite3.connect(folder / "piped.sqlite").execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert "both the file and the JSON" in run(folder, "merge", "1.sqlite", "2.sqlite", "-o", "-", "--json", code=2)[1]


def test_an_identified_device_is_that_of_the_file_and_the_report_is_on_standard_error(folder):
    asked = ("identify", "--device", "h200", "--against", "h200", "--most", "1", "--repetitions", "1", "--no-frames")
    report = subprocess.run([str(simcli()), *asked, "-o", "h200.yaml"], cwd=folder, capture_output=True, timeout=280)
    device, said = run(folder, *asked, "-o", "-", code=report.returncode)
    assert device == (folder / "h200.yaml").read_bytes() and device
    assert report.stdout.decode() in said


def test_the_experiment_of_captures_is_printed_and_can_be_piped_into_a_run(folder):
    capture = TRACES / "resnet50_train_bs64.kineto.json.gz"
    experiment, said = run(folder, "run", capture, capture, "--policy", "passthrough", "--write", "-")
    assert said == "" and b"clients:" in experiment
    assert [path.name for path in folder.glob("*.sqlite")] == [], "nothing is run"
    run(folder, "run", "-", "--until", "500ms", "--seed", "1", "-o", "piped.sqlite", "--progress", "none",
        feed=experiment)
    assert sqlite3.connect(folder / "piped.sqlite").execute("SELECT count(*) FROM runs").fetchone()[0] > 0
