"""The profile of a replay, by component: perf's samples, or callgrind's instructions where the machine
does not let perf count."""

import collections
import subprocess
import tempfile
from pathlib import Path

INVARIANTS = "invariants (books kept twice)"
MOST_FOR_INVARIANTS = 5  # per cent
CASES = ["passthrough", "pilotfish", "gaiagpu"]
# Symbols of corun by the part that they belong to; first match counts.
PARTS = [
    (INVARIANTS, ["InvariantChecker"]),
    ("policy", ["PilotFish", "Pilot", "Gaia", "Nvshare", "Passthrough", "Limiter", "Forecast", "Window", "Fillers",
                "close_fillers", "UnfinishedWork", "Predictor", "Guarantee", "Buckets", "Lock"]),
    ("events", ["EventQueue", "Engine"]),
    ("device model",
     ["Device::", "OpTable", "TicketIndex", "RunSet", "TogetherSet", "FirstComeSet", "SpatialSet", "DispatchOrderSet",
      "FairSet", "RoomAllocator", "ThroughputAllocator", "ContextRing", "ClientLedger", "HostLink", "FluidMemory",
      "BlockMemory"]),
    ("simulation (joins the parts)",
     ["Simulation", "DeviceDriver", "ContextCopies", "report_completion", "report_frame"]),
    ("clients", ["Client::"]),
    ("arbiter and views", ["Arbiter", "ActionRules", "HoldLog", "PendingOps", "Actions", "ClientSet"]),
    ("metrics", ["Collector", "Counter", "quantile", "Sheet"]),
    ("reading the file", ["Timeline", "read_native", "schema::", "ColumnReader", "MessageColumns", "Chunk", "decode",
                          "visit<", "load_compact", "CompactRows", "XXH", "crc"]),
    ("making a workload",
     ["workload_from_capture", "Conversion", "ShortNumbers", "Instants", "HostSequence", "split_into", "predict_from",
      "DependencyGaps", "CrossStream", "HostEvent", "Workload", "WorkOp"]),
    ("making the capture (not counted)", ["make_capture", "floor_columns", "bench::", "write_native", "encode_native"]),
]


def part_of(symbol, library):
    for part, marks in PARTS:
        if any(mark in symbol for mark in marks):
            return part
    if "kernel" in library:
        return "the kernel (memory, files)"
    return "C and C++ libraries (memory, maps, sorting)"


def samples(program, policy, operations):
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "perf.data"
        run = ["perf", "record", "-q", "-o", str(data), str(program), f"--operations={operations}",
               f"--benchmark_filter=BM_Replay/{policy}/8/"]
        if subprocess.run(run, capture_output=True).returncode != 0:
            return None
        report = subprocess.run(["perf", "report", "-i", str(data), "--stdio", "--no-children", "-F",
                                 "overhead,dso,symbol"], capture_output=True, text=True).stdout
    shares = collections.Counter()
    for line in report.splitlines():
        words = line.split(None, 3)
        if len(words) == 4 and words[0].endswith("%"):
            shares[part_of(words[3], words[1])] += float(words[0][:-1])
    shares.pop("making the capture (not counted)", None)
    return shares


def text(program, operations):
    try:
        columns = [samples(program, policy, operations) for policy in CASES]
    except FileNotFoundError:
        columns = [None]
    if any(not column for column in columns):
        return ("## Profile of a replay\n\nNot measured: perf (package linux-perf) is not there, or the machine"
                " does not let it count.\n")
    invariants = [100 * column[INVARIANTS] / sum(column.values()) for column in columns]
    if not any(invariants):
        verdict = "This build keeps no books of its own, so what they cost is not measured."
    else:
        verdict = (f"Invariants take {max(invariants):.1f} % at most; the goal is {MOST_FOR_INVARIANTS} %: "
                   f"{'met' if max(invariants) <= MOST_FOR_INVARIANTS else 'missed'}.")
    parts = sorted({part for column in columns for part in column if column[part] > 0},
                   key=lambda part: -columns[0][part])
    lines = ["| | " + " | ".join(CASES) + " |", "| --- |" + " ---: |" * len(CASES)]
    for part in parts:
        shares = [100 * column[part] / sum(column.values()) for column in columns]
        lines.append(f"| {part} | " + " | ".join(f"{share:.0f} %" for share in shares) + " |")
    return ("## Profile of a replay\n\nShares of perf's samples, eight streams; "
            "`python3 tests/bench/profile_replay.py` prints the same.\n\n" + "\n".join(lines) + f"\n\n{verdict}\n")


if __name__ == "__main__":
    print(text(Path(__file__).resolve().parents[2] / "build/bench/replay_bench", 500_000))
