#!/usr/bin/env python3
"""Predicts every cell of cells.csv with several replicas from inputs.csv alone, at all ends of what is open.

    stand_ins.py SIMCLI FOLDER > predicted.csv

The folder gets a capture for each end, an experiment for each setup and their results. Of cells.csv only the columns
that say what was run are read: setup, GPU, replicas and way.
"""

import collections
import csv
import itertools
import pathlib
import sqlite3
import subprocess
import sys

import captures

HERE = pathlib.Path(__file__).resolve().parent
SHAPES = {"higgs": ["graph", "pieces"], "steps": ["serial", "ahead", "pieces"]}
LAYERS = {"h200-embedding": 28, "h200-qwen3-tts": 28, "h100-qwen3-tts": 28, "h100-qwen3-asr": 28}


def read_inputs():
    inputs = collections.defaultdict(dict)
    with open(HERE / "inputs.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            inputs[row["setup"]][row["quantity"]] = (float(row["low"]), float(row["high"]))
    return inputs


def read_cells():
    """{setup: (gpu, [(cell, replicas, way)])}, without what was measured."""
    cells = {}
    with open(HERE / "cells.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if int(row["replicas"]) > 1:
                way = "mps" if row["mps"] == "on" else "turns"
                cells.setdefault(row["setup"], (row["gpu"], []))[1].append((row["cell"], int(row["replicas"]), way))
    return cells


def grids_of(busy, active, threads):
    """Grids and blocks between which the kernels of an engine may lie: (blocks, threads of a block)."""
    found = set()
    for part in active:
        sms = max(1, round(captures.SMS * min(1.0, part / busy)))
        if sms == captures.SMS:
            found |= {(sms, 256)} | (set() if threads else {(8 * sms, 256)})
        else:
            found |= {(sms, 256)} | (set() if threads else {(sms, 1024)})
    return sorted(found)


def facts_of(setup, inputs):
    """What is told of the loop of a Higgs engine; `small_operations` as many as are told."""
    facts = inputs["*"] | inputs["higgs"] | (inputs["coalesced"] if setup.startswith("h800") else {})
    return {name: high for name, (_, high) in facts.items()} | {"is_coalesced": setup.startswith("h800")}


def ends_of(setup, own, inputs):
    """Every end of what is open: (name, {quantity: value}, capture)."""
    is_higgs, facts = "higgs" in setup, facts_of(setup, inputs)
    layers = next((layers for name, layers in LAYERS.items() if setup.startswith(name)), 36)
    periods = {87.0 * 48.2 / own["rate"][0]} if is_higgs else set(own["period_ms"])
    for period, busy, shape in itertools.product(sorted(periods), sorted(set(own["busy"])),
                                                 SHAPES["higgs" if is_higgs else "steps"]):
        for blocks, threads in grids_of(busy, own["sm_active"], "threads" in own):
            capture = captures.Capture(blocks, threads)
            for _ in range(5):
                begin = capture.host
                if is_higgs:
                    captures.higgs(capture, 1e3 * period, busy, shape, facts)
                else:
                    captures.steps(capture, 1e3 * period, busy, shape, layers * int(facts["layer_kernels"]))
                capture.mark(begin)
            for speed in sorted(set(own.get("host_speed", (1.0, 1.0)))):
                end = {"launches": shape, "busy": f"{busy:g}", "grid": f"{blocks}x{threads}",
                       "period_ms": f"{period:.4g}", "host_speed": f"{speed:g}"}
                yield "_".join(end.values()), end, capture


def scenario(name, way, replicas, trace, speed):
    sharing = "concurrent" if way == "mps" else "time_sliced"
    return (f"  - name: {name}\n    device: {{ sharing: {sharing} }}\n    clients:\n"
            f"      - {{ name: replica, trace: {trace}, count: {replicas}, host_speed: {speed} }}\n")


def runs_of(cells, ends):
    """(name, end, way, replicas) of each run. In turns no two replicas run at once: of several grids one is run."""
    for number, (name, end, _) in enumerate(ends):
        same = [other for other, (_, known, _) in enumerate(ends) if end | {"grid": ""} == known | {"grid": ""}]
        for way, replicas in sorted({(way, replicas) for _, replicas, way in cells}):
            if way == "mps" or number == same[0]:
                yield name, end, way, replicas
        yield name, end | {"host_speed": "1"}, "alone", 1


def experiment(setup, gpu, cells, ends):
    longest = max(float(end["period_ms"]) for _, end, _ in ends)
    seconds, seeds = (4, 2) if "higgs" in setup else (f"{0.2 + 0.05 * longest:.1f}", 1)  # 50 steps after the warm-up
    text = (f"name: {setup}\ndevice: {'h200' if gpu.startswith('H200') else 'h100'}\n"
            f"horizon: {seconds}s\nwarmup: {0.4 if seeds == 2 else 0.2}s\nseeds: {seeds}\n"
            "defaults: { host_jitter: 10%, host_gaps: recorded, step: { range: iteration }, accept: [other_gpu] }\n"
            "policies: [passthrough]\nrecord: { frames: none, decisions: none }\nscenarios:\n")
    return text + "".join(scenario(f"{way}-{replicas}-{name}", way, replicas, f"{name}.json", end["host_speed"])
                          for name, end, way, replicas in runs_of(cells, ends))


def rates(results):
    rows = sqlite3.connect(results).execute(
        "SELECT scenario, sum(value) / count(DISTINCT seed) FROM runs JOIN metrics ON run = id "
        "WHERE metric = 'throughput_per_s' AND client <> 'device' GROUP BY 1")
    return dict(rows.fetchall())


def simulate(simcli, place, text):
    """Unless the folder holds the results of this very experiment."""
    file, results = place / "replicas.yaml", place / "replicas.sqlite"
    if not (results.exists() and file.exists() and file.read_text(encoding="utf-8") == text):
        file.write_text(text, encoding="utf-8")
        with open(place / "log.txt", "w", encoding="utf-8") as log:
            subprocess.run([simcli, "run", file.name, "--force", "-o", results.name], cwd=place, check=True, stdout=log,
                           stderr=log)
    return rates(results)


def predict(simcli, place, setup, gpu, cells, inputs):
    """Rows of predicted.csv: cell, end, work of a replica's step, rate of all replicas over that of one."""
    place.mkdir(parents=True, exist_ok=True)
    ends = list(ends_of(setup, inputs[setup], inputs))
    for name, _, capture in ends:
        capture.write(place / f"{name}.json")
    found = simulate(simcli, place, experiment(setup, gpu, cells, ends))
    for name, end, _ in ends:
        kept, allowed = found["alone-1-" + name] * float(end["period_ms"]) / 1e3, 0.04 if "higgs" in setup else 0.06
        assert abs(kept - 1) < allowed, f"{setup}: {name} alone runs at {kept:.3f} of the published rate"
    for (cell, replicas, way), (name, end, _) in itertools.product(cells, ends):
        rate = found.get(f"{way}-{replicas}-{name}")
        for work in sorted(set(inputs[setup].get("work", (1.0, 1.0)))) if rate else []:
            yield [cell, *end.values(), f"{work:g}", f"{work * rate / found['alone-1-' + name]:.3f}"]


def main():
    inputs, out = read_inputs(), csv.writer(sys.stdout, lineterminator="\n")
    simcli, folder = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])
    out.writerow(["cell", "launches", "busy", "grid", "period_ms", "host_speed", "work", "ratio"])
    for setup, (gpu, cells) in read_cells().items():
        out.writerows(predict(simcli, folder / setup, setup, gpu, cells, inputs))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
