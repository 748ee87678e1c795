#!/usr/bin/env python3
"""Rates and 99th percentiles of step times, told and measured, by way of sharing (`solo30`: alone
with 30 % of the SMs).

    score.py [--in STUDY] [--told FILE] ...  another study's files; other predictions of it than predictions.jsonl
    score.py slower > EXPERIMENT.yaml        the experiment with hosts 0.6 times as quick, for `simcli run`
    score.py score [--each]                  mean errors (worst); with each row's
    score.py again                           the same of again.jsonl, and how far three measurements are apart
    score.py starts                          of starts.jsonl: rates of pairs of which each was started several times

slower.jsonl is what the experiment says with slower hosts. A rate *hangs on hosts* where it differs from that with
hosts as alone by more than 3 %; it is *inside* where it lies between the two, or at most 3 % beyond.
"""

import argparse
import collections
import json
import pathlib
import re
import statistics

HERE = pathlib.Path(__file__).parent
BEYOND, SLOWER = 0.03, 0.6


def rows_of(path):
    return map(json.loads, path.read_text(encoding="utf-8").splitlines())


def told(path):
    return {(row["run"], row["client"]): row for row in rows_of(path)}


def slower(options):
    text = (options.study / "experiment.yaml").read_text(encoding="utf-8")
    print(re.sub(r"- \{ name: (\w+), ", rf"- {{ name: \1, host_speed: {SLOWER}, ", text), end="")


def is_inside(value, ends):
    return min(ends) * (1 - BEYOND) <= value <= max(ends) * (1 + BEYOND)


def shown(errors):
    return f"{sum(errors) / len(errors):.1f} % ({max(errors):.1f}) of {len(errors)}" if errors else ""


def score(options):
    alone, slow = told(options.study / options.told), told(options.study / "slower.jsonl")
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in rows_of(options.study / "measured.jsonl"):
        key, way = (row["run"], row["w"]), row["run"].split("_")[0]
        ends = [its[key]["predicted_per_s"] for its in (alone, slow)]
        rate = 100 * (ends[0] / row["it_s"] - 1)
        tail = 100 * (alone[key]["predicted_p99_ms"] / row["p99_ms"] - 1)
        hangs = abs(ends[1] / ends[0] - 1) > BEYOND
        for kind in (way, f"{way.rstrip('0123456789')} in all") if way[-1].isdigit() else (way,):
            found[kind]["rates"].append(abs(rate))
            found[kind]["hang" if hangs else "do not"].append(abs(rate))
            found[kind]["p99"].append(abs(tail))
            found[kind]["inside"].append(is_inside(row["it_s"], ends))
        if options.each:
            print(f"{row['run']:46}{row['w']:20}{rate:+7.1f} %  p99 {tail:+7.1f} %{'  hangs on hosts' * hangs}")
    print("| way | rates | that hang on hosts | that do not | inside | p99 of step times |\n|---|---|---|---|---|---|")
    for way, its in sorted(found.items(), key=lambda item: item[0].endswith("in all")):
        print(f"| {way} | {shown(its['rates'])} | {shown(its['hang'])} | {shown(its['do not'])} | "
              f"{sum(its['inside'])} of {len(its['inside'])} | {shown(its['p99'])} |")


def again(options):
    alone, slow = told(options.study / options.told), told(options.study / "slower.jsonl")
    first = collections.defaultdict(list)
    for name in ("measured.jsonl", "again.jsonl"):
        for row in rows_of(options.study / name):
            first[row["run"], row["w"]].append(row["it_s"])
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for key, rates in first.items():
        if len(rates) < 3:
            continue
        ends = [its[key]["predicted_per_s"] for its in (alone, slow)]
        its = found[key[0].split("_")[0], abs(ends[1] / ends[0] - 1) > BEYOND]
        its["apart"].append(100 * (max(rates) / min(rates) - 1))
        its["errors"] += [100 * abs(ends[0] / rate - 1) for rate in rates[1:]]
        its["inside"] += [is_inside(rate, ends) for rate in rates[1:]]
    print("| way | hang on hosts | three measurements are apart by | errors of two | inside |\n|---|---|---|---|---|")
    for (way, hangs), its in found.items():
        print(f"| {way} | {'yes' if hangs else 'no'} | {shown(its['apart'])} | {shown(its['errors'])} | "
              f"{sum(its['inside'])} of {len(its['inside'])} |")


def starts(options):
    """The place of a rate: 0 where it is as told with hosts as alone, 1 with slower ones."""
    alone, slow = told(options.study / options.told), told(options.study / "slower.jsonl")
    found = collections.defaultdict(list)
    places, errors = [], []
    for row in rows_of(options.study / "starts.jsonl"):
        if (row["run"], row["w"]) in alone and not row["run"].startswith("solo"):
            found[row["run"], row["w"]].append(row["it_s"])
    print("| pair | program | told | with slower hosts | least | median | most | starts |\n|---|---|" + "---:|" * 6)
    for key, rates in found.items():
        ends = [its[key]["predicted_per_s"] for its in (alone, slow)]
        places += [(rate - ends[0]) / (ends[1] - ends[0]) for rate in rates]
        errors += [100 * abs(ends[0] / rate - 1) for rate in rates]
        figures = [*ends, min(rates), statistics.median(rates), max(rates)]
        shown_rates = " | ".join(f"{rate:.0f}" for rate in figures)
        print(f"| {key[0].partition('_')[2]} | {key[1]} | {shown_rates} | {len(rates)} |")
    tenths = statistics.quantiles(places, n=10)
    print(f"\n{len(places)} rates: places {tenths[0]:.2f} to {tenths[-1]:.2f} (8 in 10), "
          f"{statistics.median(places):.2f} in the middle, {max(places):.2f} at most; errors {shown(errors)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--in", dest="study", type=pathlib.Path, default=HERE)
    parser.add_argument("--told", default="predictions.jsonl")
    parser.add_argument("command", choices=["slower", "score", "again", "starts"])
    parser.add_argument("--each", action="store_true")
    options = parser.parse_args()
    {"slower": slower, "score": score, "again": again, "starts": starts}[options.command](options)


if __name__ == "__main__":
    main()
