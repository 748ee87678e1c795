"""Live runs of studies/live and their tables there. Needs the programs of those experiments and a GPU.

    live_table.py measure --build build/release -o FOLDER [--gpu N] [--repetitions N] [--load X] [--player-load X]
                          [--set EXPERIMENT:PATH=VALUE] [NAME...]
    live_table.py table FOLDER/*.sqlite

`measure` runs the experiments one after the other, all of them N times, into FOLDER/NAME-REPETITION.sqlite; what is
there is not run again. The GPU is CUDA's N-th. Loads are those of games/scene; the menu of the players is measured
first, by `scene --menu`. `table` prints means over the repetitions and their 95 % intervals (Student's t); results of
`simcli validate --live` will do, too.

Harvest is the sum, over the programs next to games, of rate over rate alone, divided by the time that the games leave
idle when alone: 1 - gpu_busy_ratio. What is alone is the median of the runs in which nothing else takes part.
"""

import argparse
import collections
import os
import pathlib
import sqlite3
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXPERIMENTS = ["openarena", "scene", "training", "players", "density"]
# Where experiments have the keys of a game of ours.
SCENES = {"scene": [f"scenarios.{scenario}.clients.scene" for scenario in ("alone", "training", "inference")],
          "players": ["scenarios.players.clients.player"], "density": ["defaults"]}
WITH_MENU = ["players", "density"]
DEVICE_WORD, SIZE_WORD, LOAD_WORD = 2, 4, 6  # of its command
SIZE = "3840x2160"
# Student's t, two-sided 95 %, by degrees of freedom from 1; 1.96 beyond.
T_95 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131]
GAME_FIGURES = [("fps_mean", 1), ("fps_1low", 1), ("frame_time_p99_ms", 2), ("quality_mean", 3)]  # and digits
COLUMNS = ["mix", "policy", "program", "FPS", "1 % low", "p99 frame, ms", "quality", "rate, 1/s", "of alone", "harvest"]


def menu(build, gpu, load):
    """The levels that `scene --menu` measures, as the value of a `--set`."""
    command = [str(build / "scene"), "--menu", "--size", SIZE, "--load", str(load), "--device", str(gpu)]
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return "[" + ", ".join(line.strip()[2:] for line in lines if line.strip().startswith("- ")) + "]"


def settings(name, options):
    """The --set options of one experiment."""
    found = [text.partition(":")[2] for text in options.set if text.startswith(name + ":")]
    load = options.player_load if name in WITH_MENU else options.load
    for keys in SCENES.get(name, []):
        words = f"{keys}.command"
        found += [f'{words}[{DEVICE_WORD}]="{options.gpu}"', f'{words}[{LOAD_WORD}]="{load}"',
                  f"{words}[0]={(options.build / 'scene').resolve()}"]
        if name in WITH_MENU:
            found.append(f"{keys}.quality={menu(options.build, options.gpu, load)}")
    return [word for setting in found for word in ("--set", setting)]


def measure(options):
    folder = pathlib.Path(options.output)
    folder.mkdir(parents=True, exist_ok=True)
    environment = os.environ | {"CUDA_VISIBLE_DEVICES": str(options.gpu)}
    sets = {name: settings(name, options) for name in options.names}
    worst = 0
    for repetition in range(1, options.repetitions + 1):
        for name in options.names:
            output = folder / f"{name}-{repetition}.sqlite"
            if output.exists():
                continue
            command = [str(options.build / "simcli"), "live", str(ROOT / "studies" / "live" / f"{name}.yaml"),
                       "--seed", str(repetition), *sets[name], "-o", str(output)]
            worst = max(worst, subprocess.run(command, check=False, env=environment).returncode)
    return worst


Key = collections.namedtuple("Key", "experiment scenario policy")


def read(paths):
    """{Key: [{client: {metric: value}} of every repetition]}, and a line for every run that failed."""
    runs, failed = collections.defaultdict(list), []
    for path in paths:
        file = sqlite3.connect(f"file:{pathlib.Path(path).resolve()}?mode=ro", uri=True)
        query = "SELECT id, error, experiment, scenario, policy FROM runs WHERE backend = 'live' ORDER BY rowid"
        for run, error, *key in file.execute(query):
            if error is not None:
                failed.append(f"{path}: {'/'.join(key)}: {error}")
                continue
            clients = collections.defaultdict(dict)
            for client, metric, value in file.execute("SELECT client, metric, value FROM metrics WHERE run = ?", [run]):
                clients[client][metric] = value
            device = clients.pop("device", {})
            if len(clients) == 1:  # results of before counted a frame that was heard late as longer for its client
                for metrics in clients.values():
                    metrics["gpu_busy_ratio"] = device.get("gpu_busy_ratio", metrics.get("gpu_busy_ratio"))
            runs[Key(*key)].append(dict(clients))
        file.close()
    return runs, failed


