"""What the programs in this folder have in common: a loop of steps that knows how many it ran, and when.

    PROGRAM NAME [--seconds S] [--warm-up N] [--nvtx] [--profiler FILE [--profiler-steps]]

A program says what a step is and what waits for the device; run() warms up, runs steps for S seconds and prints one
line of JSON. STEP_FILE names a file for the end of every step (nanoseconds of CLOCK_MONOTONIC), from which record.py
counts the steps inside the window of a recording. GPU_LOCK names a file that a program locks before it touches the GPU
and WINDOW ("DELAY,LENGTH", seconds from the lock on) the window that it asks its recorder for: so the programs load
their frameworks side by side and use the GPU one after the other. PARK names a folder in which a program waits for its
turns, as ../mixes.py gives them: it touches the GPU once there is a file `gpu`, writes PARKED_AS.warm when it is warm,
and runs steps when the file `order` names it.
"""

import argparse
import contextlib
import fcntl
import importlib
import json
import os
import pathlib
import signal
import statistics
import sys
import time


def now_ns():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def memory_of_torch():
    """What PyTorch reserved at most, and what all programs use of the device now, contexts included."""
    torch = sys.modules.get("torch")
    if not torch or not torch.cuda.is_initialized():
        return {}
    free, total = torch.cuda.mem_get_info()
    return {"reserved_bytes": torch.cuda.max_memory_reserved(), "in_use_bytes": total - free}


class Loop:
    """Names a program's workloads and runs the one that the command line asks for."""

    def __init__(self, workloads, synchronize, ranges=None, profiler=None, modules=None):
        parser = argparse.ArgumentParser()
        parser.add_argument("workload", choices=workloads)
        parser.add_argument("--seconds", type=float, default=1.5)
        parser.add_argument("--warm-up", type=int)
        parser.add_argument("--nvtx", action="store_true", help="a range around each step")
        parser.add_argument("--profiler", metavar="FILE", help="PyTorch's profiler around the steps")
        parser.add_argument("--profiler-steps", action="store_true", help="... told of each step")
        self.options = parser.parse_args()
        self.synchronize, self.profiler = synchronize, profiler
        self.ranges = ranges if self.options.nvtx else None
        self.facts = {"program": self.options.workload}
        self.ends, self.began_ns, self.lock, self.is_asked_to_end = [], now_ns(), None, False
        signal.signal(signal.SIGTERM, self.ask_to_end)
        for module in (modules or {}).get(self.options.workload, []):
            importlib.import_module(module)
        self.take_gpu()
        workloads[self.options.workload](self)

    def ask_to_end(self, *_):
        self.is_asked_to_end = True

    def take_gpu(self):
        while "PARK" in os.environ and not pathlib.Path(os.environ["PARK"], "gpu").exists():
            time.sleep(0.05)
        if "GPU_LOCK" in os.environ:
            self.lock = open(os.environ["GPU_LOCK"], "w", encoding="utf-8")  # kept until the process is gone
            fcntl.flock(self.lock, fcntl.LOCK_EX)
        self.began_ns = now_ns()
        if "WINDOW" in os.environ:
            delay, length = (int(float(text) * 1e9) for text in os.environ["WINDOW"].split(","))
            os.environ["CORUN_TRACE_FROM_NS"] = str(self.began_ns + delay)
            os.environ["CORUN_TRACE_UNTIL_NS"] = str(self.began_ns + delay + length)
            self.facts |= {"from_ns": self.began_ns + delay, "until_ns": self.began_ns + delay + length}

    def range(self, name):
        """A range of NVTX, where the command line asks for them."""
        return self.ranges(name) if self.ranges else contextlib.nullcontext()

    def until_ns(self, seconds):
        """When steps that begin now shall end: not before the recording does."""
        return max(now_ns() + int(seconds * 1e9), self.facts.get("until_ns", 0) + 100_000_000)

    def steps(self, step, seconds, profile=None):
        until_ns = self.until_ns(seconds)
        while now_ns() < until_ns and not self.is_asked_to_end:
            with self.range("step"):
                step()
            self.ends.append(now_ns())
            if profile and self.options.profiler_steps:
                profile.step()

    def run(self, step, warm_up=20, **facts):
        """Calls `step` again and again; `facts` describe it (what a step is)."""
        for _ in range(self.options.warm_up or warm_up):
            with self.range("step"):
                step()
            self.ends.append(now_ns())
        self.synchronize()
        if "PARK" in os.environ:
            return self.park(step, pathlib.Path(os.environ["PARK"]), os.environ["PARKED_AS"])
        before, begin_ns = len(self.ends), now_ns()
        with self.profiler(self.options.profiler) if self.options.profiler else contextlib.nullcontext() as profile:
            self.steps(step, self.options.seconds, profile)
            self.synchronize()
        end_ns = now_ns()
        times = [after - begin for begin, after in zip(self.ends[before:], self.ends[before + 1:])]
        self.say(facts | {"warm_up_steps": before, "steps": len(self.ends) - before, "steady_from_ns": begin_ns,
                          "ended_ns": end_ns, "ready_s": (begin_ns - self.began_ns) / 1e9,
                          "per_second": (len(self.ends) - before) / ((end_ns - begin_ns) / 1e9),
                          "median_step_s": statistics.median(times) / 1e9 if times else None})

    def park(self, step, folder, label):
        """Steps from the begin to the end of each order, and their ends in LABEL.NUMBER."""
        (folder / f"{label}.warm").touch()
        number = 0
        while not self.is_asked_to_end:
            time.sleep(0.005)
            order = json.loads((folder / "order").read_text()) if (folder / "order").exists() else {"number": 0}
            if order["number"] == number:
                continue
            number, ends = order["number"], []
            if label not in order["labels"]:
                continue
            while (now := now_ns() / 1e9) < order["end"] and not self.is_asked_to_end:
                if now < order["begin"]:
                    time.sleep(0.0005)
                    continue
                step()
                ends.append(now_ns() / 1e9)
            self.synchronize()
            (folder / f"{label}.new").write_text(json.dumps(ends), encoding="utf-8")
            os.rename(folder / f"{label}.new", folder / f"{label}.{number}")

    def say(self, facts):
        self.facts |= {"gpu_from_ns": self.began_ns} | memory_of_torch() | facts
        print(json.dumps(self.facts), flush=True)
        if "STEP_FILE" in os.environ:
            pathlib.Path(os.environ["STEP_FILE"]).write_text(json.dumps(self.facts | {"step_ends_ns": self.ends}),
                                                             encoding="utf-8")
