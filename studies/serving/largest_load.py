#!/usr/bin/env python3
"""The largest load at which a server keeps its service level, predicted and measured with the same requests.

    largest_load.py experiment FOLDER           FOLDER/loads.yaml: each cell at loads around the largest, and its inputs
    largest_load.py predict RESULTS             what its results say, a line a cell: loads_predicted.jsonl
    largest_load.py measure -o FOLDER           the same on a GPU: loads.jsonl, a line a load that was tried
    largest_load.py score                       both, as a table: loads.md

A load is a rate of requests. Those of a cell are the ones of the server's file of middle load, at other distances. A
load is kept if the 99th percentiles of TTFT and TPOT of the requests that ended within the seconds are within LEVEL.
The largest is where the first of them crosses its limit, on a line between the loads around it.
"""

import csv
import itertools
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from cells import HERE, TRAININGS, Cell, Party
from command_line import commands
from make_experiment import HEAD, client
from make_requests import CAPACITY_PER_S, SHARE
from predictions import figures_by_party
from score import figures_of, table

SECONDS = 20
LEVEL = {"ttft_p99_ms": 500, "tpot_p99_ms": 50}
STEP = 1.08  # between the loads that are simulated; within it the largest is known
WAYS = {"alone": "turns", "turns": "turns", "mps": "mps", "split": "split"}
SHARES = {"alone": (0.75, 1.15), "turns": (0.2, 0.75), "mps": (0.2, 0.9), "split": (0.2, 0.9)}  # of the capacity
TRIES = 6


def load_cells():
    for program, training in TRAININGS.items():
        server, file = Party(program, 100), Party(training, 100)
        yield "alone", program, Cell("turns", (server,))
        yield "turns", program, Cell("turns", (server, file))
        if program == "8b":
            yield "mps", program, Cell("mps", (server, file))
        else:
            yield "split", program, Cell("split", (Party(program, 70), Party(training, 30)))


def loads(way, program):
    least, most = (share * CAPACITY_PER_S[program] for share in SHARES[way])
    return [least * STEP**step for step in range(1 + math.ceil(math.log(most / least, STEP)))]


def write_requests(path, program, rate):
    """The requests of the middle load, faster or slower."""
    factor = CAPACITY_PER_S[program] * SHARE["middle"] / rate
    with open(HERE / "requests" / f"{program}_middle.csv", encoding="utf-8", newline="") as file:
        requests = list(csv.DictReader(file))
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, requests[0].keys(), lineterminator="\n")
        writer.writeheader()
        for request in requests:
            writer.writerow(request | {"arrival_s": round(float(request["arrival_s"]) * factor, 6)})


def at(way, program, rate):
    return f"{way}_{program}_{1000 * rate:.0f}"


def with_requests(cell, name):
    server, *others = cell.parties
    return Cell(cell.way, (Party(server.program, server.percentage, name), *others))


def experiment(options):
    subprocess.run([sys.executable, HERE / "served_steps.py", options.folder / "served"], check=True)
    write_experiment(options.folder, [(*names, rate) for *names, _ in load_cells() for rate in loads(*names)], "served")


