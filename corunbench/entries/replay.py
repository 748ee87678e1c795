#!/usr/bin/env python3
"""Corun's entry: every study's experiment replayed by the present model. Writes corun.csv here.

    replay.py [--simcli ../../build/release/simcli]         ten minutes

Its kept rates are the same for every part: no part of the model was fitted for one. Bands are of each part: between the
residuals of the part's training rows of the same way, 5 % of them outside on either side. `is_blind` of runs.csv says
which rows the model could not have been fitted to when they were published; it may have been changed by them since.
"""

import argparse
import collections
import csv
import json
import math
import pathlib
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PARTS = ["by_mix", "by_program", "by_way"]


def predicted(simcli, study):
    """{(scenario, program): part of its rate alone that it keeps}"""
    with tempfile.TemporaryDirectory() as folder:
        output = f"{folder}/all.sqlite"
        experiment = ROOT / "studies" / study / "experiment.yaml"
        subprocess.run([simcli, "run", experiment, "-f", "-o", output, "--progress", "none"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        query = ("SELECT scenario, client, metric, avg(value) AS value FROM metrics JOIN runs ON runs.id = run "
                 "WHERE metric IN ('throughput_per_s', 'solo_throughput_per_s') GROUP BY 1, 2, 3")
        said = subprocess.run([simcli, "sql", output, "-c", query, "--json"], check=True, capture_output=True,
                              text=True).stdout
    rates = {(scenario, client, metric): value for scenario, client, metric, value in json.loads(said)["rows"]}
    return {(scenario, client): value / rates[scenario, client, "solo_throughput_per_s"]
            for (scenario, client, name), value in rates.items() if name == "throughput_per_s"}


def scenario_of(run, scenarios):
    """Repetitions of a run end with _r1 or _e1."""
    return run if run in scenarios else next(name for name in scenarios if run.startswith((name + "_r", name + "_e")))


def bands(truth, kept, part):
    """{way: (low, high)} of measured over predicted, of the rows that may be learned from"""
    ratios = collections.defaultdict(list)
    for row in truth:
        if row[part] == "train":
            ratios[row["way"]].append(float(row["kept"]) / kept[row["run"], row["program"]])
            ratios["any"].append(ratios[row["way"]][-1])
    found = {}
    for way, values in ratios.items():
        values.sort()
        k = max(1, math.floor((len(values) + 1) * 0.05))
        found[way] = values[k - 1], values[-k]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simcli", default=ROOT / "build/release/simcli")
    options = parser.parse_args()
    with open(HERE.parent / "runs.csv", encoding="utf-8") as file:
        truth = list(csv.DictReader(file))
    kept = {}
    for study in dict.fromkeys(row["run"].rpartition("/")[0] for row in truth):
        found = predicted(options.simcli, study)
        scenarios = {scenario for scenario, _ in found}
        for row in truth:
            of, _, run = row["run"].rpartition("/")
            if of == study:
                kept[row["run"], row["program"]] = found[scenario_of(run, scenarios), row["program"]]
    with open(HERE / "corun.csv", "w", encoding="utf-8") as file:
        file.write("part,run,program,kept,low,high\n")
        file.writelines(f",{run},{program},{value:.4f},,\n" for (run, program), value in kept.items())
        for part in PARTS:
            of = bands(truth, kept, part)
            for row in truth:
                if row[part] == "test":
                    value = kept[row["run"], row["program"]]
                    low, high = (min(1.0, value * end) for end in of.get(row["way"], of["any"]))
                    file.write(f"{part},{row['run']},{row['program']},{value:.4f},{low:.4f},{high:.4f}\n")


if __name__ == "__main__":
    main()
