"""CorunBench: its table is that of the studies, its board that of its entries, and its scorer counts right."""

import csv
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BENCH = ROOT / "corunbench"
sys.path[:0] = [str(BENCH), str(BENCH / "entries")]
import collect  # noqa: E402
import learned  # noqa: E402
import nulls  # noqa: E402
import score  # noqa: E402


def write(path, columns, rows):
    with open(path, "w", encoding="utf-8") as file:
        table = csv.DictWriter(file, columns, restval="")
        table.writeheader()
        table.writerows(rows)
    return path


def truth_row(run, program, way, kept, **more):
    return {"run": f"s/{run}", "mix": "a+b", "way": way, "program": program, "kept": str(kept), "by_mix": "test"} | more


def test_the_table_is_what_the_studies_measured():
    said = subprocess.run([sys.executable, BENCH / "collect.py"], check=True, capture_output=True, text=True).stdout
    assert said == (BENCH / "runs.csv").read_text(encoding="utf-8"), "corunbench/collect.py > corunbench/runs.csv"
    rows = score.read(BENCH / "runs.csv")
    assert {row["capture"] for row in rows} <= {row["capture"] for row in score.read(BENCH / "features.csv")}
    assert all((ROOT / row["capture"]).exists() for row in rows)


def test_the_board_is_that_of_the_entries():
    entries = [score.Entry(path) for path in sorted((BENCH / "entries").glob("*.csv"))]
    board = score.board(entries, score.read(BENCH / "runs.csv"))
    assert (BENCH / "BOARD.md").read_text(encoding="utf-8").endswith(board), "corunbench/score.py --board"


@pytest.mark.parametrize("model", [learned.class_median, learned.boosted_trees], ids=lambda model: model.__name__)
def test_learned_entries_are_those_of_their_program(model):
    kept = (BENCH / "entries" / f"{model.__name__}.csv").read_text(encoding="utf-8")
    assert learned.entry(learned.Table(), model) == kept, "corunbench/entries/learned.py"


def test_no_mix_of_the_test_part_is_learned_from():
    parts = {}
    for row in score.read(BENCH / "runs.csv"):
        assert parts.setdefault(row["mix"], row["by_mix"]) == row["by_mix"]
        assert row["by_way"] == ("test" if row["way"] == "split" else "train")


def test_an_entry_is_off_by_its_relative_error_and_a_missing_row_is_said(tmp_path):
    truth = [truth_row("mps_a_b", "a", "mps", 0.5), truth_row("mps_a_b", "b", "mps", 0.8)]
    rows = [{"run": "s/mps_a_b", "program": "a", "kept": 0.6, "low": 0.4, "high": 0.55},
            {"run": "s/mps_a_b", "program": "b", "kept": 0.8, "low": 0.9, "high": 1.0}]
    entry = score.Entry(write(tmp_path / "mine.csv", ["run", "program", "kept", "low", "high"], rows))
    assert score.errors_text(entry, truth, "by_mix") == "| 10.0 % | 0.0 % | 20 % | 50% "
    assert "missing" in score.errors_text(entry, truth + [truth_row("mps_a_b", "c", "mps", 1)], "by_mix")


def test_a_trained_entry_is_judged_by_the_rows_of_the_part_alone(tmp_path):
    rows = [{"part": "by_mix", "run": "s/mps_a_b", "program": "a", "kept": 0.5}]
    entry = score.Entry(write(tmp_path / "mine.csv", ["part", "run", "program", "kept"], rows))
    truth = truth_row("mps_a_b", "a", "mps", 0.5)
    assert entry.is_trained() and entry.row("by_mix", truth) and entry.row("by_program", truth) is None


def test_a_choice_costs_what_the_best_way_has_more(tmp_path):
    truth = [truth_row("timeslice_a_b", "a", "turns", 0.5), truth_row("timeslice_a_b", "b", "turns", 0.5),
             truth_row("mps_a_b", "a", "mps", 0.4), truth_row("mps_a_b", "b", "mps", 1.0)]
    rows = [{"run": row["run"], "program": row["program"], "kept": 0.9 if row["way"] == "mps" else 0.1}
            for row in truth]
    entry = score.Entry(write(tmp_path / "wrong.csv", ["run", "program", "kept"], rows))
    count, table = score.choices_table([entry], truth, "by_mix")
    assert count == 1
    assert "| wrong | 20.0 % (20) | 0.0 % (0) |" in table, table
    assert "| always turns, where measured, else MPS | 0.0 % (0) | 28.6 % (29) |" in table, table


def test_noise_is_how_far_one_measurement_is_off_the_other():
    truth = [truth_row("mps_a_b", "a", "mps", 0.5, kept_each="0.6 0.5"),
             truth_row("mps_a_b", "b", "mps", 0.8, kept_each="0.8 0.8"),
             truth_row("mps_a_c", "c", "mps", 0.5, kept_each="")]
    assert score.noise_table(truth).endswith("|\n| MPS | 2 | 10.0 % | 0.0 % | 20 % |\n")


@pytest.mark.parametrize("rates, alone, each", [([1, 3], [2, 4], "0.5000 0.7500"), ([1], [2], ""), ([1, 3], [2], "")])
def test_each_measurement_is_over_the_rate_alone_of_its_turn(rates, alone, each):
    assert collect.kept_each(rates, alone) == each


@pytest.mark.parametrize("busy, kept", [([1, 1], [0.5, 0.5]), ([0.2, 1], [1, 0.8]), ([0.3, 0.4], [1, 1]),
                                        ([0.1, 1, 1], [1, 0.45, 0.45])])
def test_an_equal_share_leaves_to_others_what_it_does_not_need(busy, kept):
    assert nulls.equal_share([{"busy": part} for part in busy]) == pytest.approx(kept)


def test_null_models_know_limits():
    programs = [{"busy": 0.6, "step_s": 0.01}, {"busy": 0.9, "step_s": 0.03}]
    assert nulls.proportional_share(programs) == pytest.approx([2 / 3, 2 / 3])
    assert nulls.serialised(programs) == pytest.approx([0.25, 0.75])
    assert nulls.no_interference(programs) == [1, 1]
