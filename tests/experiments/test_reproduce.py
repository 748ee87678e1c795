"""The runner of claims: what it makes of a claim that holds, one that does not, and one that cannot be judged."""

import fnmatch
import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUITE = ROOT / "experiments" / "reproduce"
sys.path.insert(0, str(SUITE))

import claims as claim_files  # noqa: E402
import figures  # noqa: E402
import report  # noqa: E402
import reproduce  # noqa: E402

EXPERIMENT = """name: tiny
device: h200
horizon: 400ms
seeds: 2
clients:
  - name: work
    synthetic: { kernels: { duration: 4ms, count: 5, launch_gap: 1us } }
    pacing: sync_each_job
    phase: 0
policies: [passthrough]
"""
CLAIM = """[[claim]]
id = "T1"
kind = "measurement"
what = "a job of 5 kernels of 4 ms takes as long"
source = "arithmetic"
experiment = "tiny.yaml"
missed_because = "arithmetic failed"
  [[claim.check]]
  what = "a job"
  simulated = "figure('tiny/passthrough.work.job_time_p50')"
  published = {published}
  tolerance = "1%"
  unit = "ms"
"""


def write_suite(folder, claim):
    (folder / "claims").mkdir()
    (folder / "claims" / "tiny.toml").write_text(claim)
    (folder / "tiny.yaml").write_text(EXPERIMENT)
    simcli = os.environ.get("CORUN_SIMCLI", str(ROOT / "build" / "release" / "simcli"))
    return ["--simcli", simcli, "--claim-files", str(folder / "claims"), "--folder", str(folder / "out"), "--page",
            str(folder / "page.md")]


def run(arguments):
    return subprocess.run([sys.executable, str(SUITE / "reproduce.py"), *arguments], capture_output=True, text=True,
                          timeout=60)


def test_a_claim_that_holds_is_reproduced_and_the_page_says_so(tmp_path):
    done = run(write_suite(tmp_path, CLAIM.format(published=20)))
    assert done.returncode == 0, done.stderr
    assert "T1       reproduced" in done.stdout
    page = (tmp_path / "page.md").read_text()
    assert "**Of 1 published measurements with no input from the compared rows, 1 are reproduced.**" in page
    assert "| `measurement` | a published measurement, with no input from the compared rows | 1 | 1 |" in page
    assert "| a job | 20 ms | 20 ms (+0.0 %) | 1% | reproduced |" in page


def test_a_claim_that_does_not_hold_is_missed_with_its_reason(tmp_path):
    done = run(write_suite(tmp_path, CLAIM.format(published=30)))
    assert done.returncode == 0, done.stderr
    assert "T1       missed" in done.stdout
    row = "| [T1](#t1) | `measurement` | a job of 5 kernels of 4 ms takes as long | 0 of 1 | missed | arithmetic failed"
    assert row in (tmp_path / "page.md").read_text()


def test_a_claim_without_figures_is_an_error_and_the_exit_code_tells(tmp_path):
    wrong = CLAIM.format(published=20).replace("tiny/passthrough", "tiny/magic")
    done = run(write_suite(tmp_path, wrong))
    assert done.returncode == 1
    assert "error: a job: there is no run tiny/magic; there are tiny/passthrough" in done.stdout


def test_kept_results_are_not_made_again_and_naming_a_claim_writes_no_page(tmp_path):
    arguments = write_suite(tmp_path, CLAIM.format(published=20))
    assert run([*arguments, "T1"]).returncode == 0
    assert not (tmp_path / "page.md").exists()
    before = (tmp_path / "out" / "tiny.sqlite").stat().st_mtime_ns
    done = run([*arguments, "--keep", "T1"])
    assert done.returncode == 0 and "kept" in done.stderr
    assert (tmp_path / "out" / "tiny.sqlite").stat().st_mtime_ns == before


