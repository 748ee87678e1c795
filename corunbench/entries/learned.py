#!/usr/bin/env python3
"""Two learned entries, trained once for each part: writes class_median.csv and boosted_trees.csv here.

`class_median`: the median of what programs of the same way kept, by whether the device works 0.9 of its time alone for
the program and for the others. `boosted_trees`: gradient boosting (scikit-learn) on ../features.csv of the program and
of all others in the run together, the way and the percentage.
"""

import collections
import math
import pathlib
import statistics
import sys

from sklearn.ensemble import GradientBoostingRegressor

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import score  # noqa: E402

DEVICE_BOUND = 0.9


class Table:
    """The rows of runs.csv with the features of the program and of its company."""

    def __init__(self):
        self.rows = score.read(HERE.parent / "runs.csv")
        self.features = {row.pop("capture"): {name: float(value) for name, value in row.items()}
                         for row in score.read(HERE.parent / "features.csv")}
        self.runs = collections.defaultdict(list)
        for row in self.rows:
            self.runs[row["run"]].append(row)

    def company(self, row):
        return [self.features[other["capture"]] for other in self.runs[row["run"]] if other is not row]

    def vector(self, row):
        its, others = self.features[row["capture"]], self.company(row)
        together = [sum(other[name] for other in others) if name == "busy" else
                    statistics.mean(other[name] for other in others) for name in its]
        logs = [math.log1p(1e6 * value) for value in (*its.values(), *together)]
        return logs + [its["busy"], sum(other["busy"] for other in others), len(others),
                       float(row["percentage"] or 100)] + [float(row["way"] == way) for way in score.WAYS]

    def kind(self, row):
        is_busy = self.features[row["capture"]]["busy"] >= DEVICE_BOUND
        return row["way"], is_busy, sum(other["busy"] for other in self.company(row)) >= DEVICE_BOUND


def class_median(table, train, test):
    by_kind, every = collections.defaultdict(list), [float(row["kept"]) for row in train]
    for row in train:
        by_kind[table.kind(row)].append(float(row["kept"]))
    return [statistics.median(by_kind.get(table.kind(row), every)) for row in test]


def boosted_trees(table, train, test):
    model = GradientBoostingRegressor(n_estimators=300, max_depth=4, learning_rate=0.05, subsample=0.7, random_state=1)
    model.fit([table.vector(row) for row in train], [math.log(float(row["kept"])) for row in train])
    return [math.exp(value) for value in model.predict([table.vector(row) for row in test])]


def entry(table, model, parts=tuple(score.PARTS.values())):
    """The text of its file: trained for each part on the rows that may be learned from."""
    lines = ["part,run,program,kept"]
    for part in parts:
        train, test = ([row for row in table.rows if row[part] == of] for of in ("train", "test"))
        lines += [f"{part},{row['run']},{row['program']},{kept:.4f}"
                  for row, kept in zip(test, model(table, train, test))]
    return "\n".join(lines) + "\n"


def main():
    table = Table()
    for model in (class_median, boosted_trees):
        (HERE / f"{model.__name__}.csv").write_text(entry(table, model), encoding="utf-8")


if __name__ == "__main__":
    main()
