"""Kills a sweep at random moments, resumes it each time, and compares the result with an undisturbed one.

    python3 tests/experiments/kill_and_resume.py                 the 1000 points of experiments/sweeps/pilotfish.yaml
    python3 tests/experiments/kill_and_resume.py EXPERIMENT --kills 5 --seed 7
"""

import argparse
import contextlib
import pathlib
import random
import sqlite3
import subprocess
import sys
import tempfile
import time

from test_transcripts import ROOT, simcli


def hash_of(path):
    """As simcli computes it from the rows."""
    done = subprocess.run([str(simcli()), "hash", str(path)], check=True, capture_output=True, text=True)
    return done.stdout.split()[0]


def runs_in(path):
    """How many runs a file holds, as any reader sees it while and after it is written."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            return database.execute("SELECT count(*) FROM runs").fetchone()[0]
    except sqlite3.OperationalError:
        return 0  # killed before the tables were there


def sweep(experiment, output, *options):
    return [str(simcli()), "sweep", str(experiment), "-o", str(output), "--progress", "none", *options]


def undisturbed(experiment, output, *options):
    """Seconds that the sweep takes."""
    begin = time.monotonic()
    subprocess.run(sweep(experiment, output, *options), check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - begin


def kill_and_resume(experiment, output, kills, lasts, seed, *options):
    """Runs at each kill. `lasts` is what an undisturbed sweep takes, in seconds."""
    draw = random.Random(seed)
    found = []
    for _ in range(kills):
        process = subprocess.Popen(sweep(experiment, output, "--resume", *options), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        time.sleep(draw.uniform(0, 1.5 * lasts / kills))
        process.kill()
        process.wait()
        found.append(runs_in(output))
    subprocess.run(sweep(experiment, output, "--resume", *options), check=True, stdout=subprocess.DEVNULL)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", nargs="?", default=ROOT / "experiments/sweeps/pilotfish.yaml")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", default="2")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        whole, killed = pathlib.Path(folder) / "whole.sqlite", pathlib.Path(folder) / "killed.sqlite"
        lasts = undisturbed(arguments.experiment, whole, "--jobs", arguments.jobs)
        print(f"undisturbed: {runs_in(whole)} runs in {lasts:.1f} s, {hash_of(whole)}", flush=True)
        found = kill_and_resume(arguments.experiment, killed, arguments.kills, lasts, arguments.seed, "--jobs",
                                arguments.jobs)
        print(f"killed {arguments.kills} times at {', '.join(map(str, found))} runs")
        print(f"resumed: {runs_in(killed)} runs, {hash_of(killed)}")
        return 0 if hash_of(whole) == hash_of(killed) else 1


if __name__ == "__main__":
    sys.exit(main())
