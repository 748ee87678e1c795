#!/usr/bin/env python3
"""What programs under MPS lose to others on SMs of their own that stream memory; a row of JSON per pair.

    bandwidth.py measure [--repeat N] -o measured.jsonl
    bandwidth.py table measured.jsonl              Markdown

Each step of a program (CUDA graphs of PyTorch) has half of the SMs; a stream adds one to a buffer that lies in the
second-level cache (`l2`) or does not (`dram`), with 10 to 50 % of the SMs. Caps that sum to no more than 100 % keep
the SMs of both apart, so that what a step loses it loses to the memory that both use. All processes of a measurement
wait for their turn, warm, at the same MPS daemon.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HALF, PARTS, KINDS = 50, (10, 20, 30, 50), ("l2", "dram")
STREAM_BYTES = {"l2": 8 << 20, "dram": 512 << 20}
SECONDS = 0.35


def graph_of(torch, work, repetitions):
    """`work` so many times in one graph, which is warm."""
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            work()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(repetitions):
            work()
    torch.cuda.synchronize()
    return graph


def steps_of(torch):
    """{program: graph of a step}"""
    def buffer(size, kind=torch.float32):
        return torch.rand(size, device="cuda", dtype=torch.float32).to(kind)

    half = torch.float16
    tiny, rows, large = buffer(1 << 16), buffer((4096, 1024)), buffer(64 << 20)
    cached, few, many = buffer(2 << 20), buffer((1024, 1024), half), buffer((4096, 4096), half)
    outs = [torch.empty_like(x) for x in (tiny, rows, large, cached, few, many)]
    query = buffer((1, 8, 256, 64), half)
    attention = torch.nn.functional.scaled_dot_product_attention
    return {"add 256 KiB": graph_of(torch, lambda: torch.add(tiny, 1, out=outs[0]), 40),
            "add 8 MiB": graph_of(torch, lambda: torch.add(cached, 1, out=outs[3]), 20),
            "add 256 MiB": graph_of(torch, lambda: torch.add(large, 1, out=outs[2]), 3),
            "softmax 4096 x 1024": graph_of(torch, lambda: torch.softmax(rows, 1), 20),
            "lgamma of 1 Mi": graph_of(torch, lambda: torch.lgamma(cached[:1 << 20]), 20),
            "attention, 8 heads of 256": graph_of(torch, lambda: attention(query, query, query), 20),
            "product 1024^3, fp16": graph_of(torch, lambda: torch.matmul(few, few, out=outs[4]), 20),
            "product 4096^3, fp16": graph_of(torch, lambda: torch.matmul(many, many, out=outs[5]), 2)}


def answer(value):
    print(json.dumps(value), flush=True)


def play():
    """The process of the programs: on `NAME`, median time of a step."""
    import torch
    steps = steps_of(torch)
    answer(list(steps))
    for line in sys.stdin:
        graph, times, until = steps[line.strip()], [], time.monotonic() + SECONDS
        while time.monotonic() < until:
            begin = time.perf_counter_ns()
            graph.replay()
            torch.cuda.synchronize()
            times.append(time.perf_counter_ns() - begin)
        answer(statistics.median(times) / 1e6)


def stream(kind):
    """The process of a stream: from one line to the next, gigabytes a second, read and written."""
    import select

    import torch
    size = STREAM_BYTES[kind]
    source = torch.zeros(size // 4, device="cuda")
    target = torch.empty_like(source)
    count = max(1, (2 << 30) // size // 8)
    graph = graph_of(torch, lambda: torch.add(source, 1, out=target), count)
    answer("warm")
    while sys.stdin.readline():
        begin, played = time.perf_counter(), 0
        while not select.select([sys.stdin], [], [], 0)[0]:
            graph.replay()
            torch.cuda.synchronize()
            played += count
        sys.stdin.readline()
        answer(2 * size * played / (time.perf_counter() - begin) / 1e9)


class Process:
    def __init__(self, environment, percentage, *arguments):
        self.process = subprocess.Popen(
            [sys.executable, __file__, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=environment | {"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE": str(percentage)})

    def tell(self, line=""):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def hear(self):
        return json.loads(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.wait(timeout=30)


def measure_all(environment, options, file):
    programs = Process(environment, HALF, "play")
    streams = {(kind, part): Process(environment, part, "stream", kind) for kind in KINDS for part in PARTS}
    names = programs.hear()
    for one in streams.values():
        one.hear()
    for repetition in range(options.repeat):
        for name in names:
            programs.tell(name)
            row = {"repetition": repetition, "program": name, "alone_ms": programs.hear()}
            for (kind, part), one in streams.items():
                one.tell()
                time.sleep(0.05)
                programs.tell(name)
                together = programs.hear()
                one.tell()
                file.write(json.dumps(row | {"stream": kind, "percentage": part, "together_ms": together,
                                             "gigabytes_per_s": round(one.hear(), 1)}) + "\n")
    for (kind, part), one in streams.items():
        one.tell()
        time.sleep(SECONDS)
        one.tell()
        file.write(json.dumps({"stream": kind, "percentage": part, "gigabytes_per_s": round(one.hear(), 1)}) + "\n")
    for process in [programs, *streams.values()]:
        process.end()


def measure(options):
    with tempfile.TemporaryDirectory() as pipes, open(options.output, "w", encoding="utf-8") as file:
        environment = os.environ | {"CUDA_MPS_PIPE_DIRECTORY": pipes, "CUDA_MPS_LOG_DIRECTORY": pipes}
        subprocess.run(["nvidia-cuda-mps-control", "-d"], env=environment, check=True)
        try:
            measure_all(environment, options, file)
        finally:
            subprocess.run(["nvidia-cuda-mps-control"], input="quit\n", text=True, env=environment, check=False)


def table(path):
    rows = [json.loads(line) for line in open(path, encoding="utf-8")]
    alone = {(row["stream"], row["percentage"]): row["gigabytes_per_s"] for row in rows if "program" not in row}
    rows = [row for row in rows if "program" in row]
    cells = sorted(alone, key=lambda cell: (KINDS.index(cell[0]), cell[1]))
    print("| step, on half of the SMs | alone, ms | " + " | ".join(f"{kind} {part} %" for kind, part in cells) + " |")
    print("|---|---:|" + "---:|" * len(cells))
    print("| the stream alone, GB/s | | " + " | ".join(f"{alone[cell]:.0f}" for cell in cells) + " |")
    for name in dict.fromkeys(row["program"] for row in rows):
        its = [row for row in rows if row["program"] == name]
        longer = {cell: [row["together_ms"] / row["alone_ms"] for row in its
                         if (row["stream"], row["percentage"]) == cell] for cell in cells}
        print(f"| {name} | {statistics.mean(row['alone_ms'] for row in its):.3f} | "
              + " | ".join(f"{statistics.mean(longer[cell]):.2f}" for cell in cells) + " |")
    spread = [abs(row["together_ms"] / row["alone_ms"] / statistics.mean(
        other["together_ms"] / other["alone_ms"] for other in rows
        if all(other[key] == row[key] for key in ("program", "stream", "percentage"))) - 1) for row in rows]
    repetitions = 1 + max(row["repetition"] for row in rows)
    print(f"\nTimes in company over times alone, means of {repetitions} repetitions; one of them is "
          f"{100 * statistics.mean(spread):.1f} % off their mean, at most {100 * max(spread):.1f} %.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("--repeat", type=int, default=3)
    measuring.add_argument("-o", "--output", required=True)
    commands.add_parser("table").add_argument("file")
    commands.add_parser("play")
    commands.add_parser("stream").add_argument("kind", choices=KINDS)
    options = parser.parse_args()
    if options.command == "measure":
        measure(options)
    elif options.command == "table":
        table(options.file)
    elif options.command == "play":
        play()
    else:
        stream(options.kind)


if __name__ == "__main__":
    main()
