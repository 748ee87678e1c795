#!/usr/bin/env python3
"""Writes serving.yaml: the cells of cells.py as scenarios, to be predicted before they are measured.

    make_experiment.py > serving.yaml
"""

from cells import SERVERS, cells

KV_TOKENS = {"1b": 32 * 2048, "8b": 16 * 2048}  # engine.py's own where none is stated: slots times their length
SOLO_RATES = {"wide_training": 488.07, "embedding_training": 205.99}  # record.py's bare runs, same host as the grid
HEAD = """# Servers of a language model alone, beside a training and beside a second one: cells.py, as scenarios.
version: 1
name: serving
description: Predicted from captures of each step's sizes and a log of their untraced times, before it was measured.
device: h200
horizon: 14s
warmup: 0s
seeds: 3
record: { frames: none, decisions: none }
output: ../../results/serving.sqlite
policies: [passthrough]
scenarios:"""


def client(party, is_mps):
    lines = [f"- name: {party.requests or party.program}"]
    if party.is_server:
        lines += [f"  trace: grid/{party.program}.corun", "  server:",
                  f"    requests: {{ file: requests/{party.requests}.csv }}",
                  *(f"    {key}" for key in (
                      f"batching: {'chunked' if party.program == '1b' else 'prefill_first'}",
                      f"max_batch: {SERVERS[party.program][-1]}", f"kv_tokens: {KV_TOKENS[party.program]}",
                      "pads: true", f"step_times: grid/{party.program}.steps.csv"))]
        if is_mps:
            lines += [f"  fewer_sms: [grid/{party.program}.sms70.corun, grid/{party.program}.sms30.corun]"]
    else:
        lines += [f"  trace: grid/{party.program}.corun", f"  solo_rate: {SOLO_RATES[party.program]}/s"]
    return lines


def main():
    print(HEAD)
    for cell in cells():
        is_mps = cell.way != "turns"
        print(f"  - name: {cell.name}")
        if is_mps:
            print("    device: { model: h200, sharing: concurrent }")
        print("    clients:")
        for party in cell.parties:
            print("\n".join(f"      {line}" for line in client(party, is_mps)))
        shares = {party.requests or party.program: party.percentage for party in cell.parties}
        if cell.way == "split":
            percentages = ", ".join(f"{name}: {share}" for name, share in shares.items())
            print(f"    policies: [mps_percentage: {{ percentages: {{ {percentages} }} }}]")


if __name__ == "__main__":
    main()
