#!/usr/bin/env python3
"""Scores the newest measurement of every cell of h200.yaml by the predictions of now, and writes VALIDATION.md.

    experiments/validation/newest.py [--simcli build/release/simcli] [-o VALIDATION.md]

Cells were measured on several days. What was measured again replaces what was measured before: `REPLACED` says which cells of a file
no longer count. Windows are those of the measurements (`HORIZONS`), since what is predicted has to be as long.
"""

import argparse
import gzip
import pathlib
import sqlite3
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
FILES = ["h200-2026-11-22/part1", "h200-2026-11-22/part2", "h200-2026-11-22/part3", "h200-2026-11-22/part4",
         "h200-2026-11-22-again/rule", "h200-2026-11-22-again/paced", "h200-2026-11-23-mps/mps"]
REPLACED = {
    "part2": ["MPS %"],  # by mps: surrogates ask for shared memory in place of registers since then
    "part3": ["paced game and bert", "alone: game"],  # by paced, in windows of 10 s
    "part4": ["shared by rule"],  # by rule: device time of an operation holds no time away since then
}
SHORT, LONG = "1800ms", "2500ms"
HORIZONS = {**{name: SHORT for name in ("game by rule", "uncapped game and two", "openarena and cnn")},
            **{name: LONG for name in ("shared by rule", "MPS resnet50 and vit", "MPS bert and encoder",
                                       "MPS mobilenetv2 and cnn", "MPS three programs")}}


def newest(file, folder):
    path = folder / f"{pathlib.Path(file).name}.sqlite"
    path.write_bytes(gzip.decompress((HERE / f"{file}.sqlite.gz").read_bytes()))
    with sqlite3.connect(path) as results:
        results.executemany("DELETE FROM runs WHERE scenario LIKE ?", [(name,) for name in REPLACED.get(path.stem, [])])
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simcli", default=HERE.parents[1] / "build/release/simcli")
    parser.add_argument("-o", "--output", default="VALIDATION.md")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measured = [newest(file, pathlib.Path(folder)) for file in FILES]
        command = [options.simcli, "validate", HERE / "h200.yaml", "--set", f"horizon={SHORT}",
                   *[word for name, horizon in HORIZONS.items() for word in ("--set", f"scenarios.{name}.horizon={horizon}")],
                   *[word for path in measured for word in ("--measured", path)],
                   "-o", pathlib.Path(folder) / "scored.sqlite", "--report", options.output]
        return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
