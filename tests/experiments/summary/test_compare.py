"""simcli compare: policies compared with a baseline, seed by seed."""

import csv
import json
import os
import re
import subprocess
import sys

import pytest

from test_transcripts import simcli
from written_results import Results, throughputs

SLOW = [10.0, 11.0, 12.0, 13.0, 14.0, 15.0]
FAST = [2 * value + (0.1 if seed % 2 else -0.1) for seed, value in enumerate(SLOW)]


def compare(*arguments, code=0):
    done = subprocess.run([str(simcli()), "compare", *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert done.returncode == code, done.stderr
    return done


def compared(*arguments):
    return json.loads(compare(*arguments, "--json").stdout)


@pytest.fixture
def pair(tmp_path):
    with Results(tmp_path / "pair.sqlite") as results:
        throughputs(results, "exclusive", SLOW)
        throughputs(results, "pilotfish", FAST)
        throughputs(results, "djay", SLOW)
    return results.path


def test_means_and_ratio_are_those_of_the_pairs(pair):
    row = next(row for row in compared(pair)["comparisons"] if row["policy"] == "pilotfish")
    assert row["pairs"] == 6 and row["unit"] == "1/s"
    assert row["baseline"]["mean"] == pytest.approx(sum(SLOW) / 6)
    assert row["value"]["mean"] == pytest.approx(sum(FAST) / 6)
    assert row["ratio"]["mean"] == pytest.approx(sum(FAST) / sum(SLOW))
    assert row["ratio"]["low"] < row["ratio"]["mean"] < row["ratio"]["high"]
    # What the seeds share cancels out: the ratio is known far better than either throughput.
    spread = (row["value"]["high"] - row["value"]["low"]) / row["value"]["mean"]
    assert row["ratio"]["high"] - row["ratio"]["low"] < spread / 10


def test_pairs_are_made_by_seed_and_not_by_place(tmp_path):
    with Results(tmp_path / "r.sqlite") as results:
        for seed in (1, 2, 3, 4, 5, 6):
            results.run("exclusive", seed, [("train", "throughput_per_s", 10.0 * seed, "1/s")])
        for seed in (6, 3, 1, 5, 2, 4):
            results.run("pilotfish", seed, [("train", "throughput_per_s", 20.0 * seed, "1/s")])
    ratio = compared(results.path)["comparisons"][0]["ratio"]
    assert ratio == {"mean": pytest.approx(2), "low": pytest.approx(2), "high": pytest.approx(2)}


def test_runs_of_one_policy_are_said_to_have_nothing_to_be_compared_with(tmp_path, pair):
    with Results(tmp_path / "one.sqlite") as results:
        throughputs(results, "exclusive", SLOW)
    said = compare(results.path)
    assert "all runs are of exclusive" in said.stdout + said.stderr
    said = compare(pair)
    assert "all runs are of" not in said.stdout + said.stderr


def of_revisions(folder, *revisions):
    """Results of two policies, each in a file of its own."""
    paths = [folder / "exclusive.sqlite", folder / "pilotfish.sqlite"]
    for path, policy, values, revision in zip(paths, ("exclusive", "pilotfish"), (SLOW, FAST), revisions):
        with Results(path) as results:
            throughputs(results, policy, values)
            results.of_revision(revision)
    return paths


def test_figures_of_two_results_revisions_say_so_where_they_stand(tmp_path):
    files = of_revisions(tmp_path, "1", "2")
    found = compared(*files)
    assert [row["revisions"] for row in found["comparisons"]] == [["1", "2"]]
    assert all(text.endswith("(of results revisions 1, 2)") for text in found["sentences"]) and found["sentences"]
    assert "runs of results revisions 1, 2 are compared" in found["warnings"][0]
    text = compare(*files, "--export-csv", tmp_path / "e.csv")
    assert re.search(r"^train .* 6 \(of results revisions 1, 2\)$", text.stdout, re.MULTILINE), text.stdout
    assert [row["revisions"] for row in csv.DictReader((tmp_path / "e.csv").open())] == ["1 2"]


def test_figures_of_one_results_revision_say_nothing_of_it(tmp_path):
    files = of_revisions(tmp_path, "2", "2")
    assert "revision" not in json.dumps(compared(*files)) and "revision" not in compare(*files).stdout


def test_the_sentences_say_the_effect_with_its_interval_best_policy_first(pair):
    said = compare(pair).stdout
    assert re.search(r"pilotfish gives train 2\.\d+ ± 0\.0\d+ times the throughput of exclusive\n", said)
    assert "djay gives train the same throughput as exclusive" in said
    assert said.index("pilotfish gives") < said.index("djay gives")


def test_an_effect_that_may_be_chance_is_not_claimed(tmp_path):
    with Results(tmp_path / "r.sqlite") as results:
        throughputs(results, "exclusive", [10.0, 12.0, 9.0, 11.0, 10.5])
        throughputs(results, "pilotfish", [11.0, 10.0, 10.5, 10.0, 11.5])
    assert "(not significant)" in compare(results.path).stdout


def test_a_baseline_that_gives_nothing_has_no_ratio(tmp_path):
    with Results(tmp_path / "r.sqlite") as results:
        throughputs(results, "exclusive", [0.0] * 5)
        throughputs(results, "pilotfish", [16.0, 16.5, 15.5, 16.0, 16.0])
    found = compared(results.path)
    assert found["comparisons"][0]["ratio"] == {"mean": None, "low": None, "high": None}
    assert found["sentences"] == ["pilotfish gives train a throughput of 16.0 /s [15.6,16.4], exclusive 0 /s"]


def test_what_is_the_same_in_every_seed_has_no_half_width_and_nothing_is_said_as_nothing(tmp_path):
    with Results(tmp_path / "r.sqlite") as results:
        throughputs(results, "exclusive", [10.0] * 5)
        throughputs(results, "pilotfish", [15.0] * 5)
        throughputs(results, "djay", [0.0] * 5)
    assert compared(results.path)["sentences"] == ["pilotfish gives train 1.500 times the throughput of exclusive",
                                                   "djay gives train a throughput of 0 /s, exclusive 10.0 /s"]


def test_the_baseline_can_be_named(pair):
    found = compared(pair, "--baseline", "pilotfish")
    assert found["baseline"] == "pilotfish"
    assert {row["policy"] for row in found["comparisons"]} == {"djay", "exclusive"}
    assert all(row["ratio"]["mean"] == pytest.approx(0.5, abs=0.01) for row in found["comparisons"])


@pytest.mark.parametrize("backend", ["simulation", "gpu", "live"])
def test_results_of_every_backend_are_compared_and_never_mixed(tmp_path, pair, backend):
    with Results(tmp_path / "other.sqlite", backend=backend + "-2") as results:
        throughputs(results, "exclusive", [100.0] * 6)
        throughputs(results, "pilotfish", [300.0] * 6)
    rows = compared(pair, results.path)["comparisons"]
    ratios = {(row["backend"], row["policy"]): row["ratio"]["mean"] for row in rows}
    assert ratios[backend + "-2", "pilotfish"] == pytest.approx(3)
    assert ratios["simulation", "pilotfish"] == pytest.approx(2, abs=0.01)


def test_the_same_file_twice_counts_once(pair):
    assert compared(pair, pair) == compared(pair)


def test_a_scenario_without_the_baseline_is_left_out_and_said_to_be(tmp_path, pair):
    with Results(tmp_path / "other.sqlite", scenario="four") as results:
        throughputs(results, "djay", SLOW)
        throughputs(results, "nvshare", SLOW)
    found = compared(pair, results.path)
    assert {row["scenario"] for row in found["comparisons"]} == {"pair"}
    assert found["warnings"] == ["four (simulation): skipped: it has no run of exclusive"]


def test_two_different_runs_of_one_cell_are_an_error(tmp_path, pair):
    with Results(tmp_path / "other.sqlite") as results:
        results.run("exclusive", 1, [("train", "throughput_per_s", 5.0, "1/s")], horizon_s=20)
    said = compare(pair, results.path, code=2).stderr
    assert "scenario `pair`, policy `exclusive` and seed 1" in said and "other.sqlite" in said


def test_a_figure_that_counts_rare_things_is_zero_where_it_is_absent(tmp_path):
    with Results(tmp_path / "r.sqlite") as results:
        throughputs(results, "exclusive", [1.0] * 5)
        for seed in range(1, 6):
            kills = [("train", "kills", 5.0, "count")] if seed == 1 else []
            results.run("pilotfish", seed, [("train", "throughput_per_s", 1.0, "1/s"), *kills])
        results.database.execute(
            "INSERT INTO metrics VALUES ('pair-simulation-exclusive-3-10','train','kills',1.0,'count')")
    row = compared(results.path, "--metric", "kills")["comparisons"][0]
    assert (row["pairs"], row["value"]["mean"], row["baseline"]["mean"]) == (5, pytest.approx(1.0), pytest.approx(0.2))


def test_warns_of_few_seeds_missing_and_failed_runs(tmp_path):
    with Results(tmp_path / "r.sqlite") as results:
        throughputs(results, "exclusive", [10.0, 10.0, 10.0])
        throughputs(results, "pilotfish", [10.0, 11.0])
        results.run("djay", 1, error="djay needs a menu")
    warnings = compared(results.path)["warnings"]
    assert "pair, exclusive: seed 3 skipped: pilotfish has no such run" in warnings
    assert "pair, djay: 1 of 1 runs failed and are skipped: djay needs a menu" in warnings
    assert any(text.startswith("2 pairs of seeds: fewer than 3 have no interval") for text in warnings)
    assert "warning: 2 pairs of seeds" in compare(results.path).stderr


@pytest.mark.parametrize("theirs, ours", [([10.0], [15.0]), ([10.0, 90.0], [140.0, 10.0])])
def test_one_or_two_pairs_have_no_interval(tmp_path, theirs, ours):
    with Results(tmp_path / "r.sqlite") as results:
        throughputs(results, "exclusive", theirs)
        throughputs(results, "pilotfish", ours)
    row = compared(results.path)["comparisons"][0]
    assert row["ratio"] == {"mean": 1.5, "low": None, "high": None}
    assert (row["difference"]["low"], row["difference"]["high"]) == (None, None)
    said = compare(results.path).stdout
    assert "pilotfish gives train 1.50 times the throughput of exclusive\n" in said and "[" not in said


def test_warns_of_a_horizon_that_is_too_short(tmp_path):
    """Too few frames for a percentile under one policy, frame times that only settle late under the other."""
    drifting = [round(sum(10**7 + 10**5 * k for k in range(n))) for n in range(200)]
    with Results(tmp_path / "r.sqlite") as results:
        for seed in range(1, 6):
            metrics = [("game", "throughput_per_s", 60.0, "1/s")]
            results.run("exclusive", seed, metrics, frames=[("game", [n * 10**8 for n in range(60)])])
            results.run("pilotfish", seed, metrics, frames=[("game", drifting)], warmup_s=0)
    warnings = compared(results.path)["warnings"]
    assert any(text.startswith("pair, exclusive, game: 50 frames are too few for a 99th") for text in warnings)
    unsettled = "pair, pilotfish, game: in 5 of 5 runs the frame times had not settled"
    assert any(text.startswith(unsettled) for text in warnings)


def test_warns_of_too_few_jobs_for_a_rate(tmp_path):
    with Results(tmp_path / "r.sqlite") as results:
        for policy in ("exclusive", "pilotfish"):
            metrics = [("train", "throughput_per_s", 0.2, "1/s"), ("train", "solo_throughput_per_s", 0.2, "1/s"),
                       ("load", "throughput_per_s", 50.0, "1/s"), ("load", "solo_throughput_per_s", 50.0, "1/s")]
            results.run(policy, 1, metrics)
    warnings = [text for text in compared(results.path)["warnings"] if "too few for a rate" in text]
    assert len(warnings) == 1 and warnings[0].startswith("pair, train: alone it ends ")


def test_a_metric_is_known_without_its_ending(pair):
    assert compare(pair, "--metric", "throughput").stdout == compare(pair, "--metric", "throughput_per_s").stdout


def test_names_the_policies_or_metrics_there_are(pair):
    assert "djay, exclusive, pilotfish" in compare(pair, "--baseline", "pilotfsh", code=2).stderr
    assert "no run has the metric `fps`" in compare(pair, "--metric", "fps", code=2).stderr


def test_exports_say_the_same_and_are_not_replaced_by_chance(tmp_path, pair):
    files = {kind: tmp_path / f"x.{kind}" for kind in ("markdown", "csv", "json")}
    flags = [word for kind, path in files.items() for word in (f"--export-{kind}", path)]
    compare(pair, *flags)
    found = compared(pair)
    assert json.loads(files["json"].read_text()) == found
    rows = list(csv.DictReader(files["csv"].open()))
    assert [float(row["ratio"]) for row in rows] == [row["ratio"]["mean"] for row in found["comparisons"]]
    markdown = files["markdown"].read_text()
    assert "| client | metric | policy |" in markdown
    assert all("- " + text in markdown for text in found["sentences"])
    assert "exists" in compare(pair, *flags, code=2).stderr
    compare(pair, *flags, "-f")


def test_hostile_names_stay_text(tmp_path):
    name = "</td><img src=x onerror=alert(1)>|\033[31m"
    with Results(tmp_path / "r.sqlite", scenario=name) as results:
        throughputs(results, "exclusive", SLOW, client=name)
        throughputs(results, name, FAST, client=name)
    said = compare(results.path, "--export-markdown", tmp_path / "x.md")
    assert "\033" not in said.stdout + said.stderr
    markdown = (tmp_path / "x.md").read_text()
    assert "<" not in markdown and "\033" not in markdown and r"\|" in markdown


def python_effects(path):
    """The rows of corun.compare with `exclusive`."""
    package = simcli().parent / "python"
    assert package.is_dir(), f"{package}: build the Python package beside simcli"
    script = ("import corun, json, sys; frame = corun.compare(corun.open(sys.argv[1]), 'exclusive');"
              "print(frame.to_json(orient='records', double_precision=15) if hasattr(frame, 'to_json')"
              " else json.dumps(frame))")
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script, path], capture_output=True, text=True,
                          env=os.environ | {"PYTHONPATH": str(package)}, check=True)
    return json.loads(done.stdout)


