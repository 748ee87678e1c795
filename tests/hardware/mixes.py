"""Mixes of the programs in programs/, drawn by chance, predicted and then measured on one GPU:

    mixes.py draw TRUTH.jsonl > EXPERIMENT.yaml
    mixes.py draw-splits [--second] TRUTH.jsonl > EXPERIMENT.yaml
    mixes.py draw-choices [--second | --third | --fourth | --fifth] [--rates RATES.jsonl] TRUTH.jsonl > EXPERIMENT.yaml
    mixes.py draw-power --rates RATES.jsonl > EXPERIMENT.yaml
    mixes.py draw-fresh [--above | --further | --rest] --rates RATES.jsonl TRUTH.jsonl... > EXPERIMENT.yaml
    mixes.py predictions RESULTS.sqlite > PREDICTIONS.jsonl
    mixes.py measure [--only solo] [--repeat N] [--seconds S] [--limit SECONDS] EXPERIMENT.yaml -o MEASURED.jsonl

`draw` takes 30 pairs and 6 triples, each in turns (`timeslice_`) and under MPS (`mps_`), and 9 of the pairs with three
splits of the SMs (`split30_`, the first program's percentage; `solo30_` is one program alone at 30 %). `draw-splits`
takes ten pairs of programs that were captured with fewer SMs, too (record.py --percentages), with four splits and
without. `draw-choices` takes 18 pairs of programs of which no two were ever measured together, in turns, under MPS and
with three splits; RATES.jsonl, measured of the scenarios `solo_`, has their rates alone. The third draw has 16 pairs of
programs that are drawn, too, and each alone with each percentage; the fourth and the fifth have 16 pairs of programs
that the device binds, in the same ways. `draw-power` takes eight pairs of six of these programs, in turns and under
MPS, with what they draw alone. `draw-fresh` takes 12 pairs of ten of them that were in no other draw, in turns, under
MPS and with three splits, captured alone on the GPU that measures them, with fewer SMs, too; `--above` takes twelve
other pairs of these ten, in turns, under MPS, and under MPS with either one above the other (`above_`, the first one),
whose MPS client priority is below normal; `--further` takes 20 more pairs under MPS, of these and of the six programs
that were left, and `--rest` 20 of the 32 that are in no other draw. `measure` starts
each program once for each way of sharing and parks it (loop.py): a mix is a few seconds in which its programs run. In
turns there is no daemon; under MPS each percentage is a process of its own. FILE gets a row a program, with the watts
that the device drew and its clock meanwhile.
"""

import argparse
import itertools
import json
import os
import pathlib
import random
import re
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

from step_ends import now, row

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE / "programs"))
from power import Power  # noqa: E402
from record import PROGRAMS as SCRIPTS, SCRIPT  # noqa: E402

PROGRAMS = ["jax_matmul", "jax_conv", "jax_inference", "hf_decoder", "hf_prefill", "diffusion", "pyg_gcn", "triton",
            "torch_compile", "two_graphs", "accumulation", "timm", "loader", "cupy", "numba"]
SPLIT = ["jax_matmul", "hf_prefill", "diffusion", "triton", "two_graphs", "timm", "numba", "pyg_gcn"]
PERCENTAGES = [30, 50, 70]
CURVED = ["jax_matmul", "jax_inference", "hf_prefill", "timm", "triton", "two_graphs", "cupy", "numba"]
CURVED_PERCENTAGES = [20, 40, 60, 80]
CHOSEN = ["amp_finetune", "recommender", "reduced_overhead", "spectra", "numba_options", "jax_particles",
          "jax_recurrent", "gan", "reinforcement", "jax_decoder", "cupy_means"]
KNOWN = ["jax_conv", "hf_prefill", "timm", "triton", "two_graphs", "numba"]  # of other draws: these meet NEWER here
NEWER = ["jax_particles", "reduced_overhead", "cupy_means", "reinforcement", "jax_recurrent"]
OLDER = [program for program in PROGRAMS if program not in [*KNOWN, "pyg_gcn"]]  # whose steps its capture tells
NEW = [program for program in CHOSEN if program not in NEWER]
DEVICE_BOUND = {4: SCRIPTS["device_bound_programs.py"], 5: SCRIPTS["more_device_bound_programs.py"]}  # by draw
UNSURE = ["recommender", "spectra", "numba_options", "jax_recurrent", "long_attention",
          "wave_equation", "patch_reading"]  # the steps found are unsure: they are stated
