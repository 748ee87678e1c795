#!/usr/bin/env python3
"""Compares a results file with what was measured and prints a Markdown table.

usage: accuracy.py RESULTS.sqlite MEASURED.jsonl [GAMES.txt]
       accuracy.py PREDICTIONS.jsonl MEASURED.jsonl
       accuracy.py --nulls PREDICTIONS.json MEASURED.jsonl

The second form takes predictions that were published before the measurement. The third takes what
`simcli validate --predict-only` wrote and adds the null models, and how far each is off, by what bounds a program
(docs/validate.md defines both).

A measured row names its run and its program; the scenario of that run has its name, or else begins it, the client
the one whose name begins the program's (an "_a" or "_b" at its end left out). Rates are jobs or frames per second.
"""

import json
import pathlib
import re
import sqlite3
import sys


def measured_rows(path, games=None):
    rows = [json.loads(line) for line in open(path)]
    found = [(row["run"], row["w"], row["it_s"]) for row in rows]
    for line in open(games) if games else []:
        found.append((line.split()[0], "game", float(re.search(r"fps ([\d.]+)", line)[1])))
    return found


def measured_means(path, games=None):
    """The same, the mean of what was repeated under one name."""
    found = {}
    for run, program, rate in measured_rows(path, games):
        found.setdefault((run, program), []).append(rate)
    return [(run, program, sum(rates) / len(rates)) for (run, program), rates in found.items()]


def measured_tails(path):
    """{(run, program): 99th percentile of its step times in ms}, of rows that have one"""
    rows = [json.loads(line) for line in open(path)]
    return {(row["run"], row["w"]): row["p99_ms"] for row in rows if "p99_ms" in row}


def published_rates(path):
    """{(scenario, client): [rate]} of a file of predictions."""
    rows = [json.loads(line) for line in open(path)]
    return {(row["run"], row["client"]): [row["predicted_per_s"]] for row in rows}


def simulated_rates(path):
    """{(scenario, client): [rate of each seed]} under passthrough, of a results file."""
    database = sqlite3.connect(f"{pathlib.Path(path).resolve().as_uri()}?mode=ro", uri=True)
    rates = {}
    query = """SELECT scenario, client, value FROM metrics JOIN runs ON runs.id = metrics.run
               WHERE metric = CASE client WHEN 'game' THEN 'fps_mean' ELSE 'throughput_per_s' END
               AND policy = 'passthrough'"""
    for scenario, client, value in database.execute(query):
        rates.setdefault((scenario, client), []).append(value)
    return rates


def scenarios_of(run, scenarios):
    """The scenario of a measured run's name, or those that begin it: repetitions end with _r1 or _e1."""
    return [run] if run in scenarios else [name for name in scenarios if run.startswith((name + "_r", name + "_e"))]


def comparisons(predictions, rows):
    """(run, program, measured, what {(scenario, client): ...} has for it) of each row that was predicted."""
    scenarios = {scenario for scenario, _ in predictions}
    for run, program, measured in dict.fromkeys(rows):
        named = scenarios_of(run, scenarios)
        for (scenario, client), prediction in predictions.items():
            if scenario in named and program.startswith(re.sub(r"_[abc]$", "", client)):
                yield run, program, measured, prediction
                break


def cells_with_nulls(predictions):
    """{(scenario, client): (bound, {model: rate})} of cells that have null models."""
    return {(cell["scenario"], figure["client"]):
            (figure["bound"], {"model": figure["predicted"]["mean"], **figure["null_models"]})
            for cell in predictions["cells"] for figure in cell["figures"]
            if figure["metric"] == "throughput_per_s" and figure["null_models"]}


def print_nulls(predictions, measured):
    compared = list(comparisons(cells_with_nulls(json.load(open(predictions))), measured_rows(measured)))
    if not compared:
        sys.exit(f"accuracy.py: no rate of {measured} is predicted in {predictions}: "
                 "scenarios and clients are matched by name")
    models = list(compared[0][3][1])
    print("| run | program | bound by | measured /s |" + "".join(f" {model} |" for model in models))
    print("|---" * (4 + len(models)) + "|")
    errors = {}
    for run, program, value, (bound, rates) in compared:
        off = [100 * (rates[model] / value - 1) for model in models]
        errors.setdefault(bound, []).append(off)
        print(f"| {run} | {program} | {bound} | {value:.2f} |" + "".join(f" {error:+.1f} % |" for error in off))
    print("\n| bound by, mean (worst) | rates |" + "".join(f" {model} |" for model in models))
    print("|---" * (2 + len(models)) + "|")
    for group, rows in [*sorted(errors.items()), ("all", sum(errors.values(), []))]:
        columns = [[abs(error) for error in column] for column in zip(*rows)]
        print(f"| {group} | {len(rows)} |"
              + "".join(f" {sum(column) / len(column):.1f} % ({max(column):.1f}) |" for column in columns))


def main(results, measured, games=None):
    rates = published_rates(results) if results.endswith(".jsonl") else simulated_rates(results)
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
    if len(sys.argv) == 4 and sys.argv[1] == "--nulls":
        print_nulls(*sys.argv[2:])
    elif len(sys.argv) in (3, 4) and sys.argv[1] != "--nulls":
        main(*sys.argv[1:])
    else:
        sys.exit(__doc__)
