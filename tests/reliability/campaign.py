#!/usr/bin/env python3
"""Simulates random experiments with every invariant on, for as long as it is given, and records how many events.

    tests/reliability/campaign.py [--seconds 300] [--seed N]

An experiment is a random set of games, trainings, requests and programs on a random device, whose gate costs something
or nothing, under policies drawn from those that share one. A broken promise (exit code 70) ends the campaign with what
is needed to repeat it. The record adds up over campaigns. The same seed gives the same experiments: a campaign that is
to add something has a seed of its own, and without one takes the number of campaigns before it.
"""

import argparse
import json
import pathlib
import random
import sqlite3
import subprocess
import sys
import tempfile
import time

import ledger

SIMCLI = ledger.ROOT / "build/release/simcli"


def policies():
    listed = json.loads(subprocess.run([SIMCLI, "policy", "list", "--json"], check=True, capture_output=True).stdout)
    placements = {path.stem for path in (ledger.ROOT / "policies/placement").glob("*.cpp")}
    return [policy["name"] for policy in listed["policies"] if policy["name"] not in placements]


def client(draw, number):
    kind = "game" if number == 0 else draw.choice(["game", "training", "requests", "kernels"])
    work = {"game": f"{{ game: {{ gpu: {draw.randint(1, 14)}ms, cv: {draw.uniform(0, 0.5):.2f} }} }}",
            "training": f"{{ training: {draw.choice(['resnet50', 'bert', 'mobilenetv2'])} }}",
            "requests": f"{{ requests: {{ rate: {draw.randint(10, 400)}/s, mean: {draw.randint(100, 3000)}us }} }}",
            "kernels": f"{{ kernels: {{ duration: {draw.randint(5, 2000)}us, count: {draw.randint(1, 50)} }} }}"}[kind]
    more = ", pacing: 60fps" if kind == "game" and draw.random() < 0.7 else ""
    if kind == "game":
        more += ", quality: [{ name: high, cost: 1.0, quality: 1.0 }, { name: low, cost: 0.5, quality: 0.8 }]"
    more += f", arrival: {draw.randint(0, 300)}ms" if draw.random() < 0.3 else ""
    more += f", stay: {draw.randint(50, 500)}ms" if draw.random() < 0.2 else ""
    more += f", working_set: {draw.randint(1, 60)}GB" if draw.random() < 0.3 else ""
    more += f", duration_jitter: {draw.randint(1, 30)}%" if draw.random() < 0.3 else ""
    return f"  - {{ name: c{number}, synthetic: {work}{more} }}"


def gate(draw):
    """Of no policy, of one with real programs, or of one that is far away."""
    longest_us = draw.choice([0, 100, 100_000])
    delays = ", ".join(f"{key}: {draw.randint(0, longest_us)}us"
                       for key in ("frame_heard", "end_heard", "answer", "wake"))
    return f"gate: {{ {delays} }}\n" if longest_us > 0 else ""


def experiment(draw, names):
    clients = "\n".join(client(draw, number) for number in range(draw.randint(1, 5)))
    device = draw.choice(["h200", "v100", "p100", "rtx4090"])
    sharing = draw.choice(["time_sliced", "concurrent", "exclusive"])
    return (f"name: random\ndevice: {{ model: {device}, sharing: {sharing} }}\nhorizon: {draw.randint(200, 1500)}ms\n"
            f"seeds: [{draw.randint(1, 10**6)}]\n{gate(draw)}clients:\n{clients}\npolicies: [{', '.join(names)}]\n")


def simulate(folder, text):
    """(runs, events), or what went wrong"""
    (folder / "e.yaml").write_text(text)
    done = subprocess.run([SIMCLI, "run", "e.yaml", "-o", "r.sqlite", "-f", "--jobs", "1"], cwd=folder,
                          capture_output=True, text=True)
    if done.returncode == 70 or done.returncode < 0:
        return None, done.stderr
    if done.returncode in (2, 3):
        return (0, 0), done.stderr
    with sqlite3.connect(folder / "r.sqlite") as database:
        runs, events = database.execute("SELECT count(*), sum(events) FROM runs").fetchone()
    return (runs, events), ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--seed", type=int)
    options = parser.parse_args()
    before, at = ledger.read("campaign") or {}, ledger.moment()
    options.seed = before.get("campaigns", 0) + 1 if options.seed is None else options.seed
    draw, names = random.Random(options.seed), policies()
    experiments = runs = events = refused = 0
    end = time.monotonic() + options.seconds
    violation = None
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < end and violation is None:
            chosen = draw.sample(names, 6)
            counted, said = simulate(pathlib.Path(folder), text := experiment(draw, chosen))
            if counted is None:
                violation = f"{text}\n{said}"
                break
            experiments += 1
            refused += counted == (0, 0)
            runs, events = runs + counted[0], events + counted[1]
    counts = {"experiments": experiments - refused, "runs": runs, "events": events,
              "violations": int(violation is not None)}
    ledger.write("campaign", ledger.added(before, counts, at), at)
    print(f"{experiments} experiments ({refused} refused), {runs} runs, {events:,} events")
    if violation:
        print(violation, file=sys.stderr)
    return 1 if violation else 0


if __name__ == "__main__":
    raise SystemExit(main())
