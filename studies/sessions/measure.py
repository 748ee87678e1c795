#!/usr/bin/env python3
"""Sessions of a game on one GPU: captures of one alone, then several at once, with and without a training.

    measure.py alone --simtrace FILE --scene FILE -o FOLDER     captures: GAME.corun (paced), GAME.uncapped.corun,
                                                                resnet50.corun; rates.json: the training alone
    measure.py company --simtrace FILE --scene FILE -o FOLDER [--repetitions N] [--only CELL...]

`company` writes FOLDER/CELL/REPETITION/N.corun, the frames of each session in a window in which all draw, and
rates.jsonl: the training's median step, and whether it ran through the whole window.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
GAMES = {"small": ["--size", "1280x720", "--level", "3", "--load", "0.25"],
         "middle": ["--size", "1920x1080", "--level", "2", "--load", "0.25"],
         "large": ["--size", "2560x1440", "--level", "1", "--load", "0.5"]}
# game, frames per second of each session, sessions, whether a training runs, too
CELLS = [("small", 60, n, False) for n in (2, 4, 6, 8, 10)] + [("middle", 60, n, False) for n in (2, 3, 4, 5, 6)] + [
    ("large", 60, n, False) for n in (2, 3)] + [("large", 30, n, False) for n in (2, 3, 4, 5)] + [
    ("small", 120, n, False) for n in (2, 3, 4)] + [("small", 60, n, True) for n in (1, 2, 4)] + [
    ("middle", 60, n, True) for n in (1, 2, 3)]
WORST = {"fps_mean": min, "fps_1low": min, "frame_time_p99_ms": max}  # of several sessions
BEGIN_S, WINDOW_S = 4, 6  # of the window, after the sessions were started
LOAD_S = 9  # from the start of a training's process to its steps, at most


def name_of(cell):
    game, fps, sessions, has_training = cell
    return f"{game}_{fps}_{sessions}{'_training' if has_training else ''}"


class Trainer:
    """PyTorch, imported once: its trainings run in processes of their own."""

    def __init__(self):
        self.process = subprocess.Popen([sys.executable, ROOT / "tests/hardware/torch_loop.py", "serve"], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def start(self, seconds, environment=None):
        words = {"arguments": ["resnet50", "--seconds", str(seconds)], "environment": environment or {}}
        self.process.stdin.write(json.dumps(words) + "\n")
        self.process.stdin.flush()

    def result(self):
        answer = None
        for line in self.process.stdout:
            if line.startswith("ended"):
                return answer
            answer = json.loads(line)
        return answer


def recorded(options, output, game, fps, times):
    return [options.simtrace, "record", "-q", "--kill", "term", *times, "-o", output, "--", options.scene, *GAMES[game],
            "--fps", str(fps), "--seconds", "60"]


def alone(options):
    for game in GAMES:
        for fps, suffix in ((60, ""), (0, ".uncapped")):
            subprocess.run(recorded(options, options.output / f"{game}{suffix}.corun", game, fps,
                                    ["--delay", "2s", "--timed", "6s"]), check=False, stdout=subprocess.DEVNULL)
    trainer = Trainer()
    trainer.start(6)
    rate = trainer.result()
    subprocess.run([options.simtrace, "record", "-q", "-o", options.output / "resnet50.corun", "--", sys.executable,
                    ROOT / "tests/hardware/torch_loop.py", "resnet50", "--steps", "60"], check=False)
    (options.output / "rates.json").write_text(json.dumps(rate) + "\n")


def company(options):
    trainer = Trainer()
    trainer.start(1)
    trainer.result()
    for repetition in range(options.repetitions):
        for cell in CELLS:
            game, fps, sessions, has_training = cell
            if options.only and name_of(cell) not in options.only:
                continue
            folder = options.output / name_of(cell) / str(repetition)
            folder.mkdir(parents=True)
            if has_training:
                trainer.start(BEGIN_S + WINDOW_S + LOAD_S)
                time.sleep(LOAD_S)
            began = time.monotonic()
            window = ["--delay", f"{BEGIN_S}s", "--timed", f"{WINDOW_S}s"]
            running = [subprocess.Popen(recorded(options, folder / f"{number}.corun", game, fps, window),
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                       for number in range(sessions)]
            for process in running:
                process.wait()
            if has_training:
                line = {"cell": name_of(cell), "repetition": repetition, **trainer.result()}
                window_ns = [round((began + at) * 1e9) for at in (BEGIN_S, BEGIN_S + WINDOW_S)]
                line["overlaps"] = line["began_monotonic_ns"] < window_ns[0] < window_ns[1] < line["ended_monotonic_ns"]
                with (options.output / "rates.jsonl").open("a") as lines:
                    lines.write(json.dumps(line) + "\n")
            print(f"{name_of(cell)} {repetition}: {time.monotonic() - began:.1f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["alone", "company"])
    parser.add_argument("--simtrace", required=True, type=os.path.abspath)
    parser.add_argument("--scene", required=True, type=os.path.abspath)
    parser.add_argument("-o", "--output", required=True, type=pathlib.Path)
    parser.add_argument("--repetitions", type=int, default=2)
    parser.add_argument("--only", nargs="*", help="these cells")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    {"alone": alone, "company": company}[options.what](options)


if __name__ == "__main__":
    main()
