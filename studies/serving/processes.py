"""The programs of a cell as processes that wait for their turn, and the MPS daemon that some of them need.

Only processes that were started here are ended, each by its own handle; the daemon is the one of a folder of its own.
"""

import contextlib
import json
import os
import pathlib
import queue
import subprocess
import sys
import threading
import time

from cells import ROOT, SERVER, SERVERS

sys.path.insert(0, str(ROOT / "tests" / "hardware"))
from mixes import Parked  # noqa: E402
from step_ends import now  # noqa: E402

READY_S, PATIENCE_S = 120, 20


class Server:
    """A server that takes orders: engine.py with the options of SERVERS, and others."""

    def __init__(self, party, environment, folder, options=()):
        self.log = folder / f"{party.label}.log"
        variables = os.environ | environment
        if party.percentage < 100:
            variables["CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"] = str(party.percentage)
        with open(self.log, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen([sys.executable, SERVER, "serve", "--orders", *SERVERS[party.program],
                                             *options],
                                            env=variables, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=log)
        self.lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put("")  # it has ended

    def heard(self, word, seconds):
        """Whether it says a line that begins with `word` in time."""
        until = now() + seconds
        with contextlib.suppress(queue.Empty):
            while line := self.lines.get(timeout=max(0, until - now())):
                if line.startswith(word):
                    return True
        return False

    def order(self, **what):
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()

    def end(self):
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        for stop in (lambda: None, self.process.terminate, self.process.kill):
            stop()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(8)
                return


class Daemon:
    """MPS, under which programs run that have its environment. It starts with `start` and ends with the block."""

    def __init__(self, folder):
        self.environment = {"CUDA_MPS_PIPE_DIRECTORY": str(folder / "pipe"), "CUDA_MPS_LOG_DIRECTORY": str(folder)}
        self.has_started = False

    def start(self):
        if not self.has_started:
            os.mkdir(self.environment["CUDA_MPS_PIPE_DIRECTORY"])
            subprocess.run(["nvidia-cuda-mps-control", "-d"], env=os.environ | self.environment, check=True)
            self.has_started = True

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.has_started:
            subprocess.run(["nvidia-cuda-mps-control"], input="quit\n", text=True, env=os.environ | self.environment,
                           check=False)


class Company:
    """All parties of some cells, each once, started and waiting."""

    def __init__(self, parties, environment, folder):
        folder.mkdir()
        self.folder = folder
        self.servers, self.trainings = {}, Parked(folder, [], environment)
        try:
            for party in parties:
                if party.is_server:
                    self.servers[party.label] = Server(party, environment, folder)
                else:
                    self.trainings.start(party.program, party.percentage)
            self.ready = self.trainings.wait_until_warm(READY_S)
            self.ready |= {label for label, server in self.servers.items() if server.heard("ready", READY_S)}
        except BaseException:
            self.end()
            raise
        for label in {party.label for party in parties} - self.ready:
            print(label, "did not start:", (folder / f"{label}.log").read_text(encoding="utf-8")[-800:], flush=True)

    def run(self, cell, requests, out, seconds):
        """Serves requests/*.csv for so long while the trainings run. Returns the ends of the steps of each training
        within that time, by program, and that time in seconds of CLOCK_MONOTONIC."""
        begin = now() + 1.5
        results = {party.label: str(out / f"{cell.name}.{party.requests}") for party in cell.parties if party.is_server}
        for party in filter(lambda party: party.is_server, cell.parties):
            self.servers[party.label].order(requests=str(requests / f"{party.requests}.csv"), seconds=seconds,
                                            out=results[party.label], begin_s=begin)
        within, ends = (begin, begin + seconds), {}
        trainings = [party for party in cell.parties if not party.is_server]
        if trainings:
            time.sleep(begin - now() - 0.35)  # Parked lets programs run 0.35 s before it counts
            found, within = self.trainings.run([party.label for party in trainings], seconds)
            ends = {party.program: one for party, one in zip(trainings, found)}
        for label, result in results.items():
            if not self.servers[label].heard(f"served {result}", within[1] - now() + PATIENCE_S):
                raise RuntimeError(f"{label} did not end its serving")
        return ends, within

    def end(self):
        for server in self.servers.values():
            server.end()
        self.trainings.end()


def recorded(simtrace, command, output, delay_s, environment):
    """Records a command that says "ready" and waits for a line on stdin: it is given one after `delay_s`, from which on
    simtrace records. Returns simtrace's exit code."""
    recorder = [simtrace, "record", "-q", "-f", "-o", output, "--delay", f"{delay_s}s", "--"]
    begin = now()
    process = subprocess.Popen([*map(str, recorder), *map(str, command)], text=True, env=os.environ | environment,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        line = process.stdout.readline()
        print(f"{pathlib.Path(output).name}: {line.strip() or 'no word'} after {now() - begin:.1f} s", flush=True)
        time.sleep(max(0, begin + delay_s + 0.5 - now()))
        process.communicate("go\n", timeout=150)
    except (subprocess.TimeoutExpired, OSError):
        process.terminate()
        process.wait(30)
    return process.returncode
