"""The benchmarks run, and goals.toml names cases that there are. Speed is not judged here."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(not (ROOT / "build/dev/replay_bench").exists(), reason="the benchmarks have not been built")
def test_every_row_of_the_goals_has_a_case_that_runs():
    done = subprocess.run([sys.executable, "tests/bench/suite.py", "--smoke"], cwd=ROOT, capture_output=True, text=True,
                          env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})
    assert done.returncode == 0, done.stderr
    made = re.findall(r"^row: (.*?): (.*): (.+)$", done.stdout, re.M)
    assert all(re.search(r"\d", figure) for _, _, figure in made), made
    sections = tomllib.loads((ROOT / "tests/bench/goals.toml").read_text())["section"]
    wanted = {(section["title"], row["name"]) for section in sections for row in section.get("row", [])
              if row.get("program", section["program"]) != "importer_bench"}  # left out when small
    assert wanted and wanted <= {(title, name) for title, name, _ in made}
    assert {section["title"] for section in sections} == {title for title, _, _ in made}
