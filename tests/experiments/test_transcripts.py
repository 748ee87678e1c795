"""Replays the command-line transcripts of this folder.

A transcript holds blocks of a line `$ simcli ...`, what it prints (stdout and stderr together) and `[exit N]` where N
is not 0. Each transcript runs in a fresh copy of transcripts/files. `[...]` in expected output stands for anything in a
line.

    python3 tests/experiments/test_transcripts.py --update    rewrites the expected output
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TRANSCRIPTS = sorted((HERE / "transcripts").glob("*.txt"))


def simcli():
    """The program under test: $CORUN_SIMCLI, or the release build."""
    return pathlib.Path(os.environ.get("CORUN_SIMCLI", ROOT / "build" / "release" / "simcli"))


def read_blocks(text):
    """(comment lines before it, command, expected output) of every block."""
    blocks, comment = [], []
    for line in text.splitlines():
        if line.startswith("$ "):
            blocks.append((comment, line[2:], []))
            comment = []
        elif line.startswith("## "):
            comment.append(line)
        elif blocks:
            blocks[-1][2].append(line)
    return [(before, command, "\n".join(output).rstrip("\n")) for before, command, output in blocks]


def run(command, folder):
    words = shlex.split(command)
    assert words[0] == "simcli", command
    mutant = {name: value for name, value in os.environ.items() if name.startswith("CORUN_MUTANT")}
    environment = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8", **mutant}
    done = subprocess.run([str(simcli()), *words[1:]], cwd=folder, env=environment, timeout=60,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    output = done.stdout.rstrip("\n")
    return output + (f"\n[exit {done.returncode}]" if done.returncode else "")


def matches(expected, actual):
    pattern = ".*".join(re.escape(part) for part in expected.split("[...]"))
    return re.fullmatch(pattern, actual) is not None


def replay(transcript):
    """(command, expected, actual) of every block, in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(HERE / "transcripts" / "files", folder, dirs_exist_ok=True)
        return [(before, command, expected, run(command, folder))
                for before, command, expected in read_blocks(transcript.read_text())]


def pytest_generate_tests(metafunc):
    metafunc.parametrize("transcript", TRANSCRIPTS, ids=lambda path: path.stem)


def test_transcript(transcript):
    import pytest

    if not simcli().exists():
        pytest.fail(f"{simcli()} is not built")
    for _, command, expected, actual in replay(transcript):
        assert matches(expected, actual), f"$ {command}\n--- expected\n{expected}\n--- found\n{actual}"


def update():
    for transcript in TRANSCRIPTS:
        lines = []
        for before, command, expected, actual in replay(transcript):
            kept = expected if matches(expected, actual) and expected else actual
            lines += [*before, f"$ {command}", *([kept] if kept else []), ""]
        transcript.write_text("\n".join(lines))


if __name__ == "__main__":
    if sys.argv[1:] != ["--update"]:
        sys.exit(__doc__)
    update()