def says_the_same(row, python):
    for effect in ("difference", "ratio"):
        mine = [row[effect][key] for key in ("mean", "low", "high")]
        assert mine == pytest.approx([python[effect + end] for end in ("", "_lo", "_hi")], abs=1e-12)


def test_says_what_corun_compare_says_in_python(pair):
    """One truth for statistics: the same bits from both."""
    python = {row["policy"]: row for row in python_effects(pair)}
    for row in compared(pair)["comparisons"]:
        says_the_same(row, python[row["policy"]])


@pytest.fixture
def swept(tmp_path):
    """Two points of nvshare's quantum; the baseline is one run a seed that both points share."""
    with Results(tmp_path / "swept.sqlite") as results:
        throughputs(results, "exclusive", SLOW)
        for point, factor in enumerate((0.5, 0.25)):
            values = [factor * value for value in FAST]
            throughputs(results, "nvshare", values, horizon_s=20 + point)
            results.point(point, {"nvshare.quantum": f"{10 + 40 * point}ms"}, [
                f"pair-simulation-{run}" for seed in range(1, 7) for run in (f"exclusive-{seed}-10",
                                                                              f"nvshare-{seed}-{20 + point}")])
    return results.path


def test_a_sweep_is_compared_point_by_point_beside_the_baseline_of_each(swept):
    found = compared(swept)
    assert [row["point"] for row in found["comparisons"]] == [0, 1] and found["warnings"] == []
    assert found["points"] == [{"nvshare.quantum": "10ms"}, {"nvshare.quantum": "50ms"}]
    assert [row["ratio"]["mean"] for row in found["comparisons"]] == pytest.approx([1, 0.5], abs=0.01)
    assert all(row["pairs"] == 6 for row in found["comparisons"])


