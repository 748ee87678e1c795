#!/usr/bin/env python3
"""Total progress of each policy of a results file, and the difference to one of them, paired by seed.

usage: total_progress.py RESULTS.sqlite BASE_POLICY

Total progress is the sum over the clients of progress_ratio. Intervals are 95 % Student-t intervals over the seeds.
Needs the package (PYTHONPATH=build/release/python).
"""

import collections
import contextlib
import sqlite3
import sys

from corun.statistics import mean_interval

QUERY = """SELECT scenario, policy, seed, SUM(value) FROM metrics JOIN runs ON runs.id = metrics.run
           WHERE metric = 'progress_ratio' GROUP BY scenario, policy, seed ORDER BY runs.rowid"""


def text(values):
    mean, low, _ = mean_interval(values)
    return f"{mean:.4f}" if low is None else f"{mean:.4f} +- {mean - low:.4f}"


def main(path, base):
    totals = collections.defaultdict(dict)
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        for scenario, policy, seed, total in database.execute(QUERY):
            totals[scenario, policy][seed] = total
    for (scenario, policy), by_seed in totals.items():
        line = f"{scenario:28} {policy:20} {text(list(by_seed.values()))}"
        others = totals.get((scenario, base), {})
        differences = [total - others[seed] for seed, total in by_seed.items() if seed in others]
        if policy != base and differences:
            line += f"   less {base}: {text(differences)} ({len(differences)} seeds)"
        print(line)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
