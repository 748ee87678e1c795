"""When room for blocks comes free while real kernels run under MPS:
room.py measure --build FOLDER --probe PROGRAM -o FOLDER WORKLOAD...
room.py table FOLDER...

`measure` plays each workload of torch_loop.py under simtrace, with one-block kernels of PROGRAM (small_kernels.cu)
called every 0.1 ms, under an MPS daemon of its own: FOLDER/WORKLOAD.corun and FOLDER/WORKLOAD.bin. `table` (numpy,
corun) says of each kernel how long before its end a block began that had waited for room, in the middle, and how many
times of one of the kernel's blocks that is: its duration over its waves, or all of it where it has less than one. Long
blocks are kept apart: the microsecond that a waiting block takes to begin, and to which the clocks are known, counts
little for them.

The clocks of the two recordings differ by a constant: that under which waits and long kernels fall together most.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

# Of an SM of compute capability 9.0.
THREADS, BLOCKS, REGISTERS, SHARED_MEMORY, SMS = 2048, 32, 65536, 233472, 132
WAITED_NS, LONG_NS = 8_000, 15_000
LONG_BLOCK_US = 3
FEW = 8  # begins while a kernel runs: fewer are no row


def measure(options):
    folder = pathlib.Path(options.output)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as pipes:
        environment = os.environ | {"CUDA_MPS_PIPE_DIRECTORY": pipes, "CUDA_MPS_LOG_DIRECTORY": pipes}
        subprocess.run(["nvidia-cuda-mps-control", "-d"], env=environment, check=True)
        try:
            for workload in options.workloads:
                record(workload, folder, options, environment)
        finally:
            subprocess.run(["nvidia-cuda-mps-control"], input="quit\n", text=True, env=environment, check=False)


def record(workload, folder, options, environment):
    loop = pathlib.Path(__file__).with_name("torch_loop.py")
    command = [f"{options.build}/simtrace", "record", "-o", f"{folder}/{workload}.corun", "--", sys.executable,
               str(loop), workload, "--seconds", str(options.start + 3)]
    program = subprocess.Popen(command, env=environment)
    try:
        time.sleep(options.start)
        subprocess.run([options.probe, "spin", "1", "128", "5", "1", "0.7", f"{folder}/{workload}.bin"],
                       env=environment, check=True)
    except BaseException:
        program.terminate()
        raise
    finally:
        program.wait()


def blocks_at_once(threads, registers, shared_memory):
    most = min(BLOCKS, THREADS // threads)
    if registers:
        most = min(most, REGISTERS // (threads * registers))
    if shared_memory:
        most = min(most, SHARED_MEMORY // shared_memory)
    return most * SMS


def shift_us(numpy, waits, kernels):
    """By how many microseconds the waits are to be moved:
    both are lists of (begin, end) in whole microseconds from 0."""
    lengths = [max(end for _, end in spans) + 1 for spans in (waits, kernels)]
    size = 1 << (sum(lengths) - 1).bit_length()
    signals = []
    for spans, length in zip((waits, kernels), lengths):
        signal = numpy.zeros(length)
        for begin, end in spans:
            signal[begin:end] += 1
        signals.append(numpy.fft.rfft(signal - signal.mean(), size))
    return int(numpy.argmax(numpy.fft.irfft(signals[1] * numpy.conj(signals[0]), size)[:lengths[1]]))


def begins(numpy, path):
    """(called, begun) of every small kernel in ns; one that found room at once was called when it began."""
    rows = numpy.fromfile(path, dtype=numpy.int64).reshape(-1, 5)[1:]
    launch = numpy.quantile(rows[:, 2] - rows[:, 1], 0.02)
    return [(int(called + launch), int(begin)) for _, called, begin, _, _ in rows]


def waits_beside(numpy, operations, small):
    """{kernel: [(before its end, its duration)]} in ns, a kernel by name and shape."""
    columns = ["name", "blocks", "threads_per_block", "registers_per_thread", "shared_memory_bytes"]
    kernels = [(begin, duration, shape) for begin, duration, kind, *shape in zip(
        *(list(operations[column]) for column in ["start_ns", "duration_ns", "kind", *columns])) if kind == "kernel"]
    kernels.sort(key=lambda kernel: kernel[0])
    zero = small[0][0]
    us = lambda begin, end: (begin // 1000, end // 1000)  # noqa: E731
    waits = [us(called - zero, begin - zero) for called, begin in small if begin - called > LONG_NS]
    shift = 1000 * shift_us(numpy, waits,
                            [us(begin, begin + length) for begin, length, _ in kernels if length > LONG_NS])
    starts, found = [begin for begin, _, _ in kernels], {}
    for called, begin in small:
        at = begin - zero + shift
        row = int(numpy.searchsorted(starts, at)) - 1
        if begin - called > WAITED_NS and row >= 0:
            start, duration, shape = kernels[row]
            found.setdefault(tuple(shape), []).append((start + duration - at, duration))
    return found


def table(options):
    import numpy
    import corun
    print("| kernel | blocks | at once | waves | duration, us | room before the end, us | in blocks' times |")
    print("|---|---|---|---|---|---|---|")
    several, long, one = [], [], []
    for folder in options.folders:
        for path in sorted(pathlib.Path(folder).glob("*.corun")):
            small = begins(numpy, path.with_suffix(".bin"))
            for (name, blocks, threads, *rest), seen in sorted(
                    waits_beside(numpy, corun.Timeline(path).operations, small).items(),
                    key=lambda item: -len(item[1])):
                if len(seen) < FEW or not threads:
                    continue
                waves = blocks / blocks_at_once(threads, *rest)
                before, duration = (float(numpy.median(column)) / 1000 for column in zip(*seen))
                ratio = before * max(waves, 1) / duration
                (several if waves > 1 else one).append(ratio)
                if waves > 1 and duration / waves >= LONG_BLOCK_US:
                    long.append(ratio)
                print(f"| {path.stem}: {name[:48].replace('|', ' ')} | {blocks} "
                      f"| {blocks_at_once(threads, *rest)} | {waves:.2f} "
                      f"| {duration:.1f} | {before:.1f} | {ratio:.2f} |")
    for what, ratios in (("more than one wave", several), (f"of these, blocks of {LONG_BLOCK_US} us and more", long),
                         ("one wave or less", one)):
        if ratios:
            low, middle, high = numpy.quantile(ratios, [0.1, 0.5, 0.9])
            print(f"\n{what}: {len(ratios)} kernels, mean {numpy.mean(ratios):.2f}, in the middle {middle:.2f}, "
                  f"tenths {low:.2f} to {high:.2f}  ")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("--build", default="build/release")
    measuring.add_argument("--probe", default="./small_kernels")
    measuring.add_argument("--start", type=float, default=12, help="seconds that PyTorch is given to load")
    measuring.add_argument("-o", "--output", required=True)
    measuring.add_argument("workloads", nargs="+", metavar="WORKLOAD")
    measuring.set_defaults(run=measure)
    showing = commands.add_parser("table")
    showing.add_argument("folders", nargs="+", metavar="FOLDER")
    showing.set_defaults(run=table)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
