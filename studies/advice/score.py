#!/usr/bin/env python3
"""How good the answers of `simcli advise` are, by what was measured afterwards; prints Markdown.

usage: score.py [ANSWERS.jsonl MEASURED.jsonl ...]        without words: all of this study

A program keeps its rate in company over the mean of its rates alone in the same measurement. Goals: `fairest`, the
least that a program keeps; `most work`, the sum; `p99`, the 99th percentile of the step times of one program, the first
of a pair whose host waits in each step (SYNCHRONOUS). The first two are answered by the verdict, the third by the way
whose predicted p99 is least. The regret of a choice is what the best measured way has more, relative to it. `one run`:
the regret of the way that one of several measurements finds best, judged by the others: what cannot be told apart on
these machines, however good a prediction is.
"""

import collections
import json
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/hardware/programs"))
from record import PROGRAMS as SCRIPTS  # noqa: E402

ALL = ["answers.jsonl", "measured.jsonl", "second/answers.jsonl", "second/measured.jsonl", "third/answers.jsonl",
       "third/measured.jsonl", "third/answers_fewer_sms.jsonl", "third/measured.jsonl", "fourth/answers.jsonl",
       "fourth/measured.jsonl", "fourth/answers_fewer_sms.jsonl", "fourth/measured.jsonl", "fifth/answers.jsonl",
       "fifth/measured.jsonl", "fifth/answers_fewer_sms.jsonl", "fifth/measured.jsonl"]
SYNCHRONOUS = {"hf_decoder", "jax_recurrent", "reduced_overhead", "reinforcement", "jax_decoder", "cupy_means",
               *SCRIPTS["device_bound_programs.py"], *SCRIPTS["more_device_bound_programs.py"]}


def way_of(answered):
    """The name of an answered way in the runs that were measured."""
    return {"time_sliced": "timeslice", "mps": "mps"}.get(answered["mode"], f"split{(answered['parts'] or [0])[0]}")


def read(path):
    return [json.loads(line) for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines()]


def measured_ways(path, counts=lambda repetition: True):
    """({pair: {way: {program: (part kept, p99 in ms)}}}, {program: [rates alone]}), means of what was repeated, as far
    as it counts"""
    found, seen = collections.defaultdict(list), collections.Counter()
    for row in read(path):
        key = row["run"], row["w"]
        if counts(seen[key]):
            found[key].append((row["it_s"], row["p99_ms"]))
        seen[key] += 1
    alone = {program: [rate for rate, _ in rows] for (run, program), rows in found.items() if run.startswith("solo_")}
    ways = collections.defaultdict(lambda: collections.defaultdict(dict))
    for (run, program), rows in found.items():
        way, _, pair = run.partition("_")
        rate, tail = map(statistics.mean, zip(*rows))
        if way != "solo":
            ways[pair][way][program] = (rate / statistics.mean(alone[program]), tail)
    return {pair: {way: programs for way, programs in its.items() if len(programs) == 2}
            for pair, its in ways.items()}, alone


def figures(answers, measured):
    """(way's kind, bound, measured part kept, answered part, whether its band holds it)"""
    for answer in answers:
        for way in answer["ways"] if answer["goal"] == "fairest" else []:
            real = measured[answer["pair"]].get(way_of(way), {})
            for program in way["programs"]:
                if program["name"] in real:
                    value, kept, band = real[program["name"]][0], program["kept"], program["kept_band"]
                    yield (way["mode"], program["bound"], value, (kept["low"] + kept["high"]) / 2,
                           band["low"] <= min(value, 1) <= band["high"])


def rates_table(answers, measured):
    rows = collections.defaultdict(list)
    for mode, bound, value, answered, is_inside in figures(answers, measured):
        for of in (bound, "any"):
            rows[mode, of].append((abs(answered / value - 1), is_inside))
    print("| way | bound by | figures | error of what is kept, mean (worst) | inside the band |\n|---|---|---|---|---|")
    for (mode, bound), found in rows.items():
        errors = [100 * error for error, _ in found]
        print(f"| {mode} | {bound} | {len(found)} | {statistics.mean(errors):.1f} % ({max(errors):.1f}) "
              f"| {sum(inside for _, inside in found) / len(found):.0%} |")


