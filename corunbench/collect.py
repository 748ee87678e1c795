#!/usr/bin/env python3
"""Collects the co-runs that the studies measured in one table.

    collect.py > runs.csv

A row is a program of a run: what it kept of its rate alone, in turns, under MPS, or under MPS with percentages. Runs
with games are left out (their frames are paced). README.md describes the columns.
"""

import collections
import csv
import hashlib
import json
import pathlib
import re
import sys

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "studies"))
from accuracy import comparisons, measured_means, measured_rows, measured_tails  # noqa: E402

COLUMNS = ["run", "mix", "device", "way", "program", "percentage", "capture", "fewer_sms", "solo_per_s",
           "together_per_s", "kept", "kept_each", "p99_ms", "is_blind", "by_program", "by_mix", "by_way"]
WAYS = {"timeslice": "turns", "mps": "mps", "split": "split"}
LEFT_OUT = {"advice/third", "power",  # captured on an H100 and measured on an H200
            # newer than the entries' predictions
            "captured-alone", "client-priority", "shared-sms", "counters", "sampled-draws"}
TESTED = 5  # one of so many is in the test part


def is_drawn(*words):
    """Whether the words put something into the test part: for ever the same, without a list."""
    return int(hashlib.sha256(" ".join(words).encode()).hexdigest(), 16) % TESTED == 0


def parts_of(names):
    """The parts of a mix of these programs, given in order."""
    return {"by_program": "test" if any(is_drawn("program", name) for name in names) else "train",
            "by_mix": "test" if is_drawn("mix", *names) else "train"}


def percentages(scenario):
    for policy in scenario.get("policies", []):
        if isinstance(policy, dict) and "mps_percentage" in policy:
            return policy["mps_percentage"]["percentages"]
    return {}


def clients_of(study, scenario):
    """{name: (capture, captures with fewer SMs, stated rate)}, paths from the root on"""
    def path(text):
        return str((study / text).resolve().relative_to(ROOT))
    return {client["name"]: (path(client["trace"]), " ".join(map(path, client.get("fewer_sms", []))),
                             float(client["solo_rate"].removesuffix("/s")))
            for client in scenario["clients"] if "solo_rate" in client}


def base(name):
    """Of clients that are the same program: a name without _a, _b, _c."""
    return re.sub(r"_[abc]$", "", name)


def published(study):
    """Whether a run of the study was predicted in public before it was measured."""
    if (study / "answers.jsonl").exists():
        return lambda run: True
    path = study / "predictions.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    blind = {json.loads(line)["run"] for line in lines}
    return lambda run: run in blind


def measured_each(path):
    """{(run, program): its rates in the order of measurement}"""
    found = collections.defaultdict(list)
    for run, program, rate in measured_rows(path):
        found[run, program].append(rate)
    return found


def kept_each(rates, alone):
    """What was kept each time, where the rate alone was measured as often, and more than once."""
    if len(rates) != len(alone) or len(rates) == 1:
        return ""
    return " ".join(f"{rate / solo:.4f}" for rate, solo in zip(rates, alone))


def rows_of(study):
    experiment = yaml.safe_load((study / "experiment.yaml").read_text(encoding="utf-8"))
    scenarios = {scenario["name"]: scenario for scenario in experiment["scenarios"]}
    known = {(name, client["name"]): (name, client["name"]) for name, scenario in scenarios.items()
             for client in scenario["clients"]}
    tails, each = measured_tails(study / "measured.jsonl"), measured_each(study / "measured.jsonl")
    runs, is_blind = collections.defaultdict(dict), published(study)
    alone, alone_each = collections.defaultdict(list), collections.defaultdict(list)
    for run, program, rate, (scenario, client) in comparisons(known, measured_means(study / "measured.jsonl")):
        runs[run, scenario][base(client)] = rate, tails.get((run, program), ""), each[run, program]
    for (run, scenario), programs in runs.items():
        if len(scenarios[scenario]["clients"]) == 1 and run.startswith(("solo_", "mps_")):
            for program, (rate, _, rates) in programs.items():
                alone[program].append(rate)
                alone_each[program] += rates
    for (run, scenario), programs in runs.items():
        way = WAYS.get(re.match(r"[a-z]+", run)[0])
        clients = clients_of(study, scenarios[scenario])
        if way is None or len(clients) == 1 or len(clients) < len(scenarios[scenario]["clients"]):
            continue
        if any(base(client) not in programs for client in clients):
            continue
        names = sorted(map(base, clients))
        common = {"run": f"{study.relative_to(ROOT / 'studies')}/{run}", "mix": "+".join(names),
                  "device": experiment["device"], "way": way, "is_blind": int(is_blind(scenario) or is_blind(run)),
                  "by_way": "test" if way == "split" else "train"} | parts_of(names)
        for client, (capture, fewer, stated) in clients.items():
            (rate, tail, rates), of = programs[base(client)], alone[base(client)]
            solo = sum(of) / len(of) if of else stated
            yield common | {"program": client, "percentage": percentages(scenarios[scenario]).get(client, ""),
                            "capture": capture, "fewer_sms": fewer, "solo_per_s": f"{solo:.3f}",
                            "together_per_s": f"{rate:.3f}", "kept": f"{rate / solo:.4f}", "p99_ms": tail,
                            "kept_each": kept_each(rates, alone_each[base(client)])}


def main():
    table = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    table.writeheader()
    for study in sorted(path.parent for path in ROOT.glob("studies/**/experiment.yaml")):
        is_left_out = str(study.relative_to(ROOT / "studies")) in LEFT_OUT
        if (study / "measured.jsonl").exists() and not is_left_out:
            table.writerows(rows_of(study))


if __name__ == "__main__":
    main()
