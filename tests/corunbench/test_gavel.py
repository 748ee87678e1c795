"""Gavel's pairs: their table is that of the source, their board that of its entries, and choices are counted right."""

import csv
import io
import json
import pathlib
import subprocess
import sys

import pytest

BENCH = pathlib.Path(__file__).resolve().parents[2] / "corunbench"
GAVEL = BENCH / "gavel"
sys.path[:0] = [str(BENCH), str(BENCH / "entries"), str(GAVEL)]
import board  # noqa: E402
import predict  # noqa: E402
import score  # noqa: E402

A, B, C, PARALLEL = "('A (batch size 8)', 1)", "('B', 1)", "('C', 1)", "('A (batch size 8)', 2)"
MEASURED = {A: {"null": 10.0, A: [4.0, 4.0], B: [6.0, 1.0], C: [0.0, 0.0]},
            B: {"null": 2.0, A: [1.0, 6.0], C: [1.5, 3.0]},
            C: {"null": 4.0, A: [0.0, 0.0], B: [3.0, 1.5], C: [2.0, 2.0]},
            PARALLEL: {"null": 19.0}}


def collected(folder, *files):
    paths = [folder / f"{number}.json" for number, _ in enumerate(files)]
    for path, measured in zip(paths, files):
        path.write_text(json.dumps({"k80": measured}), encoding="utf-8")
    return subprocess.run([sys.executable, GAVEL / "collect.py", *paths], capture_output=True, text=True)


def rows(said):
    return list(csv.DictReader(io.StringIO(said.stdout)))


def pair_row(run, program, kept):
    return {"run": run, "mix": run, "device": "k80", "program": program, "kept": str(kept), "by_mix": "test",
            "by_program": "test", "solo_in_second_file": ""}


def entry_of(path, truth, **kept):
    lines = [f"{row['run']},{row['program']},{kept.get(row['program'], row['kept'])}\n" for row in truth]
    path.write_text("run,program,kept\n" + "".join(lines), encoding="utf-8")
    return score.Entry(path)


def test_a_row_has_what_a_program_of_a_pair_kept_and_each_pair_is_in_once(tmp_path):
    found = {(row["mix"], row["program"]): row for row in rows(collected(tmp_path, MEASURED))}
    assert {key: row["kept"] for key, row in found.items()} == {
        ("A (batch size 8)+A (batch size 8)", "A (batch size 8)_a"): "0.4000",
        ("A (batch size 8)+A (batch size 8)", "A (batch size 8)_b"): "0.4000",
        ("A (batch size 8)+B", "A (batch size 8)"): "0.6000", ("A (batch size 8)+B", "B"): "0.5000",
        ("B+C", "B"): "0.7500", ("B+C", "C"): "0.7500", ("C+C", "C_a"): "0.5000", ("C+C", "C_b"): "0.5000"}
    row = found["A (batch size 8)+B", "B"]
    assert (row["device"], row["solo_per_s"], row["together_per_s"]) == ("k80", "2.0000", "1.0000")


def test_pairs_that_are_missing_or_zeros_are_left_out_and_counted(tmp_path):
    said = collected(tmp_path, MEASURED)
    assert not {"A (batch size 8)+C", "B+B"} & {row["mix"] for row in rows(said)}
    assert "k80: 4 of 6 pairs" in said.stderr


def test_directions_of_a_pair_that_differ_are_an_error(tmp_path):
    said = collected(tmp_path, MEASURED | {B: {"null": 2.0, A: [1.0, 7.0]}})
    assert said.returncode != 0 and "expected the same rates" in said.stderr


def test_a_second_file_adds_its_rates_alone(tmp_path):
    found = rows(collected(tmp_path, MEASURED, {A: {"null": 20.0}, B: {"null": 0.0}}))
    assert {row["program"]: row["solo_in_second_file"] for row in found if row["mix"] == "A (batch size 8)+B"} == {
        "A (batch size 8)": "20.0000", "B": ""}


def test_files_that_differ_in_rates_together_are_an_error(tmp_path):
    said = collected(tmp_path, MEASURED, {A: {"null": 20.0, B: [6.0, 1.5]}})
    assert said.returncode != 0 and "in the second file: [6.0, 1.5]" in said.stderr


def test_no_mix_of_the_test_part_is_learned_from_on_another_device():
    parts = {}
    for row in board.read_pairs():
        assert parts.setdefault(row["mix"], (row["by_mix"], row["by_program"])) == (row["by_mix"], row["by_program"])


