#!/usr/bin/env python3
"""Tries every mistake of mutants.toml on the test that should notice it, and writes record.json.

    tests/mutants/mutants.py            all of them
    tests/mutants/mutants.py 3 17       some; the record is not written
    tests/mutants/mutants.py --search 3 which test programs notice it, and by which tests

A mistake is caught if its test passes without it and fails with it: an assertion of a test, an invariant of the code
that aborts, or a test that does not end within its time.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import plant  # noqa: E402
sys.path.insert(0, str(plant.ROOT / "tests/reliability"))
import ledger  # noqa: E402

TREE = plant.ROOT / "build/mutants"
PROGRAMS = TREE / "build/tests"
TIME_LIMIT_S = 60


def build(programs):
    plant.plant(TREE)
    environment = {**os.environ, "CCACHE_BASEDIR": str(TREE), "CCACHE_NOHASHDIR": "1"}
    for command in (["cmake", "--preset", "bench", "-B", PROGRAMS],
                    ["cmake", "--build", PROGRAMS, "--target", *programs]):
        done = subprocess.run(command, cwd=TREE, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(done.stdout[-4000:] + done.stderr[-4000:])


def run(program, tests, number=0):
    """(passes, how it ended) of the tests of a program, with a mistake or without."""
    command = [PROGRAMS / program, f"--gtest_filter={tests}", "--gtest_brief=1"]
    try:
        done = subprocess.run(command, cwd=plant.ROOT, capture_output=True, text=True, errors="replace",
                              timeout=TIME_LIMIT_S,
                              env={**os.environ, "CORUN_MUTANT": str(number), "RC_PARAMS": "seed=1"})
    except subprocess.TimeoutExpired:
        return False, f"does not end within {TIME_LIMIT_S} s"
    if done.returncode < 0:
        return False, "aborts: " + (re.findall(r"(?:assert|promise|broken).*", done.stderr) or ["no word"])[0]
    ran = re.search(r"(\d+) tests? from", done.stdout)
    if ran is None or ran[1] == "0":
        return False, "there is no such test"
    failed = re.findall(r"FAILED  \] ([\w/.]+)", done.stdout)
    return done.returncode == 0, ", ".join(dict.fromkeys(failed))


def search(mutant, programs):
    for program in programs:
        passes, how = run(program, "*", mutant["number"])
        if not passes:
            print(f"{mutant['number']:3} {program}: {how[:400]}")


def try_one(mutant):
    """Whether its test notices it, and how."""
    program, tests = mutant["test"].split(": ")
    sound, why = run(program, tests)
    if not sound:
        return False, f"its test fails without it: {why}"
    passes, how = run(program, tests, mutant["number"])
    return not passes, how


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("numbers", nargs="*", type=int)
    parser.add_argument("--search", action="store_true")
    parser.add_argument("--programs", default="", help="of --search: test programs, with commas")
    options = parser.parse_args()
    chosen = [mutant for mutant in plant.mutants() if not options.numbers or mutant["number"] in options.numbers]
    programs = sorted({mutant["test"].split(":")[0] for mutant in plant.mutants() if "test" in mutant})
    if options.search:
        programs = options.programs.split(",") if options.programs else programs
    build(programs)
    if options.search:
        for mutant in chosen:
            search(mutant, programs)
        return 0
    survivors = 0
    for mutant in chosen:
        is_caught, how = try_one(mutant)
        survivors += not is_caught
        print(f"{'caught ' if is_caught else 'SURVIVES'} {mutant['number']:3} {mutant['name']} ({mutant['test']})"
              + ("" if is_caught else f": {how}"), flush=True)
    if not options.numbers:
        ledger.write("mutants", {"mutants": len(chosen), "caught": len(chosen) - survivors})
    return 1 if survivors else 0


if __name__ == "__main__":
    raise SystemExit(main())
