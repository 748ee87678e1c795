#!/usr/bin/env python3
"""How far pods' times by mix are from those of simulated cards.

    studies/cluster/by_mix_error.py SIMULATED.sqlite BY_MIX.sqlite

Both are results of one experiment. A row for each run: mean and worst difference of the time from start to end over all
pods that finished in both, how many of them are on the same card, and the mean slowdowns.
"""

import argparse
import sqlite3

RUNS = "SELECT scenario, policy, seed, id FROM runs WHERE coalesce(error, '') = ''"
PODS = """SELECT pod, (end_ns - start_ns) / 1e9, node || ' ' || cards, slowdown FROM pods
    WHERE run = ? AND state = 'finished'"""


def pods_by_run(path):
    """(scenario, policy, seed) -> pod -> (seconds, card, slowdown)"""
    with sqlite3.connect(path) as results:
        return {tuple(key): {pod: rest for pod, *rest in results.execute(PODS, (run,))}
                for *key, run in results.execute(RUNS)}


def row_of(run, simulated, estimated):
    both = sorted(simulated.keys() & estimated.keys())
    errors = [100 * (estimated[pod][0] / simulated[pod][0] - 1) for pod in both if simulated[pod][0] > 0]
    on_same_card = sum(simulated[pod][1] == estimated[pod][1] for pod in both)

    def mean_slowdown(pods):
        known = [pods[pod][2] for pod in both if pods[pod][2]]
        return f"{sum(known) / len(known):.3f}" if known else ""

    mean = sum(map(abs, errors)) / len(errors)
    return (f"| {run[0]} | `{run[1]}` | {len(both)} of {len(simulated)} | {on_same_card} | {mean:.2f} % | "
            f"{max(errors, key=abs):+.2f} % | {mean_slowdown(simulated)} | {mean_slowdown(estimated)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("simulated")
    parser.add_argument("by_mix")
    options = parser.parse_args()
    simulated, estimated = pods_by_run(options.simulated), pods_by_run(options.by_mix)
    print("| scenario | placement | pods | on the same card | mean | worst | slowdown, simulated | by mix |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    for run in sorted(simulated.keys() & estimated.keys()):
        if simulated[run]:
            print(row_of(run, simulated[run], estimated[run]))


if __name__ == "__main__":
    main()
