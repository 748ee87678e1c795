"""Pictures of results, as matplotlib axes: what `results.plot` offers. Draw on the axes it returns to add more.

A policy has one colour in all pictures of one results file. Points are means over seeds, bars their 95 % intervals.
"""

try:
    from matplotlib import pyplot
    from matplotlib.ticker import FuncFormatter
    import pandas
except ImportError as error:
    raise ImportError(f"pictures need pandas and matplotlib ({error}): pip install \"corun[plots]\"") from error

from corun.errors import InputError
from corun.tables import planned_runs

__all__ = ["Plots"]

_FIXED = {"passthrough": "#7f7f7f", "exclusive": "#222222"}
_COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7b4fa3", "#8c564b"]
_CLIENTS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00"]
_LATE = "#c1121f"
_PARTS = {"host_ns": ("host", "#bbbbbb"), "queued_ns": ("gate and queue", "#e69f00"), "own_ns": ("own work", "#0072b2"),
          "away_ns": ("others have the device", "#d55e00"), "until_shown_ns": ("done, waits to be shown", "#dddddd")}


class Plots:
    """Pictures of one Results. Each takes `ax`, axes to draw on, or makes new ones, and returns them. `scenario` may be
    left out where one scenario has what is drawn. Raises InputError where nothing has.

    >>> axes = corun.open(QUICK).plot.frame_tail("game")
    >>> axes.get_xlabel()
    'frame time (ms)'
    """

    def __init__(self, results):
        self._results = results
        policies = dict.fromkeys(row[0] for row in planned_runs(results, "policy"))
        free = [policy for policy in policies if policy not in _FIXED]
        self._colours = _FIXED | {policy: _COLOURS[place % len(_COLOURS)] for place, policy in enumerate(free)}

    def frame_tail(self, client, scenario=None, policies=None, marks_ms=(16.7, 33.3), ax=None):
        """Share of a client's frames that took longer than a time, over that time in ms, both logarithmic; all seeds of
        a policy together. The lower and further left, the smoother. `marks_ms` draws upright lines.

        >>> [line.get_label() for line in corun.open(QUICK).plot.frame_tail("game", marks_ms=()).lines]
        ['passthrough', 'nvshare']
        """
        frames = self._frames(client, scenario, policies).dropna(subset=["frame_time_ns"])
        ax = _axes(ax, (7.5, 4))
        for mark in marks_ms:
            ax.axvline(mark, color="#999999", linewidth=0.8, linestyle=":", label="_")
        for place, (policy, its) in enumerate(frames.groupby("policy", sort=False)):
            times = its.frame_time_ns.sort_values().to_numpy() / 1e6
            above = 1 - (pandas.RangeIndex(len(times)).to_numpy() + 0.5) / len(times)
            ax.step(times, above, where="post", label=policy, color=self._colours[policy],
                    linewidth=max(4 - place, 1.2))
        ax.set(xscale="log", yscale="log", xlabel="frame time (ms)", ylabel="share of frames that took longer",
               title=f"{client}: tail of the frame times")
        _plain_ticks(ax.xaxis)
        ax.legend(frameon=False)
        return ax

    def frame_times(self, client, policy, scenario=None, seed=None, ax=None):
        """Frame time in ms over the time of the run in s, of one run; frames that were missed are red.

        >>> corun.open(QUICK).plot.frame_times("game", "nvshare").get_xlabel()
        'time of the run (s)'
        """
        frames = self._frames(client, scenario, [policy])
        frames = frames[frames.seed == (frames.seed.min() if seed is None else seed)].dropna(subset=["frame_time_ns"])
        ax = _axes(ax, (7.5, 2.6))
        at, took, is_missed = frames.present_ns / 1e9, frames.frame_time_ns / 1e6, frames.missed == 1
        ax.vlines(at, 0, took, color=self._colours[policy], linewidth=0.6, alpha=0.5)
        ax.plot(at[~is_missed], took[~is_missed], ".", color=self._colours[policy], markersize=4, label="in time")
        ax.plot(at[is_missed], took[is_missed], ".", color=_LATE, markersize=4, label="missed")
        ax.set(xlabel="time of the run (s)", ylabel="frame time (ms)", title=f"{client} under {policy}", ylim=(0, None))
        ax.legend(frameon=False, ncol=2, loc="lower right", bbox_to_anchor=(1, 1), borderpad=0)
        return ax

    def pareto(self, x="harvest_ratio", y="fps_1low", scenario=None, ax=None):
        """One metric against another, a point a policy, with 95 % intervals. What another policy beats in both is
        hollow; the others are joined by a line. A metric that several clients have is named with its client:
        "train.slowdown". `corun.metrics` says which of them are better when small.

        >>> corun.open(QUICK).plot.pareto(x="train.throughput_per_s", y="fps_1low").get_xlabel()
        'train: throughput_per_s (1/s)'
        """
        across, up = self._figure(x, scenario), self._figure(y, scenario)
        policies = [policy for policy in across.index if policy in up.index]
        ax = _axes(ax, (6.5, 4.5))
        best = [policy for policy in policies if not any(_beats(across, up, other, policy) for other in policies)]
        front = sorted(best, key=lambda policy: across.value[policy])
        ax.plot(across.value[front], up.value[front], color="#bbbbbb", linewidth=1, zorder=1)
        for policy in policies:
            here, colour = (across.loc[policy], up.loc[policy]), self._colours[policy]
            ax.errorbar(here[0].value, here[1].value, xerr=_bars(here[0]), yerr=_bars(here[1]), fmt="o", capsize=3,
                        color=colour, markerfacecolor=colour if policy in best else "white",
                        zorder=3 if policy in best else 2)
        for (left, height), its in _together(across, up, policies).items():
            ax.annotate(", ".join(its), (left, height), xytext=(6, 5), textcoords="offset points", fontsize=9,
                        color=self._colours[its[0]])
        ax.set(xlabel=_label(across), ylabel=_label(up))
        ax.margins(0.15)
        return ax

    def frame_parts(self, frames, ax=None):
        """Where the time of frames went, as one bar a frame: `frames` are rows of Results.frame_times.

        >>> results = corun.open(QUICK)
        >>> results.plot.frame_parts(results.frame_times(policy="nvshare").head(3)).get_xlabel()
        'ms since the frame began'
        """
        ax = _axes(ax, (7.5, 0.32 * len(frames) + 1.5))
        left = pandas.Series(0.0, index=range(len(frames)))
        for column, (name, colour) in _PARTS.items():
            widths = frames[column].reset_index(drop=True) / 1e6
            ax.barh(range(len(frames)), widths, left=left, color=colour, label=name, height=0.7)
            left = left + widths
        ax.set_yticks(range(len(frames)), [f"frame {number}" for number in frames.number])
        ax.invert_yaxis()
        ax.set(xlabel="ms since the frame began")
        ax.grid(axis="y", visible=False)
        ax.legend(frameon=False, ncol=3, loc="lower left", bbox_to_anchor=(0, 1.0), fontsize=8)
        return ax

    def effects(self, baseline, metric, client=None, scenario=None, ax=None):
        """Effect of each policy on one metric, compared with `baseline`: difference of the means, paired by seed,
        with its 95 % interval (corun.compare). An interval over the line shows no difference.

        >>> corun.open(QUICK).plot.effects("passthrough", "fps_mean").get_title()
        'game: fps_mean compared with passthrough'
        """
        from corun.comparison import effects_of

        self._refuse_sweep()
        rows = pandas.DataFrame(effects_of(self._results, baseline, metric, client))
        rows = self._one_of(rows, scenario, f"metric `{metric}` compared with `{baseline}`",
                            "SELECT DISTINCT metric FROM metrics")
        ax = _axes(ax, (6.5, 0.45 * len(rows) + 1.4))
        for place, row in enumerate(rows.itertuples()):
            ax.errorbar(row.difference, place, fmt="o", capsize=3, color=self._colours[row.policy],
                        xerr=_bars(pandas.Series({"value": row.difference, "lo": row.difference_lo,
                                                  "hi": row.difference_hi})))
        ax.axvline(0, color="#999999", linewidth=0.8)
        many = rows.client.nunique() > 1
        ax.set_yticks(range(len(rows)),
                      [f"{row.policy}: {row.client}" if many else row.policy for row in rows.itertuples()])
        ax.invert_yaxis()
        ax.set(xlabel=f"difference ({rows.unit.iloc[0]})",
               title=f"{'' if many else rows.client.iloc[0] + ': '}{metric} compared with {baseline}")
        return ax

    def timeline(self, begin, end, policy, scenario=None, seed=None, ax=None):
        """One run between two instants, in seconds: for each client its operations on the device (start to end; where
        contexts take turns that holds time away), its frames from start to present, red where missed, and the stretches
        in which its gate held it, with the rule. Operations need `record: { operations: all }`.

        >>> axes = corun.open(QUICK).plot.timeline(0.5, 0.7, "nvshare")
        >>> [label.get_text() for label in axes.get_yticklabels()]
        ['game: frames', 'game: held', 'train: held']
        """
        run = self._results.run_id(policy, seed, scenario)
        span = (int(begin * 1e9), int(end * 1e9))
        lanes = self._lanes(run, span)
        if not lanes:
            raise InputError(f"{self._results.path}: nothing of policy `{policy}` is recorded "
                             f"from {begin:g} to {end:g} s")
        ax = _axes(ax, (9, 0.55 * len(lanes) + 1.1))
        for place, (_, draw) in enumerate(lanes):
            draw(ax, place)
        ax.set_yticks(range(len(lanes)), [name for name, _ in lanes])
        ax.set(xlim=(begin * 1e3, end * 1e3), ylim=(len(lanes) - 0.4, -0.6), xlabel="time of the run (ms)",
               title=f"{policy} (red: missed frames)")
        ax.grid(axis="y", visible=False)
        return ax

    def _lanes(self, run, span):
        """(name, function that draws it at a height) for everything that there is of a run."""
        def rows(query):
            return self._results.cursor(query, (run, *span)).fetchall()

        frames = rows("SELECT client, number, start_ns, gpu_begin_ns, gpu_end_ns, present_ns, missed FROM frames "
                      "WHERE run = ? AND present_ns > ? AND start_ns < ? ORDER BY present_ns")
        operations = rows("SELECT client, begin_ns, end_ns FROM operations "
                          "WHERE run = ? AND end_ns > ? AND begin_ns < ?")
        holds = rows("SELECT client, begin_ns, end_ns, rule FROM holds WHERE run = ? AND end_ns > ? AND begin_ns < ? "
                     "ORDER BY begin_ns")
        clients = [row[0] for row in self._results.cursor(
            "SELECT client FROM metrics WHERE run = ? AND client <> 'device' GROUP BY client ORDER BY min(rowid)",
            (run,))]
        lanes = []
        for place, client in enumerate(clients):
            colour = _CLIENTS[place % len(_CLIENTS)]
            for kind, all_rows, draw in (("frames", frames, _draw_frames),
                                         ("on the device", operations, _draw_operations), ("held", holds, _draw_holds)):
                its = [row[1:] for row in all_rows if row[0] == client]
                if its:
                    lanes.append((f"{client}: {kind}", _bound(draw, its, colour, span)))
        return lanes

    def _frames(self, client, scenario, policies):
        frames = self._results.frame_times(client=client)
        if policies is not None:
            frames = frames[frames.policy.isin(policies)]
        return self._one_of(frames, scenario, f"frames of client `{client}`", "SELECT DISTINCT client FROM frames")

    def _refuse_sweep(self):
        if self._results.is_sweep:
            raise InputError(f"{self._results.path}: a sweep has a value for each point: draw "
                             "results.summary(...).merge(results.points, on=\"point\")")

    def _figure(self, name, scenario):
        """Mean and interval by policy of one metric of one client."""
        self._refuse_sweep()
        client, _, metric = name.rpartition(".")
        rows = self._results.summary(metric)
        name_of = "metric" if rows.empty else "client || '.' || metric"
        there = f"SELECT DISTINCT {name_of} FROM metrics"
        rows = self._one_of(rows[rows.client == client] if client and not rows.empty else rows, scenario,
                            f"metric `{name}`", there)
        if rows.client.nunique() > 1:
            raise InputError(f"several clients have `{metric}`: name one, as in \"{rows.client.iloc[0]}.{metric}\"")
        return rows.set_index("policy")

    def _one_of(self, rows, scenario, what, there):
        """The rows of one scenario. `there` is the query for the names that could have been meant."""
        scenarios = [] if rows.empty else list(rows.scenario.unique())
        if scenario is None and len(scenarios) > 1:
            raise InputError(f"{what}: choose one of the scenarios {', '.join(scenarios)} by `scenario`")
        if not scenarios or scenario not in (None, *scenarios):
            names = scenarios or sorted(row[0] for row in self._results.cursor(there))
            raise InputError(f"{self._results.path}: no {what}" + (f" in scenario `{scenario}`" if scenario else "")
                             + f": there are {', '.join(names) or 'none'}")
        return rows if scenario is None else rows[rows.scenario == scenario]


