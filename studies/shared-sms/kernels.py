#!/usr/bin/env python3
"""What kernels become next to another program under MPS: kernels.py [--simcli FILE] > kernels.md

recordings/ has both programs of a pair at once, `PAIR.PROGRAM.corun`, and each alone with the daemon. Of the kernels
that take most of a program's time: the median duration, and the median gap before them, alone and in company.
"""

import argparse
import collections
import pathlib
import re
import statistics
import sys

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "studies"))
from exported import events  # noqa: E402

MOST = 3  # kernels of a program


def kernels(simcli, capture):
    """{(name, grid, block): [(duration, gap)]} in microseconds"""
    is_on_device = lambda event: "grid" in event.get("args", {}) or event["name"].startswith("Mem")  # noqa: E731
    on_device = sorted(filter(is_on_device, events(simcli, capture)), key=lambda event: event["ts"])
    found = collections.defaultdict(list)
    for before, event in zip(on_device, on_device[1:]):
        args = event.get("args", {})
        if "grid" in args:
            key = args.get("full name", event["name"]), args["grid"], args["block"]
            found[key].append((event["dur"], event["ts"] - before["ts"] - before["dur"]))
    return found


def shown(key):
    name, grid, block = key
    name = re.sub(r"\(anonymous namespace\)|\w+::|^void ", "", name)
    functor = re.search(r"\w*(?:Functor|kernel_cuda|MeanOps)\w*", name.partition("<")[2])
    blocks = " x ".join(part for part in grid.split(" x ") if part != "1") or "1"
    threads = " x ".join(part for part in block.split(" x ") if part != "1")
    return f"{re.match(r'[^<(]*', name)[0][:30]}{' ' + functor[0][:20] if functor else ''}, {blocks} of {threads}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--simcli", default=ROOT / "build/release/simcli")
    simcli = parser.parse_args().simcli
    print("| pair | program | kernel, blocks of threads | alone, us | together, us | gap alone | gap together |\n"
          "|---|---|---|---:|---:|---:|---:|")
    for recording in sorted((HERE / "recordings").glob("*.corun")):
        pair, program = recording.stem.split(".")
        if pair == "alone":
            continue
        alone = kernels(simcli, HERE / f"recordings/alone.{program}.corun")
        together = kernels(simcli, recording)
        longest = sorted(alone, key=lambda key: -sum(duration for duration, _ in alone[key]))
        for key in longest[:MOST]:
            if key in together:
                figures = [statistics.median(column) for its in (alone, together) for column in zip(*its[key])]
                print(f"| {pair} | {program} | {shown(key)} | {figures[0]:.1f} | {figures[2]:.1f} | {figures[1]:.1f} | "
                      f"{figures[3]:.1f} |")


if __name__ == "__main__":
    main()
