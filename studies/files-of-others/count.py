#!/usr/bin/env python3
"""Counts what a capture holds, by other means than Corun's readers: plain JSON, CSV and SQL.

usage: count.py FILE...      one JSON object a line

operations: kernels, copies and memsets; frames: rows of a frame log; fps: of the game and swapchain with most of them,
the rows after the first over the sum of their intervals; gpus; steps: profiler steps (ProfilerStep#n) of which
something was launched.
"""

import collections
import csv
import gzip
import json
import pathlib
import sqlite3
import sys
import tempfile

DEVICE_CATEGORIES = {"kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset"}
CALL_CATEGORIES = {"cuda_runtime", "cuda_driver", "runtime", "driver"}
INTERVALS = ("msbetweenpresents", "frametime", "frame time", "framerate")


def unpacked(path):
    data = pathlib.Path(path).read_bytes()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def of_kineto(text):
    document = json.loads(text, strict=False)
    events = document["traceEvents"] if isinstance(document, dict) else document
    device = [e for e in events if e.get("ph") == "X" and str(e.get("cat", "")).lower() in DEVICE_CATEGORIES]
    launched = {e.get("args", {}).get("correlation") for e in device}
    calls = [e["ts"] for e in events
             if e.get("ph") == "X" and str(e.get("cat", "")).lower() in CALL_CATEGORIES
             and e.get("args", {}).get("correlation") in launched]
    calls.sort(key=float)
    steps = {(float(e["ts"]), float(e["ts"]) + float(e["dur"])) for e in events
             if str(e.get("name", "")).startswith("ProfilerStep#") and e.get("ph") == "X"
             and not str(e.get("cat", "")).startswith("gpu")}
    with_work = sum(any(begin <= float(ts) < end for ts in calls) for begin, end in steps)
    gpus = {e.get("args", {}).get("device", e.get("pid")) for e in device}
    return {"operations": len(device), "gpus": len(gpus), "steps": with_work if steps else None}


def of_sqlite(data):
    with tempfile.NamedTemporaryFile(suffix=".sqlite") as file:
        file.write(data)
        file.flush()
        database = sqlite3.connect(f"file:{file.name}?mode=ro&immutable=1", uri=True)
        tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        rows, devices = 0, set()
        for table in ("KERNEL", "MEMCPY", "MEMSET"):
            if f"CUPTI_ACTIVITY_KIND_{table}" not in tables:
                continue
            rows += database.execute(f"SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_{table}").fetchone()[0]
            devices |= {d for (d,) in database.execute(f"SELECT DISTINCT deviceId FROM CUPTI_ACTIVITY_KIND_{table}")}
    return {"operations": rows, "gpus": len(devices), "steps": None}


def interval_column(header):
    names = [name.strip().lower() for name in header]
    return next((names.index(name) for name in INTERVALS if name in names), None)


def of_csv(text):
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("//")]
    rows = list(csv.reader(lines))
    at = next((i for i, row in enumerate(rows[:40]) if interval_column(row) is not None), None)
    if at is None:
        return {}
    header = [name.strip().lower() for name in rows[at]]
    column = interval_column(rows[at])
    keys = [header.index(name) for name in ("application", "processid", "swapchainaddress") if name in header]
    chains = collections.defaultdict(list)
    for row in rows[at + 1:]:
        try:
            chains[tuple(row[k] for k in keys)].append(float(row[column]))
        except (ValueError, IndexError):
            continue
    games = {chain: times for chain, times in chains.items() if "dwm.exe" not in chain} or chains
    intervals = max(games.values(), key=len)[1:]
    if header[column] == "framerate":
        intervals = [1000 / rate for rate in intervals if rate > 0]
    return {"frames": sum(map(len, chains.values())),
            "fps": 1000 * len(intervals) / sum(intervals) if intervals else None}


def count(path):
    data = unpacked(path)
    if data.startswith(b"SQLite format 3"):
        return of_sqlite(data)
    text = data.decode("utf-8-sig", errors="replace")
    if text.lstrip()[:1] in "{[":
        try:
            return of_kineto(text)
        except (ValueError, KeyError, TypeError):
            return {}
    return of_csv(text)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(json.dumps({"file": pathlib.Path(name).name, **count(name)}))
