"""What a gate costs a program:
gate_cost.py [--repetitions N] [--policies P,Q] [--ways preload,cupti,managed] [--value REGEX] [--build FOLDER] --
    COMMAND...

Runs the command bare, then under `simcli live` with its gate reached in each way (`managed`: by the preload, with 40
GiB of managed memory where the policy makes memory managed), in turns, one policy after the other, and compares the
number that it prints (the first group of REGEX; a line that is only a number, if not given). One JSON line a policy and
way: medians, the ratio of each run to the bare one of its turn, and a 95 % interval of the mean ratio (Student's t).
More is slower.
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


OPTIONS = {"preload": ["--gate-by", "preload"], "cupti": ["--gate-by", "cupti"],
           "managed": ["--gate-by", "preload", "--managed-memory", "40GiB"]}


def gated(command, policy, way, build):
    with tempfile.TemporaryDirectory() as folder:
        experiment = pathlib.Path(folder) / "gate.yaml"
        client = {"name": "program", "command": command, "working_folder": str(pathlib.Path.cwd())}
        experiment.write_text(json.dumps({"version": 1, "name": "gate", "device": "h200", "horizon": "300s",
                                          "clients": [client], "policies": [policy]}), encoding="utf-8")
        run = subprocess.run([str(build / "simcli"), "live", str(experiment), *OPTIONS[way], "--progress", "none",
                              "-o", f"{folder}/r.sqlite"],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if "without a gate" in run.stdout or "past the preload" in run.stdout:
            raise RuntimeError(f"the program was not gated by {way}:\n{run.stdout[-2000:]}")
        return run.stdout


def turns(options, policies, ways):
    """(policy, way, bare, gated) of every run; the first one changes from turn to turn."""
    for turn in range(options.repetitions):
        for policy in policies:
            before = value(options.value, bare(options.command), "the program")
            for way in ways if turn % 2 == 0 else reversed(ways):
                yield policy, way, before, value(options.value, gated(options.command, policy, way, options.build),
                                                 "the gated program")


def summary(options, policy, way, pairs):
    ratios = [after / before for before, after in pairs]
    mean, half = live_table.interval(ratios)
    return {"command": options.command, "policy": policy, "way": way,
            "bare": statistics.median(before for before, _ in pairs),
            "gated": statistics.median(after for _, after in pairs), "ratio": round(mean, 4),
            "half_interval": half and round(half, 4), "ratios": [round(ratio, 4) for ratio in ratios]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--policies", default="passthrough,nvshare")
    parser.add_argument("--ways", default="preload,cupti")
    parser.add_argument("--value", default=r"^([\d.]+)$", metavar="REGEX")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    policies, ways = options.policies.split(","), options.ways.split(",")
    measured = {(policy, way): [] for policy in policies for way in ways}
    for policy, way, before, after in turns(options, policies, ways):
        measured[policy, way].append((before, after))
    for (policy, way), pairs in measured.items():
        print(json.dumps(summary(options, policy, way, pairs)), flush=True)


if __name__ == "__main__":
    sys.exit(main())
