#!/usr/bin/env python3
"""Runs two programs and says where what they print first differs.

    same_output.py [ONE OTHER] [--record]

Without names, the engine and the naive one of build/dev; with --record, writes the record of RELIABILITY.md.
"""

import itertools
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "reliability"))
import ledger  # noqa: E402


def main():
    named = [word for word in sys.argv[1:] if word != "--record"]
    programs = named or [ledger.ROOT / "build/dev" / name for name in ("decision_log_own", "decision_log_naive")]
    printed = [subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
               for program in programs]
    heading = ""
    for number, (one, other) in enumerate(itertools.zip_longest(*printed), 1):
        heading = one if one and one.startswith("==") else heading
        if one != other:
            sys.exit(f"line {number}, in {heading}:\n  {one}\n  {other}")
    scenarios = sum(line.startswith("==") for line in printed[0])
    print(f"{scenarios} scenarios, {len(printed[0])} lines, all the same")
    if "--record" in sys.argv:
        ledger.write("reference", {"scenarios": scenarios, "lines": len(printed[0]), "differing": 0})
    return 0 if scenarios > 0 else 1


if __name__ == "__main__":
    raise SystemExit(main())
