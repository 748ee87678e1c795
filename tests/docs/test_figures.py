"""Figures that a page repeats are those of the study that measured them, and a study's tables are sound."""

import os
import re

import pytest

import pages

FOLDERS = [(pages.ROOT / study).parent for study in pages.STUDIES]
PAIR = re.compile(r"(\d+\.\d) % \((\d+\.\d)\)")  # mean and worst
SUMMARY = re.compile(r"^(\w+): mean (\d+\.\d) %, worst (\d+\.\d) %, (\d+) rates", re.MULTILINE)
# Of predictions whose rows were not kept.
TOLD = re.compile(r"(\d+\.\d) % off in the mean and\s+(\d+\.\d) % at\s+worst")
ROW = re.compile(r"^\| (\w+) \|.*\| ([+-]\d+\.\d) % \|$", re.MULTILINE)  # run, error
SCORED = re.compile(r"^\| (?:blind|seen) \|.*\| \d+/\d+ \| (\d+\.\d) % \| [^|]* \| [^|]* \| (\d+\.\d) % \|",
                    re.MULTILINE)
GENERATED = ["table.md", "published.md", "nulls.md", "scored.md", "present/scored.md", "errors.md"]
TABLES = [folder / name for folder in FOLDERS if (folder / "experiment.yaml").exists()
          for name in GENERATED[:2] if (folder / name).exists()]


def text_of(path):
    return path.read_text(encoding="utf-8")


def measured_in(folder):
    """(mean, worst) of everything that a study's generated tables sum up."""
    text = "\n".join(text_of(folder / name) for name in GENERATED if (folder / name).exists())
    return {pair[1:3] for pair in SUMMARY.findall(text)} | set(PAIR.findall(text)) | set(SCORED.findall(text))


@pytest.mark.parametrize("page, at_least", [("README.md", 3), ("docs/accuracy.md", 30)])
def test_errors_on_a_page_are_those_of_a_study(page, at_least):
    there = set().union(*(measured_in(folder) | set(TOLD.findall(text_of(folder / "README.md"))) for folder in FOLDERS))
    repeated = PAIR.findall(pages.read_page(page))
    assert len(repeated) >= at_least
    assert not [pair for pair in repeated if pair not in there], "studies/accuracy.py has printed something else since"


@pytest.mark.parametrize("folder", [folder for folder in FOLDERS if measured_in(folder)],
                         ids=lambda folder: folder.name)
def test_errors_in_a_study_are_those_of_its_tables(folder):
    repeated = PAIR.findall(text_of(folder / "README.md"))
    assert repeated and not [pair for pair in repeated if pair not in measured_in(folder)]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: f"{table.parent.name}/{table.name}")
def test_a_summary_follows_from_the_rows_of_its_table(table):
    errors = {}
    for run, error in ROW.findall(text_of(table)):
        errors.setdefault(run.split("_")[0], []).append(abs(float(error)))
    summaries = SUMMARY.findall(text_of(table))
    assert {kind for kind, *_ in summaries} == set(errors)
    for kind, mean, worst, rates in summaries:
        assert (float(worst), int(rates)) == (max(errors[kind]), len(errors[kind]))
        assert float(mean) == pytest.approx(sum(errors[kind]) / len(errors[kind]), abs=0.1)


NUMBER = re.compile(r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?")


def section(page, heading):
    """The text below `## heading` up to the next one, without code."""
    text = re.sub(r"```.*?```", "", pages.read_page(page), flags=re.DOTALL)
    _, _, found = text.partition(f"\n## {heading}\n")
    assert found, f"{page} has no section `{heading}`"
    return found.partition("\n## ")[0]


def numbers(text):
    return [float(number.replace(",", "")) for number in NUMBER.findall(text)]


@pytest.mark.parametrize("page, heading", [
    ("docs/calibrate.md", "Values of an H200"),
    ("docs/cluster.md", "A production cluster"),
    ("docs/identify.md", "Results"),
    ("docs/live.md", "Expected results"),
    ("docs/validate.md", "Results on an H200"),
])
def test_figures_repeated_from_elsewhere_are_those_there(page, heading):
    """Every number of the section is in one of the studies and reports outside docs/ that it links to."""
    text = section(page, heading)
    sources = [os.path.normpath(f"docs/{target}") for target in re.findall(r"\]\((\.\./[^)#]+)", text)]
    there = {number for source in sources for number in numbers(pages.read_page(source))}
    repeated = numbers(re.sub(r"\]\([^)]*\)", "]", text))
    assert repeated
    assert not [number for number in repeated if number not in there]
