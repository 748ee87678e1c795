"""What PyTorch programs do to each other on one GPU:

    pairs.py [--gpu N] [--seconds S] [--captures FOLDER] -o FILE CELL...

A cell is KIND:PROGRAM[+PROGRAM...]. KIND is solo, timeslice (plain processes), mps (under a daemon of our own) or apart
(each on a GPU of its own: what their hosts do to each other); programs are the workloads of torch_loop.py. All programs
of a cell run until everyone has been warm for S seconds at the same time; rates count the steps that ended within that
window. FILE gets one JSON row a program, as measured.jsonl of the studies have them; launch_ms is what the host took,
in the middle, until it had launched a step, cpu_ms the processor time of all threads for a step. With --captures, each
solo program is recorded by simtrace besides (SIMTRACE names it), into FOLDER/PROGRAM.corun.

PyTorch is imported once; each program is a fork that has not touched the GPU before.
"""

import argparse
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import torch

import torch_loop
from step_ends import now, row

WARM_UP = 15  # steps, then a second more


def play(workload, stop, output):
    """Steps until the file `stop` exists; writes the end of every step behind the warm-up."""
    torch.manual_seed(1)
    step = torch_loop.WORKLOADS[workload]()
    torch_loop.timed_steps(step, WARM_UP, 1)
    ends, launched, cpu = [now()], [0.0], [time.process_time()]
    pathlib.Path(output + ".warm").touch()
    while not os.path.exists(stop):
        step()
        launched.append(now() - ends[-1])
        torch.cuda.synchronize()
        ends.append(now())
        cpu.append(time.process_time())
    pathlib.Path(output).write_text(json.dumps([ends, launched, cpu]))


def fork(function, environment, processor):
    child = os.fork()
    if child:
        return child
    os.environ.update(environment)
    try:
        first, count = processor
        os.sched_setaffinity(0, range(first, first + count))
        function()
        os._exit(0)
    except BaseException as error:  # noqa: the parent reports it
        print(f"pairs.py: {error!r}", file=sys.stderr, flush=True)
        os._exit(1)


def rows(kind, programs, outputs, seconds):
    begin = max(ends[0] for ends, _, _ in outputs)
    run = "_".join([kind, *programs])
    for program, (ends, launched, cpu) in zip(programs, outputs):
        steps = [i for i, end in enumerate(ends) if begin <= end <= begin + seconds]
        found = row(run, program, [ends[i] for i in steps])
        yield found | {"launch_ms": round(1e3 * statistics.median(launched[i] for i in steps[1:]), 3),
                       "cpu_ms": round(1e3 * (cpu[steps[-1]] - cpu[steps[0]]) / found["iters"], 3)}


def cell(kind, programs, options):
    with tempfile.TemporaryDirectory() as folder:
        environment = {"CUDA_VISIBLE_DEVICES": str(options.gpu)}
        if kind == "mps":
            daemon = {"CUDA_MPS_PIPE_DIRECTORY": folder + "/pipe", "CUDA_MPS_LOG_DIRECTORY": folder}
            os.mkdir(folder + "/pipe")
            subprocess.run(["nvidia-cuda-mps-control", "-d"], env=os.environ | environment | daemon, check=True)
            environment = daemon | {"CUDA_VISIBLE_DEVICES": "0"}
        stop, outputs = folder + "/stop", [f"{folder}/{i}" for i in range(len(programs))]
        each = options.processors // len(programs)
        children = [fork(lambda p=program, o=output: play(p, stop, o),
                         {"CUDA_VISIBLE_DEVICES": str(i)} if kind == "apart" else environment,
                         (options.first + i * each, each))
                    for i, (program, output) in enumerate(zip(programs, outputs))]
        give_up = now() + 60
        while now() < give_up and not all(os.path.exists(output + ".warm") for output in outputs):
            time.sleep(0.05)
        time.sleep(options.seconds + 0.3)
        pathlib.Path(stop).touch()
        failed = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        if kind == "mps":
            subprocess.run(["nvidia-cuda-mps-control"], input="quit\n", text=True, env=os.environ | daemon, check=False)
        if any(failed):
            raise RuntimeError(f"{kind}:{'+'.join(programs)}: a program ended with {failed}")
        return list(rows(kind, programs, [json.loads(pathlib.Path(output).read_text()) for output in outputs],
                         options.seconds))


def capture(program, options):
    command = [os.environ.get("SIMTRACE", "build/release/simtrace"), "record", "-o",
               f"{options.captures}/{program}.corun", "--", sys.executable, torch_loop.__file__, program, "--seconds",
               "1.5", "--steps", "1", "--warm-up", str(WARM_UP)]
    subprocess.run(command, env=os.environ | {"CUDA_VISIBLE_DEVICES": str(options.gpu)}, check=True,
                   stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpu", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--first", type=int, default=0, help="first of the processors that programs are pinned to")
    parser.add_argument("--processors", type=int, default=os.cpu_count(), help="how many, divided among the programs")
    parser.add_argument("--captures", metavar="FOLDER")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("cells", nargs="+", metavar="CELL")
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    worst = 0
    for name in options.cells:
        kind, _, programs = name.partition(":")
        programs = programs.split("+")
        try:
            found = cell(kind, programs, options)
            if options.captures and kind == "solo":
                capture(programs[0], options)
        except (RuntimeError, OSError, ValueError, IndexError, subprocess.SubprocessError) as error:
            print(f"pairs.py: {name}: {error}", file=sys.stderr, flush=True)
            worst = 1
            continue
        with open(options.output, "a", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in found)
        print(name, *(f"{row['w']} {row['it_s']}" for row in found), flush=True)
    return worst


if __name__ == "__main__":
    sys.exit(main())
