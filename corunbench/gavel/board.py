#!/usr/bin/env python3
"""Scores predictions of what jobs keep in Gavel's pairs, from rates alone and names; needs Python alone.

    board.py ENTRY.csv [ENTRY.csv ...]      prints the board of these entries as Markdown
    board.py --board                        writes BOARD.md: all of entries/

../README.md describes pairs.csv, which has the truth, the columns of an entry, and the parts.
"""

import collections
import pathlib
import statistics
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import score  # noqa: E402

PARTS = {"new mixes": "by_mix", "new programs": "by_program"}
POINTS = {"5th percentile": 0.05, "50th": 0.5, "95th": 0.95}
DOUBTFUL = "Recommendation"  # two files of the source differ in its rates alone, see SOURCE.md
APART = 1.0  # what both together keep one after the other


def read_pairs(path=HERE / "pairs.csv"):
    return [row | {"run": f"{row['device']}/{row['mix']}"} for row in score.read(path)]


def is_doubtful(mix):
    return DOUBTFUL in mix


def table(heads, rows):
    head, *lines = (f"| {' | '.join(cells)} |" for cells in [heads, *rows])
    return "\n".join([head, "|---" * len(heads) + "|", *lines])


def by_device(truth):
    found = collections.defaultdict(list)
    for row in truth:
        found[row["device"]].append(row)
    return found


def complete(entries, truth, part):
    return [entry for entry in entries if all(entry.row(part, row) for row in truth)]


def devices_table(entries, truth, part):
    devices = by_device(truth)
    return table(["mean error", *devices], [
        [entry.name, *(f"{statistics.mean(score.errors(entry, rows, part)):.1f} %" for rows in devices.values())]
        for entry in complete(entries, truth, part)])


def sums(truth, said):
    """{run: what both of its programs keep, added up}; `said` gives the row that has the figure"""
    found = collections.Counter()
    for row in truth:
        found[row["run"]] += float(said(row)["kept"])
    return found


def measured(row):
    return row


def points(found):
    ordered = sorted(found.values())
    return [f"{score.percentile(ordered, part):.2f}" for part in POINTS.values()]


def sums_table(entries, truth, part):
    rows = [["measured", *points(sums(truth, measured))]]
    rows += [[f"measured on {device}", *points(sums(its, measured))] for device, its in by_device(truth).items()]
    rows += [[entry.name, *points(sums(truth, lambda row, entry=entry: entry.row(part, row)))]
             for entry in complete(entries, truth, part)]
    return table(["sum of what a pair keeps", *POINTS], rows)


def choices(real, said):
    """What the choice by `said` has less than the better one, in percent, for each run; None = it chose right."""
    def is_shared(total):
        return total > APART
    return [None if is_shared(real[run]) == is_shared(said[run]) else
            score.regret({True: real[run], False: APART}, is_shared(said[run])) for run in real]


def choice_cells(found):
    wrong = [cost for cost in found if cost is not None]
    cells = [f"{1 - len(wrong) / len(found):.0%}", f"{sum(wrong) / len(found):.1f} %"]
    return cells + ([f"{statistics.mean(wrong):.1f} %", f"{max(wrong):.0f} %"] if wrong else ["", ""])


def choices_table(entries, truth, part):
    real = sums(truth, measured)
    return table(["share or not, by", "right", "mean cost", "of a wrong choice", "worst"], [
        [entry.name, *choice_cells(choices(real, sums(truth, lambda row, entry=entry: entry.row(part, row))))]
        for entry in complete(entries, truth, part)])


def part_text(heading, entries, truth, part):
    runs = len({row["run"] for row in truth})
    tables = [score.errors_table(entries, truth, part).strip()]
    tables += [make(entries, truth, part) for make in (devices_table, sums_table, choices_table)]
    return f"\n## {heading}\n\n{len(truth)} figures, {runs} pairs.\n\n" + "\n\n".join(tables) + "\n"


def in_second_file(row):
    """The row with the rate alone of the second file."""
    return {"kept": float(row["together_per_s"]) / float(row["solo_in_second_file"])}


def ratios_text(rows):
    """Median, least and most of rates alone in the second file over those of the first, of each program once."""
    ratios = {row["program"]: float(row["solo_in_second_file"]) / float(row["solo_per_s"]) for row in rows}
    return f"{statistics.median(ratios.values()):.2f} ({min(ratios.values()):.2f} to {max(ratios.values()):.2f})"


def second_file_text(truth):
    unknown = {row["run"] for row in truth if not row["solo_in_second_file"]}
    rows = []
    for device, its in by_device(row for row in truth if row["run"] not in unknown).items():
        changed = [cost for cost in choices(sums(its, measured), sums(its, in_second_file)) if cost is not None]
        both = ([row for row in its if is_doubtful(row["program"]) == doubtful] for doubtful in (True, False))
        rows.append([device, *map(ratios_text, both), f"{len(changed)} of {len(its) // 2}"])
    heads = ["rates alone, second file over first", DOUBTFUL, "other programs", "choices that change"]
    return f"\n## Second file of the source\n\n{table(heads, rows)}\n" if rows else ""


def board(entries, truth):
    untrained = [entry for entry in entries if not entry.is_trained()]
    text = ""
    for name, part in PARTS.items():
        rows = score.test_rows(truth, part)
        surer = [row for row in rows if not is_doubtful(row["mix"])]
        text += part_text(name.capitalize(), entries, rows, part)
        text += part_text(f"{name.capitalize()} without {DOUBTFUL}", entries, surer, part)
    return text + part_text("All pairs", untrained, truth, "") + second_file_text(truth)


def main(words):
    score.publish(words, HERE, "# Gavel's pairs: the board\n\nWritten by `corunbench/gavel/board.py --board`; "
                  "[../README.md](../README.md) says what the parts and entries are.",
                  lambda entries: board(entries, read_pairs()), __doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
