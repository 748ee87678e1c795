#!/usr/bin/env python3
"""Prints how far utilisation caps were missed, as a Markdown table: ours against another policy, paired by seed.
Needs the package (PYTHONPATH=build/release/python).

usage: cap_error.py RESULTS.sqlite [OTHER]

Policies are labelled NAME-CAP (`gaiagpu-40`: client `a` may have 40 % of the device); OTHER is `gaiagpu` if not given.
The error of a run is the distance between the utilisation of `a` and its cap, in points. The last column is the mean
of `other minus ours` over the seeds with its 95 % interval: above 0, ours is closer.
"""

import sqlite3
import sys

from corun.statistics import mean_interval


def shares(path):
    """{(scenario, policy, cap): {seed: utilisation of `a` in percent}}"""
    found = {}
    query = """SELECT scenario, policy, seed, value FROM metrics JOIN runs ON runs.id = metrics.run
               WHERE client = 'a' AND metric = 'gpu_busy_ratio'"""
    for scenario, label, seed, value in sqlite3.connect(path).execute(query):
        policy, cap = label.rsplit("-", 1)
        found.setdefault((scenario, policy, int(cap)), {})[seed] = 100 * value
    return found


def main(path, other="gaiagpu"):
    found = shares(path)
    print(f"| scenario | cap | {other} | ours | error of {other} | error of ours | {other} minus ours, points |")
    print("|---|---|---|---|---|---|---|")
    verdicts = {"closer": 0, "further": 0, "no difference": 0}
    for (scenario, policy, cap), ours in sorted(found.items()):
        theirs = found.get((scenario, other, cap))
        if policy != "ours" or not theirs:
            continue
        seeds = sorted(ours.keys() & theirs.keys())
        differences = [abs(theirs[seed] - cap) - abs(ours[seed] - cap) for seed in seeds]
        mean, low, high = mean_interval(differences)
        has_interval = low is not None  # from three seeds on
        verdict = "closer" if has_interval and low > 0 else "further" if has_interval and high < 0 else "no difference"
        verdicts[verdict] += 1
        interval = f"{low:+.1f} to {high:+.1f}" if has_interval else "no interval"
        columns = [sum(values[seed] for seed in seeds) / len(seeds) for values in (theirs, ours)]
        errors = [sum(abs(values[seed] - cap) for seed in seeds) / len(seeds) for values in (theirs, ours)]
        print(f"| {scenario} | {cap} % | {columns[0]:.1f} % | {columns[1]:.1f} % | {errors[0]:.1f} | {errors[1]:.1f} "
              f"| {mean:+.1f} ({interval}) |")
    print(f"\nours is closer in {verdicts['closer']}, further in {verdicts['further']}, "
          f"and no different in {verdicts['no difference']}")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
