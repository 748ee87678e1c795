"""What a gate costs a program: gate_cost.py [--repetitions N] [--policies P,Q] [--value REGEX] [--build FOLDER] -- COMMAND...

Runs the command bare and under `simcli live`, in turns, one policy after the other, and compares the number that it prints
(the first group of REGEX; a line that is only a number, if not given). One JSON line a policy: medians, the ratio of each
pair of neighbours, and a 95 % interval of the mean ratio (Student's t). More is slower.
"""

import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import live_table


def value(pattern, text, what):
    found = re.findall(pattern, text, re.MULTILINE)
    if not found:
        raise RuntimeError(f"{what} printed nothing like {pattern}:\n{text[-2000:]}")
    return float(found[-1])


def bare(command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def gated(command, policy, build):
    with tempfile.TemporaryDirectory() as folder:
        experiment = pathlib.Path(folder) / "gate.yaml"
        client = {"name": "program", "command": command, "working_folder": str(pathlib.Path.cwd())}
        experiment.write_text(json.dumps({"version": 1, "name": "gate", "device": "h200", "horizon": "300s",
                                          "clients": [client], "policies": [policy]}), encoding="utf-8")
        run = subprocess.run([str(build / "simcli"), "live", str(experiment), "--progress", "none", "-o", f"{folder}/r.sqlite"],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return run.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--policies", default="passthrough,nvshare")
    parser.add_argument("--value", default=r"^([\d.]+)$", metavar="REGEX")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    policies = options.policies.split(",")
    without, under = {policy: [] for policy in policies}, {policy: [] for policy in policies}
    for _ in range(options.repetitions):
        for policy in policies:
            without[policy].append(value(options.value, bare(options.command), "the program"))
            under[policy].append(value(options.value, gated(options.command, policy, options.build), "the gated program"))
    for policy in policies:
        ratios = [after / before for before, after in zip(without[policy], under[policy])]
        mean, half = live_table.interval(ratios)
        print(json.dumps({"command": options.command, "policy": policy, "bare": statistics.median(without[policy]),
                          "gated": statistics.median(under[policy]), "ratio": round(mean, 4),
                          "half_interval": half and round(half, 4), "ratios": [round(ratio, 4) for ratio in ratios]}))


if __name__ == "__main__":
    sys.exit(main())
