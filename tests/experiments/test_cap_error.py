"""The scripts that docs/policies name: caps missed, and total progress, paired by seed."""

import os
import pathlib
import subprocess
import sys

import pytest

from written_results import ROOT, Results

PACKAGE = pathlib.Path(os.environ.get("CORUN_PYTHON", ROOT / "build" / "release" / "python"))


def printed(script, *arguments):
    if not list((PACKAGE / "corun").glob("_core*")):
        pytest.skip("the package is not built: ./dev build")
    done = subprocess.run([sys.executable, str(ROOT / "experiments" / script), *map(str, arguments)],
                          capture_output=True, text=True, timeout=60, env=os.environ | {"PYTHONPATH": str(PACKAGE)})
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def busy(results, policy, values):
    for seed, value in enumerate(values, 1):
        results.run(policy, seed, [("a", "gpu_busy_ratio", value, "")])


def test_errors_of_caps_are_paired_by_seed_where_both_ran(tmp_path):
    with Results(tmp_path / "r.sqlite") as results:
        busy(results, "gaiagpu-20", [0.24, 0.25, 0.26])
        busy(results, "ours-20", [0.21, 0.21, 0.21])
        busy(results, "ours-40", [0.40, 0.40, 0.40])
    lines = printed("reproduce/cap_error.py", results.path)
    assert lines[2:3] == ["| pair | 20 % | 25.0 % | 21.0 % | 5.0 | 1.0 | +4.0 (+1.5 to +6.5) |"]
    assert lines[-1] == "ours is closer in 1, further in 0, and no different in 0"


def test_errors_of_caps_of_two_seeds_have_no_interval(tmp_path):
    with Results(tmp_path / "r.sqlite") as results:
        busy(results, "gaiagpu-20", [0.24, 0.26])
        busy(results, "ours-20", [0.21, 0.21])
    lines = printed("reproduce/cap_error.py", results.path)
    assert lines[2].endswith("| +4.0 (no interval) |") and lines[-1].endswith("no different in 1")


def test_total_progress_is_summed_over_clients_and_paired(tmp_path):
    with Results(tmp_path / "r.sqlite") as results:
        for policy, more in [("nvshare", 0.0), ("other", 0.25)]:
            for seed in (1, 2, 3):
                results.run(policy, seed,
                            [("a", "progress_ratio", 0.5 + more, ""), ("b", "progress_ratio", 0.25 * seed, "")])
    other = [line for line in printed("reproduce/total_progress.py", results.path, "nvshare") if " other " in line]
    assert len(other) == 1 and other[0].endswith("less nvshare: 0.2500 +- 0.0000 (3 seeds)")
