"""What a step takes of time and energy at the clocks that a program has when it runs without pause and with pauses.

    power_law.py measure [--seconds S] -o FILE [PROGRAM...]
    power_law.py table FILE

A program is a workload of ../torch_loop.py, alone on the GPU. It runs for S seconds with no pause between bursts of
steps of some 20 ms, and with pauses that leave it a part of the time; and the device holds a context and does nothing.
`measure` writes a JSON row for each: steps a second, device ms of a step, watts and clock (power.py). `table` prints
what follows: energy of a step above the idle power, and both exponents of the clock
(sim/device/model/power_governor.h), between the run without pause and the means of those at the full clock.
"""

import argparse
import json
import math
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from power import Power  # noqa: E402

PARTS = [1.0, 0.7, 0.5, 0.3]
BURST_S = 0.02
SETTLE_S = 0.5
SAME_MHZ = 15  # clocks go in such steps


def bursts(torch, step, part, until):
    """Device ms of the steps of bursts that take `part` of the time, by events."""
    times = []
    while time.monotonic() < until:
        began = time.monotonic()
        events = [torch.cuda.Event(enable_timing=True)]
        events[0].record()
        while time.monotonic() - began < BURST_S:
            step()
            events.append(torch.cuda.Event(enable_timing=True))
            events[-1].record()
            events[-1].synchronize()
        times += [one.elapsed_time(next_one) for one, next_one in zip(events, events[1:])]
        time.sleep((time.monotonic() - began) * (1 / part - 1))
    return times


def play(torch, power, program, step, part, seconds):
    bursts(torch, step, part, time.monotonic() + SETTLE_S)
    begin = time.monotonic()
    times = bursts(torch, step, part, begin + seconds)
    end = time.monotonic()
    return {"program": program, "part": part, "per_second": round(len(times) / (end - begin), 2),
            "step_ms": round(statistics.median(times), 4)} | power.between(begin, end)


def measure(options):
    import torch
    import torch_loop
    torch.manual_seed(1)
    with Power() as power, open(options.output, "a", encoding="utf-8") as file:
        def write(row):
            print(json.dumps(row), file=file, flush=True)
        for program in options.programs or ["mlp", "vit"]:
            step = torch_loop.WORKLOADS[program]()
            torch_loop.timed_steps(step, 10, 0.3)
            for part in PARTS:
                write(play(torch, power, program, step, part, options.seconds))
        time.sleep(SETTLE_S)
        begin = time.monotonic()
        time.sleep(options.seconds)
        write({"program": "none", "part": 0} | power.between(begin, time.monotonic()))


def table(options):
    rows = [json.loads(line) for line in options.file.read_text(encoding="utf-8").splitlines()]
    idle = statistics.mean(row["watts"] for row in rows if row["program"] == "none")
    print(f"Idle: {idle:.0f} W\n")
    print("| program | part of the time | clock, MHz | power, W | device ms a step | J a step |")
    print("|---|---|---|---|---|---|")
    runs = {}
    for row in rows:
        if row["program"] == "none":
            continue
        joules = (row["watts"] - idle) / row["per_second"]
        runs.setdefault(row["program"], []).append((row["sm_mhz"], row["step_ms"], joules))
        print(f"| {row['program']} | {row['part']:.1f} | {row['sm_mhz']} | {row['watts']} | {row['step_ms']:.2f} | "
              f"{joules:.3f} |")
    print()
    for program, points in runs.items():
        (clock, step_ms, joules), full = points[0], max(mhz for mhz, _, _ in points)
        at_full = [point for point in points if full - point[0] < SAME_MHZ]
        if full - clock < 3 * SAME_MHZ:
            print(f"{program}: its power does not hold it back")
            continue
        _, full_ms, full_joules = map(statistics.mean, zip(*at_full))
        ratio = math.log(full / clock)
        print(f"{program}: time exponent {math.log(step_ms / full_ms) / ratio:.2f}, "
              f"energy exponent {math.log(full_joules / joules) / ratio:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("measure")
    command.add_argument("programs", nargs="*", metavar="PROGRAM")
    command.add_argument("--seconds", type=float, default=3)
    command.add_argument("-o", "--output", required=True)
    command.set_defaults(do=measure)
    command = commands.add_parser("table")
    command.add_argument("file", type=pathlib.Path)
    command.set_defaults(do=table)
    options = parser.parse_args()
    options.do(options)


if __name__ == "__main__":
    main()
