"""Runs the benchmarks and writes BENCHMARKS.md: `./dev bench`.

Every figure of that page is measured by this run; what is measured, its yardstick and its goal are in goals.toml.
Cases of a program are repeated in random order, so that a busy stretch of a shared machine hits a case and its
yardstick alike, and the median is taken. `--full` replays 25 times as many kernels, and a file of 100 million;
`--quick` a quarter; `--smoke` runs every case once, small, and writes nothing.
"""

import argparse
import datetime
import json
import os
import platform
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

import profile_replay

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from repository import git  # noqa: E402

BUILD = ROOT / "build"


@dataclass
class Case:
    """What the repetitions of a benchmark gave: nanoseconds per item, and its counters."""

    per_item_ns: list = field(default_factory=list)
    counters: dict = field(default_factory=dict)

    @property
    def median(self):
        return statistics.median(self.per_item_ns)

    @property
    def spread(self):
        """Half of the range between quartiles over the median."""
        if len(self.per_item_ns) < 2:
            return 0.0
        low, _, high = statistics.quantiles(self.per_item_ns, n=4, method="inclusive")
        return (high - low) / 2 / self.median


def plain_name(name):
    """A benchmark's name without what Google Benchmark appends for how it is run."""
    return "/".join(part for part in name.split("/") if part != "real_time" and not part.startswith("iterations:"))


def run_program(folder, program, options, repetitions):
    command = [str(folder / program), "--benchmark_format=json", f"--benchmark_repetitions={repetitions}",
               "--benchmark_enable_random_interleaving=true", *options]
    print(f"  {program} {' '.join(options)}", file=sys.stderr, flush=True)
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
    cases = {}
    for row in json.loads(done.stdout)["benchmarks"]:
        if row["run_type"] != "iteration":
            continue
        case = cases.setdefault(plain_name(row["name"]), Case())
        rate = row.get("items_per_second") or row.get("bytes_per_second")
        case.per_item_ns.append(1e9 / rate)
        case.counters = {key: value for key, value in row.items() if key.endswith("_per_operation")}
    return cases


def number(value):
    """Three significant digits."""
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def goal_text(row):
    parts = []
    if "goal_ratio" in row:
        parts.append(f"{row['goal_ratio']} x")
    if "goal_per_item" in row:
        parts.append(f"{row['goal_per_item']} {'' if 'counter' in row else 'ns'}".strip())
    if "at_least" in row:
        parts.append(f"at least {row['at_least']}")
    return ", ".join(parts)


def rows_of(section, cases):
    """The rows of a section, those of its matrix and of its list of all cases written out."""
    rows = []
    matrix = section.get("matrix", {"policies": [], "streams": []})
    for policy in matrix["policies"]:
        for streams in matrix["streams"]:
            row = {"name": f"{policy}, {streams:,} streams", "benchmark": f"BM_Replay/{policy}/{streams}",
                   "yardstick": f"BM_ReplayFloor/{streams}", "gap": section["gap"]}
            if streams <= section["judged_up_to_streams"]:
                row["goal_ratio"] = section["goal_ratio_by_policy"][policy]
            rows.append(row)
    if "every" in section:
        names = sorted(name for name in cases[section["program"]] if name.startswith(section["every"]))
        rows += [{"name": name.removeprefix(section["every"]), "benchmark": name, "yardstick": section["yardstick"]}
                 for name in names]
    rows += section.get("row", [])
    return [row for row in rows if row.get("program", section["program"]) in cases]


@dataclass
class Line:
    """A row of a table: texts, and whether its goal is met (None where it has none)."""

    texts: list
    is_met: object = None
    gap: str = ""


def judge(row, section, cases):
    program = cases[row.get("program", section["program"])]
    case = (cases["alone"] if row.get("alone") else program)[row["benchmark"]]
    value = case.counters[row["counter"]] if "counter" in row else case.median
    yardstick = program[row["yardstick"]] if "yardstick" in row else None
    ratio = value / yardstick.median if yardstick else None
    if "beside" in row:
        value = program[row["beside"]].median / case.median
    is_met = None
    if "goal_ratio" in row:
        is_met = ratio <= row["goal_ratio"]
    elif "goal_per_item" in row:
        is_met = value <= row["goal_per_item"]
    elif "at_least" in row:
        is_met = value >= row["at_least"]
    verdict = {None: "", True: "met", False: "missed"}[is_met]
    if "control" in row:  # two cases that show whether the machine had two cores to give
        several, one = (program[name].median for name in row["control"])
        if one / several < row["at_least"]:
            is_met, verdict = None, "cannot tell: the machine was busy"
    texts = [row["name"], number(value), number(yardstick.median) if yardstick and "every" not in section else "",
             number(ratio) if ratio else "", f"{100 * case.spread:.0f} %", goal_text(row), verdict]
    return Line(texts, is_met, row.get("gap", ""))


def table(head, rows):
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def filled_table(head, rows):
    """A table of the columns that some row fills."""
    head, *rows = zip(*(column for column in zip(head, *rows) if any(column[1:])))
    return table(head, rows)


def section_text(section, cases, facts):
    lines = [judge(row, section, cases) for row in rows_of(section, cases)]
    head = ["", section["unit"], "yardstick", "ratio", "noise", "goal", ""]
    rows = filled_table(head, [line.texts for line in lines])
    text = f"## {section['title']}\n\n{section['text'].format(**facts)}\n\n{rows}\n"
    for gap in dict.fromkeys(line.gap for line in lines if line.is_met is False and line.gap):
        names = [line.texts[0] for line in lines if line.is_met is False and line.gap == gap]
        text += f"\n**Missed: {'; '.join(names) if len(names) <= 3 else f'{len(names)} rows'}.** {gap}\n"
    return text, lines


