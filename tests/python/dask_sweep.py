"""Runs a sweep by simcli, then through Dask, of whose two workers one is killed midway, and compares the hashes.

    python3 tests/python/dask_sweep.py                   the 1000 points of experiments/sweeps/pilotfish.yaml
    python3 tests/python/dask_sweep.py EXPERIMENT --workers 4
"""

import argparse
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

from built_package import PACKAGE, ROOT  # puts corun where Python and the workers find it

import corun


class KillsMidway:
    """An executor that hands out work to a Dask cluster on this machine and, once so many pieces are back, sends
    SIGKILL to one of its workers. The cluster starts another one in its place."""

    def __init__(self, executor, cluster, after):
        self.executor, self.cluster, self.after = executor, cluster, after
        self.done, self.killed = 0, []

    def submit(self, work, *arguments):
        future = self.executor.submit(work, *arguments)
        future.add_done_callback(self.count)
        return future

    def count(self, _):
        self.done += 1
        if self.done == self.after:
            pid = next(iter(self.cluster.workers.values())).pid
            os.kill(pid, signal.SIGKILL)
            self.killed.append(pid)


def dask_sweep(folder, kill_after, *question, workers=2, **options):
    """(Results of corun.sweep(*question, **options), pieces that were back, killed workers),
    through Dask on 127.0.0.1."""
    import distributed

    with distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None, host="127.0.0.1",
                                  local_directory=str(folder)) as cluster, distributed.Client(cluster) as client:
        executor = KillsMidway(client.get_executor(), cluster, kill_after)
        return corun.sweep(*question, executor=executor, **options), executor.done, executor.killed


def by_simcli(experiment, folder, workers):
    """(hash, seconds) of the sweep by as many threads."""
    path = folder / "simcli.sqlite"
    begin = time.monotonic()
    subprocess.run([PACKAGE.parent / "simcli", "sweep", experiment, "-o", path, "--progress", "none", "--jobs",
                    str(workers)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seconds = time.monotonic() - begin
    with corun.open(path) as results:
        return results.hash(), seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", nargs="?", default=ROOT / "experiments/sweeps/pilotfish.yaml", type=pathlib.Path)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kill-after", type=int, default=32, metavar="PIECES",
                        help="that are back; a sweep has some 64")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        expected, seconds = by_simcli(arguments.experiment, folder, arguments.workers)
        print(f"simcli, {arguments.workers} jobs: {expected} in {seconds:.1f} s", flush=True)
        begin = time.monotonic()
        results, pieces, killed = dask_sweep(folder, arguments.kill_after, arguments.experiment,
                                             workers=arguments.workers, output=folder / "dask.sqlite")
        seconds, runs = time.monotonic() - begin, len(results.runs)
        print(f"Dask, {arguments.workers} workers: {results.hash()} in {seconds:.1f} s, "
              f"{runs} runs in {pieces} pieces, "
              f"{len(killed)} worker killed after {arguments.kill_after}")
        return 0 if killed and results.hash() == expected else 1


if __name__ == "__main__":
    sys.exit(main())
