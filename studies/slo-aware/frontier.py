#!/usr/bin/env python3
"""Goodput of a server against throughput of a training, by policy, of a results file of experiment.yaml.

usage: frontier.py RESULTS.sqlite... > table.md

All figures are means over the seeds; `+-` is half of the 95 % interval. Throughput is that of the training over its own
alone. serving_slack at its defaults is compared with each other policy, paired by seed:

    goodput at the same training     the most that a policy's settings reach with at least that training throughput,
                                     straight lines between any two of them included, as if a share of the time could
                                     have each
    training at the same goodput     likewise, the training's with at least 98 % of that goodput

"out of reach": in so many of the seeds no setting of the policy has as much.

Needs the package (PYTHONPATH=build/release/python).
"""

import collections
import contextlib
import itertools
import re
import sqlite3
import statistics
import sys

from corun.statistics import paired_interval

OURS, DEFAULTS, NEAR = "serving_slack", "serving_slack_late_005", 0.98
METRICS = """SELECT r.scenario, r.policy, r.seed, m.client, m.metric, m.value FROM metrics m JOIN runs r ON r.id = m.run
             WHERE m.metric IN ('goodput_per_s', 'ttft_p99_ms', 'tpot_p99_ms', 'throughput_per_s')"""
SOLO_RATE = 205.99  # of the training, as in the experiment

Point = collections.namedtuple("Point", "goodput throughput ttft_ms tpot_ms answered")


def read(paths):
    """load -> (way, setting) -> seed -> Point"""
    values = collections.defaultdict(dict)
    for path in paths:
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            for scenario, policy, seed, client, metric, value in database.execute(METRICS):
                values[scenario, policy, seed][client, metric] = value
    points = collections.defaultdict(lambda: collections.defaultdict(dict))
    for (scenario, policy, seed), its in sorted(values.items()):
        load, _, way = scenario.partition("_")
        points[load][way, policy][seed] = Point(
            its.get(("chat", "goodput_per_s"), 0.0), its["train", "throughput_per_s"] / SOLO_RATE,
            its.get(("chat", "ttft_p99_ms"), float("inf")), its.get(("chat", "tpot_p99_ms"), float("inf")),
            its["chat", "throughput_per_s"])
    return points


def family(setting):
    """(way, policy) without the value of its knob."""
    way, policy = setting
    return way, re.sub(r"(_(tpot|late|\d+|\d+us|\d+ms))+$", "", policy)


def most(points, given, wanted, least):
    """The most of `wanted` with at least that much of `given`, of the points and the lines between two; None beyond."""
    best = [getattr(point, wanted) for point in points if getattr(point, given) >= least]
    for low, high in itertools.permutations(points, 2):
        a, b = getattr(low, given), getattr(high, given)
        if a < least < b:
            part = (least - a) / (b - a)
            best.append(getattr(low, wanted) + part * (getattr(high, wanted) - getattr(low, wanted)))
    return max(best, default=None)


def spread(values):
    values = list(values)
    if len(values) < 2:
        return f"{values[0]:.3f}"
    effect, low, high = paired_interval(values, [0.0] * len(values))
    return f"{effect:.3f}" if low is None else f"{effect:.3f} +- {(high - low) / 2:.3f}"


def difference(pairs):
    missing = sum(other is None for _, other in pairs)
    if missing:
        return f"out of reach ({missing} of {len(pairs)})"
    effect, low, high = paired_interval([own for own, _ in pairs], [other for _, other in pairs])
    return f"{effect:+.3f}" if low is None else f"{effect:+.3f} ({low:+.3f} to {high:+.3f})"


def settings_table(settings):
    print("| way | setting | goodput, /s | training | TTFT p99, ms | TPOT p99, ms | answered, /s |")
    print("|---|---|---|---|---|---|---|")
    for (way, policy), by_seed in settings.items():
        column = [spread(point[i] for point in by_seed.values()) for i in range(2)]
        rest = [f"{statistics.fmean(point[i] for point in by_seed.values()):.4g}" for i in range(2, 5)]
        print(f"| {way} | {policy} | {' | '.join(column + rest)} |")


def comparison(settings):
    rivals = collections.defaultdict(list)
    for (way, policy), by_seed in settings.items():
        if family((way, policy))[1] != OURS:
            rivals[" ".join(family((way, policy)))].append(by_seed)
            rivals[f"any policy, {way}"].append(by_seed)
    print("\n| ours | compared with | goodput at the same training | training at the same goodput |")
    print("|---|---|---|---|")
    for way in ("turns", "at_once"):
        ours = settings[way, DEFAULTS]
        for name, theirs in sorted(rivals.items()):
            goodputs, throughputs = [], []
            for seed, point in ours.items():
                points = [one[seed] for one in theirs]
                goodputs.append((point.goodput, most(points, "throughput", "goodput", point.throughput)))
                throughputs.append((point.throughput, most(points, "goodput", "throughput", NEAR * point.goodput)))
            print(f"| {way} | {name} | {difference(goodputs)} | {difference(throughputs)} |")


def main(paths):
    print("Written by frontier.py. `training`: part of its throughput alone.")
    for load, settings in read(paths).items():
        print(f"\n## Load: {load}\n")
        settings_table(settings)
        comparison(settings)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
