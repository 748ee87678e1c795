#!/usr/bin/env python3
"""Errors of rates by what is shared and by what bounds a program, in Markdown.

usage: classes.py PREDICTIONS.jsonl MEASURED.jsonl      (predictions: tests/hardware/mixes.py predictions)
"""

import json
import statistics
import sys

ON_DEVICE = {"numba", "two_graphs", "jax_inference", "jax_matmul"}  # whose steps the device does most of


def rates(path, program, rate):
    return {(row["run"], row[program]): row[rate] for row in map(json.loads, open(path, encoding="utf-8"))}


def main(predictions, measured):
    predicted, real = rates(predictions, "client", "predicted_per_s"), rates(measured, "w", "it_s")
    errors = {key: 100 * abs(predicted[key] / rate - 1) for key, rate in real.items()}
    print("| rates | of all programs | of those that the device bounds |\n|---|---|---|")
    for kind, begin in [("alone, no cap", "mps_"), ("alone under caps", "solo"), ("pairs, no caps", "mps_"),
                        ("pairs with splits", "split")]:
        chosen = {key: error for key, error in errors.items()
                  if key[0].startswith(begin) and (begin != "mps_" or (key[0] == "mps_" + key[1]) == (kind[0] == "a"))}
        columns = [list(chosen.values()), [error for key, error in chosen.items() if key[1] in ON_DEVICE]]
        print(f"| {kind} | " + " | ".join(f"{statistics.mean(column):.1f} % ({max(column):.1f}), {len(column)}"
                                          for column in columns) + " |")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
