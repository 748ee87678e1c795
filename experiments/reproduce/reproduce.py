#!/usr/bin/env python3
"""Runs the experiments behind published claims, and says which claims they reproduce.

usage: reproduce.py [--list] [--keep] [--jobs N] [CLAIM...]

Without CLAIM every claim is judged and RESULTS.md is written. Results files go to build/reproduce; --keep uses those
that are already there. Exit code: 0 if the runner did its work, whatever the verdicts; 1 if a claim ended in an error.
"""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import threading
import time

import claims as claim_files
import figures
import report

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


class Suite:
    """What the chosen claims need, run at most once each: experiments, and programs of tests."""

    def __init__(self, claims, options):
        self.options = options
        self.folder = pathlib.Path(options.folder)
        self.experiments = sorted({claim.experiment for claim in claims if claim.experiment})
        self.tests = sorted({test for claim in claims for test in claim.tests})
        self.outcomes = {}
        self.lock = threading.Lock()
        self.started = time.monotonic()

    def run(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        tasks = [(self.expected_seconds(path.stem), self.run_experiment, path) for path in self.experiments]
        tasks += [(self.expected_seconds(stem_of(test)), self.run_test, test) for test in self.tests]
        tasks.sort(key=lambda task: -task[0])  # the longest first, so that none is left over at the end
        self.left = {what: seconds for seconds, _, what in tasks}
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            for future in [pool.submit(self.timed, run, what) for _, run, what in tasks]:
                future.result()

    def results_of(self, claim):
        return figures.Measured(claim.measured) if claim.measured else self.outcomes.get(claim.experiment)

    def expected_seconds(self, stem):
        """As long as last time; 30 s where there was none."""
        try:
            return float((self.folder / f"{stem}.seconds").read_text())
        except (OSError, ValueError):
            return 30.0

    def timed(self, run, what):
        start = time.monotonic()
        self.outcomes[what], was_kept = run(what)
        seconds = time.monotonic() - start
        stem = stem_of(what) if isinstance(what, tuple) else what.stem
        if not was_kept:
            (self.folder / f"{stem}.seconds").write_text(f"{seconds:.1f}\n")
        with self.lock:
            self.left.pop(what)
            done = len(self.outcomes)
            eta = sum(self.left.values()) / self.options.jobs
            took = "kept" if was_kept else f"{seconds:.0f} s"
            print(f"[{done:3}/{done + len(self.left)}] {stem:32} {took:>6}   about {eta / 60:.1f} min left",
                  file=sys.stderr)

    def run_experiment(self, path):
        """The results of an experiment, or the text of what went wrong; and whether they were there already."""
        results = self.folder / f"{path.stem}.sqlite"
        if self.options.keep and results.exists():
            return figures.Results(results), True
        partial = self.folder / f"{path.stem}.partial.sqlite"
        command = [self.options.simcli, "run", str(path), "--force", "--output", str(partial), "--jobs", "1",
                   "--progress", "none", "--diagnostics", "short"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode not in (0, 6, 7):  # 6: an expectation of the file; 7: some runs failed, each a row
            return " ".join((done.stderr or done.stdout).split())[:300], False
        partial.replace(results)
        return figures.Results(results), False

    def run_test(self, test):
        """((passed, text), False): passed is None where no test ran."""
        program, pattern = test
        path = pathlib.Path(self.options.tests) / program
        if not path.exists():
            return (None, f"there is no {program} in {self.options.tests}"), False
        environment = dict(os.environ, RC_PARAMS="seed=1")
        done = subprocess.run([str(path), f"--gtest_filter={pattern}"], cwd=ROOT, capture_output=True, text=True,
                              env=environment)
        ran = done.stdout.count("[       OK ]")
        failed = {line.split()[2]
                  for line in done.stdout.splitlines() if line.startswith("[  FAILED  ] ") and "(" in line}
        if failed:
            return (False, f"{len(failed)} of {ran + len(failed)} fail: {', '.join(sorted(failed))}"), False
        if done.returncode != 0 or ran == 0:
            return (None, f"no test of {program} ran, exit code {done.returncode}"), False
        return (True, f"{ran} pass" if ran > 1 else "passes"), False


def stem_of(test):
    return "".join(c if c.isalnum() else "_" for c in ".".join(test))[:80]


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("claims", nargs="*", metavar="CLAIM", help="the id of a claim; all if none is named")
    parser.add_argument("--list", action="store_true", help="list the claims and end")
    parser.add_argument("--keep", action="store_true", help="use results files that are already there")
    parser.add_argument("--jobs", type=int, default=max(2, os.cpu_count() or 2), help="experiments at a time")
    parser.add_argument("--test-programs", action="store_true", help="print the test programs needed and end")
    parser.add_argument("--folder", default=str(ROOT / "build" / "reproduce"), help="where results files go")
    parser.add_argument("--claim-files", default=str(HERE / "claims"), help="folder of claim files")
    parser.add_argument("--page", default=str(HERE / "RESULTS.md"), help="the page to write when no claim is named")
    parser.add_argument("--simcli", default=str(ROOT / "build" / "release" / "simcli"))
    parser.add_argument("--tests", default=str(ROOT / "build" / "dev"), help="folder of the test programs")
    return parser.parse_args(arguments)


def choose(claims, names):
    unknown = set(names) - {claim.id for claim in claims}
    if unknown:
        raise claim_files.BadClaim(f"there is no claim {', '.join(sorted(unknown))}; --list tells which there are")
    return [claim for claim in claims if not names or claim.id in names]


def show(verdicts):
    for verdict in verdicts:
        print(f"{verdict.claim.id:8} {verdict.verdict:10} {verdict.claim.what}")
        for row in verdict.rows:
            if row.verdict in (report.MISSED, report.UNDECIDED, report.ERROR):
                print(f"         {row.verdict}: {row.what}: {row.simulated}; "
                      f"published {row.published or '-'}, demanded {row.tolerance or '-'}")
        if verdict.verdict == report.REPRODUCED and verdict.claim.missed_because:
            print(f"         note: reproduced, although its file gives a reason for missing it")


def main(arguments):
    options = parse_arguments(arguments)
    claims = choose(claim_files.read_claims(options.claim_files), options.claims)
    if options.list:
        print("\n".join(f"{claim.id:8} {claim.what}" for claim in claims))
        return 0
    if options.test_programs:
        print("\n".join(sorted({program for claim in claims for program, _ in claim.tests})))
        return 0
    suite = Suite(claims, options)
    suite.run()
    tests = {test: suite.outcomes[test] for test in suite.tests}
    verdicts = [report.judge(claim, suite.results_of(claim), tests) for claim in claims]
    show(verdicts)
    if not options.claims:
        pathlib.Path(options.page).write_text(report.page(verdicts))
    return 1 if any(verdict.verdict == report.ERROR for verdict in verdicts) else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except claim_files.BadClaim as error:
        sys.exit(f"reproduce: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
