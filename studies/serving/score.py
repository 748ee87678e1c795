#!/usr/bin/env python3
"""Compares predicted.jsonl with measured/, figure by figure: a table of cells, then errors by class against the goals.

    score.py [PREDICTED.jsonl] > scored.md
"""

import collections
import csv
import io
import json
import math
import statistics
import sys
import tarfile

from cells import HERE, cells

SECONDS = 14
FIGURES = {"tokens_per_s": "tokens/s", "ttft_p50_ms": "TTFT p50", "ttft_p99_ms": "TTFT p99", "tpot_p50_ms": "TPOT p50",
           "tpot_p99_ms": "TPOT p99", "throughput_per_s": "steps/s"}
SLACK_MS = 20  # of the TTFT's p99: a miss of so much is none
GOALS = {("alone", "tokens/s"): "2 % mean", ("alone", "TTFT p99"): "10 %", ("alone", "TPOT p99"): "10 %",
         ("together", "tokens/s"): "5 % mean, 10 % worst", ("together", "TPOT p99"): "10 %",
         ("together", "TTFT p99"): "15 % or 20 ms"}


def quantile(values, part):
    ordered = sorted(values)
    return ordered[math.ceil(part * len(ordered)) - 1]


def served(archive, cell, party):
    """The same figures of a server as the simulator's, of the requests that were answered in time."""
    text = archive.extractfile(f"{cell}.{party}.requests.csv").read().decode()
    return figures_of(csv.DictReader(io.StringIO(text)), SECONDS)


def figures_of(requests, seconds):
    """Of the requests, as rows of their CSV file, that ended within so many seconds."""
    ended = [row for row in requests if row["end_s"] and float(row["end_s"]) <= seconds]
    ttft = [1e3 * (float(row["first_token_s"]) - float(row["arrival_s"])) for row in ended]
    tpot = [1e3 * (float(row["end_s"]) - float(row["first_token_s"])) / (int(row["output"]) - 1)
            for row in ended if int(row["output"]) > 1]
    return {"ended": len(ended), "tokens_per_s": sum(int(row["output"]) for row in ended) / seconds,
            "ttft_p50_ms": quantile(ttft, .5), "ttft_p99_ms": quantile(ttft, .99),
            "tpot_p50_ms": quantile(tpot, .5), "tpot_p99_ms": quantile(tpot, .99)}


def rows_of(path):
    with open(HERE / path, encoding="utf-8") as file:
        return {(row["run"], row["w"]): row for row in map(json.loads, file)}


def table(rows):
    for number, row in enumerate(rows):
        print("| " + " | ".join(row) + " |")
        if number == 0:
            print("|" + "---|" * len(row))
    print()


def main():
    predicted, measured = rows_of(sys.argv[1] if sys.argv[1:] else "predicted.jsonl"), rows_of("measured/serving.jsonl")
    errors, shown = collections.defaultdict(list), [["cell", "party", *FIGURES.values()]]
    with tarfile.open(HERE / "measured" / "serving.tar.gz") as archive:
        for cell in cells():
            for party in cell.parties:
                name = party.requests or party.program
                wanted = predicted[cell.name, name]
                got = served(archive, cell.name, name) if party.is_server else {
                    "throughput_per_s": measured[cell.name, name]["it_s"]}
                texts = []
                for figure, title in FIGURES.items():
                    if figure not in got:
                        texts.append("")
                        continue
                    error = wanted[figure] / got[figure] - 1
                    texts.append(f"{wanted[figure]:.4g} / {got[figure]:.4g} ({100 * error:+.0f} %)")
                    kind = "alone" if len(cell.parties) == 1 else "together"
                    errors[kind, cell.way, title].append((abs(error), abs(wanted[figure] - got[figure])))
                shown.append([cell.name, name, *texts])
    print("Predicted / measured, with the error of the prediction.\n")
    table(shown)
    print("Errors, mean and worst, in per cent.\n")
    summary = [["class", "figure", "cells", "mean", "worst", "goal", "within it"]]
    for kind in ("alone", "together"):
        for title in FIGURES.values():
            its = [entry for (k, _, t), entries in errors.items() for entry in entries if (k, t) == (kind, title)]
            summary.append([kind, title, str(len(its)), *spread(its), *goal(kind, title, its)])
    table(summary)
    print("The same of programs together, by way of sharing: mean (worst).\n")
    ways = list(dict.fromkeys(way for kind, way, _ in errors if kind == "together"))
    table([["figure", *ways]] + [[title, *("{} ({})".format(*spread(errors["together", way, title])) for way in ways)]
                                 for title in FIGURES.values()])


def spread(entries):
    relative = [100 * error for error, _ in entries]
    return f"{statistics.mean(relative):.1f}", f"{max(relative):.1f}"


def goal(kind, title, entries):
    text = GOALS.get((kind, title), "")
    if not text:
        return "", ""
    if "mean" in text:
        return text, ""
    most = float(text.split()[0]) / 100
    slack = SLACK_MS if "ms" in text else 0
    return text, f"{sum(error <= most or off <= slack for error, off in entries)} of {len(entries)}"


if __name__ == "__main__":
    main()