def test_a_sweep_says_at_which_points_a_policy_changes_least_and_most(swept):
    said = compare(swept).stdout
    assert "pair (simulation), compared with exclusive: point by point, paired by seed" in said
    assert re.search(r"^train +throughput_per_s +nvshare +0 +10ms .*\n.* 1 +50ms ", said, re.MULTILINE)
    assert re.search(r"gives train 0\.\d+ ± \S+ times .* \(least of 2 points: nvshare.quantum 50ms\)\n", said)
    assert re.search(r"\(most of 2 points: nvshare.quantum 10ms\)\n", said)


def test_the_points_of_a_sweep_are_columns_of_the_exports(tmp_path, swept):
    compare(swept, "--export-csv", tmp_path / "x.csv", "--export-markdown", tmp_path / "x.md")
    rows = list(csv.DictReader((tmp_path / "x.csv").open()))
    assert [(row["point"], row["nvshare.quantum"]) for row in rows] == [("0", "10ms"), ("1", "50ms")]
    assert "| client | metric | policy | point | nvshare.quantum |" in (tmp_path / "x.md").read_text()


def test_python_compares_a_sweep_alike(swept):
    rows, python = compared(swept)["comparisons"], python_effects(swept)
    assert [row["point"] for row in python] == [0, 1]
    for row, other in zip(rows, python, strict=True):
        says_the_same(row, other)


def test_sweeps_of_other_points_are_not_mixed(tmp_path, swept):
    with Results(tmp_path / "other.sqlite") as results:
        throughputs(results, "exclusive", SLOW, horizon_s=30)
        results.point(0, {"nvshare.quantum": "20ms"}, [f"pair-simulation-exclusive-{seed}-30" for seed in range(1, 7)])
    assert "these are other points" in compare(swept, results.path, code=2).stderr
