#!/usr/bin/env python3
"""Kills a program that writes results at random moments and looks at what it leaves behind.

    tests/reliability/kill_runs.py [--trials 150] [--seed N] [--resume] [-- COMMAND...]

COMMAND is run once to its end, then again and again with a SIGKILL (signal 9, which nothing can catch) somewhere on its
way; `{output}` in it is the results file. Every time the database must be whole, and each run in it must be there once
and with every row that the undisturbed program wrote for it. With --resume the same command with `--resume` added must
then end with the same rows as the undisturbed one.
"""

import argparse
import pathlib
import random
import subprocess
import sys
import tempfile
import time

import ledger
import results_rows

COMMAND = [str(ledger.ROOT / "build/release/simcli"), "run",
           str(ledger.ROOT / "tests/experiments/transcripts/files/tiny.yaml"),
           "-o", "{output}", "--jobs", "2", "--set", "seeds=60"]


def start(command, output, *more):
    filled = [word.replace("{output}", str(output)) for word in command]
    return subprocess.Popen([*filled, *more], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def finish(process):
    _, said = process.communicate(timeout=600)
    if process.returncode not in (0, 6, 7):
        raise SystemExit(f"{' '.join(process.args)} ended with {process.returncode}:\n{said}")


def look(output, whole):
    """How many runs a killed program left. Raises AssertionError where they are not what they should be."""
    if not output.exists():
        return 0
    try:
        left = results_rows.rows_by_run(output)
    except results_rows.sqlite3.OperationalError as error:
        if "no such table" in str(error):  # killed before its first transaction
            return 0
        raise
    for name, rows in left.items():
        assert rows == whole[name], f"run {name} has {len(rows)} rows, {len(whole[name])} were expected"
    return len(left)


def trial(command, folder, whole, duration, resumes):
    """(runs left, lived long enough to have been killed)"""
    output = folder / "killed.sqlite"
    for leftover in folder.iterdir():
        leftover.unlink()
    process = start(command, output)
    time.sleep(random.uniform(0, duration))
    was_running = process.poll() is None
    process.kill()
    process.communicate()
    left = look(output, whole)
    if resumes:
        finish(start(command, output, "--resume"))
        assert results_rows.rows_by_run(output) == whole, "resumed, it has other rows than without the kill"
    return left, was_running


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--record", action="store_true", help="write the record of RELIABILITY.md")
    parser.add_argument("command", nargs="*", default=COMMAND)
    options = parser.parse_args()
    random.seed(options.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        begin = time.monotonic()
        finish(start(options.command, folder / "whole.sqlite"))
        duration = time.monotonic() - begin
        whole = results_rows.rows_by_run(folder / "whole.sqlite")
        kills = left = between = 0
        for number in range(options.trials):
            try:
                runs, was_running = trial(options.command, folder, whole, duration, options.resume)
            except (AssertionError, results_rows.sqlite3.DatabaseError) as error:
                print(f"trial {number + 1} of {options.trials}: {error}", file=sys.stderr)
                return 1
            kills += was_running
            left += runs
            between += 0 < runs < len(whole)
    if between == 0:
        print(f"{kills} kills of {options.trials} trials, none between two runs: more --trials", file=sys.stderr)
        return 1
    print(f"{kills} kills of {options.trials} trials, {between} of them between the first run and the last; "
          f"{left} finished runs found whole, none damaged"
          f"{', each resumed to the same rows' if options.resume else ''}")
    if options.record:
        ledger.write("kills", {"trials": options.trials, "kills": kills, "kills_between_runs": between,
                               "runs_found_whole": left, "resumed": options.resume, "damaged": 0})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
