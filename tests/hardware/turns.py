"""How long a game keeps the GPU at a time: turns.py PROBE GPU SECONDS COMMAND...    (TURNS: a file for all)

Starts the game, waits SECONDS until it plays, and lets `corun-probe spin` watch the device's clock for two seconds:
each gap in the kernel's time is a turn of the game and two switches of context. Prints quantiles of the gaps, and of
the kernel's own turns between them. The game is asked to end: one that is killed in the middle of a frame can leave the
GPU unable to share itself (docs/live.md).
"""

import json
import os
import signal
import subprocess
import sys
import time

QUANTILES = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)


def quantiles(values):
    ordered = sorted(values)
    return "  ".join(f"{ordered[int(q * (len(ordered) - 1))] / 1e6:.2f}" for q in QUANTILES)


def watch(probe, gpu):
    process = subprocess.Popen([probe, "spin", f"device={gpu}", "duration_ns=2000000000"], text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    while (line := process.stdout.readline()).strip() != "ready":
        if not line:
            sys.exit(f"{probe} ended with {process.wait()}")
    process.stdin.write(f"{time.clock_gettime_ns(time.CLOCK_MONOTONIC) + 50_000_000}\n")
    process.stdin.flush()
    series = json.loads(process.stdout.readline())["series"]
    process.wait()
    return series["gap_begin_ns"], series["gap_length_ns"]


def end(game):
    """An engine that hangs in its own shutdown ends at the second signal."""
    for _ in range(3):
        os.killpg(game.pid, signal.SIGTERM)
        try:
            return game.wait(5)
        except subprocess.TimeoutExpired:
            pass
    sys.exit("turns.py: the game does not end")


def main(probe, gpu, seconds, *command):
    game = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True)
    time.sleep(float(seconds))
    try:
        begins, lengths = watch(probe, gpu)
    finally:
        end(game)
    if not lengths:
        sys.exit("turns.py: the game never had the device")
    own = [after - begin - length for begin, length, after in zip(begins, lengths, begins[1:])]
    if "TURNS" in os.environ:
        with open(os.environ["TURNS"], "w", encoding="utf-8") as file:
            json.dump({"begin_ns": begins, "length_ns": lengths}, file)
    print("quantile         ", "  ".join(f"{q:4.2f}" for q in QUANTILES))
    print("away, ms         ", quantiles(lengths))
    print("on the device, ms", quantiles(own))
    print(f"{len(lengths)} turns, {sum(lengths) / 1e6:.0f} of 2000 ms away, "
          f"{sum(lengths) / 1e6 / len(lengths):.2f} ms each")


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