def cells(answers, measured):
    """(goal, pair, {way: its measured value, greater is better}, chosen way or None, whether it abstains)"""
    value = {"fairest": min, "most work": sum}
    for answer in answers:
        ways = measured[answer["pair"]]
        asked = {way_of(way): way for way in answer["ways"] if way_of(way) in ways}
        best = next((way_of(way) for way in asked.values() if way["label"] == answer["best"]), None)
        yield (answer["goal"], answer["pair"],
               {way: value[answer["goal"]](kept for kept, _ in ways[way].values()) for way in asked}, best,
               answer["verdict"] == "cannot_tell")
        name = next((one["name"] for one in answer["ways"][0]["programs"] if one["name"] in SYNCHRONOUS), None)
        if answer["goal"] == "fairest" and name:
            tails = {way: next(one["p99_ms"]["high"] for one in asked[way]["programs"] if one["name"] == name)
                     for way in asked}
            yield ("p99", answer["pair"], {way: 1 / ways[way][name][1] for way in asked}, min(tails, key=tails.get),
                   False)


def regret(values, chosen):
    return 100 * (1 - values[chosen] / max(values.values()))


def regrets_by_one_run(answers, path):
    """goal -> regrets"""
    runs = collections.Counter((row["run"], row["w"]) for row in read(path))
    repetitions, found = min(runs.values()), collections.defaultdict(list)
    for one in range(repetitions if repetitions > 1 else 0):
        told, others = (measured_ways(path, counts)[0] for counts in (lambda i: i == one, lambda i: i != one))
        for (goal, _, values, *_), (*_, judged, _, _) in zip(cells(answers, told), cells(answers, others)):
            found[goal].append(regret(judged, max(values, key=values.get)))
            found["all"].append(found[goal][-1])
    return found


def choices_table(answers, measured, by_one_run):
    rows = collections.defaultdict(list)
    for goal, pair, values, chosen, abstains in cells(answers, measured):
        rows[goal].append((values, chosen, abstains, pair))
    rules = list(dict.fromkeys(way for found in rows.values() for values, *_ in found for way in values))
    print("\n| goal | choices | regret, mean (worst) | one run | within 1 % of the best | abstained | "
          + " | ".join(f"always {way}" for way in rules) + " |\n" + "|---" * (6 + len(rules)) + "|")
    for goal, found in [*rows.items(), ("all", [row for of in rows.values() for row in of])]:
        regrets = [regret(values, chosen) for values, chosen, _, _ in found]
        constant = [statistics.mean(regret(values, way) for values, *_ in found) for way in rules]
        one = f"{statistics.mean(by_one_run[goal]):.1f} %" if goal in by_one_run else "-"
        print(f"| {goal} | {len(found)} | {statistics.mean(regrets):.1f} % ({max(regrets):.1f}) | {one} "
              f"| {sum(regret <= 1 for regret in regrets)} | {sum(row[2] for row in found)} | "
              + " | ".join(f"{rule:.1f} %" for rule in constant) + " |")


def hosts_table(answers, alone):
    print("\n| program | rates alone, per second | spread |\n|---|---|---|")
    for program, rates in alone.items():
        print(f"| {program} | {', '.join(f'{rate:.1f}' for rate in rates)} "
              f"| {100 * (max(rates) / min(rates) - 1):.1f} % |")


def score(answers, measured):
    print(f"\n## {answers}\n")
    path = measured
    answers, (measured, alone) = read(answers), measured_ways(path)
    answers = [answer for answer in answers if measured.get(answer["pair"])]
    rates_table(answers, measured)
    choices_table(answers, measured, regrets_by_one_run(answers, path))
    hosts_table(answers, alone)


def main(paths):
    print("Written by score.py, which says what the words mean.")
    for answers, measured in zip(paths[::2], paths[1::2]):
        score(answers, measured)


if __name__ == "__main__":
    if len(sys.argv) % 2 == 0:
        sys.exit(__doc__)
    main(sys.argv[1:] or ALL)
