"""Running experiments."""

import importlib.util
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from corun import errors
from corun.core import _core
from corun.errors import InputError
from corun.experiment import Experiment, Source
from corun.results import Results

__all__ = ["run"]

# (kind of error, message) of the runs that failed.
Failures = Sequence[tuple[int, str]]


def run(experiment: Experiment | Source, *, jobs: int | None = None, seed: int | Iterable[int] | None = None,
        until: str | None = None, output: str | os.PathLike[str] | None = None, overwrite: bool = False,
        resume: bool = False, baselines: bool = True, progress: bool | None = None) -> Results:
    """Does all runs of an experiment and returns their Results.

    `experiment` is an Experiment or what makes one. `jobs` is the number of threads, by default as many as the
    processors that this process may use; results do not depend on it. `seed` is a number or several, in place of the
    experiment's. `until` shortens horizons: "2s". `output` is the results file to write, which must not be there yet
    unless `overwrite`, or `resume`: then the runs that it holds are not done again, nor those that failed but for want
    of memory. Without `output`, results live in a temporary file that goes with the Results object. `baselines=False`
    leaves out that every client also runs alone: no slowdown, no harvest. `progress` shows a bar on stderr (tqdm's,
    where it is installed) after one second; by default on a terminal and in notebooks.

    Raises InputError, UnsupportedError, DeviceError before the first run, as Experiment.check does. A run that fails is
    a row of `runs` with its error; a warning says how many there are, and how many of them were there before it was
    resumed; where all runs fail alike, that error is raised. Ctrl-C drops the runs that are under way, keeps what is
    finished and raises KeyboardInterrupt. Both exceptions have the results so far as `.results`. Other Python threads
    go on meanwhile.

    >>> results = corun.run(PAIR, until="300ms", seed=[1, 2, 3], jobs=2)
    >>> len(results.runs), bool(results.runs.error.isna().all())
    (6, True)
    """
    if not isinstance(experiment, Experiment):
        experiment = Experiment(experiment)
    core = experiment._parse(seed_list(seed), until)
    existing = if_exists(overwrite, resume)
    return do_runs(core, output, progress, lambda path, tick: core.run(path, existing, jobs or 0, baselines, tick))


def seed_list(seed: int | Iterable[int] | None) -> list[int]:
    """None, a number or several, as a list."""
    return [] if seed is None else [seed] if isinstance(seed, int) else list(seed)


def if_exists(overwrite: bool, resume: bool) -> "_core.IfExists":
    """What becomes of a results file that is there."""
    if overwrite and resume:
        raise InputError("`overwrite` and `resume` are both asked for: a results file is replaced or gone on with")
    return _core.IfExists.resume if resume else _core.IfExists.replace if overwrite else _core.IfExists.fail


def do_runs(core: "_core.Experiment", output: str | os.PathLike[str] | None, progress: bool | None,
            work: Callable[[str, Callable[[int], None]], Failures],
            stopped: tuple[type[BaseException], ...] = ()) -> Results:
    """Results of the experiment that `work(path, tick)` writes; it returns (kind, message) of failed runs. What it
    raises of KeyboardInterrupt and `stopped` carries the results so far."""
    folder = tempfile.TemporaryDirectory(prefix="corun-") if output is None else None
    path = os.path.join(folder.name, "results.sqlite") if folder else os.fspath(output or "")
    shown = _Progress(len(core.plan()), core.name, progress)
    cut_off: tuple[type[BaseException], ...] = (KeyboardInterrupt, *stopped)
    try:
        failures = work(path, shown.update)
    except cut_off as interrupt:
        results = Results(path, folder)
        setattr(interrupt, "results", results)
        kept = f"; results so far: {path}" if output is not None else "; results so far are in `.results`"
        interrupt.add_note(f"{len(results.sql('SELECT id FROM runs'))} of {shown.total} runs done{kept}")
        raise
    finally:
        shown.close()
    results = Results(path, folder)
    stored = [row[0] for row in results.cursor("SELECT error FROM runs WHERE error IS NOT NULL ORDER BY rowid")]
    if stored:
        _tell(failures, stored, shown.total, results)
    return results


def _tell(failures: Failures, stored: list[str], total: int, results: Results) -> None:
    """Raises what all runs failed with; warns where only some did. `stored` has the errors of all runs of the results,
    those that were there before they were resumed as well."""
    kinds = {kind for kind, _ in failures}
    if len(failures) == total and len(kinds) == 1:
        error = errors.from_core(kinds.pop(), failures[0][1], [])
        error.results = results
        raise error
    there = len(stored) - len(failures)
    before = f", {there} of them before this went on" if there else ""
    first = stored[0].partition("\n")[0]
    warnings.warn(f"{len(stored)} of {total} runs failed{before}, see `runs.error`; the first: {first}", stacklevel=4)


class _Progress:
    """A bar that appears after a second: tqdm's, or one line."""

    def __init__(self, total: int, name: str, is_wanted: bool | None) -> None:
        self.total, self._name = total, name
        self._is_wanted = _is_watched() if is_wanted is None else is_wanted
        self._begin, self._done = time.monotonic(), 0
        self._bar: Any = None

    def update(self, done: int) -> None:
        if not self._is_wanted or (self._bar is None and time.monotonic() - self._begin < 1) or self.total == 0:
            return
        if self._bar is None:
            self._bar = _make_bar(self.total, self._name)
        self._bar.update(done - self._done)
        self._done = done

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


def _is_watched() -> bool:
    return sys.stderr.isatty() or "ipykernel" in sys.modules


def _make_bar(total: int, name: str) -> Any:
    # tqdm.auto warns in notebooks where there is no ipywidgets; a bar of text does, then.
    module = "auto" if importlib.util.find_spec("ipywidgets") else "std"
    try:
        tqdm = importlib.import_module(f"tqdm.{module}").tqdm
    except ImportError:
        return _PlainBar(total, name)
    return tqdm(total=total, desc=name, unit="run")


class _PlainBar:
    def __init__(self, total: int, name: str) -> None:
        self._total, self._name, self._done = total, name, 0

    def update(self, more: int) -> None:
        if more == 0 and self._done:
            return
        self._done += more
        print(f"\r{self._name}: {self._done} of {self._total} runs", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        print(file=sys.stderr)
