"""corun.search: Optuna chooses the points, corun runs them."""

import subprocess
import sys

import pytest

import corun
from built_package import PAIR, ROOT

sys.path.insert(0, str(ROOT / "tests" / "docs"))
import pages  # noqa: E402

pytest.importorskip("corun.core", reason="the compiled part is not built: ./dev build")
from corun.searching import _range, has_optuna  # noqa: E402

NEEDS_OPTUNA = pytest.mark.skipif(not has_optuna(), reason='Optuna is not installed: pip install "corun[search]"')
QUANTUM = {"nvshare.quantum": {"from": "5ms", "to": "80ms"}}


def worst_frame(results):
    return results.summary("frame_time_p99_ms").query("policy == 'nvshare'").value.max()


class First:
    """A trial that takes the least of every range, and the first of every choice."""

    def suggest_int(self, name, low, high, step, log):
        return low

    def suggest_float(self, name, low, high, step, log):
        return low

    def suggest_categorical(self, name, choices):
        return choices[0]


@pytest.mark.parametrize("given, text", [
    ({"from": "100us", "to": "2ms", "scale": "log"}, "100000ns"),
    ({"from": "30/s", "to": "60/s"}, "30.0/s"),
    ({"from": 0.25, "to": 1}, "0.25"),
    (["fixed", "ewma"], "fixed"),
    ([{"a": 1}, {"a": 2}], {"a": 1}),
])
def test_a_value_is_written_as_an_experiment_has_it(given, text):
    assert _range("p.key", given)(First()) == text


@pytest.mark.parametrize("given, why", [
    ({"from": "1ms"}, "is no range"),
    ({"from": "1ms", "to": "1ms"}, "is no range"),
    ({"from": "0ms", "to": "1ms", "scale": "log"}, "is no range for logarithms"),
    ({"from": "1ms", "to": "2/s"}, "different units: /s, ns"),
    ({"from": "soon", "to": "2ms"}, "is no quantity"),
])
def test_what_is_no_range_is_said(given, why):
    with pytest.raises(corun.InputError, match=why):
        _range("p.key", given)


@pytest.mark.skipif(has_optuna(), reason="Optuna is installed")
def test_without_optuna_it_says_how_to_get_it():
    with pytest.raises(corun.UnsupportedError, match=r'pip install "corun\[search\]"'):
        corun.search(PAIR, QUANTUM, worst_frame, trials=1)


@NEEDS_OPTUNA
def test_it_finds_that_short_quanta_make_short_frames():
    study = corun.search(PAIR, QUANTUM, worst_frame, trials=8, until="500ms", seed=1)
    assert len(study.trials) == 8
    best = study.best_trial.user_attrs["point"]
    results = corun.sweep(PAIR, {path: [value] for path, value in best.items()}, until="500ms", seed=1)
    assert worst_frame(results) == study.best_value <= max(trial.value for trial in study.trials)
    again = corun.search(PAIR, QUANTUM, worst_frame, trials=8, until="500ms", seed=1)
    assert [trial.params for trial in again.trials] == [trial.params for trial in study.trials]


@NEEDS_OPTUNA
def test_a_study_in_a_database_goes_on(tmp_path):
    import optuna

    def study():
        return optuna.create_study(study_name="s", storage=f"sqlite:///{tmp_path}/study.db", load_if_exists=True)

    corun.search(PAIR, QUANTUM, worst_frame, trials=2, study=study(), until="300ms", seed=1)
    corun.search(PAIR, QUANTUM, worst_frame, trials=5, study=study(), until="300ms", seed=1)
    assert len(study().trials) == 5


@NEEDS_OPTUNA
def test_a_point_that_cannot_be_run_is_a_failed_trial_and_the_first_an_error():
    from optuna.trial import TrialState

    calls = []

    def objective(results):
        calls.append(1)
        if len(calls) == 2:
            raise ValueError("no frames")
        return worst_frame(results)

    study = corun.search(PAIR, QUANTUM, objective, trials=3, until="300ms", seed=1)
    assert [trial.state for trial in study.trials] == [TrialState.COMPLETE, TrialState.FAIL, TrialState.COMPLETE]
    assert study.trials[1].user_attrs["error"] == "no frames"
    with pytest.raises(corun.Error):
        corun.search(PAIR, {"nvshare.nosuch": [1, 2]}, worst_frame, trials=3, until="300ms")


@NEEDS_OPTUNA
def test_the_program_of_the_page_runs(tmp_path):
    files = [block for block in pages.blocks(pages.read_page("docs/sweep.md")) if block.file_name]
    for block in files:
        (tmp_path / block.file_name).write_text(block.text)
    said = subprocess.run([sys.executable, "search.py"], cwd=tmp_path, check=True, capture_output=True,
                          text=True).stdout
    assert "nvshare.quantum" in said
