#!/usr/bin/env python3
"""What `simcli` predicts for the cells of measure.py, from the captures of one session alone.

    predict.py [--simcli FILE] > predicted.jsonl
    predict.py --device h100 > h100/predicted.jsonl        from the captures of h100; cells without a training

For each cell and for captures with and without a limiter: mean over seeds of the worst session's frame rate, 1 % low
and 99th percentile, and what the training keeps.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import measure

HERE = pathlib.Path(__file__).resolve().parent
RATE_ALONE = json.loads((HERE / "rates.json").read_text())["per_second"]
FOLDERS = {"h200": HERE, "h100": HERE / "h100"}


def cells_of(device):
    return [cell for cell in measure.CELLS if device == "h200" or not cell[3]]


def experiment(device, capture):
    lines = ["version: 1", f"name: sessions{capture}", f"device: {device}", "horizon: 10s", "warmup: 1s", "seeds: 4",
             "defaults: { phase: random, first_job: random }", "policies: [passthrough]",
             "record: { frames: none, decisions: none }", "scenarios:"]
    for cell in cells_of(device):
        game, fps, sessions, has_training = cell
        lines += [f"  - name: {measure.name_of(cell)}", "    clients:",
                  f"      - {{ name: game, trace: '{FOLDERS[device]}/captures/{game}{capture}.corun', "
                  f"count: {sessions}, pacing: {{ rate: {fps}/s, vsync: false }}, queued_ahead: 1 }}"]
        if has_training:
            lines.append(f"      - {{ name: resnet50, trace: '{HERE}/captures/resnet50.corun', "
                         f"solo_rate: {RATE_ALONE:.4f}/s }}")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simcli", default="build/release/simcli")
    parser.add_argument("--device", choices=FOLDERS, default="h200")
    options = parser.parse_args()
    for capture in ("", ".uncapped"):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "sessions.yaml"
            file.write_text(experiment(options.device, capture))
            output = f"{folder}/results.sqlite"
            subprocess.run([options.simcli, "run", file, "-o", output, "--progress", "none"], check=True,
                           stdout=subprocess.DEVNULL, stderr=sys.stderr)
            query = ("SELECT r.scenario, m.client, m.metric, avg(m.value) AS value FROM metrics m "
                     "JOIN runs r ON r.id = m.run GROUP BY 1, 2, 3")
            rows = json.loads(subprocess.run([options.simcli, "sql", output, "-c", query, "--json"], check=True,
                                             capture_output=True, text=True).stdout)["rows"]
        for cell in cells_of(options.device):
            name, line = measure.name_of(cell), {}
            for scenario, client, metric, value in rows:
                if scenario == name and metric in measure.WORST and client != "resnet50":
                    line[metric] = measure.WORST[metric](line.get(metric, value), value)
                if scenario == name and metric == "throughput_per_s" and client == "resnet50":
                    line["training_keeps"] = value / RATE_ALONE
            print(json.dumps({"cell": name, "capture": capture.lstrip(".") or "paced", **line}))


if __name__ == "__main__":
    main()
