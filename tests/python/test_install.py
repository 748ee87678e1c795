"""`pip install .` in an empty environment, as the README says it."""

import os
import re
import subprocess
import sys

import pytest

from conftest import CAPTURE, PAIR, ROOT

# What pip says where it cannot reach a package index.
OFFLINE = re.compile(r"Failed to establish a new connection|No matching distribution found for (scikit-build-core|pybind11)"
                     r"|Network is unreachable|Temporary failure in name resolution")


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """The interpreter of an environment in which the package, and nothing else, has been installed. It is built beside
    the release tree with the same flags, so that a compiler cache serves both."""
    environment = tmp_path_factory.mktemp("install") / "venv"
    subprocess.run([sys.executable, "-m", "venv", environment], check=True, capture_output=True)
    done = subprocess.run([environment / "bin/pip", "install", "--no-input", "--disable-pip-version-check",
                           f"--config-settings=build-dir={ROOT / 'build/pip'}",
                           "--config-settings=cmake.define.CORUN_WARNINGS_AS_ERRORS=ON", "."],
                          cwd=ROOT, env=clean_environment(), capture_output=True, text=True)
    if done.returncode != 0 and OFFLINE.search(done.stdout + done.stderr):
        pytest.skip("no package index can be reached")
    assert done.returncode == 0, done.stdout + done.stderr
    return environment / "bin/python"


def clean_environment():
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "CORUN_"))}


def test_the_installed_package_runs_reads_and_compares(python, tmp_path):
    code = """
import sys, corun
results = corun.run(sys.argv[1], until="300ms", output="results.sqlite")
assert len(corun.open("results.sqlite").runs) == 4 and "fps_mean" in repr(results)
effects = corun.compare(results, baseline="passthrough", metric="fps_mean")
assert effects[0]["policy"] == "nvshare" and effects[0]["n"] == 2, "dicts: there is no pandas here"
assert len(corun.Timeline(sys.argv[2]).operations) == 3925
print(corun.__file__)
"""
    done = subprocess.run([python, "-W", "ignore", "-c", code, PAIR, CAPTURE], cwd=tmp_path, env=clean_environment(),
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert str(python.parents[1]) in done.stdout


def test_the_installed_package_has_its_types(python):
    files = subprocess.run([python, "-m", "pip", "show", "-f", "corun"], env=clean_environment(), capture_output=True,
                           text=True, check=True).stdout.split()
    assert {"corun/py.typed", "corun/_core.pyi", "corun/__init__.py"} <= set(files)
    assert not [name for name in files if name.startswith(("include/", "bin/", "lib/"))], "the package alone"
