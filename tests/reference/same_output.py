"""Runs two programs and says where what they print first differs."""

import itertools
import subprocess
import sys


def main():
    printed = [subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
               for program in sys.argv[1:3]]
    heading = ""
    for number, (one, other) in enumerate(itertools.zip_longest(*printed), 1):
        heading = one if one and one.startswith("==") else heading
        if one != other:
            sys.exit(f"line {number}, in {heading}:\n  {one}\n  {other}")
    scenarios = sum(line.startswith("==") for line in printed[0])
    print(f"{scenarios} scenarios, {len(printed[0])} lines, all the same")
    return 0 if scenarios > 0 else 1


if __name__ == "__main__":
    raise SystemExit(main())
