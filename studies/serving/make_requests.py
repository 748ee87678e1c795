#!/usr/bin/env python3
"""Writes requests/*.csv: a minute of requests for each server at three loads, and one more for its second copy.

    make_requests.py
"""

import subprocess
import sys

from cells import HERE, LOADS, ROOT, SERVERS

CAPACITY_PER_S = {"1b": 57.0, "8b": 12.2}  # measure.py capacity, on an H200
SHARE = dict(zip(LOADS, (0.3, 0.6, 0.85)))
MEAN_PROMPT, MEAN_OUTPUT = 400, 120  # tokens


def main():
    files = [(program, load) for program in SERVERS for load in [*LOADS, "replica"]]
    for seed, (program, load) in enumerate(files, 1):
        rate = round(CAPACITY_PER_S[program] * SHARE.get(load, SHARE["low"]), 2)
        with open(HERE / "requests" / f"{program}_{load}.csv", "wb") as file:
            subprocess.run([sys.executable, ROOT / "servers" / "language" / "arrivals.py", "--rate", str(rate),
                            "--seconds", "60", "--prompt", str(MEAN_PROMPT), "--output", str(MEAN_OUTPUT),
                            "--seed", str(seed)], stdout=file, check=True)


if __name__ == "__main__":
    main()
