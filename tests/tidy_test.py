"""What tests/tidy.py runs again: a stand-in for clang-tidy finds fault with files that hold the word `fault`."""

import json
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import tidy  # noqa: E402

FILES = {"sim/a.cpp": '#include "sim/a.h"\n#include <vector>\n', "sim/a.h": '#include "sim/deep.h"\n',
         "sim/deep.h": "\n", "sim/b.cpp": "int b;\n", ".clang-tidy": "Checks: one\n"}
STAND_IN = """#!/bin/sh
for path; do :; done
[ "$1" != --version ] || exit 0
echo "$path" >> ran
! grep fault "$path" sim/*.h
"""


@pytest.fixture(name="tree")
def tree_of_two_sources(tmp_path, monkeypatch):
    """A function: runs tidy on a small tree; (exit code, the files that clang-tidy looked at)."""
    (tmp_path / "sim").mkdir()
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/clang-tidy").write_text(STAND_IN)
    (tmp_path / "bin/clang-tidy").chmod(0o755)
    (tmp_path / "compile_commands.json").write_text(json.dumps(
        [{"directory": str(tmp_path / "bin"), "file": f"../sim/{name}.cpp", "command": "c++"} for name in "ab"]))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    monkeypatch.setattr(tidy, "ROOT", tmp_path)
    monkeypatch.setattr(tidy, "CLEAN", tmp_path / "build/tidy")

    def run(*arguments):
        tidy.text_and_headers.cache_clear()
        monkeypatch.setattr(sys, "argv", ["tidy", "--build", str(tmp_path), *arguments])
        (tmp_path / "ran").write_text("")
        return tidy.main(), sorted((tmp_path / "ran").read_text().split())

    return run


def test_what_was_clean_runs_again_once_it_changes(tree, tmp_path):
    assert tree() == (0, ["sim/a.cpp", "sim/b.cpp"])
    assert tree() == (0, [])
    (tmp_path / "sim/deep.h").write_text("int deep;\n")
    assert tree() == (0, ["sim/a.cpp"])
    (tmp_path / ".clang-tidy").write_text("Checks: two\n")
    assert tree() == (0, ["sim/a.cpp", "sim/b.cpp"])


def test_what_has_findings_runs_until_it_has_none(tree, tmp_path):
    (tmp_path / "sim/b.cpp").write_text("int fault;\n")
    assert tree() == (1, ["sim/a.cpp", "sim/b.cpp"])
    assert tree() == (1, ["sim/b.cpp"])
    (tmp_path / "sim/b.cpp").write_text("int b;\n")
    assert tree() == (0, ["sim/b.cpp"])
    assert tree() == (0, [])


def test_the_sources_of_a_unity_build_run_each_by_itself(tree, tmp_path):
    unity = tmp_path / "bin/unity_0_cxx.cxx"
    unity.write_text(f'#include "{tmp_path}/sim/a.cpp"\n\n#include "{tmp_path}/sim/b.cpp"\n')
    (tmp_path / "compile_commands.json").write_text(json.dumps(
        [{"directory": str(tmp_path), "file": str(unity), "command": f"c++ -Wall -o u.o -c {unity}"}]))
    assert tree() == (0, ["sim/a.cpp", "sim/b.cpp"])
    written = json.loads((tmp_path / "build/tidy/compile_commands.json").read_text())
    assert [entry["command"] for entry in written] == [f"c++ -Wall -c {tmp_path}/sim/{name}.cpp" for name in "ab"]


def test_files_may_be_named(tree, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path / "sim")
    assert tree("b.cpp") == (0, ["sim/b.cpp"])
    with pytest.raises(SystemExit, match="not compiled here: sim/c.cpp"):
        tree("c.cpp")
