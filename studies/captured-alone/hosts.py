#!/usr/bin/env python3
"""What hosts do after a wait, alone and in company: hosts.py [--simcli FILE] > hosts.md

company/ has recordings of two programs at once (`p1.` of one pair). Of each step: microseconds of the last wait for the
device, from its end to the next launch, and between later launches of the step in all, medians over the steps.
"""

import argparse
import bisect
import pathlib
import statistics
import sys

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "studies"))
from exported import events  # noqa: E402


def calls(simcli, capture):
    """[(begin, duration)] of waits for a stream, and of launches, in microseconds"""
    found = {"synchronize_stream": [], "launch": []}
    for event in events(simcli, capture):
        if event["name"] in found:
            found[event["name"]].append((event["ts"], event["dur"]))
    return sorted(found["synchronize_stream"]), sorted(found["launch"])


def medians(simcli, capture):
    waits, launches = calls(simcli, capture)
    begins = [begin for begin, _ in launches]
    rows = []
    for (begin, length), (later, _) in zip(waits, waits[1:]):
        step = launches[bisect.bisect_left(begins, begin + length):bisect.bisect_left(begins, later)]
        if step:
            between = sum(b - a - its for (a, its), (b, _) in zip(step, step[1:]))
            rows.append((length, step[0][0] - begin - length, between))
    return [f"{statistics.median(column):.0f}" for column in zip(*rows)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simcli", default=str(ROOT / "build/release/simcli"))
    simcli = parser.parse_args().simcli
    print("| program | recorded | wait, us | to the next launch, us | between launches, us |\n|---|---|---|---|---|")
    together = sorted((HERE / "company").glob("*.corun"))
    for program in sorted({path.name.split(".")[1] for path in together}):
        alone = HERE / "captures" / f"{program}.window.corun"
        if alone.exists():
            print(f"| {program} | alone | {' | '.join(medians(simcli, alone))} |")
        for path in (path for path in together if path.name.split(".")[1] == program):
            pair = path.name.split(".")[0]
            other = next(name for name in (its.name.split(".")[1] for its in together if its.name.startswith(pair))
                         if name != program)
            print(f"| | with {other} | {' | '.join(medians(simcli, path))} |" if alone.exists()
                  else f"| {program} | with {other} | {' | '.join(medians(simcli, path))} |")


if __name__ == "__main__":
    main()
