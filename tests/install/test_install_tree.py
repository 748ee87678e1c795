"""`cmake --install` of the release build: the tree can be moved, and a policy outside the repository builds with it."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
BUILD = ROOT / "build/release"
EXPERIMENT = """
name: fair
device: { model: h200, sharing: exclusive }
horizon: 1s
clients:
  - { name: long,  synthetic: { kernels: { duration: 2ms, count: 20 } } }
  - { name: short, synthetic: { kernels: { duration: 200us, count: 20 } } }
policies:
  - plugin: { file: ./least_served.so, parameters: { in_flight: 2 } }
"""


def ran(*command, folder=None):
    """Standard output and error of a command in which nothing points to the build tree."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "CORUN_"))}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """An installed tree, moved after it was installed."""
    if not (BUILD / "simcli").exists():
        pytest.skip("simcli is not built: ./dev build")
    folder = tmp_path_factory.mktemp("installed")
    ran("cmake", "--install", BUILD, "--prefix", folder / "first", "--strip")
    return (folder / "first").rename(folder / "moved")


@pytest.fixture(scope="module")
def plugin_folder(prefix, tmp_path_factory):
    """The example of a policy, copied out of the installed tree and built there."""
    folder = tmp_path_factory.mktemp("plugin") / "source"
    shutil.copytree(prefix / "share/corun/policies/example", folder)
    ran("cmake", "-S", folder, "-B", folder, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}")
    ran("cmake", "--build", folder)
    return folder


def test_the_quickstart_runs_from_the_installed_tree(prefix, tmp_path):
    quickstart = prefix / "share/corun/experiments/quickstart.yaml"
    said = ran(prefix / "bin/simcli", "run", quickstart, "--seed", "1", "--until", "500ms", "-o", "quickstart.sqlite",
               folder=tmp_path)
    assert "pilotfish" in said and (tmp_path / "quickstart.sqlite").exists()


def test_a_policy_outside_the_repository_builds_and_shares_time_evenly(prefix, plugin_folder):
    (plugin_folder / "fair.yaml").write_text(EXPERIMENT)
    said = ran(prefix / "bin/simcli", "run", "fair.yaml", "-o", "fair.sqlite", folder=plugin_folder)
    rates = [line.split()[-4:] for line in said.splitlines() if line.endswith(" /s")]
    assert rates == [["12.5", "/s", "25.0", "/s"], ["125.0", "/s", "250.0", "/s"]], said


def asked_of_cmake(prefix, folder, *lines):
    """What CMake prints that configures a project of these lines."""
    project = ["cmake_minimum_required(VERSION 3.25)", "project(asks LANGUAGES CXX)", *lines]
    (folder / "CMakeLists.txt").write_text("\n".join(project))
    return ran("cmake", "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={prefix}")


def test_the_cmake_package_names_the_interface_of_the_program(prefix, tmp_path):
    said = asked_of_cmake(prefix, tmp_path, "find_package(Corun 0.1 REQUIRED)",
                          'message(STATUS "policy interface ${Corun_POLICY_INTERFACE}")')
    number = said.partition("policy interface ")[2].split()[0]
    assert f"policy interface {number})" in ran(prefix / "bin/simcli", "version")
    assert "same compiler" not in said


def test_another_compiler_is_warned_of(prefix, tmp_path):
    said = asked_of_cmake(prefix, tmp_path, "set(CMAKE_CXX_COMPILER_VERSION 4.9.1)", "find_package(Corun REQUIRED)")
    assert "a plug-in needs the same compiler" in " ".join(said.split())


def test_simtrace_finds_its_recorders_there(prefix, tmp_path):
    done = subprocess.run([prefix / "bin/simtrace", "doctor"], cwd=tmp_path, capture_output=True, text=True)
    for name in ("libcorun_cuda.so", "libcorun_gl.so", "share"):
        assert f"{prefix}/lib/corun/{name}" in done.stdout, done.stdout + done.stderr


def test_programs_of_runs_on_hardware_are_next_to_simcli(prefix):
    for name in ("corun-worker", "corun-probe"):
        done = subprocess.run([prefix / "bin" / name], capture_output=True, text=True)
        assert done.returncode in (2, 64), (name, done.returncode, done.stderr)
    assert (prefix / "lib/corun/libcorun_gate.so").is_file()


def test_no_file_names_the_build_tree(prefix):
    for path in (prefix / "lib/cmake").rglob("*.cmake"):
        assert str(ROOT) not in path.read_text(), path
    for program in ("simcli", "simtrace"):
        assert b"RUNPATH" not in subprocess.run(["readelf", "-d", prefix / "bin" / program], capture_output=True).stdout


def test_the_python_package_runs_what_it_is_given(prefix, tmp_path):
    package, = (prefix / "lib").glob("python3*/*-packages")
    code = f"import sys; sys.path.insert(0, {str(package)!r}); import corun; print(corun.Policy, corun.__file__)"
    assert str(package) in ran(sys.executable, "-c", code, folder=tmp_path)


def test_the_shell_files_are_those_of_the_programs(prefix):
    for program in ("simcli", "simtrace"):
        page = (prefix / f"share/man/man1/{program}.1").read_text()
        completion = (prefix / f"share/bash-completion/completions/{program}").read_text()
        assert page == ran(prefix / "bin" / program, "man") and completion == ran(prefix / "bin" / program,
                                                                                   "completion", "bash")
