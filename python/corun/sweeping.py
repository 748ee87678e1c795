"""Experiments at many points of their parameters, on this machine or on whatever an executor runs on."""

import collections
import concurrent.futures
import functools
import itertools
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from corun.core import _core
from corun.errors import Error, InputError
from corun.experiment import Experiment, Source
from corun.results import Results
from corun.running import do_runs, if_exists, seed_list

__all__ = ["sweep"]

_MOST_TRIES = 3
# Pieces of work that are handed out before the first of them is back: enough for hundreds of workers.
_MOST_AHEAD = 512
_MOST_RUNS_IN_A_PIECE = 16

# What a worker has to know to do runs: text, file, changes, policies, seeds, horizon, baselines.
Question = tuple[Any, ...]
Piece = tuple[list[str], "concurrent.futures.Future[bytes]"]


def sweep(experiment: Experiment | Source, parameters: Mapping[str, Any] | None = None, *,
          sample: Mapping[str, Any] | None = None, executor: concurrent.futures.Executor | None = None,
          jobs: int | None = None, seed: int | Iterable[int] | None = None, until: str | None = None,
          output: str | os.PathLike[str] | None = None, overwrite: bool = False, resume: bool = False,
          baselines: bool = True, progress: bool | None = None) -> Results:
    """Runs an experiment at every point of a sweep and returns the Results; docs/sweep.md.

    `parameters` are paths, as in Experiment.set, with a list of values or a range, {"from": "0s", "to": "1ms",
    "step": "100us"}; without them the experiment's own section `sweep` holds. `sample` draws points in place of the
    grid: {"method": "latin_hypercube", "points": 100, "seed": 1}.

    `executor` is any concurrent.futures.Executor whose workers can import corun: a ProcessPoolExecutor, dask's
    `client.get_executor()`, mpi4py's MPIPoolExecutor. Without it, `jobs` threads of this process do the work. Results
    are the same, row for row. Work that is lost with a worker is handed out again, twice at most; where the executor
    breaks, what it raises carries the results so far as `.results`, and `resume=True` goes on from there. All else is
    as in corun.run; policies in Python have to lie in a module that the workers can import.

    Raises what corun.run raises, and InputError where there is nothing to sweep.

    >>> results = corun.sweep(PAIR, {"nvshare.quantum": ["10ms", "20ms", "40ms"]}, until="200ms", seed=1)
    >>> len(results.runs), results.points["nvshare.quantum_ns"].tolist()
    (4, [10000000, 20000000, 40000000])
    """
    experiment = _with_sweep(experiment, parameters, sample)
    core = experiment._parse(seed_list(seed), until, True)
    if not core.points:
        raise InputError(f"{core.name} has no section `sweep`: give `parameters`, for example "
                         '{"pilotfish.margin": ["100us", "300us"]}')
    existing = if_exists(overwrite, resume)
    if executor is None:
        return do_runs(core, output, progress, lambda path, tick: core.run(path, existing, jobs or 0, baselines, tick))
    pool = executor
    question = (experiment._text, os.path.abspath(experiment._file), experiment._sets, experiment._policies,
                tuple(seed_list(seed)), until, baselines)
    return do_runs(core, output, progress, lambda path, tick: _spread(question, pool, path, existing, tick),
                   stopped=(concurrent.futures.BrokenExecutor, _Lost))


class _Lost(RuntimeError):
    """A piece of work that never came back."""


def _with_sweep(experiment: Experiment | Source, parameters: Mapping[str, Any] | None,
                sample: Mapping[str, Any] | None) -> Experiment:
    if not isinstance(experiment, Experiment):
        experiment = Experiment(experiment)
    if parameters is not None:  # at once, since a range without steps is no grid
        return experiment.set("sweep", dict(parameters) | ({} if sample is None else {"sample": dict(sample)}))
    return experiment if sample is None else experiment.set("sweep.sample", sample)


def _spread(question: Question, executor: concurrent.futures.Executor, path: str, existing: "_core.IfExists",
            tick: Callable[[int], None]) -> list[tuple[int, str]]:
    """Has every run done that is not there yet; writes them in the order of the plan."""
    runs = _plan(question)
    # Captures that have changed since are other runs: workers keep what they have read by all of this.
    question += (hash(tuple(runs.ids())),)
    writer = runs.writer(path, existing)
    try:
        return _collect(question, executor, runs, writer, tick)
    finally:
        writer.close()


def _collect(question: Question, executor: concurrent.futures.Executor, runs: "_core.PlannedRuns",
             writer: "_core.ResultsWriter", tick: Callable[[int], None]) -> list[tuple[int, str]]:
    there = set(writer.completed_runs())
    missing = [run for run in runs.ids() if run not in there]
    size = max(1, min(_MOST_RUNS_IN_A_PIECE, len(missing) // 64))
    pieces = (missing[i:i + size] for i in range(0, len(missing), size))
    submitted = collections.deque(_submit(executor, question, piece) for piece in itertools.islice(pieces, _MOST_AHEAD))
    failures: list[tuple[int, str]] = []
    done = len(there)
    try:
        while submitted:
            piece, future = submitted.popleft()
            content = _result(executor, question, piece, future)
            failures += [(5, message) for message in _append(writer, content)]
            done += len(piece)
            tick(done)
            submitted.extend(_submit(executor, question, piece) for piece in itertools.islice(pieces, 1))
    except BaseException:
        _keep_what_is_done(submitted, writer)
        raise
    finally:
        for _, future in submitted:
            future.cancel()
    return failures


def _keep_what_is_done(submitted: Iterable[Piece], writer: "_core.ResultsWriter") -> None:
    for _, future in submitted:
        if future.done() and not future.cancelled() and future.exception() is None:
            _append(writer, future.result())


def _submit(executor: concurrent.futures.Executor, question: Question, piece: list[str]) -> Piece:
    return piece, executor.submit(_do, question, piece)


def _result(executor: concurrent.futures.Executor, question: Question, piece: list[str],
            future: "concurrent.futures.Future[bytes]") -> bytes:
    """What a piece gave, which is tried again where its worker was lost."""
    for tries in range(1, _MOST_TRIES + 1):
        try:
            return future.result()
        except (Error, concurrent.futures.BrokenExecutor):
            raise  # another try would end alike
        except Exception as error:
            if tries == _MOST_TRIES:
                raise _Lost(f"{len(piece)} runs were lost {tries} times: {error}") from error
            future = executor.submit(_do, question, piece)
    raise AssertionError("a piece has one try at least")


def _append(writer: "_core.ResultsWriter", content: bytes) -> list[str]:
    with tempfile.TemporaryDirectory(prefix="corun-") as folder:
        path = os.path.join(folder, "piece.sqlite")
        with open(path, "wb") as file:
            file.write(content)
        return writer.append(path)


def _do(question: Question, runs: list[str]) -> bytes:
    """In a worker: a results file of these runs, as bytes."""
    with tempfile.TemporaryDirectory(prefix="corun-") as folder:
        path = os.path.join(folder, "piece.sqlite")
        _planned(question).run(runs, path)
        with open(path, "rb") as file:
            return file.read()


@functools.lru_cache(maxsize=2)
def _planned(question: Question) -> "_core.PlannedRuns":
    """Kept in each process, so that captures are read once."""
    return _plan(question[:-1])


def _plan(question: Question) -> "_core.PlannedRuns":
    text, file, sets, policies, seeds, until, baselines = question
    return _core.PlannedRuns(_core.read(text, file, list(sets), list(policies), list(seeds), until, True), baselines)
