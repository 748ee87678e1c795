#!/usr/bin/env python3
"""Compares a results file with what was measured and prints a Markdown table.

usage: accuracy.py RESULTS.sqlite MEASURED.jsonl [GAMES.txt]

A measured row names its run and its program; the scenario of that run has its name, or else begins it, the client
the one whose name begins the program's (an "_a" or "_b" at its end left out). Rates are jobs or frames per second.
"""

import json
import re
import sqlite3
import sys


def measured_rows(path, games=None):
    rows = [json.loads(line) for line in open(path)]
    found = [(row["run"], row["w"], row["it_s"]) for row in rows]
    for line in open(games) if games else []:
        found.append((line.split()[0], "game", float(re.search(r"fps ([\d.]+)", line)[1])))
    return found


def predicted(database):
    """{(scenario, client): [rate of each seed]} under passthrough."""
    rates = {}
    query = """SELECT scenario, client, value FROM metrics JOIN runs ON runs.id = metrics.run
               WHERE metric = CASE client WHEN 'game' THEN 'fps_mean' ELSE 'throughput_per_s' END
               AND policy = 'passthrough'"""
    for scenario, client, value in database.execute(query):
        rates.setdefault((scenario, client), []).append(value)
    return rates


def comparisons(rates, rows):
    scenarios = {scenario for scenario, _ in rates}
    for run, program, measured in dict.fromkeys(rows):
        named = [run] if run in scenarios else [s for s in scenarios if run.startswith((s + "_r", s + "_e"))]
        for (scenario, client), values in rates.items():
            if scenario in named and program.startswith(re.sub(r"_[abc]$", "", client)):
                yield run, program, measured, values
                break


def main(results, measured, games=None):
    rates = predicted(sqlite3.connect(results))
    print("| run | program | measured /s | predicted /s | range over seeds | error |")
    print("|---|---|---|---|---|---|")
    errors = {}
    for run, program, value, predictions in comparisons(rates, measured_rows(measured, games)):
        mean = sum(predictions) / len(predictions)
        error = 100 * (mean / value - 1)
        errors.setdefault(run.split("_")[0], []).append(abs(error))
        print(f"| {run} | {program} | {value:.2f} | {mean:.2f} | {min(predictions):.2f} to {max(predictions):.2f} "
              f"| {error:+.1f} % |")
    print()
    for kind, values in errors.items():
        print(f"{kind}: mean {sum(values) / len(values):.1f} %, worst {max(values):.1f} %, {len(values)} rates  ")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(*sys.argv[1:])
