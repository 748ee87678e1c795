"""Measures what the tracer costs, on a machine with a GPU, and prints every figure (docs/capture.md has the medians).

    overhead.py measure --build BUILD --loop LAUNCH_LOOP [--game GAME.sh] [--rounds 10] -o overhead.jsonl
    overhead.py table overhead.jsonl

Every round runs a program once under each configuration, one after the other, so that what the machine does meanwhile
falls on all of them. Figures are ratios to the bare run of the same round: median, and the range over rounds.
GAME.sh runs a game to its end and prints its frames per second as the last word of its output.
"""

import argparse
import functools
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

TORCH_LOOP = pathlib.Path(__file__).with_name("torch_loop.py")
CUDA = {"bare": None, "loaded": "idle", "kernels": "kernels", "calls": "calls"}
TORCH = [*CUDA, "profiler"]


def launch_loops(loop):
    for microseconds, count in ((2, 60_000), (20, 12_000), (200, 1_200)):
        yield f"{microseconds} us kernels", [loop, str(microseconds), str(count)]
        yield f"{microseconds} us kernels, graphs of 100", [loop, str(microseconds), str(count), "100"]


def environment(build, configuration, folder):
    variables = dict(os.environ)
    if CUDA.get(configuration) is not None:
        variables |= {"CUDA_INJECTION64_PATH": str(build / "libcorun_cuda.so"), "CORUN_TRACE_DIR": folder,
                      "CORUN_TRACE_CUDA": CUDA[configuration]}
    if configuration == "frames":
        variables |= {"LD_PRELOAD": str(build / "libcorun_gl.so"), "CORUN_TRACE_DIR": folder}
    return variables


def merged(build, folder):
    """What `simtrace merge` says of the parts of one run."""
    answer = subprocess.run([build / "simtrace", "merge", folder, "-o", folder + "/merged.corun", "--json"],
                            capture_output=True, text=True, check=False)
    summaries = [line for line in answer.stderr.splitlines() if line.startswith("{")]
    return json.loads(summaries[-1]) if summaries else {"error": answer.stderr[-300:]}


class TorchServer:
    """Runs torch_loop.py again and again without importing PyTorch each time."""

    def __init__(self):
        self.process = None

    def start(self):
        self.process = subprocess.Popen([sys.executable, str(TORCH_LOOP), "serve"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def run(self, arguments, configuration, variables, folder):
        if self.process is None:
            self.start()
        if configuration == "profiler":
            arguments = [*arguments, "--profiler", folder + "/trace.json"]
        added = {name: value for name, value in variables.items() if os.environ.get(name) != value}
        self.process.stdin.write(json.dumps({"arguments": arguments, "environment": added}) + "\n")
        self.process.stdin.flush()
        said = ""
        while not (line := self.process.stdout.readline()).startswith("ended "):
            said += line
            if not line:
                raise SystemExit("PyTorch ended")
        return int(line.split()[1]), said, ""


def run_program(command, configuration, variables, folder):
    del configuration, folder
    answer = subprocess.run(command, env=variables, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                            check=False)
    return answer.returncode, answer.stdout, answer.stderr


def run(build, start, configuration, read):
    with tempfile.TemporaryDirectory() as folder:
        status, said, complained = start(configuration, environment(build, configuration, folder), folder)
        row = {"configuration": configuration, "exit": status}
        try:
            row["ns"] = read(said)
        except (ValueError, IndexError, KeyError):
            row["failed"] = (said + complained)[-500:]
        if configuration in ("calls", "frames"):
            row["capture"] = merged(build, folder)
        return row


def read_number(text):
    return float(text.split()[-1])


def read_step(text):
    return json.loads(text.splitlines()[-1])["median_s"] * 1e9


def read_game(text):
    """Nanoseconds a frame from frames per second."""
    return 1e9 / read_number(text)


def programs_of(options):
    """(name, how to start it, configurations, reader of its output)"""
    for name, command in launch_loops(options.loop):
        yield name, functools.partial(run_program, command), list(CUDA), read_number
    torch = TorchServer()
    for workload, steps in (("resnet50", "60"), ("small_train", "100")):
        yield workload, functools.partial(torch.run, [workload, "--steps", steps]), TORCH, read_step
    if options.game:
        game = functools.partial(run_program, ["bash", options.game])
        yield "OpenArena 1080p uncapped", game, ["bare", "frames"], read_game


def measure(options):
    build = pathlib.Path(options.build).resolve()
    for name, start, configurations, read in programs_of(options):
        if not re.search(options.only, name):
            continue
        with open(options.output, "a", encoding="utf-8") as output:
            for number in range(options.from_round, options.from_round + options.rounds):
                for configuration in configurations if not options.configurations else options.configurations:
                    row = run(build, start, configuration, read)
                    output.write(json.dumps({"program": name, "round": number} | row) + "\n")
                    output.flush()
        print(f"{name}: {options.rounds} rounds", file=sys.stderr, flush=True)


def load(path):
    rows = [json.loads(line) for line in open(path, encoding="utf-8")]
    return {(row["program"], row["configuration"], row["round"]): row for row in rows if "ns" in row}


def cell(rows, program, configuration):
    pairs = [(row["ns"], rows[(program, "bare", number)]["ns"]) for (name, kind, number), row in rows.items()
             if (name, kind) == (program, configuration) and (program, "bare", number) in rows]
    if not pairs:
        return "-"
    percent = sorted(100 * (ours / bare - 1) for ours, bare in pairs)
    return f"{statistics.median(percent):+.1f} % ({percent[0]:+.1f} to {percent[-1]:+.1f})"


def lost(rows, program, configuration):
    captures = [row.get("capture", {}) for (name, kind, _), row in rows.items()
                if (name, kind) == (program, configuration)]
    counts = [capture.get("lost_records") for capture in captures]
    return "-" if None in counts or not counts else str(sum(counts))


def table(options):
    rows = load(options.file)
    programs = list(dict.fromkeys(program for program, _, _ in rows))
    print("| program | bare | loaded, nothing enabled | kernels | kernels, launches, waits | frames "
          "| PyTorch's profiler | lost |")
    print("|---|---|---|---|---|---|---|---|")
    for program in programs:
        bare = [row["ns"] for (name, kind, _), row in rows.items() if (name, kind) == (program, "bare")]
        shown = f"{statistics.median(bare) / 1000:.1f} us ({min(bare) / 1000:.1f} to {max(bare) / 1000:.1f})"
        cells = [cell(rows, program, kind) for kind in ("loaded", "kernels", "calls", "frames", "profiler")]
        traced = "frames" if cells[3] != "-" else "calls"
        print(f"| {program} | {shown} | {' | '.join(cells)} | {lost(rows, program, traced)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("--build", required=True)
    measuring.add_argument("--loop", required=True)
    measuring.add_argument("--game")
    measuring.add_argument("--rounds", type=int, default=10)
    measuring.add_argument("--only", default="", metavar="PATTERN", help="programs whose names it matches")
    measuring.add_argument("--configurations", nargs="+", help="these only")
    measuring.add_argument("--from-round", type=int, default=0, help="so that several devices can share the rounds")
    measuring.add_argument("-o", "--output", required=True)
    measuring.set_defaults(command=measure)
    printing = commands.add_parser("table")
    printing.add_argument("file")
    printing.set_defaults(command=table)
    options = parser.parse_args()
    options.command(options)


if __name__ == "__main__":
    main()
