#!/usr/bin/env python3
"""Measures servers of a language model on one GPU: the steps that a server can take, then serving, alone and together.

    measure.py grid --simtrace FILE -o FOLDER [--repeat N] [--percentages P ...] [--delay S] [--only REGEX]
    measure.py capacity FOLDER                                      the largest rate of each server, from its grid
    measure.py serve -o FOLDER [--seconds S] [--limit S] [--only REGEX] [--requests FOLDER]

`grid` writes SERVER.steps.csv, times without a recorder, and SERVER.corun, the capture; with --percentages also
SERVER.smsP.corun, under an MPS daemon. `serve` runs the cells of cells.py: serving.jsonl has a row a party, and
serving.tar.gz the two CSV files of each serving. What is written lies flat in FOLDER.
"""

import argparse
import csv
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tarfile
import tempfile

from cells import HERE, SERVER, SERVERS, cells
from make_requests import MEAN_OUTPUT, MEAN_PROMPT
from processes import Company, Daemon, now, recorded
from power import Power
from step_ends import row


def grid(options):
    with tempfile.TemporaryDirectory() as folder, Daemon(pathlib.Path(folder)) as daemon:
        for name, arguments in SERVERS.items():
            command = [sys.executable, SERVER, "grid", *arguments, "--repeat", str(options.repeat)]
            if re.search(options.only, name):
                subprocess.run([*command, "--out", options.output / name], check=False)
                record(options, command, name, {})
            for percentage in options.percentages:
                if re.search(options.only, f"{name}.sms{percentage}"):
                    daemon.start()
                    variables = daemon.environment | {"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE": str(percentage)}
                    record(options, command, f"{name}.sms{percentage}", variables)


def record(options, command, label, variables):
    code = recorded(options.simtrace, [*command, "--wait"], options.output / f"{label}.corun", options.delay, variables)
    if code:
        print(f"{label}: the recorder ended with {code}", flush=True)


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def capacity(options):
    """Requests of mean length a second, if all sequences always run: each takes the chunks of its prompt and its part
    of the decodes."""
    for name, arguments in SERVERS.items():
        times = {}
        for step in rows_of(options.folder / f"{name}.steps.csv"):
            key = step["kind"], int(step["size"]), int(step["context"])
            times.setdefault(key, []).append(float(step["end_s"]) - float(step["begin_s"]))
        batch = int(arguments[arguments.index("--max-batch") + 1])
        context = min(k for kind, _, k in times if kind == "decode" and k >= MEAN_PROMPT + MEAN_OUTPUT)
        chunk = max(n for kind, n, _ in times if kind == "prefill")
        decode = statistics.median(times["decode", batch, context])
        prefill = statistics.median(times["prefill", chunk, 0]) * math.ceil(MEAN_PROMPT / chunk)
        print(f"{name}: {1 / (prefill + MEAN_OUTPUT * decode / batch):.1f} requests a second (decode of {batch} "
              f"{1e3 * decode:.2f} ms, prefill of {chunk} {1e3 * prefill:.2f} ms)")


def spread(times_ms):
    """Mean, median and 99th percentile."""
    ordered = sorted(times_ms)
    if not ordered:
        return {}
    return {"mean": round(statistics.mean(ordered), 3), "p50": round(statistics.median(ordered), 3),
            "p99": round(ordered[math.ceil(0.99 * len(ordered)) - 1], 3)}


def served(path, seconds):
    """Figures of a serving, of its requests' CSV."""
    arrived = [request for request in rows_of(path) if float(request["arrival_s"]) <= seconds]
    begun = [request for request in arrived if request["first_token_s"]]
    ended = [request for request in begun if request["end_s"]]
    longer = [request for request in ended if int(request["output"]) > 1]
    return {"arrived": len(arrived), "begun": len(begun), "ended": len(ended),
            "output_tokens_per_s": round(sum(int(request["output"]) for request in ended) / seconds, 1),
            "first_token_ms": spread(1e3 * (float(r["first_token_s"]) - float(r["arrival_s"])) for r in begun),
            "token_ms": spread(1e3 * (float(r["end_s"]) - float(r["first_token_s"])) / (int(r["output"]) - 1)
                               for r in longer)}


def measured(cell, company, options, out, power):
    """A row for each party."""
    ends, within = company.run(cell, options.requests, out, options.seconds)
    for party in cell.parties:
        facts = {"way": cell.way, "percentage": party.percentage, "parties": len(cell.parties)}
        if party.is_server:
            yield {"run": cell.name, "w": party.requests} | facts | served(
                out / f"{cell.name}.{party.requests}.requests.csv", options.seconds) | power.between(*within)
        elif len(ends[party.program]) > 2:
            yield row(cell.name, party.program, ends[party.program]) | facts | power.between(*within)


def run_way(way, wanted, environment, options, folder, power):
    until, began = options.until, now()
    company = Company(dict.fromkeys(party for cell in wanted for party in cell.parties), environment, folder / way)
    print(f"{way}: ready after {now() - began:.0f} s", flush=True)
    try:
        for cell in wanted:
            if now() + options.seconds + 3 > until or not company.ready.issuperset(p.label for p in cell.parties):
                print(f"{cell.name}: no time left, or a party is missing", flush=True)
                continue
            try:
                rows = list(measured(cell, company, options, folder, power))
            except (RuntimeError, OSError, ValueError) as error:  # the other cells count, too
                print(f"{cell.name}: {error!r}", flush=True)
                continue
            with open(options.output / "serving.jsonl", "a", encoding="utf-8") as file:
                file.writelines(json.dumps(one) + "\n" for one in rows)
            print(f"{cell.name}: {now() - began:.0f} s", flush=True)
    finally:
        company.end()


def serve(options):
    options.until = now() + options.limit
    wanted = [cell for cell in cells() if re.search(options.only, cell.name)]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        try:
            with Daemon(folder) as daemon, Power() as power:
                for way in dict.fromkeys(cell.way for cell in wanted):
                    if way != "turns":
                        daemon.start()
                    run_way(way, [cell for cell in wanted if cell.way == way],
                            {} if way == "turns" else daemon.environment, options, folder, power)
        finally:
            with tarfile.open(options.output / "serving.tar.gz", "w:gz") as archive:
                for file in sorted(folder.glob("*.csv")):
                    archive.add(file, file.name)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("grid")
    command.add_argument("--simtrace", type=os.path.abspath, required=True)
    command.add_argument("--repeat", type=int, default=4)
    command.add_argument("--percentages", type=int, nargs="*", default=[])
    command.add_argument("--delay", type=int, default=30, help="seconds in which a server starts")
    command.set_defaults(do=grid)
    command = commands.add_parser("capacity")
    command.add_argument("folder", type=pathlib.Path)
    command.set_defaults(do=capacity)
    command = commands.add_parser("serve")
    command.add_argument("--seconds", type=float, default=14)
    command.add_argument("--limit", type=float, default=500)
    command.add_argument("--requests", type=pathlib.Path, default=HERE / "requests")
    command.set_defaults(do=serve)
    for name in ("grid", "serve"):
        commands.choices[name].add_argument("--only", default="", help="names in which this is found, a regex")
        commands.choices[name].add_argument("-o", "--output", type=pathlib.Path, required=True)
    options = parser.parse_args()
    if "output" in options:
        options.output.mkdir(parents=True, exist_ok=True)
    options.do(options)


if __name__ == "__main__":
    main()