POWERED = ["prompt_reading", "long_attention", "patch_reading", "spectrum_filter", "clustering",
           "embedding_training"]  # the first three draw most of all
SPECIAL = {"triton": ["step: { launches: 8 }"], "timm": ["allow_co_run: true"], "loader": ["allow_co_run: true"],
           "jax_recurrent": ["accept: [solo_rate]"]}
SETTLE_S = 0.3
BELOW = "below"  # in place of a percentage: all SMs, below normal priority


def drawn_mixes():
    """(kind, programs, percentage of each) of every run."""
    chance = random.Random(30)
    pairs = chance.sample(list(itertools.combinations(PROGRAMS, 2)), 30)
    triples = chance.sample(list(itertools.combinations(PROGRAMS, 3)), 6)
    split = chance.sample(list(itertools.combinations(SPLIT, 2)), 9)
    for kind in ("timeslice", "mps"):
        for programs in [(program,) for program in PROGRAMS] + pairs + triples:
            yield ("solo" if (kind, len(programs)) == ("timeslice", 1) else kind), programs, [100] * len(programs)
    for percentage in PERCENTAGES:
        for program in SPLIT:
            yield f"solo{percentage}", (program,), [percentage]
        for programs in split:
            yield f"split{percentage}", programs, [percentage, 100 - percentage]


def drawn_splits(second=False):
    """The same of programs captured with fewer SMs, too; the second draw has other pairs, in turns as well."""
    every = list(itertools.combinations(CURVED, 2))
    first = random.Random(31).sample(every, 10)
    pairs = random.Random(32).sample([pair for pair in every if pair not in first], 10) if second else first
    for program in CURVED:
        yield "mps", (program,), [100]
    for kind in ["timeslice"] * second + ["mps"]:
        for programs in pairs:
            yield kind, programs, [100, 100]
    for percentage in CURVED_PERCENTAGES:
        for program in CURVED:
            yield f"solo{percentage}", (program,), [percentage]
        for programs in pairs:
            yield f"split{percentage}", programs, [percentage, 100 - percentage]


def choices(draw):
    """(programs, pairs) of a draw, 1 to 6; no pair is in another"""
    chance = random.Random(32 + draw)
    if draw in DEVICE_BOUND:
        return DEVICE_BOUND[draw], chance.sample(list(itertools.combinations(DEVICE_BOUND[draw], 2)), 16)
    if draw == 1:
        return CHOSEN, chance.sample(list(itertools.combinations(CHOSEN, 2)), 18)
    if draw == 2:
        return KNOWN + NEWER, chance.sample(list(itertools.product(KNOWN, NEWER)), 18)
    # Few programs, since each runs with each percentage: an MPS daemon has 48 clients.
    older, new = (chance.sample(DEVICE_BOUND[4], 6), chance.sample(DEVICE_BOUND[5], 6)) if draw == 6 else \
        (chance.sample(OLDER, 6), chance.sample(NEW, 5))
    return older + new, chance.sample(list(itertools.product(older, new)), 12 if draw == 6 else 16)


def drawn_choices(draw):
    programs, pairs = choices(draw)
    for program in programs:
        yield "solo", (program,), [100]
    for percentage in PERCENTAGES if draw >= 3 else []:
        for program in programs:
            yield f"solo{percentage}", (program,), [percentage]
    for kind, percentage in [("timeslice", 100), ("mps", 100)] + [(f"split{part}", part) for part in PERCENTAGES]:
        for programs in pairs:
            yield kind, programs, [percentage, 100 - percentage or 100]


def drawn_power():
    """Each alone, and eight pairs of which one draws much, in turns and under MPS."""
    pairs = [pair for pair in itertools.combinations(POWERED, 2) if pair[0] in POWERED[:3]]
    for program in POWERED:
        yield "solo", (program,), [100]
    for kind in ("timeslice", "mps"):
        for programs in random.Random(40).sample(pairs, 8):
            yield kind, programs, [100, 100]


