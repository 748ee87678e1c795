"""How long the device takes for a step of a program that no host holds up, without a tracer and under one.

    device_time.py measure --build FOLDER [--gpu N] [--seconds S] -o FILE PROGRAM...
    device_time.py table FILE
    device_time.py power FILE

A program is a workload of torch_loop.py, alone on the GPU. Its steps are measured twice: one after the other, each
waited for, as rates are; and behind a kernel that spins until everything has been launched, between two events: what
the device takes with no host to wait for. The difference is what the device stands idle for its host at each step. Then
the same with simtrace's library in the process: what recording adds to either. `measure` writes a JSON row for each
program with and without tracer; PyTorch is imported once, each program is a fork that has not touched the GPU before.
`power` reads what nvidia-smi said of the device ten times a second while runs of pairs.py went on, and prints clock and
power of each while it drew most.
"""

import argparse
import csv
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time

SPIN_CYCLES = 60_000_000  # some 30 ms


def behind_a_spin(torch, step, steps):
    """Device ms of `steps` steps that were launched while the device was busy;
    None where it was not busy for long enough."""
    before, after, spun = (torch.cuda.Event(enable_timing=True) for _ in range(3))
    spun.record()
    torch.cuda._sleep(SPIN_CYCLES)
    before.record()
    began = time.perf_counter()
    for _ in range(steps):
        step()
    after.record()
    launched_ms = 1e3 * (time.perf_counter() - began)
    torch.cuda.synchronize()
    return before.elapsed_time(after) if launched_ms < 0.9 * spun.elapsed_time(before) else None


def median_behind_a_spin(torch, step, steps, seconds):
    times, end = [], time.perf_counter() + seconds
    while len(times) < 5 or time.perf_counter() < end:
        times.append(behind_a_spin(torch, step, steps))
    kept = [one for one in times if one is not None]
    return round(statistics.median(kept), 4) if len(kept) > len(times) / 2 else None


def play(program, seconds):
    import torch
    import torch_loop
    torch.manual_seed(1)
    step = torch_loop.WORKLOADS[program]()
    torch_loop.timed_steps(step, 10, 0.3)
    times = torch_loop.timed_steps(step, 5, seconds)
    row = {"step_ms": round(1e3 * statistics.median(times), 4),
           "nothing_ms": median_behind_a_spin(torch, lambda: None, 1, 0),
           "device_ms": median_behind_a_spin(torch, step, 1, seconds)}
    if program.startswith("graph_"):
        row["two_device_ms"] = median_behind_a_spin(torch, step, 2, seconds / 2)
    return row


def measure_one(program, environment, options):
    """A row, by a process of its own."""
    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.environ.update(environment)
            os.write(sending, json.dumps(play(program, options.seconds)).encode())
            os._exit(0)
        except BaseException as error:  # noqa: the parent goes on with the next
            print(f"device_time.py: {program}: {error!r}", file=sys.stderr, flush=True)
            os._exit(1)
    os.close(sending)
    with os.fdopen(receiving) as answer:
        row = answer.read()
    return json.loads(row) if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0 else None


def measure(options):
    import torch  # noqa: forks have it
    failures = 0
    for program in options.programs:
        with tempfile.TemporaryDirectory() as parts:
            visible = {"CUDA_VISIBLE_DEVICES": str(options.gpu)}
            traced = visible | {"CUDA_INJECTION64_PATH": f"{options.build}/libcorun_cuda.so",
                                "CORUN_TRACE_CUDA": "calls", "CORUN_TRACE_DIR": parts}
            for is_traced, environment in ((False, visible), (True, traced)):
                row = measure_one(program, environment, options)
                failures += row is None
                if row:
                    row = {"program": program, "traced": is_traced, **row}
                    print(json.dumps(row), flush=True)
                    with open(options.output, "a", encoding="utf-8") as file:
                        file.write(json.dumps(row) + "\n")
    return 1 if failures else 0


def table(options):
    rows = [json.loads(line) for line in pathlib.Path(options.file).read_text(encoding="utf-8").splitlines()]
    traced = {row["program"]: row for row in rows if row["traced"]}
    device_us = lambda row: 1e3 * (row["device_ms"] - row["nothing_ms"])  # noqa: E731
    print("| program | a step, us | the device's, us | idle, us "
          "| under the tracer: a step, us | the device's, us | longer by |")
    print("|---|---|---|---|---|---|---|")
    for row in rows:
        if not row["traced"] and (other := traced.get(row["program"])) and row["device_ms"] and other["device_ms"]:
            bare, slow = device_us(row), device_us(other)
            print(f"| {row['program']} | {1e3 * row['step_ms']:.1f} | {bare:.1f} | {1e3 * row['step_ms'] - bare:.1f} "
                  f"| {1e3 * other['step_ms']:.1f} | {slow:.1f} | {100 * (slow / bare - 1):.1f} % |")
    return 0


def power(options):
    runs = {}
    with open(options.file, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            sample = float(row["power_w"]), int(row["sm_mhz"]), int(row["is_held_back_by_power"])
            runs.setdefault(row["run"], []).append(sample)
    print("| run | power, W | clock, MHz | held back by its power |")
    print("|---|---|---|---|")
    for run, samples in runs.items():
        most = max(watts for watts, _, _ in samples)
        busy = [sample for sample in samples if sample[0] > 0.9 * most]
        watts, mhz, held = (statistics.median(column) for column in zip(*busy))
        print(f"| {run} | {watts:.0f} | {mhz:.0f} | {'yes' if held else 'no'} |")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("--build", default="build/release")
    measuring.add_argument("--gpu", type=int, default=0)
    measuring.add_argument("--seconds", type=float, default=0.5)
    measuring.add_argument("-o", "--output", required=True)
    measuring.add_argument("programs", nargs="+", metavar="PROGRAM")
    measuring.set_defaults(run=measure)
    for command in (table, power):
        showing = commands.add_parser(command.__name__)
        showing.add_argument("file")
        showing.set_defaults(run=command)
    options = parser.parse_args()
    return options.run(options)


if __name__ == "__main__":
    sys.exit(main())
