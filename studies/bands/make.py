#!/usr/bin/env python3
"""How far figures of the present model are from measured ones, by class; writes the bands of predicted figures.

    make.py [--simcli PROGRAM] [--residuals residuals.csv]     runs the studies below, twenty minutes, and writes all
    make.py --only STUDY                                       the same, of one study; the residuals of others stay:
                                                               `servers` (studies/serving), minutes
    make.py --from residuals.csv                               writes bands.csv and coverage.md out of kept residuals

Two figures: `kept`, what a program keeps: its rate in company over its rate alone, both measured or both predicted; and
`p99`, the 99th percentile of its frame times in company, or of the times between the ends of its steps, of programs
whose host is at most about two steps ahead alone: of others the end of a call is not the end of its work. A
residual is measured over predicted. A band of a class lies between two of its residuals so that a further one of the
same kind lies inside with 90 % (split-conformal, 5 % on either side); a class has at least 20. `least` and `most` are
its outermost residuals. In the class "games" there are games (bound: "frames", their frame rates and frame times) and
programs next to them, in turns. `programs` counts those on the GPU together. `coverage.md` says how many residuals of a
study lie inside the bands that all other studies give.

With servers a mechanism is another one, "turns with servers", with classes of its own: of servers ("requests") `kept`,
answered requests per second, and the 99th percentiles `ttft` and `tpot`; of programs next to them ("programs") `kept`.
"any with servers" has those of all mechanisms. Each measured figure is told twice, with a log of the grid and with one
of servers alone.

`uses` is what the kernels of a program use more, "memory" (DRAM or the second-level cache) or "sms", in the mean over
their time, where they were counted (studies/memory-in-company) and the device works for the program three quarters of
the time or more. Where programs share SMs, "sms" is a class of its own, too; of "memory" that was tried
(studies/counters), and it held 10 of 15 blind rates.
"""

import argparse
import collections
import csv
import gzip
import itertools
import json
import math
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
from accuracy import comparisons, measured_means, measured_tails  # noqa: E402

STUDIES = ["training-encoder-game", "profiled-networks", "cuda-graphs", "transformers-and-stencil",
           "diffusion-gnn-speech", "experts-and-particles", "host-bound-programs", "mps-mixes", "mps-small-kernels",
           "calibrated-h100", "mixes-of-others", "sm-caps", "split-choices", "advice", "advice/second",
           "advice/fourth", "advice/fifth", "power", "captured-alone", "client-priority", "shared-sms",
           "game-engine", "sessions", "live", "servers"]
MECHANISM = {"timeslice": "turns", "mps": "mps", "split": "split"}
CLIENT = re.compile(r"- \{ name: (\w+), (trace: .*) \}\s*$")
DEVICE_BOUND = 0.9  # as in experiments/bands/bands.h
MOSTLY_BUSY = 0.75  # as in experiments/bands/bands.h
LEAST = 20
WITH_SERVERS = " with servers"
SERVING = ROOT / "studies/serving"
MOST_UNDER_WAY = 2.5  # as in experiments/bands/figure_band.cpp
COUNTERS = ["counters_device_bound.jsonl", "counters.jsonl"]  # of studies/memory-in-company
UNITS = ["dram", "l2", "sm"]
LEAST_FRAMES = 500  # as `simcli validate` has it
LIVE = {"live/validate.yaml": "live/present/*.sqlite.gz",
        "validation/draws_live.yaml": "validation/draws/live.sqlite.gz"}
COLUMNS = ["study", "run", "program", "figure", "mechanism", "programs", "bound", "measured_over_predicted", "uses"]


def metric(path, name):
    """{(scenario, client): mean over seeds}"""
    database = sqlite3.connect(f"{pathlib.Path(path).resolve().as_uri()}?mode=ro", uri=True)
    rows = database.execute("SELECT scenario, client, AVG(value) FROM metrics JOIN runs ON runs.id = run "
                            "WHERE metric = ? GROUP BY scenario, client", [name])
    return {(scenario, client): value for scenario, client, value in rows}


