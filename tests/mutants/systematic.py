#!/usr/bin/env python3
"""Makes the usual slips in the code by the hundred, at random places, and runs the tests that come to each place.

    tests/mutants/systematic.py --sample 500            the record is written
    tests/mutants/systematic.py --sample 500 --seed 2   another sample
    tests/mutants/systematic.py --sample 80 --folder policies
    tests/mutants/systematic.py --sample 500 --only 17 203   these again, after a test was added
    tests/mutants/systematic.py --sample 500 --minutes 60    as many of them as that time allows, drawn at random
    tests/mutants/systematic.py --sample 500 --resume        all that no run has caught, after one was interrupted

A mistake is caught if a test fails with it that passes without it, or does not end in ten times its time and 5 s. The
quickest tests that come to its place are run, C++ and those of Python that start `simcli`, up to two minutes of them:
what survives those survives. So does a
mistake at a place that no test comes to. tests/mutants/equivalent.toml names those that change nothing that could be
observed, with the reason: they do not count.
"""

import argparse
import concurrent.futures
import itertools
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time
import tomllib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import plant  # noqa: E402
import schemata  # noqa: E402
sys.path[:0] = [str(plant.ROOT / "tests"), str(plant.ROOT / "tests/reliability")]
import ledger  # noqa: E402
import run_cpp  # noqa: E402

EQUIVALENT = plant.ROOT / "tests/mutants/equivalent.toml"
LONGEST_S = 60  # cases that take longer are left out
LONGEST_TOGETHER_S = 120  # cases that are tried for one mistake
PROCESSES = len(os.sched_getaffinity(0))
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]


# A mistake may send a signal to every process that it can see: let these be its own. The shell is the first of them, to
# which no signal comes by default.
OF_ITS_OWN = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", '"$@"; exit $?', "sh"]


def refuse_without_namespace():
    done = subprocess.run([*OF_ITS_OWN, "sh", "-c", "kill -9 -1; exit 7"], capture_output=True, text=True)
    if done.returncode != 7:
        raise SystemExit("mistakes need a PID namespace of their own, since some signal every process: run this as "
                         f"root\n{done.stderr}")


def run(command, case, environment, seconds):
    """The exit code, or None where the time was over; what the command started ends with it."""
    process = subprocess.Popen([*OF_ITS_OWN, *command], cwd=case.folder,
                               env={**os.environ, **case.environment, **environment},
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               start_new_session=True)
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


def simcli():
    """The program of the copy."""
    return schemata.BUILT / "simcli"


def python_cases(match):
    """Those of the files that start the program which $CORUN_SIMCLI names. What needs more than it, or takes longer
    than LONGEST_S, does not pass in the copy and is left out later."""
    starts = re.compile(r"CORUN_SIMCLI|from test_transcripts import")
    files = [path for path in sorted((schemata.TREE / "tests/experiments").rglob("test_*.py"))
             if starts.search(path.read_text())]
    listed = subprocess.run([*PYTEST, "--collect-only", *files], cwd=schemata.TREE, capture_output=True, text=True,
                            check=True).stdout
    names = [line for line in listed.splitlines() if "::" in line]
    properties = [{"name": "WORKING_DIRECTORY", "value": schemata.TREE},
                  {"name": "ENVIRONMENT", "value": [f"CORUN_SIMCLI={simcli()}", "PYTHONDONTWRITEBYTECODE=1"]}]
    return [run_cpp.Case({"name": name, "command": [*PYTEST, "-x", name], "properties": properties})
            for name in names if re.search(match or "", name, re.IGNORECASE)]


def command_of(cases):
    if not cases[0].filter:
        return cases[0].command
    names = ":".join(case.filter for case in cases)
    return [cases[0].command[0], f"--gtest_filter={names}", "--gtest_fail_fast", "--gtest_brief=1"]


# --- the first pass

