#!/usr/bin/env python3
"""Kernels with fewer SMs: the times of those that captures with all, half and a quarter of the SMs share, in Markdown.

usage: kernels.py [FOLDER]      (needs the Python package; captures/ by default)

`again` is the part of a program's device time in kernels that the capture has again. `measured` and `by waves` are how
many times as long those take, as measured and by the law of waves with `OVERHEAD_US`; `if memory binds` is the other
end of the range that a run without captures is warned of.
"""

import collections
import pathlib
import statistics
import sys

import corun

OVERHEAD_US, FILL_EXPONENT, STREAMING_NEEDS = 2.2, 0.186, 0.28  # of h100.yaml; of policy_warnings.cpp
SMS, THREADS, REGISTERS, SHARED, BLOCKS = 132, 2048, 65536, 233472, 32


def kernels(path):
    """{(name, blocks, threads, registers, shared memory): times in us} and the number of SMs"""
    capture = corun.Timeline(str(path))
    table, found = capture.operations, collections.defaultdict(list)
    columns = ["kind", "name", "blocks", "threads_per_block", "registers_per_thread", "shared_memory_bytes",
               "duration_ns"]
    for kind, *key, duration in zip(*(table[column] for column in columns)):
        if kind == "kernel":
            found[key[0], *(value or 0 for value in key[1:])].append(duration / 1e3)
    return found, capture.provenance["devices"][0]["sm_count"]


def length(blocks, sms, per_sm):
    full, rest = divmod(blocks, per_sm * sms)
    fill = max(rest / (per_sm * sms), 1 / per_sm) if rest else 0
    return full + fill ** (1 - FILL_EXPONENT) if rest else full


def by_waves(key, us, sms):
    _, blocks, threads, registers, shared = key
    taken = [(THREADS, threads), (REGISTERS, threads * registers), (SHARED, shared)]
    per_sm = max(1, min(BLOCKS, *(there // each for there, each in taken if each)))
    constant = min(us, OVERHEAD_US)
    longer = max(1.0, length(blocks, sms, per_sm) / length(blocks, SMS, per_sm))
    return (constant + (us - constant) * longer) / us


def constants(all_sms, fewer):
    """Of short kernels that the SMs bind: the part of their time that does not depend on the SMs."""
    for key in all_sms:
        if key[1] < 8 * SMS or any(key not in found or len(found[key]) < 5 for found, _ in fewer):
            continue
        xs, ys = [1.0], [statistics.median(all_sms[key])]
        for found, sms in fewer:
            xs.append(SMS / sms)
            ys.append(statistics.median(found[key]))
        slope, constant = statistics.linear_regression(xs, ys)
        is_line = max(abs(constant + slope * x - y) / y for x, y in zip(xs, ys)) < 0.03
        if ys[0] < 12 and ys[0] / ys[1] < 0.8 and is_line:
            yield constant


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "captures")
    print("| program | SMs | again | measured | by waves | if memory binds |\n|---|---|---|---|---|---|")
    overheads = []
    for path in sorted(folder.glob("*.sms100.corun")):
        program = path.name.split(".")[0]
        all_sms, _ = kernels(path)
        total = sum(map(sum, all_sms.values()))
        fewer = [kernels(file) for file in sorted(folder.glob(f"{program}.sms[25]*.corun"), reverse=True)]
        for found, sms in fewer:
            again = {key: sum(times) for key, times in all_sms.items() if len(found.get(key, [])) >= 5}
            part = sum(again.values())
            mean = {key: statistics.mean(all_sms[key]) for key in again}
            slow = {key: by_waves(key, mean[key], sms) for key in again}
            columns = [{key: statistics.mean(found[key]) / mean[key] for key in again}, slow,
                       {key: min(slow[key], max(1, STREAMING_NEEDS * SMS / sms)) for key in again}]
            longer = [sum(again[key] * column[key] for key in again) / part for column in columns]
            shown = " | ".join(f"{value:.2f}" for value in longer)
            print(f"| {program} | {sms} | {part / total:.0%} | {shown} |")
        if len(fewer) == 2:
            overheads += constants(all_sms, fewer)
    deciles = statistics.quantiles(overheads, n=10)
    print(f"\nConstant part of {len(overheads)} kernels shorter than 12 us: median "
          f"{statistics.median(overheads):.1f} us, 10th to 90th percentile {deciles[0]:.1f} to {deciles[-1]:.1f} us.")


if __name__ == "__main__":
    main()
