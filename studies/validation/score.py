#!/usr/bin/env python3
"""Scores what was measured of h200.yaml by the predictions of the present model, and writes scored.md.

    studies/validation/score.py [--of present | h200] [--simcli build/release/simcli] [-o scored.md]

The newest measurement is in present/; its report is present/scored.md.
"""

import argparse
import gzip
import pathlib
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def unpacked(file, folder):
    path = folder / file.stem
    path.write_bytes(gzip.decompress(file.read_bytes()))
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--of", choices=["present", "h200"], default="present", help="folder of the measurement")
    parser.add_argument("--simcli", default=HERE.parents[1] / "build/release/simcli")
    parser.add_argument("-o", "--output", type=pathlib.Path)
    options = parser.parse_args()
    output = options.output or HERE / (".", "present")[options.of == "present"] / "scored.md"
    with tempfile.TemporaryDirectory() as folder:
        measured = [unpacked(file, pathlib.Path(folder)) for file in sorted((HERE / options.of).glob("*.sqlite.gz"))]
        command = [options.simcli, "validate", HERE / "h200.yaml",
                   *[word for path in measured for word in ("--measured", path)],
                   "-o", pathlib.Path(folder) / "scored.sqlite", "--report", output]
        return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
