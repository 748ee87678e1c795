"""Policies compared with a baseline, seed by seed."""

import warnings
from typing import TYPE_CHECKING, Any

from corun.core import _core
from corun.inside import one_backend
from corun.tables import as_table

if TYPE_CHECKING:
    from pandas import DataFrame

    from corun.results import Results

__all__ = ["compare"]

_FEWEST_PAIRS = 5


def compare(results: "Results", baseline: str, metric: str | None = None, client: str | None = None,
            backend: str | None = None) -> "DataFrame":
    """Effect of each policy compared with the policy `baseline`, by scenario, client and metric, paired by seed.

    Columns: `scenario`, `policy`, `client`, `metric`, `unit`; `baseline` and `value`, the two means over the seeds that
    both have, in the metric's unit; `difference` (value - baseline) with `difference_lo` and `difference_hi`; `ratio`
    (value / baseline) with `ratio_lo`, `ratio_hi`; `n`, the number of pairs; `baseline_band_lo`, `baseline_band_hi`,
    `value_band_lo`, `value_band_hi`, bands as in Results.summary. A sweep has the column `point` in front, and is
    compared point by point. Intervals are 95 % (corun.statistics.paired_interval); they are missing for fewer than
    three pairs, ratios for a baseline of 0. An effect whose interval holds 0, or 1 for a ratio, has not been shown.

    `metric` and `client` keep one each, `backend` is that of Results.samples. Failed runs are left out. Raises
    InputError where no run is of the baseline or has the metric or the client. Warns where there are fewer than 5
    pairs, and where runs look too short (Results.warnings).

    >>> effects = corun.compare(corun.open(QUICK), baseline="passthrough", metric="fps_mean")
    >>> list(effects.policy), list(effects.n)
    (['nvshare'], [5])
    >>> bool((effects.difference_lo <= effects.difference).all())
    True
    """
    rows = effects_of(results, baseline, metric, client, backend)
    _warn(results, rows)
    return as_table(rows)


def effects_of(results: "Results", baseline: str, metric: str | None = None, client: str | None = None,
               backend: str | None = None) -> list[dict[str, Any]]:
    """The rows of `compare` as dicts, without its warnings."""
    results.check_names(client=client)
    backend = one_backend(results, backend)
    rows = [_row(*values) for values in _core.compare(results.path, baseline, [] if metric is None else [metric],
                                                      backend or "")]
    return [row for row in rows if client in (None, row["client"])]


def _row(*values: Any) -> dict[str, Any]:
    (point, scenario, policy, client, metric, unit, baseline, value, differences, ratios, pairs, baseline_band,
     value_band) = values
    difference, difference_lo, difference_hi = differences
    ratio, ratio_lo, ratio_hi = ratios
    return ({} if point is None else {"point": point}) | {
        "scenario": scenario, "policy": policy, "client": client, "metric": metric, "unit": unit,
        "baseline": baseline, "value": value,
        "difference": difference, "difference_lo": difference_lo, "difference_hi": difference_hi,
        "ratio": ratio, "ratio_lo": ratio_lo, "ratio_hi": ratio_hi, "n": pairs,
        "baseline_band_lo": baseline_band[0], "baseline_band_hi": baseline_band[1],
        "value_band_lo": value_band[0], "value_band_hi": value_band[1]}


def _warn(results: "Results", rows: list[dict[str, Any]]) -> None:
    least = min((row["n"] for row in rows), default=_FEWEST_PAIRS)
    if least < _FEWEST_PAIRS:
        what = ("fewer than 3 have no interval" if least < 3 else
                f"an interval of fewer than {_FEWEST_PAIRS} is wide, and too narrow for skewed figures")
        warnings.warn(f"{least} pair{'s' if least > 1 else ''} of seeds: {what}: give more `seeds`", stacklevel=3)
    for text in results.warnings():
        warnings.warn(text, stacklevel=3)
