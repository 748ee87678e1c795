#!/usr/bin/env python3
"""Steps of prompts and decodes at once, told from captured steps of one kind each: 1b with `batching: mixed`, alone.

    mixed_steps.py experiment FOLDER [GRID.corun]   FOLDER/mixed.yaml; the second one out of a capture with mixed steps
    predictions.py RESULTS > mixed_predicted.jsonl
    mixed_steps.py measure -o FOLDER [--simtrace FILE]
    mixed_steps.py score [PREDICTED]
    mixed_steps.py once             by how much prefills and decodes apart are longer than both at once, by the grid

`measure` serves the three loads of 1b, as measure.py does, and writes mixed.tar.gz; with --simtrace it also records
mixed.corun, a grid that has mixed steps, and mixed.steps.csv, its log without a recorder.
"""

import argparse
import csv
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tarfile
import tempfile

from cells import HERE, LOADS, SERVER
from make_experiment import HEAD, KV_TOKENS
from predictions import SERVING
from score import SECONDS, served, table

OPTIONS = ["--model", "1b", "--batching", "mixed", "--max-batch", "32"]


def experiment(options):
    folder = options.folder
    subprocess.run([sys.executable, HERE / "served_steps.py", folder / "served"], check=True)
    home = os.path.relpath(HERE, folder)
    capture = os.path.relpath(options.capture, folder) if options.capture else f"{home}/grid/1b.corun"
    steps = os.path.relpath(options.steps, folder) if options.steps else "served/1b.steps.csv"
    lines = [HEAD.replace("name: serving", "name: mixed").replace("output: ../../results/serving.sqlite\n", "")]
    for load in LOADS:
        lines += [f"  - name: mixed_1b_{load}", "    clients:", f"      - name: 1b_{load}",
                  f"        trace: {capture}", "        server:",
                  f"          requests: {{ file: {home}/requests/1b_{load}.csv }}",
                  "          batching: mixed", "          max_batch: 32", f"          kv_tokens: {KV_TOKENS['1b']}",
                  "          pads: true", f"          step_times: {steps}"]
    (folder / "mixed.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def measure(options):
    from measure import recorded  # of a GPU's machine alone

    options.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        process = subprocess.Popen([sys.executable, SERVER, "serve", "--orders", *OPTIONS], text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdout.readline() == "ready\n"
        for load in LOADS:
            order = {"requests": str(HERE / "requests" / f"1b_{load}.csv"), "seconds": SECONDS,
                     "out": str(folder / f"mixed_1b_{load}.1b_{load}")}
            process.stdin.write(json.dumps(order) + "\n")
            process.stdin.flush()
            print(process.stdout.readline().strip(), flush=True)
        process.stdin.close()
        process.wait(30)
        with tarfile.open(options.output / "mixed.tar.gz", "w:gz") as archive:
            for file in sorted(folder.glob("*.csv")):
                archive.add(file, file.name)
    if options.simtrace:
        command = [sys.executable, SERVER, "grid", *OPTIONS, "--repeat", "3"]
        subprocess.run([*command, "--out", options.output / "mixed"], check=False)
        recorded(options.simtrace, [*command, "--wait"], options.output / "mixed.corun", options.delay, {})


def score(options):
    with open(options.predicted or HERE / "mixed_predicted.jsonl", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    shown = [["load", *SERVING]]
    with tarfile.open(HERE / "measured" / "mixed.tar.gz") as archive:
        for row in rows:
            got = served(archive, row["run"], row["w"])
            shown.append([row["w"], *(f"{row[name]:.4g} / {got[name]:.4g} ({100 * (row[name] / got[name] - 1):+.0f} %)"
                                      for name in SERVING)])
    print("Predicted / measured, with the error of the prediction.\n")
    table(shown)


def once(_):
    times = {}
    with open(HERE / "grid" / "mixed.steps.csv", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            key = row["kind"], *(int(row[name]) for name in ("size", "context", "decodes", "decode_context"))
            times.setdefault(key, []).append(1e3 * (float(row["end_s"]) - float(row["begin_s"])))
    middle = {key: statistics.median(its) for key, its in times.items()}
    less = sorted(middle["prefill", n, c, 0, 0] + middle["decode", b, k, 0, 0] - both
                  for (kind, n, c, b, k), both in middle.items() if kind == "mixed")
    quickest = min(both for (kind, *_), both in middle.items() if kind == "decode")
    print(f"{len(less)} sizes: {statistics.median(less):.2f} ms, {less[0]:.2f} to {less[-1]:.2f}, four of five "
          f"{less[len(less) // 10]:.2f} to {less[-(len(less) // 10)]:.2f}; the quickest decode takes {quickest:.2f} ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("experiment")
    command.add_argument("folder", type=pathlib.Path)
    command.add_argument("capture", type=pathlib.Path, nargs="?")
    command.add_argument("--steps", type=pathlib.Path)
    command.set_defaults(do=experiment)
    command = commands.add_parser("measure")
    command.add_argument("-o", "--output", type=pathlib.Path, required=True)
    command.add_argument("--simtrace", type=os.path.abspath)
    command.add_argument("--delay", type=int, default=60, help="seconds in which the server starts")
    command.set_defaults(do=measure)
    command = commands.add_parser("score")
    command.add_argument("predicted", type=pathlib.Path, nargs="?")
    command.set_defaults(do=score)
    commands.add_parser("once").set_defaults(do=once)
    options = parser.parse_args()
    options.do(options)


if __name__ == "__main__":
    main()
