#!/usr/bin/env python3
"""What choices by predictions cost, against constant rules; prints Markdown.

usage: choices.py PREDICTIONS.jsonl MEASURED.jsonl

A program keeps its rate over its rate alone under MPS, both measured or both predicted. A choice is the way whose goal
is highest: by predicted kept rates, or at the low ends of the bands of `simcli advise`. Its regret is what the measured
goal of the best way has more, relative to it. Goals: `fairest`, the least that a program keeps; `most work`, the sum.
"""

import collections
import csv
import json
import pathlib
import statistics
import sys

HERE = pathlib.Path(__file__).parent
ON_DEVICE = {"numba", "two_graphs", "jax_inference", "jax_matmul"}  # as in ../sm-caps/classes.py
MECHANISM = {"timeslice": "turns", "mps": "mps"}
GOALS = {"fairest": min, "most work": sum}


def rates(path, program, rate):
    found = collections.defaultdict(dict)
    for row in map(json.loads, open(path, encoding="utf-8")):
        found[row["run"]][row[program]] = row[rate]
    return found


def low_ends():
    rows = csv.DictReader(open(HERE.parent.parent / "experiments/bands/bands.csv", encoding="utf-8"))
    return {(row["mechanism"], row["bound"]): float(row["low"]) for row in rows
            if row["figure"] == "kept" and row["programs"] == "2"}


def kept(found, way, pair, low=None):
    """What each program of a pair keeps; with `low`, at the low ends of bands."""
    mechanism = MECHANISM.get(way, "split")
    values = {}
    for program, rate in found[f"{way}_{pair}"].items():
        bound = "device" if program in ON_DEVICE else "host"
        end = low.get((mechanism, bound), low[mechanism, "any"]) if low else 1
        values[program] = end * rate / found[f"mps_{program}"][program]
    return values.values()


def main(predictions, measured):
    predicted, real, low = rates(predictions, "client", "predicted_per_s"), rates(measured, "w", "it_s"), low_ends()
    pairs = [run[4:] for run, programs in real.items() if run.startswith("mps_") and len(programs) == 2]
    ways = list(dict.fromkeys(run.partition("_")[0] for run, programs in real.items() if len(programs) == 2))
    rules = " | ".join(f"always {way}" for way in ways)
    print(f"| goal | chosen by | mean regret (worst) | right, of | {rules} |")
    print("|---" * (4 + len(ways)) + "|")
    for goal, value in GOALS.items():
        truth = {pair: {way: value(kept(real, way, pair)) for way in ways} for pair in pairs}
        constant = [statistics.mean(1 - there[way] / max(there.values()) for there in truth.values()) for way in ways]
        for label, ends in (("figures", None), ("low ends", low)):
            regrets = []
            for pair, there in truth.items():
                chosen = max(ways, key=lambda way: value(kept(predicted, way, pair, ends)))
                regrets.append(1 - there[chosen] / max(there.values()))
            print(f"| {goal} | {label} | {100 * statistics.mean(regrets):.1f} % ({100 * max(regrets):.1f}) "
                  f"| {sum(regret == 0 for regret in regrets)}, {len(pairs)} | "
                  + " | ".join(f"{100 * regret:.1f} %" for regret in constant) + " |")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
