#!/usr/bin/env python3
"""Servers of a language model next to a game, in turns and under MPS: told, measured, compared.

    next_to_game.py experiment FOLDER                   FOLDER/game.yaml, and the logs of steps that it reads
    next_to_game.py predict RESULTS > predicted.jsonl   what its results file says, a line a party
    next_to_game.py measure --simtrace FILE --scene FILE -o FOLDER [--only REGEX]
    next_to_game.py score [--simcli FILE] > scored.md

`measure` needs a GPU. It writes measured.jsonl, a row a training, and measured.tar.gz, the CSV files of each serving
and a recording of the game's frames in the same seconds.
"""

import collections
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
STUDIES = HERE.parents[1]
sys.path += [str(STUDIES / "sessions"), str(HERE.parent)]
from cells import Cell, Party  # noqa: E402
from command_line import commands  # noqa: E402
from make_experiment import HEAD, client  # noqa: E402
from measure import recorded  # noqa: E402
from predictions import SERVING, figures_by_party  # noqa: E402
from score import SECONDS, served, table  # noqa: E402

GAME_FPS, FRAMES = 60, ["fps_mean", "frame_time_p99_ms"]
FRAMES_S = 4  # after its process began the game draws and is recorded


def server(name, load):
    return Party(name, 100, f"{name}_{load}")


TRAINING = Party("wide_training", 100)
TOGETHER = [("turns", "middle", server("1b", "low")), ("turns", "middle", server("1b", "middle")),
            ("turns", "large", server("1b", "low")), ("turns", "middle", server("8b", "low")),
            ("turns", "middle", server("1b", "low"), TRAINING), ("mps", "middle", server("1b", "low")),
            ("mps", "middle", server("8b", "low")), ("mps", "middle", server("1b", "low"), TRAINING)]


def cells():
    """(the game, the cell of its other parties)"""
    return [(game, Cell(f"{way}_{game}", parties)) for way, game, *parties in TOGETHER]


def way_of(cell):
    return cell.way.split("_")[0]


