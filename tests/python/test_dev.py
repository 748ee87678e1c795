"""The command line of ./dev, as far as it can be seen without building."""

import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parents[2]


def dev(*arguments):
    return subprocess.run([ROOT / "dev", *arguments], capture_output=True, text=True, timeout=20)


@pytest.mark.parametrize("arguments", [(), ("help",), ("--help",)])
def test_help_names_every_command(arguments):
    done = dev(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert set(re.findall(r"^\./dev (\w+)", done.stdout, re.MULTILINE)) == {
        "run", "build", "package", "wheel", "test", "reproduce", "bench", "fuzz", "mutants", "determinism", "coverage",
        "tidy", "figures", "help"}


def test_an_unknown_command_is_wrong_usage():
    done = dev("biuld")
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is no command `biuld`" in done.stderr


def test_a_benchmark_has_a_name():
    done = dev("bench", "nothing")
    assert (done.returncode, done.stdout) == (1, "")
    assert "importer knapsack" in done.stderr


def test_works_from_any_folder(tmp_path):
    assert subprocess.run([ROOT / "dev", "help"], cwd=tmp_path, capture_output=True).returncode == 0


def test_every_package_is_listed_once_under_a_heading():
    sections = re.split(r"^\[(\w+)\]\n", (ROOT / "packages.txt").read_text(), flags=re.MULTILINE)
    assert sections[1::2] == ["build", "test", "fuzz", "tidy", "mutants", "package", "wheel"]
    assert all(line.startswith("#") for line in sections[0].splitlines()), "no package stands above the first heading"
    names = [line for text in sections[2::2] for line in text.split()]
    assert len(names) == len(set(names)) and all(re.fullmatch(r"[a-z0-9][a-z0-9+.-]+", name) for name in names)
