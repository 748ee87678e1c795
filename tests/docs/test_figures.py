"""Figures that a page repeats from another one are the same there."""

import re

import pages

PAIR = re.compile(r"(\d+\.\d) % \((\d+\.\d)\)")  # mean and worst
MEASURED = [re.compile(r"^\w+: mean (\d+\.\d) %, worst (\d+\.\d) %", re.MULTILINE),
            re.compile(r"(\d+\.\d) % off in the mean and (\d+\.\d) % at worst")]


def test_the_errors_of_the_readme_are_those_of_the_page_of_accuracy():
    accuracy = pages.read_page("docs/accuracy.md")
    there = {pair for pattern in MEASURED for pair in pattern.findall(accuracy)}
    repeated = PAIR.findall(pages.read_page("README.md"))
    assert len(repeated) == 21
    assert not [pair for pair in repeated if pair not in there], "experiments/accuracy.py has printed something else since"
