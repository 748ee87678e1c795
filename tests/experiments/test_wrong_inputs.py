"""Mistakes of meaning in experiments, a case each in check/wrong_inputs.txt: `simcli check` finds every one."""

import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIMCLI = pathlib.Path(os.environ.get("CORUN_BUILD", ROOT / "build" / "release")) / "simcli"
SAMPLES = str(ROOT / "traces" / "samples")


def sections():
    """(name, verdict, words, text) of every section; of the base experiment, name and text alone."""
    text = (ROOT / "tests/experiments/check/wrong_inputs.txt").read_text().replace("SAMPLES", SAMPLES)
    for section in text.split("\n=== ")[1:]:
        heading, _, body = section.partition("\n")
        yield *(heading.split(" | ") + ["", ""])[:3], body


BASE, *CASES = sections()


def check(folder, lines):
    """Of the base experiment with each line, `path: value`, changed by `--set`."""
    (folder / "e.yaml").write_text(BASE[3])
    changes = [line.partition(": ") for line in lines.splitlines() if line]
    sets = [argument for path, _, value in changes for argument in ("--set", f"{path}={value}")]
    return subprocess.run([SIMCLI, "check", "e.yaml", "--diagnostics", "short", *sets], cwd=folder,
                          capture_output=True, text=True, timeout=120)


def test_nothing_is_wrong_with_what_the_cases_change(tmp_path):
    done = check(tmp_path, "")
    assert done.returncode == 0, done.stderr


def test_there_are_at_least_forty():
    assert len(CASES) >= 40


@pytest.mark.parametrize("name, verdict, words, text", CASES, ids=[case[0] for case in CASES])
def test_is_found_by_check(tmp_path, name, verdict, words, text):
    done = check(tmp_path, text)
    assert words in done.stderr, f"{name}: {done.stdout}{done.stderr}"
    assert (done.returncode == 0) == (verdict == "warning"), f"{name}: {done.stderr}"
    assert verdict in done.stderr
