#!/usr/bin/env python3
"""Writes RELIABILITY.md out of the records in tests/reliability/records: every number there is one that a run wrote.

    tests/reliability/reliability_page.py            writes the page
    tests/reliability/reliability_page.py --check    says whether the page is what the records say
"""

import dataclasses
import re
import sys
import textwrap
import tomllib
import typing

import record

PAGE = record.ROOT / "RELIABILITY.md"
GOAL_INPUTS, GOAL_SECONDS = 10**7, 30 * 60
SURFACES = {
    "action": "actions of a policy, in simulated runs", "capframex": "CapFrameX CSV and JSON",
    "cupti": "activity records of CUPTI", "device_file": "device files", "experiment": "experiment files and their checks",
    "kineto": "Kineto and PyTorch JSON", "mangohud": "MangoHud logs", "native": "`.corun` files, chunks",
    "nsys": "Nsight Systems SQLite", "orion": "Orion profiles", "part": "parts that traced programs write",
    "presentmon": "PresentMon CSV", "results": "results files of `compare` and `sql`", "set_option": "`--set` options",
    "wrapper": "gzip and zstd wrappers",
}
HEAD = """# Reliability

What was tried to break Corun, and what came of it. The numbers are those of runs, written by the commands named here into
tests/reliability/records, and this page is made of them by `./dev figures`; none is typed by hand. What is not here has
not been tried.
"""


def number(value):
    return f"{value:,}"


def reaches_goal(its):
    return its["inputs"] >= GOAL_INPUTS or its["seconds"] >= GOAL_SECONDS


def at(moment):
    return f"{moment['date']}, {moment['commit']}"


def regressions():
    count = sum(1 for _ in (record.ROOT / "tests/fuzz/corpus").glob("*/regression-*"))
    if count == 0:
        return "Fuzzing has found nothing so far."
    return f"{count} input{'s' if count > 1 else ''} that once broke something {'are' if count > 1 else 'is'} in the corpus."


def fuzzing(found):
    yield ("| surface | inputs tried | time | campaigns | first | last | goal reached | open findings |\n"
           "|---|---:|---:|---:|---|---|---|---:|")
    for surface, text in sorted(SURFACES.items()):
        its = found["surfaces"].get(surface)
        if its is None:
            yield f"| {surface}: {text} | 0 | 0 s | 0 | | | no | |"
            continue
        yield (f"| {surface}: {text} | {number(its['inputs'])} | {number(its['seconds'])} s | {its['campaigns']} | "
               f"{at(its['first'])} | {at(its['last'])} | {'yes' if reaches_goal(its) else 'no'} | {len(its['open_findings'])} |")
    whole = found["surfaces"].values()
    yield (f"\nIn all {number(sum(its['inputs'] for its in whole))} inputs in "
           f"{number(sum(its['seconds'] for its in whole))} seconds, over all campaigns. The goal for each surface is "
           f"{number(GOAL_INPUTS)} inputs or {GOAL_SECONDS // 60} minutes; {sum(map(reaches_goal, whole))} of "
           f"{len(SURFACES)} have reached it. {regressions()}\n")


def mutants(found):
    yield f"**{found['caught']} of {found['mutants']} caught.**\n"


def mistakes():
    listed = tomllib.loads((record.ROOT / "tests/mutants/mutants.toml").read_text())["mutant"]
    yield "<details><summary>mistake and test</summary>\n\n| the code | noticed by |\n|---|---|"
    for mutant in listed:
        yield f"| {mutant['name']} | {mutant['test'].split(': ')[1]} |"
    yield "\n</details>\n"


def invariants(found):
    yield "| random experiments | runs | events under check | promises broken | campaigns | first | last |"
    yield "|---:|---:|---:|---:|---:|---|---|"
    yield (f"| {number(found['experiments'])} | {number(found['runs'])} | {number(found['events'])} | "
           f"{found['violations']} | {found['campaigns']} | {at(found['first'])} | {at(found['last'])} |\n")


def reference(found):
    yield (f"**{number(found['scenarios'])} scenarios, {number(found['lines'])} decisions, operations and frames compared, "
           f"{found['differing']} differ.**\n")


def determinism(found):
    yield (f"**{number(found['runs'])} runs of {found['experiments']} experiments in {len(found['ways'])} ways, "
           f"{found['differing']} differ**: {', '.join(found['ways'])}.\n")


def faults(found):
    yield "| trials | kills while it ran | of them between two runs | finished runs found whole | damaged | resumed |"
    yield "|---:|---:|---:|---:|---:|---|"
    yield (f"| {found['trials']} | {found['kills']} | {found['kills_between_runs']} | {number(found['runs_found_whole'])} | "
           f"{found['damaged']} | {'each, to the same rows' if found['resumed'] else 'not tried'} |\n")


def disk(found):
    yield "| command | calls that failed | of them without effect on the results | broken promises |\n|---|---:|---:|---:|"
    for name, its in found["cases"].items():
        yield f"| {name} | {number(its['faults'])} | {number(its['unnoticed_by_results'])} | 0 |"
    yield f"\nThe ways: {', '.join(found['ways'])}.\n"
    yield (f"**{number(found['power_losses'])} states of the disk after lost power opened, none with a torn run or without one "
           "that had been there after an earlier loss**: at every call, what was synced, alone and beside any of the rest.\n")