def experiment(options):
    folder = options.folder
    subprocess.run([sys.executable, HERE.parent / "served_steps.py", folder / "served"], check=True)
    serving = os.path.relpath(HERE.parent, folder)
    games = os.path.relpath(STUDIES / "sessions" / "captures", folder)
    head = HEAD[HEAD.index("version"):].replace("name: serving", "name: game")
    lines = ["# Servers of language models next to a game: next_to_game.py, as scenarios.",
             re.sub("output: .*\n", "", head)]
    for game, cell in cells():
        lines.append(f"  - name: {cell.name}")
        if way_of(cell) == "mps":
            lines.append("    device: { model: h200, sharing: concurrent }")
        lines += ["    clients:", f"      - {{ name: game, trace: {games}/{game}.uncapped.corun, "
                  f"pacing: {{ rate: {GAME_FPS}/s, vsync: false }}, queued_ahead: 1 }}"]
        for party in cell.parties:
            its = "\n".join(f"      {line}" for line in client(party, False))
            its = re.sub("grid/(.*steps.csv)", r"served/\1", its)
            lines.append(re.sub("(grid|requests)/", rf"{serving}/\1/", its))
    (folder / "game.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def predict(options):
    for (run, who), its in sorted(figures_by_party(options.results).items()):
        kept = SERVING if "ttft_p99_ms" in its else FRAMES if "fps_mean" in its else ["throughput_per_s"]
        if who != "device":
            print(json.dumps({"run": run, "w": who} | {name: round(its[name], 3) for name in kept}))


def measure(options):
    from processes import Company, Daemon  # of a GPU's machine alone

    from step_ends import row
    options.output.mkdir(parents=True, exist_ok=True)
    wanted = [(game, cell) for game, cell in cells() if re.search(options.only, cell.name)]
    with tempfile.TemporaryDirectory() as name, Daemon(pathlib.Path(name)) as daemon:
        folder = pathlib.Path(name)
        for way in dict.fromkeys(way_of(cell) for _, cell in wanted):
            its = [(game, cell) for game, cell in wanted if way_of(cell) == way]
            if way == "mps":
                daemon.start()
            company = Company(dict.fromkeys(party for _, cell in its for party in cell.parties),
                              daemon.environment if way == "mps" else {}, folder / way)
            try:
                for game, cell in its:
                    try:
                        ends = beside_game(options, company, game, cell, folder)
                        rows = [row(cell.name, program, one) for program, one in ends.items()]
                    except (RuntimeError, OSError, ValueError, IndexError) as error:  # the other cells count, too
                        print(f"{cell.name}: {error!r}", flush=True)
                        continue
                    with open(options.output / "measured.jsonl", "a", encoding="utf-8") as file:
                        file.writelines(json.dumps(one) + "\n" for one in rows)
                    print(cell.name, flush=True)
            finally:
                company.end()
        with tarfile.open(options.output / "measured.tar.gz", "w:gz") as archive:
            for file in sorted([*folder.glob("*.csv"), *folder.glob("*.corun")]):
                archive.add(file, file.name)


def beside_game(options, company, game, cell, folder):
    """The ends of the steps of the cell's trainings; the game draws before its parties begin, and until they end."""
    window = ["--delay", f"{FRAMES_S}s", "--timed", f"{SECONDS}s"]
    recorder = subprocess.Popen(recorded(options, folder / f"{cell.name}.corun", game, GAME_FPS, window),
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(FRAMES_S - 1.6)  # Company's parties begin 1.5 s later
        return company.run(cell, HERE.parent / "requests", folder, SECONDS)[0]
    finally:
        recorder.wait(SECONDS + 60)


def frames(options, archive, cell):
    with tempfile.TemporaryDirectory() as folder:
        archive.extract(f"{cell.name}.corun", folder)
        said = subprocess.run([options.simcli, "info", f"{folder}/{cell.name}.corun", "--json"], check=True,
                              capture_output=True, text=True).stdout
    its = json.loads(said)["game"]["recorded"]
    return {"fps_mean": its["fps"], "frame_time_p99_ms": 1e3 * its["frame_time_p99_s"]}


def lines_of(path):
    with open(HERE / path, encoding="utf-8") as file:
        return {(row["run"], row["w"]): row for row in map(json.loads, file)}


def score(options):
    told, steps = lines_of("predicted.jsonl"), lines_of("measured.jsonl")
    errors, shown = collections.defaultdict(list), [["cell", "party", "figure", "predicted", "measured", "error"]]
    with tarfile.open(HERE / "measured.tar.gz") as archive:
        for _, cell in cells():
            parties = {"game": frames(options, archive, cell)}
            for party in cell.parties:
                who = party.requests or party.program
                parties[who] = served(archive, cell.name, who) if party.is_server else {
                    "throughput_per_s": steps[cell.name, who]["it_s"]}
            for who, got in parties.items():
                for figure in (name for name in [*FRAMES, *SERVING, "throughput_per_s"] if name in got):
                    value = told[cell.name, who][figure]
                    error = 100 * (value / got[figure] - 1)
                    errors[way_of(cell), figure].append(abs(error))
                    shown.append([cell.name, who, figure, f"{value:.4g}", f"{got[figure]:.4g}", f"{error:+.0f} %"])
    table(shown)
    print("Errors in per cent: mean (worst).\n")
    figures, ways = dict.fromkeys(figure for _, figure in errors), dict.fromkeys(way for way, _ in errors)
    table([["figure", *ways]] + [[figure, *(
        f"{statistics.mean(errors[way, figure]):.1f} ({max(errors[way, figure]):.1f})" for way in ways)]
                                 for figure in figures])


def main():
    parser, measuring, scoring = commands(__doc__, experiment, predict, measure, score)
    measuring.add_argument("--simtrace", type=os.path.abspath, required=True)
    measuring.add_argument("--scene", type=os.path.abspath, required=True)
    measuring.add_argument("--only", default="", help="cells in whose names this is found, a regex")
    scoring.add_argument("--simcli", default=STUDIES.parent / "build" / "release" / "simcli")
    options = parser.parse_args()
    options.do(options)


if __name__ == "__main__":
    main()
