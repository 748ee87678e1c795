#!/usr/bin/env python3
"""A server that reads prompts on some of the SMs while it decodes on the others: told, measured, compared.

    divided_server.py experiment FOLDER                   FOLDER/split.yaml, and the log of steps that it reads
    divided_server.py predict RESULTS > predicted.jsonl   what its results file says, a line a cell
    divided_server.py measure -o FOLDER                   measured.tar.gz, the CSV files of each serving; needs a GPU
    divided_server.py score > scored.md

The server is 1b at its three loads, with each of SHARES for prompts, and as it is otherwise.
"""

import collections
import csv
import io
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
from cells import LOADS, Party  # noqa: E402
from command_line import commands  # noqa: E402
from make_experiment import HEAD, KV_TOKENS  # noqa: E402
from predictions import SERVING, figures_by_party  # noqa: E402
from score import figures_of, table  # noqa: E402

# Per cent that are asked for, and what the driver gives of 132 SMs: multiples of eight.
SHARES = {0: 0, 25: 100 * 32 / 132, 50: 100 * 64 / 132, 75: 100 * 96 / 132}
SECONDS = 12


def name_of(share, load):
    return f"{share or 'none'}_{load}"


def experiment(options):
    folder, serving = options.folder, os.path.relpath(HERE.parent, options.folder)
    subprocess.run([sys.executable, HERE.parent / "served_steps.py", folder / "served"], check=True)
    head = HEAD[HEAD.index("version"):].replace("name: serving", "name: split")
    head = re.sub("output: .*\n", "", head).replace("horizon: 14s", f"horizon: {SECONDS}s")
    head = head.replace("seeds: 3", "seeds: 1")
    lines = ["# A server that reads prompts on SMs of their own: divided_server.py, as scenarios.",
             head.replace("device: h200", "device: { model: h200, sharing: concurrent }")]
    for share, given in SHARES.items():
        for load in LOADS:
            lines += [f"  - name: {name_of(share, load)}", "    clients:", f"      - name: 1b_{load}",
                      f"        trace: {serving}/grid/1b.corun",
                      f"        fewer_sms: [{serving}/grid/1b.sms70.corun, {serving}/grid/1b.sms30.corun]",
                      "        server:", f"          requests: {{ file: {serving}/requests/1b_{load}.csv }}",
                      f"          prefill_share: {given:.2f}%" if share else "          batching: chunked",
                      "          max_batch: 32", f"          kv_tokens: {KV_TOKENS['1b']}", "          pads: true",
                      "          step_times: served/1b.steps.csv"]
    (folder / "split.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def predict(options):
    for (run, who), its in sorted(figures_by_party(options.results).items()):
        if "ttft_p99_ms" in its:
            print(json.dumps({"run": run, "w": who} | {name: round(its[name], 3) for name in SERVING}))


def measure(options):
    from processes import READY_S, Server  # of a GPU's machine alone

    options.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        servers = {}
        try:
            for share in SHARES:
                servers[share] = Server(Party("1b", 100, copy=1 + share), {}, folder,
                                        ["--prefill-share", str(share)] if share else [])
            for share, server in servers.items():
                if not server.heard("ready", READY_S):
                    print(share, "did not start:", server.log.read_text(encoding="utf-8")[-1500:], flush=True)
                    continue
                for load in LOADS:
                    out = str(folder / f"{name_of(share, load)}.1b_{load}")
                    server.order(requests=str(HERE.parent / "requests" / f"1b_{load}.csv"), seconds=SECONDS, out=out)
                    print(name_of(share, load), server.heard(f"served {out}", SECONDS + 20), flush=True)
                print(server.log.read_text(encoding="utf-8")[-300:], flush=True)
        finally:
            for server in servers.values():
                server.end()
        with tarfile.open(options.output / "measured.tar.gz", "w:gz") as archive:
            for file in sorted(folder.glob("*.csv")):
                archive.add(file, file.name)


def score(_):
    with open(HERE / "predicted.jsonl", encoding="utf-8") as file:
        told = {row["run"]: row for row in map(json.loads, file)}
    errors, shown = collections.defaultdict(list), [["share, load", *SERVING]]
    with tarfile.open(HERE / "measured.tar.gz") as archive:
        for share in SHARES:
            for load in LOADS:
                cell, texts = name_of(share, load), []
                text = archive.extractfile(f"{cell}.1b_{load}.requests.csv").read().decode()
                got = figures_of(csv.DictReader(io.StringIO(text)), SECONDS)
                for figure in SERVING:
                    error = told[cell][figure] / got[figure] - 1
                    errors["divided" if share else "not divided", figure].append(100 * abs(error))
                    texts.append(f"{told[cell][figure]:.4g} / {got[figure]:.4g} ({100 * error:+.0f} %)")
                shown.append([cell, *texts])
    print("Predicted / measured, with the error of the prediction.\n")
    table(shown)
    print("Errors in per cent: mean (worst).\n")
    table([["", *SERVING]] + [[kind, *(f"{statistics.mean(errors[kind, figure]):.1f} ({max(errors[kind, figure]):.1f})"
                                       for figure in SERVING)] for kind in dict.fromkeys(kind for kind, _ in errors)])


def main():
    parser, _, _ = commands(__doc__, experiment, predict, measure, score)
    options = parser.parse_args()
    options.do(options)


if __name__ == "__main__":
    main()