def fresh_pairs():
    """Ten programs, twelve pairs of them that are in no older draw, twelve more, twenty with the other six, too, and
    all that are left."""
    chance = random.Random(50)
    every = [*DEVICE_BOUND[4], *DEVICE_BOUND[5]]
    seen = {frozenset(programs) for _, programs, _ in itertools.chain(drawn_power(), *map(drawn_choices, (4, 5, 6)))}
    programs = chance.sample(every, 10)
    unseen = [pair for pair in itertools.combinations(programs, 2) if frozenset(pair) not in seen]
    pairs = chance.sample(unseen, 12)
    more = random.Random(51).sample([pair for pair in unseen if pair not in pairs], 12)
    seen |= set(map(frozenset, pairs + more))
    unseen = [pair for pair in itertools.combinations(every, 2) if frozenset(pair) not in seen]
    further = random.Random(52).sample(unseen, 20)
    return programs, pairs, more, further, [pair for pair in unseen if pair not in further]


def drawn_fresh():
    """Each alone with each percentage, and twelve pairs that are in no other draw."""
    programs, pairs, *_ = fresh_pairs()
    for percentage in [100, *PERCENTAGES]:
        for program in programs:
            yield "solo" if percentage == 100 else f"solo{percentage}", (program,), [percentage]
    for kind, percentage in [("timeslice", 100), ("mps", 100)] + [(f"split{part}", part) for part in PERCENTAGES]:
        for pair in pairs:
            yield kind, pair, [percentage, 100 - percentage or 100]


def drawn_above():
    """The same programs alone, and twelve more pairs, with priorities, too."""
    programs, _, pairs, *_ = fresh_pairs()
    for program in programs:
        yield "solo", (program,), [100]
    for kind in ("timeslice", "mps", "above"):
        for pair in pairs:
            yield kind, pair, [100, BELOW if kind == "above" else 100]
            if kind == "above":
                yield kind, pair[::-1], [100, BELOW]


def drawn_further():
    """Programs alone, and twenty more pairs under MPS."""
    yield from alone_and_under_mps(fresh_pairs()[3])


def drawn_rest():
    """The same of twenty of the pairs that are left."""
    yield from alone_and_under_mps(random.Random(53).sample(fresh_pairs()[4], 20))


def alone_and_under_mps(pairs):
    for program in [*DEVICE_BOUND[4], *DEVICE_BOUND[5]]:
        yield "solo", (program,), [100]
    for pair in pairs:
        yield "mps", pair, [100, 100]


def truth_of(path, kind):
    """{program: its row of that kind} of a truth.jsonl"""
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {row["file"].split(".")[0]: row for row in rows if row["kind"] == kind}


def draw(options):
    truth = truth_of(options.truth, "window")
    clients = {program: [f"trace: ../programs-of-others/captures/{row['file']}",
                         f"solo_rate: {row['alone_per_second']}/s"] for program, row in truth.items()}
    draw_scenarios(drawn_mixes(), clients)


def draw_splits(options):
    fewer = [truth_of(options.truth, "sms50"), truth_of(options.truth, "sms25")]
    clients = {}
    for program, row in truth_of(options.truth, "sms100").items():
        files = ", ".join("captures/" + rows[program]["file"] for rows in fewer if program in rows)
        clients[program] = [f"trace: captures/{row['file']}", "accept: [span]", f"fewer_sms: [{files}]",
                            f"solo_rate: {row['alone_per_second']:.2f}/s",
                            "allocated: 4GiB"]  # JAX takes most of the device while it is captured, not in a mix
    draw_scenarios(drawn_splits(options.second), clients)


def stated_keys(program, row):
    """Of a program of the choices, as its author would state them."""
    return [key for key in ("allow_co_run: true", "allocated: 4GiB") if key not in SPECIAL.get(program, [])] \
        + [f"iterations: {row['steps_inside']}"] * (program in UNSURE)


def means_alone(path, figure, kind="solo_"):
    """{program: mean of a figure that was measured of it alone}"""
    found = {}
    for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        if row["run"].startswith(kind):
            found.setdefault(row["w"], []).append(row[figure])
    return {program: statistics.mean(values) for program, values in found.items()}


