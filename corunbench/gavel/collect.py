#!/usr/bin/env python3
"""Collects Gavel's measurements of pairs of jobs on one GPU in one table.

    collect.py simulation_throughputs.json [physical_cluster_throughputs.json] > pairs.csv

A row is a program of a pair: what it kept of its rate alone. Pairs that are missing or recorded as zeros are left out;
stderr tells how many remain. `solo_in_second_file` is the rate alone in the second file, where one is given. SOURCE.md
says where the files are from.
"""

import ast
import csv
import itertools
import json
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from collect import parts_of  # noqa: E402

COLUMNS = ["device", "mix", "program", "solo_per_s", "together_per_s", "kept", "solo_in_second_file", "by_mix",
           "by_program"]
DEVICES = ["v100", "p100", "k80"]


def jobs_of_one_gpu(measured):
    """{program: {partner: (its rate, the partner's rate)}}; of the partner None: its rate alone"""
    def its(rates):
        return {None if key == "null" else ast.literal_eval(key)[0]: value for key, value in rates.items()}
    named = [(*ast.literal_eval(key), rates) for key, rates in measured.items()]
    return {program: its(rates) for program, gpus, rates in named if gpus == 1}


def rates_of(jobs, first, second):
    """The rates of both together; None where they were not measured or did not run."""
    there, back = jobs[first].get(second), jobs[second].get(first)
    if there is None or back is None or not jobs[first].get(None) or not jobs[second].get(None):
        return None
    if there != back[::-1]:
        raise SystemExit(f"{first} with {second}: {there}; the other way round: {back}; expected the same rates")
    return there if min(there) > 0 else None


def pairs(jobs):
    """(both programs in order, their rates) of every pair that ran, once."""
    for names in itertools.combinations_with_replacement(sorted(jobs), 2):
        rates = rates_of(jobs, *names)
        if rates:
            yield names, rates


def clients(names):
    """Names that tell two of the same program apart."""
    return [f"{name}_{letter}" for name, letter in zip(names, "ab")] if len(set(names)) == 1 else names


def check_same(jobs, second_file):
    """Ends where the second file has other rates together than the first."""
    for (first, second), rates in pairs(jobs):
        again = second_file.get(first, {}).get(second, rates)
        if again != rates:
            raise SystemExit(f"{first} with {second}: {rates}; in the second file: {again}; expected the same rates")


def rows_of(device, jobs, second_file):
    for names, rates in pairs(jobs):
        common = {"device": device, "mix": "+".join(names)} | parts_of(names)
        for client, name, rate in zip(clients(names), names, rates):
            alone, again = jobs[name][None], second_file.get(name, {}).get(None)
            yield common | {"program": client, "solo_per_s": f"{alone:.4f}", "together_per_s": f"{rate:.4f}",
                            "kept": f"{rate / alone:.4f}", "solo_in_second_file": f"{again:.4f}" if again else ""}


def read(path):
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))


def main(words):
    if len(words) not in (1, 2):
        raise SystemExit(__doc__)
    files = [read(path) for path in words]
    table = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    table.writeheader()
    for device in DEVICES:
        jobs, *second = (jobs_of_one_gpu(file.get(device, {})) for file in files)
        second_file = second[0] if second else {}
        check_same(jobs, second_file)
        rows = list(rows_of(device, jobs, second_file))
        table.writerows(rows)
        print(f"{device}: {len(rows) // 2} of {math.comb(len(jobs) + 1, 2)} pairs", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
