"""Intervals, effects and warm-up cuts: the ones that `simcli` uses.

Samples are sequences of numbers; units are the caller's. Everything is a pure function: same input, same bits.
"""

from collections.abc import Iterable

from corun.core import _core
from corun.errors import InputError

Interval = tuple[float, float | None, float | None]

__all__ = ["batch_means", "lag1_correlation", "mean_interval", "mser5", "paired_bootstrap", "paired_interval",
           "student_t_95"]


def student_t_95(degrees: int) -> float:
    """The two-sided 95 % quantile of Student's t with `degrees` >= 1 degrees of freedom.

    >>> round(corun.statistics.student_t_95(4), 4)
    2.7764
    """
    return _core.student_t_95(degrees)


def mean_interval(values: Iterable[float]) -> Interval:
    """(mean, low, high) with the 95 % Student-t interval of the mean of independent values, for example one a seed.
    low and high are None for fewer than three; the interval of values that are not negative ends at 0. Raises
    InputError for none.

    >>> corun.statistics.mean_interval([60.0, 60.0, 60.0])
    (60.0, 60.0, 60.0)
    >>> corun.statistics.mean_interval([10.0, 190.0])
    (100.0, None, None)
    """
    return _core.mean_interval(list(values))


def paired_interval(values: Iterable[float], baseline: Iterable[float], effect: str = "difference") -> Interval:
    """(effect, low, high) with a 95 % interval, of two samples of equal length whose i-th values belong together (same
    seed), as corun.compare gives it.

    `effect` is "difference" (mean - mean, in the unit of the values), with Student's t over the pairs, or "ratio" (mean
    / mean; NaN for a baseline of 0), with Fieller's interval, NaN where the baseline's own mean may be 0; that of
    values that are not negative ends at 0. low and high are None for fewer than three pairs. Raises InputError where
    the lengths differ.

    >>> effect, low, high = corun.statistics.paired_interval([62, 63, 65, 61, 64], [60, 60, 61, 58, 61])
    >>> effect, round(low, 2), round(high, 2)
    (3.0, 2.12, 3.88)
    """
    return _core.paired_interval(list(values), list(baseline), _is_ratio(effect))


def _is_ratio(effect: str) -> bool:
    if effect not in ("difference", "ratio"):
        raise InputError(f"`{effect}` is no effect: expected difference or ratio")
    return effect == "ratio"


def paired_bootstrap(values: Iterable[float], baseline: Iterable[float], effect: str = "difference",
                     resamples: int = 9999, seed: int = 1, expanded: bool = True,
                     indices: Iterable[Iterable[int]] | None = None) -> Interval:
    """(effect, low, high) with a 95 % bootstrap interval, of two samples of equal length whose i-th values belong
    together (same seed).

    `effect` is "difference" (mean - mean, in the unit of the values) or "ratio" (mean / mean; NaN for a baseline of 0).
    Bounds are quantiles over `resamples` samples of pairs, drawn by `seed`, or over `indices`, rows of as many numbers
    of pairs. `expanded` takes them further out, so that the interval is as wide as Student's for few pairs; below 10 it
    is still too narrow, and paired_interval() is right. Fewer than three pairs have no interval. Raises InputError
    where the lengths differ.

    >>> effect, low, high = corun.statistics.paired_bootstrap([62, 63, 65, 61, 64], [60, 60, 61, 58, 61])
    >>> effect, low <= 3.0 <= high
    (3.0, True)
    """
    is_ratio = _is_ratio(effect)
    flat = None if indices is None else [int(index) for row in indices for index in row]
    return _core.paired_bootstrap(list(values), list(baseline), is_ratio, resamples, seed, expanded, flat)


def mser5(series: Iterable[float]) -> tuple[int, bool]:
    """(cut, is_settled): how many values at the start of one run's series are warm-up, by MSER-5, a multiple of 5 and
    at most about half. is_settled is False where the series is too short: simulate for longer.

    >>> corun.statistics.mser5([9.0] * 10 + [1.0, 1.1] * 45)
    (10, True)
    """
    return _core.mser5(list(series))


def batch_means(series: Iterable[float], batches: int = 20) -> tuple[float, float, float]:
    """(mean, low, high) of one run's series, whose values depend on those before: the 95 % Student-t interval over the
    means of `batches` >= 2 stretches of equal length. Look at lag1_correlation of longer batches where in doubt.
    Raises InputError for fewer values than batches.

    >>> corun.statistics.batch_means([1.0, 3.0] * 40, batches=4)
    (2.0, 2.0, 2.0)
    """
    return _core.batch_means(list(series), batches)


def lag1_correlation(series: Iterable[float]) -> float:
    """Correlation of each value with the next, in [-1, 1]; 0 where all are equal.

    >>> corun.statistics.lag1_correlation([1.0, -1.0] * 50) < -0.9
    True
    """
    return _core.lag1_correlation(list(series))
