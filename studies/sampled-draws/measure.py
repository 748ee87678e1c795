#!/usr/bin/env python3
"""Games alone and next to a training, as they are: no gate, no policy, both on one GPU.

    measure.py --simtrace FILE --scene FILE --probe FILE -o FOLDER [--repetitions N] [--only GAME...]

Writes FOLDER/alone/GAME.corun, frames with what they are made of; FOLDER/turns/GAME.json, the game's turns while a
kernel spins; FOLDER/company/REPETITION/GAME.corun, frames of a window with the training; and FOLDER/steps.json: when
the training's steps ended, and each window. OpenArena and its engine are packages (tests/hardware/openarena.sh).
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
HARDWARE = ROOT / "tests/hardware"
WINDOW_S = 7
ALONE_S = 8  # of the training, before the first game
LOAD_S = 60  # for PyTorch, at most
ENVIRONMENT = os.environ | {"SDL_VIDEODRIVER": "offscreen"}


def scene(*words):
    return ["SCENE", *words, "--seconds", "60"]


def openarena():
    """The recorded match at 4K. An engine that is killed can spoil the GPU (docs/live.md): it is asked to end."""
    settings = {"fs_basepath": "/usr/lib/openarena", "com_basegame": "baseoa", "com_homepath": ".corun-openarena",
                "com_hunkMegs": 512, "ttycon": 0, "s_initsound": 0, "r_mode": -1, "r_customwidth": 3840,
                "r_customheight": 2160, "r_fullscreen": 0, "cl_renderer": "opengl2", "r_swapInterval": 0, "timedemo": 0,
                "com_maxfps": 60}
    set_all = [str(word) for name, value in settings.items() for word in ("+set", name, value)]
    return ["/usr/lib/ioquake3/ioquake3", *set_all, "+demo", "demo088-test1"]


# What runs, and seconds until it plays
GAMES = {
    "scene": (scene("--size", "2560x1440", "--load", "0.4", "--fps", "60"), 3),
    "large": (scene("--size", "2560x1440", "--level", "1", "--load", "0.5", "--fps", "0"), 3),
    "middle": (scene("--size", "1920x1080", "--level", "2", "--load", "0.25", "--fps", "0"), 3),
    "small": (scene("--size", "1280x720", "--level", "3", "--load", "0.25", "--fps", "0"), 3),
    "openarena": (openarena(), 12),
}


def command_of(options, name):
    return [options.scene if word == "SCENE" else word for word in GAMES[name][0]]


def record(options, name, output):
    begin_s = GAMES[name][1]
    output.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([options.simtrace, "record", "-q", "--kill", "term", "--delay", f"{begin_s}s", "--timed",
                    f"{WINDOW_S}s", "-o", output, "--", *command_of(options, name)], check=False,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENVIRONMENT)


def train(folder):
    """In a process of its own: steps until the file `end` is there."""
    sys.path.insert(0, str(HARDWARE))
    import torch
    import torch_loop
    torch.manual_seed(1)
    step, ends_ns = torch_loop.WORKLOADS["resnet50"](), []
    while not (folder / "end").exists():
        step()
        torch.cuda.synchronize()
        ends_ns.append(time.clock_gettime_ns(time.CLOCK_MONOTONIC))
        if len(ends_ns) == 10:
            (folder / "begun").touch()
    (folder / "ends.json").write_text(json.dumps(ends_ns))


def wait_for(path, seconds):
    for _ in range(10 * seconds):
        if path.exists():
            return
        time.sleep(0.1)
    sys.exit(f"{path} did not come within {seconds} s")


def company(options):
    training = subprocess.Popen([sys.executable, __file__, "--train", options.output])
    wait_for(options.output / "begun", LOAD_S)
    windows, begun = [], time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    time.sleep(ALONE_S)
    windows.append(["alone", 0, begun, time.clock_gettime_ns(time.CLOCK_MONOTONIC)])
    for name in options.only:
        for repetition in range(options.repetitions):
            start = time.clock_gettime_ns(time.CLOCK_MONOTONIC) + GAMES[name][1] * 10**9
            record(options, name, options.output / "company" / str(repetition) / f"{name}.corun")
            windows.append([name, repetition, start + 10**9, start + (WINDOW_S - 1) * 10**9])
    (options.output / "end").touch()
    training.wait()
    ends_ns = json.loads((options.output / "ends.json").read_text())
    (options.output / "steps.json").write_text(json.dumps({"windows": windows, "ends_ns": ends_ns}))


def turns(options, name):
    file = options.output / "turns" / f"{name}.json"
    file.parent.mkdir(exist_ok=True)
    subprocess.run([sys.executable, HARDWARE / "turns.py", options.probe, "0", str(GAMES[name][1] + 2),
                    *command_of(options, name)], check=False, env=ENVIRONMENT | {"TURNS": str(file)})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for program in ("simtrace", "scene", "probe"):  # not asked of the process that trains
        parser.add_argument(f"--{program}", type=os.path.abspath)
    parser.add_argument("-o", "--output", type=pathlib.Path)
    parser.add_argument("--train", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--repetitions", type=int, default=2)
    parser.add_argument("--only", nargs="*", default=list(GAMES), help="these games")
    options = parser.parse_args()
    if options.train:
        return train(options.train)
    options.output.mkdir(parents=True, exist_ok=True)
    company(options)
    for name in options.only:
        record(options, name, options.output / "alone" / f"{name}.corun")
        turns(options, name)


if __name__ == "__main__":
    main()
