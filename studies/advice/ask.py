#!/usr/bin/env python3
"""Asks `simcli advise` about each pair of this study, for both goals; prints a line of JSON an answer.

usage: ask.py RATES.jsonl [--second | (--third | --fourth | --fifth) [--fewer-sms]] [--simcli PROGRAM] [--jobs N]

RATES.jsonl has rates alone, several of a program; their mean is stated, the same day's. With --fewer-sms the means of
those with 30, 50 and 70 % of the SMs are stated, too.
"""

import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/hardware"))
import mixes  # noqa: E402

FOLDERS = {4: "studies/advice/fourth", 5: "studies/advice/fifth"}  # captures of a draw
GOALS = {"fairest": [], "most work": ["--most-work"]}


def rates_with_fewer_sms(path):
    """{program: a mapping of percentages to rates}"""
    parts = {part: mixes.rates_alone(path, f"solo{part}_") for part in mixes.PERCENTAGES}
    return {program: "{ " + ", ".join(f"{part}%: {rates[program]:.3f}/s" for part, rates in parts.items()) + " }"
            for program in next(iter(parts.values()))}


def captured(draw):
    """The truth of each program of a draw, with the path of its capture"""
    folder = pathlib.Path(FOLDERS.get(draw, "studies/programs-of-others"))
    truth = mixes.truth_of(ROOT / folder / "truth.jsonl", "window")
    return {program: row | {"path": folder / "captures" / row["file"]} for program, row in truth.items()}


def ask(simcli, gpu, programs, goal, rates, fewer, truth):
    captures = [str(truth[program]["path"]) for program in programs]
    words = [f"--solo-rate={program}={rates[program]:.3f}/s" for program in programs]
    words += [f"--set={program}.{key.replace(': ', '=', 1)}" for program in programs
              for key in mixes.stated_keys(program, truth[program]) + mixes.SPECIAL.get(program, [])]
    words += [f"--set={program}.fewer_sms={fewer[program]}" for program in programs if program in fewer]
    command = [simcli, "advise", *captures, f"--gpu={gpu}", "--modes=time_sliced,mps,mps_split", "--json", *words,
               *GOALS[goal]]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if not done.stdout:
        raise SystemExit(f"{programs}: {done.stderr}")
    return {"pair": "_".join(programs), "goal": goal, **json.loads(done.stdout)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rates", type=pathlib.Path)
    parser.add_argument("--second", dest="draw", action="store_const", const=2, default=1,
                        help="the pairs of the second draw")
    parser.add_argument("--third", dest="draw", action="store_const", const=3)
    parser.add_argument("--fourth", dest="draw", action="store_const", const=4)
    parser.add_argument("--fifth", dest="draw", action="store_const", const=5)
    parser.add_argument("--gpu", default="h100")
    parser.add_argument("--fewer-sms", action="store_true")
    parser.add_argument("--simcli", default=str(ROOT / "build/release/simcli"))
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    rates = mixes.rates_alone(options.rates)
    fewer = rates_with_fewer_sms(options.rates) if options.fewer_sms else {}
    truth = captured(options.draw)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        asked = [(programs, goal) for programs in mixes.choices(options.draw)[1] for goal in GOALS]
        for answer in pool.map(lambda one: ask(options.simcli, options.gpu, *one, rates, fewer, truth), asked):
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
