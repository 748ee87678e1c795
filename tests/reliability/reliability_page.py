#!/usr/bin/env python3
"""Writes RELIABILITY.md from the records in tests/reliability/records: every number comes from a run.

    tests/reliability/reliability_page.py            writes the page
    tests/reliability/reliability_page.py --check    says whether the page is what the records say
"""

import dataclasses
import re
import sys
import textwrap
import tomllib
import typing

import ledger

PAGE = ledger.ROOT / "RELIABILITY.md"
GOAL_INPUTS, GOAL_SECONDS = 10**7, 30 * 60
SURFACES = {
    "action": "actions of a policy", "afterburner": "MSI Afterburner logs", "capframex": "CapFrameX CSV and JSON",
    "channel": "memory that programs of a live run write to",
    "cupti": "activity records of CUPTI", "device_file": "device files", "experiment": "experiment files",
    "kineto": "Kineto and PyTorch JSON", "mangohud": "MangoHud logs", "native": "`.corun` files, chunks",
    "nsys": "Nsight Systems SQLite", "orion": "Orion profiles", "part": "parts of traced programs",
    "presentmon": "PresentMon CSV",
    "results": "results files: compared, reported, exported, hashed", "set_option": "`--set` options",
    "wrapper": "gzip and zstd wrappers", "xla": "XLA JSON profiles",
}
HEAD = """# Reliability

Attempts to break Corun, and their results. `./dev figures` generates this page from records of the commands below
(tests/reliability/records); no number is typed by hand. Attempts that are not listed have not been made.
"""


def number(value):
    return f"{value:,}"


def reaches_goal(its):
    return its["inputs"] >= GOAL_INPUTS or its["seconds"] >= GOAL_SECONDS


def at(moment):
    return f"{moment['date']}, {moment['commit']}"


def regressions():
    count = sum(1 for _ in (ledger.ROOT / "tests/fuzz/corpus").glob("*/regression-*"))
    if count == 0:
        return "Fuzzing has found nothing so far."
    return f"Inputs in the corpus that once broke something: {count}."


def fuzzing(found):
    yield ("| surface | inputs | time | campaigns | last | goal reached | open findings |\n"
           "|---|---:|---:|---:|---|---|---:|")
    for surface, text in sorted(SURFACES.items()):
        its = found["surfaces"].get(surface)
        if its is None:
            yield f"| {surface}: {text} | 0 | 0 s | 0 | | no | |"
            continue
        yield (f"| {surface}: {text} | {number(its['inputs'])} | {number(its['seconds'])} s | {its['campaigns']} | "
               f"{at(its['last'])} | {'yes' if reaches_goal(its) else 'no'} | {len(its['open_findings'])} |")
    whole = found["surfaces"].values()
    inputs, seconds = (sum(its[count] for its in whole) for count in ("inputs", "seconds"))
    since = min(its["first"]["date"] for its in whole)
    yield (f"\nTotal: {number(inputs)} inputs in {number(seconds)} seconds since {since}. Goal per surface: "
           f"{number(GOAL_INPUTS)} inputs or {GOAL_SECONDS // 60} minutes, reached by "
           f"{sum(map(reaches_goal, whole))} of "
           f"{len(SURFACES)}. {regressions()}\n")


def mutants(found):
    yield f"**{found['caught']} of {found['mutants']} caught.**\n"


def systematic(found):
    """Mistakes that change nothing do not count; a folder's score is of the rest."""
    folders = found["folders"]
    whole = {count: sum(its[count] for its in folders.values()) for count in ("mutants", "caught", "equivalent")}
    yield "| folder | mutants | change nothing | caught | score |\n|---|---:|---:|---:|---:|"
    for folder, its in [*folders.items(), ("all", whole)]:
        judged = its["mutants"] - its["equivalent"]
        yield (f"| {folder} | {number(its['mutants'])} | {its['equivalent']} | {number(its['caught'])} | "
               f"{100 * its['caught'] / max(1, judged):.1f} % |")
    yield f"\nSeed {found['seed']}.\n"


def survivors():
    found = ledger.read("mutation") or {"survivors": []}
    yield "<details><summary>survivors</summary>\n"
    yield from (f"* `{one}`" for one in found["survivors"])
    yield "\n</details>\n"


def mistakes():
    listed = tomllib.loads((ledger.ROOT / "tests/mutants/mutants.toml").read_text())["mutant"]
    yield "<details><summary>mistakes</summary>\n"
    yield "; ".join(mutant["name"] for mutant in listed) + "."
    yield "\n</details>\n"


def invariants(found):
    yield "| random experiments | runs | events under check | promises broken | campaigns | first | last |"
    yield "|---:|---:|---:|---:|---:|---|---|"
    yield (f"| {number(found['experiments'])} | {number(found['runs'])} | {number(found['events'])} | "
           f"{found['violations']} | {found['campaigns']} | {at(found['first'])} | {at(found['last'])} |\n")


def permutations(found):
    yield (f"**{number(found['experiments'])} experiments, {number(found['figures'])} figures compared, "
           f"{found['differing']} experiments differ.** Seed {found['seed']}.\n")


def reference(found):
    yield (f"**{number(found['scenarios'])} scenarios, {number(found['lines'])} decisions, operations and frames "
           "compared, "
           f"{found['differing']} differ.**\n")


