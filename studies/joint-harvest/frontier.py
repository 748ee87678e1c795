#!/usr/bin/env python3
"""Quality of games against throughput of fillers, by policy, of a results file of experiments/joint_harvest.yaml.

usage: frontier.py RESULTS.sqlite

Quality is the mean over all frames shown after the warm-up; throughput is that of the filler over its own alone; p99
is the worst game's. Of each policy that chooses both together (w...), `gain` is its quality less the most that the
policies which hold every game's frames and choose one after the other, or nothing, reach at the same throughput: on
straight lines between any two of them (h... and static levels), as if a share of the time could have each.
Differences are paired by seed, with 95 % intervals. Needs the package (PYTHONPATH=build/release/python).
"""

import collections
import contextlib
import itertools
import sqlite3
import statistics
import sys

from corun.statistics import paired_interval

PERIOD_MS = 1000 / 30
FRAMES = """SELECT r.scenario, r.policy, r.seed, AVG(f.quality) FROM frames f JOIN runs r ON r.id = f.run
            WHERE f.present_ns >= r.warmup_ns GROUP BY r.id"""
REFUSED = """SELECT r.scenario, r.policy, r.seed, f.client FROM refusals f JOIN runs r ON r.id = f.run"""
METRICS = """SELECT r.scenario, r.policy, r.seed, m.client, m.metric, m.value FROM metrics m
             JOIN runs r ON r.id = m.run
             WHERE m.metric IN ('frame_time_p99_ms', 'throughput_per_s', 'solo_throughput_per_s')"""

Point = collections.namedtuple("Point", "quality throughput p99_ms refused")


def read(path):
    """scenario -> policy -> seed -> Point"""
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        qualities = {(scenario, policy, seed): quality for scenario, policy, seed, quality in database.execute(FRAMES)}
        refused = collections.defaultdict(set)
        for *run, client in database.execute(REFUSED):
            refused[tuple(run)].add(client)
        values = collections.defaultdict(dict)
        for scenario, policy, seed, client, metric, value in database.execute(METRICS):
            values[scenario, policy, seed][client, metric] = value
    points = collections.defaultdict(lambda: collections.defaultdict(dict))
    for (scenario, policy, seed), its in values.items():
        turned_away = refused[scenario, policy, seed]
        games = {client for client, metric in its if metric == "frame_time_p99_ms"}
        fillers = {client for client, metric in its if metric == "solo_throughput_per_s"} - games - turned_away
        points[scenario][policy][seed] = Point(
            qualities[scenario, policy, seed],
            statistics.fmean(its[f, "throughput_per_s"] / its[f, "solo_throughput_per_s"] for f in fillers),
            max(its[game, "frame_time_p99_ms"] for game in games),
            len(turned_away))
    return points


def mean(by_seed):
    return Point(*(statistics.fmean(column) for column in zip(*by_seed.values())))


def holds_frames(by_seed):
    """Of every game, none of which was turned away."""
    return mean(by_seed).p99_ms <= PERIOD_MS + 0.1 and mean(by_seed).refused == 0


def best_quality(points, throughput):
    """Of the points and all straight lines between two of them; None beyond the largest throughput."""
    best = [point.quality for point in points if point.throughput >= throughput]
    for low, high in itertools.permutations(points, 2):
        if low.throughput < throughput < high.throughput:
            part = (throughput - low.throughput) / (high.throughput - low.throughput)
            best.append(low.quality + part * (high.quality - low.quality))
    return max(best, default=None)


def is_joint(policy):
    return policy.startswith("w")


def gain_text(by_seed, others):
    pairs = [(point.quality, best_quality([other[seed] for other in others], point.throughput))
             for seed, point in by_seed.items()]
    if any(best is None for _, best in pairs):
        return "beyond all"
    effect, low, high = paired_interval([quality for quality, _ in pairs], [best for _, best in pairs])
    return f"{effect:+.4f}" if low is None else f"{effect:+.4f} ({low:+.4f} to {high:+.4f})"


def main(path):
    scenarios = read(path)
    for scenario in [name for name in scenarios if "-at-" not in name]:
        policies = dict(scenarios[scenario])
        for name, its in scenarios.items():  # static levels are scenarios of their own
            if name.startswith(scenario + "-at-"):
                policies.update({f"static {name.rpartition('-')[2]}": by_seed for by_seed in its.values()})
        others = [by_seed for policy, by_seed in policies.items() if not is_joint(policy) and holds_frames(by_seed)]
        print(f"\n## {scenario}\n")
        print("| policy | quality | throughput | p99 frame, ms | refused | gain of quality |")
        print("|---|---|---|---|---|---|")
        for policy, by_seed in policies.items():
            its = mean(by_seed)
            gain = gain_text(by_seed, others) if is_joint(policy) and holds_frames(by_seed) else ""
            print(f"| {policy} | {its.quality:.4f} | {100 * its.throughput:.1f} % | {its.p99_ms:.1f} "
                  f"| {its.refused:.1f} | {gain} |")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
