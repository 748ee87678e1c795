#!/usr/bin/env python3
"""What Corun makes of captures that were not written for it: read or refused, its steps, and its replay alone.

usage: survey.py [--simcli BUILD/simcli] LIST.csv [FOLDER]

LIST.csv has a row for each file: file, origin, source, licence. FOLDER holds the files, or folders with them; without
it, the paths are relative to the project's root. Prints a CSV table: what count.py counted (truth) beside what Corun
says of the same, and how far a replay alone is from what was recorded.
"""

import argparse
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

import count

ROOT = pathlib.Path(__file__).resolve().parents[2]
COLUMNS = ["file", "origin", "answer", "counted", "read", "steps_known", "steps", "certainty", "alone", "why"]
SHORTEST_S, LONGEST_S, FEWEST_STEPS, PASSES = 1.0, 600.0, 60, 2


def simcli(program, *words):
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout, done.stderr


def first_error(text):
    line = next((line for line in text.splitlines() if line.startswith("error")), text.strip().split("\n")[0])
    return line.split(": ", 1)[-1]


def replayed_alone(program, path, keys, horizon_s, metric):
    """(figure, None) of a run alone, or (None, why there is none)."""
    experiment = {"name": "alone", "device": "h100", "horizon": f"{horizon_s:.3f}s", "policies": ["passthrough"],
                  "clients": [{"name": "a", "trace": str(path), "accept": ["other_gpu", "collectives"], **keys}]}
    with tempfile.TemporaryDirectory() as folder:
        yaml = pathlib.Path(folder, "alone.yaml")
        yaml.write_text(json.dumps(experiment))
        code, out, err = simcli(program, "run", yaml, "-f", "-o", yaml.with_suffix(".sqlite"), "--json")
    if code != 0:
        return None, first_error(err)
    metrics = json.loads(out)["scenarios"][0]["clients"][0]["metrics"]
    return metrics[metric]["mean"], None


def of_program(program, path, info):
    steps = info["program"]
    row = {"steps": steps["steps"] or None, "certainty": steps["certainty"]}
    keys = {"host_gaps": "recorded"}
    if steps["unfit"].startswith("other contexts"):
        keys["allow_co_run"] = True
    elif not steps["is_fit"]:
        return row | {"why": steps["unfit"]}
    step_s = steps["step_ns"] * 1e-9
    horizon_s = min(max(max(FEWEST_STEPS, PASSES * steps["steps"]) * step_s, SHORTEST_S), LONGEST_S)
    rate, why = replayed_alone(program, path, keys, horizon_s, "throughput_per_s")
    return row | ({"why": why} if rate is None else {"alone": rate * step_s - 1})


def of_game(program, path, info):
    game = info["game"]
    if game["refusal"]:
        return {"why": game["refusal"]}
    span_s = info["span_ns"] * 1e-9
    fps, why = replayed_alone(program, path, {}, min(max(span_s, SHORTEST_S), LONGEST_S), "fps_mean")
    return {"why": why} if fps is None else {"alone": fps / game["recorded"]["fps"] - 1}


def survey(program, path):
    """A row of the table, as text."""
    counted = count.count(path)
    code, out, err = simcli(program, "info", "--json", path)
    row = {"counted": counted.get("operations", counted.get("frames")), "steps_known": counted.get("steps")}
    if code != 0:
        row |= {"answer": "refused", "why": first_error(err)}
        return row
    info = json.loads(out)
    row["read"] = info["kernels"] + info["memops"] + info["frames"]
    if "program" in info:
        row |= of_program(program, path, info)
    elif "game" in info:
        row |= of_game(program, path, info)
    else:
        row["why"] = "it holds no work of a GPU"
    row["answer"] = "replayed" if "alone" in row else "read, not replayed"
    return row


def as_text(value):
    if value is None:
        return ""
    return f"{100 * value:+.1f} %" if isinstance(value, float) else str(value)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simcli", default=ROOT / "build/release/simcli")
    parser.add_argument("list")
    parser.add_argument("folder", nargs="?")
    options = parser.parse_args()
    base = pathlib.Path(options.folder or ROOT)
    table = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    table.writeheader()
    for entry in csv.DictReader(open(options.list)):
        row = survey(options.simcli, (base / entry["file"]).resolve())
        row |= {"file": entry["file"], "origin": entry["origin"]}
        table.writerow({name: as_text(row.get(name)) for name in COLUMNS})
        sys.stdout.flush()


if __name__ == "__main__":
    main()
