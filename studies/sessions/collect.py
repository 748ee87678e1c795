#!/usr/bin/env python3
"""What the sessions that measure.py recorded had, and how far predict.py was off.

    collect.py FOLDER > measured.jsonl             what `measure.py company` wrote, and rates.json of `measure.py alone`
    collect.py --compare > table.md                measured.jsonl with predicted.jsonl
    collect.py --compare h100 > h100/table.md      those of that folder
    collect.py --compare . again.jsonl > scored.md  other predictions than predicted.jsonl
"""

import json
import pathlib
import statistics
import subprocess
import sys

import measure

HERE = pathlib.Path(__file__).resolve().parent
SIMCLI = HERE.parents[1] / "build/release/simcli"
NAMES = {"fps": "fps_mean", "fps_1low": "fps_1low", "frame_time_p99_s": "frame_time_p99_ms"}


def session(path):
    said = subprocess.run([SIMCLI, "info", path, "--json"], check=True, capture_output=True, text=True).stdout
    recorded = json.loads(said)["game"]["recorded"]
    return {name: recorded[key] * (1e3 if name.endswith("_ms") else 1) for key, name in NAMES.items()}


def kept_rates(folder):
    """What the training kept of its rate while the sessions ran: its steps less those of the time before and after."""
    alone = json.loads((folder / "rates.json").read_text())["per_second"]
    kept = {}
    for line in map(json.loads, (folder / "rates.jsonl").read_text().splitlines()):
        assert line["overlaps"], line
        seconds = (line["ended_monotonic_ns"] - line["began_monotonic_ns"]) / 1e9
        together = measure.BEGIN_S + measure.WINDOW_S
        kept[line["cell"], line["repetition"]] = (line["steps"] - alone * (seconds - together)) / together / alone
    return kept


def collect(folder):
    kept = kept_rates(folder) if (folder / "rates.jsonl").exists() else {}
    for cell in measure.CELLS:
        for repetition in sorted((folder / measure.name_of(cell)).glob("*")):
            paths = [repetition / f"{number}.corun" for number in range(cell[2])]
            if not all(path.is_file() for path in paths):
                continue
            sessions = [session(path) for path in paths]
            line = {"cell": measure.name_of(cell), "repetition": int(repetition.name)}
            line |= {name: worst(one[name] for one in sessions) for name, worst in measure.WORST.items()}
            if cell[3]:
                line["training_keeps"] = kept[measure.name_of(cell), int(repetition.name)]
            print(json.dumps(line))


def compare(measured, predicted):
    print("| cell | figure | measured | from a paced capture | from an uncapped one |\n|---|---|---:|---:|---:|")
    errors = {}
    for cell in measure.CELLS:
        name = measure.name_of(cell)
        rows = [row for row in measured if row["cell"] == name]
        for figure in [*measure.WORST, "training_keeps"] if rows else []:
            values = [row[figure] for row in rows if figure in row]
            if not values:
                continue
            texts, digits = [], 2 if figure == "training_keeps" else 1
            for capture in ("paced", "uncapped"):
                value = next(row for row in predicted if (row["cell"], row["capture"]) == (name, capture))[figure]
                error = value / statistics.mean(values) - 1
                errors.setdefault((figure, capture), []).append(abs(error))
                texts.append(f"{value:.{digits}f} ({100 * error:+.1f} %)")
            spread = "" if len(values) == 1 else f" ({min(values):.{digits}f} to {max(values):.{digits}f})"
            print(f"| {name} | {figure} | {statistics.mean(values):.{digits}f}{spread} | {texts[0]} | {texts[1]} |")
    print()
    for (figure, capture), its in errors.items():
        mean, worst = 100 * statistics.mean(its), 100 * max(its)
        print(f"* {figure}, {capture} capture: error {mean:.1f} % ({worst:.1f}), mean (worst), {len(its)} cells")


def holds(rows, fps):
    """As `simcli fit` has it by default."""
    rate, p99 = (statistics.mean(row[figure] for row in rows) for figure in ("fps_mean", "frame_time_p99_ms"))
    return rate >= 0.99 * fps and p99 <= 1500 / fps


def decide(measured, predicted):
    measured_cells = [cell for cell in measure.CELLS if any(row["cell"] == measure.name_of(cell) for row in measured)]
    for capture in ("paced", "uncapped"):
        right = [holds([row for row in measured if row["cell"] == name], cell[1])
                 == holds([row for row in predicted if (row["cell"], row["capture"]) == (name, capture)], cell[1])
                 for cell in measured_cells for name in [measure.name_of(cell)]]
        print(f"* whether all sessions hold the rate, {capture} capture: right in {sum(right)} of {len(right)} cells")


def lines_of(path):
    return [json.loads(line) for line in (HERE / path).read_text().splitlines()]


def main():
    if sys.argv[1] == "--compare":
        folder = pathlib.Path(*sys.argv[2:3])
        predictions = sys.argv[3] if len(sys.argv) > 3 else "predicted.jsonl"
        measured, predicted = lines_of(folder / "measured.jsonl"), lines_of(folder / predictions)
        compare(measured, predicted)
        decide(measured, predicted)
    else:
        collect(pathlib.Path(sys.argv[1]))


if __name__ == "__main__":
    main()
