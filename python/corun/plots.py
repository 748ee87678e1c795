"""Pictures of results, as matplotlib axes: what `results.plot` offers. Draw on the axes it returns to add more.

A policy has its colour in all pictures, and in reports. Points are means over seeds, bars and bands their 95 %
intervals.
"""

import functools
import os
import pathlib
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

from corun import figures, style
from corun.errors import InputError, near_names
from corun.lanes import lanes
from corun.tables import planned_runs

try:
    import pandas
except ImportError as error:
    raise ImportError(f"pictures need pandas and matplotlib ({error}): pip install \"corun[plots]\"") from error

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from corun.results import Results

__all__ = ["Plots"]

Given = ParamSpec("Given")
_RENAMED = {"pareto": "frontier"}  # before 0.1.0


def _styled(draw: "Callable[Concatenate[Plots, Given], Axes]") -> "Callable[Concatenate[Plots, Given], Axes]":
    """A picture that is drawn in the style of its Plots."""
    @functools.wraps(draw)
    def styled(plots: "Plots", /, *args: Given.args, **keys: Given.kwargs) -> "Axes":
        with plots._style.applied():
            return draw(plots, *args, **keys)

    return styled


class Plots:
    """Pictures of one Results. Each takes `ax`, axes to draw on, or makes new ones, and returns them. `scenario` may be
    left out where one scenario has what is drawn. A metric that several clients have is named with its client:
    "train.slowdown". Raises InputError where nothing has what is asked for.

    >>> axes = corun.open(QUICK).plot.frame_tail("game")
    >>> axes.get_xlabel()
    'frame time (ms)'
    """

    def __init__(self, results: "Results", look: style.Style = style.SCREEN) -> None:
        self._results, self._style = results, look
        self._colours = style.policy_colours(row[0] for row in planned_runs(results, "policy"))

    def __repr__(self) -> str:
        names = [name for name in dir(self) if not name.startswith("_")]
        return f"<corun.Plots of {self._results.path}: {', '.join(names)}>"

    if not TYPE_CHECKING:  # else any name would do

        def __getattr__(self, name):
            near = " or ".join(near_names(name, [each for each in dir(self) if not each.startswith("_")]))
            hint = f": did you mean {near}?" if near else ""
            if name in _RENAMED:
                hint = f": it is `plot.{_RENAMED[name]}` now"
            raise AttributeError(f"there is no picture `plot.{name}`{hint}")

    @property
    def paper(self) -> "Plots":
        """The same pictures for a column of a paper: 3.35 inches wide, in type of 7 and 8 points.

        >>> float(corun.open(QUICK).plot.paper.frame_tail("game").figure.get_size_inches()[0])
        3.35
        """
        return Plots(self._results, style.PAPER)

    def save(self, ax: "Axes", path: str | os.PathLike[str]) -> pathlib.Path:
        """Writes the whole figure of `ax` as `.pdf`, `.svg` or `.png`; the same figure gives the same file.

        >>> plot = corun.open(QUICK).plot.paper
        >>> plot.save(plot.frame_tail("game"), os.path.join(os.path.dirname(QUICK), "tail.svg")).suffix
        '.svg'
        """
        return style.save(ax, path)

    @_styled
    def frame_tail(self, client: str, scenario: str | None = None, policies: Iterable[str] | None = None,
                   marks_ms: Sequence[float] = (16.7, 33.3), ax: "Axes | None" = None) -> "Axes":
        """Share of a client's frames that took longer than a time, over that time in ms, both logarithmic; all seeds of
        a policy together. The lower and further left, the smoother. `marks_ms` draws upright lines.

        >>> [line.get_label() for line in corun.open(QUICK).plot.frame_tail("game", marks_ms=()).lines]
        ['passthrough', 'nvshare']
        """
        frames = self._frames(client, scenario, policies).dropna(subset=["frame_time_ns"])
        ax = self._style.axes(ax, (7.5, 4))
        for mark in marks_ms:
            ax.axvline(mark, color=style.LINE, linewidth=0.8, linestyle=":", label="_")
        for place, (policy, its) in enumerate(frames.groupby("policy", sort=False)):
            times = its.frame_time_ns.sort_values().to_numpy() / 1e6
            above = 1 - (pandas.RangeIndex(len(times)).to_numpy() + 0.5) / len(times)
            ax.step(times, above, where="post", label=policy, color=self._colours[policy],
                    linewidth=max(4 - place, 1.2))
        ax.set(xscale="log", yscale="log", xlabel="frame time (ms)", ylabel="share of frames longer",
               title=f"{client}: tail of the frame times")
        style.plain_ticks(ax.xaxis)
        ax.legend()
        return ax

    @_styled
    def frame_times(self, client: str, policy: str, scenario: str | None = None, seed: int | None = None,
                    ax: "Axes | None" = None) -> "Axes":
        """Frame time in ms over the time of the run in s, of one run; frames that were missed are red.

        >>> corun.open(QUICK).plot.frame_times("game", "nvshare").get_xlabel()
        'time of the run (s)'
        """
        frames = self._frames(client, scenario, [policy])
        frames = frames[frames.seed == (frames.seed.min() if seed is None else seed)].dropna(subset=["frame_time_ns"])
        ax = self._style.axes(ax, (7.5, 2.6))
        at, took, is_missed = frames.present_ns / 1e9, frames.frame_time_ns / 1e6, frames.missed == 1
        ax.vlines(at, 0, took, color=self._colours[policy], linewidth=0.6, alpha=0.5)
        ax.plot(at[~is_missed], took[~is_missed], ".", color=self._colours[policy], markersize=4)
        ax.plot(at[is_missed], took[is_missed], ".", color=style.LATE, markersize=4)
        ax.set(xlabel="time of the run (s)", ylabel="frame time (ms)", ylim=(0, None),
               title=f"{client} under {policy} (red: missed frames)")
        return ax

    @_styled
    def frontier(self, x: str = "harvest_ratio", y: str = "fps_1low", scenario: str | None = None,
                 family: Callable[[str], str] | None = None, ax: "Axes | None" = None) -> "Axes":
        """One metric against another, a point a policy, or in a sweep a point a policy and point, with 95 % intervals.
        What another one beats in both is hollow; the others are joined by a line. `family` names what policies have in
        common (`lambda policy: policy.split("-")[0]`): those have one colour, and a line in the order of the plan, as
        has a policy over a single swept parameter. `corun.metrics` says which metrics are better when small.

        >>> corun.open(QUICK).plot.frontier(x="train.throughput_per_s", y="fps_1low").get_xlabel()
        'train: throughput (1/s)'
        """
        rows, x_label, y_label = figures.settings(self._results, x, y, scenario)
        is_named = family is None and not self._results.is_sweep
        rows = rows.assign(family=rows.policy if family is None else rows.policy.map(family))
        colours = style.policy_colours(rows.family)
        ax = self._style.axes(ax, (6.5, 4.5))
        front = rows[rows.is_best].sort_values("value_x")
        ax.plot(front.value_x, front.value_y, color=style.SOFT, linewidth=1 if is_named else 3, zorder=0,
                label="_" if is_named else "not beaten in both")
        for name, its in rows.groupby("family", sort=False):
            self._settings_of_one(ax, its, colours[name], name)
        if is_named:
            _name_points(ax, _together(rows), colours)
        else:
            ax.legend()
        ax.set(xlabel=x_label, ylabel=y_label)
        ax.margins(0.15)
        return ax

    def _settings_of_one(self, ax: "Axes", rows: "DataFrame", colour: str, name: str) -> None:
        if len(rows) > 1 and not (self._results.is_sweep and len(self._results.points.columns) > 2):
            ax.plot(rows.value_x, rows.value_y, color=colour, linewidth=0.8, alpha=0.6, zorder=1, label="_")
        for place, row in enumerate(rows.itertuples()):
            ax.errorbar(row.value_x, row.value_y, xerr=_bars(row.value_x, row.lo_x, row.hi_x),
                        yerr=_bars(row.value_y, row.lo_y, row.hi_y), fmt="o", capsize=3, color=colour,
                        markerfacecolor=colour if row.is_best else "white", zorder=3 if row.is_best else 2,
                        label="_" if place else name)

    @_styled
    def sweep(self, metric: str, parameter: str | None = None, policies: Iterable[str] | None = None,
              scenario: str | None = None, ax: "Axes | None" = None) -> "Axes":
        """One metric over a parameter of a sweep, by default its first, a line a policy with its 95 % interval as a
        band. Where other parameters vary as well, points are all of the sweep's, lines their means at each value, and
        bands reach from the least to the greatest of them.

        >>> swept = corun.sweep(PAIR, {"nvshare.quantum": ["10ms", "20ms", "40ms"]}, until="300ms", seed=[1, 2, 3])
        >>> axes = swept.plot.sweep("fps_mean")
        >>> axes.get_xlabel(), [line.get_label() for line in axes.lines]
        ('nvshare.quantum (ms)', ['passthrough', 'nvshare'])
        """
        swept = figures.Swept(self._results)
        values, x_label = swept.values(swept.chosen([parameter])[0])
        rows = figures.figure(self._results, metric, scenario)
        rows = self._of_policies(rows.assign(at=rows.point.map(values)), policies)
        ax = self._style.axes(ax, (6.5, 4))
        for policy, its in rows.groupby("policy", sort=False):
            self._swept_line(ax, policy, its)
        numbers = rows["at"].map(lambda value: not isinstance(value, str) and value > 0)
        if numbers.all() and rows["at"].max() > 20 * rows["at"].min():
            ax.set_xscale("log")
            style.plain_ticks(ax.xaxis)
        ax.set(xlabel=x_label, ylabel=figures.label_of(rows))
        ax.legend()
        return ax

    def _swept_line(self, ax: "Axes", policy: str, rows: "DataFrame") -> None:
        by_value = rows.groupby("at", sort=not isinstance(rows["at"].iloc[0], str))
        line, colour = by_value.value.mean(), self._colours[policy]
        is_many = by_value.size().max() > 1
        low, high = (by_value.value.min(), by_value.value.max()) if is_many else (by_value.lo.min(), by_value.hi.max())
        if is_many:
            ax.scatter(rows["at"], rows.value, s=8, color=colour, alpha=0.5, linewidth=0)
        ax.plot(line.index, line, "o-", color=colour, label=policy, markersize=4)
        if low.notna().any():
            ax.fill_between(line.index, low.astype(float), high.astype(float), color=colour, alpha=0.15, linewidth=0)

    @_styled
    def heatmap(self, metric: str, policy: str, x: str | None = None, y: str | None = None, scenario: str | None = None,
                ax: "Axes | None" = None) -> "Axes":
        """One metric of one policy over two parameters of a sweep, by default its first two: a cell for each pair of
        values, with the mean over seeds, and over other parameters where more vary.

        >>> swept = corun.sweep(PAIR, {"nvshare.quantum": ["10ms", "20ms"], "clients.game.pacing": ["30fps", "60fps"]},
        ...                     until="300ms", seed=1)
        >>> axes = swept.plot.heatmap("fps_mean", "nvshare")
        >>> axes.get_xlabel(), [text.get_text() for text in axes.get_xticklabels()]
        ('nvshare.quantum (ms)', ['10', '20'])
        """
        swept = figures.Swept(self._results)
        names = swept.chosen([x, y])
        (across, x_label), (up, y_label) = (swept.values(name) for name in names)
        self._results.check_names(policy=policy)
        rows = figures.figure(self._results, metric, scenario)
        rows = self._of_policies(rows.assign(x=rows.point.map(across), y=rows.point.map(up)), [policy])
        cells = rows.pivot_table(index="y", columns="x", values="value", sort=True)
        ax = self._style.axes(ax, (1.2 + 0.75 * len(cells.columns), 1.2 + 0.5 * len(cells)))
        mesh = ax.pcolormesh(cells.to_numpy(dtype=float), cmap="cividis")
        _write_cells(ax, cells, mesh)
        ax.set_xticks([place + 0.5 for place in range(len(cells.columns))], [_short(value) for value in cells.columns])
        ax.set_yticks([place + 0.5 for place in range(len(cells))], [_short(value) for value in cells.index])
        ax.grid(visible=False)
        ax.set(xlabel=x_label, ylabel=y_label, title=f"{figures.label_of(rows)}, {policy}")
        return ax

    @_styled
    def frame_parts(self, frames: "DataFrame", ax: "Axes | None" = None) -> "Axes":
        """Where the time of frames went, as one bar a frame: `frames` are rows of Results.frame_times.

        >>> results = corun.open(QUICK)
        >>> results.plot.frame_parts(results.frame_times(policy="nvshare").head(3)).get_xlabel()
        'ms since the frame began'
        """
        ax = self._style.axes(ax, (7.5, 0.32 * len(frames) + 1.5))
        left = pandas.Series(0.0, index=range(len(frames)))
        for column, (name, colour) in style.frame_parts().items():
            widths = frames[column].reset_index(drop=True) / 1e6
            ax.barh(range(len(frames)), widths, left=left, color=colour, label=name, height=0.7)
            left = left + widths
        ax.set_yticks(range(len(frames)), [f"frame {number}" for number in frames.number])
        ax.invert_yaxis()
        ax.set(xlabel="ms since the frame began")
        ax.grid(axis="y", visible=False)
        is_narrow = self._style.width is not None
        ax.legend(ncol=2 if is_narrow else 3, loc="lower right", bbox_to_anchor=(1, 1), columnspacing=1, handlelength=1)
        return ax

    @_styled
    def effects(self, baseline: str, metric: str, client: str | None = None, scenario: str | None = None,
                ax: "Axes | None" = None) -> "Axes":
        """Effect of each policy on one metric, compared with `baseline`: difference of the means, paired by seed,
        with its 95 % interval (corun.compare), in a sweep for each point. An interval over the line shows no
        difference.

        >>> corun.open(QUICK).plot.effects("passthrough", "fps_mean").get_title()
        'game: fps_mean compared with passthrough'
        """
        from corun.comparison import effects_of

        rows = pandas.DataFrame(effects_of(self._results, baseline, metric, client))
        rows = figures.one_scenario(self._results, rows, scenario, f"metric `{metric}` compared with `{baseline}`")
        ax = self._style.axes(ax, (6.5, 0.45 * len(rows) + 1.4))
        for place, row in enumerate(rows.itertuples()):
            ax.errorbar(row.difference, place, fmt="o", capsize=3, color=self._colours[row.policy],
                        xerr=_bars(row.difference, row.difference_lo, row.difference_hi))
        ax.axvline(0, color=style.LINE, linewidth=0.8)
        many = rows.client.nunique() > 1
        ax.set_yticks(range(len(rows)), self._effect_names(rows, many))
        ax.invert_yaxis()
        ax.set(xlabel=f"difference ({rows.unit.iloc[0]})",
               title=f"{'' if many else rows.client.iloc[0] + ': '}{metric} compared with {baseline}")
        return ax

    def _effect_names(self, rows: "DataFrame", has_clients: bool) -> list[str]:
        swept = figures.Swept(self._results) if self._results.is_sweep else None
        return [row.policy + (f", {swept.text(row.point)}" if swept else "")
                + (f": {row.client}" if has_clients else "") for row in rows.itertuples()]

    @_styled
    def timeline(self, begin: float, end: float, policy: str, scenario: str | None = None, seed: int | None = None,
                 ax: "Axes | None" = None) -> "Axes":
        """One run between two instants, in seconds: for each client its operations on the device (start to end; where
        contexts take turns that holds time away), its frames from start to present, red where missed, and the stretches
        in which its gate held it, with the rule. Operations need `record: { operations: all }`.

        >>> axes = corun.open(QUICK).plot.timeline(0.5, 0.7, "nvshare")
        >>> [label.get_text() for label in axes.get_yticklabels()]
        ['game: frames', 'game: held', 'train: held']
        """
        run = self._results.run_id(policy, seed, scenario)
        found = lanes(self._results, run, (int(begin * 1e9), int(end * 1e9)))
        if not found:
            raise InputError(f"{self._results.path}: nothing of policy `{policy}` is recorded "
                             f"from {begin:g} to {end:g} s")
        ax = self._style.axes(ax, (9, 0.55 * len(found) + 1.1))
        for place, (_, draw) in enumerate(found):
            draw(ax, place)
        ax.set_yticks(range(len(found)), [name for name, _ in found])
        ax.set(xlim=(begin * 1e3, end * 1e3), ylim=(len(found) - 0.4, -0.6), xlabel="time of the run (ms)",
               title=f"{policy} (red: missed frames)")
        ax.grid(axis="y", visible=False)
        return ax

    def _frames(self, client: str, scenario: str | None, policies: Iterable[str] | None) -> "DataFrame":
        frames = self._of_policies(self._results.frame_times(client=client), policies)
        return figures.one_scenario(self._results, frames, scenario, f"frames of client `{client}`")

    def _of_policies(self, rows: "DataFrame", policies: Iterable[str] | None) -> "DataFrame":
        if policies is None:
            return rows
        names = list(policies)
        for name in names:
            self._results.check_names(policy=name)
        return rows[rows.policy.isin(names)]


