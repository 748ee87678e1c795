"""How well the simulation has what kernels become in company: company_simulated.py [--simcli PROGRAM] FILE...

Each FILE is what `company.py rows` wrote. Its programs are made anew from what it says of them alone (kernels, their
shapes and durations, the gaps between them), each about a millisecond as one CUDA graph; then every cell of two is
simulated, and the rates that programs keep are compared with the recorded ones. A table by the length of kernels, short
ones below 15 us, and the mean of the errors' logarithms, as they are and without signs.
"""

import argparse
import json
import math
import pathlib
import sqlite3
import statistics
import subprocess
import sys
import tempfile

SHORT_US = 15
GRAPHS, LONGEST_US, MOST_NODES, HOST_US = 60, 1000, 100, 6


def multiples(kernels, mean_us):
    """How often each of at most two kernels comes, so that they take `mean_us` on average."""
    if len(kernels) == 1:
        return [1]
    first, second = kernels[0][-1], kernels[1][-1]
    part = (mean_us - second) / (first - second)
    return min(((a, b) for a in range(1, 12) for b in range(1, 12)), key=lambda ab: abs(ab[0] / sum(ab) - part))


def nodes_of(row):
    once = [kernel for kernel, times in zip(row["kernels"], multiples(row["kernels"], row["kernel_us"]))
            for _ in range(times)]
    length = sum(kernel[-1] + row["gap_us"] for kernel in once)
    return once * max(1, min(MOST_NODES, round(LONGEST_US / length)))


def event(category, name, begin, duration, thread, **details):
    return {"ph": "X", "cat": category, "name": name, "pid": 0, "tid": thread, "ts": round(begin, 3), "dur": duration,
            "args": details}


def node_event(node, number, begin, graph, bytes_set):
    name, blocks, threads, registers, shared, duration = node
    of_device = {"device": 0, "context": 1, "stream": 7, "correlation": graph, "graph node id": number}
    if blocks == 0:
        return event("gpu_memset", "Memset (Device)", begin, duration, 7, bytes=bytes_set, **of_device)
    return event("kernel", name, begin, duration, 7, grid=[blocks, 1, 1], block=[threads, 1, 1], **of_device,
                 **{"registers per thread": registers, "shared memory": shared})


def capture_of(row):
    """The program as PyTorch's profiler would have written it."""
    nodes, events, now = nodes_of(row), [], 1000.0
    gap = max(0.9, row["gap_us"] - (HOST_US + 5) / len(nodes))
    kind, _, size = row["program"].partition("@")
    bytes_set = int(size) << 10 if kind in ("clear", "copy") else 4
    for graph in range(1, GRAPHS + 1):
        events.append(event("cuda_runtime", "cudaGraphLaunch", now, 3.0, 1, correlation=graph))
        at = now + 4.0
        for number, node in enumerate(nodes, 1):
            events.append(node_event(node, number, at, graph, bytes_set))
            at += node[-1] + gap
        end = at - gap + 1.0
        events.append(event("cuda_runtime", "cudaDeviceSynchronize", now + 3.2, round(end - now - 3.2, 3), 1,
                            correlation=graph + GRAPHS))
        now = end + HOST_US
    return {"schemaVersion": 1, "traceEvents": events}


def experiment_of(cells, folder):
    scenarios = [{"name": cell, "device": {"sharing": "concurrent"},
                  "clients": [{"name": f"p{i}", "trace": f"{folder}/{program.replace(':', '-')}.json"}
                              for i, program in enumerate(programs)]}
                 for cell, programs in cells.items()]
    return {"version": 1, "name": "company", "device": "h200", "horizon": "350ms", "warmup": "50ms", "seeds": 1,
            "defaults": {"phase": "random", "host_jitter": "3%", "pacing": "sync_each_job"},
            "policies": ["passthrough"], "record": {"frames": "none", "decisions": "none"}, "scenarios": scenarios}


def simulated(alone, cells, simcli):
    """{(cell, client): rate}"""
    with tempfile.TemporaryDirectory() as folder:
        for program, row in alone.items():
            pathlib.Path(f"{folder}/{program.replace(':', '-')}.json").write_text(json.dumps(capture_of(row)),
                                                                                  encoding="utf-8")
        path = pathlib.Path(folder) / "company.yaml"
        path.write_text(json.dumps(experiment_of(cells | {program: [program] for program in alone}, folder)),
                        encoding="utf-8")
        subprocess.run([simcli, "run", path, "-f", "-o", folder + "/out.sqlite"], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        database = sqlite3.connect(folder + "/out.sqlite")
        query = ("SELECT scenario, client, value FROM metrics JOIN runs ON runs.id = metrics.run "
                 "WHERE metric = 'throughput_per_s'")
        return {(scenario, client): value for scenario, client, value in database.execute(query)}


def errors_of(file, simcli):
    """(length of its kernels, of the other's, logarithm of predicted over recorded)"""
    rows = [json.loads(line) for line in pathlib.Path(file).read_text(encoding="utf-8").splitlines()]
    alone = {row["program"]: row for row in rows if row["cell"] == row["program"] and len(row["kernels"]) <= 2}
    pairs = {}
    for row in rows:
        pairs.setdefault(row["cell"], []).append(row)
    pairs = {cell: pair
             for cell, pair in pairs.items() if len(pair) == 2 and all(row["program"] in alone for row in pair)}
    rates = simulated(alone, {cell: [row["program"] for row in pair] for cell, pair in pairs.items()}, simcli)
    for cell, pair in pairs.items():
        for i, (row, other) in enumerate(zip(pair, pair[::-1])):
            one = alone[row["program"]]
            recorded = row["kernels_per_s"] / one["kernels_per_s"]
            predicted = rates.get((cell, f"p{i}"), 0) / rates[row["program"], "p0"]
            is_short, is_short_beside = (of["kernel_us"] < SHORT_US for of in (one, alone[other["program"]]))
            yield is_short, is_short_beside, math.log(max(predicted, 0.01) / recorded)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simcli", default="build/release/simcli")
    parser.add_argument("files", nargs="+", metavar="FILE")
    options = parser.parse_args()
    print("| rows | kernels | beside | rates | error | without signs |")
    print("|---|---|---|---|---|---|")
    everything = []
    for file in options.files:
        errors = list(errors_of(file, options.simcli))
        everything += errors
        for short, beside in ((a, b) for a in (True, False) for b in (True, False)):
            found = [error for one, other, error in errors if (one, other) == (short, beside)]
            if found:
                print(f"| {pathlib.Path(file).stem} | {'short' if short else 'long'} "
                      f"| {'short' if beside else 'long'} | {len(found)} "
                      f"| {statistics.mean(found):+.3f} | {statistics.mean(map(abs, found)):.3f} |")
    found = [error for *_, error in everything]
    print(f"| all | | | {len(found)} | {statistics.mean(found):+.3f} | {statistics.mean(map(abs, found)):.3f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