def _axes(ax, size):
    if ax is None:
        _, ax = pyplot.subplots(figsize=size, constrained_layout=True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color="#e6e6e6", linewidth=0.6)
    ax.set_axisbelow(True)
    return ax


def _plain_ticks(axis):
    """Numbers without powers of ten, at 1, 2 and 5 of a decade."""
    def text(value, _):
        return f"{value:g}" if f"{value:.0e}"[0] in "125" else ""

    axis.set_major_formatter(FuncFormatter(text))
    axis.set_minor_formatter(FuncFormatter(text))


def _bars(row):
    """Lengths of an error bar; None without an interval."""
    if row.lo is None or row.lo != row.lo:
        return None
    return [[max(row.value - row.lo, 0)], [max(row.hi - row.value, 0)]]


def _label(figure):
    first = figure.iloc[0]
    who = "" if first.client == "device" else f"{first.client}: "
    return f"{who}{first.metric} ({first.unit})"


def _beats(across, up, other, policy):
    """Whether a policy is at least as good as another in both metrics, and better in one."""
    pairs = [(_worth(figure, other), _worth(figure, policy)) for figure in (across, up)]
    return all(mine >= its for mine, its in pairs) and any(mine > its for mine, its in pairs)


def _together(across, up, policies):
    """Policies by the point at which they stand, so that equal ones share a label."""
    wide, high = (max(figure.value.max() - figure.value.min(), 1e-12) for figure in (across, up))
    points = {}
    for policy in policies:
        here = (across.value[policy], up.value[policy])
        near = [at for at in points if abs(at[0] - here[0]) < 0.02 * wide and abs(at[1] - here[1]) < 0.02 * high]
        points.setdefault(near[0] if near else here, []).append(policy)
    return points


