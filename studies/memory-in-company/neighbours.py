#!/usr/bin/env python3
"""What programs keep on SMs of their own, by their neighbour, from measured rates alone, in Markdown.

Rows of the studies below that have a program both alone with a cap and in a pair with the same cap; the caps of a pair
sum to 100 %. Counters are those of counters.jsonl, means over the time of a program's kernels.
"""

import collections
import json
import pathlib
import re
import statistics

HERE = pathlib.Path(__file__).parent
STUDIES = ("sm-caps", "split-choices", "mixes-of-others")
COUNTERS = ("l2", "dram", "warps")


def rows_of(path):
    return [json.loads(line) for line in open(path, encoding="utf-8")]


def counters():
    """{program: means of counters in per cent of the device's peak}"""
    times, sums = collections.Counter(), collections.Counter()
    for row in rows_of(HERE / "counters.jsonl"):
        time = row["launches"] * row["mean_ns"]
        times[row["program"]] += time
        for counter in COUNTERS:
            sums[row["program"], counter] += time * row[counter]
    return {program: [sums[program, counter] / times[program] for counter in COUNTERS] for program in times}


def kept():
    """(neighbour, kept): the rate in the pair over the rate alone with the same cap."""
    for study in STUDIES:
        alone, pairs = collections.defaultdict(list), collections.defaultdict(list)
        for row in rows_of(HERE.parent / study / "measured.jsonl"):
            if solo := re.match(r"solo(\d+)_", row["run"]):
                alone[int(solo[1]), row["w"]].append(row["it_s"])
            if split := re.match(r"split(\d+)_(.*)", row["run"]):
                pairs[int(split[1]), split[2]].append(row)
        for (percentage, names), pair in pairs.items():
            for its, other in ((0, 1), (1, 0)):
                cap = percentage if names.startswith(pair[its]["w"] + "_") else 100 - percentage
                if rates := alone.get((cap, pair[its]["w"])):
                    yield pair[other]["w"], pair[its]["it_s"] / statistics.mean(rates)


def main():
    by_neighbour, used = collections.defaultdict(list), counters()
    for neighbour, part in kept():
        by_neighbour[neighbour].append(part)
    print("| next to | its L2, % | its DRAM, % | its warps, % | rates | others keep, median | quarter below |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for neighbour, parts in sorted(by_neighbour.items(), key=lambda entry: statistics.median(entry[1])):
        its = [f"{value:.0f}" for value in used[neighbour]] if neighbour in used else ["", "", ""]
        print(f"| {neighbour} | {' | '.join(its)} | {len(parts)} | {statistics.median(parts):.2f} | "
              f"{statistics.quantiles(parts)[0]:.2f} |")


if __name__ == "__main__":
    main()
