#!/usr/bin/env python3
"""Runs the C++ tests of a build tree, many cases a process, and writes what became of each case as JUnit.

    tests/run_cpp.py TREE OUTPUT.xml [--match REGEX] [--jobs N]

ctest knows the cases and how to start them, one a process; a process under the sanitizers takes longer to start than
most cases to run. Cases of one program run together here. What passed in a process that ended badly runs again, alone,
before it counts. A case that fails, or in which the process ends, runs once more, alone; the outcome is written to
OUTPUT-again.xml, as tests/summary.py reads it. Exit code 1 where a case failed twice.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as xml

TOGETHER = 25  # cases of a process
REPORT = re.compile(r"^\[ +(RUN|OK|FAILED|SKIPPED) +\] ([\w/]+\.[\w/]+)(?:.*\((\d+) ms\))?", re.MULTILINE)
OUTCOMES = {"OK": "passed", "FAILED": "failed", "SKIPPED": "skipped"}


class Case:
    """A test of ctest: `filter` is its name within its program, None where the command is the test."""

    def __init__(self, listed):
        properties = {entry["name"]: entry["value"] for entry in listed.get("properties", [])}
        self.name, self.command = listed["name"], listed.get("command", [])
        self.filter = next((word.removeprefix("--gtest_filter=") for word in self.command
                            if word.startswith("--gtest_filter=")), None)
        self.folder = properties.get("WORKING_DIRECTORY")
        self.environment = dict(entry.split("=", 1) for entry in properties.get("ENVIRONMENT", []))
        self.seconds_allowed = float(properties.get("TIMEOUT", 300))
        self.outcome, self.seconds, self.output = None, 0.0, ""
        self.is_alone = False  # runs in a process of its own


def listed_cases(tree, match):
    text = subprocess.run(["ctest", "--test-dir", tree, "--show-only=json-v1"], capture_output=True, text=True,
                          check=True).stdout
    found = [Case(listed) for listed in json.loads(text)["tests"]]
    return [case for case in found if re.search(match or "", case.name, re.IGNORECASE)]


def groups(cases):
    """Lists of cases that one process runs; those that may take longest begin first."""
    by_program = collections.defaultdict(list)
    for case in cases:
        by_program[case.command[0] if case.filter and not case.is_alone else case.name].append(case)
    found = [members[first:first + TOGETHER] for members in by_program.values()
             for first in range(0, len(members), TOGETHER)]
    return sorted(found, key=lambda group: -max(case.seconds_allowed for case in group))


def start(command, case, seconds_allowed):
    """(exit code, output); the code is None where the time was over."""
    try:
        done = subprocess.run(command, cwd=case.folder, env={**os.environ, **case.environment},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=seconds_allowed)
        return done.returncode, done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as late:
        return None, (late.stdout or b"").decode(errors="replace") + f"\nnot done after {seconds_allowed:g} s"


def run_group(cases):
    """Sets the outcome of every case that was begun. What the process did not come to keeps None."""
    first = cases[0]
    if not first.command:  # ctest names a program that was not built
        first.outcome, first.output = "failed", "not built"
        return cases
    names = ":".join(case.filter or "" for case in cases)
    command = [first.command[0], f"--gtest_filter={names}"] if first.filter else first.command
    began = time.monotonic()
    code, output = start(command, first, first.seconds_allowed)
    by_filter = {case.filter: case for case in cases}
    for word, name, milliseconds in REPORT.findall(output) if first.filter else []:
        case = by_filter.get(name)
        if case is not None:
            case.outcome, case.seconds = OUTCOMES.get(word, "failed"), int(milliseconds or 0) / 1000
    if len(cases) == 1:
        if code != 0 or not first.filter:
            first.outcome, first.seconds = "passed" if code == 0 else "failed", time.monotonic() - began
    elif code != 0:  # a leak, or an end between two cases, is anyone's: whatever did not fail runs again, alone
        for case in cases:
            case.outcome = "failed" if case.outcome == "failed" else None
    for case in cases:
        case.output = output if case.outcome == "failed" else ""
    return cases


def run_all(pool, cases):
    left = cases
    while left:
        processes = groups(left)
        done = [case for group in pool.map(run_group, processes) for case in group]
        left = [case for case in done if case.outcome is None]
        if len(left) == len(processes) == len(done):  # each alone, and none was run
            for case in left:
                case.outcome, case.output = "failed", "its program did not run it"
            return
        for case in left:
            case.is_alone = True


def write(path, cases):
    suite = xml.Element("testsuite", tests=str(len(cases)))
    for case in cases:
        element = xml.SubElement(suite, "testcase", name=case.name, time=f"{case.seconds:.3f}", status="run")
        if case.outcome != "passed":
            xml.SubElement(element, "failure" if case.outcome == "failed" else "skipped", message="")
    xml.ElementTree(suite).write(path, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree")
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--match", help="regular expression in the names of cases, in any case")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    # Cases interrupt programs, and a job in the background would ignore it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    cases = listed_cases(options.tree, options.match)
    if not cases:
        sys.exit(f"{options.tree} has no tests" + (f" that match {options.match}" if options.match else ""))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        run_all(pool, cases)
    write(options.output, cases)
    failed = [case for case in cases if case.outcome == "failed"]
    for case in failed:
        run_group([case])
        if case.outcome == "failed":
            print(f"{case.output}\nFAILED {case.name}", flush=True)
    if failed:
        write(options.output.with_name(f"{options.output.stem}-again.xml"), failed)
    outcomes = collections.Counter(case.outcome for case in cases)
    print(", ".join(f"{outcomes[word]} {word}" for word in ("passed", "failed", "skipped")))
    return 1 if outcomes["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
