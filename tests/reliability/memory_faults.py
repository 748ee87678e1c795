#!/usr/bin/env python3
"""Lets an allocation fail in a program that writes results, one after the other.

    tests/reliability/memory_faults.py [--part N] [--record]

Allocation 1, 2, 3, ... of a sweep fails (faulty_memory.cpp), in any caller; those later on in steps of 1/N of
their number. The sweep must end with the undisturbed rows, or say that memory is short: as an error of the run (exit
code 7) or of all (4). It must not crash, leave a torn file, or blame what was read. Resumed, it must have the
undisturbed results. Before the command line is understood nothing has been touched; static objects and CLI11 (in
functions that it promises not to throw from) end the program there as the C++ library does, by abort().
"""

import argparse
import pathlib
import subprocess
import tempfile

import disk_faults
import ledger
import results_rows


def sweep(folder, output, number):
    """The program's end while allocation `number` fails, 0 = none; how many there were is in `folder`/count."""
    environment = {"PATH": "/usr/bin:/bin", "LD_PRELOAD": str(folder / "faulty_memory.so"),
                   "FAULTY_MEMORY_FAIL": str(number), "FAULTY_MEMORY_COUNT": str(folder / "count")}
    return subprocess.run([disk_faults.SIMCLI, *map(str, disk_faults.sweep(output))], env=environment,
                          capture_output=True, text=True, timeout=120)


def check(folder, number, whole, expected):
    """The exit code while allocation `number` fails. Raises AssertionError where a promise is broken."""
    output = folder / "r.sqlite"
    for leftover in folder.glob("r.sqlite*"):
        leftover.unlink()
    done = sweep(folder, output, number)
    said = f"allocation {number}: exit {done.returncode}\n{done.stderr}"
    if done.returncode == -6 and not output.exists():  # before the command line was understood
        assert "bad_alloc" in done.stderr and "points" not in done.stderr, said
        return done.returncode
    assert done.returncode in (0, 4, 7), said
    assert done.returncode == 0 or "memory" in done.stderr, said
    left = results_rows.rows_by_run(output) if done.returncode == 7 else {}
    disk_faults.rows_left(output, {**whole, **left})  # whole; runs that failed for want of memory have other rows
    if done.returncode == 4:
        disk_faults.rows_left(output, whole)
        disk_faults.succeed(*disk_faults.sweep(output, "--resume"))
    assert done.returncode == 7 or disk_faults.hash_of(output) == expected, f"other results; {said}"
    return done.returncode


def check_all(folder, part):
    """{exit code: how often}"""
    subprocess.run(["g++", "-std=c++20", "-O1", "-shared", "-fPIC", ledger.ROOT / "tests/reliability/faulty_memory.cpp",
                    "-o", folder / "faulty_memory.so"], check=True)
    assert sweep(folder, folder / "whole.sqlite", 0).returncode == 0
    whole, expected = results_rows.rows_by_run(folder / "whole.sqlite"), disk_faults.hash_of(folder / "whole.sqlite")
    ends, number, allocations = {}, 1, int((folder / "count").read_text())
    while number <= allocations:
        code = check(folder, number, whole, expected)
        ends[code] = ends.get(code, 0) + 1
        number += 1 + number // part
    return ends


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", type=int, default=200)
    parser.add_argument("--record", action="store_true", help="write the record of RELIABILITY.md")
    options = parser.parse_args()
    at = ledger.moment()
    with tempfile.TemporaryDirectory() as folder:
        ends = check_all(pathlib.Path(folder), options.part)
    print(f"{sum(ends.values())} allocations failed; exit codes {ends}")
    if options.record:
        ledger.write("memory", {"faults": sum(ends.values()), "before_it_began": ends.get(-6, 0),
                                "not_needed": ends.get(0, 0)}, at)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
