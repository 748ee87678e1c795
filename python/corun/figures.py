"""The figures of policies that pictures show: which rows are meant, what they are called, which are best."""

from typing import TYPE_CHECKING, Any

from corun.core import _core
from corun.errors import InputError, check_name

if TYPE_CHECKING:
    from pandas import DataFrame

    from corun.results import Results

__all__ = ["Swept", "figure", "label_of", "one_scenario", "settings"]

_SUFFIXES = ("_per_s", "_ratio", "_ms", "_ns", "_mib")
# Lengths of time in the largest unit in which none is below 1.
_TIMES = ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1, "ns"))


def figure(results: "Results", name: str, scenario: str | None) -> "DataFrame":
    """The rows of Results.summary of one metric of one client in one scenario. `name` is the metric, with its client in
    front where several have it: "train.slowdown"."""
    client, _, metric = name.rpartition(".")
    rows = results.summary(metric)
    if client:
        check_name(client, [] if rows.empty else rows.client.unique(), f"metric `{metric}` of client", results.path)
        rows = rows[rows.client == client]
    rows = one_scenario(results, rows, scenario, f"metric `{name}`")
    if rows.client.nunique() > 1:
        raise InputError(f"several clients have `{metric}`: name one, as in \"{rows.client.iloc[0]}.{metric}\"")
    return rows


def one_scenario(results: "Results", rows: "DataFrame", scenario: str | None, what: str) -> "DataFrame":
    """The rows of one scenario; `what` says of what they are."""
    results.check_names(scenario)
    scenarios = [] if rows.empty else list(rows.scenario.unique())
    if scenario is None and len(scenarios) > 1:
        raise InputError(f"{what}: choose one of the scenarios {', '.join(scenarios)} by `scenario`")
    if not scenarios or scenario not in (None, *scenarios):
        raise InputError(f"{results.path}: no {what}" + (f" in scenario `{scenario}`" if scenario else "")
                         + f": no run has it{f'; there are scenarios {scenarios}' if scenarios else ''}")
    return rows if scenario is None else rows[rows.scenario == scenario]


def label_of(rows: "DataFrame") -> str:
    """What an axis with this figure is called: "game: 1% low (fps)"."""
    first = rows.iloc[0]
    heading = next((row["heading"] for row in _core.metrics() if row["metric"] == first.metric), "")
    plain = first.metric
    for suffix in _SUFFIXES:
        plain = plain.removesuffix(suffix)
    unit = "" if first.unit == "ratio" else f" ({first.unit})"
    return ("" if first.client in ("device", "cluster") else f"{first.client}: ") + (
        heading or plain.replace("_", " ")) + unit


def settings(results: "Results", x: str, y: str, scenario: str | None) -> tuple["DataFrame", str, str]:
    """A row for each policy, in a sweep for each point and policy, and the labels of two figures.

    Columns: `policy`, in a sweep `point`; `value`, `lo`, `hi` of both figures with `_x` and `_y` behind them;
    `is_best`, that no other row is as good in both and better in one. Points at which a policy is the same count once.
    """
    across, up = figure(results, x, scenario), figure(results, y, scenario)
    keys = ["point", "policy"] if results.is_sweep else ["policy"]
    columns = [*keys, "value", "lo", "hi"]
    rows = across[columns].merge(up[columns], on=keys).drop_duplicates(["policy", "value_x", "value_y"])
    worth = [tuple(-value if _is_small_better(figure_) else value for value, figure_ in zip(pair, (across, up)))
             for pair in zip(rows.value_x, rows.value_y)]
    is_best = [not any(other[0] >= own[0] and other[1] >= own[1] and other != own for other in worth) for own in worth]
    return rows.assign(is_best=is_best).reset_index(drop=True), label_of(across), label_of(up)


def _is_small_better(rows: "DataFrame") -> bool:
    return _core.is_better_small(rows.metric.iloc[0], rows.unit.iloc[0])


class Swept:
    """The parameters of a sweep: their values by point, and how an axis shows them."""

    def __init__(self, results: "Results") -> None:
        if not results.is_sweep:
            raise InputError(f"{results.path}: is no sweep: corun.sweep and `simcli sweep` give results at many points")
        self._path = results.path
        self.points = results.points
        self.units: dict[str, str] = dict(results.cursor(
            "SELECT parameter, max(unit) FROM points GROUP BY parameter ORDER BY min(rowid)").fetchall())
        self._texts = results.cursor("SELECT point, parameter, value FROM points ORDER BY rowid").fetchall()

    def chosen(self, names: "list[str | None]") -> list[str]:
        """The parameters that are meant: those that are named, else the first that are not."""
        for name in names:
            check_name(name, self.units, "parameter", self._path)
        free = [name for name in self.units if name not in names]
        if len(free) < names.count(None):
            raise InputError(f"{self._path}: {len(names)} parameters are to be shown, and the sweep has "
                             f"{', '.join(self.units)}")
        return [name if name is not None else free.pop(0) for name in names]

    def values(self, parameter: str) -> tuple[dict[int, Any], str]:
        """The value at each point, and the label of an axis with them: numbers in a unit that suits them, or words."""
        column = next(name for name in self.points.columns if name.startswith(parameter)
                      and name.removeprefix(parameter) in ("", "_ns", "_bytes", "_per_s"))
        values, unit = self.points.set_index("point")[column], self.units[parameter]
        if values.dtype == object or str(values.dtype) == "str":
            return dict(values.astype(str)), parameter
        if unit != "ns":
            return dict(values), f"{parameter} ({unit})" if unit else parameter
        positive = [value for value in values if value > 0]
        scale, name = next((pair for pair in _TIMES if positive and min(positive) >= pair[0]), _TIMES[-1])
        return {point: value / scale for point, value in values.items()}, f"{parameter} ({name})"

    def text(self, point: int) -> str:
        """"nvshare.quantum 10ms, horizon 2s", as the sweep states it."""
        return ", ".join(f"{parameter} {value}" for at, parameter, value in self._texts if at == point)