def _worth(figure, policy):
    from corun.core import _core

    value, first = figure.value[policy], figure.iloc[0]
    return -value if _core.is_better_small(first.metric, first.unit) else value


def _bound(draw, rows, colour, span):
    return lambda ax, place: draw(ax, place, rows, colour, span)


def _draw_operations(ax, place, rows, colour, _):
    ax.broken_barh([(begin / 1e6, (end - begin) / 1e6) for begin, end in rows], (place - 0.25, 0.5), color=colour,
                   linewidth=0)


def _draw_frames(ax, place, rows, colour, span):
    for number, start, gpu_begin, gpu_end, present, missed in rows:
        edge = _LATE if missed else colour
        ax.broken_barh([(start / 1e6, (present - start) / 1e6)], (place - 0.3, 0.6), facecolor="none", edgecolor=edge)
        ax.broken_barh([(gpu_begin / 1e6, (gpu_end - gpu_begin) / 1e6)], (place - 0.3, 0.6), color=edge, alpha=0.35,
                       linewidth=0)
        _write_in(ax, place, str(number), (start, present), span)


def _draw_holds(ax, place, rows, colour, span):
    rules = list(dict.fromkeys(rule for _, _, rule in rows))
    for begin, end, rule in rows:
        ax.broken_barh([(begin / 1e6, (end - begin) / 1e6)], (place - 0.2, 0.4), facecolor=colour,
                       alpha=0.25 + 0.3 * (rules.index(rule) % 3), linewidth=0)
        _write_in(ax, place, rule, (begin, end), span)


def _write_in(ax, place, text, interval, span):
    """Text in the middle of what is seen of an interval, where there is room for it."""
    begin, end = max(interval[0], span[0]), min(interval[1], span[1])
    if end - begin > len(text) * (span[1] - span[0]) / 110:
        ax.text((begin + end) / 2e6, place, text, ha="center", va="center", fontsize=7)
