"""Holds the C++ of the tree to .clang-format."""

import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = shutil.which("clang-format")


def tracked(*patterns):
    listed = subprocess.run(["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a git checkout: no list of the project's own files")
    return [path for path in listed.stdout.split("\0") if path]


def test_cpp_is_what_clang_format_makes():
    if PROGRAM is None:
        pytest.skip("no clang-format is installed (packages.txt)")
    paths = tracked("*.h", "*.cpp", "*.cu")
    assert len(paths) > 500
    parts = [paths[first::len(os.sched_getaffinity(0))] for first in range(len(os.sched_getaffinity(0)))]
    checks = [subprocess.Popen([PROGRAM, "--dry-run", "-Werror", *part], cwd=ROOT, stderr=subprocess.PIPE, text=True)
              for part in parts]
    said = "".join([check.communicate()[1] for check in checks])
    assert all(check.returncode == 0 for check in checks), said
