#!/usr/bin/env python3
"""Laws of what programs keep in pairs whose SMs are split, from figures of each program alone; prints Markdown.

    laws.py predict RATES.jsonl[,MORE.jsonl] COUNTERS.jsonl POWER.jsonl DRAW > predictions.jsonl
    laws.py score MEASURED.jsonl RATES.jsonl[,MORE.jsonl] PREDICTIONS.jsonl ...
    laws.py power POWER.jsonl

Figures of a program alone: its rates with all and with 30, 50 and 70 % of the SMs (RATES), its part of the DRAM's
throughput (COUNTERS, `dram`), and what the device draws for it with half of the SMs (POWER). Each law says what a
program keeps, as a part of its rate alone with all SMs:

    alone      its rate alone with the SMs that it has: what pairs would keep if SMs were all that they share
    constant   that, over 1 + c
    curve      that, over 1 + c + d u^2, where the other one uses u = (rate - part) / (1 - part) of the memory: what its
               rate with a part of the SMs has beyond proportion
    dram       the same with u by the other one's counters
    power      `dram`, slower by as much as the clock falls where both would draw more than the device may
    queue      its rate alone with the SMs that it has, over 1 + QUEUE[0] + QUEUE[1] u^2 + QUEUE[2] u s, where it uses
               s of the memory itself, by its counters

c and d come from kernels next to streams of memory (measured.jsonl), QUEUE from the fourth and the fifth draw of pairs
(studies/advice), the watts of an idle device and of work from
POWER: what is drawn beyond the idle device is in proportion to rates, and to the third power of the clock.
"""

import collections
import itertools
import json
import pathlib
import statistics
import sys

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/hardware"))
import mixes  # noqa: E402

PEAK_GB_PER_S = 4800  # of the H200 of measured.jsonl, by its data sheet
MOST_WATTS, MOST_MHZ = 700, 1980  # of an H100 and an H200
QUEUE = 0.06, 0.5, 1.3
LAWS = "alone", "constant", "curve", "dram", "power", "queue"
PARTS = [part / 100 for part in mixes.PERCENTAGES]


def read(path):
    return [json.loads(line) for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines()]


def means(rows, key, value):
    found = collections.defaultdict(list)
    for row in rows:
        if value in row:
            found[key(row)].append(row[value])
    return {name: statistics.mean(values) for name, values in found.items()}


def loss_next_to_streams():
    """(c, d): least squares of relative errors, of streams in the cache (u = 0) and from DRAM."""
    rows = read(pathlib.Path(__file__).parent / "measured.jsonl")
    streams = means([row for row in rows if "program" not in row], lambda row: (row["stream"], row["percentage"]),
                    "gigabytes_per_s")
    slower = means([row | {"slower": row["together_ms"] / row["alone_ms"]} for row in rows if "program" in row],
                   lambda row: (row["program"], row["stream"], row["percentage"]), "slower")
    used = [streams[stream, part] / PEAK_GB_PER_S if stream == "dram" else 0 for _, stream, part in slower]
    times = numpy.array(list(slower.values()))
    found, *_ = numpy.linalg.lstsq(numpy.column_stack([1 / times, numpy.square(used) / times]), numpy.ones(len(times)),
                                   rcond=None)
    return found[0] - 1, found[1]


class Alone:
    """What is known of programs alone."""

    def __init__(self, rates, counters, power):
        def run(row):
            return row["w"], (int(row["run"][4:6]) if row["run"][4] != "_" else 100) / 100
        every = means(rates, run, "it_s")
        self.kept = {(name, part): rate / every[name, 1.0] for (name, part), rate in every.items()}
        self.dram = {}
        for name, rows in itertools.groupby(counters, lambda row: row["program"]):
            rows = list(rows)
            weights = [row["launches"] * row["mean_ns"] for row in rows]
            self.dram[name] = sum(row["dram"] * weight for row, weight in zip(rows, weights)) / sum(weights) / 100
        watts, clocks = means(power, run, "watts"), means(power, run, "sm_mhz")
        free = [key for key in watts if clocks[key] >= MOST_MHZ - 10 and key in self.kept]
        names = sorted({name for name, _ in free})
        columns = numpy.array([[1.0] + [self.kept[key] * (key[0] == name) for name in names] for key in free])
        found, *_ = numpy.linalg.lstsq(columns, numpy.array([watts[key] for key in free]), rcond=None)
        self.idle, self.energy = found[0], dict(zip(names, found[1:]))

    def clock(self, pair):
        """What the clock falls to, relative to its most, for [(program, part of the SMs)]"""
        drawn = sum(self.energy[name] * self.kept[name, part] for name, part in pair)
        return min(1.0, ((MOST_WATTS - self.idle) / drawn) ** (1 / 3))


