"""Replays the transcripts of `simcli live` in this folder, with programs of the fake driver.

They are as those of tests/experiments; `^C` behind a command is an interrupt half a second after its first run began or
after the one before; a command that takes longer than four seconds to heed it fails.

    python3 tests/sim/live/test_live_transcripts.py --update    rewrites the expected output, figures as [...]
"""

import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "experiments"))
import test_transcripts  # noqa: E402

PROGRAMS = pathlib.Path(os.environ.get("CORUN_LIVE_PROGRAMS",
                                       test_transcripts.ROOT / "build" / "dev" / "tests" / "sim" / "live"))
TRANSCRIPTS = sorted((HERE / "transcripts").glob("*.txt"))
FIGURES = [(r"launched \d+", "launched [...]"), (r"[\d.]+ /s\b", "[...] /s"), (r"\) after [\d.]+ s", ") after [...] s"),
           (r"ended (.*)after [\d.]+ s", r"ended \1after [...] s"), (r"until [\d.]+ s", "until [...] s"),
           (r"(live, \w+:) .*", r"\1 [...]"), (r"(interrupted after) [\d.]+", r"\1 [...]"),
           (r"\(engine .*\)", "(engine [...])"), (r"(127\.0\.0\.1:)\d+", r"\1[...]")]


def run(command, folder):
    words, interrupts, began = shlex.split(command), 0, time.monotonic()
    while words[-1] == "^C":
        words, interrupts = words[:-1], interrupts + 1
    environment = {"PATH": f"{PROGRAMS}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
    with subprocess.Popen([str(test_transcripts.simcli()), *words[1:]], cwd=folder, env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        output = ""
        while interrupts and "run 1/" not in output and (line := process.stdout.readline()):
            output += line
        for _ in range(interrupts):
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
        output += process.communicate(timeout=60)[0]
    if interrupts and time.monotonic() - began > 4:
        output += "took longer than 4 s\n"
    return output.rstrip("\n") + (f"\n[exit {process.returncode}]" if process.returncode else "")


def masked(output):
    for figure, mask in FIGURES:
        output = re.sub(figure, mask, output)
    return output


def replay(transcript, folder):
    shutil.copytree(HERE / "transcripts" / "files", folder, dirs_exist_ok=True)
    for before, command, expected in test_transcripts.read_blocks(transcript.read_text()):
        yield before, command, expected, run(command, folder)


def pytest_generate_tests(metafunc):
    metafunc.parametrize("transcript", TRANSCRIPTS, ids=lambda path: path.stem)


def test_transcript(transcript, tmp_path):
    import pytest

    if not (PROGRAMS / "live_app").exists():
        pytest.skip(f"{PROGRAMS}/live_app is not built")
    for _, command, expected, actual in replay(transcript, tmp_path):
        assert test_transcripts.matches(expected, actual), f"$ {command}\n--- expected\n{expected}\n--- found\n{actual}"


def update():
    for transcript in TRANSCRIPTS:
        lines = []
        with tempfile.TemporaryDirectory() as folder:
            for before, command, expected, actual in replay(transcript, folder):
                kept = expected if expected and test_transcripts.matches(expected, actual) else masked(actual)
                lines += [*before, f"$ {command}", *([kept] if kept else []), ""]
        transcript.write_text("\n".join(lines))


if __name__ == "__main__":
    if sys.argv[1:] != ["--update"]:
        sys.exit(__doc__)
    update()
