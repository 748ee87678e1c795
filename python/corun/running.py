"""Running experiments."""

import importlib.util
import os
import sys
import tempfile
import time
import warnings

from corun import errors
from corun.core import _core
from corun.errors import InputError
from corun.experiment import Experiment
from corun.results import Results

__all__ = ["run"]


def run(experiment, *, jobs=None, seed=None, until=None, output=None, overwrite=False, resume=False, baselines=True,
        progress=None):
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
    >>> len(results.runs), results.runs.error.isna().all()
    (6, True)
    """
    if not isinstance(experiment, Experiment):
        experiment = Experiment(experiment)
    core = experiment._parse(seed_list(seed), until)
    existing = if_exists(overwrite, resume)
    return do_runs(core, output, progress, lambda path, tick: core.run(path, existing, jobs or 0, baselines, tick))


def seed_list(seed):
    """None, a number or several, as a list."""
    return [] if seed is None else [seed] if isinstance(seed, int) else list(seed)


def if_exists(overwrite, resume):
    """What becomes of a results file that is there."""
    if overwrite and resume:
        raise InputError("`overwrite` and `resume` are both asked for: a results file is replaced or gone on with")
    return _core.IfExists.resume if resume else _core.IfExists.replace if overwrite else _core.IfExists.fail


def do_runs(core, output, progress, work, stopped=()):
    """Results of the experiment that `work(path, tick)` writes; it returns (kind, message) of failed runs. What it
    raises of KeyboardInterrupt and `stopped` carries the results so far."""
    folder = None if output is not None else tempfile.TemporaryDirectory(prefix="corun-")
    path = os.path.join(folder.name, "results.sqlite") if folder else os.fspath(output)
    shown = _Progress(len(core.plan()), core.name, progress)
    try:
        failures = work(path, shown.update)
    except (KeyboardInterrupt, *stopped) as interrupt:
        interrupt.results = Results(path, folder)
        kept = f"; results so far: {path}" if output is not None else "; results so far are in `.results`"
        interrupt.add_note(f"{len(interrupt.results.sql('SELECT id FROM runs'))} of {shown.total} runs done{kept}")
        raise
    finally:
        shown.close()
    results = Results(path, folder)
    stored = [row[0] for row in results.cursor("SELECT error FROM runs WHERE error IS NOT NULL ORDER BY rowid")]
    if stored:
        _tell(failures, stored, shown.total, results)
    return results


def _tell(failures, stored, total, results):
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

    def __init__(self, total, name, is_wanted):
        self.total, self._name = total, name
        self._is_wanted = _is_watched() if is_wanted is None else is_wanted
        self._begin, self._bar, self._done = time.monotonic(), None, 0

    def update(self, done):
        if not self._is_wanted or (self._bar is None and time.monotonic() - self._begin < 1) or self.total == 0:
            return
        if self._bar is None:
            self._bar = _make_bar(self.total, self._name)
        self._bar.update(done - self._done)
        self._done = done

    def close(self):
        if self._bar is not None:
            self._bar.close()


def _is_watched():
    return sys.stderr.isatty() or "ipykernel" in sys.modules


def _make_bar(total, name):
    # tqdm.auto warns in notebooks where there is no ipywidgets; a bar of text does, then.
    module = "auto" if importlib.util.find_spec("ipywidgets") else "std"
    try:
        tqdm = importlib.import_module(f"tqdm.{module}").tqdm
    except ImportError:
        return _PlainBar(total, name)
    return tqdm(total=total, desc=name, unit="run")


class _PlainBar:
    def __init__(self, total, name):
        self._total, self._name, self._done = total, name, 0

    def update(self, more):
        if more == 0 and self._done:
            return
        self._done += more
        print(f"\r{self._name}: {self._done} of {self._total} runs", end="", file=sys.stderr, flush=True)

    def close(self):
        print(file=sys.stderr)