def profile_text(operations):
    """The profile of a replay, by component."""
    return profile_replay.text(BUILD / "bench/replay_bench", operations)


def machine():
    model = next((line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), platform.machine())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{model}, {os.cpu_count()} logical cores, {memory:.0f} GiB, Linux"


def commit():
    changed = git("status", "--porcelain", "--", "sim", "policies", "traces", "experiments", "tests/bench")
    return git("rev-parse", "--short=12", "HEAD") + (" with uncommitted changes" if changed else "")


def cpu_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def quickstart(repetitions):
    """Simulated seconds that `simcli run` gives for one of CPU time, all policies of the quickstart together."""
    speeds = []
    for _ in range(repetitions):
        with tempfile.TemporaryDirectory() as folder:
            begin = cpu_of_children()
            done = subprocess.run([BUILD / "release/simcli", "run", "experiments/quickstart.yaml", "--jobs", "1", "-o",
                                   f"{folder}/q.sqlite"], cwd=ROOT, capture_output=True, text=True)
            seconds = cpu_of_children() - begin
            if done.returncode != 0:
                raise SystemExit(done.stderr)
            with sqlite3.connect(f"{folder}/q.sqlite") as results:
                simulated, = results.execute("SELECT sum(horizon_ns) * 1e-9 FROM runs").fetchone()
            speeds.append(simulated / seconds)
    return statistics.median(speeds)


def quickstart_text(speed, goal=100):
    verdict = "met" if speed >= goal else "missed"
    return ("## The quickstart\n\nSimulated seconds per second of CPU time of "
            "`simcli run experiments/quickstart.yaml --jobs 1`, everything included.\n\n"
            + table(["", "times real time", "goal", ""], [["quickstart", number(speed), f"at least {goal}", verdict]])
            + "\n"
            + ("" if speed >= goal
               else "\n**Missed.** One core of a busy machine; the next steps are those of a replay.\n"))


def peers_text(path):
    """The table that peers.sh wrote; where it has not been run, that."""
    if path.exists():
        return path.read_text()
    return "## Other engines\n\nNot run here: `tests/bench/peers.sh`, then this again.\n"


def measure(options):
    goals = tomllib.loads((Path(__file__).parent / "goals.toml").read_text())
    folder = BUILD / ("dev" if options.smoke else "bench")
    programs = list(dict.fromkeys(row.get("program", section["program"])
                                  for section in goals["section"] for row in [section, *section.get("row", [])]))
    if options.smoke:  # its file of 400 MB alone takes longer than all the rest
        programs.remove("importer_bench")
    cases = {}
    for program in programs:
        extra = ["--benchmark_min_time=0" if options.smoke else "--benchmark_min_time=0.05"]
        if program == "replay_bench":
            extra = [f"--operations={options.operations}"]
        repetitions = 1 if options.smoke else 3 if options.quick or program == "replay_bench" else 5
        if program == "importer_bench":
            repetitions = 1  # of three imports
        cases[program] = run_program(folder, program, extra, repetitions)
    alone = [f"--operations={options.one_file}", "--benchmark_filter=OneFile"]
    cases["alone"] = run_program(folder, "replay_bench", alone, 1)
    return goals, cases


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="25 times the kernels, and a file of 100 million")
    parser.add_argument("--quick", action="store_true", help="a quarter of the kernels: for a busy machine")
    parser.add_argument("--smoke", action="store_true", help="every case once, small; writes nothing")
    options = parser.parse_args()
    options.operations, options.one_file = (
        (10_000_000, 100_000_000) if options.full else (16_000, 4_000) if options.smoke
        else (100_000, 250_000) if options.quick else (400_000, 1_000_000))
    begin_load = os.getloadavg()[0]
    goals, cases = measure(options)
    facts = {"operations": options.operations}
    sections = [section_text(section, cases, facts) for section in goals["section"]]
    if options.smoke:
        ran, made = sum(len(program) for program in cases.values()), sum(len(lines) for _, lines in sections)
        for section, (_, lines) in zip(goals["section"], sections):
            for line in lines:
                print(f"row: {section['title']}: {line.texts[0]}: {line.texts[1]}")
        print(f"{ran} cases ran, {made} rows made")
        return
    spreads = [case.spread for name, program in cases.items() if name != "alone" for case in program.values()]
    command = "./dev bench" + (" --full" if options.full else " --quick" if options.quick else "")
    head = f"""# Benchmarks

Written by `{command}`; do not edit. {datetime.date.today()}, commit {commit()}, {machine()}.

Compare ratios: each case alternated with its yardstick on a shared machine (load {begin_load:.1f} to
{os.getloadavg()[0]:.1f}). Figures are medians of CPU time; noise is half of the interquartile range over the median,
{100 * statistics.median(spreads):.0f} % in the middle and {100 * max(spreads):.0f} % at most. Release build.
"""
    parts = [head, *(text for text, _ in sections), quickstart_text(quickstart(2)), profile_text(options.operations),
             (Path(__file__).parent / "floor.md").read_text(), peers_text(BUILD / "bench/peers.md")]
    (ROOT / "BENCHMARKS.md").write_text("\n".join(part for part in parts if part))
    missed = sum(line.is_met is False for _, lines in sections for line in lines)
    met = sum(line.is_met is True for _, lines in sections for line in lines)
    print(f"BENCHMARKS.md: {met} goals met, {missed} missed")


if __name__ == "__main__":
    main()
