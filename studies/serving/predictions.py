#!/usr/bin/env python3
"""Writes what a results file of serving.yaml predicts, a line a party: means over seeds.

    predictions.py serving.sqlite > predicted.jsonl
"""

import collections
import json
import sqlite3
import sys

SERVING = ["ttft_p50_ms", "ttft_p99_ms", "tpot_p50_ms", "tpot_p99_ms", "tokens_per_s"]


def main():
    figures = collections.defaultdict(dict)
    rows = sqlite3.connect(sys.argv[1]).execute(
        "SELECT scenario, client, metric, avg(value) FROM runs JOIN metrics ON run = id GROUP BY 1, 2, 3")
    for scenario, client, metric, value in rows:
        figures[scenario, client][metric] = value
    for (scenario, client), its in sorted(figures.items()):
        if client == "device":
            continue
        kept = SERVING if "ttft_p99_ms" in its else ["throughput_per_s"]
        print(json.dumps({"run": scenario, "w": client} | {name: round(its[name], 3) for name in kept}))


if __name__ == "__main__":
    main()
