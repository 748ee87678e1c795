#!/usr/bin/env python3
"""Reads hardware counters of the kernels of programs with Nsight Compute (`ncu`), each alone; a row of JSON per kernel.

    counters.py [--only NAME ...] [--launches N] [--skip N] [--limit SECONDS] -o counters.jsonl

Programs are those of programs/record.py. Launches before `--skip` are not looked at: loading and warming up. A kernel
is all launches of a name, grid and block; a row has their number, their mean time, and means of what they used, in per
cent of the device's peak: `dram`, `l2` and `sm` throughput, and `warps` that were active; `l2_hits` are in per cent of
what was looked up. Clocks are left alone. Each launch runs by itself and several times, so that what the launch before
it left in caches counts in part alone.
"""

import argparse
import csv
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

PROGRAMS = pathlib.Path(__file__).parent / "programs"
sys.path.insert(0, str(PROGRAMS))
from record import SCRIPT  # noqa: E402

COUNTERS = {"dram": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
            "l2": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
            "l2_hits": "lts__t_sector_hit_rate.pct",
            "sm": "sm__throughput.avg.pct_of_peak_sustained_elapsed",
            "warps": "sm__warps_active.avg.pct_of_peak_sustained_active"}
TIME = "gpu__time_duration.sum"  # nanoseconds
FIRST_COLUMN = '"ID"'


def rows_of(output):
    """Of ncu's CSV, which stands between what the program printed; its second row has units."""
    lines = [line for line in output.splitlines() if line.startswith('"')]
    begin = next((i for i, line in enumerate(lines) if line.startswith(FIRST_COLUMN)), None)
    return list(csv.DictReader(lines[begin:]))[1:] if begin is not None else []


def number(text):
    return float(text.replace(",", ""))


def kernels(rows):
    """Rows of the same name, grid and block as one."""
    groups = {}
    for row in rows:
        groups.setdefault((row["Kernel Name"], row["Grid Size"], row["Block Size"]), []).append(row)
    for (name, grid, block), its in groups.items():
        times = [number(row[TIME]) for row in its]
        means = {key: round(sum(number(row[counter]) * ns for row, ns in zip(its, times)) / sum(times), 2)
                 for key, counter in COUNTERS.items()}
        yield {"kernel": name, "grid": grid, "block": block, "launches": len(its),
               "mean_ns": round(sum(times) / len(times))} | means


def counted(program, options, limit_s):
    command = ["ncu", "--clock-control", "none", "--cache-control", "none", "--csv", "--page", "raw",
               "--print-units", "base", "--kill", "yes", "--target-processes", "all",
               "--launch-skip", options.skip, "--launch-count", options.launches,
               "--metrics", ",".join([TIME, *COUNTERS.values()]),
               sys.executable, PROGRAMS / SCRIPT[program], program, "--seconds", limit_s, "--warm-up", 2]
    done = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            start_new_session=True, env=os.environ | {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"})
    try:
        output, errors = done.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        os.killpg(done.pid, signal.SIGKILL)  # the program, too, which has memory of the device
        output, errors = done.communicate()
        errors += f"\nnot done after {limit_s:.0f} s"
    return rows_of(output), (errors + output)[-400:]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=sorted(SCRIPT), default=list(SCRIPT))
    parser.add_argument("--launches", type=int, default=40)
    parser.add_argument("--skip", type=int, default=500)
    parser.add_argument("--limit", type=float, default=90, help="seconds for each program")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    options = parser.parse_args()
    with open(options.output, "w", encoding="utf-8") as file:
        for program in options.only:
            begin = time.monotonic()
            rows, said = counted(program, options, options.limit)
            for row in kernels(rows):
                file.write(json.dumps({"program": program} | row) + "\n")
            file.flush()
            print(f"{program}: {len(rows)} launches in {time.monotonic() - begin:.0f} s",
                  "" if rows else f"; it said: {said}", file=sys.stderr)


if __name__ == "__main__":
    main()