@pytest.mark.parametrize("change, message", [
    (("what =", "whta ="), "unknown key whta"),
    (('tolerance = "1%"\n', ""), "`published` and `tolerance` go together"),
    (('kind = "measurement"', 'kind = "rumour"'), "`kind` is one of measurement, inputs,"),
    (('kind = "measurement"', 'kind = "inputs"'), "`circular` is of `inputs`, and says why"),
    (("tiny.yaml", "no.yaml"), "there is no no.yaml"),
])
def test_a_claim_file_with_a_mistake_is_refused_at_its_claim(tmp_path, change, message):
    done = run(write_suite(tmp_path, CLAIM.format(published=20).replace(*change, 1)))
    assert done.returncode == 1
    assert message in done.stderr and "tiny.toml" in done.stderr


def test_every_claim_of_the_suite_is_well_formed_and_names_experiments_that_exist():
    claims = claim_files.read_claims(SUITE / "claims")
    assert claims
    for claim in claims:
        for check in claim.checks:
            assert check.rms_of or compile(check.simulated, claim.id, "eval")


def test_the_tests_that_claims_name_exist():
    sources = "".join(path.read_text() for path in (ROOT / "tests").rglob("*.cpp"))
    written = {f"{suite}.{case}" for suite, case in re.findall(r"TEST(?:_F|_P)?\((\w+), (\w+)\)", sources)}
    for claim in claim_files.read_claims(SUITE / "claims"):
        for _, patterns in claim.tests:
            for pattern in patterns.split(":"):
                named = pattern.split("/")[-1]
                assert any(fnmatch.fnmatch(name, named) for name in written), f"{claim.id}: no test {pattern}"


def results_of(values_by_policy):
    """Results with one client `c` whose throughput is given for each policy and seed."""
    results = object.__new__(figures.Results)
    results.failed = {}
    results.metrics = {f"s/{policy}": {"c": {"throughput_per_s": values}, "device": {"gpu_busy_ratio": values}}
                       for policy, values in values_by_policy.items()}
    return results


def test_differences_are_paired_by_seed():
    results = results_of({"ours": {1: 11.0, 2: 101.0, 3: 51.0}, "theirs": {1: 10.0, 2: 100.0, 3: 50.0}})
    gain = figures.evaluate("figure('s/ours.c.throughput') - figure('s/theirs.c.throughput')", results)
    assert gain.mean() == 1.0 and gain.half_width() == 0.0


def test_the_interval_is_students():
    value = figures.PerSeed({1: 1.0, 2: 2.0, 3: 3.0, 4: 4.0})
    assert value.half_width() == pytest.approx(3.182 * (5 / 3) ** 0.5 / 2)


@pytest.mark.parametrize("values, verdict", [
    ({1: 2.8, 2: 3.0, 3: 2.9}, report.REPRODUCED),
    ({1: 0.1, 2: 3.0, 3: 2.9}, report.UNDECIDED),  # 2.0 +- 4.1
    ({1: -2.8, 2: -3.0, 3: -2.9}, report.MISSED),
    ({1: float("inf")}, report.UNDECIDED),
    ({1: float("nan")}, report.UNDECIDED),
])
def test_a_bound_is_met_or_missed_by_the_whole_interval_and_undecided_between(values, verdict):
    check = claim_files.Check("gain", "figure('s/ours.c.throughput')", at_least=0.0)
    assert report.judge_check(check, results_of({"ours": values})).verdict == verdict


def test_what_is_divided_by_nothing_decides_nothing():
    results = results_of({"ours": {1: 3.0, 2: 4.0}, "theirs": {1: 0.0, 2: 1.0}})
    check = claim_files.Check("ratio", "figure('s/ours.c.throughput') / figure('s/theirs.c.throughput')", at_least=3.0)
    assert report.judge_check(check, results).verdict == report.UNDECIDED


@pytest.mark.parametrize("values, verdict", [
    ({1: 104.0}, report.REPRODUCED),
    ({1: 108.0}, report.UNDECIDED),  # 95 is nearer to 100
    ({1: 111.0}, report.MISSED),
])
def test_a_published_figure_must_be_nearer_than_what_follows_without_a_simulator(values, verdict):
    check = claim_files.Check("rate", "figure('s/ours.c.throughput')", published=100.0, tolerance="10%", null=95.0,
                              null_is="half of it")
    assert report.judge_check(check, results_of({"ours": values})).verdict == verdict


