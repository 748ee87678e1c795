#!/usr/bin/env python3
"""Scores predictions of what programs keep of their rates when they share a GPU; needs Python alone.

    score.py ENTRY.csv [ENTRY.csv ...]      prints the board of these entries as Markdown
    score.py --board                        writes BOARD.md: all of entries/

README.md describes runs.csv, which has the truth, the columns of an entry, and the parts.
"""

import collections
import csv
import pathlib
import statistics
import sys

HERE = pathlib.Path(__file__).resolve().parent
PARTS = {"new mixes": "by_mix", "new programs": "by_program", "new way": "by_way"}
GOALS = {"fairest": min, "most work": sum}
WAYS = {"turns": "turns", "mps": "MPS", "split": "MPS with percentages"}


def read(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


class Entry:
    """Predictions by part, run and program."""

    def __init__(self, path):
        self.name = pathlib.Path(path).stem.replace("_", " ")
        self.rows = {(row.get("part") or "", row["run"], row["program"]): row for row in read(path)}

    def row(self, part, truth):
        """What it says of a row of runs.csv, without having seen the test rows of this part; None = nothing."""
        key = truth["run"], truth["program"]
        return self.rows.get((part, *key)) or self.rows.get(("", *key))

    def is_trained(self):
        return not any(part == "" for part, *_ in self.rows)


def test_rows(truth, part):
    return [row for row in truth if row[part] == "test"]


def errors(entry, truth, part):
    """In percent, in order; None where the entry leaves out a row."""
    said = [entry.row(part, row) for row in truth]
    if None in said:
        return None
    return sorted(100 * abs(float(its["kept"]) / float(row["kept"]) - 1) for its, row in zip(said, truth))


def inside_text(entry, truth, part):
    banded = [(entry.row(part, row), min(1.0, float(row["kept"]))) for row in truth]
    inside = [float(said["low"]) <= kept <= float(said["high"]) for said, kept in banded if said.get("low")]
    return f"{statistics.mean(inside):.0%}" if inside else ""


def percentile(ordered, part):
    return ordered[int(part * (len(ordered) - 1))]


def errors_text(entry, truth, part):
    found = errors(entry, truth, part)
    if found is None:
        return "| missing " * 4
    return (f"| {statistics.mean(found):.1f} % | {percentile(found, 0.9):.1f} % | {found[-1]:.0f} % "
            f"| {inside_text(entry, truth, part)} ")


def errors_table(entries, truth, part):
    lines = ["| entry | mean | 90th percentile | worst | inside its bands |", "|---|---|---|---|---|"]
    return "\n".join(lines + [f"| {entry.name} {errors_text(entry, truth, part)}|" for entry in entries]) + "\n"


def mixes(truth):
    """{(study, mix): {way: rows}} where MPS and other ways were measured; percentages are in the name of a way."""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in truth:
        study, _, run = row["run"].rpartition("/")
        way = row["way"] if row["way"] != "split" else run.partition("_")[0]
        found[study, row["mix"]][way].append(row)
    return {key: ways for key, ways in found.items() if "mps" in ways and len(ways) > 1}


def regret(real, chosen):
    return 100 * (1 - real[chosen] / max(real.values()))


def choices_table(entries, truth, part):
    found = list(mixes(truth).values())
    rows = [f"| chosen by | {' | '.join(f'{goal}, mean (worst)' for goal in GOALS)} |", "|---" * (1 + len(GOALS)) + "|"]
    measured = [{goal: {way: value(float(row["kept"]) for row in rows_of) for way, rows_of in ways.items()}
                 for goal, value in GOALS.items()} for ways in found]

    def line(name, choose):
        cells = []
        for goal in GOALS:
            regrets = [regret(real[goal], choose(ways, goal)) for ways, real in zip(found, measured)]
            cells.append(f"{statistics.mean(regrets):.1f} % ({max(regrets):.0f})")
        rows.append(f"| {name} | {' | '.join(cells)} |")

    line("always turns, where measured, else MPS", lambda ways, _: "turns" if "turns" in ways else "mps")
    line("always MPS", lambda ways, _: "mps")
    for entry in entries:
        if all(entry.row(part, row) for ways in found for its in ways.values() for row in its):
            line(entry.name, lambda ways, goal, entry=entry: max(ways, key=lambda way: GOALS[goal](
                float(entry.row(part, row)["kept"]) for row in ways[way])))
    return len(found), "\n".join(rows) + "\n"


def noise_cells(rows):
    """How far the first measurement of each is off as a prediction of the second."""
    twice = (map(float, row["kept_each"].split()[:2]) for row in rows)
    found = sorted(100 * abs(first / second - 1) for first, second in twice)
    return f"{len(found)} | {statistics.mean(found):.1f} % | {percentile(found, 0.9):.1f} % | {found[-1]:.0f} %"


def noise_table(truth):
    lines = ["| way | figures | mean | 90th percentile | worst |", "|---|---|---|---|---|"]
    twice = {name: [row for row in truth if row["way"] == way and row["kept_each"]] for way, name in WAYS.items()}
    return "\n".join(lines + [f"| {name} | {noise_cells(rows)} |" for name, rows in twice.items() if rows]) + "\n"


def board(entries, truth):
    text = ""
    for name, part in PARTS.items():
        rows = test_rows(truth, part)
        text += f"\n## {name.capitalize()}\n\n{len(rows)} figures, {len({row['run'] for row in rows})} co-runs.\n\n"
        text += errors_table(entries, rows, part)
    text += "\n## Choices for new mixes\n\n"
    count, table = choices_table(entries, test_rows(truth, "by_mix"), "by_mix")
    text += f"Regret over {count} mixes that were measured in several ways.\n\n{table}"
    untrained = [entry for entry in entries if not entry.is_trained()]
    for way, name in WAYS.items():
        rows = [row for row in truth if row["way"] == way]
        text += (f"\n## All figures: {name}\n\n{len(rows)} figures; entries that were not trained on any.\n\n"
                 + errors_table(untrained, rows, ""))
    count, table = choices_table(untrained, truth, "")
    text += f"\n## All choices\n\nRegret over {count} mixes that were measured in several ways.\n\n{table}"
    return text + ("\n## Noise\n\nFigures that were measured twice: the first measurement as a prediction of the "
                   f"second.\n\n{noise_table(truth)}")


def publish(words, folder, heading, board_of, usage):
    """Prints the board of the entries that `words` name, or writes that of all in `folder` for --board."""
    paths = sorted((folder / "entries").glob("*.csv")) if words == ["--board"] else words
    if not paths or any(str(path).startswith("-") for path in paths):
        raise SystemExit(usage)
    text = board_of([Entry(path) for path in paths])
    if words == ["--board"]:
        (folder / "BOARD.md").write_text(f"{heading}\n{text}", encoding="utf-8")
    else:
        print(text.strip())


def main(words):
    publish(words, HERE, "# CorunBench: the board\n\nWritten by `corunbench/score.py --board`; "
            "[README.md](README.md) says what the parts and entries are.",
            lambda entries: board(entries, read(HERE / "runs.csv")), __doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
