#!/usr/bin/env python3
"""Goodput of a server against throughput of a training, by policy, of a results file of experiment.yaml.

usage: frontier.py RESULTS.sqlite... > table.md

All figures are means over the seeds; `+-` is half of the 95 % interval, most of which is how many requests a seed has.
Throughput is that of the training over its own alone. serving_slack at its defaults
(late_share 0.05) and at 0.15 is compared with each other policy:

    goodput at the same training     with the setting, or the mixture of two, that has at least that training
                                     throughput on average and the most goodput, as if a share of the time could
                                     have each
    training at the same goodput     with the one that has at least 98 % of that goodput and the most of the training

Differences are paired by seed, with 95 % intervals. "out of reach": no setting has as much.

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

LOADS = ["low", "middle", "high"]
OURS, COMPARED, NEAR = "serving_slack", ["serving_slack_late_005", "serving_slack_late_015"], 0.98
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


def best(settings, given, wanted, least):
    """The setting, or the mixture of two, with at least that much of `given` on average and the most of `wanted`, as
    [(setting, weight)]; None beyond all."""
    means = {name: Point(*map(statistics.fmean, zip(*by_seed.values()))) for name, by_seed in settings.items()}
    found = [(getattr(mean, wanted), [(name, 1.0)]) for name, mean in means.items() if getattr(mean, given) >= least]
    for (one, low), (other, high) in itertools.permutations(means.items(), 2):
        a, b = getattr(low, given), getattr(high, given)
        if a < least < b:
            part = (least - a) / (b - a)
            value = getattr(low, wanted) + part * (getattr(high, wanted) - getattr(low, wanted))
            found.append((value, [(one, 1 - part), (other, part)]))
    return max(found, default=(0, None), key=lambda entry: entry[0])[1]


def spread(values):
    values = list(values)
    if len(values) < 2:
        return f"{values[0]:.3f}"
    effect, low, high = paired_interval(values, [0.0] * len(values))
    return f"{effect:.3f}" if low is None else f"{effect:.3f} +- {(high - low) / 2:.3f}"


def difference(ours, settings, given, wanted, near=1.0):
    mixture = best(settings, given, wanted, near * statistics.fmean(getattr(point, given) for point in ours.values()))
    if mixture is None:
        return "out of reach"
    theirs = [sum(weight * getattr(settings[name][seed], wanted) for name, weight in mixture) for seed in ours]
    effect, low, high = paired_interval([getattr(point, wanted) for point in ours.values()], theirs)
    return f"{effect:+.3f}" if low is None else f"{effect:+.3f} ({low:+.3f} to {high:+.3f})"


def settings_table(settings):
    print("| way | setting | goodput, /s | training | TTFT p99, ms | TPOT p99, ms | answered, /s |")
    print("|---|---|---|---|---|---|---|")
    for (way, policy), by_seed in settings.items():
        column = [spread(point[i] for point in by_seed.values()) for i in range(2)]
        rest = [f"{statistics.fmean(point[i] for point in by_seed.values()):.4g}" for i in range(2, 5)]
        print(f"| {way} | {policy} | {' | '.join(column + rest)} |")


def comparison(settings):
    rivals = collections.defaultdict(dict)
    for (way, policy), by_seed in settings.items():
        if family((way, policy))[1] != OURS:
            rivals[" ".join(family((way, policy)))][policy] = by_seed
            rivals[f"any policy, {way}"][policy] = by_seed
    print("\n| ours | compared with | goodput at the same training | training at the same goodput |")
    print("|---|---|---|---|")
    for way, policy in itertools.product(("turns", "at_once"), COMPARED):
        ours = settings[way, policy]
        for name, theirs in sorted(rivals.items()):
            print(f"| {way} {policy[-3:]} | {name} | {difference(ours, theirs, 'throughput', 'goodput')} "
                  f"| {difference(ours, theirs, 'goodput', 'throughput', NEAR)} |")


def main(paths):
    print("Written by frontier.py. `training`: part of its throughput alone.")
    loads = read(paths)
    for load, settings in ((load, loads[load]) for load in LOADS):
        print(f"\n## Load: {load}\n")
        settings_table(settings)
        comparison(settings)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