def look_at(case, sites):
    """(passes, seconds, numbers of the mistakes to whose places it comes)"""
    path = schemata.HERE / f"reached-{os.getpid()}-{abs(hash(case.name))}"
    path.write_bytes(bytes(4096 * (1 + sites // 4096)))
    began = time.monotonic()
    code = run(command_of([case]), case, {"CORUN_MUTANTS_REACHED": str(path)}, LONGEST_S)
    seconds = time.monotonic() - began
    reached = [number for number, byte in enumerate(path.read_bytes()) if byte]
    path.unlink()
    return code == 0, seconds, reached


def kept_looks(path, cases):
    """name -> what look_at gave for the programs as they are built now."""
    programs = {pathlib.Path(case.command[0]) for case in cases if case.filter} | {simcli()}
    built = max((program.stat().st_mtime for program in programs if program.exists()), default=0)
    return json.loads(path.read_text()) if path.exists() and path.stat().st_mtime > built else {}


def first_pass(cases, sites, kept):
    """Keeps the cases that pass, each with `cost` and `reached`. `kept`: where a later run finds what each gave."""
    looks = kept_looks(kept, cases)
    unseen = [case for case in cases if case.name not in looks]
    with concurrent.futures.ThreadPoolExecutor(PROCESSES) as pool:
        looks |= zip((case.name for case in unseen), pool.map(lambda case: look_at(case, sites), unseen))
    kept.write_text(json.dumps(looks))
    left_out = []
    for case in cases:
        passes, case.cost, case.reached = looks[case.name]
        if not passes:
            left_out.append(case.name)
    print(f"{len(cases)} tests, {len(left_out)} left out: {', '.join(left_out)}", flush=True)
    return [case for case in cases if case.name not in set(left_out)]


# --- the mistakes

def groups(cases):
    """The quickest cases in the order in which they are tried."""
    quick_first = sorted(cases, key=lambda case: case.cost)
    together = itertools.accumulate(case.cost for case in quick_first)
    tried = [case for case, seconds in zip(quick_first, together) if seconds <= LONGEST_TOGETHER_S]
    return sorted(run_cpp.groups(tried), key=lambda group: sum(case.cost for case in group))


def try_mutant(number, cases):
    """How it was noticed, or None."""
    for group in groups(cases):
        cost = sum(case.cost for case in group)
        code = run(command_of(group), group[0], {"CORUN_MUTANT": str(number)}, 10 * cost + 5)
        if code != 0:
            return f"{pathlib.Path(group[0].command[0]).name}, {'time' if code is None else code}"
    return None


def identity(site):
    return [site["file"], site["start"], site["end"], site["original"], site["mutated"]]


def caught_before(chosen, path):
    """number -> how it was noticed, of mistakes that an earlier run caught which was perhaps not done."""
    lines = path.read_text().splitlines() if path.exists() else []
    known = {json.dumps(identity(one)): one["found"] for one in map(json.loads, lines) if one["found"]}
    numbers = {site["number"]: known.get(json.dumps(identity(site))) for site in chosen}
    return {number: found for number, found in numbers.items() if found}


def try_all(chosen, cases, log, minutes=None):
    """number -> how it was noticed, or None. Each is a line of `log` as soon as it is known. When the minutes are over
    none is begun; they are in no order, so those that were begun are a sample too."""
    end = time.monotonic() + 60 * minutes if minutes else float("inf")
    reaching = {site["number"]: [] for site in chosen}
    for case in cases:
        for number in set(case.reached) & reaching.keys():
            reaching[number].append(case)
    found = {}

    def one(site):
        if time.monotonic() > end:
            return
        number = site["number"]
        found[number] = try_mutant(number, reaching[number])
        with log.open("a") as lines:
            lines.write(json.dumps({**site, "found": found[number]}) + "\n")
        if found[number] is None:
            print(f"SURVIVES {number} {described(site)} [{len(reaching[number])} tests come here]", flush=True)

    with concurrent.futures.ThreadPoolExecutor(PROCESSES) as pool:
        list(pool.map(one, random.Random(0).sample(chosen, len(chosen))))
    return found


def described(site):
    original, mutated = (" ".join(site[which].split())[:90] for which in ("original", "mutated"))
    return f"{site['file']}:{site['line']}: {site['kind']}: {original or '(here)'} -> {mutated or '(nothing)'}"


# --- the score

def line_of(site):
    return (plant.ROOT / site["file"]).read_text().splitlines()[site["line"] - 1].strip()


def reason(site, listed):
    """Why a mistake changes nothing, where equivalent.toml says so."""
    return next((one["reason"] for one in listed if one["file"] == site["file"] and one["line"] == line_of(site)
                 and one["mutated"] == " ".join(site["mutated"].split())), None)


def score(chosen, found):
    listed = tomllib.loads(EQUIVALENT.read_text()).get("mutant", []) if EQUIVALENT.exists() else []
    folders = {}
    for site in chosen:
        its = folders.setdefault(schemata.folder_of(site["file"]), {"mutants": 0, "caught": 0, "equivalent": 0})
        its["mutants"] += 1
        its["caught"] += found[site["number"]] is not None
        its["equivalent"] += found[site["number"]] is None and reason(site, listed) is not None
    survivors = [described(site) for site in chosen
                 if found[site["number"]] is None and reason(site, listed) is None]
    return {"folders": folders, "survivors": survivors}


def say(result):
    for folder, its in result["folders"].items():
        judged = its["mutants"] - its["equivalent"]
        print(f"{folder:24} {its['caught']:4} of {judged:4} caught, {its['equivalent']} equivalent")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", help="only folders that begin so")
    parser.add_argument("--only", type=int, nargs="*", help="numbers of an earlier run with the same sample and seed")
    parser.add_argument("--resume", action="store_true", help="leave out what an earlier run caught")
    parser.add_argument("--minutes", type=float, help="begin no mistake after this time")
    parser.add_argument("--match", help="only tests with this in their names")
    options = parser.parse_args()
    refuse_without_namespace()
    at = ledger.moment()
    schemata.configure()
    chosen = schemata.sample(schemata.all_sites(), options.sample, options.seed, options.folder)
    print(f"{len(chosen)} mistakes", flush=True)
    chosen = schemata.build(chosen)
    size = max(site["number"] for site in chosen)
    if options.only:
        chosen = [site for site in chosen if site["number"] in options.only]
    log = schemata.HERE / "found.jsonl"
    found = caught_before(chosen, log) if options.resume else {}
    built = [case for case in run_cpp.listed_cases(schemata.BUILT, options.match) if case.command]
    cases = first_pass(built + python_cases(options.match), size, schemata.HERE / "looks.json")
    found |= try_all([site for site in chosen if site["number"] not in found], cases, log, options.minutes)
    result = score([site for site in chosen if site["number"] in found], found)
    say(result)
    if not (options.only or options.folder or options.match):
        ledger.write("mutation", {"seed": options.seed, **result}, at)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