def test_the_board_is_that_of_the_entries():
    entries = [score.Entry(path) for path in sorted((GAVEL / "entries").glob("*.csv"))]
    text = board.board(entries, board.read_pairs())
    assert (GAVEL / "BOARD.md").read_text(encoding="utf-8").endswith(text), "corunbench/gavel/board.py --board"


def test_entries_are_those_of_their_program():
    for name, text in predict.texts(predict.Table()).items():
        kept = (GAVEL / "entries" / f"{name}.csv").read_text(encoding="utf-8")
        assert text == kept, f"corunbench/gavel/predict.py: {name}"


@pytest.mark.parametrize("model", [predict.class_median, predict.rank_one, predict.boosted_trees],
                         ids=lambda model: model.__name__)
def test_what_test_rows_kept_changes_no_learned_entry(model):
    hidden, table = predict.Table(), predict.Table()
    for row in hidden.rows:
        if row["by_program"] == "test":
            row["kept"] = row["together_per_s"] = "0.0100"
    assert predict.learned.entry(hidden, model, ["by_program"]) == predict.learned.entry(table, model, ["by_program"])


def test_an_entry_that_knows_the_truth_has_no_error_and_chooses_right(tmp_path, capsys):
    entry_of(tmp_path / "truth.csv", board.read_pairs())
    board.main([str(tmp_path / "truth.csv")])
    said = capsys.readouterr().out
    assert said.count("| truth | 0.0 % | 0.0 % | 0 % |  |") == 5
    assert said.count("| truth | 0.0 % | 0.0 % | 0.0 % |\n") == 5
    assert said.count("| truth | 100% | 0.0 % |  |  |") == 5


def test_a_wrong_choice_costs_what_the_better_one_has_more(tmp_path):
    truth = [pair_row("slow", "a", 0.3), pair_row("slow", "b", 0.5), pair_row("fast", "c", 1), pair_row("fast", "d", 1)]
    always = entry_of(tmp_path / "always.csv", truth, a=0.9)
    never = entry_of(tmp_path / "never.csv", truth, c=0.1, d=0.1)
    table = board.choices_table([always, never], truth, "by_mix")
    assert "| always | 50% | 10.0 % | 20.0 % | 20 % |" in table
    assert "| never | 50% | 25.0 % | 50.0 % | 50 % |" in table


def test_an_entry_that_leaves_out_a_row_is_missing_and_takes_part_in_nothing_else(tmp_path):
    truth = [pair_row("slow", "a", 0.3), pair_row("slow", "b", 0.5)]
    text = board.part_text("New mixes", [entry_of(tmp_path / "half.csv", truth[:1])], truth, "by_mix")
    assert "| half | missing | missing | missing | missing |" in text and text.count("half") == 1


def test_sums_of_pairs_are_those_of_their_programs(tmp_path):
    truth = [pair_row("slow", "a", 0.3), pair_row("slow", "b", 0.5), pair_row("fast", "c", 1), pair_row("fast", "d", 1)]
    table = board.sums_table([entry_of(tmp_path / "mine.csv", truth, a=0.9)], truth, "by_mix")
    assert "| measured | 0.80 | 0.80 | 0.80 |" in table and "| mine | 1.40 | 1.40 | 1.40 |" in table


def test_a_choice_that_hangs_on_the_file_of_the_rate_alone_is_counted():
    truth = [pair_row("p", program, 0.6) | {"solo_per_s": "10", "together_per_s": "6", "solo_in_second_file": "15"}
             for program in ("Recommendation", "other")]
    assert "| k80 | 1.50 (1.50 to 1.50) | 1.50 (1.50 to 1.50) | 1 of 1 |" in board.second_file_text(truth)


@pytest.mark.parametrize("name, partner, kept", [("a", "p", 0.2), ("a", "new", 0.2), ("new", "q", 0.6),
                                                 ("new", "newer", 0.4), ("a", "q", 0.4)])
def test_class_medians_fall_back_on_what_was_seen(name, partner, kept):
    train = [{"device": "k80", "name": "a", "partner": "p", "kept": 0.2},
             {"device": "k80", "name": "b", "partner": "q", "kept": 0.6}]
    assert predict.class_median(None, train, [{"device": "k80", "name": name, "partner": partner}]) == [kept]
