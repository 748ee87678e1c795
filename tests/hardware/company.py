"""What the kernels of a program become in company under MPS, kernel by kernel:
company.py measure --build FOLDER --neighbour PROGRAM -o FOLDER CELL...
company.py rows FOLDER -o FILE
company.py table FILE [PROGRAM]
company.py begins FILE
company.py meanwhile CELL.corun
company.py daemon FILE

`measure` plays each cell under an MPS daemon of its own and records its programs together, without simtrace's recorder:
the parts of each are merged into FOLDER/CELL.corun. A cell is PROGRAM or PROGRAM+PROGRAM; a program is a workload of
torch_loop.py, an OPERATOR@SIZE of operators.py or KIND:BLOCKS:THREADS:STEPS:NODES of neighbour.cu. PyTorch is imported
once; each program is a fork that has not touched the GPU before, warm before the window begins. `rows` (numpy, corun)
finds how long kernels and the gaps between them were, alone and in company, within the common window; `table` prints
them, of a PROGRAM kernel by kernel; `begins` how much longer a kernel is for each one of its neighbour's that begins
meanwhile; `meanwhile` (numpy, corun) how long a recording's kernels are that begin while none of the neighbour's runs,
and those that begin while one does. `daemon` reads what pairs.py measured of programs alone (solo:PROGRAM and
mps:PROGRAM) and prints what the daemon costs each of their kernels.
"""

import argparse
import ctypes
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

WARM_UP = 20
MOST_KERNELS = 8


def now():
    return time.clock_gettime(time.CLOCK_MONOTONIC)


def play(workload, stop, warm):
    import torch
    import operators
    import torch_loop
    torch.manual_seed(1)
    step = operators.program(workload) if "@" in workload else torch_loop.WORKLOADS[workload]()
    torch_loop.timed_steps(step, WARM_UP, 0.05 if "@" in workload else 0.2)
    pathlib.Path(warm).touch()
    while not os.path.exists(stop):
        step()
        torch.cuda.synchronize()


def begin(program, environment, folder, number, options):
    """The process of a program; it touches `warm` once it is, one of neighbour.cu is warm within its first second."""
    child = os.fork()
    if child:
        return child
    try:
        os.environ.update(environment)
        stop, warm = folder + "/stop", f"{folder}/warm{number}"
        processors = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, processors[number::2])
        if ":" in program:
            pathlib.Path(warm).touch()
            os.execv(options.neighbour, [options.neighbour, *program.split(":"), stop])
        play(program, stop, warm)
        ctypes.CDLL(None).exit(0)  # what is recorded is written at exit, but not at Python's
    except BaseException as error:  # noqa: the parent reports it
        print(f"company.py: {error!r}", file=sys.stderr, flush=True)
        os._exit(1)


def has_ended(child):
    return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def measure_cell(cell, environment, options):
    programs = cell.split("+")
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(folder + "/parts")
        traced = environment | {"CUDA_INJECTION64_PATH": f"{options.build}/libcorun_cuda.so",
                                "CORUN_TRACE_CUDA": "calls", "CORUN_TRACE_DIR": folder + "/parts"}
        children = [begin(program, traced, folder, number, options) for number, program in enumerate(programs)]
        give_up = now() + 40
        while now() < give_up and not all(os.path.exists(f"{folder}/warm{number}") for number in range(len(programs))):
            if any(has_ended(child) for child in children):
                break
            time.sleep(0.02)
        time.sleep(options.seconds + (0.7 if all(":" in program for program in programs) else 0))
        pathlib.Path(folder + "/stop").touch()
        failed = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        if any(failed):
            raise RuntimeError(f"a program ended with {failed}")
        output = pathlib.Path(options.output) / cell.replace(":", "-")
        subprocess.run([f"{options.build}/simtrace", "merge", folder + "/parts", "-q", "-f", "-o", f"{output}.corun"],
                       check=True)
        output.with_suffix(".json").write_text(json.dumps({"cell": cell, "processes": children,
                                                           "seconds": options.seconds}))


