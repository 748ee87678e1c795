"""`pip install .` in an empty environment, as the README says it, and the quickstart notebook there."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib

import pytest

from built_package import CAPTURE, PAIR, ROOT

# What pip says where it cannot reach a package index.
OFFLINE = re.compile(r"Failed to establish a new connection"
                     r"|No matching distribution found for (?:scikit-build-core|pybind11|pandas|matplotlib)\b"
                     r"|Network is unreachable|Temporary failure in name resolution")


def pip(environment, *arguments):
    done = subprocess.run([environment / "bin/pip", "install", "--no-input", "--disable-pip-version-check", *arguments],
                          cwd=ROOT, env=clean_environment() | {"CXX": "c++"}, capture_output=True, text=True)
    if done.returncode != 0 and OFFLINE.search(done.stdout + done.stderr):
        pytest.skip("no package index can be reached")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """The interpreter of an environment in which the package, and nothing else, has been installed. It is built beside
    the release tree with the same flags and the compiler under the same name, so that a compiler cache serves both."""
    environment = tmp_path_factory.mktemp("install") / "venv"
    subprocess.run([sys.executable, "-m", "venv", environment], check=True, capture_output=True)
    pip(environment, f"--config-settings=build-dir={ROOT / 'build/pip'}",
        "--config-settings=cmake.define.CORUN_WARNINGS_AS_ERRORS=ON", ".")
    return environment / "bin/python"


@pytest.fixture(scope="module")
def files(python):
    """What the wheel put into the environment."""
    shown = subprocess.run([python, "-m", "pip", "show", "-f", "corun"], env=clean_environment(), capture_output=True,
                           text=True, check=True).stdout
    return [line.strip() for line in shown.partition("Files:")[2].splitlines() if line.strip()]


def ran(*command, folder):
    """Standard output of a command in which nothing points to the build tree."""
    done = subprocess.run(command, cwd=folder, env=clean_environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def clean_environment():
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "CORUN_"))}


def test_the_installed_package_runs_reads_and_compares(python, tmp_path):
    code = """
import sys, corun
results = corun.run(sys.argv[1], until="300ms", output="results.sqlite")
assert len(corun.open("results.sqlite").runs) == 4 and "1% low (fps)" in repr(results)
effects = corun.compare(results, baseline="passthrough", metric="fps_mean")
assert effects[0]["policy"] == "nvshare" and effects[0]["n"] == 2, "dicts: there is no pandas here"
assert corun.check_policy("passthrough")[0]["passed"]
assert len(corun.Timeline(sys.argv[2]).operations) == 3925
try:
    results.plot
except ImportError as error:
    assert 'pip install "corun[plots]"' in str(error)
else:
    raise AssertionError("there is no matplotlib here")
print(corun.__file__)
"""
    done = subprocess.run([python, "-W", "ignore", "-c", code, PAIR, CAPTURE], cwd=tmp_path, env=clean_environment(),
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert str(python.parents[1]) in done.stdout


def test_the_wheel_holds_the_package_and_the_programs_alone(files):
    folders = {name.split("/")[0] for name in files if not name.startswith("../")}
    assert len(folders) == 3 and {"corun", "corun_programs"} < folders
    assert {name for name in files if name.startswith("../")} == {"../../../bin/simcli", "../../../bin/simtrace"}
    sources = {f"corun/{path.name}" for path in (ROOT / "python/corun").iterdir() if path.is_file()}
    here = {name for name in files if re.fullmatch(r"corun/[^/]+", name) and "__pycache__" not in name}
    compiled = {name for name in here if name.startswith("corun/_core.") and name.endswith(".so")}
    assert here - compiled == sources and len(compiled) == 1
    assert {"corun/py.typed", "corun/_core.pyi"} <= here
    inside = {name.split("/")[1] for name in files if re.match(r"corun/\w+/", name) and "__pycache__" not in name}
    assert inside == {"bin", "include", "lib", "share"}


def test_the_programs_of_the_wheel_run_and_find_their_libraries(python, tmp_path):
    package = ran(python, "-c", "import corun; print(corun.__path__[0])", folder=tmp_path).strip()
    quickstart = f"{package}/share/corun/experiments/quickstart.yaml"
    table = ran(python.parent / "simcli", "run", quickstart, "--seed", "1", "--until", "500ms", "-o", "quick.sqlite",
                folder=tmp_path)
    assert "pilotfish" in table and (tmp_path / "quick.sqlite").exists()
    found = subprocess.run([python.parent / "simtrace", "doctor"], cwd=tmp_path, capture_output=True, text=True).stdout
    assert f"{package}/lib/corun/libcorun_cuda.so" in found


def test_a_policy_outside_the_repository_finds_the_package(python, tmp_path):
    package = ran(python, "-c", "import corun; print(corun.__path__[0])", folder=tmp_path).strip()
    shutil.copytree(ROOT / "policies/example", tmp_path / "policy")
    ran("cmake", "-S", "policy", "-B", "policy", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={package}", folder=tmp_path)
    ran("cmake", "--build", "policy", folder=tmp_path)
    (tmp_path / "policy.yaml").write_text("""
        name: fair
        device: { model: h200, sharing: exclusive }
        horizon: 100ms
        clients: [{ name: only, synthetic: { kernels: { duration: 2ms, count: 20 } } }]
        policies: [{ plugin: { file: ./policy/least_served.so } }]""")
    assert "least_served" in ran(python.parent / "simcli", "run", "policy.yaml", "-o", "own.sqlite", folder=tmp_path)


def test_the_extras_are_what_the_package_asks_for(python):
    code = "import importlib.metadata as m; print(m.metadata('corun').get_all('Provides-Extra'), m.requires('corun'))"
    said = subprocess.run([python, "-c", code], env=clean_environment(), capture_output=True, text=True,
                          check=True).stdout
    assert all(extra in said for extra in ("arrow", "plots", "progress", "tables"))
    assert not re.search(r"'[\w>=.]+'", said.partition("]")[2]), "without an extra, nothing is needed"


def test_the_quickstart_notebook_runs_in_it(python, tmp_path):
    """Its cells, in order, in an environment with the package and what the extra `plots` names."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pip(python.parents[1], *project["optional-dependencies"]["plots"])
    cells = json.loads((ROOT / "notebooks/00_quickstart.ipynb").read_text())["cells"]
    program = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    script = tmp_path / "quickstart.py"
    script.write_text(program + "\nprint(corun.__file__)\n")
    done = subprocess.run([python, script], cwd=ROOT / "notebooks", capture_output=True, text=True,
                          env=clean_environment() | {"MPLBACKEND": "Agg", "MPLCONFIGDIR": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    assert str(python.parents[1]) in done.stdout, "the installed package, not the one of the build tree"
