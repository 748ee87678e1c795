#!/usr/bin/env python3
"""Does the same experiment in every way in which it must not matter, and compares the results.

    ./dev determinism [--record] [EXPERIMENT...]     builds what is compared first
    tests/reliability/determinism.py [--record] [--until 4s] [EXPERIMENT...]

The ways of a run: 1, 2 and 8 workers, seeds in reversed order, the address space laid out the same every time, killed
(SIGKILL) on its way and resumed, and every other build of simcli that there is (OTHER_BUILDS). The ways of a sweep: 1
and 8 workers, three shards merged, killed and resumed. Each must give the same rows for every run, to the last bit; the
hash is over all tables but the time that it took. `simcli hash` must agree, except where the plan is another one.
"""

import argparse
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile

import disk_faults
import disk_log
import ledger
import results_rows

RELEASE = ledger.ROOT / "build/release/simcli"
OTHER_BUILDS = {"gcc with sanitizers": ledger.ROOT / "build/dev/simcli", "clang": ledger.ROOT / "build/clang/simcli",
                "clang with sanitizers": ledger.ROOT / "build/fuzz/simcli"}
EXPERIMENTS = ["experiments/quickstart.yaml", "experiments/rivals.yaml",
               "tests/experiments/transcripts/files/tiny.yaml"]
SHARDS = 3
ANOTHER_PLAN = {"seeds reversed"}  # the same runs in another order


class Way:
    """One way of doing an experiment. `do` writes results into a folder and returns their path."""

    def __init__(self, folder, experiment, until):
        self.folder, self.file, self.until = folder, ledger.ROOT / experiment, until

    def command(self, output, *options, verb="run", program=RELEASE, prefix=(), seeds="[1, 2, 3]"):
        swept = ["-L", f"horizon={self.until},{2 * int(self.until[:-1])}s", "--set",
                 "warmup=0ns"] if verb == "sweep" else []
        until = ["--until", self.until] if verb == "run" else []
        return [*prefix, program, verb, self.file, "-o", output, "--progress", "none", "--set", f"seeds={seeds}",
                *swept, *until, *map(str, options)]

    def do(self, *options, **how):
        output = self.folder / "r.sqlite"
        finish(self.command(output, "-f", *options, **how))
        return output

    def killed(self, **how):
        """Resumed after a SIGKILL between its first run and its last. It comes at one of the calls on the disk, since
        no load of the machine changes these; in time, a fast program is done between two looks."""
        disk, output = disk_faults.shim(self.folder), self.folder / "killed" / "r.sqlite"
        log = self.folder / "log"

        def attempt(**faults):
            shutil.rmtree(output.parent, ignore_errors=True)
            output.parent.mkdir()
            return subprocess.run(self.command(output, "--jobs", 1, **how), capture_output=True, env={
                **os.environ, "LD_PRELOAD": str(disk), "FAULTY_DISK_UNDER": f"{output.parent}/", **faults}).returncode

        attempt(FAULTY_DISK_LOG=str(log))
        calls, runs = len(disk_log.read_log(log)), runs_in(output)
        for sixteenths in (8, 10, 12, 6, 14, 4, 15):
            code = attempt(FAULTY_DISK_FAIL=f"{calls * sixteenths // 16} 0 kill")
            if code == -signal.SIGKILL and 0 < runs_in(output) < runs:
                finish(self.command(output, "--resume", "--jobs", 2, **how))
                return output
        sys.exit(f"{self.file}: it was never killed between two runs")

    def merged(self):
        shards = [self.folder / f"shard{number}.sqlite" for number in range(1, SHARDS + 1)]
        for number, shard in enumerate(shards, 1):
            finish(self.command(shard, "-f", "--jobs", 1, "--shard", f"{number}/{SHARDS}", verb="sweep"))
        output = self.folder / "merged.sqlite"
        finish([RELEASE, "merge", "-f", "-o", output, *shards])
        return output


def runs_in(path):
    try:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=0) as database:
            return database.execute("SELECT count(*) FROM runs").fetchone()[0]
    except sqlite3.Error:
        return 0  # not there yet


def finish(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 6):
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stderr}")


def ways_of_a_run():
    """name -> what is done with a Way"""
    yield "1 worker", lambda way: way.do("--jobs", 1)
    yield "2 workers", lambda way: way.do("--jobs", 2)
    yield "8 workers", lambda way: way.do("--jobs", 8)
    yield "seeds reversed", lambda way: way.do("--jobs", 2, seeds="[3, 2, 1]")
    yield "no address randomisation", lambda way: way.do("--jobs", 2, prefix=["setarch", "-R"])
    yield "killed and resumed", lambda way: way.killed()
    for name, program in OTHER_BUILDS.items():
        if program.exists():
            yield name, lambda way, program=program: way.do("--jobs", 2, program=program)


def ways_of_a_sweep():
    yield "sweep by 1 worker", lambda way: way.do("--jobs", 1, verb="sweep")
    yield "sweep by 8 workers", lambda way: way.do("--jobs", 8, verb="sweep")
    yield f"{SHARDS} shards merged", lambda way: way.merged()
    yield "sweep killed and resumed", lambda way: way.killed(verb="sweep")


def hashes(path, name):
    """Of the rows, and as simcli prints it; the latter None where the plan is another one."""
    told = subprocess.run([RELEASE, "hash", path], capture_output=True, text=True).stdout.split()
    return results_rows.content_hash(path), None if name in ANOTHER_PLAN else told[0]


def compare(experiment, until, ways, tried):
    """(runs compared, runs in files that differ)"""
    first, compared, differing = None, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for name, do in ways:
            path = do(Way(pathlib.Path(folder), experiment, until))
            found, told = hashes(path, name)
            first = first or (found, told)
            differs = found != first[0] or told not in (None, first[1])
            runs = len(results_rows.rows_by_run(path))
            tried += [name] if name not in tried else []
            compared, differing = compared + runs, differing + runs * differs
            print(f"{found}  {experiment}  {name}{'  DIFFERS' if differs else ''}", flush=True)
    return compared, differing


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help="write the record of RELIABILITY.md")
    parser.add_argument("--until", default="4s", help="simulated seconds of each run, whole ones")
    parser.add_argument("experiments", nargs="*", default=EXPERIMENTS)
    options = parser.parse_args()
    at, tried, compared, differing = ledger.moment(), [], 0, 0
    for experiment in options.experiments:
        for ways in (ways_of_a_run(), ways_of_a_sweep()):
            runs, others = compare(experiment, options.until, ways, tried)
            compared, differing = compared + runs, differing + others
    print(f"{compared} runs in {len(tried)} ways, {differing} in files that differ")
    for name, program in OTHER_BUILDS.items():
        if not program.exists():
            print(f"not compared, since it is not built: {name} ({program.relative_to(ledger.ROOT)})")
    if options.record:
        ledger.write("determinism", {"ways": tried, "experiments": len(options.experiments), "runs": compared,
                                     "differing": differing}, at)
    return 1 if differing else 0


if __name__ == "__main__":
    raise SystemExit(main())