def measure(options):
    import torch  # noqa: forks have it
    os.makedirs(options.output, exist_ok=True)
    failures = 0
    with tempfile.TemporaryDirectory() as pipes:
        environment = {"CUDA_MPS_PIPE_DIRECTORY": pipes, "CUDA_MPS_LOG_DIRECTORY": pipes}
        visible = {"CUDA_VISIBLE_DEVICES": str(options.gpu)}
        subprocess.run(["nvidia-cuda-mps-control", "-d"], env=os.environ | environment | visible, check=True)
        try:
            for cell in options.cells:
                started = now()
                try:
                    measure_cell(cell, environment | {"CUDA_VISIBLE_DEVICES": "0"}, options)
                    print(f"{cell}: {now() - started:.1f} s", flush=True)
                except (RuntimeError, OSError, subprocess.SubprocessError) as error:
                    failures += 1
                    print(f"company.py: {cell}: {error}", file=sys.stderr, flush=True)
        finally:
            subprocess.run(["nvidia-cuda-mps-control"], input="quit\n", text=True, env=os.environ | environment,
                           check=False)
    return 1 if failures else 0


def operations_of(recording, meta):
    """{program: {name, begin, duration, shape}} of a cell, as arrays by begin, within its common window."""
    import corun
    import numpy
    table = corun.Timeline(str(recording)).operations
    column = lambda name: numpy.array([value or 0 for value in table[name]])  # noqa: E731
    begin, duration, process = column("start_ns"), column("duration_ns"), column("process")
    shapes = ["blocks", "threads_per_block", "registers_per_thread", "shared_memory_bytes"]
    shape = numpy.stack([column(name) for name in shapes], axis=1)
    names = numpy.array(list(table["name"]), dtype=object)
    until = min((begin + duration)[process == one].max() for one in meta["processes"])
    window = (begin >= until - 0.8e9 * meta["seconds"]) & (begin + duration <= until)
    found = []
    for program, one in zip(meta["cell"].split("+"), meta["processes"]):
        rows = numpy.flatnonzero(window & (process == one))
        rows = rows[numpy.argsort(begin[rows], kind="stable")]
        found.append((program, names[rows], begin[rows], duration[rows], shape[rows]))
    return found


def kernels_of(numpy, names, durations, shapes):
    """The kernels of the most device time, with their median duration."""
    groups = {}
    for name, duration, shape in zip(names, durations, shapes):
        groups.setdefault((name or "", *map(int, shape)), []).append(int(duration))
    most = sorted(groups.items(), key=lambda group: -sum(group[1]))[:MOST_KERNELS]
    return [[*kernel, round(float(numpy.median(seen)) / 1e3, 2)] for kernel, seen in most]


def rows(options):
    import numpy
    with open(options.output, "w", encoding="utf-8") as file:
        for path in sorted(pathlib.Path(options.folder).glob("*.json")):
            meta = json.loads(path.read_text())
            for program, names, begin, duration, shape in operations_of(path.with_suffix(".corun"), meta):
                gaps = begin[1:] - (begin + duration)[:-1]
                row = {"cell": meta["cell"], "program": program,
                       "kernels_per_s": round(len(begin) / (0.8 * meta["seconds"])),
                       "kernel_us": round(float(duration.mean()) / 1e3, 2),
                       "gap_us": round(float(numpy.clip(gaps, 0, None).mean()) / 1e3, 2),
                       "kernels": kernels_of(numpy, names, duration, shape)}
                file.write(json.dumps(row) + "\n")


def read_rows(file):
    """What `rows` wrote, and of it the programs alone by name."""
    found = [json.loads(line) for line in pathlib.Path(file).read_text(encoding="utf-8").splitlines()]
    return found, {row["program"]: row for row in found if row["cell"] == row["program"]}


def table(options):
    found, alone = read_rows(options.file)
    if options.program:
        return kernel_table([row for row in found if row["program"] == options.program], alone[options.program])
    print("| program | beside | kernels a second, of those alone | a kernel, us | alone | gap, us | alone |")
    print("|---|---|---|---|---|---|---|")
    for row in found:
        one = alone[row["program"]]
        if row is not one:
            beside = row["cell"].replace(row["program"], "", 1).strip("+")
            print(f"| {row['program']} | {beside} | {row['kernels_per_s'] / one['kernels_per_s']:.2f} "
                  f"| {row['kernel_us']} "
                  f"| {one['kernel_us']} | {row['gap_us']} | {one['gap_us']} |")
    return 0


