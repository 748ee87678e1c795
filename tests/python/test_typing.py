"""The package is typed: a user's program passes mypy's strict checks, one with mistakes does not."""

import importlib.util
import pathlib
import re
import subprocess
import sys

import pytest

import corun
from built_package import ROOT

PYTHON = ROOT / "python"
NEEDS_MYPY = pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="python3-mypy is not installed")

PROGRAM = '''
import pathlib
from typing import assert_type

import corun
from corun.policy import Actions, Client, GpuView, Operation


class Turns(corun.Policy):
    """Clients have the device in turns."""

    turn = corun.parameter.duration("20ms", minimum="1ms")
    weights = corun.parameter.by_client()

    def on_completed(self, view: GpuView, client: Client, op: Operation, device_time_ns: int) -> None:
        self.last = (client.name, op.bytes, device_time_ns)

    def decide(self, view: GpuView, act: Actions) -> None:
        number = view.now_ns // self.turn
        for place, client in enumerate(view.clients):
            if place == number % len(view.clients) and self.weights.get(client.name, 1.0) > 0:
                act.open(client)
            else:
                act.close(client)
        act.wake_at((number + 1) * self.turn)


experiment = corun.Experiment(pathlib.Path("pair.yaml"), policies=[Turns]).set("horizon", "1s")
assert_type(experiment.scenarios, list[str])
with corun.run(experiment, seed=range(3), until="300ms", jobs=2) as results:
    assert_type(results, corun.Results)
    assert_type(results.backends, list[str])
    assert_type(results.findings(baseline="passthrough"), list[str])
    assert_type(results.device_time(0, 1e9, "turns"), dict[str, int])
    assert_type(results.report("page.html"), pathlib.Path)
    for key, values in results.samples("fps_mean").items():
        print(key, sum(values.values()) / len(values))
    frames = results.table("frames", policy="turns")
    assert_type(frames, corun.Table)
    assert_type(frames["present_ns"].missing, int)
    print(results.summary("fps_mean"), corun.compare(results, baseline="passthrough", client="game"))
swept = corun.sweep(experiment, {"turns.turn": ["10ms", "20ms"]}, seed=1)
plot = swept.plot.paper
plot.save(plot.sweep("fps_mean", policies=["turns"]), "turns.pdf")
advice = corun.advise(["a.json.gz", pathlib.Path("b.sqlite")], solo_rate={"a": 31})
assert_type(str(advice), str)
assert_type(corun.Timeline("game.corun").counts, dict[str, int])
effect, low, high = corun.statistics.paired_interval([1.0, 2.0, 3.0], [1.0, 1.0, 1.0])
assert_type(low, float | None)
try:
    corun.open("none.sqlite")
except corun.InputError as error:
    assert_type(error.line, int)
'''

# A line each, and what mypy says of it.
MISTAKES = [
    ('corun.run("pair.yaml", sed=1)', "call-arg"),
    ('corun.run("pair.yaml", until=2)', "arg-type"),
    ('corun.open("r.sqlite").sumary()', "attr-defined"),
    ("corun.opne", "attr-defined"),
    ('corun.open("r.sqlite").summary(metric=3)', "arg-type"),
    ('corun.open("r.sqlite").plot.sweep("fps_mean", polices=["a"])', "call-arg"),
    ('corun.open("r.sqlite").plot.pareto("fps_mean")', "attr-defined"),
    ('corun.Timeline("a.corun").counts["kernels"] + "1"', "operator"),
    ('corun.parameter.integer("4")', "arg-type"),
]


def mypy(folder, text):
    """What mypy's strict checks say of a program; the package itself is not looked at."""
    path = folder / "program.py"
    path.write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--ignore-missing-imports", "--cache-dir",
         folder / "cache", path],
        env={"MYPYPATH": str(PYTHON), "PATH": "/usr/bin:/bin"}, capture_output=True, text=True)
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("typed")


@NEEDS_MYPY
def test_a_users_program_is_strictly_typed(folder):
    assert mypy(folder, PROGRAM).startswith("Success")


@NEEDS_MYPY
def test_mistakes_are_found_before_they_run(folder):
    said = mypy(folder, "import corun\n" + "".join(f"{line}\n" for line, _ in MISTAKES))
    found = dict(re.findall(r"program\.py:(\d+): error: .*\[([\w-]+)\]", said))
    assert {int(line): kind for line, kind in found.items()} == {
        number: kind for number, (_, kind) in enumerate(MISTAKES, 2)}


@NEEDS_MYPY
def test_the_package_is_strictly_typed(folder):
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", "--cache-dir", folder / "own", "-p",
         "corun"],
        cwd=PYTHON, env={"MYPYPATH": str(PYTHON), "PATH": "/usr/bin:/bin"}, capture_output=True, text=True)
    assert done.stdout.startswith("Success"), done.stdout


def test_the_package_says_that_it_is_typed():
    assert (PYTHON / "corun/py.typed").exists()


def test_only_public_names_are_shown():
    import corun.layout  # which importing leaves in the package

    assert set(dir(corun)) == {*corun.__all__, "__doc__", "__file__", "__version__"}
    with pytest.raises(AttributeError, match="no attribute 'opne': did you mean open"):
        corun.opne
    assert pathlib.Path(corun.__file__).name == "__init__.py"
