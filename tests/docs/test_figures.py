"""Figures that a page repeats from another one are the same there."""

import os
import re

import pytest

import pages

PAIR = re.compile(r"(\d+\.\d) % \((\d+\.\d)\)")  # mean and worst
MEASURED = [re.compile(r"^\w+: mean (\d+\.\d) %, worst (\d+\.\d) %", re.MULTILINE),
            re.compile(r"(\d+\.\d) % off in the mean and (\d+\.\d) % at worst"), PAIR]


def test_the_errors_of_the_readme_are_those_of_the_page_of_accuracy():
    accuracy = pages.read_page("docs/accuracy.md")
    there = {pair for pattern in MEASURED for pair in pattern.findall(accuracy)}
    repeated = PAIR.findall(pages.read_page("README.md"))
    assert len(repeated) == 6
    assert not [pair for pair in repeated if pair not in there], "experiments/accuracy.py has printed something else since"


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
