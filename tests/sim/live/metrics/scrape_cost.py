"""What scrapes of `simcli live --metrics` cost the run that is scraped.

    scrape_cost.py [--build FOLDER] [--programs FOLDER] [--repetitions N] [--seconds S] [--rates 0,1,10] [EXPERIMENT]

Runs the experiment (without one: a game and two programs of the fake driver, with open gates, without a GPU) once per
rate of scrapes and repetition, in turns. Prints a table: processor time of simcli as a part of one core, rates of the
programs over those of the run of the same turn that was not scraped, with 95 % intervals of the mean, and how long a
scrape took its caller.
"""

import argparse
import os
import pathlib
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "tests/hardware"))
import live_table  # noqa: E402

OF_THE_FAKE_DRIVER = """
name: scraped
device: h200
policies: [passthrough]
clients:
  - { name: game, command: [live_frames, "20", "5"], role: interactive, pacing: 50fps }
  - { name: train, command: [live_app, step, "0", "2000"] }
  - { name: encode, command: [live_app, step, "0", "500"] }
"""


def processor_s(pid):
    """Time that the threads of a process have run."""
    return 1e-9 * sum(int((task / "schedstat").read_text().split()[0])
                      for task in pathlib.Path(f"/proc/{pid}/task").iterdir())


def scraped(url, rate, seconds):
    """How long each scrape took, in milliseconds, and the bytes of the last."""
    took, text, begin = [], b"", time.monotonic()
    for number in range(int(rate * seconds)):
        time.sleep(max(0.0, begin + number / rate - time.monotonic()))
        before = time.monotonic()
        with urllib.request.urlopen(url, timeout=5) as reply:
            text = reply.read()
        took.append(1e3 * (time.monotonic() - before))
    time.sleep(max(0.0, begin + seconds - time.monotonic()))
    return took, len(text)


def rates_of(results):
    query = "SELECT client, value FROM metrics WHERE metric = 'throughput_per_s' AND client <> 'device'"
    return dict(sqlite3.connect(results).execute(query))


def measured(options, rate, folder):
    """One run: share of a core, rates of the programs, times of scrapes, bytes of one."""
    results = pathlib.Path(folder) / "scraped.sqlite"
    command = [str(options.build / "simcli"), "live", str(options.experiment), "-f", "-o", str(results), "--set",
               f"horizon={options.seconds + 2}s", "--progress", "none", "--metrics", ":0"]
    environment = os.environ | {"PATH": f"{options.programs}:{os.environ['PATH']}"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True) as process:
        url = next(line.split()[1] for line in process.stdout if line.startswith("metrics: "))
        time.sleep(1)  # programs start
        before, begin = processor_s(process.pid), time.monotonic()
        try:
            took, size = scraped(url, rate, options.seconds)
        except OSError as error:
            process.terminate()
            raise RuntimeError(process.communicate()[0]) from error
        share = (processor_s(process.pid) - before) / (time.monotonic() - begin)
        output = process.communicate(timeout=60)[0]
    if process.returncode != 0:
        raise RuntimeError(output)
    return share, rates_of(results), took, size


def with_interval(values, digits):
    mean, half = live_table.interval(values)
    return f"{mean:.{digits}f}" + (f" ± {half:.{digits}f}" if half is not None else "")


def rows(options, runs):
    clients = sorted(runs[0][0][1])
    yield ["scrapes/s", "simcli, % of a core", *(f"{client}, of unscraped" for client in clients), "a scrape, ms",
           "longest, ms", "bytes"]
    for at, rate in enumerate(options.rates):
        ratios = [with_interval([turn[at][1][client] / turn[0][1][client] for turn in runs], 3) for client in clients]
        took = [one for turn in runs for one in turn[at][2]]
        times = [f"{statistics.median(took):.1f}", f"{max(took):.1f}", str(runs[-1][at][3])] if took else [""] * 3
        yield [f"{rate:g}", with_interval([100 * turn[at][0] for turn in runs], 2), *ratios, *times]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/dev/tests/sim/live")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--rates", type=lambda text: [float(rate) for rate in text.split(",")], default=[0, 1, 10])
    parser.add_argument("experiment", nargs="?", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.experiment is None:
            options.experiment = pathlib.Path(folder) / "scraped.yaml"
            options.experiment.write_text(OF_THE_FAKE_DRIVER, encoding="utf-8")
        runs = [[measured(options, rate, folder) for rate in options.rates] for _ in range(options.repetitions)]
    head, *lines = rows(options, runs)
    for row in [head, ["---"] * len(head), *lines]:
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
