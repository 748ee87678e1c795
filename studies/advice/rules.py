#!/usr/bin/env python3
"""What rules of choosing cost over all pairs that were predicted blind and measured in several ways; prints Markdown.

usage: rules.py > rules.md

Kept rates as their studies published them, capped at 1. `figures`: the way whose predicted goal is highest. `low ends`:
the same at the low ends of the bands of `simcli advise`. `MPS first`: by figures, MPS before ways less than 5 % better.
"""

import collections
import pathlib
import statistics
import sys

import score

HERE = pathlib.Path(__file__).resolve().parent
STUDIES = HERE.parent
sys.path.insert(0, str(STUDIES / "split-choices"))
import choices  # noqa: E402

OLDER = ["split-choices", "sm-caps", "mixes-of-others"]
ON_DEVICE = choices.ON_DEVICE | {"jax_particles"}  # whose work the device does
ALIKE = 1.05  # kAlike of experiments/advise/advice.h


def older_pairs(study):
    """{way: {program: (predicted, measured)}} of each pair"""
    predicted = choices.rates(STUDIES / study / "predictions.jsonl", "client", "predicted_per_s")
    measured = choices.rates(STUDIES / study / "measured.jsonl", "w", "it_s")
    pairs = collections.defaultdict(dict)
    for run, programs in measured.items():
        way, _, pair = run.partition("_")
        if len(programs) == 2:
            pairs[pair][way] = {program: (predicted[run][program] / predicted[f"mps_{program}"][program],
                                          rate / measured[f"mps_{program}"][program])
                                for program, rate in programs.items()}
    return [ways for ways in pairs.values() if "mps" in ways and len(ways) > 1]


def answered_pairs(folder):
    measured, _ = score.measured_ways(folder / "measured.jsonl")
    return [{score.way_of(way): {program["name"]: ((program["kept"]["low"] + program["kept"]["high"]) / 2,
                                                   measured[answer["pair"]][score.way_of(way)][program["name"]][0])
                                 for program in way["programs"]}
             for way in answer["ways"] if score.way_of(way) in measured[answer["pair"]]}
            for answer in score.read(folder / "answers.jsonl") if answer["goal"] == "fairest"]


LOW = choices.low_ends()


def low_end(way, program):
    mechanism = choices.MECHANISM.get(way, "split")
    return LOW.get((mechanism, "device" if program in ON_DEVICE else "host"), LOW[mechanism, "any"])


def by_figures(goal, way, programs):
    return goal(min(1, kept) for kept, _ in programs.values())


RULES = {
    "figures": by_figures,
    "low ends": lambda goal, way, programs: goal(min(1, kept) * low_end(way, name)
                                                 for name, (kept, _) in programs.items()),
    "MPS first": lambda goal, way, programs: by_figures(goal, way, programs) * (ALIKE if way == "mps" else 1),
    "always MPS": lambda goal, way, programs: way == "mps"}


def regrets(pairs, rule, goal):
    for ways in pairs:
        real = {way: goal(kept for _, kept in programs.values()) for way, programs in ways.items()}
        chosen = max(ways, key=lambda way: rule(goal, way, ways[way]))
        yield 100 * (1 - real[chosen] / max(real.values()))


def main():
    studies = {study: older_pairs(study) for study in OLDER} | {"advice": answered_pairs(HERE)}
    studies |= {f"advice, {part}": answered_pairs(HERE / part) for part in ("second", "third")}
    counts = " | ".join(f"{study}, {len(pairs)}" for study, pairs in studies.items())
    print(f"| goal | chosen by | {counts} | all |")
    print("|---" * (3 + len(studies)) + "|")
    for goal, value in choices.GOALS.items():
        for name, rule in RULES.items():
            found = [list(regrets(pairs, rule, value)) for pairs in studies.values()]
            found.append([regret for of in found for regret in of])
            cells = " | ".join(f"{statistics.mean(of):.1f} % ({max(of):.1f})" for of in found)
            print(f"| {goal} | {name} | {cells} |")


if __name__ == "__main__":
    main()
