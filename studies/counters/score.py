#!/usr/bin/env python3
"""Tells rates of pairs under MPS with their bands, and scores them.

    score.py predictions ../../results/counters.sqlite > predictions.jsonl
    score.py score measured.jsonl > scored.md

A row of predictions has what a program keeps of its rate alone, by what its kernels use more ("memory", "sms"; "" where
less than three quarters of their time are counted), and where 90 % of measured ones lie by experiments/bands/bands.csv:
in the class of that use ("low", "high"), and whatever a program uses ("any_low", "any_high"). When they were published
there was a class "memory", too.
"""

import argparse
import collections
import csv
import json
import pathlib
import re
import sqlite3
import statistics

HERE = pathlib.Path(__file__).parent
BANDS = HERE.parents[1] / "experiments/bands/bands.csv"
USE = re.compile(r"(\w+): keeps the device busy, and by counters its kernels use (memory|SMs) more")


def rows_of(name):
    return list(map(json.loads, (HERE / name).read_text(encoding="utf-8").splitlines()))


def bands():
    """{what programs use: (low, high)} of pairs under MPS"""
    with open(BANDS, encoding="utf-8") as file:
        return {row["bound"]: (float(row["low"]), float(row["high"])) for row in csv.DictReader(file)
                if (row["figure"], row["mechanism"], row["programs"]) == ("kept", "mps", "2")}


def predictions(options):
    database = sqlite3.connect(f"{options.results.resolve().as_uri()}?mode=ro", uri=True)
    uses = {name: use.lower() for notes, in database.execute("SELECT notes FROM runs")
            for name, use in USE.findall(notes)}
    rates = database.execute("SELECT scenario, client, AVG(value) FROM metrics JOIN runs ON runs.id = run "
                             "WHERE metric = 'throughput_per_s' GROUP BY scenario, client").fetchall()
    alone = {client: rate for scenario, client, rate in rates if scenario == f"solo_{client}"}
    known = bands()
    for scenario, client, rate in rates:
        if not scenario.startswith("mps_"):
            continue
        kept, use = rate / alone[client], uses.get(client, "")
        (low, high), (any_low, any_high) = known.get(use, known["any"]), known["any"]
        print(json.dumps({"run": scenario, "client": client, "kept": round(kept, 4), "uses": use,
                          "low": round(kept * low, 4), "high": round(kept * high, 4),
                          "any_low": round(kept * any_low, 4), "any_high": round(kept * any_high, 4)}))


def score(options):
    alone, measured = collections.defaultdict(list), {}
    for row in rows_of("alone.jsonl"):
        alone[row["w"]].append(row["it_s"])
    for row in rows_of(options.measured):
        measured[row["run"], row["w"]] = row["it_s"]
    scored = []
    for row in rows_of("predictions.jsonl"):
        kept = measured[row["run"], row["client"]] / statistics.mean(alone[row["client"]])
        scored.append(row | {"measured": kept, "error": 100 * (row["kept"] / kept - 1),
                             "inside": row["low"] <= kept <= row["high"],
                             "inside_any": row["any_low"] <= kept <= row["any_high"]})
    print("| kernels use more | rates | error, mean (worst) | inside their band | its width | inside the band of any "
          "| its width |\n|---|---|---|---|---|---|---|")
    for use in ("sms", "memory", "", None):
        its = [row for row in scored if use is None or row["uses"] == use]
        if its:
            errors = [abs(row["error"]) for row in its]
            width, wide = (100 * statistics.mean((row[high] - row[low]) / row["kept"] for row in its)
                           for low, high in (("low", "high"), ("any_low", "any_high")))
            print(f"| {use or ('all' if use is None else 'not counted enough')} | {len(its)} "
                  f"| {statistics.mean(errors):.1f} % ({max(errors):.1f}) | {sum(row['inside'] for row in its)} "
                  f"| {width:.0f} % | {sum(row['inside_any'] for row in its)} | {wide:.0f} % |")
    print("\n| pair | program | uses more | kept | told | error | band |\n|---|---|---|---|---|---|---|")
    for row in scored:
        print(f"| {row['run'][4:]} | {row['client']} | {row['uses']} | {row['measured']:.2f} | {row['kept']:.2f} "
              f"| {row['error']:+.1f} % | {row['low']:.2f} to {row['high']:.2f}"
              f"{'' if row['inside'] else ', outside'} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("predictions")
    command.add_argument("results", type=pathlib.Path)
    command.set_defaults(do=predictions)
    command = commands.add_parser("score")
    command.add_argument("measured", nargs="?", default="measured.jsonl")
    command.set_defaults(do=score)
    options = parser.parse_args()
    options.do(options)


if __name__ == "__main__":
    main()
