#!/usr/bin/env python3
"""Holds what simcli computes to the record of its results revision.

    tests/reliability/results_record.py [--record] [--simcli PROGRAM]

Runs the shipped experiments that need neither a GPU nor foreign data, shortened, and hashes all rows of results but run
ids, versions, wall times, names of experiments and notes. records/results.json says which hashes belong to which
revision (kResultsRevision, experiments/run/results_revision.h). `--record` writes it: new hashes only under a new one.
"""

import argparse
import concurrent.futures
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import ledger
import results_rows

RECORD = ledger.ROOT / "tests/reliability/records/results.json"
UNTIL = {"tiny": "10s"}
FOLDERS = ["experiments", "studies", "tests/experiments/transcripts/files"]
NOT_RUN = re.compile(r"/(devices|live|validation)/|openb|djay_scenes|pilotfish_grid")  # hardware, foreign data, minutes
FILES_OF_TESTS = {"tiny.yaml", "sweep.yaml", "held.yaml"}
QUICK = ["quickstart", "rivals", "tiny", "held", "sweep", "partition", "elastic", "resize", "isolation", "shared_cards",
         "pilotfish", "djay_join", "nvshare_table", "gaiagpu_pairs", "paging_slices", "xsched_gv100"]  # a few seconds
PROSE = {("runs", "notes"), ("runs", "engine_version"), ("runs", "experiment")}
LATER_TABLES = {"requests"}  # that came after the revision; metrics are computed of their rows
LATER_METRICS = {"job_interval_p50_ms", "job_interval_p99_ms"}  # likewise; ends of jobs are in others, too


def experiments():
    """name -> path of every experiment that is run"""
    paths = [path for folder in FOLDERS for path in sorted((ledger.ROOT / folder).rglob("*.yaml"))
             if not NOT_RUN.search(path.as_posix()) and "clients" in path.read_text(encoding="utf-8")]
    known = [path for path in paths
             if "tests" not in path.relative_to(ledger.ROOT).parts or path.name in FILES_OF_TESTS]
    return {path.parent.name if path.stem == "experiment" else path.stem: path for path in known}


def is_later(row):
    table, values = row
    return table in LATER_TABLES or (table == "metrics" and not LATER_METRICS.isdisjoint(values))


def result_hash(path):
    """Of all rows of all runs, without what names a run or describes it in words."""
    runs = results_rows.rows_by_run(path, ignored=results_rows.IGNORED | PROSE)
    texts = sorted(repr([row for row in rows if not is_later(row)]).replace(run, "") for run, rows in runs.items())
    return hashlib.sha256(repr(texts).encode()).hexdigest()[:32]


def run(simcli, name, path):
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder, "r.sqlite")
        done = subprocess.run([simcli, "run", path, "--until", UNTIL.get(name, "1s"), "-f", "-o", output, "--jobs", "1",
                               "--progress", "none"], capture_output=True, text=True)
        if done.returncode not in (0, 6):  # 6: an expectation of the whole run does not hold in a shortened one
            return f"exit {done.returncode}: {done.stderr.strip()[:300]}"
        return result_hash(output)


def hashes(simcli, chosen, jobs=2):
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return dict(zip(chosen, pool.map(lambda name: run(simcli, name, chosen[name]), chosen)))


def revision(simcli):
    """Of the results of this program; 0 before there were revisions."""
    told = subprocess.run([simcli, "version", "--json"], capture_output=True, text=True, check=True).stdout
    return json.loads(told).get("results_revision", 0)


def differing(found, recorded):
    return sorted(name for name in found if found[name] != recorded.get(name))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--simcli", default=str(ledger.ROOT / "build/release/simcli"))
    options = parser.parse_args()
    recorded = json.loads(RECORD.read_text()) if RECORD.exists() else {"revision": -1, "hashes": {}}
    now, found = revision(options.simcli), hashes(options.simcli, experiments())
    failed = [name for name, hash_ in found.items() if hash_.startswith("exit")]
    changed = [name for name in differing(found, recorded["hashes"]) if name in recorded["hashes"]]
    for name in failed + changed:
        print(f"{name}: {found[name]}, recorded {recorded['hashes'].get(name)}")
    if options.record and not failed and (not changed or now > recorded["revision"]):
        RECORD.write_text(json.dumps({"revision": now, "hashes": found}, indent=1, sort_keys=True) + "\n")
        print(f"{len(found)} experiments of revision {now} recorded")
        return 0
    if changed:
        print("results changed: raise kResultsRevision (experiments/run/results_revision.h), then record them")
    print(f"{len(found)} experiments, {len(changed)} differ from revision {recorded['revision']}, {len(failed)} failed")
    return 1 if changed or failed else 0


if __name__ == "__main__":
    sys.exit(main())