def interval(values):
    """(mean, half of the 95 % interval); the latter is None of a single value."""
    mean = statistics.fmean(values)
    if len(values) < 2:
        return mean, None
    t = T_95[len(values) - 2] if len(values) - 2 < len(T_95) else 1.96
    return mean, t * statistics.stdev(values) / len(values) ** 0.5


def shown(values, digits):
    values = [value for value in values if value is not None]
    if not values:
        return ""
    mean, half = interval(values)
    return f"{mean:.{digits}f}" + ("" if half is None else f" ± {half:.{digits}f}")


def alone(runs):
    """{client: {metric: median}} of the runs that it has to itself under passthrough:
    the first on a host may read files."""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for key, repetitions in runs.items():
        for clients in repetitions:
            if key.policy == "passthrough" and len(clients) == 1:
                (client, metrics), = clients.items()
                for metric, value in metrics.items():
                    found[client][metric].append(value)
    return {client: {metric: statistics.median(values) for metric, values in metrics.items()}
            for client, metrics in found.items()}


def of_alone(client, metrics, solo):
    rate = solo.get(client, {}).get("throughput_per_s")
    return metrics["throughput_per_s"] / rate if rate and "throughput_per_s" in metrics else None


def harvest(clients, solo):
    """None where there is no game or no other program, or one of them was not measured alone."""
    games = [client for client in clients if "fps_mean" in clients[client]]
    shares = [of_alone(client, clients[client], solo) for client in clients if client not in games]
    busy = [solo.get(game, {}).get("gpu_busy_ratio") for game in games]
    if not games or not shares or None in shares + busy or sum(busy) >= 1:
        return None
    return sum(shares) / (1 - sum(busy))


def rows(runs):
    solo = alone(runs)
    for key, repetitions in runs.items():
        harvested = shown([harvest(clients, solo) for clients in repetitions], 2)
        for client in repetitions[0]:
            of = [clients[client] for clients in repetitions if client in clients]
            names = [f"{key.experiment}: {key.scenario}", key.policy, client]
            if "fps_mean" in of[0]:
                yield names + [shown([metrics.get(metric) for metrics in of], digits)
                               for metric, digits in GAME_FIGURES] + [""] * 3
            else:
                yield names + [""] * len(GAME_FIGURES) + [
                    shown([metrics.get("throughput_per_s") for metrics in of], 2),
                    shown([of_alone(client, metrics, solo) for metrics in of], 3), harvested]


def table(options):
    runs, failed = read(options.results)
    print("| " + " | ".join(COLUMNS) + " |")
    print("|" + "---|" * len(COLUMNS))
    for row in rows(runs):
        print("| " + " | ".join(row) + " |")
    for line in failed:
        print(f"failed: {line}", file=sys.stderr)
    return 1 if failed else 0


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    measuring.add_argument("-o", "--output", required=True)
    measuring.add_argument("--gpu", type=int, default=0)
    measuring.add_argument("--repetitions", type=int, default=5)
    measuring.add_argument("--load", type=float, default=0.4)
    measuring.add_argument("--player-load", type=float, default=0.25)
    measuring.add_argument("--set", action="append", default=[], metavar="EXPERIMENT:PATH=VALUE")
    measuring.add_argument("names", nargs="*", metavar="NAME", help=", ".join(EXPERIMENTS) + " (all)")
    showing = commands.add_parser("table")
    showing.add_argument("results", nargs="+")
    options = parser.parse_args(arguments)
    if options.command == "table":
        return table(options)
    options.names = options.names or EXPERIMENTS
    unknown = sorted(set(options.names) - set(EXPERIMENTS))
    if unknown:
        parser.error(f"found {', '.join(unknown)}, expected names out of {', '.join(EXPERIMENTS)}")
    return measure(options)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
