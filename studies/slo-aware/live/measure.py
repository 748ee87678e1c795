#!/usr/bin/env python3
"""Runs the server and the training of live.yaml at gates, and compares what they have with what was predicted.

    measure.py live --simcli FILE -o FOLDER [--only REGEX] [--limit S] [--seed N]
    measure.py predictions RESULTS.sqlite > predicted.jsonl
    measure.py table predicted.jsonl FOLDER/measured.jsonl > table.md

`live` adds a row a cell to FOLDER/measured.jsonl. A cell is a scenario of live.yaml under a policy. Its programs start
under the policy; when the server is ready and the training has had some seconds to warm up, serving begins, and lasts
for 20 s. Figures are those of what ended behind the first five of them: requests of the server, steps of the training.
"""

import argparse
import collections
import contextlib
import csv
import itertools
import json
import math
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.append(str(ROOT / "studies" / "serving"))
from processes import Daemon  # noqa: E402
from programs_at_gates import FROM, LOADS, POLICIES, SECONDS, experiment, name_of  # noqa: E402

SCRATCH = ROOT / "results" / "slo-live"  # as live.yaml has it
TTFT_S, TPOT_S = 0.5, 0.05
READY_S, WARM_S, END_S = 150, 6, 40
FIGURES = {"answered_per_s": "answered, /s", "goodput_per_s": "goodput, /s", "train_per_s": "training, steps/s",
           "ttft_p50_ms": "TTFT p50, ms", "ttft_p99_ms": "TTFT p99, ms", "tpot_p50_ms": "TPOT p50, ms",
           "tpot_p99_ms": "TPOT p99, ms"}


def quantile(values, part):
    ordered = sorted(values)
    return round(1e3 * ordered[math.ceil(part * len(ordered)) - 1], 3) if ordered else None


def served(path):
    with open(path, encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["end_s"] and FROM <= float(row["end_s"]) < SECONDS]
    ttft = [float(row["first_token_s"]) - float(row["arrival_s"]) for row in rows]
    tpot = [(float(row["end_s"]) - float(row["first_token_s"])) / (int(row["output"]) - 1)
            if int(row["output"]) > 1 else 0.0 for row in rows]
    kept = sum(first <= TTFT_S and each <= TPOT_S for first, each in zip(ttft, tpot))
    tpot = [each for each, row in zip(tpot, rows) if int(row["output"]) > 1]
    return {"answered_per_s": len(rows) / (SECONDS - FROM), "goodput_per_s": kept / (SECONDS - FROM),
            "ttft_p50_ms": quantile(ttft, 0.5), "ttft_p99_ms": quantile(ttft, 0.99),
            "tpot_p50_ms": quantile(tpot, 0.5), "tpot_p99_ms": quantile(tpot, 0.99)}


def trained(path, begin_ns):
    ends = json.loads(path.read_text(encoding="utf-8"))["step_ends_ns"]
    counted = sum(FROM <= (end - begin_ns) / 1e9 < SECONDS for end in ends)
    return {"train_per_s": counted / (SECONDS - FROM)}


class Run:
    """simcli with both programs. `said` is what they and it have said."""

    def __init__(self, options, load, way, policy, environment):
        shutil.rmtree(SCRATCH, ignore_errors=True)
        SCRATCH.mkdir(parents=True)
        # The programs' own variables: python3 is the interpreter that runs this.
        variables = os.environ | environment | {"PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"}
        horizon_s = READY_S + WARM_S + SECONDS + END_S
        (SCRATCH / "cell.yaml").write_text("\n".join(experiment([(load, way, [policy])], "../..", horizon_s)) + "\n",
                                           encoding="utf-8")
        command = [options.simcli, "live", SCRATCH / "cell.yaml", "--seed", str(options.seed), "-f", "-o",
                   options.output.absolute() / f"{load}_{way}.{name_of(policy)}.sqlite"]
        self.process = subprocess.Popen([*map(str, command)], cwd=ROOT, env=variables, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.said, self.is_ready = [], threading.Event()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.said.append(line)
            if line.strip() == "ready":
                self.is_ready.set()
        self.is_ready.set()  # or it will never be

    def figures(self):
        self.is_ready.wait(READY_S)
        time.sleep(WARM_S)
        begin_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        (SCRATCH / "go").touch()
        result = SCRATCH / "served.requests.csv"
        until = time.monotonic() + SECONDS + END_S
        while not result.exists() and self.process.poll() is None and time.monotonic() < until:
            time.sleep(0.1)
        time.sleep(0.5)
        self.end()
        return served(result) | trained(SCRATCH / "steps.json", begin_ns)

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)  # simcli asks its programs to end, and waits for them
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(30)
        self.process.kill()


