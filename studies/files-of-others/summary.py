#!/usr/bin/env python3
"""Sums up tables of survey.py, by origin, as Markdown; then names what is off.

usage: summary.py TABLE.csv...
"""

import collections
import csv
import sys

NEAR, FAR = 2.0, 5.0
REASONS = [("no steps were found", "no steps"), ("other contexts", "other programs ran"),
           ("on 2 GPUs", "several GPUs"), ("no known trace format", "unknown format"),
           ("in its own form", "other form is read"), ("no reader", "no reader"), ("execution trace", "no times"),
           ("an archive", "archive"), ("how long the GPU worked", "no GPU times"), ("samples frames", "sampled"),
           ("no work of a GPU", "no GPU work"), ("its replay alone", "replay alone off")]


def reason(why):
    return next((short for words, short in REASONS if words in why), why)


def off(row):
    return abs(float(row["alone"].rstrip(" %")))


def summed(rows):
    alone = [off(row) for row in rows if row["alone"]]
    known = [row for row in rows if row["steps_known"] and row["steps"]]
    reasons = collections.Counter(reason(row["why"]) for row in rows if not row["alone"])
    return [len(rows), sum(row["answer"] != "refused" for row in rows),
            f"{sum(row['steps'] == row['steps_known'] for row in known)} of {len(known)}",
            sum(x <= NEAR for x in alone), sum(NEAR < x <= FAR for x in alone), sum(x > FAR for x in alone),
            ", ".join(f"{count} {name}" for name, count in reasons.most_common())]


def main(paths):
    rows = [row for path in paths for row in csv.DictReader(open(path))]
    print(f"| origin | files | read | marked steps right | alone within {NEAR:.0f} % | within {FAR:.0f} % | beyond "
          "| not replayed |")
    print("|---|---|---|---|---|---|---|---|")
    for origin in sorted({row["origin"] for row in rows}):
        cells = summed([row for row in rows if row["origin"] == origin])
        print("| " + " | ".join(map(str, [origin, *cells])) + " |")
    print("| " + " | ".join(map(str, ["**all**", *summed(rows)])) + " |\n")
    for row in rows:
        differs = row["counted"] not in ("", "0") and row["read"] not in ("", row["counted"])
        if differs:
            print(f"- counted {row['counted']}, read {row['read']}: {row['file']}")
        if row["alone"] and off(row) > FAR:
            print(f"- alone {row['alone']}: {row['file']} ({row['steps']} steps, {row['certainty']})")


if __name__ == "__main__":
    main(sys.argv[1:])
