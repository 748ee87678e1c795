#!/usr/bin/env python3
"""Entries that know names and rates alone of programs: writes a file for each into entries/.

`no_interference`, `equal_share` (half of its rate for each) learn nothing. Trained once for each part:
`class_median`: the median of what programs kept on the device, by the third of the programs in which the program is by
what it keeps, and the partner by what it leaves. `rank_one`: a factor of the program times one of the partner, on each
device, fitted in logarithms. `boosted_trees`: gradient boosting on models, batch sizes, and rates alone on all devices.
"""

import collections
import itertools
import math
import pathlib
import re
import statistics
import sys

from sklearn.ensemble import GradientBoostingRegressor
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "entries"), str(HERE)]
import board  # noqa: E402
import learned  # noqa: E402
from collect import base  # noqa: E402

BATCH = re.compile(r"^(?P<model>.*?)(?: \(batch size (?P<batch>\d+)\))?$")


class Table:
    """The rows of pairs.csv, each with its program and its partner by their names in other pairs."""

    def __init__(self):
        self.rows, runs = board.read_pairs(), collections.defaultdict(list)
        for row in self.rows:
            runs[row["run"]].append(base(row["program"]))
        for row in self.rows:
            row["name"] = base(row["program"])
            row["partner"] = next((name for name in runs[row["run"]] if name != row["name"]), row["name"])
        self.alone = {(row["device"], row["name"]): float(row["solo_per_s"]) for row in self.rows}

    def of_program(self, which, name):
        """What is known of it without any pair."""
        model, batch = BATCH.match(name).groups()
        rates = {f"{which} alone on {device}": math.log(rate) for (device, its), rate in self.alone.items()
                 if its == name}
        return {f"{which} is {model}": 1.0, f"{which} batch": math.log(int(batch or 1))} | rates

    def features(self, row):
        return ({row["device"]: 1.0} | self.of_program("program", row["name"])
                | self.of_program("partner", row["partner"]))


def no_interference(_table, _train, test):
    return [1.0 for _ in test]


def equal_share(_table, _train, test):
    return [0.5 for _ in test]


def thirds(train, role):
    """{(device, name): 0, 1 or 2}: its third of the device's programs, by what rows with it in this role kept"""
    kept = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in train:
        kept[row["device"]][row[role]].append(float(row["kept"]))
    found = {}
    for device, its in kept.items():
        ordered = sorted(its, key=lambda name: statistics.median(its[name]))
        found |= {(device, name): 3 * place // len(ordered) for place, name in enumerate(ordered)}
    return found


def class_median(_table, train, test):
    """A program that was not seen is of no third: the median is of all thirds then."""
    its, of_partner = thirds(train, "name"), thirds(train, "partner")

    def kind(row):
        return row["device"], its.get((row["device"], row["name"])), of_partner.get((row["device"], row["partner"]))

    by_kind = collections.defaultdict(list)
    for row in train:
        device, *both = kind(row)
        for known in itertools.product(*((third, None) for third in both)):
            by_kind[device, *known].append(float(row["kept"]))
    return [statistics.median(by_kind.get(kind(row)) or by_kind[row["device"], None, None]) for row in test]


def fitted(model, features, train, test):
    """What the model, fitted to logarithms of what was kept, says of the test rows."""
    pipeline = make_pipeline(DictVectorizer(sparse=False), model)
    pipeline.fit([features(row) for row in train], [math.log(float(row["kept"])) for row in train])
    return [min(1.0, math.exp(value)) for value in pipeline.predict([features(row) for row in test])]


def rank_one(_table, train, test):
    def features(row):
        device = row["device"]
        return {device: 1.0, f"{device} {row['name']}": 1.0, f"{device} next to {row['partner']}": 1.0}
    return fitted(Ridge(alpha=0.3), features, train, test)


def boosted_trees(table, train, test):
    model = GradientBoostingRegressor(n_estimators=300, max_depth=4, learning_rate=0.05, subsample=0.7, random_state=1)
    return fitted(model, table.features, train, test)


def untrained(table, model):
    kept = model(table, [], table.rows)
    return "run,program,kept\n" + "".join(f"{row['run']},{row['program']},{value:.4f}\n"
                                          for row, value in zip(table.rows, kept))


def texts(table):
    """{name: text of its file} of all entries"""
    return ({model.__name__: untrained(table, model) for model in (no_interference, equal_share)}
            | {model.__name__: learned.entry(table, model, board.PARTS.values())
               for model in (class_median, rank_one, boosted_trees)})


def main():
    for name, text in texts(Table()).items():
        (HERE / "entries" / f"{name}.csv").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