def _bars(value: float, low: float | None, high: float | None) -> list[list[float]] | None:
    """Lengths of an error bar; None without an interval."""
    if low is None or high is None or low != low:
        return None
    return [[max(value - low, 0)], [max(high - value, 0)]]


def _together(rows: "DataFrame") -> dict[tuple[float, float], list[str]]:
    """Policies by the point at which they stand, so that equal ones share a label."""
    wide, high = (max(values.max() - values.min(), 1e-12) for values in (rows.value_x, rows.value_y))
    points: dict[tuple[float, float], list[str]] = {}
    for row in rows.itertuples():
        here = (row.value_x, row.value_y)
        near = [at for at in points if abs(at[0] - here[0]) < 0.02 * wide and abs(at[1] - here[1]) < 0.02 * high]
        points.setdefault(near[0] if near else here, []).append(row.policy)
    return points


def _name_points(ax: "Axes", points: dict[tuple[float, float], list[str]], colours: dict[str, str]) -> None:
    """Writes names at points, inwards of the axes, by turns above and below where points have about the same height."""
    lefts, heights = zip(*points)
    middle, near = (min(lefts) + max(lefts)) / 2, 0.05 * (max(heights) - min(heights))
    is_above, last = False, float("nan")
    for left, height in sorted(points):
        is_above = not (is_above and abs(height - last) <= near)
        last = height
        is_right = left > middle
        away = (-5 if is_right else 5, 4 if is_above else -4)
        ax.annotate(", ".join(points[left, height]), (left, height), xytext=away, textcoords="offset points",
                    ha="right" if is_right else "left", va="bottom" if is_above else "top",
                    color=colours[points[left, height][0]]).set_in_layout(False)


def _write_cells(ax: "Axes", cells: "DataFrame", mesh: Any) -> None:
    """The number of each cell, in a colour that can be read on it."""
    for height, (_, row) in enumerate(cells.iterrows()):
        for left, value in enumerate(row):
            if value == value:
                ax.text(left + 0.5, height + 0.5, f"{value:.3g}", ha="center", va="center", fontsize="small",
                        color="white" if mesh.norm(value) < 0.55 else "black")


def _short(value: object) -> str:
    return value if isinstance(value, str) else f"{value:g}"
