#!/usr/bin/env python3
"""Null models: what programs keep, from their parts of the device and step times alone. Writes a file a model here.

A program needs the part `busy` of the device's time and has steps of `step_s` seconds alone (../features.csv).
"""

import collections
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import score  # noqa: E402


def no_interference(programs):
    return [1.0 for _ in programs]


def equal_share(programs):
    """The nth part of the device for each; what a program does not need goes to the others."""
    left, kept, waiting = 1.0, [0.0] * len(programs), list(range(len(programs)))
    while waiting:
        part = left / len(waiting)
        content = [i for i in waiting if programs[i]["busy"] <= part]
        for i in content or waiting:
            kept[i] = min(1.0, part / programs[i]["busy"])
        if not content:
            break
        left -= sum(programs[i]["busy"] for i in content)
        waiting = [i for i in waiting if i not in content]
    return kept


def proportional_share(programs):
    return [min(1.0, 1 / sum(program["busy"] for program in programs))] * len(programs)


def serialised(programs):
    """A step of each after a step of each other."""
    return [program["step_s"] / sum(other["step_s"] for other in programs) for program in programs]


def main():
    features = {row["capture"]: row for row in score.read(HERE.parent / "features.csv")}
    runs = collections.defaultdict(list)
    for row in score.read(HERE.parent / "runs.csv"):
        runs[row["run"]].append((row["program"], {"busy": float(features[row["capture"]]["busy"]),
                                                  "step_s": 1 / float(row["solo_per_s"])}))
    for model in (no_interference, equal_share, proportional_share, serialised):
        with open(HERE / f"{model.__name__}.csv", "w", encoding="utf-8") as file:
            file.write("run,program,kept\n")
            for run, programs in runs.items():
                for (name, _), kept in zip(programs, model([its for _, its in programs])):
                    file.write(f"{run},{name},{kept:.4f}\n")


if __name__ == "__main__":
    main()
