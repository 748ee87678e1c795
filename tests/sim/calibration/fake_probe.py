#!/usr/bin/env python3
"""Stands for corun-probe: a made-up GPU that slices contexts in turn and lets visits of graphics run to their end.

CORUN_FAKE_PROBE, words: folder=PATH (needed: where probes of a trial find each other), slice=NS, switch=NS, no_gpu,
hangs=PROBE, fails=PROBE, dies=PROBE (without a word), chatters (says more than it should), extra=N (visits of a frame
besides its draws).
"""

import json
import os
import pathlib
import sys
import time

WORDS = dict(word.partition("=")[::2] for word in os.environ.get("CORUN_FAKE_PROBE", "").split())
SLICE, SWITCH = int(WORDS.get("slice", 1_500_000)), int(WORDS.get("switch", 120_000))
SM_COUNT = 132


def rotate(visits, until):
    """Which context runs when, in turn: visits[i](now) is how long context i stays; yields (context, begin, end)."""
    now, turn = 0, 0
    while now < until:
        length = visits[turn % len(visits)](now)
        if length > 0:
            yield turn % len(visits), now, now + length
            now += length + (SWITCH if len(visits) > 1 else 0)
        turn += 1


def gaps_of(me, spinners, until):
    begins, lengths, left = [], [], None
    for context, begin, end in rotate([lambda _: SLICE] * spinners, until):
        if context != me:
            continue
        if left is not None:
            begins.append(left)
            lengths.append(begin - left)
        left = end
    return begins, lengths


class Frames:
    """A context that renders frames of some visits, each a turn of its own."""

    def __init__(self, settings):
        self.visits = settings["draws"] + int(WORDS.get("extra", 1))
        self.each = settings["frame_ns"] // settings["draws"]
        self.draws, self.done = settings["draws"], 0
        self.period, self.due, self.ends, self.begins = settings["period_ns"], 0, [], []

    def visit(self, now):
        if now < self.due:
            return 0
        position = self.done % self.visits
        self.done += 1
        length = self.each if position < self.draws else 1_000
        if position == 0:
            self.begins.append(now)
        if position == self.visits - 1:
            self.ends.append(now + length)
            self.due = max(self.due + self.period, self.due)
        return length


def beside_frames(draw, spinners, until):
    """(frames, for each spinner its pairs of begin and end)."""
    frames = Frames(draw)
    runs = [[] for _ in range(spinners)]
    for context, begin, end in rotate([frames.visit] + [lambda _: SLICE] * spinners, until):
        if context > 0:
            runs[context - 1].append((begin, end))
    return frames, runs


def spin(settings, me, partners):
    until = settings["duration_ns"]
    spinners = [partner for partner in partners if partner["probe"] == "spin"]
    draws = [partner["settings"] for partner in partners if partner["probe"] == "draw"]
    shorts = [partner for partner in partners if partner["probe"] == "short"]
    position = [partner["me"] for partner in spinners].index(me)
    if draws:
        runs = beside_frames(draws[0], len(spinners), until)[1][position]
        begins = [end for _, end in runs[:-1]]
        lengths = [later[0] - earlier[1] for earlier, later in zip(runs, runs[1:])]
    elif shorts:
        begins = [begin - SWITCH for _, begin, _ in visits_of(until)]
        lengths = [end - begin + 2 * SWITCH for _, begin, end in visits_of(until)]
    else:
        begins, lengths = gaps_of(position, len(spinners), until)
    return {"begin_ns": [0], "end_ns": [until], "gaps": [len(begins)], "gap_begin_ns": begins, "gap_length_ns": lengths}


