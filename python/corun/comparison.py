"""Policies beside a baseline, seed by seed."""

import warnings

from corun import statistics
from corun.errors import InputError
from corun.results import as_table

__all__ = ["compare"]

_FEWEST_PAIRS = 5


def compare(results, baseline, metric=None, client=None, backend=None):
    """What each policy changes beside the policy `baseline`, by scenario, client and metric, paired by seed.

    Columns: `scenario`, `policy`, `client`, `metric`, `unit`; `baseline` and `value`, the two means over the seeds that
    both have, in the metric's unit; `difference` (value - baseline) with `difference_lo` and `difference_hi`; `ratio`
    (value / baseline) with `ratio_lo`, `ratio_hi`; `n`, the number of pairs. A sweep has the column `point` in front, and
    is compared point by point. Intervals are 95 % paired bootstrap (corun.statistics.paired_bootstrap); they are missing
    for one pair, ratios for a baseline of 0. An effect whose interval holds 0, or 1 for a ratio, has not been shown.

    `metric` and `client` keep one each, `backend` is that of Results.samples. Failed runs are left out. Raises
    InputError where no run is of the baseline. Warns where there are fewer than 5 pairs, and where runs look too short (Results.warnings).

    >>> effects = corun.compare(corun.open(QUICK), baseline="passthrough", metric="fps_mean")
    >>> list(effects.policy), list(effects.n)
    (['nvshare'], [5])
    >>> bool((effects.difference_lo <= effects.difference).all())
    True
    """
    rows = effects_of(results, baseline, metric, client, backend)
    _warn(results, rows)
    return as_table(rows)


def effects_of(results, baseline, metric=None, client=None, backend=None):
    """The rows of `compare` as dicts, without its warnings."""
    samples = results.samples(metric, backend)
    policies = dict.fromkeys(key[-4] for key in samples)
    if baseline not in policies:
        raise InputError(f"{results.path}: no run of policy `{baseline}` to compare with: there are "
                         f"{', '.join(policies) or 'none'}")
    rows = []
    for (*place, policy, who, name, unit), values in samples.items():
        beside = samples.get((*place, baseline, who, name, unit), {})
        seeds = [seed for seed in values if seed in beside]
        if policy != baseline and seeds and client in (None, who):
            rows.append(dict(zip(("point", "scenario")[-len(place):], place))
                        | {"policy": policy, "client": who, "metric": name, "unit": unit}
                        | _effect([values[seed] for seed in seeds], [beside[seed] for seed in seeds]))
    return rows


def _effect(values, baseline):
    difference, low, high = statistics.paired_bootstrap(values, baseline)
    ratio, ratio_low, ratio_high = statistics.paired_bootstrap(values, baseline, "ratio")
    return {"baseline": statistics.mean_interval(baseline)[0], "value": statistics.mean_interval(values)[0],
            "difference": difference, "difference_lo": low, "difference_hi": high,
            "ratio": ratio, "ratio_lo": ratio_low, "ratio_hi": ratio_high, "n": len(values)}


def _warn(results, rows):
    least = min((row["n"] for row in rows), default=_FEWEST_PAIRS)
    if least < _FEWEST_PAIRS:
        warnings.warn(f"{least} pair{'s' if least > 1 else ''} of seeds: an interval of fewer than {_FEWEST_PAIRS} is too "
                      "narrow to rely on: give more `seeds`", stacklevel=3)
    for text in results.warnings():
        warnings.warn(text, stacklevel=3)
