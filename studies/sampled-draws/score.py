#!/usr/bin/env python3
"""What the games of measure.py had next to a training, and their turns, with what `simcli` predicts.

    score.py --collect FOLDER... > measured.jsonl      FOLDERs that measure.py wrote, one a host
    simcli run studies/sampled-draws/experiment.yaml -f
    score.py results/sampled-draws.sqlite > scored.md
"""

import gzip
import json
import pathlib
import sqlite3
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SIMCLI = HERE.parents[1] / "build/release/simcli"
BY_TIME = ["scene", "large", "middle"]
GAMES = ["scene", "large", "middle", "small", "openarena"]
HOSTS = ["first", "second"]
SWITCHES_MS = 0.36  # of two contexts: a turn of the game as the spinning kernel sees it holds them
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)


def steps_per_s(ends_ns, begin_ns, end_ns):
    inside = [end for end in ends_ns if begin_ns <= end < end_ns]
    return (len(inside) - 1) / (inside[-1] - inside[0]) * 1e9


def collect(folders):
    for host, folder in zip(HOSTS, map(pathlib.Path, folders)):
        steps = json.loads((folder / "steps.json").read_text())
        for name, repetition, begin_ns, end_ns in steps["windows"]:
            line = {"host": host, "game": name, "repetition": repetition,
                    "training_per_s": round(steps_per_s(steps["ends_ns"], begin_ns, end_ns), 3)}
            if name != "alone":
                capture = folder / "company" / str(repetition) / f"{name}.corun"
                said = subprocess.run([SIMCLI, "info", capture, "--json"], check=True, capture_output=True, text=True)
                recorded = json.loads(said.stdout)["game"]["recorded"]
                line |= {"fps": round(recorded["fps"], 3), "p99_ms": round(1e3 * recorded["frame_time_p99_s"], 3)}
            print(json.dumps(line))


def predicted(results, scenario, client, metric):
    query = ("SELECT avg(value) FROM metrics m JOIN runs r ON r.id = m.run "
             "WHERE scenario = ? AND client = ? AND metric = ?")
    return results.execute(query, (scenario, client, metric)).fetchone()[0]


def company(results, measured):
    print("| game | figure | measured, two hosts | predicted | error |\n|---|---|---:|---:|---:|")
    errors = {}
    for game in GAMES:
        for figure, client, metric in (("frames per second", "game", "fps_mean"),
                                       ("p99 of frames, ms", "game", "frame_time_p99_ms"),
                                       ("training, 1/s", "resnet50", "throughput_per_s")):
            key = {"fps_mean": "fps", "frame_time_p99_ms": "p99_ms", "throughput_per_s": "training_per_s"}[metric]
            means = [statistics.mean(row[key] for row in measured if (row["host"], row["game"]) == (host, game))
                     for host in HOSTS]
            value = predicted(results, game, client, metric)
            error = 100 * (value / statistics.mean(means) - 1)
            errors.setdefault((figure, game == "openarena"), []).append(abs(error))
            print(f"| {game} | {figure} | {means[0]:.1f}, {means[1]:.1f} | {value:.1f} | {error:+.1f} % |")
    for game in BY_TIME:  # as the mean of both hosts
        means = [statistics.mean(row[key] for row in measured if row["game"] == game)
                 for key in ("fps", "training_per_s")]
        values = [predicted(results, f"{game} by time", client, metric)
                  for client, metric in (("game", "fps_mean"), ("resnet50", "throughput_per_s"))]
        for figure, value, mean in zip(("frames per second", "training, 1/s"), values, means):
            error = 100 * (value / mean - 1)
            print(f"| {game}, without passes | {figure} | {mean:.1f} | {value:.1f} | {error:+.1f} % |")
    print()
    for (figure, is_engine), its in errors.items():
        if not is_engine:
            print(f"* `scene`, {figure}: {statistics.mean(its):.1f} % ({max(its):.1f}), mean (worst)")


def measured_turns(host, game):
    with gzip.open(HERE / "turns" / f"{host}.{game}.json.gz", "rt") as file:
        return [length / 1e6 - SWITCHES_MS for length in json.load(file)["length_ns"]]


def predicted_turns(results, game):
    """Pieces of the game that follow one another without a break."""
    query = ("SELECT o.run, begin_ns, end_ns FROM operations o JOIN runs r ON r.id = o.run "
             "WHERE scenario = ? AND client = 'game' ORDER BY o.run, begin_ns")
    turns, last = [], (None, 0)
    for run, begin_ns, end_ns in results.execute(query, (f"{game} and spin",)):
        if (run, begin_ns) != last:
            turns.append(0)
        turns[-1] += end_ns - begin_ns
        last = (run, end_ns)
    return [turn / 1e6 for turn in turns]


def row(game, what, turns):
    ordered = sorted(turns)
    values = [ordered[int(q * (len(ordered) - 1))] for q in QUANTILES] + [statistics.mean(ordered)]
    print(f"| {game} | {what} | " + " | ".join(f"{value:.2f}" for value in values) + " |")


def turns(results):
    print("\n| game | turns, ms | " + " | ".join(f"{100 * q:.0f} %" for q in QUANTILES) + " | mean |")
    print("|---|---|" + "---:|" * (len(QUANTILES) + 1))
    for game in GAMES:
        for host in HOSTS:
            row(game, f"{host} host", measured_turns(host, game))
        row(game, "predicted", predicted_turns(results, game))


def main():
    if sys.argv[1:2] == ["--collect"]:
        return collect(sys.argv[2:])
    results = sqlite3.connect(sys.argv[1])
    measured = [json.loads(line) for line in (HERE / "measured.jsonl").read_text().splitlines()]
    company(results, measured)
    turns(results)


if __name__ == "__main__":
    main()
