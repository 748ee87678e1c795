"""The benchmarks run, and goals.toml names cases that there are. Speed is not judged here."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(not (ROOT / "build/dev/replay_bench").exists(), reason="the benchmarks have not been built")
def test_every_row_of_the_goals_has_a_case_that_runs():
    done = subprocess.run([sys.executable, "tests/bench/suite.py", "--smoke"], cwd=ROOT, capture_output=True, text=True,
                          env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})
    assert done.returncode == 0, done.stderr
    rows = int(re.search(r"(\d+) rows made", done.stdout).group(1))
    goals = (ROOT / "tests/bench/goals.toml").read_text()
    assert rows >= goals.count("[[section.row]]") - 1 + 4 * 4
