#!/usr/bin/env python3
"""Writes experiment.yaml: a server and a training on one GPU at three loads, under every policy at several settings.

    make_experiment.py > experiment.yaml
"""

CAPACITY_PER_S = 12.2  # of the server's engine, studies/serving/measure.py capacity
LOADS = {"low": 0.3, "middle": 0.6, "high": 0.75}
# Policy -> its own knobs between server and training, (parameter, values) each. None: as it is.
OURS = [("tpot_share", [0.6]), ("late_share", [0.01, 0.05, 0.15])]
IN_TURNS = {
    "passthrough": None,
    "serving_slack": OURS,
    "gpreempt": [("low_slice", ["200us", "1ms"])],
    "xsched_fixed_priority": None,
    "xsched_lax": [("laxity", [{"chat": ms} for ms in (5, 10, 40)])],
    "xsched_fair": [("weights", [{"chat": 1, "train": weight} for weight in (0.1, 1)])],
    "xsched_utilization": [("utilizations", [{"chat": round(1 - part, 2), "train": part} for part in (0.1, 0.65)])],
    "tgs": [("band", [0.1])],
    "nvshare": [("quantum", ["10ms"])],
}
AT_ONCE = {
    "passthrough": None,
    "serving_slack": OURS,
    "stream_priority": None,
    "orion": [("duration_threshold", ["500us"])],
    "mps_percentage": [("percentages", [{"chat": chat, "train": train} for chat, train in (
        (90, 10), (80, 20), (40, 60), (30, 70), (100, 20), (100, 70))])],
}
# Settings for a training that wants about half of the device, and two that hardly differ from their neighbours.
ONLY_LOW = {"serving_slack_tpot_06", "gpreempt_200us", "xsched_lax_40", "xsched_fair_1_1", "xsched_utilization_035_065",
            "mps_percentage_40_60", "mps_percentage_30_70", "mps_percentage_100_70"}
FIXED = {"tgs": "report_period: 500ms, "}  # of 5 s, it would learn during all of the run
HEAD = """# A server of a language model and a training on one GPU: goodput and training throughput under every policy.
version: 1
name: slo_aware
description: >
  Three loads of a server that promises 500 ms to the first token and 50 ms per token, next to a training. Each policy
  at several values of its own knob, in turns and, where its mechanism needs that, with kernels of both at once.
device: h200
horizon: 22s
warmup: 4s
seeds: 5
record: { frames: none, decisions: none }
output: ../../results/slo_aware.sqlite
scenarios:"""
CLIENTS = """    clients:
      - name: chat
        priority: 1
        trace: ../serving/grid/8b.corun
        server:
          requests:
            rate: {rate}/s
            prompt: {{ mean: 400, cv: 0.8, most: 1400 }}
            output: {{ mean: 120, cv: 0.8, most: 600 }}
          batching: prefill_first
          max_batch: 16
          kv_tokens: 32768
          pads: true
          step_times: ../serving/grid/8b.steps.csv
          slo: {{ ttft: 500ms, tpot: 50ms }}{fewer_sms}
      - {{ name: train, trace: ../serving/grid/embedding_training.corun, solo_rate: 205.99/s }}"""
FEWER_SMS = "\n        fewer_sms: [../serving/grid/8b.sms70.corun, ../serving/grid/8b.sms30.corun]"


def written(value):
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key}: {one}" for key, one in value.items()) + " }"
    return str(value)


def label(policy, parameter, value):
    parts = value.values() if isinstance(value, dict) else [value]
    named = [parameter.partition("_")[0]] if policy == "serving_slack" else []
    return "_".join([policy, *named, *(str(part).replace(".", "") for part in parts)])


def settings(policies, load):
    for policy, knobs in policies.items():
        if knobs is None:
            yield f"      - {policy}"
        for parameter, values in knobs or []:
            fixed = FIXED.get(policy, "")
            for value in values:
                name = label(policy, parameter, value)
                if load != "low" and name in ONLY_LOW:
                    continue
                yield f"      - {{ {policy}: {{ {fixed}{parameter}: {written(value)} }}, as: {name} }}"


def main():
    print(HEAD)
    for load, share in LOADS.items():
        for way, policies in (("turns", IN_TURNS), ("at_once", AT_ONCE)):
            print(f"  - name: {load}_{way}")
            if way == "at_once":
                print("    device: { model: h200, sharing: concurrent }")
            print(CLIENTS.format(rate=round(CAPACITY_PER_S * share, 2), fewer_sms=FEWER_SMS * (way == "at_once")))
            print("    policies:")
            print("\n".join(settings(policies, load)))


if __name__ == "__main__":
    main()
