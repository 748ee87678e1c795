#!/usr/bin/env python3
"""Runs the C++ tests of build/coverage and counts which lines of the program they run, by folder.

    ./dev coverage                                builds, runs and records
    tests/reliability/line_coverage.py --keep     counts what earlier runs left, without running anything
    tests/reliability/line_coverage.py --missed experiments/results/merge.cpp     also lists the lines of a file that
    nothing ran

A line counts as run if it ran in any of the programs that it was compiled into. Lines of tests and of generated files
are not counted; neither is what Python tests run, nor what a program ran that was killed before it could write its
counts.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import xml.etree.ElementTree

import ledger

BUILT = ledger.ROOT / "build/coverage"
FOLDERS = ("traces", "tracer", "sim", "policies", "experiments", "games")


def run_tests():
    """(tests, failed)"""
    for counts in BUILT.rglob("*.gcda"):
        counts.unlink()
    report = BUILT / "tests.xml"
    subprocess.run(["ctest", "--test-dir", BUILT, "-j", str(max(1, os.cpu_count() // 2)), "--timeout", "300",
                    "--output-junit", report], stdout=subprocess.DEVNULL)
    return tests_of(report)


def tests_of(report):
    suite = xml.etree.ElementTree.parse(report).getroot()
    return int(suite.get("tests")), int(suite.get("failures"))


def lines_of(notes):
    """(file, line, ran) of one object file, whether it ever ran or not;
    files below the root of the repository alone."""
    done = subprocess.run(["gcov", "--json-format", "--stdout", notes], capture_output=True, text=True, cwd=BUILT)
    found = []
    for report in filter(None, done.stdout.splitlines()):
        for file in json.loads(report)["files"]:
            path = (BUILT / file["file"]).resolve()
            if path.is_relative_to(ledger.ROOT):
                name = str(path.relative_to(ledger.ROOT))
                found += [(name, line["line_number"], line["count"] > 0) for line in file["lines"]]
    return found


def merged(reports):
    """file -> line -> whether it ran anywhere"""
    files = {}
    for report in reports:
        for name, line, ran in report:
            lines = files.setdefault(name, {})
            lines[line] = lines.get(line, False) or ran
    return {name: lines for name, lines in files.items() if name.split("/")[0] in FOLDERS}


def by_folder(files):
    folders = {}
    for name, lines in sorted(files.items()):
        its = folders.setdefault(name.split("/")[0], {"lines": 0, "run": 0})
        its["lines"] += len(lines)
        its["run"] += sum(lines.values())
    return folders


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--missed", metavar="FILE", action="append", default=[])
    parser.add_argument("--record", action="store_true", help="write the record of RELIABILITY.md")
    options = parser.parse_args()
    at = ledger.moment()
    tests, failed = tests_of(BUILT / "tests.xml") if options.keep else run_tests()
    with concurrent.futures.ThreadPoolExecutor(max(1, os.cpu_count() // 2)) as pool:
        files = merged(pool.map(lines_of, sorted(BUILT.rglob("*.gcno"))))
    folders = by_folder(files)
    whole = {key: sum(its[key] for its in folders.values()) for key in ("lines", "run")}
    for folder, its in [*folders.items(), ("all", whole)]:
        print(f"{folder:12} {its['run']:>7,} of {its['lines']:>7,} lines  {100 * its['run'] / its['lines']:.1f} %")
    for name in options.missed:
        print(f"{name}: {', '.join(str(line) for line, ran in sorted(files[name].items()) if not ran)}")
    print(f"{tests} tests, {failed} failed")
    if options.record:
        ledger.write("coverage", {"tests": tests, "failed": failed, "folders": folders, "all": whole}, at)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
