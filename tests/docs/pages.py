"""The pages of the documentation as things to run.

A block whose info string is `console` holds lines `$ command` (a backslash continues it on the next line), each
followed by what it prints, stdout and stderr together; `[...]` stands for anything in a line, and alone on a line for
any lines. Without output below a command, what it prints is not compared. `[exit N]` follows a command that ends with
N. A block with a file name after its language (```yaml pair.yaml) is that file. Other `python` blocks are one program.

    python3 tests/docs/test_commands.py --update [PAGE...]         rewrites the output that pages show
    python3 tests/docs/test_commands.py --update --fill PAGE...    and shows it below commands that have none
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("CORUN_BUILD", ROOT / "build/release"))
STUDIES = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "studies").rglob("README.md"))
PAGES = sorted(str(path.relative_to(ROOT)) for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]) + STUDIES
BLOCK = re.compile(r"^(?P<indent> *)```(?P<info>[^\n`]*)\n(?P<text>.*?)^ *```$", re.MULTILINE | re.DOTALL)
LOOKS_LIKE_A_COMMAND = re.compile(r"\s*(\$ |simcli |simtrace |\./dev\b|build/\w+/|python3? |pip |cmake |g\+\+ |gunzip |"
                                  r"(?:experiments|studies|tests)/\S+\.(?:py|sh)\b)")


class Block:
    """One fenced block: `info` its info string, `text` what is in it without the indent, `start` where that begins."""

    def __init__(self, found):
        self.info, self.start, self.indent = found["info"].strip(), found.start("text"), found["indent"]
        self.text = "\n".join(line.removeprefix(self.indent) for line in found["text"].split("\n"))

    @property
    def file_name(self):
        words = self.info.split()
        return words[1] if len(words) == 2 else None


class Step:
    """A command as shown, and the lines shown below it."""

    def __init__(self, command):
        self.command, self.expected = command, []


def read_page(page):
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(text):
    return [Block(found) for found in BLOCK.finditer(text)]


def steps(block):
    found = []
    for line in block.text.rstrip("\n").split("\n"):
        if line.startswith("$ "):
            found.append(Step(line[2:]))
        elif found and found[-1].command.endswith("\\") and not found[-1].expected:
            found[-1].command += "\n" + line
        elif found:
            found[-1].expected.append(line)
    return found


def shown_commands(page):
    """(block, line) of everything in the blocks of a page that looks like a command, but for files and programs."""
    return [(block, line.strip()) for block in blocks(read_page(page))
            if block.info in ("", "sh", "bash", "console") for line in block.text.split("\n")
            if LOOKS_LIKE_A_COMMAND.match(line)]


def make_folder(folder):
    """A checkout's working folder in which commands may write:
    what is built and captured is linked, the rest copied."""
    for name in ("traces", "sim", "python", "notebooks", "studies", "tests", "policies"):
        (folder / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "experiments", folder / "experiments", ignore=shutil.ignore_patterns("*.cpp", "*.h"))
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns("*.png"))
    (folder / "build").mkdir()
    (folder / "build/release").symlink_to(BUILD)
    (folder / "results").mkdir()


def run_step(step, folder):
    """What it prints, with the line `[exit N]` where N is not 0."""
    environment = {"PATH": f"{BUILD}:{os.environ['PATH']}", "HOME": str(folder), "LC_ALL": "C.UTF-8",
                   "MPLBACKEND": "Agg", "PYTHONPATH": str(BUILD / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(["bash", "-c", step.command], cwd=folder, env=environment, timeout=120, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    lines = done.stdout.rstrip("\n").split("\n") if done.stdout.strip("\n") else []
    return [line.rstrip() for line in lines] + ([f"[exit {done.returncode}]"] if done.returncode else [])


def matches(expected, actual):
    """Whether lines are those that a page shows. A page without output promises success alone."""
    expected = [line.rstrip() for line in expected]
    while expected and not expected[-1]:
        expected.pop()
    if not expected or (len(expected) == 1 and expected[0].startswith("[exit ")):
        return (actual[-1:] if actual and actual[-1].startswith("[exit ") else []) == expected
    patterns = (r"(?:.*\n)*?" if line == "[...]" else ".*".join(map(re.escape, line.split("[...]"))) + "\n"
                for line in expected)
    return re.fullmatch("".join(patterns), "".join(line + "\n" for line in actual)) is not None


def play(page, folder):
    """(step, what it printed) for every command of a page, in order, then its Python program as a step of its own."""
    program = []
    for block in blocks(read_page(page)):
        if block.file_name:
            (folder / block.file_name).write_text(block.text)
        elif block.info == "console":
            for step in steps(block):
                yield step, run_step(step, folder)
        elif block.info == "python":
            program.append(block.text)
    if program:
        (folder / "page.py").write_text("\n".join(program))
        step = Step(f"{sys.executable} -W ignore page.py > /dev/null")
        yield step, run_step(step, folder)
