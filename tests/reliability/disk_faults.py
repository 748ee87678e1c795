#!/usr/bin/env python3
"""Lets the disk fail under programs that write results, and the power go.

    tests/reliability/disk_faults.py [--every N] [--record]

Every call on the results and their journals (open, read, write, truncate, sync, unlink) fails once, in each of the ways
of FAULTS, while a sweep is run, resumed, and merged of shards; --every N tries each N-th. The program must end well
with the undisturbed rows, or say what failed of which file (exit code 2 or 4); finished runs must be whole either way,
and the same command with --resume (of a merge: again) must end with the hash of the undisturbed results.

The power goes at every call: what was synced must be whole, and so must any part of the rest beside it (disk_log.py).
What was found there once must be there ever after, and at the end all runs.
"""

import argparse
import pathlib
import random
import shutil
import subprocess
import tempfile

import disk_log
import ledger
import results_rows

SIMCLI = ledger.ROOT / "build/release/simcli"
FILES = ledger.ROOT / "tests/experiments/transcripts/files"
SWEPT = ["-L", "clients.load.synthetic.requests.rate=100/s,200/s,300/s", "--jobs", "1", "--progress", "none",
         "--set", "horizon=60ms", "--set", "warmup=0ns"]
CASES = ("sweep", "resumed sweep", "merge")
FAULTS = {"EIO": "5", "EIO from then on": "5 on", "full (ENOSPC)": "28 short", "interrupted (EINTR)": "4"}


def shim(folder):
    library = folder / "faulty_disk.so"
    subprocess.run(["g++", "-std=c++20", "-O1", "-shared", "-fPIC", ledger.ROOT / "tests/reliability/faulty_disk.cpp",
                    "-o", library], check=True)
    return library


def simcli(*words, disk=None, **faults):
    """The program's end; `faults` are FAULTY_DISK_... variables, with the library `disk` in front of libc."""
    environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
    if disk:
        environment |= {"LD_PRELOAD": str(disk),
                        **{f"FAULTY_DISK_{name.upper()}": str(value) for name, value in faults.items()}}
    return subprocess.run([SIMCLI, *map(str, words)], env=environment, capture_output=True, text=True, timeout=120)


def succeed(*words):
    done = simcli(*words)
    assert done.returncode == 0, f"{words}: exit {done.returncode}\n{done.stderr}"
    return done.stdout


def hash_of(path):
    return succeed("hash", path).split()[0]


def sweep(output, *more):
    return "sweep", FILES / "tiny.yaml", "-o", output, *SWEPT, *more


class Case:
    """A command that writes results, what lies there before it, and how it is done again."""

    def __init__(self, folder, whole, name):
        self.output, self.name = folder / "disk" / "r.sqlite", name
        self.before = None
        self.command = self.again = sweep(self.output, "--resume")
        if name == "sweep":
            self.command = sweep(self.output)
        elif name == "resumed sweep":
            self.before = folder / "half.sqlite"
            succeed(*sweep(self.before))
            cut(self.before)
        else:
            shards = [folder / f"shard{i}.sqlite" for i in (1, 2)]
            for number, shard in enumerate(shards, 1):
                succeed(*sweep(shard, "--shard", f"{number}/2"))
            self.command, self.again = (("merge", "-o", self.output, *shards, *more) for more in ((), ("-f",)))
        self.prepare()
        succeed(*self.command)
        self.hash = hash_of(self.output)
        self.whole = whole

    def prepare(self):
        shutil.rmtree(self.output.parent, ignore_errors=True)
        self.output.parent.mkdir()
        if self.before:
            shutil.copyfile(self.before, self.output)

    def calls(self, disk, folder):
        self.prepare()
        assert simcli(*self.command, disk=disk, under=f"{self.output.parent}/", log=folder / "log").returncode == 0
        return len(disk_log.read_log(folder / "log"))


def cut(path):
    """Leaves the first run of a results file: what a program that was ended early wrote."""
    with results_rows.sqlite3.connect(path) as database:
        first, = database.execute("SELECT id FROM runs ORDER BY rowid LIMIT 1").fetchone()
        for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            columns = {row[1] for row in database.execute(f"PRAGMA table_info({table})")}
            if "run" in columns and table != "planned_runs":
                database.execute(f"DELETE FROM {table} WHERE run != ?", (first,))
        database.execute("DELETE FROM runs WHERE id != ?", (first,))
        database.execute("DELETE FROM properties WHERE key = 'hash'")
    database.close()


def rows_left(path, whole):
    """Ids of the runs in a file, which must be whole. Raises AssertionError where one is not as in `whole`."""
    try:
        left = results_rows.rows_by_run(path)
    except results_rows.sqlite3.OperationalError as error:
        if "no such table" in str(error) or "unable to open" in str(error):
            return set()  # it ended before its first transaction
        raise
    for name, rows in left.items():
        assert rows == whole[name], f"run {name} has {len(rows)} rows, {len(whole[name])} were expected"
    return set(left)