def begins(options):
    found, alone = read_rows(options.file)
    print("| program | beside | a kernel alone, us | in company | of the neighbour begin meanwhile "
          "| longer for each, us |")
    print("|---|---|---|---|---|---|")
    for row, other in ((a, b) for a in found for b in found if a["cell"] == b["cell"] and a["program"] != b["program"]):
        one = alone[row["program"]]
        meanwhile = row["kernel_us"] * other["kernels_per_s"] / 1e6
        print(f"| {row['program']} | {other['program']} | {one['kernel_us']} | {row['kernel_us']} | {meanwhile:.2f} "
              f"| {(row['kernel_us'] - one['kernel_us']) / meanwhile:.2f} |")
    return 0


def meanwhile(options):
    import numpy
    recording = pathlib.Path(options.file)
    both = operations_of(recording, json.loads(recording.with_suffix(".json").read_text()))
    print("| program | kernel | blocks | threads | shared bytes | while none runs | us | while one runs | us |")
    print("|---|---|---|---|---|---|---|---|---|")
    for (program, names, begin, duration, shape), (_, _, other, lasting, _) in (both, both[::-1]):
        last = numpy.searchsorted(other, begin, side="right") - 1
        is_beside = (last >= 0) & (begin < (other + lasting)[last])
        for name, blocks, threads, registers, shared, _ in kernels_of(numpy, names, duration, shape):
            same = (names == name) & (shape == [blocks, threads, registers, shared]).all(axis=1)
            cells = [f"{len(some)} | {numpy.median(some) / 1e3:.2f}" if len(some := duration[same & beside]) else "0 |"
                     for beside in (~is_beside, is_beside)]
            print(f"| {program} | {name[-40:].replace('|', ' ')} | {blocks} | {threads} | {shared} "
                  f"| {' | '.join(cells)} |")
    return 0


def daemon(options):
    found = {row["run"]: row
             for row in map(json.loads, pathlib.Path(options.file).read_text(encoding="utf-8").splitlines())}
    print("| program | kernels a step | a step without, ms | under MPS | longer, a kernel, us |")
    print("|---|---|---|---|---|")
    for run, row in found.items():
        if run.startswith("solo_") and (under := found.get(run.replace("solo_", "mps_"))):
            longer = 1e3 * (under["p50_ms"] - row["p50_ms"]) / row["kernels"]
            print(f"| {row['w']} | {row['kernels']} | {row['p50_ms']:.3f} | {under['p50_ms']:.3f} | {longer:.2f} |")
    return 0


def kernel_table(found, alone):
    columns = [row for row in found if row is not alone]
    print("| kernel | blocks | threads | registers | shared bytes | alone, us |",
          " | ".join(row["cell"].replace(alone["program"], "", 1).strip("+") for row in columns), "|")
    print("|---|---|---|---|---|---|" + "---|" * len(columns))
    for *kernel, duration in alone["kernels"]:
        slower = [next((f"{us / duration:.2f}" for *other, us in row["kernels"] if other == kernel), "")
                  for row in columns]
        print(f"| {kernel[0][-40:].replace('|', ' ')} |", " | ".join(map(str, [*kernel[1:], duration, *slower])), "|")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("--build", default="build/release")
    measuring.add_argument("--neighbour", default="./neighbour")
    measuring.add_argument("--gpu", type=int, default=0)
    measuring.add_argument("--seconds", type=float, default=0.4)
    measuring.add_argument("-o", "--output", required=True)
    measuring.add_argument("cells", nargs="+", metavar="CELL")
    measuring.set_defaults(run=measure)
    finding = commands.add_parser("rows")
    finding.add_argument("folder")
    finding.add_argument("-o", "--output", required=True)
    finding.set_defaults(run=rows)
    showing = commands.add_parser("table")
    showing.add_argument("file")
    showing.add_argument("program", nargs="?")
    showing.set_defaults(run=table)
    for command in (begins, meanwhile, daemon):
        one = commands.add_parser(command.__name__)
        one.add_argument("file")
        one.set_defaults(run=command)
    options = parser.parse_args()
    return options.run(options)


if __name__ == "__main__":
    sys.exit(main())
