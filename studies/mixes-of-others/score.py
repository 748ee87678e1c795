#!/usr/bin/env python3
"""How far the predictions of this study are off, and what choices by them cost; prints Markdown.

usage: score.py PREDICTIONS.jsonl MEASURED.jsonl

A program keeps its rate in company over its rate alone, both measured or both predicted. A choice is one way of sharing
for one mix: the one whose predicted goal is highest; its regret is what the measured goal of the best way has more,
relative to it. Goals: `fairest`, the least that a program keeps; `most work`, the sum of what they keep; `protect`,
what the first keeps, as long as another keeps a tenth.
"""

import collections
import json
import statistics
import sys

GOALS = {"fairest": min, "most work": sum, "protect": lambda kept: kept[0] if min(kept[1:]) > 0.1 else kept[0] / 10}


def rates(path, client, rate):
    found = collections.defaultdict(dict)
    for row in map(json.loads, open(path, encoding="utf-8")):
        found[row["run"]][row[client]] = row[rate]
    return found


def kept(found):
    """{mix: {way: [what each program keeps]}}"""
    ways = collections.defaultdict(dict)
    for run, programs in found.items():
        way, _, mix = run.partition("_")
        alone = [found.get(f"solo_{program}", {}).get(program) for program in programs]
        if all(alone):
            ways[mix][way] = [rate / one for rate, one in zip(programs.values(), alone)]
    return ways


def errors(predicted, measured):
    rows = collections.defaultdict(list)
    for mix, ways in measured.items():
        for way, values in ways.items():
            if way in predicted.get(mix, {}):
                name = {1: "alone", 2: "two", 3: "three"}[len(values)]
                rows[f"{way.rstrip('0123456789')}, {name}"] += [(100 * (p / m - 1), mix, 100 * (p - m))
                                                               for p, m in zip(predicted[mix][way], values)]
    print("| way, programs | figures | relative error of what is kept, mean (worst) | points, mean (worst) "
          "| worst mix |")
    print("|---|---|---|---|---|")
    for name, found in rows.items():
        if not name.startswith("solo,"):
            sizes, points = [abs(error) for error, *_ in found], [abs(point) for *_, point in found]
            worst = max(found, key=lambda row: abs(row[0]))[1]
            print(f"| {name} | {len(found)} | {statistics.mean(sizes):.1f} % ({max(sizes):.1f}) "
                  f"| {statistics.mean(points):.1f} ({max(points):.1f}) | {worst} |")


def regret(goal, choice, ways):
    best = max(goal(values) for values in ways.values())
    return 100 * (best - goal(ways[choice])) / best


def choices(predicted, measured):
    print("\n| goal | cells | mean regret (worst) | right | best constant rule: mean regret |")
    print("|---|---|---|---|---|")
    for name, goal in GOALS.items():
        cells = [(predicted[mix], ways) for mix, ways in measured.items()
                 if {"timeslice", "mps"} <= ways.keys() <= predicted.get(mix, {}).keys()]
        ours = [regret(goal, max(ways, key=lambda way: goal(guess[way])), ways) for guess, ways in cells]
        rules = {way: statistics.mean(regret(goal, way, ways) for _, ways in cells) for way in ("timeslice", "mps")}
        rule = min(rules, key=rules.get)
        print(f"| {name} | {len(cells)} | {statistics.mean(ours):.2f} % ({max(ours):.1f}) "
              f"| {sum(value == 0 for value in ours)} | {rule}: {rules[rule]:.2f} % |")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    PREDICTED = kept(rates(sys.argv[1], "client", "predicted_per_s"))
    MEASURED = kept(rates(sys.argv[2], "w", "it_s"))
    errors(PREDICTED, MEASURED)
    choices(PREDICTED, MEASURED)