def determinism(found):
    yield (f"**{number(found['runs'])} runs of {found['experiments']} experiments in {len(found['ways'])} ways, "
           f"{found['differing']} differ**: {', '.join(found['ways'])}.\n")


def faults(found):
    yield "| trials | kills of a working program | of them between runs | complete runs | damaged | resumed |"
    yield "|---:|---:|---:|---:|---:|---|"
    yield (f"| {found['trials']} | {found['kills']} | {found['kills_between_runs']} "
           f"| {number(found['runs_found_whole'])} | "
           f"{found['damaged']} | {'each, to the same rows' if found['resumed'] else 'not tried'} |\n")


def disk(found):
    yield "| command | failed calls | without effect on the results | broken promises |\n|---|---:|---:|---:|"
    for name, its in found["cases"].items():
        yield f"| {name} | {number(its['faults'])} | {number(its['unnoticed_by_results'])} | 0 |"
    yield f"\nThe ways: {', '.join(found['ways'])}.\n"
    yield (f"**{number(found['power_losses'])} disk states after power loss opened; no run was torn or lost**: "
           "at every "
           "call, the synced writes, alone and with any of the others.\n")


def memory(found):
    yield (f"**{number(found['faults'])} allocations failed; no result was torn, and each failure was reported "
           "as out of "
           f"memory.** {found['before_it_began']} failed before the command line was parsed and ended the program by "
           f"abort(); {found['not_needed']} had no effect.\n")


def coverage(found):
    yield "| folder | lines | run | share |\n|---|---:|---:|---:|"
    for folder, its in [*found["folders"].items(), ("all", found["all"])]:
        yield f"| {folder} | {number(its['lines'])} | {number(its['run'])} | {100 * its['run'] / its['lines']:.1f} % |"
    yield f"\n{number(found['tests'])} tests, {found['failed']} failed.\n"


@dataclasses.dataclass(frozen=True)
class Section:
    """A heading, the attempt, and what `figures` makes of its record; `after` follows the line with the origin."""
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
        "Fuzzing",
        "Each surface that reads foreign data has a fuzz target under AddressSanitizer and "
        "UndefinedBehaviorSanitizer, with limits of memory and time. It checks that damaged files are rejected, "
        "that imports survive the native format, and that a policy's illegal action is an error of the policy. The "
        "ordinary tests replay tests/fuzz/corpus.\n",
        "./dev fuzz", fuzzing),
    "mutants": Section(
        "Mutation tests",
        "tests/mutants/mutants.toml lists mistakes, each with the test that must notice it. They are planted into a "
        "copy of the sources, each behind a switch.\n",
        "./dev mutants", mutants, mistakes),
    "mutation": Section(
        "Mutation tests at random places",
        "A sample of the usual slips (another relation, another operator, a constant off by one, a statement left "
        "out, another result, a loop cut short) at random places, as many of a folder as the root of its size says. "
        "A slip is caught if one of the tests that come to its place, of C++ or of Python that start `simcli`, fails "
        "or does not end; where no test comes, it survives. tests/mutants/equivalent.toml gives the reasons for those "
        "that change nothing.\n",
        "./dev mutants --sample N", systematic, survivors),
    "campaign": Section(
        "Invariants",
        "Every simulated run, in release builds too, checks invariants at every event. A violation ends the program "
        "with exit code 70 and leaves a folder with all that is needed to repeat it.\n",
        "tests/reliability/campaign.py", invariants),
    "permutations": Section(
        "Order of clients",
        "Random experiments under six policies each, with their clients listed in another order: no figure of any "
        "client may differ.\n",
        "tests/reliability/permutations.py --record", permutations),
    "reference": Section(
        "Differential test: a naive engine",
        "Small scenarios under every policy on every kind of device run with the event queue and with a sorted map "
        "in its place. All decisions and ends of operations must be equal.\n",
        "tests/reference/same_output.py --record", reference),
    "determinism": Section(
        "Determinism",
        "Different ways of running an experiment give the same rows, except for wall time.\n",
        "./dev determinism --record", determinism),
    "kills": Section(
        "Kills while results are written",
        "After SIGKILL at a random moment the database must be intact, with each finished run once and complete. "
        "tests/reliability/test_faults.py covers full disks and low memory, "
        "tests/experiments/question/test_evil_plugins.py "
        "plug-ins.\n",
        "tests/reliability/kill_runs.py --record", faults),
    "disk": Section(
        "Disk faults and power loss",
        "Every call on the results file and its journals fails once in each way. The program must finish with the "
        "right rows or name the file and the fault; finished runs stay intact, and `--resume` (merge: `-f`) "
        "restores the right hash.\n",
        "tests/reliability/disk_faults.py --record", disk),
    "memory": Section(
        "Failing allocations",
        "One allocation of a sweep fails. The sweep must finish with the right rows or report out of memory, with "
        "no torn result.\n",
        "tests/reliability/memory_faults.py --record", memory),
    "coverage": Section(
        "Coverage",
        "Lines that the ordinary C++ tests run, by gcov; Python tests are not counted.\n",
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
        lines += map(wrapped, section.lines(ledger.read(name)))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip("\n") + "\n"


def main():
    if "--check" in sys.argv[1:]:
        is_right = PAGE.exists() and PAGE.read_text() == page()
        return 0 if is_right else "RELIABILITY.md is not what the records say: ./dev figures"
    PAGE.write_text(page())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
