#!/usr/bin/env python3
"""Runs fuzz targets, one after the other, and adds what was tried to the record, which goes over all campaigns.

    ./dev fuzz                      every surface, a minute each, those first that had the least
    ./dev fuzz kineto --seconds 600
    ./dev fuzz --grow               also keeps the smallest inputs that reach more code, in tests/fuzz/corpus

What fuzzing finds lies in build/fuzz/findings; `build/fuzz/fuzz_SURFACE FILE` repeats it. Once repaired, the input goes
into tests/fuzz/corpus/SURFACE/regression-NAME, which the ordinary tests replay. An open finding is exit code 1.
"""

import argparse
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "reliability"))
import ledger  # noqa: E402

ROOT = ledger.ROOT
BUILT = ROOT / "build/fuzz"
CORPUS = ROOT / "tests/fuzz/corpus"
LIMITS = ["-timeout=20", "-rss_limit_mb=2048", "-malloc_limit_mb=1024"]
SHORTEST_LIMIT = 4096  # bytes of an input
# Stacks that outlive their functions are looked for nowhere else either, and cost native and part two thirds of their
# speed.
ENVIRONMENT = {**os.environ, "ASAN_OPTIONS": "detect_stack_use_after_return=0"}
MOST_GROWN_FILES = 60
MOST_GROWN_BYTES = 4096


def surfaces():
    return sorted(path.name for path in CORPUS.iterdir() if path.is_dir())


def limits(surface):
    """Inputs may be as long as the longest of the corpus:
    libFuzzer cuts longer ones, and a database that is cut is none."""
    longest = max(path.stat().st_size for path in CORPUS.joinpath(surface).iterdir())
    weighs = ["-entropic=0"] if surface == "action" else []  # weighing inputs took longer than running them
    return [*LIMITS, f"-max_len={max(SHORTEST_LIMIT, longest + longest // 8)}", *weighs]


def dictionary(surface):
    """Words of the seeds, as libFuzzer reads them: keys of texts, names in databases."""
    words = {word for path in CORPUS.joinpath(surface).glob("seed-*")
             for word in re.findall(rb"[A-Za-z_]{3,32}", path.read_bytes())}
    path = BUILT / "dictionaries" / surface
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f'"{word.decode()}"\n' for word in sorted(words)))
    return [f"-dict={path}"] if words else []


def in_need():
    """Surfaces, those with the least time first."""
    kept = (ledger.read("fuzz") or {}).get("surfaces", {})
    return sorted(surfaces(), key=lambda surface: (kept.get(surface, {}).get("seconds", 0), surface))


def fuzz(surface, seconds):
    """(inputs tried, seconds, names of findings)"""
    pool, findings = BUILT / "pool" / surface, BUILT / "findings"
    pool.mkdir(parents=True, exist_ok=True)
    findings.mkdir(exist_ok=True)
    inputs = spent = 0
    found = []
    while spent < seconds and len(found) < 3:
        command = [BUILT / f"fuzz_{surface}", pool, CORPUS / surface, f"-max_total_time={max(1, int(seconds - spent))}",
                   f"-artifact_prefix={findings}/{surface}-", "-print_final_stats=1", *limits(surface),
                   *dictionary(surface)]
        begin = time.monotonic()
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", cwd=ROOT, env=ENVIRONMENT)
        tried = re.findall(r"number_of_executed_units:\s*(\d+)",
                           done.stderr) or re.findall(r"^#(\d+)", done.stderr, re.M)
        inputs += int(tried[-1]) if tried else 0
        spent += time.monotonic() - begin
        if done.returncode == 0:
            break
        artifacts = re.findall(r"Test unit written to (\S+)", done.stderr)
        found.append(pathlib.Path(artifacts[-1]).name if artifacts else f"exit {done.returncode}")
        (findings / f"{found[-1].replace(' ', '-')}.log").write_text(done.stderr)
    return inputs, round(spent), found


def grow(surface):
    """The smallest inputs of the pool that together reach what it reaches, as far as they are small enough to keep."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([BUILT / f"fuzz_{surface}", "-merge=1", folder, CORPUS / surface, BUILT / "pool" / surface,
                        *limits(surface)],
                       capture_output=True, cwd=ROOT)
        known = {path.read_bytes() for path in CORPUS.joinpath(surface).iterdir()}
        files = sorted(pathlib.Path(folder).iterdir(), key=lambda path: path.stat().st_size)
        fresh = [path for path in files if path.read_bytes() not in known and path.stat().st_size <= MOST_GROWN_BYTES]
        for path in fresh[:max(0, MOST_GROWN_FILES - len(known))]:
            name = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
            shutil.copyfile(path, CORPUS / surface / f"grown-{name}")


def input_of(surface, name):
    """The input of a finding, which its name ends with the SHA-1 of: as it was found here, or in the corpus;
    else None."""
    found = BUILT / "findings" / name
    if found.exists():
        return found
    inputs = (CORPUS / surface).glob("regression-*")
    return next((path for path in inputs if name.endswith(hashlib.sha1(path.read_bytes()).hexdigest())), None)


def still_open(surface, names):
    """Which of earlier findings still are: those that fail when repeated, and those whose input is nowhere."""
    def fails(name):
        path = input_of(surface, name)
        return path is None or subprocess.run([BUILT / f"fuzz_{surface}", path, *LIMITS], capture_output=True,
                                              cwd=ROOT).returncode != 0
    return [name for name in names if fails(name)]


def add_to_record(surface, inputs, seconds, found, at):
    """A finding stays open until it is repeated and passes, however long the campaigns after it found nothing."""
    kept = (ledger.read("fuzz") or {}).get("surfaces", {})
    before = kept.get(surface, {})
    known = still_open(surface, [name for name in before.get("open_findings", []) if name not in found])
    kept[surface] = {**ledger.added(before, {"inputs": inputs, "seconds": seconds}, at), "open_findings": known + found}
    ledger.write("fuzz", {"surfaces": dict(sorted(kept.items()))}, at)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("surfaces", nargs="*", metavar="SURFACE", help=", ".join(surfaces()))
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--grow", action="store_true")
    options = parser.parse_args()
    unknown = set(options.surfaces) - set(surfaces())
    if unknown:
        parser.error(f"no surface {', '.join(sorted(unknown))}; there are {', '.join(surfaces())}")
    open_findings, at = 0, ledger.moment()
    for surface in options.surfaces or in_need():
        inputs, seconds, found = fuzz(surface, options.seconds)
        add_to_record(surface, inputs, seconds, found, at)
        open_findings += len(found)
        print(f"{surface:12} {inputs:>12,} inputs in {seconds} s{''.join('  FOUND ' + name for name in found)}",
              flush=True)
        if options.grow:
            grow(surface)
    return 1 if open_findings else 0


if __name__ == "__main__":
    raise SystemExit(main())