def mean_uses():
    """{program: {unit: per cent of its peak}}, of those whose kernels were counted; means over the time of kernels"""
    sums = collections.defaultdict(collections.Counter)
    for name in COUNTERS:
        for line in (ROOT / "studies/memory-in-company" / name).read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            ns = row["launches"] * row["mean_ns"]
            sums[row["program"]].update({unit: row[unit] * ns for unit in UNITS} | {"ns": ns})
    return {program: {unit: its[unit] / its["ns"] for unit in UNITS} for program, its in sums.items()}


def counted_uses():
    """{program: "memory" or "sms"}, of the same"""
    return {program: "memory" if max(use["dram"], use["l2"]) > use["sm"] else "sms"
            for program, use in mean_uses().items()}


def run(simcli, experiment, output):
    subprocess.run([simcli, "run", experiment, "-f", "-o", output, "--progress", "none"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT)


def alone(simcli, study, text, folder):
    """{client: (rate, part of the time that the device works for it, whether its host is not far ahead)}, alone"""
    clients = dict(CLIENT.search(line).groups() for line in text.splitlines() if CLIENT.search(line))
    device = re.search(r"^device: .*$", text, re.M)[0]
    lines = [f"version: 1\nname: alone\n{device}\nhorizon: 2s\nwarmup: 0.5s\npolicies: [passthrough]",
             "defaults: { phase: random, host_jitter: 3% }\nrecord: { frames: none, decisions: none }\nscenarios:"]
    for client, keys in clients.items():
        lines.append(f"  - name: {client}\n    clients:\n      - {{ name: {client}, {keys} }}")
    path = ROOT / "studies" / study / "alone.tmp.yaml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    try:
        run(simcli, path, folder / "alone.sqlite")
    finally:
        path.unlink()
    rates, busy, times = (metric(folder / "alone.sqlite", name)
                          for name in ("throughput_per_s", "gpu_busy_ratio", "job_time_p50_ms"))
    return {client: (rates[client, client], busy[client, client],
                     rates[client, client] * times[client, client] / 1e3 <= MOST_UNDER_WAY) for client in clients}


def residuals_of_sessions(simcli):
    """Of sessions of games, from uncapped captures; a figure is the worst session's."""
    folder = ROOT / "studies/sessions"
    said = subprocess.run([sys.executable, folder / "predict.py", "--simcli", simcli], check=True, capture_output=True,
                          text=True).stdout
    predicted = {row["cell"]: row for row in map(json.loads, said.splitlines()) if row["capture"] == "uncapped"}
    measured = collections.defaultdict(list)
    for line in (folder / "measured.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        for name, *of in (("fps_mean", "game", "kept", "games", "frames"),
                          ("frame_time_p99_ms", "game", "p99", "games", "frames"),
                          ("training_keeps", "resnet50", "kept", "games", "device")):
            if name in row:
                measured[row["cell"], name, *of].append(row[name])
    for (cell, name, client, figure, kind, bound), values in measured.items():
        games, training = re.search(r"_(\d+)(_training)?$", cell).groups()
        yield ["sessions", cell, client, figure, kind, str(int(games) + bool(training)), bound,
               f"{sum(values) / len(values) / predicted[cell][name]:.4f}"]


def passthrough_means(path, backend):
    """{(scenario, client, metric): mean over seeds} of the runs without a policy; no tails of few measured frames"""
    database = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    means = {tuple(key): (value, seconds) for *key, value, seconds in database.execute(
        "SELECT scenario, client, metric, AVG(value), AVG(horizon_ns - warmup_ns) / 1e9 FROM metrics "
        "JOIN runs ON runs.id = run WHERE policy = 'passthrough' AND client != 'device' AND backend = ? "
        "GROUP BY 1, 2, 3", [backend])}
    few = {key[:2] for key, (rate, seconds) in means.items()
           if backend == "live" and key[2] == "fps_mean" and rate * seconds < LEAST_FRAMES}
    return {key: value for key, (value, _) in means.items() if key[2] != "frame_time_p99_ms" or key[:2] not in few}


def simulated_live(simcli, experiment, measured, folder):
    command = [simcli, "validate", "--live", ROOT / "studies" / experiment, "--measured", measured, "-f", "-o",
               folder / "scored.sqlite", "--report", folder / "scored.md", "--no-budget", "--progress", "none"]
    said = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
    if said.returncode not in (0, 6, 7):  # a goal is missed; other scenarios are missing
        sys.exit(f"{experiment}: {said.stderr}")
    return passthrough_means(folder / "scored.sqlite", "simulation")


def residuals_of_live(simcli, folder):
    """Of games and programs as they are, without a policy; rates of programs against alone on the same GPU."""
    for experiment, packed in LIVE.items():
        for path in sorted((ROOT / "studies").glob(packed)):
            (folder / path.stem).write_bytes(gzip.decompress(path.read_bytes()))
            live = passthrough_means(folder / path.stem, "live")
            yield from residuals_of_runs(live, simulated_live(simcli, experiment, folder / path.stem, folder))


def residuals_of_runs(live, told):
    games = {client for _, client, metric in live if metric == "fps_mean"}
    together = collections.defaultdict(set)
    for scenario, client, _ in live:
        together[scenario].add(client)
    for scenario, clients in together.items():
        for client in sorted(clients) if len(clients) > 1 else []:
            is_game = client in games
            rate, tail = (("fps_mean", "frame_time_p99_ms") if is_game else ("throughput_per_s", "job_interval_p99_ms"))
            kept = live[scenario, client, rate] / told[scenario, client, rate]
            if not is_game:
                kept /= live[f"alone: {client}", client, rate] / told[f"alone: {client}", client, rate]
            busy = told[f"alone: {client}", client, "gpu_busy_ratio"]
            bound = "frames" if is_game else "device" if busy >= DEVICE_BOUND else "host"
            kind = "turns" if games.isdisjoint(clients) else "games"
            of = [kind, str(len(clients)), bound]
            yield ["live", scenario, client, "kept", *of, f"{kept:.4f}"]
            if (scenario, client, tail) in live and (scenario, client, tail) in told:
                yield ["live", scenario, client, "p99", *of,
                       f"{live[scenario, client, tail] / told[scenario, client, tail]:.4f}"]


def residuals_of_servers(simcli, folder):
    """Of servers and of programs next to them, told with either log of steps: cells that were measured on two hosts,
    and loads around the largest."""
    sys.path.insert(0, str(SERVING))
    from score import rows_of

    subprocess.run([sys.executable, SERVING / "served_steps.py", folder / "served"], check=True)
    measurements = [rows_of(f"measured/{name}.jsonl") for name in ("serving", "second")]
    for log in (SERVING / "grid", folder / "served"):
        predicted = predicted_cells(simcli, folder, log)
        for number, measured in enumerate(measurements):
            yield from residuals_of_cells(f"{log.name} host {number + 1}", predicted, measured)
        yield from residuals_of_loads(simcli, folder, log, predicted, measurements[0])


def predicted_cells(simcli, folder, log):
    """What serving.yaml tells with the steps' times of a log."""
    from predictions import figures_by_party

    text = (SERVING / "serving.yaml").read_text(encoding="utf-8").replace("step_times: grid/", "step_times: LOG/")
    text = re.sub(r"\b(grid|requests)/", rf"{SERVING}/\1/", text).replace("LOG/", f"{log}/")
    (folder / "cells.yaml").write_text(text, encoding="utf-8")
    run(simcli, folder / "cells.yaml", folder / "cells.sqlite")
    return figures_by_party(folder / "cells.sqlite")


def residuals_of_cells(inputs, predicted, measured):
    from score import SECONDS

    for (cell, name), row in measured.items():
        if row["parties"] == 1:
            continue
        its = predicted[cell, name]
        if "token_ms" in row:
            ratios = {"kept": row["ended"] / SECONDS / answered_per_s(its),
                      "ttft": row["first_token_ms"]["p99"] / its["ttft_p99_ms"],
                      "tpot": row["token_ms"]["p99"] / its["tpot_p99_ms"]}
        else:
            ratios = {"kept": kept_by_training(row["it_s"], its, name, predicted, measured)}
        yield from rows_with(f"{cell} ({inputs})", name, row["way"] + WITH_SERVERS, ratios)


def residuals_of_loads(simcli, folder, log, predicted, measured):
    import largest_load
    from predictions import figures_by_party

    tried = [row for row in largest_load.rows_of(SERVING / "measured/loads.jsonl") if row["way"] != "alone"]
    largest_load.write_experiment(folder, [(row["way"], row["program"], row["rate_per_s"]) for row in tried], log)
    run(simcli, folder / "loads.yaml", folder / "loads.sqlite")
    at_loads = figures_by_party(folder / "loads.sqlite")
    for row in tried:
        label, mechanism = largest_load.at(row["way"], row["program"], row["rate_per_s"]), row["way"] + WITH_SERVERS
        its, told = at_loads[label, label], f"{label} ({log.name})"
        yield from rows_with(told, row["program"], mechanism,
                             {"kept": row["ended"] / largest_load.SECONDS / answered_per_s(its),
                              "ttft": row["ttft_p99_ms"] / its["ttft_p99_ms"],
                              "tpot": row["tpot_p99_ms"] / its["tpot_p99_ms"]})
        for training in row.keys() & {"wide_training", "embedding_training"}:
            ratio = kept_by_training(row[training], at_loads[label, training], training, predicted, measured)
            yield from rows_with(told, training, mechanism, {"kept": ratio})


def answered_per_s(figures):
    return figures["progress_ratio"] * figures["solo_throughput_per_s"]


def kept_by_training(measured_per_s, figures, name, predicted, measured):
    cell = f"turns_{name}"
    measured_alone, predicted_alone = measured[cell, name]["it_s"], predicted[cell, name]["throughput_per_s"]
    return measured_per_s / measured_alone / (figures["throughput_per_s"] / predicted_alone)


def rows_with(label, program, mechanism, ratios):
    bound = "requests" if "ttft" in ratios else "programs"
    for figure, ratio in ratios.items():
        yield ["servers", label, program, figure, mechanism, "2", bound, f"{ratio:.4f}"]


def residuals_of(simcli, study, folder):
    if study == "sessions":
        yield from residuals_of_sessions(simcli)
        return
    if study == "live":
        yield from residuals_of_live(simcli, folder)
        return
    if study == "servers":
        yield from residuals_of_servers(simcli, folder)
        return
    experiment = ROOT / "studies" / study / "experiment.yaml"
    run(simcli, experiment, folder / "all.sqlite")
    rates, tails = (metric(folder / "all.sqlite", name) for name in ("throughput_per_s", "job_interval_p99_ms"))
    lone = alone(simcli, study, experiment.read_text(encoding="utf-8"), folder)
    counted = counted_uses()
    games = experiment.parent / "games.txt"
    measured = measured_means(experiment.parent / "measured.jsonl", games if games.exists() else None)
    real_tails = measured_tails(experiment.parent / "measured.jsonl")
    with_games = {scenario for scenario, client in rates if client == "game"}
    programs = collections.Counter(scenario for scenario, _ in rates)
    known = {key: (key, rate) for key, rate in rates.items()}
    found = [(run, name, key, value, predicted)
             for run, name, value, (key, predicted) in comparisons(known, measured)]
    measured_alone = {key[1]: value for run, _, key, value, _ in found
                      if programs[key[0]] == 1 and run.startswith(("solo_", "mps_"))}
    for run_name, name, (scenario, client), value, predicted in found:
        kind, together = re.match(r"[a-z]+", run_name)[0], str(programs[scenario])
        if scenario in with_games and client == "game":
            yield [study, run_name, client, "kept", "games", together, "frames", f"{value / predicted:.4f}"]
            continue
        kind = "games" if scenario in with_games else MECHANISM.get(kind)
        if kind is None or programs[scenario] == 1 or client not in lone:
            continue
        rate, busy, is_near = lone[client]
        bound = "device" if busy >= DEVICE_BOUND else "host"
        uses = counted.get(client, "") if busy >= MOSTLY_BUSY else ""
        ratio = (value / measured_alone.get(client, rate)) / (predicted / rate)
        yield [study, run_name, client, "kept", kind, together, bound, f"{ratio:.4f}", uses]
        if is_near and (run_name, name) in real_tails:
            tail = real_tails[run_name, name] / tails[scenario, client]
            yield [study, run_name, client, "p99", kind, together, bound, f"{tail:.4f}", uses]


def band(ratios, outside=0.1):
    """Split-conformal: of n residuals the k-th least and the k-th greatest, k = outside / 2 of n + 1."""
    ordered = sorted(ratios)
    k = math.floor((len(ordered) + 1) * outside / 2)
    return ordered[max(k, 1) - 1], ordered[-max(k, 1)]


def classes(rows):
    found = collections.defaultdict(list)
    for study, _, _, figure, mechanism, programs, bound, ratio, uses in rows:
        is_served = mechanism.endswith(WITH_SERVERS)
        mechanisms, bounds = (mechanism, "any" + WITH_SERVERS) if is_served else (mechanism,), (bound, "any")
        if uses == "sms" and mechanism in ("mps", "split"):
            bounds = (*bounds, uses)
        for key in itertools.product(mechanisms, bounds[:1] if is_served else bounds,
                                     ("2" if programs == "2" else "3+", "any")):
            found[figure, *key].append((study, float(ratio)))
    return {key: values for key, values in sorted(found.items()) if len(values) >= LEAST}


def write_bands(rows):
    with open(ROOT / "experiments/bands/bands.csv", "w", encoding="utf-8") as file:
        file.write("figure,mechanism,bound,programs,count,low,high,least,most\n")
        for (figure, mechanism, bound, programs), values in classes(rows).items():
            ratios = [ratio for _, ratio in values]
            low, high = band(ratios)
            file.write(f"{figure},{mechanism},{bound},{programs},{len(ratios)},{low:.3f},{high:.3f},"
                       f"{min(ratios):.3f},{max(ratios):.3f}\n")


def coverage(rows):
    text = ("| figure | mechanism | bound by | programs | count | studies | band "
            "| inside, by bands of other studies |\n"
            "|---|---|---|---|---|---|---|---|\n")
    for (figure, mechanism, bound, programs), values in classes(rows).items():
        inside = count = 0
        for study in {study for study, _ in values}:
            others = [ratio for other, ratio in values if other != study]
            if len(others) < LEAST:
                continue
            low, high = band(others)
            inside += sum(low <= ratio <= high for other, ratio in values if other == study)
            count += sum(other == study for other, _ in values)
        low, high = band([ratio for _, ratio in values])
        shown = f"{inside / count:.0%} of {count}" if count else "one study alone"
        text += (f"| {figure} | {mechanism} | {bound} | {programs} | {len(values)} | "
                 f"{len({study for study, _ in values})} "
                 f"| {low:.2f} to {high:.2f} | {shown} |\n")
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simcli", default=str(ROOT / "build/release/simcli"))
    parser.add_argument("--only", choices=STUDIES)
    parser.add_argument("--from", dest="kept", type=pathlib.Path)
    parser.add_argument("--residuals", type=pathlib.Path, default=HERE / "residuals.csv")
    options = parser.parse_args()
    if options.kept:
        rows = list(csv.reader(open(options.kept, encoding="utf-8")))[1:]
    else:
        kept = list(csv.reader(open(options.residuals, encoding="utf-8")))[1:] if options.only else []
        rows = [row for row in kept if row[0] != options.only]
        for study in [options.only] if options.only else STUDIES:
            with tempfile.TemporaryDirectory() as folder:
                rows += residuals_of(options.simcli, study, pathlib.Path(folder))
            print(study, len(rows), file=sys.stderr, flush=True)
        rows = [[*row, ""][:len(COLUMNS)] for row in rows]  # servers and games use nothing that was counted
        with open(options.residuals, "w", encoding="utf-8") as file:
            file.write(",".join(COLUMNS) + "\n")
            file.writelines(",".join(row) + "\n" for row in rows)
    write_bands(rows)
    (HERE / "coverage.md").write_text(coverage(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