def rates_alone(path, kind="solo_"):
    return {program: round(rate, 3) for program, rate in means_alone(path, "it_s", kind).items()}


def draw_choices(options):
    rates = rates_alone(options.rates) if options.rates else {}
    folder = "captures" if options.draw in DEVICE_BOUND else "../programs-of-others/captures"
    clients = {program: [f"trace: {folder}/{row['file']}", *stated_keys(program, row),
                         f"solo_rate: {rates.get(program, row['alone_per_second'])}/s"]
               for program, row in truth_of(options.truth, "window").items()}
    draw_scenarios(drawn_choices(options.draw), clients)


def draw_power(options):
    rates = rates_alone(options.rates)
    watts, mhz = (means_alone(options.rates, figure) for figure in ("watts", "sm_mhz"))
    clients = {}
    for folder in ("fourth", "fifth"):
        for program, row in truth_of(HERE.parents[1] / "studies/advice" / folder / "truth.jsonl", "window").items():
            if program not in POWERED:
                continue
            clients[program] = [f"trace: ../advice/{folder}/captures/{row['file']}", *stated_keys(program, row),
                                "accept: [other_gpu, solo_rate]", f"solo_rate: {rates[program]}/s",
                                f"power: {{ mean: {watts[program]:.0f}W, clock: {mhz[program]:.0f}MHz }}"]
    draw_scenarios(drawn_power(), clients)


def draw_fresh(options):
    clients = {}
    for truth in options.truth:
        clients |= fresh_clients(truth, options.rates)
    draw_scenarios(options.draw(), clients)


def fresh_clients(truth, path):
    """Programs by their captures, which lie next to their truth.jsonl; a path as it is from the experiment's folder."""
    rates = rates_alone(path)
    watts, mhz = (means_alone(path, figure) for figure in ("watts", "sm_mhz"))
    fewer = [truth_of(truth, kind) for kind in ("sms70", "sms50", "sms30")]
    folder, clients = truth.parent / "captures", {}
    for program, row in truth_of(truth, "window").items():
        files = ", ".join(f"{folder}/{rows[program]['file']}" for rows in fewer if program in rows)
        clients[program] = [f"trace: {folder}/{row['file']}", *[f"fewer_sms: [{files}]"] * bool(files),
                            "accept: [solo_rate]", f"solo_rate: {rates[program]}/s", "allocated: 4GiB",
                            "allow_co_run: true",  # of a program that gave the GPU up before the window began
                            f"power: {{ mean: {watts[program]:.0f}W, clock: {mhz[program]:.0f}MHz }}"]
    return clients


def draw_scenarios(mixes, clients):
    for kind, programs, percentages in mixes:
        print(f"  - name: {kind}_{'_'.join(programs)}")
        if not kind.startswith(("solo_", "timeslice")) and kind != "solo":
            print("    device: { sharing: concurrent }")
        if BELOW in percentages:
            levels = ", ".join(f"{program}: {int(part != BELOW)}" for program, part in zip(programs, percentages))
            print(f"    policies: [stream_priority: {{ priorities: {{ {levels} }} }}]")
        elif min(percentages) < 100:
            parts = ", ".join(f"{program}: {part}" for program, part in zip(programs, percentages))
            print(f"    policies: [mps_percentage: {{ percentages: {{ {parts} }} }}]")
        print("    clients:")
        for program in programs:
            keys = [f"name: {program}"] + clients[program] + SPECIAL.get(program, [])
            print(f"      - {{ {', '.join(keys)} }}")


def predictions(options):
    """Rates, and 99th percentiles of the times between ends of steps."""
    database = sqlite3.connect(f"{options.results.resolve().as_uri()}?mode=ro", uri=True)
    figures = {}
    for scenario, client, metric, value in database.execute(
            "SELECT scenario, client, metric, value FROM metrics JOIN runs ON runs.id = run "
            "WHERE metric IN ('throughput_per_s', 'job_interval_p99_ms')"):
        name = "predicted_per_s" if metric == "throughput_per_s" else "predicted_p99_ms"
        figures.setdefault((scenario, client), {}).setdefault(name, []).append(value)
    for (scenario, client), its in figures.items():
        means = {name: round(statistics.mean(its[name]), 3) for name in sorted(its, reverse=True)}
        print(json.dumps({"run": scenario, "client": client} | means))