def live(options):
    options.output.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + options.limit
    cells = [(load, way, policy) for load, way in itertools.product(LOADS, POLICIES) for policy in POLICIES[way]]
    with tempfile.TemporaryDirectory() as name, Daemon(pathlib.Path(name)) as daemon:
        for load, way, policy in sorted(cells, key=lambda cell: cell[1] == "at_once"):
            cell = f"{load}_{way}.{name_of(policy)}"
            if not re.search(options.only, cell) or time.monotonic() > until - 60:
                continue
            if way == "at_once":
                daemon.start()
            began = time.monotonic()
            run = Run(options, load, way, policy, daemon.environment if way == "at_once" else {})
            try:
                row = {"cell": cell, "seed": options.seed} | run.figures()
                with open(options.output / "measured.jsonl", "a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
                print(json.dumps(row), f"{time.monotonic() - began:.0f} s", flush=True)
            except (OSError, ValueError, KeyError) as error:  # the other cells count, too
                print(f"{cell}: {error!r}\n", "".join(run.said)[-3000:], flush=True)
            finally:
                run.end()
                (options.output / f"{cell}.log").write_text("".join(run.said), encoding="utf-8")
    shutil.rmtree(SCRATCH, ignore_errors=True)


def predictions(options):
    values = collections.defaultdict(list)
    with contextlib.closing(sqlite3.connect(f"file:{options.results}?mode=ro", uri=True)) as database:
        for scenario, policy, client, metric, value in database.execute(
                "SELECT r.scenario, r.policy, m.client, m.metric, m.value FROM metrics m JOIN runs r ON r.id = m.run"):
            if metric == "throughput_per_s":
                metric = "train_per_s" if client == "train" else "answered_per_s"
            if metric in FIGURES:
                values[f"{scenario}.{policy}", metric].append(value)
    cells = collections.defaultdict(dict)
    for (cell, metric), all_seeds in values.items():
        cells[cell][metric] = round(statistics.fmean(all_seeds), 3)
    for cell, figures in cells.items():
        print(json.dumps({"cell": cell} | figures))


def read_cells(path):
    rows = collections.defaultdict(list)
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        rows[row["cell"]].append(row)
    return rows


def table(options):
    predicted, measured = read_cells(options.predicted), read_cells(options.measured)
    print("Predicted / measured.\n")
    print("| cell |", " | ".join(FIGURES.values()), "|")
    print("|---|" + "---|" * len(FIGURES))
    for cell, (own,) in predicted.items():
        texts = []
        for figure in FIGURES:
            found = [row[figure] for row in measured.get(cell, []) if row.get(figure) is not None]
            told = f"{own[figure]:.4g}" if figure in own else "-"
            texts.append(f"{told} / {statistics.fmean(found):.4g}" if found else f"{told} /")
        print(f"| {cell} |", " | ".join(texts), "|")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("live")
    command.add_argument("--simcli", type=os.path.abspath, required=True)
    command.add_argument("-o", "--output", type=pathlib.Path, required=True)
    command.add_argument("--only", default="", help="cells in which this is found, a regex")
    command.add_argument("--limit", type=float, default=560, help="seconds after which no further cell begins")
    command.add_argument("--seed", type=int, default=1)
    command.set_defaults(do=live)
    command = commands.add_parser("predictions")
    command.add_argument("results", type=pathlib.Path)
    command.set_defaults(do=predictions)
    command = commands.add_parser("table")
    command.add_argument("predicted", type=pathlib.Path)
    command.add_argument("measured", type=pathlib.Path)
    command.set_defaults(do=table)
    options = parser.parse_args()
    options.do(options)


if __name__ == "__main__":
    main()
