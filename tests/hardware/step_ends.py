"""What the ends of a program's steps say."""

import statistics
import time


def now():
    """The clock of all ends, in seconds."""
    return time.clock_gettime(time.CLOCK_MONOTONIC)


def row(run, program, ends):
    """A row of measured.jsonl: the rate between the first and the last of the ends, and the times between them."""
    times = sorted(1e3 * (after - before) for before, after in zip(ends, ends[1:]))
    return {"run": run, "w": program, "iters": len(times), "it_s": round(len(times) / (ends[-1] - ends[0]), 3),
            "p50_ms": round(statistics.median(times), 3), "p99_ms": round(times[int(0.99 * (len(times) - 1))], 3)}
