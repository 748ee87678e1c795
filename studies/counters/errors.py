#!/usr/bin/env python3
"""Errors of what programs keep under MPS, by what their kernels use alone: ./errors.py > errors.md

Residuals are those of ../bands/residuals.csv (pairs under MPS, of programs that keep the device busy for three quarters
of the time), counters those of ../memory-in-company, means over the time of kernels.
"""

import collections
import csv
import json
import pathlib
import statistics

STUDIES = pathlib.Path(__file__).parent.parent
UNITS = {"dram": "DRAM", "l2": "L2", "sm": "SMs"}
EDGES = [0, 15, 40, 60, 100]


def mean_uses():
    """{program: {unit: per cent of its peak}}"""
    sums = collections.defaultdict(collections.Counter)
    for name in ("counters_device_bound.jsonl", "counters.jsonl"):
        for line in (STUDIES / "memory-in-company" / name).read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            ns = row["launches"] * row["mean_ns"]
            sums[row["program"]].update({unit: row[unit] * ns for unit in UNITS} | {"ns": ns})
    return {program: {unit: its[unit] / its["ns"] for unit in UNITS} for program, its in sums.items()}


def errors():
    """(program, absolute error in per cent) of the pairs"""
    with open(STUDIES / "bands/residuals.csv", encoding="utf-8") as file:
        return [(row["program"], abs(100 / float(row["measured_over_predicted"]) - 100)) for row in csv.DictReader(file)
                if row["uses"] and (row["figure"], row["mechanism"], row["programs"]) == ("kept", "mps", "2")]


def line(label, values):
    ordered = sorted(values)
    ninetieth = ordered[min(len(ordered) - 1, int(0.9 * len(ordered)))]
    return (f"| {label} | {len(values)} | {statistics.mean(values):.1f} % ({max(values):.1f}) "
            f"| {ninetieth:.1f} % |")


def main():
    uses, rows = mean_uses(), errors()
    print("| a program's kernels use | rates | error, mean (worst) | nine in ten below |\n|---|---|---|---|")
    for unit, name in UNITS.items():
        for low, high in zip(EDGES, EDGES[1:]):
            its = [error for program, error in rows if low <= uses[program][unit] < high]
            if its:
                print(line(f"{low} to {high} % of {name}", its))
    for label, is_memory in (("memory more than SMs", True), ("SMs more than memory", False)):
        print(line(label, [error for program, error in rows
                           if (max(uses[program]["dram"], uses[program]["l2"]) > uses[program]["sm"]) == is_memory]))


if __name__ == "__main__":
    main()
