#!/usr/bin/env python3
"""Writes live.yaml: what measure.py runs at gates, a scenario for each load and way of sharing.

    programs_at_gates.py > live.yaml
"""

import itertools

LOADS = ["low", "middle"]  # files of studies/serving/requests
POLICIES = {"turns": ["passthrough",
                      "{ xsched_fixed_priority: { buffer: false } }",
                      "{ xsched_lax: { laxity: { chat: 20 }, buffer: false } }",
                      "{ serving_slack: { patience: 3ms } }"],
            "at_once": ["passthrough", "{ serving_slack: { patience: 3ms } }"]}
FROM, SECONDS = 5, 20  # of serving, figures are those of what ends in between
HEAD = """\
# The server of servers/language and a training as they are: simulated, and run at gates (programs_at_gates.py).
version: 1
name: slo_aware_live
device: h200
gate: {{ frame_heard: 30us, end_heard: 100us, answer: 8us, wake: 60us }}  # of the real one (docs/live.md)
horizon: {horizon}s
warmup: {start}s
seeds: 3
record: {{ frames: none, decisions: none }}
output: {root}/results/slo_aware_live.sqlite
scenarios:"""
SCENARIO = """  - name: {load}_{way}
    device: {device}
    clients:
      - name: chat
        priority: 1
        trace: {root}/studies/serving/grid/8b.corun
        command: [python3, servers/language/engine.py, serve, --model, 8b, --batching, prefill_first, --max-batch, "16",
          --requests, studies/serving/requests/8b_{load}.csv, --seconds, "{seconds}", --out, results/slo-live/served,
          --go, results/slo-live/go]
        working_folder: {root}
        server:
          requests: {{ file: {root}/studies/serving/requests/8b_{load}.csv }}
          batching: prefill_first
          max_batch: 16
          kv_tokens: 32768
          pads: true
          step_times: {root}/studies/serving/grid/8b.steps.csv
          slo: {{ ttft: 500ms, tpot: 50ms }}
      - name: train
        trace: {root}/studies/serving/grid/embedding_training.corun
        command: [python3, tests/hardware/programs/device_bound_programs.py, embedding_training, --seconds, "3600"]
        environment: {{ STEP_FILE: results/slo-live/steps.json }}
        working_folder: {root}
        solo_rate: 205.99/s
        host_jitter: 3%
    policies:
{policies}"""
DEVICES = {"turns": "h200", "at_once": "{ model: h200, sharing: concurrent }"}


def experiment(cells, root, horizon):
    """Of (load, way, policies); `root` is that of the repository, from the file's folder."""
    yield HEAD.format(root=root, horizon=horizon, start=FROM)
    for load, way, policies in cells:
        yield SCENARIO.format(load=load, way=way, device=DEVICES[way], root=root, seconds=SECONDS,
                              policies="\n".join(f"      - {policy}" for policy in policies))


def name_of(policy):
    return policy.strip("{ ").partition(":")[0]


def main():
    cells = ((load, way, POLICIES[way]) for load, way in itertools.product(LOADS, POLICIES))
    print("\n".join(experiment(cells, "../../..", SECONDS)))


if __name__ == "__main__":
    main()
