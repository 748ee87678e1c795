"""Predictions of watts, clocks and rates of pairs, next to what was measured.

    score.py predict RESULTS.sqlite > PREDICTED.jsonl
    score.py score PREDICTED.jsonl WITHOUT.jsonl MEASURED.jsonl
    score.py exponent [FILE...]

`predict` writes a row a run: means over the seeds of watts, clock and rates. `score` prints the errors in per cent;
WITHOUT.jsonl are predictions by a device without a power limit. `exponent` finds the energy exponent of the clock with
which what mixes drew under MPS, at clocks that power held back, follows best from the rates that were measured of them.
"""

import json
import pathlib
import sqlite3
import statistics
import sys

IDLE_W = 118
FULL_MHZ, HELD_MHZ = 1980, 1950  # below it, power held a mix back


def lines(path):
    return [json.loads(line) for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines()]


def predict(path):
    database = sqlite3.connect(f"{pathlib.Path(path).resolve().as_uri()}?mode=ro", uri=True)
    found = {}
    for scenario, client, metric, value in database.execute(
            "SELECT scenario, client, metric, value FROM metrics JOIN runs ON runs.id = run "
            "WHERE metric IN ('throughput_per_s', 'power_w', 'sm_clock_mhz')"):
        found.setdefault(scenario, {}).setdefault((client, metric), []).append(value)
    for scenario, figures in found.items():
        mean = {key: round(statistics.mean(values), 3) for key, values in figures.items()}
        rates = {client: value for (client, metric), value in mean.items() if metric == "throughput_per_s"}
        print(json.dumps({"run": scenario, "watts": mean.get(("device", "power_w")),
                          "sm_mhz": mean.get(("device", "sm_clock_mhz")), "rates": rates}))


def measured_runs(path):
    """{run: (rates, watts, MHz)}, means over the repetitions"""
    rows = {}
    for row in lines(path):
        rows.setdefault(row["run"], {}).setdefault(row["w"], []).append((row["it_s"], row["watts"], row["sm_mhz"]))
    runs = {}
    for run, programs in rows.items():
        means = {program: [statistics.mean(column) for column in zip(*values)] for program, values in programs.items()}
        _, watts, mhz = next(iter(means.values()))
        runs[run] = ({program: mean[0] for program, mean in means.items()}, watts, mhz)
    return runs


def summary(errors):
    return f"{statistics.mean(map(abs, errors)):.1f} ({max(map(abs, errors)):.1f})" if errors else "-"


def kept(rates, alone):
    """Sum of what programs keep of their rates alone."""
    return sum(rate / alone[program] for program, rate in rates.items())


def score(predicted, without, measured):
    truth = measured_runs(measured)
    told, plain = ({row["run"]: row for row in lines(path)} for path in (predicted, without))
    print("| run | watts: predicted, measured | MHz: predicted, measured | rates: off by, % | without power, % |")
    print("|---|---|---|---|---|")
    alone = {next(iter(rates)): next(iter(rates.values())) for run, (rates, *_) in truth.items() if "solo" in run}
    kinds = {}
    for run, (rates, watts, mhz) in truth.items():
        row, errors = told[run], kinds.setdefault(run.split("_")[0], ([], [], [], [], [], []))
        errors[0].append(100 * (row["watts"] / watts - 1))
        errors[1].append(100 * (row["sm_mhz"] / mhz - 1))
        off = [[100 * (one["rates"][client] / rate - 1) for client, rate in rates.items()] for one in (row, plain[run])]
        errors[2].extend(off[0])
        errors[3].extend(off[1])
        for errors_of_sum, one in zip(errors[4:], (row, plain[run])):
            errors_of_sum.append(100 * (kept({p: one["rates"][p] for p in rates}, alone) / kept(rates, alone) - 1))
        texts = [", ".join(f"{value:+.1f}" for value in values) for values in off]
        print(f"| {run} | {row['watts']:.0f}, {watts:.0f} | {row['sm_mhz']:.0f}, {mhz:.0f} | {texts[0]} | {texts[1]} |")
    print("\n| runs | watts, mean (worst) % | clock | rates | without power | sum of what both keep | without power |")
    print("|---|---|---|---|---|---|---|")
    for kind, errors in kinds.items():
        print(f"| {kind} | {' | '.join(map(summary, errors))} |")


def exponent(paths):
    runs = {}
    for path in paths:
        runs |= {(path, run): values for run, values in measured_runs(path).items()}
    alone = {next(iter(rates)): (next(iter(rates.values())), watts, mhz)
             for (_, run), (rates, watts, mhz) in runs.items() if run.startswith("solo_")}
    held = [(rates, watts, mhz) for (_, run), (rates, watts, mhz) in runs.items()
            if run.startswith("mps_") and mhz < HELD_MHZ and alone.keys() >= rates.keys()]

    def off(power):
        return [abs(1 - (IDLE_W + sum(rate / alone[program][0] * (alone[program][1] - IDLE_W)
                                      * (mhz / alone[program][2]) ** power
                                      for program, rate in rates.items())) / watts) for rates, watts, mhz in held]
    best = min((statistics.mean(off(tenths / 10)), tenths / 10) for tenths in range(31))
    print(f"{len(held)} mixes at {min(mhz for _, _, mhz in held):.0f} to {max(mhz for _, _, mhz in held):.0f} MHz: "
          f"{best[1]:.1f}, off by {100 * best[0]:.1f} %")


if __name__ == "__main__":
    {"predict": predict, "score": score, "exponent": lambda *paths: exponent(paths)}[sys.argv[1]](*sys.argv[2:])