def kept_by(alone, program, part, other, c, d):
    its = alone.kept[program, part]
    others = alone.kept[other, round(1 - part, 2)]
    by_curve = max(0.0, (others - (1 - part)) / part)
    used, own = alone.dram[other] * others, alone.dram[program] * its
    dram = its / (1 + c + d * used ** 2)
    queue = its / (1 + QUEUE[0] + QUEUE[1] * used ** 2 + QUEUE[2] * used * own)
    return {"queue": queue, "alone": its, "constant": its / (1 + c), "curve": its / (1 + c + d * by_curve ** 2),
            "dram": dram, "power": dram * alone.clock([(program, part), (other, round(1 - part, 2))])}


def predict(rates, counters, power, draw):
    alone = Alone([row for path in rates.split(",") for row in read(path)], read(counters), read(power))
    c, d = loss_next_to_streams()
    print(f"c {c:.3f}, d {d:.3f}, {alone.idle:.0f} W idle", file=sys.stderr)
    for first, second in mixes.choices(int(draw))[1]:
        for part in PARTS:
            for program, other, its in ((first, second, part), (second, first, round(1 - part, 2))):
                laws = kept_by(alone, program, its, other, c, d)
                print(json.dumps({"run": f"split{round(100 * part)}_{first}_{second}", "program": program}
                                 | {law: round(kept, 4) for law, kept in laws.items()}))


def scored(rows, alone_of, rates):
    """{law: errors of what is kept, in per cent}, of the laws, and of simulated rates over those that were stated"""
    errors = collections.defaultdict(list)
    for row in rows:
        program = row.get("program", row.get("client"))
        real = rates.get((row["run"], program))
        if real:
            laws = {law: row[law] for law in LAWS if law in row}
            kept = laws or {"simulated": row["predicted_per_s"] / alone_of[program]}
            for law, value in kept.items():
                errors[law].append(100 * (value * rates["solo_" + program, program] / real - 1))
    return errors


def score(measured, stated, *predictions):
    rates = means(read(measured), lambda row: (row["run"], row["w"]), "it_s")
    alone_of = {}
    for path in stated.split(","):
        alone_of |= mixes.rates_alone(pathlib.Path(path))
    print("| predictions | law | figures | error, mean (worst) | mean with its sign |\n|---|---|---:|---:|---:|")
    for path in predictions:
        for law, found in scored(read(path), alone_of, rates).items():
            print(f"| {pathlib.Path(path).stem} | {law} | {len(found)} | {statistics.mean(map(abs, found)):.1f} % "
                  f"({max(map(abs, found)):.1f}) | {statistics.mean(found):+.1f} % |")


def power_table(path):
    """What programs draw alone, and whether what they draw beyond the idle device follows their rates."""
    rows = [row for row in read(path) if row["run"].startswith(("solo_", "solo50_"))]
    alone = Alone(rows, [], rows)
    figures = {key: means(rows, lambda row: (row["w"], row["run"].startswith("solo_")), key)
               for key in ("it_s", "watts", "sm_mhz")}
    print(f"{alone.idle:.0f} W idle\n\n| program | watts, MHz with all SMs | with half | watts by rate, half over all |"
          "\n|---|---:|---:|---:|")
    for name in sorted({name for name, _ in figures["watts"]}):
        (rate, watts, mhz), (half_rate, half_watts, half_mhz) = (
            [figures[key][name, has_all] for key in figures] for has_all in (True, False))
        by_rate = (half_watts - alone.idle) / half_rate / ((watts - alone.idle) / rate)
        print(f"| {name} | {watts:.0f}, {mhz:.0f} | {half_watts:.0f}, {half_mhz:.0f} | {by_rate:.2f} |")


if __name__ == "__main__":
    {"predict": predict, "score": score, "power": power_table}[sys.argv[1]](*sys.argv[2:])
