#!/usr/bin/env python3
"""Errors of what programs keep under MPS, by what their kernels use alone: ./errors.py > errors.md

Residuals are those of ../bands/residuals.csv (pairs under MPS, of programs that keep the device busy for three quarters
of the time), counters those of ../memory-in-company, means over the time of kernels.
"""

import csv
import pathlib
import statistics
import sys

STUDIES = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(STUDIES / "bands"))
from make import mean_uses  # noqa: E402

UNITS = {"dram": "DRAM", "l2": "L2", "sm": "SMs"}
EDGES = [0, 15, 40, 60, 100]


def errors():
    """(program, what it uses more, absolute error in per cent) of the pairs"""
    with open(STUDIES / "bands/residuals.csv", encoding="utf-8") as file:
        return [(row["program"], row["uses"], abs(100 / float(row["measured_over_predicted"]) - 100))
                for row in csv.DictReader(file)
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
            its = [error for program, _, error in rows if low <= uses[program][unit] < high]
            if its:
                print(line(f"{low} to {high} % of {name}", its))
    for label, more in (("memory more than SMs", "memory"), ("SMs more than memory", "sms")):
        print(line(label, [error for _, its, error in rows if its == more]))


if __name__ == "__main__":
    main()