def fail(case, disk, number, fault):
    """The program's exit code when call `number` fails. Raises AssertionError where a promise is broken."""
    case.prepare()
    code, *how = fault.split()
    before = rows_left(case.output, case.whole) if case.before else set()
    done = simcli(*case.command, disk=disk, under=f"{case.output.parent}/", fail=" ".join([str(number), code, *how]))
    said = f"exit {done.returncode}: {done.stderr.strip()}"
    assert done.returncode in (0, 2, 4), said
    error = done.stderr[done.stderr.find("error["):]
    assert done.returncode == 0 or f"--> {case.output}" in error, f"the error does not name the file; {said}"
    left = rows_left(case.output, case.whole)
    assert before <= left, f"runs that had been there are lost; {said}"
    if done.returncode == 0:
        assert hash_of(case.output) == case.hash, f"other results without an error; {said}"
        return 0
    succeed(*case.again)
    assert hash_of(case.output) == case.hash, f"done again, it has other results; {said}"
    return done.returncode


def fail_everywhere(case, disk, folder, every=1):
    """{exit code: how often} over all faults at every `every`-th call."""
    calls, ends, tried = case.calls(disk, folder), {}, 0
    for fault in FAULTS.values():
        for number in range(1 + tried % every, calls + 1, every):
            try:
                code = fail(case, disk, number, fault)
            except AssertionError as broken:
                raise AssertionError(f"{case.name}, call {number} of {calls}, fault {fault}: {broken}") from None
            ends[code] = ends.get(code, 0) + 1
        tried += 1
    return ends


def lay_out(files, folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for path, content in files.items():
        (folder / pathlib.Path(path).name).write_bytes(content)


class PowerLosses:
    """What is found on the disk where the power goes. Raises AssertionError where a run is torn,
    or lost once synced."""

    def __init__(self, output, whole, folder, draw):
        self.file, self.whole, self.folder, self.draw = folder / pathlib.Path(output).name, whole, folder, draw
        self.disk, self.safe, self.opened, self.most_lost = disk_log.Disk(), set(), 0, 0

    def runs_in(self, files):
        self.opened += 1
        lay_out(files, self.folder)
        return rows_left(self.file, self.whole)

    def lose(self, call):
        written, kept = self.runs_in(self.disk.with_everything()), self.runs_in(self.disk.with_what_was_synced())
        others = [self.disk.with_unlinked_files_back(), *(self.disk.with_some_of_the_rest(self.draw) for _ in range(2))]
        for found in (kept, *map(self.runs_in, others)):
            assert self.safe <= found, f"a run that had been synced is lost at call {call}"
        self.safe |= kept
        self.most_lost = max(self.most_lost, len(written - kept))


def power_losses(events, output, whole, folder, draw, every=1):
    """Lets the power go before every `every`-th event and after the last: (how many states of the disk were opened, the
    most runs that were written and not there in any of them)."""
    losses = PowerLosses(output, whole, folder, draw)
    for number, event in enumerate(events):
        if number % every == 0:
            losses.lose(number + 1)
        losses.disk.do(event)
    losses.lose(len(events) + 1)
    assert losses.safe == set(whole), f"{len(set(whole) - losses.safe)} runs of a program that has ended are lost"
    return losses.opened, losses.most_lost


def log_of(command, output, disk, folder):
    shutil.rmtree(output.parent, ignore_errors=True)
    output.parent.mkdir()
    done = simcli(*command, disk=disk, under=f"{output.parent}/", log=folder / "log")
    assert done.returncode == 0, done.stderr
    return disk_log.read_log(folder / "log")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--record", action="store_true", help="write the record of RELIABILITY.md")
    options = parser.parse_args()
    at, found = ledger.moment(), {"cases": {}}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        disk = shim(folder)
        succeed(*sweep(folder / "whole.sqlite"))
        whole = results_rows.rows_by_run(folder / "whole.sqlite")
        for kind in CASES:
            case = Case(folder, whole, kind)
            ends = fail_everywhere(case, disk, folder, options.every)
            found["cases"][kind] = {"faults": sum(ends.values()), "unnoticed_by_results": ends.get(0, 0)}
            print(f"{kind}: {sum(ends.values())} faults; exit codes {ends}", flush=True)
        output = folder / "disk" / "r.sqlite"
        events = log_of(sweep(output), output, disk, folder)
        found["power_losses"], _ = power_losses(events, output, whole, folder / "power", random.Random(1),
                                                options.every)
        print(f"power: {found['power_losses']} states of the disk opened, none with a run torn or lost")
    if options.record:
        ledger.write("disk", {"ways": list(FAULTS), **found}, at)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