def write_experiment(folder, tried, log):
    """FOLDER/loads.yaml: a scenario each (way, program, rate), with the steps' times of `log`/SERVER.steps.csv."""
    (folder / "requests").mkdir(parents=True, exist_ok=True)
    cells = {(way, program): cell for way, program, cell in load_cells()}
    lines = [HEAD.replace("name: serving", "name: loads").replace("horizon: 14s", f"horizon: {SECONDS}s")
             .replace("seeds: 3", "seeds: 1").replace("output: ../../results/serving.sqlite\n", "")]
    for way, program, rate in tried:
        cell, name = cells[way, program], at(way, program, rate)
        write_requests(folder / "requests" / f"{name}.csv", program, rate)
        lines.append(f"  - name: {name}")
        if cell.way != "turns":
            lines.append("    device: { model: h200, sharing: concurrent }")
        lines.append("    clients:")
        for party in with_requests(cell, name).parties:
            text = "\n".join(f"      {line}" for line in client(party, cell.way != "turns"))
            text = text.replace("step_times: grid/", "step_times: LOG/")
            text = text.replace("grid/", os.path.relpath(HERE / "grid", folder) + "/")
            lines.append(text.replace("LOG/", f"{log}/"))
        if cell.way == "split":
            shares = ", ".join(f"{party.requests or party.program}: {party.percentage}"
                               for party in with_requests(cell, name).parties)
            lines.append(f"    policies: [mps_percentage: {{ percentages: {{ {shares} }} }}]")
    (folder / "loads.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def crossing(points):
    """Of (rate, {figure: value}) in order: where the first figure crosses its limit, on a line in logarithms between
    the loads around it; None where none does, 0 where the least does not hold."""
    before = None
    for rate, figures in sorted(points, key=lambda point: point[0]):
        broken = [name for name, limit in LEVEL.items() if figures[name] > limit]
        if broken and before is None:
            return 0.0
        if broken:
            return min(between(before, (rate, figures), name) for name in broken)
        before = rate, figures
    return None


def between(low, high, name):
    below, above = low[1][name], high[1][name]
    part = math.log(LEVEL[name] / below) / math.log(above / below)
    return low[0] * (high[0] / low[0])**part


def predict(options):
    figures = figures_by_party(options.results)
    for way, program, cell in load_cells():
        names = {rate: at(way, program, rate) for rate in loads(way, program)}
        points = [(rate, figures[name, name]) for rate, name in names.items()]
        largest = crossing(points)
        others = [party.program for party in cell.parties[1:]]
        near = min(points, key=lambda point: abs(point[0] - (largest or 0)))[0]
        rates = {other: round(figures[names[near], other]["throughput_per_s"], 2) for other in others}
        print(json.dumps({"way": way, "program": program, "largest_per_s": largest and round(largest, 3)} | rates))


def rows_of(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def served(path):
    with open(path, encoding="utf-8", newline="") as file:
        figures = figures_of(csv.DictReader(file), SECONDS)
    return {name: round(figures[name], 3) for name in [*LEVEL, "tokens_per_s", "ended"]}


def parted(points):
    """The rates that hold, and those that do not."""
    held = [rate for rate, its in points if all(its[name] <= limit for name, limit in LEVEL.items())]
    return held, [rate for rate, _ in points if rate not in held]


def next_load(points, start):
    """Up or down by a tenth until one load holds and the next does not, then between the two."""
    held, broken = parted(points)
    if not points:
        return start
    if not broken:
        return max(held) * 1.1
    below = [rate for rate in held if rate < min(broken)]
    if not below:
        return min(broken) / 1.1
    return math.sqrt(max(below) * min(broken))


def measure(options):
    from measure import Company, Daemon, Power, now  # of a GPU's machine alone

    until, start = now() + options.limit, {(row["way"], row["program"]): row["largest_per_s"] for row in
                                          rows_of(HERE / "loads_predicted.jsonl")}
    options.output.mkdir(parents=True, exist_ok=True)
    wanted = [(way, program, cell) for way, program, cell in load_cells()
              if re.search(options.only, f"{way}_{program}")]
    with tempfile.TemporaryDirectory() as name, Daemon(pathlib.Path(name)) as daemon, Power() as power:
        folder = pathlib.Path(name)
        for place, (way, program, cell) in enumerate(wanted):
            share = now() + (until - now()) / (len(wanted) - place)
            if cell.way != "turns":
                daemon.start()
            environment = {} if cell.way == "turns" else daemon.environment
            company = Company(cell.parties, environment, folder / f"{way}_{program}")
            try:
                for row in tried(company, cell, (way, program), start[way, program], folder, share, power):
                    with open(options.output / "loads.jsonl", "a", encoding="utf-8") as file:
                        file.write(json.dumps(row) + "\n")
                    print(row, flush=True)
            except (RuntimeError, OSError, ValueError) as error:  # the other cells count, too
                print(f"{way}_{program}: {error!r}", flush=True)
            finally:
                company.end()


def tried(company, cell, names, start, folder, until, power):
    """A row for each load that is tried, until the largest is known to STEP or the time is over."""
    from step_ends import now, row as row_of

    points = []
    for _ in range(TRIES):
        held, broken = parted(points)
        if now() + SECONDS + 4 > until or (held and broken and min(broken) < STEP * max(held)):
            return
        rate = next_load(points, start)
        name = at(*names, rate)
        write_requests(folder / f"{name}.csv", names[1], rate)
        ends, within = company.run(with_requests(cell, name), folder, folder, SECONDS)
        its = served(folder / f"{cell_file(cell, name)}.requests.csv")
        points.append((rate, its))
        others = {program: row_of(name, program, one)["it_s"] for program, one in ends.items() if len(one) > 2}
        facts = {"way": names[0], "program": names[1], "rate_per_s": round(rate, 4)}
        yield facts | its | others | power.between(*within)


def cell_file(cell, name):
    return f"{with_requests(cell, name).name}.{name}"


def score(options):
    predicted = {(row["way"], row["program"]): row for row in rows_of(HERE / "loads_predicted.jsonl")}
    rows = sorted(rows_of(HERE / "measured" / "loads.jsonl"), key=lambda row: (row["way"], row["program"]))
    shown, errors = [["cell", "predicted, a second", "measured", "off", "loads tried"]], []
    for key, group in itertools.groupby(rows, key=lambda row: (row["way"], row["program"])):
        points = [(row["rate_per_s"], row) for row in group]
        largest, told = crossing(points), predicted[key]["largest_per_s"]
        tries = ", ".join(f"{rate:.3g}" for rate, _ in sorted(points, key=lambda point: point[0]))
        if not largest:
            shown.append([" ".join(key), f"{told:.3g}", "beyond the loads tried", "", tries])
            continue
        errors.append(abs(told / largest - 1))
        shown.append([" ".join(key), f"{told:.3g}", f"{largest:.3g}", f"{100 * (told / largest - 1):+.1f} %", tries])
    print(f"The largest load with a TTFT's p99 of {LEVEL['ttft_p99_ms']} ms and a TPOT's of {LEVEL['tpot_p99_ms']} "
          "ms.\n")
    table(shown)
    if errors:
        print(f"{100 * sum(errors) / len(errors):.1f} % off on average, {100 * max(errors):.1f} at worst; "
              f"{sum(error <= 0.1 for error in errors)} of {len(errors)} within 10 %.")


def main():
    parser, measuring, _ = commands(__doc__, experiment, predict, measure, score)
    measuring.add_argument("--limit", type=float, default=540, help="seconds")
    measuring.add_argument("--only", default="", help="cells in which this is found, a regex: alone_1b")
    options = parser.parse_args()
    options.do(options)


if __name__ == "__main__":
    main()
