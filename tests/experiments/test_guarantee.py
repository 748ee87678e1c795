"""`simcli policy guarantee` compared with simulations: its snapshot period harvests more than others."""

import json
import sqlite3
import subprocess

from test_transcripts import simcli

RESTORE_S, PERIOD_S = 0.512, 1 / 60
STRAGGLERS = """
version: 1
name: stragglers
device: { model: rtx4090, time_slice: 1ms, switch_cost: 0us }
horizon: 12s
warmup: 2s
seeds: 4
record: { frames: none, decisions: none }
clients:
  - { name: game, synthetic: { game: rdr2 }, pacing: 60fps }
  - name: train
    synthetic: { training: { profile: resnet50, straggler_probability: 0.0005, straggler_factor: 100 } }
    snapshot: 300MB
policies:
"""
POLICY = ("  - pilotfish: { budget: absolute, predictor: position_in_iteration, notify_poll: 50us, launch_retry: 50us, "
          "guarantee: hard, kill_latency: 50us, snapshot_every: %d }\n    as: every-%d\n")


def simulated(folder, periods):
    """{snapshot period: (harvest, kills)}, means over the seeds."""
    (folder / "e.yaml").write_text(STRAGGLERS + "".join(POLICY % (every, every) for every in periods))
    subprocess.run([simcli(), "run", "e.yaml", "-o", "r.sqlite", "-f", "--progress", "none"], cwd=folder, check=True,
                   capture_output=True, timeout=300)
    query = ("SELECT avg(harvest), avg(kills) FROM (SELECT run, max(CASE WHEN metric = 'harvest_ratio' THEN value END) "
             "harvest, total(CASE WHEN metric = 'kills' THEN value END) kills FROM metrics GROUP BY run) "
             "JOIN runs ON id = run WHERE policy = ?")
    with sqlite3.connect(folder / "r.sqlite") as results:
        return {every: results.execute(query, [f"every-{every}"]).fetchone() for every in periods}


def chosen_for(kills):
    frames = 10 / PERIOD_S - kills * RESTORE_S / PERIOD_S
    costs = ["--window", "10.1ms", "--snapshot", "12ms", "--restore", "512ms", "--overruns", f"0us={kills / frames}"]
    command = [simcli(), "policy", "guarantee", *costs, "--json"]
    done = subprocess.run(command, check=True, capture_output=True, timeout=60)
    return json.loads(done.stdout)["margins"][0]["snapshot_every"]


def test_the_chosen_snapshot_period_harvests_more_than_others(tmp_path):
    _, kills = simulated(tmp_path, [240])[240]
    chosen = chosen_for(kills)
    harvest = {every: figures[0] for every, figures in simulated(tmp_path, [2, chosen, 64, 240]).items()}
    assert harvest[chosen] > 1.15 * max(harvest[2], harvest[64])
    assert harvest[chosen] > 5 * harvest[240]
