"""The point of an experiment's parameters at which something is best, looked for by Optuna."""

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from corun.core import _core
from corun.errors import InputError, UnsupportedError
from corun.experiment import Experiment, Source
from corun.results import Results
from corun.sweeping import sweep

if TYPE_CHECKING:
    from optuna import Study, Trial

__all__ = ["search"]

_QUANTITY = re.compile(r"\s*([-+]?\d[\d_.]*(?:[eE][-+]?\d+)?)\s*([^\d\s]*)\s*")
_TIMES = {"ns", "us", "ms", "s", "min", "h"}


def search(experiment: Experiment | Source, parameters: Mapping[str, Any],
           objective: Callable[[Results], float | Sequence[float]], *, trials: int, study: "Study | None" = None,
           direction: str = "minimize", seed: int | Iterable[int] | None = None, until: str | None = None,
           jobs: int | None = None, progress: bool | None = None) -> "Study":
    """Runs an experiment at `trials` points, each chosen by Optuna in view of those before, and returns the study:
    `study.best_value`, `study.best_params`, `study.trials_dataframe()`; `study.best_trial.user_attrs["point"]` has the
    values as an experiment file has them.

    `parameters` are paths as in corun.sweep, with a list of values, or a range: {"from": "100us", "to": "2ms"}, with
    "scale": "log" or a "step" where wanted. Times are searched in whole nanoseconds, other ranges as numbers of the
    unit that both ends have. `objective` takes the Results of a point, all its seeds, and returns the number that is to
    be least, or greatest with `direction="maximize"`. What cannot be run at a point is a failed trial, not an error.

    `study` is an Optuna study of yours, with the sampler, storage and directions it has (an `objective` then returns as
    many numbers). Trials that it has finished count, so one in a database goes on where it was stopped. Without it, the
    same call looks at the same points. `seed`, `until`, `jobs` and `progress` are those of corun.sweep.

    Raises InputError for a range that is none, UnsupportedError where Optuna is missing
    (`pip install "corun[search]"`), and what the first trial raises.

    >>> def slowest(results):
    ...     return results.summary("frame_time_p99_ms").query("policy == 'nvshare'").value.max()
    >>> search = lambda: corun.search(PAIR, {"nvshare.quantum": {"from": "5ms", "to": "80ms", "scale": "log"}},
    ...                               slowest, trials=3, until="300ms", seed=1)
    >>> len(search().trials) if corun.searching.has_optuna() else 3
    3
    """
    optuna = _optuna()
    ranges = {path: _range(path, given) for path, given in parameters.items()}
    if study is None:
        study = optuna.create_study(direction=direction, sampler=optuna.samplers.TPESampler(seed=1))
    failed = optuna.trial.TrialState.FAIL
    while sum(trial.state.is_finished() for trial in study.get_trials(deepcopy=False)) < trials:
        trial = study.ask()
        point = {path: suggest(trial) for path, suggest in ranges.items()}
        trial.set_user_attr("point", point)
        try:
            results = sweep(experiment, {path: [value] for path, value in point.items()}, seed=seed, until=until,
                            jobs=jobs, progress=progress)
            values = objective(results)
        except Exception as error:
            trial.set_user_attr("error", str(error))
            study.tell(trial, state=failed)
            if trial.number == 0:
                raise
            continue
        study.tell(trial, values)
    return study


def has_optuna() -> bool:
    """Whether Optuna can be imported."""
    try:
        _optuna()
    except UnsupportedError:
        return False
    return True


def _optuna() -> Any:
    try:
        import optuna
    except ImportError:
        raise UnsupportedError('corun.search needs Optuna: pip install "corun[search]"') from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def _range(path: str, given: Any) -> "Callable[[Trial], Any]":
    """How a trial draws a value of this parameter, as a function of the trial."""
    if not isinstance(given, dict):
        choices = [value if isinstance(value, (str, int, float, bool)) else json.dumps(value) for value in given]
        return lambda trial: _parsed(trial.suggest_categorical(path, choices), given)
    known = {"from", "to", "step", "scale"}
    if not {"from", "to"} <= set(given) <= known:
        raise InputError(f'{path}: {given} is no range: {{"from": "100us", "to": "2ms"}}, '
                         'with "step" or "scale": "log"')
    ends = {key: _quantity(path, given[key]) for key in ("from", "to", "step") if key in given}
    units = {unit for _, unit in ends.values()}
    if len(units) != 1:
        raise InputError(f"{path}: from, to and step have different units: {', '.join(sorted(units))}")
    low, high = ends["from"][0], ends["to"][0]
    step = ends["step"][0] if "step" in ends else None
    is_log, unit = given.get("scale") == "log", units.pop()
    if not low < high or (is_log and low <= 0):
        raise InputError(f"{path}: {given['from']} to {given['to']} is no range"
                         + (" for logarithms" if is_log else ""))
    if unit == "ns":
        return lambda trial: f"{trial.suggest_int(path, low, high, step=step or 1, log=is_log)}ns"
    return lambda trial: f"{trial.suggest_float(path, low, high, step=step, log=is_log)!r}{unit}"


def _parsed(choice: object, given: Iterable[Any]) -> Any:
    return next((value for value in given
                 if not isinstance(value, (str, int, float, bool)) and json.dumps(value) == choice),
                choice)


def _quantity(path: str, text: object) -> tuple[Any, str]:
    """Number and unit; of times, whole nanoseconds."""
    found = _QUANTITY.fullmatch(str(text))
    if not found:
        raise InputError(f"{path}: {text!r} is no quantity, as in 250us, 30/s or 0.5")
    if found[2] in _TIMES:
        return _core.duration_ns(str(text)), "ns"
    number = float(found[1].replace("_", ""))
    if not math.isfinite(number):
        raise InputError(f"{path}: {text!r} is not finite")
    return number, found[2]
