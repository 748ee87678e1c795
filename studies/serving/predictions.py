#!/usr/bin/env python3
"""Writes what a results file of serving.yaml predicts, a line a party: means over seeds.

    predictions.py serving.sqlite > predicted.jsonl
"""

import collections
import json
import sqlite3
import sys

SERVING = ["ttft_p50_ms", "ttft_p99_ms", "tpot_p50_ms", "tpot_p99_ms", "tokens_per_s"]


def figures_by_party(results):
    """(scenario, client) -> metric -> mean over seeds."""
    figures = collections.defaultdict(dict)
    rows = sqlite3.connect(results).execute(
        "SELECT scenario, client, metric, avg(value) FROM runs JOIN metrics ON run = id GROUP BY 1, 2, 3")
    for scenario, client, metric, value in rows:
        figures[scenario, client][metric] = value
    return figures


def main():
    for (scenario, client), its in sorted(figures_by_party(sys.argv[1]).items()):
        if client == "device":
            continue
        kept = SERVING if "ttft_p99_ms" in its else ["throughput_per_s"]
        print(json.dumps({"run": scenario, "w": client} | {name: round(its[name], 3) for name in kept}))


if __name__ == "__main__":
    main()
