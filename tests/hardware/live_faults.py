"""Deaths and stubborn programs at real gates: live_faults.py --loop LAUNCH_LOOP [--build FOLDER]

Two launch loops (launch_loop.cu) under a policy that closes gates. Each case prints a JSON line with "passed": the
scheduler is killed, one program is killed, programs launch graphs and do not wait for the device; and with two loops
that one client's command starts. Exit code 1 if one failed.
"""

import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

GRAPHS = ["5", "400000", "100"]
NVSHARE = {"nvshare": {"quantum": "500ms"}}


class Live:
    """simcli live with the programs a and b, its output in a file that outlives it. A program is the arguments of a
    loop, or a list of these: loops that one shell starts."""

    def __init__(self, options, folder, policy, loops):
        self.log, self.results = folder / "log", folder / "r.sqlite"
        loop = str(options.loop.resolve())
        clients = [{"name": name, "command": [loop, *given] if isinstance(given[0], str) else
                    ["sh", "-c", " & ".join(" ".join([loop, *words]) for words in given) + " & wait"]}
                   for name, given in zip("ab", loops)]
        (folder / "e.yaml").write_text(json.dumps({"version": 1, "name": "faults", "device": "h200", "horizon": "60s",
                                                   "clients": clients, "policies": [policy]}), encoding="utf-8")
        with open(self.log, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen([str(options.build / "simcli"), "live", str(folder / "e.yaml"),
                                             "--progress", "none", "-o", str(self.results)], stdout=log, stderr=log)

    def programs(self, parent=None):
        """Process ids of the launch loops."""
        tasks = pathlib.Path(f"/proc/{parent or self.process.pid}/task").glob("*/children")
        children = sorted(int(word) for task in tasks for word in task.read_text(encoding="utf-8").split())
        return [loop for child in children for loop in self.programs(child) or [child]]

    def numbers(self):
        return re.findall(r"^[\d.]+$", self.log.read_text(encoding="utf-8"), re.MULTILINE)

    def wait_for(self, condition, seconds):
        """Seconds until it holds; None if it does not by then."""
        begin = time.monotonic()
        while time.monotonic() - begin < seconds:
            if condition():
                return round(time.monotonic() - begin, 3)
            time.sleep(0.005)
        return None

    def ending(self, seconds):
        """How the run ends by itself; it is asked to end where it does not within so many seconds."""
        after = self.wait_for(lambda: self.process.poll() is not None, seconds)
        if after is None:
            self.process.terminate()
        return {"ended_after_s": after, "code": self.process.wait(), "numbers": self.numbers()}


def scheduler_killed(options, folder, loops=(["200", "50000"], ["200", "50000"])):
    live = Live(options, folder, NVSHARE, loops)
    time.sleep(6)
    programs = live.programs()
    live.process.kill()
    live.process.wait()
    said = live.wait_for(lambda: live.log.read_text(encoding="utf-8").count("corun") >= len(programs), 2)
    ended = live.wait_for(lambda: len(live.numbers()) == len(programs), 60)
    lines = [line for line in live.log.read_text(encoding="utf-8").splitlines() if "corun" in line]
    return {"programs": len(programs), "said_after_s": said, "ended_after_s": ended, "lines": lines,
            "passed": said is not None and said < 0.2 and ended is not None and len(lines) == len(programs)}


def program_killed(options, folder):
    live = Live(options, folder, NVSHARE, [["200", "100000"], ["200", "25000"]])
    time.sleep(6)
    os.kill(live.programs()[0], signal.SIGKILL)
    ending = live.ending(40)
    return ending | {"passed": ending["ended_after_s"] is not None and len(ending["numbers"]) == 1}


def scheduler_of_three_killed(options, folder):
    return scheduler_killed(options, folder, [[["200", "50000"], ["200", "50000"]], ["200", "50000"]])


def one_of_two_killed(options, folder):
    live = Live(options, folder, NVSHARE, [[["200", "100000"], ["200", "25000"]], ["200", "25000"]])
    time.sleep(6)
    os.kill(live.programs()[0], signal.SIGKILL)
    ending = live.ending(40)
    is_gated = "without a gate" not in live.log.read_text(encoding="utf-8")
    return ending | {"passed": ending["ended_after_s"] is not None and len(ending["numbers"]) == 2 and is_gated}


def stubborn(policy, loops):
    def case(options, folder):
        live = Live(options, folder, policy, loops)
        ending = live.ending(50)
        return ending | {"passed": ending["ended_after_s"] is not None and len(ending["numbers"]) == 2}
    return case


CASES = {
    "scheduler killed": scheduler_killed,
    "program killed": program_killed,
    "scheduler killed, a client of two processes": scheduler_of_three_killed,
    "one of two processes of a client killed": one_of_two_killed,
    "graphs and a loop that never waits, lock": stubborn(NVSHARE, [GRAPHS, ["20", "200000"]]),
    "graphs and a loop that never waits, tokens": stubborn({"gaiagpu": {"limits": {"a": 0.5, "b": 0.5}}},
                                                           [GRAPHS, ["20", "200000"]]),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loop", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    options = parser.parse_args()
    failed = False
    for name, case in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            answer = case(options, pathlib.Path(folder))
            if not answer["passed"]:
                answer["log"] = (pathlib.Path(folder) / "log").read_text(encoding="utf-8")[-1500:]
        print(json.dumps({"case": name, **answer}), flush=True)
        failed = failed or not answer["passed"]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
