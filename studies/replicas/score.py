#!/usr/bin/env python3
"""Compares predicted.csv with the ratios that cells.csv tells: direction where the inputs suffice, and null models.

    score.py > scored.md
"""

import collections
import csv
import math
import pathlib
import statistics

HERE = pathlib.Path(__file__).resolve().parent
QUANTITIES = {"launches": "launches of a step", "busy": "share of time with a kernel", "grid": "SMs of a kernel",
              "period_ms": "length of a step", "host_speed": "host cores", "work": "one replica at this concurrency"}


def rows_of(name):
    with open(HERE / name, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def middle(text):
    return statistics.fmean(float(part) for part in text.split("-")) if text else None


def rate_of(row):
    return statistics.fmean([float(row["rps_low"]), float(row["rps_high"])]) if row["rps_low"] else None


def measured_ratios():
    """{cell: rate over that of one replica}; None where only the direction is told, a loss."""
    rows = rows_of("cells.csv")
    alone = {row["setup"]: rate_of(row) for row in rows if row["replicas"] == "1"}
    ratios = {}
    for row in rows:
        if int(row["replicas"]) > 1:
            rate = rate_of(row)
            ratios[row["cell"]] = rate / alone[row["setup"]] if rate else middle(row["ratio"])
    return ratios


def direction(ratio):
    if ratio is None or ratio < 0.95:
        return "loss"
    return "gain" if ratio > 1.05 else "same"


def open_of(ends):
    return [name for name in QUANTITIES if len({end[name] for end in ends}) > 1]


def deciding(ends):
    """The open quantities of which each alone, once known, gives one direction."""
    found = []
    for name in open_of(ends):
        known = collections.defaultdict(set)
        for end in ends:
            known[end[name]].add(direction(float(end["ratio"])))
        if all(len(directions) == 1 for directions in known.values()):
            found.append(name)
    return found


def table(rows):
    for number, row in enumerate(rows):
        print("| " + " | ".join(row) + " |")
        if number == 0:
            print("|" + "---|" * len(row))
    print()


def score(measured, predicted):
    """{cell: (way, replicas, measured, low, high, direction predicted or None, ends)}."""
    cells = {row["cell"]: row for row in rows_of("cells.csv")}
    scored = {}
    for cell, ends in predicted.items():
        ratios = [float(end["ratio"]) for end in ends]
        directions = {direction(ratio) for ratio in ratios}
        way = "MPS" if cells[cell]["mps"] == "on" else "turns"
        scored[cell] = (way, int(cells[cell]["replicas"]), measured[cell], min(ratios), max(ratios),
                        directions.pop() if len(directions) == 1 else None, ends)
    return scored


def print_cells(scored):
    rows = [["cell", "told", "predicted", "direction told", "predicted", "verdict"]]
    for cell, (_, _, ratio, low, high, direct, _) in scored.items():
        verdict = "inputs do not suffice" if direct is None else "right" if direct == direction(ratio) else "**wrong**"
        rows.append([cell, f"{ratio:.2f}" if ratio else "", f"{low:.2f} to {high:.2f}", direction(ratio),
                     direct or "open", verdict])
    table(rows)


def with_own_cores(scored):
    """Cells of which the thread says that replicas had cores of their own."""
    told = {row["cell"] for row in rows_of("cells.csv") if "pinned" in row["cores"] or "split" in row["cores"]}
    return {cell: it for cell, it in scored.items() if cell in told}


def print_summary(scored):
    rows = [["way", "cells", "inputs suffice", "direction right", "told ratio in the range", "ratio off, mean / worst"]]
    for way in ("turns", "MPS", "both"):
        those = [it for it in scored.values() if way in (it[0], "both")]
        enough = [it for it in those if it[5]]
        right = sum(it[5] == direction(it[2]) for it in enough)
        inside = sum(it[3] * 0.98 <= it[2] <= it[4] * 1.02 for it in enough if it[2])
        errors = [abs(math.sqrt(it[3] * it[4]) / it[2] - 1) for it in enough if it[2]]
        off = f"{100 * statistics.fmean(errors):.0f} % / {100 * max(errors):.0f} %" if errors else ""
        share = f"{right} of {len(enough)}" + (f" ({100 * right / len(enough):.0f} %)" if enough else "")
        rows.append([way, str(len(those)), str(len(enough)), share, f"{inside} of {len(enough)}", off])
    table(rows)


def print_nulls(scored):
    """Of all cells, and of those for which Corun gives a direction."""
    models = {"N replicas give N times": lambda way, count: count, "they give what one gives": lambda way, count: 1.0,
              "MPS gives N times, turns what one gives": lambda way, count: count if way == "MPS" else 1.0}
    rows = [["null model", "direction right, all cells", "where inputs suffice", "ratio off there, mean / worst"]]
    for name, model in models.items():
        right = {cell: direction(model(it[0], it[1])) == direction(it[2]) for cell, it in scored.items()}
        enough = [cell for cell, it in scored.items() if it[5]]
        errors = [abs(model(*scored[cell][:2]) / scored[cell][2] - 1) for cell in enough if scored[cell][2]]
        rows.append([name, f"{sum(right.values())} of {len(right)}",
                     f"{sum(right[cell] for cell in enough)} of {len(enough)}",
                     f"{100 * statistics.fmean(errors):.0f} % / {100 * max(errors):.0f} %"])
    table(rows)


def print_open(scored):
    rows = [["cell", "open", "one of these alone would decide"]]
    for cell, it in scored.items():
        if it[5] is None:
            unknown, alone = [[QUANTITIES[name] for name in of(it[6])] for of in (open_of, deciding)]
            rows.append([cell, ", ".join(unknown), ", ".join(alone) or "none alone"])
    table(rows)


def main():
    predicted = collections.defaultdict(list)
    for row in rows_of("predicted.csv"):
        predicted[row["cell"]].append(row)
    scored = score(measured_ratios(), predicted)
    print("Rates of all replicas over that of one. Gain: above 1.05; loss: below 0.95; same: between.\n")
    print_summary(scored)
    print("Of these, cells of which a thread says that each replica had cores of its own:\n")
    print_summary(with_own_cores(scored))
    print_cells(scored)
    print("Null models.\n")
    print_nulls(scored)
    print("Where the inputs do not suffice.\n")
    print_open(scored)


if __name__ == "__main__":
    main()