def test_an_undecided_check_leaves_its_claim_undecided_and_is_named():
    rows = [report.Row("sure", "", "", "", report.REPRODUCED), report.Row("unsure", "", "", "", report.UNDECIDED)]
    claim = claim_files.Claim("A", "ours", "a", "b")
    verdict = report.Verdict(claim, rows, report.overall(claim, rows))
    assert verdict.verdict == report.UNDECIDED and report.reason(verdict) == "unsure"


def test_a_failed_run_is_no_figure():
    results = results_of({"ours": {1: 1.0}})
    results.failed = {"s/ours": "policy failed"}
    with pytest.raises(figures.Missing, match="policy failed"):
        figures.evaluate("figure('s/ours.c.throughput')", results)


def test_a_check_by_rows_becomes_a_check_each_and_one_of_their_errors_together():
    checks = claim_files.expand({"what": "row {row}", "simulated": "{row}", "rows": [["100", 101], ["100", 99]],
                                 "tolerance": "2%", "rms": 1.5}, "here")
    rows = report.judge(claim_files.Claim("A", "ours", "a", "b", checks=checks), None, {}).rows
    assert [row.verdict for row in rows] == ["reproduced"] * 3
    assert rows[2].simulated == "1 %"


def test_the_summary_numbers_in_the_claims_are_those_of_the_published_logs():
    logs = ROOT.parent / "shared" / "data" / "colocation"
    if not logs.is_dir():
        pytest.skip("the shared folder with the logs of XSched's artifact is absent")
    median = {}
    for name in ("base", "sa", "xsched"):
        lines = (logs / f"xsched_fig7_fp_{name}_gv100.cdf").read_text().split("\n")
        median[name] = next(int(line.split()[1]) for line in lines if line.startswith("0.5 ")) * 1e-6
    claim = next(c for c in claim_files.read_claims(SUITE / "claims") if c.id == "XS1")
    published = [check.published for check in claim.checks if "median" in check.what]
    assert published and all(any(abs(p - m) < 0.01 for m in median.values()) for p in published)


def test_a_measurement_on_a_gpu_is_judged_like_a_simulated_figure(tmp_path):
    (tmp_path / "cost.jsonl").write_text('{"command": ["python3", "loop.py", "one"], "ratios": [1.01, 1.02]}\n'
                                         '{"command": ["python3", "loop.py", "one"], "ratios": [1.015]}\n'
                                         '{"command": ["python3", "loop.py", "other"], "ratios": [1.29, 1.3]}\n')
    measured = figures.Measured(tmp_path / "cost.jsonl")
    assert list(measured.longer_by("one").values.values()) == pytest.approx([1, 2, 1.5])
    with pytest.raises(figures.Missing, match="third was not measured"):
        measured.longer_by("third")
    claim = (CLAIM.replace('experiment = "tiny.yaml"', 'measured = "cost.jsonl"')
             .replace("figure('tiny/passthrough.work.job_time_p50')", "longer_by('{program}')")
             .replace('"1%"', '"1.5"').replace('"ms"', '"%"'))
    for program, verdict in (("one", "reproduced"), ("other", "missed"), ("third", "error")):
        folder = tmp_path / program
        folder.mkdir()
        (folder / "cost.jsonl").write_text((tmp_path / "cost.jsonl").read_text())
        done = run(write_suite(folder, claim.replace("{program}", program).replace("{published}", "1.5")))
        page = (folder / "page.md").read_text()
        assert program == "third" or " turns (" in page
        assert f"| {verdict} |" in page.lower() or f"**{verdict}" in page.lower(), (done.stdout, page)


def test_an_experiment_and_a_measurement_exclude_each_other(tmp_path):
    claim = CLAIM.replace('experiment = "tiny.yaml"', 'experiment = "tiny.yaml"\nmeasured = "tiny.yaml"')
    done = run(write_suite(tmp_path, claim.replace("{published}", "20")))
    assert done.returncode != 0
    assert "`experiment` or `measured`, not both" in done.stderr + done.stdout
