#!/usr/bin/env python3
"""Lists the clients of random experiments in other orders and compares every figure: none may differ.

    tests/reliability/permutations.py [--experiments 1000] [--seed 1] [--simcli PROGRAM] [--record]

Experiments are those of campaign.py, on devices of both turn orders; those that are refused do not count. Figures are
compared by policy, client and metric, within 1e-9: sums over clients are rounded in the order of the list. `--record`
writes records/permutations.json.
"""

import argparse
import math
import pathlib
import random
import sqlite3
import subprocess
import sys
import tempfile

import campaign
import ledger


def figures(folder, text):
    """{(policy, client, metric): value}, or None where the experiment is refused"""
    (folder / "e.yaml").write_text(text)
    done = subprocess.run([campaign.SIMCLI, "run", "e.yaml", "-o", "r.sqlite", "-f", "--jobs", "1"], cwd=folder,
                          capture_output=True, text=True)
    if done.returncode not in (0, 7):
        return None
    with sqlite3.connect(folder / "r.sqlite") as database:
        rows = database.execute("SELECT policy, client, metric, value FROM metrics JOIN runs ON id = run").fetchall()
        failed = database.execute("SELECT policy, 'device', 'failed', error IS NOT NULL FROM runs").fetchall()
    return {row[:3]: row[3] for row in rows + failed}


def permuted(draw, text):
    head, _, rest = text.partition("clients:\n")
    clients, _, policies = rest.rpartition("\npolicies:")
    lines = clients.split("\n")
    draw.shuffle(lines)
    return f"{head}clients:\n" + "\n".join(lines) + f"\npolicies:{policies}"


def differing(before, after):
    if before is None or after is None:
        return [] if before is after else ["one is refused"]
    return [key for key in before.keys() | after.keys()
            if key not in before or key not in after or not math.isclose(before[key], after[key], rel_tol=1e-9)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--experiments", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--simcli", type=pathlib.Path, default=campaign.SIMCLI)
    parser.add_argument("--record", action="store_true")
    options, begun = parser.parse_args(), ledger.moment()
    campaign.SIMCLI = options.simcli.resolve()
    draw, names = random.Random(options.seed), campaign.policies()
    simulated = compared = refused = differ = 0
    with tempfile.TemporaryDirectory() as folder:
        while simulated < options.experiments:
            order = draw.choice(["fixed", "as_woken"])
            text = campaign.experiment(draw, draw.sample(names, 6))
            text = text.replace("sharing:", f"turn_order: {order}, sharing:")
            before = figures(pathlib.Path(folder), text)
            after = figures(pathlib.Path(folder), other := permuted(draw, text))
            compared += 0 if before is None else len(before)
            refused += before is None
            simulated += before is not None
            if found := differing(before, after):
                differ += 1
                print(f"{found[:5]}\n{text}\n{other}", file=sys.stderr)
    print(f"{simulated} experiments (and {refused} refused), {compared} figures: {differ} experiments differ")
    if options.record:
        ledger.write("permutations", {"experiments": simulated, "figures": compared, "differing": differ,
                                      "seed": options.seed}, begun)
    return 1 if differ else 0


if __name__ == "__main__":
    raise SystemExit(main())