def memory(found):
    yield (f"**{number(found['faults'])} allocations failed; nothing was torn, and each was said to be want of memory.** "
           f"{found['before_it_began']} of them were asked for before the command line was understood and ended the program by "
           f"abort(); without effect: {found['not_needed']}.\n")


def coverage(found):
    yield "| folder | lines | run | share |\n|---|---:|---:|---:|"
    for folder, its in [*found["folders"].items(), ("all", found["all"])]:
        yield f"| {folder} | {number(its['lines'])} | {number(its['run'])} | {100 * its['run'] / its['lines']:.1f} % |"
    yield f"\n{number(found['tests'])} tests, {found['failed']} of them failed.\n"


@dataclasses.dataclass(frozen=True)
class Section:
    """A heading, what was tried, and what `figures` makes of the record; `after` follows the line that says whence it is."""
    title: str
    text: str
    command: str
    figures: typing.Callable
    after: typing.Callable = tuple

    def lines(self, found):
        yield f"## {self.title}\n"
        yield self.text
        if found is None:
            yield f"Not run yet: `{self.command}`.\n"
            return
        yield from self.figures(found)
        yield f"`{self.command}`, {found['date']}, commit {found['commit']}, {found['machine']}.\n"
        yield from self.after()


SECTIONS = {
    "fuzz": Section(
        "Hostile input",
        "Each surface that reads what others wrote has a fuzz target under AddressSanitizer and "
        "UndefinedBehaviorSanitizer, held to limits of memory and time and to promises of its own: a damaged file is "
        "never taken for a good one, what is imported survives the native format, nothing expands beyond its limit, a "
        "policy's illegal action is an error of the policy. The inputs in tests/fuzz/corpus are replayed by the "
        "ordinary tests.\n",
        "./dev fuzz", fuzzing),
    "mutants": Section(
        "Mistakes that tests notice",
        "tests/mutants/mutants.toml lists mistakes that somebody could make, each with the test that must notice it. They "
        "are planted into a copy of the sources, behind a switch, so that one build tries them all.\n",
        "./dev mutants", mutants, mistakes),
    "campaign": Section(
        "Invariants",
        "At every event of every simulated run, in release builds too, what the parts report is compared: sim/run/invariant_checker.h "
        "says what. A broken promise ends the program with code 70 and leaves a folder with the experiment, the run, "
        "its captures' hashes, the simulated time and the last decisions.\n",
        "tests/reliability/campaign.py", invariants),
    "reference": Section(
        "A second, naive engine",
        "Small scenarios under every policy, on every kind of device, are simulated with the event queue of sim/engine and "
        "with a sorted map in its place; every decision and every operation's end must be the same.\n",
        "tests/reference/same_output.py --record", reference),
    "determinism": Section(
        "Determinism",
        "The same experiment done in different ways gives the same rows, but for the time that it took.\n",
        "./dev determinism --record", determinism),
    "kills": Section(
        "Faults while results are written",
        "Killed (SIGKILL) at random moments, a program that writes results must leave a whole database, and in it each "
        "finished run once and with all its rows. A full disk and too little memory are tried by the ordinary tests, too "
        "(tests/reliability/test_faults.py), misbehaving plug-ins by tests/experiments/question/test_evil_plugins.py.\n",
        "tests/reliability/kill_runs.py --record", faults),
    "disk": Section(
        "A disk that fails, and lost power",
        "Every call on the results file and its journals fails once in each of several ways. The program must end well with "
        "the undisturbed rows, or name the file and what failed; finished runs stay whole, and done again with `--resume` "
        "(of a merge: with `-f`) it must have the hash of the undisturbed results.\n",
        "tests/reliability/disk_faults.py --record", disk),
    "memory": Section(
        "Memory that cannot be had",
        "One allocation of a sweep fails, whoever asks for it. The sweep must end with the undisturbed rows or say that memory "
        "is short, and leave nothing torn.\n",
        "tests/reliability/memory_faults.py --record", memory),
    "coverage": Section(
        "Lines that tests run",
        "Lines of the program that the ordinary C++ tests run, as gcov counts them; what Python tests run is not counted.\n",
        "./dev coverage", coverage),
}


def wrapped(text):
    """Prose in lines of the usual width; tables, headings and line breaks around it as they are."""
    if text.lstrip().startswith(("|", "#", "<")):
        return text
    before, after = text[:len(text) - len(text.lstrip("\n"))], text[len(text.rstrip("\n")):]
    return before + textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False).strip() + after


def page():
    lines = [HEAD]
    for name, section in SECTIONS.items():
        lines += map(wrapped, section.lines(record.read(name)))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip("\n") + "\n"


def main():
    if "--check" in sys.argv[1:]:
        return 0 if PAGE.exists() and PAGE.read_text() == page() else "RELIABILITY.md is not what the records say: ./dev figures"
    PAGE.write_text(page())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
