#!/usr/bin/env python3
"""Does the same experiment in every way in which it must not matter, and compares the results.

    tests/reliability/determinism.py [--record] [EXPERIMENT...]

The ways: 1, 2 and 8 workers, seeds and policies in reversed order, the address space laid out anew, and every other
build of simcli that there is (build/dev: AddressSanitizer, build/clang: another compiler). Each must give the same rows
for every run, to the last bit; the hash is over all tables but the time that it took.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

import record
import results_rows

RELEASE = record.ROOT / "build/release/simcli"
OTHER_BUILDS = {"AddressSanitizer": record.ROOT / "build/dev/simcli", "clang": record.ROOT / "build/clang/simcli"}
EXPERIMENTS = ["experiments/quickstart.yaml", "experiments/rivals.yaml", "tests/experiments/transcripts/files/tiny.yaml"]
SHORT = ["--until", "4s", "--set", "seeds=[1, 2, 3]"]


def ways():
    """name -> (program, options, prefix)"""
    yield "1 worker", (RELEASE, ["--jobs", "1", *SHORT], [])
    yield "2 workers", (RELEASE, ["--jobs", "2", *SHORT], [])
    yield "8 workers", (RELEASE, ["--jobs", "8", *SHORT], [])
    yield "seeds reversed", (RELEASE, ["--jobs", "2", "--until", "4s", "--set", "seeds=[3, 2, 1]"], [])
    yield "no address randomisation", (RELEASE, ["--jobs", "2", *SHORT], ["setarch", "-R"])
    for name, program in OTHER_BUILDS.items():
        if program.exists():
            yield name, (program, ["--jobs", "2", *SHORT], [])


def results_hash(folder, experiment, program, options, prefix):
    output = folder / "r.sqlite"
    done = subprocess.run([*prefix, program, "run", record.ROOT / experiment, "-o", output, "-f", *options],
                          capture_output=True, text=True)
    if done.returncode not in (0, 6):
        sys.exit(f"{experiment}: exit {done.returncode}\n{done.stderr}")
    return results_rows.content_hash(output), len(results_rows.rows_by_run(output))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help="write the record of RELIABILITY.md")
    parser.add_argument("experiments", nargs="*", default=EXPERIMENTS)
    options = parser.parse_args()
    tried, compared, differing = [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for experiment in options.experiments:
            expected = None
            for name, way in ways():
                found, runs = results_hash(pathlib.Path(folder), experiment, *way)
                expected = expected or found
                tried += [name] if name not in tried else []
                compared += runs
                differing += runs if found != expected else 0
                print(f"{found}  {experiment}  {name}{'' if found == expected else '  DIFFERS'}", flush=True)
    print(f"{compared} runs in {len(tried)} ways, {differing} in files that differ")
    if options.record:
        record.write("determinism", {"ways": tried, "experiments": len(options.experiments), "runs": compared,
                                     "differing": differing})
    return 1 if differing else 0


if __name__ == "__main__":
    raise SystemExit(main())