class Parked:
    """Programs that wait for their turn: one process for each (program, percentage or BELOW)."""

    def __init__(self, folder, wanted, environment):
        self.folder, self.environment, self.processes, self.number = folder, environment, {}, 0
        for program, percentage in wanted:
            self.start(program, percentage)

    def start(self, program, percentage):
        label = f"{program}@{percentage}"
        variables = os.environ | self.environment | {"PARK": str(self.folder), "PARKED_AS": label,
                                                     "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
        if percentage == BELOW:
            variables["CUDA_MPS_CLIENT_PRIORITY"] = "1"
        elif percentage < 100:
            variables["CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"] = str(percentage)
        log = open(self.folder / f"{label}.log", "w", encoding="utf-8")
        self.processes[label] = subprocess.Popen([sys.executable, HERE / "programs" / SCRIPT[program], program],
                                                 env=variables, stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    def wait_until_warm(self, seconds):
        """Labels of those that are ready; the GPU is free for them from here on."""
        (self.folder / "gpu").touch()
        until = now() + seconds
        while now() < until and any(process.poll() is None and not (self.folder / f"{label}.warm").exists()
                                    for label, process in self.processes.items()):
            time.sleep(0.1)
        return {label for label in self.processes if (self.folder / f"{label}.warm").exists()}

    def run(self, labels, seconds):
        """The ends of the steps of each within the time in which all ran, and that time."""
        self.number += 1
        begin = now() + 0.05
        order = {"number": self.number, "labels": labels, "begin": begin, "end": begin + seconds + 2 * SETTLE_S}
        (self.folder / "order.new").write_text(json.dumps(order), encoding="utf-8")
        os.rename(self.folder / "order.new", self.folder / "order")
        answers = [self.folder / f"{label}.{self.number}" for label in labels]
        while now() < order["end"] + 10 and not all(answer.exists() for answer in answers):
            time.sleep(0.02)
        ends = [json.loads(answer.read_text()) for answer in answers]
        within = begin + SETTLE_S, begin + SETTLE_S + seconds
        return [[end for end in one if within[0] <= end <= within[1]] for one in ends], within

    def end(self):
        for process in self.processes.values():
            process.send_signal(signal.SIGTERM)
        until = now() + 5
        for process in self.processes.values():
            try:
                process.wait(max(0, until - now()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def measure_all(mixes, parked, warm, power, options, until):
    for kind, programs, percentages in mixes:
        labels, run = [f"{p}@{part}" for p, part in zip(programs, percentages)], f"{kind}_{'_'.join(programs)}"
        if now() > until or not warm.issuperset(labels):
            print(f"{run}: {'no time left' if now() > until else 'a program is missing'}", flush=True)
            continue
        ends, within = parked.run(labels, options.seconds)
        if any(len(one) < 3 for one in ends):
            print(f"{run}: too few steps", flush=True)
            continue
        with open(options.output, "a", encoding="utf-8") as file:
            file.writelines(json.dumps(row(run, p, one) | power.between(*within)) + "\n"
                            for p, one in zip(programs, ends))


def measure_way(way, mixes, parked, options, until):
    began = now()
    warm = parked.wait_until_warm(90)
    print(f"{way}: {len(warm)} of {len(parked.processes)} after {now() - began:.0f} s", flush=True)
    for label in set(parked.processes) - warm:
        print(label, (parked.folder / f"{label}.log").read_text()[-600:], flush=True)
    share = 0.42 if way == "timeslice" else 1  # of the time left; there are more mixes under MPS
    until = now() + (until - now()) * share
    with Power() as power:
        for _ in range(options.repeat):
            measure_all(mixes, parked, warm, power, options, until)


def measure(options):
    until = now() + options.limit
    names = set(re.findall(r"- name: (\w+)", options.experiment.read_text(encoding="utf-8")))
    drawn = {f"{mix[0]}_{'_'.join(mix[1])}": mix for mix in [*drawn_mixes(), *drawn_splits(), *drawn_splits(True),
                                                         *drawn_power(), *drawn_fresh(), *drawn_above(),
                                                         *drawn_further(), *drawn_rest(),
                                                         *itertools.chain(*map(drawn_choices, range(1, 7)))]}
    mixes = [mix for name, mix in drawn.items() if name in names and re.match(options.only, name)]
    in_turns = [mix for mix in mixes if mix[0] in ("solo", "timeslice")]
    ways = {"timeslice": in_turns, "mps": [mix for mix in mixes if mix not in in_turns]}
    ways = {way: found for way, found in ways.items() if found}
    with tempfile.TemporaryDirectory() as folder:
        daemon = {"CUDA_MPS_PIPE_DIRECTORY": folder + "/pipe", "CUDA_MPS_LOG_DIRECTORY": folder}
        parked = {}
        try:
            for way, found in ways.items():
                wanted = dict.fromkeys((p, part) for _, programs, parts in found for p, part in zip(programs, parts))
                (pathlib.Path(folder) / way).mkdir()
                parked[way] = Parked(pathlib.Path(folder) / way, wanted, daemon if way == "mps" else {})
            time.sleep(options.imports)
            for way, found in ways.items():
                if way == "mps":
                    os.mkdir(folder + "/pipe")
                    subprocess.run(["nvidia-cuda-mps-control", "-d"], env=os.environ | daemon, check=True)
                measure_way(way, found, parked[way], options, until)
                parked[way].end()
        finally:
            for programs in parked.values():
                programs.end()
            if os.path.exists(folder + "/pipe"):
                subprocess.run(["nvidia-cuda-mps-control"], input="quit\n", text=True, env=os.environ | daemon,
                               check=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("draw")
    command.add_argument("truth", type=pathlib.Path)
    command.set_defaults(do=draw)
    command = commands.add_parser("draw-splits")
    command.add_argument("truth", type=pathlib.Path)
    command.add_argument("--second", action="store_true", help="other pairs, in turns as well")
    command.set_defaults(do=draw_splits)
    command = commands.add_parser("draw-choices")
    command.add_argument("truth", type=pathlib.Path)
    command.add_argument("--rates", type=pathlib.Path)
    command.add_argument("--second", dest="draw", action="store_const", const=2, default=1, help="other pairs")
    command.add_argument("--third", dest="draw", action="store_const", const=3, help="others again")
    command.add_argument("--fourth", dest="draw", action="store_const", const=4, help="of programs the device binds")
    command.add_argument("--fifth", dest="draw", action="store_const", const=5, help="of others that it binds")
    command.set_defaults(do=draw_choices)
    command = commands.add_parser("draw-power")
    command.add_argument("--rates", type=pathlib.Path, required=True)
    command.set_defaults(do=draw_power)
    command = commands.add_parser("draw-fresh")
    command.add_argument("truth", type=pathlib.Path, nargs="+", help="captures/ lies next to it")
    command.add_argument("--rates", type=pathlib.Path, required=True)
    command.add_argument("--above", dest="draw", action="store_const", const=drawn_above, default=drawn_fresh,
                         help="twelve more pairs, with priorities")
    command.add_argument("--rest", dest="draw", action="store_const", const=drawn_rest, help="20 of the pairs left")
    command.add_argument("--further", dest="draw", action="store_const", const=drawn_further,
                         help="twenty more pairs under MPS")
    command.set_defaults(do=draw_fresh)
    command = commands.add_parser("predictions")
    command.add_argument("results", type=pathlib.Path)
    command.set_defaults(do=predictions)
    command = commands.add_parser("measure")
    command.add_argument("experiment", type=pathlib.Path)
    command.add_argument("--only", default="", help="scenarios whose names begin so: a regular expression")
    command.add_argument("--repeat", type=int, default=1, help="how often each mix is run")
    command.add_argument("--seconds", type=float, default=1.5)
    command.add_argument("--limit", type=float, default=480)
    command.add_argument("--imports", type=float, default=30, help="seconds in which the programs load their libraries")
    command.add_argument("-o", "--output", required=True)
    command.set_defaults(do=measure)
    options = parser.parse_args()
    options.do(options)


if __name__ == "__main__":
    main()
