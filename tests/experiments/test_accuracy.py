"""studies/accuracy.py: which prediction a measured row is compared with, and how far null models are off."""

import importlib.util
import json
import pathlib
import subprocess
import sys

import pytest

from written_results import Results, throughputs

SCRIPT = pathlib.Path(__file__).parents[2] / "studies" / "accuracy.py"
spec = importlib.util.spec_from_file_location("accuracy", SCRIPT)
accuracy = importlib.util.module_from_spec(spec)
spec.loader.exec_module(accuracy)


def measured(tmp_path, rows):
    path = tmp_path / "measured.jsonl"
    path.write_text("".join(json.dumps({"run": run, "w": program, "it_s": rate}) + "\n" for run, program, rate in rows))
    return path


def printed(*arguments, code=0):
    done = subprocess.run([sys.executable, str(SCRIPT), *map(str, arguments)], capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == code, done.stderr
    return [[cell.strip() for cell in line.strip("|").split("|")]
            for line in done.stdout.splitlines() if line.startswith("|")]


def test_rows_of_a_trio_are_not_compared_with_a_pair():
    rates = {("mps_gpt_unet", "gpt"): [31.0], ("mps_gpt_unet_recommender", "gpt"): [29.0]}
    compared = accuracy.comparisons(rates, [("mps_gpt_unet_recommender", "gpt", 30.0), ("mps_gpt_unet", "gpt", 32.0)])
    assert [prediction for _, _, _, prediction in compared] == [[29.0], [31.0]]


def test_a_run_may_begin_with_its_scenario_and_a_client_with_its_program():
    rates = {("mps", "resnet50_a"): [18.0], ("game50", "game"): [60.0]}
    compared = list(accuracy.comparisons(rates, [("mps_resnet50_twice", "resnet50_train", 17.0),
                                                 ("mps_other", "resnet50", 1.0)]))
    assert [(run, prediction) for run, _, _, prediction in compared] == [("mps_resnet50_twice", [18.0])]


def test_prints_the_error_of_the_mean_over_seeds(tmp_path):
    with Results(tmp_path / "r.sqlite") as results:
        throughputs(results, "passthrough", [9.0, 12.0], client="a")
    rows = printed(results.path, measured(tmp_path, [("pair", "a", 10.0)]))
    assert rows[-1] == ["pair", "a", "10.00", "10.50", "9.00 to 12.00", "+5.0 %"]


def cell(scenario, *figures):
    return {"scenario": scenario, "figures": [
        {"client": client, "metric": metric, "bound": bound, "predicted": {"mean": mean}, "null_models": nulls}
        for client, metric, bound, mean, nulls in figures]}


@pytest.fixture
def predictions(tmp_path):
    path = tmp_path / "predictions.json"
    path.write_text(json.dumps({"cells": [
        cell("alone: a", ("a", "throughput_per_s", "device", 20.0, {})),
        cell("pair", ("a", "throughput_per_s", "device", 11.0, {"no interference": 20.0}),
             ("a", "rate_kept", "device", 0.5, {"no interference": 1.0}),
             ("b", "throughput_per_s", "host", 30.0, {"no interference": 20.0}))]}))
    return path


def test_null_models_stand_beside_the_model_by_what_bounds_a_program(tmp_path, predictions):
    rows = printed("--nulls", predictions,
                   measured(tmp_path, [("pair", "a", 10.0), ("pair", "b", 40.0), ("alone", "a", 20.0)]))
    assert rows[0][4:] == ["model", "no interference"]
    assert rows[2:4] == [["pair", "a", "device", "10.00", "+10.0 %", "+100.0 %"],
                         ["pair", "b", "host", "40.00", "-25.0 %", "-50.0 %"]]
    assert rows[-3:] == [["device", "1", "10.0 % (10.0)", "100.0 % (100.0)"],
                         ["host", "1", "25.0 % (25.0)", "50.0 % (50.0)"],
                         ["all", "2", "17.5 % (25.0)", "75.0 % (100.0)"]]


def test_says_how_it_is_called():
    assert not printed("--nulls", "predictions.json", code=1)
