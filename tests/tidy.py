"""Runs clang-tidy with the checks of .clang-tidy: ./dev tidy [--build FOLDER] [FILE...]

Reads how files are compiled from FOLDER/compile_commands.json (build/release if not given), and takes every project
file in it, or the FILEs. A file without findings is remembered in build/tidy by the hash of all that they come from:
its text and that of the project's headers that it includes, over however many others, its compile command, the checks
and clang-tidy itself. It runs again once one of these has changed. Exit code 1 where there are findings.
"""

import argparse
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import architecture_rules

ROOT = pathlib.Path(__file__).resolve().parents[1]
CLEAN = ROOT / "build" / "tidy"  # an empty file for each hash


def sources_of(path):
    """The file, or those that a file of CMake's unity builds includes."""
    if not re.fullmatch(r"unity_.*\.cxx", path.name) or not path.exists():
        return [path]
    return [pathlib.Path(name) for name in re.findall(r'#include "(.*\.cpp)"', path.read_text())]


def compile_commands(folder):
    """path from the root -> how it is compiled, of the project's own .cpp files, each by itself."""
    file = folder / "compile_commands.json"
    if not file.exists():
        sys.exit(f"tidy: no {file}: ./dev build")
    found = {}
    for entry in json.loads(file.read_text()):
        compiled = pathlib.Path(os.path.abspath(os.path.join(entry["directory"], entry["file"])))
        command = entry.get("command") or " ".join(entry["arguments"])
        for path in sources_of(compiled):
            if path.suffix == ".cpp" and path.is_relative_to(ROOT) and not path.is_relative_to(ROOT / "build"):
                alone = re.sub(r" -o \S+", "", command).replace(entry["file"], str(path))
                found.setdefault(path.relative_to(ROOT).as_posix(), (entry["directory"], alone))
    return found


def write_commands(commands):
    """For clang-tidy, which knows nothing of unity builds. Returns the folder."""
    CLEAN.mkdir(parents=True, exist_ok=True)
    entries = [{"directory": directory, "command": command, "file": str(ROOT / path)}
               for path, (directory, command) in commands.items()]
    (CLEAN / "compile_commands.json").write_text(json.dumps(entries))
    return CLEAN


@functools.cache
def text_and_headers(path):
    """The text of a file of the project, and the headers of the project that it includes itself."""
    text = (ROOT / path).read_text()
    return text, [name for _, is_quoted, name in architecture_rules.includes(text)
                  if is_quoted and (ROOT / name).is_file()]


def with_headers(path):
    """The file and every header of the project that it includes, over however many others, in a fixed order."""
    return sorted(architecture_rules.with_headers(path, lambda name: text_and_headers(name)[1]))


def key(path, command, program):
    """The hash of all that findings in a file depend on. `program`: clang-tidy's version and its checks."""
    parts = [program, command, path]
    for name in with_headers(path):
        parts += [name, text_and_headers(name)[0]]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def findings(path, build):
    """What clang-tidy says of a file; nothing where it is clean. Warnings of the compiler are left to the build."""
    done = subprocess.run(["clang-tidy", "--quiet", "--extra-arg=-w", "-p", build, path], cwd=ROOT, capture_output=True,
                          text=True, check=False)
    return "" if done.returncode == 0 else done.stdout or done.stderr


def chosen(commands, files):
    """The keys of `commands` that are meant: all, or the `files`, whose paths are relative to the working folder."""
    paths = [pathlib.Path(os.path.abspath(file)).relative_to(ROOT).as_posix() for file in files]
    unknown = [path for path in paths if path not in commands]
    if unknown:
        sys.exit(f"tidy: not compiled here: {', '.join(unknown)}")
    return paths or sorted(commands)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release", metavar="FOLDER")
    options = parser.parse_args()
    if shutil.which("clang-tidy") is None:
        sys.exit("tidy: no clang-tidy is installed (packages.txt)")
    commands = compile_commands(options.build)
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, text=True, check=True).stdout
    program = version + (ROOT / ".clang-tidy").read_text()
    keys = {path: key(path, commands[path][1], program) for path in chosen(commands, options.files)}
    build = write_commands(commands)
    waiting = [path for path in keys if not (CLEAN / keys[path]).exists()]
    found = 0
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
        for path, said in zip(waiting, threads.map(functools.partial(findings, build=build), waiting)):
            if said:
                found += 1
                print(said, flush=True)
            else:
                (CLEAN / keys[path]).touch()
    print(f"{len(keys)} files, {len(keys) - len(waiting)} of them clean as before; findings in {found}",
          file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
