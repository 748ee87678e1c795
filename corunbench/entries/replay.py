#!/usr/bin/env python3
"""Corun's entry: every study's experiment replayed by the present model. Writes corun.csv here.

    replay.py [--simcli ../../build/release/simcli]         ten minutes
    replay.py --only STUDY                                  the same, of one study; what others keep stays

Its kept rates are the same for every part: no part of the model was fitted for one. Bands are of each part: between the
residuals of the part's training rows of the same way, 5 % of them outside on either side. `is_blind` of runs.csv says
which rows the model could not have been fitted to when they were published; it may have been changed by them since.
"""

import argparse
import collections
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent), str(ROOT / "studies"), str(ROOT / "studies/bands")]
import make  # noqa: E402
import score  # noqa: E402
from accuracy import scenarios_of  # noqa: E402


def predicted(simcli, study):
    """{(scenario, program): part of its rate alone that it keeps}"""
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder) / "all.sqlite"
        make.run(simcli, ROOT / "studies" / study / "experiment.yaml", output)
        alone = make.metric(output, "solo_throughput_per_s")
        return {key: rate / alone[key] for key, rate in make.metric(output, "throughput_per_s").items()}


def bands(truth, kept, part):
    """{way: (low, high)} of measured over predicted, of the rows that may be learned from"""
    ratios = collections.defaultdict(list)
    for row in truth:
        if row[part] == "train":
            ratios[row["way"]].append(float(row["kept"]) / kept[row["run"], row["program"]])
            ratios["any"].append(ratios[row["way"]][-1])
    return {way: make.band(values) for way, values in ratios.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simcli", default=ROOT / "build/release/simcli")
    parser.add_argument("--only", metavar="STUDY")
    options = parser.parse_args()
    truth = score.read(HERE.parent / "runs.csv")
    kept = {(row["run"], row["program"]): float(row["kept"]) for row in score.read(HERE / "corun.csv")
            if not row["part"]} if options.only else {}
    for study in [options.only] if options.only else dict.fromkeys(row["run"].rpartition("/")[0] for row in truth):
        found = predicted(options.simcli, study)
        scenarios = {scenario for scenario, _ in found}
        for row in truth:
            of, _, run = row["run"].rpartition("/")
            if of == study:
                kept[row["run"], row["program"]] = found[scenarios_of(run, scenarios)[0], row["program"]]
    with open(HERE / "corun.csv", "w", encoding="utf-8") as file:
        file.write("part,run,program,kept,low,high\n")
        file.writelines(f",{run},{program},{value:.4f},,\n" for (run, program), value in kept.items())
        for part in score.PARTS.values():
            of = bands(truth, kept, part)
            for row in truth:
                if row[part] == "test":
                    value = kept[row["run"], row["program"]]
                    low, high = (min(1.0, value * end) for end in of.get(row["way"], of["any"]))
                    file.write(f"{part},{row['run']},{row['program']},{value:.4f},{low:.4f},{high:.4f}\n")


if __name__ == "__main__":
    main()
