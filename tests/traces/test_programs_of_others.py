"""Steps that `simcli info` finds in recordings of other people's frameworks, against what the programs counted."""

import concurrent.futures
import json
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
STUDY = ROOT / "studies/programs-of-others"
SIMCLI = ROOT / "build/release/simcli"
ROWS = [json.loads(line) for line in (STUDY / "truth.jsonl").read_text().splitlines()]
EDGES, TOLERANCE, RATE_TOLERANCE = 3, 0.02, 0.1
# What a step is, several of these programs alone know: each of their rounds, or threads, may be one.
AMBIGUOUS = {"numba", "numba_options", "triton", "two_threads", "recommender", "spectra", "translate", "lengths",
             "graph_batches", "with_evaluation", "jax_recurrent"}


@pytest.fixture(scope="module")
def found():
    """{file: what info says of the program in it}."""
    if not SIMCLI.exists():
        pytest.skip("needs build/release/simcli")

    def program(row):
        done = subprocess.run([SIMCLI, "info", "--json", STUDY / "captures" / row["file"]], capture_output=True,
                              text=True, check=True)
        return json.loads(done.stdout)["program"]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return {row["file"]: answer for row, answer in zip(ROWS, pool.map(program, ROWS))}


def steps_of(row):
    before = row["warm_up_steps"] if row["kind"] == "kineto" else 0
    return row["steps_inside"] - before


def is_right(row, answer):
    if row["steps_inside"] is None:
        return abs(1e9 / answer["step_ns"] / row["traced_per_second"] - 1) <= RATE_TOLERANCE
    return abs(answer["steps"] - steps_of(row)) <= max(EDGES, TOLERANCE * steps_of(row))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["file"])
def test_steps_are_right_or_said_to_be_unsure(found, row):
    answer = found[row["file"]]
    assert is_right(row, answer) or answer["certainty"] == "unsure", (answer, row)


def test_only_programs_that_do_not_show_their_steps_are_unsure(found):
    unsure = {row["file"].split(".")[0] for row in ROWS if found[row["file"]]["certainty"] == "unsure"}
    assert unsure <= AMBIGUOUS


def test_an_unsure_answer_of_equal_rounds_says_how_many(found):
    for row in ROWS:
        answer = found[row["file"]]
        if answer["certainty"] != "unsure" or " equal rounds of " not in answer["how"]:
            continue
        rounds = int(answer["how"].split("each holds ")[1].split()[0])
        at_the_ends = 2 * rounds + 0.05 * steps_of(row)
        assert any(abs(answer["steps"] * n - steps_of(row)) <= at_the_ends for n in range(1, rounds + 1)), row["file"]