def visits_of(until):
    """Of a context that wakes at all phases of the other's slice: (submit, begin, end)."""
    found, count = [], 60
    for i in range(count):
        submit = i * (until // (count + 1)) + 1_000_000
        begin = submit + (i * 37 % count) * SLICE // count + SWITCH
        found.append((submit, begin, begin + 20_000))
    return found


def load(settings, me, partners):
    alone, ends, left = settings["length_ns"], [], settings["length_ns"]
    position = [partner["me"] for partner in partners].index(me)
    for context, begin, end in rotate([lambda _: SLICE] * len(partners), settings["duration_ns"]):
        while context == position and begin + left <= end:
            begin += left
            ends.append(begin)
            left = alone
        if context == position:
            left -= end - begin
    return {"alone_ns": [alone], "alone_period_ns": [alone], "blocks": [1056], "threads": [256],
            "begin_ns": [end - alone for end in ends], "end_ns": ends}


def draw(settings, me, partners):
    spinners = sum(partner["probe"] == "spin" for partner in partners)
    frames, _ = beside_frames(settings, spinners, settings["duration_ns"])
    count = len(frames.ends)
    return {"alone_ns": [settings["frame_ns"]] * 9, "submit_ns": frames.begins[:count],
            "begin_ns": frames.begins[:count], "end_ns": frames.ends, "drawn_ns": [settings["frame_ns"]] * count}


def short(settings, me, partners):
    visits = visits_of(settings["duration_ns"])
    return {"alone_ns": [settings["length_ns"]], "submit_ns": [v[0] for v in visits],
            "begin_ns": [v[1] for v in visits], "end_ns": [v[2] for v in visits]}


def measured(probe, settings, me, partners):
    if probe in ("spin", "load", "draw", "short"):
        return globals()[probe](settings, me, partners)
    return {
        "properties": {"sm_count": [SM_COUNT], "max_threads_per_sm": [2048], "max_blocks_per_sm": [32],
                       "registers_per_sm": [65536], "shared_memory_per_sm_bytes": [233472],
                       "memory_bytes": [150109880320]},
        "fills": {f"{kind}_{held}_ns": [int(500_000 * (8 / held) ** 0.25)] * 25
                  for kind in ("compute", "add", "copy", "cache") for held in (8, 4, 2, 1)},
        "copy": {"bytes": [268435456], "to_device_ns": [5_000_000] * 8, "from_device_ns": [5_200_000] * 8,
                 "both_ns": [6_000_000] * 8},
        "launch": {"queue_depth": [1023, 1023], "launch_ns": [2_100] * 20, "kernel_ns": [2_500] * 20,
                   "round_trip_ns": [7_000] * 20},
        "context": {"context_create_ns": [150_000_000], "made_again_ns": [120_000_000] * 3},
        "memory": {"at_ns": [0, 1], "free_bytes": [10 << 30, (10 << 30) - (500 << 20)]},
        "clock": {"heavy_khz": [1_755_000] * 9, "light_khz": [1_980_000] * 3, "top_khz": [1_980_000]},
        "priority": {"equal_wait_ns": [3_500_000] * 30, "urgent_wait_ns": [110_000] * 30,
                     "background_alone_ns": [4_000_000], "brief_alone_ns": [5_000]},
    }[probe]


def main():
    probe, settings = sys.argv[1], {}
    for word in sys.argv[2:]:
        key, _, value = word.partition("=")
        settings[key] = value if key == "library" else int(value)
    if "no_gpu" in WORDS:
        print("no CUDA driver: libcuda.so.1: cannot open shared object file", file=sys.stderr)
        return 3
    if WORDS.get("fails") == probe:
        print("launching: CUDA_ERROR_LAUNCH_FAILED", file=sys.stderr)
        return 4
    if WORDS.get("dies") == probe:
        os.kill(os.getpid(), 9)
    folder = pathlib.Path(WORDS["folder"])
    me = f"{time.monotonic_ns():020d}-{os.getpid()}"
    mine = folder / me
    mine.write_text(json.dumps({"probe": probe, "settings": settings, "me": me}))
    if "chatters" in WORDS:
        print("the driver would like you to know something")
    print("ready", flush=True)
    if WORDS.get("hangs") == probe:
        time.sleep(600)
    if not sys.stdin.readline():
        return 0
    partners = [json.loads(path.read_text()) for path in sorted(folder.iterdir())]
    time.sleep(0.3)  # until all have looked
    mine.unlink()
    print(json.dumps({"series": measured(probe, settings, me, partners), "texts": {"device": "a made-up GPU"}}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
