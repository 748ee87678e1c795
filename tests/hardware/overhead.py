"""Measures what the tracer costs, on a machine with a GPU, and prints the table of docs/capture.md.

    overhead.py measure --build BUILD --loop LAUNCH_LOOP [--game GAME.sh] [--rounds 10] -o overhead.jsonl
    overhead.py table overhead.jsonl

Every round runs a program once under each configuration, one after the other, so that what the machine does meanwhile
falls on all of them. Figures are ratios to the bare run of the same round: median, and the range over rounds.
GAME.sh runs a game to its end and prints its frames per second as the last word of its output.
"""

import argparse
import concurrent.futures
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
    return json.loads(answer.stdout) if answer.returncode == 0 else {"error": answer.stderr[-300:]}


def run(build, command, configuration, read):
    with tempfile.TemporaryDirectory() as folder:
        answer = subprocess.run(command, env=environment(build, configuration, folder), capture_output=True, text=True,
                                stdin=subprocess.DEVNULL, check=False)
        row = {"configuration": configuration, "exit": answer.returncode}
        try:
            row["ns"] = read(answer.stdout)
        except (ValueError, IndexError, KeyError):
            row["failed"] = (answer.stdout + answer.stderr)[-500:]
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


def programs_of(options, lock):
    """(name, command, configurations, reader of its output, processes at a time)"""
    for name, command in launch_loops(options.loop):
        yield name, command, list(CUDA), read_number, 1
    for workload, steps in (("resnet50", "40"), ("small_train", "100")):
        # Importing PyTorch takes longer than the steps: the next process does it while this one has the device.
        command = [sys.executable, str(TORCH_LOOP), workload, "--steps", steps, "--lock", lock]
        yield workload, command, ["bare", "calls"], read_step, 3
    if options.game:
        yield "OpenArena 1080p uncapped", ["bash", options.game], ["bare", "frames"], read_game, 1


def measure(options):
    build = pathlib.Path(options.build).resolve()
    with tempfile.NamedTemporaryFile() as lock, open(options.output, "a", encoding="utf-8") as output:
        for name, command, configurations, read, at_a_time in programs_of(options, lock.name):
            if not re.search(options.only, name):
                continue
            with concurrent.futures.ThreadPoolExecutor(at_a_time) as pool:
                runs = [(number, pool.submit(run, build, command, configuration, read))
                        for number in range(options.rounds) for configuration in configurations]
                for number, one in runs:
                    output.write(json.dumps({"program": name, "round": number} | one.result()) + "\n")
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
    print("| program | bare | loaded, nothing enabled | kernels | kernels, launches, waits | frames | lost |")
    print("|---|---|---|---|---|---|---|")
    for program in programs:
        bare = [row["ns"] for (name, kind, _), row in rows.items() if (name, kind) == (program, "bare")]
        shown = f"{statistics.median(bare) / 1000:.1f} us ({min(bare) / 1000:.1f} to {max(bare) / 1000:.1f})"
        cells = [cell(rows, program, kind) for kind in ("loaded", "kernels", "calls", "frames")]
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
    measuring.add_argument("--only", default="")
    measuring.add_argument("-o", "--output", required=True)
    measuring.set_defaults(command=measure)
    printing = commands.add_parser("table")
    printing.add_argument("file")
    printing.set_defaults(command=table)
    options = parser.parse_args()
    options.command(options)


if __name__ == "__main__":
    main()
