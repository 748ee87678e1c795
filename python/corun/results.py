"""What a results file of `simcli run` says: its tables, samples, summary and pictures."""

import json
import os
import pathlib
import shlex
import tempfile
from typing import TYPE_CHECKING, Any

from corun import inside, layout
from corun.errors import InputError, check_name
from corun.tables import Tables, as_table, planned_runs, unpacked

if TYPE_CHECKING:
    from pandas import DataFrame

    from corun.plots import Plots

# (scenario, policy, client, metric, unit), in a sweep with the number of the point in front.
SampleKey = tuple[Any, ...]

_GROUP = ("scenario", "policy", "client", "metric", "unit")
_UNITS = {"": "", "ns": "_ns", "B": "_bytes", "/s": "_per_s"}
_WHOLE = {"ns", "B"}


def open(path: str | os.PathLike[str]) -> "Results":
    """Opens a results file of `simcli run` or corun.run for reading, as Results. One whose name ends in `.gz` is
    unpacked into a temporary file that goes with the object.

    Raises InputError if it does not exist, is not a results file, or was written by a newer Corun.

    >>> len(corun.open(QUICK).runs)
    10
    """
    if not os.fspath(path).endswith(".gz"):
        return Results(path)
    folder = tempfile.TemporaryDirectory(prefix="corun-")
    try:
        return Results(unpacked(path, folder.name), folder)
    except Exception:
        folder.cleanup()
        raise


class Results(Tables):
    """A results file, opened read-only; close it with `close()` or a `with` block.

    The tables are read anew each time they are asked for, so a file that a run is still writing shows what it has.
    Not for use from several threads at once. In a notebook it shows its summary. `path` is the file. Opening one raises
    what corun.open raises.

    >>> with corun.open(QUICK) as results:
    ...     len(results.runs), results.backends
    (10, ['simulation'])
    """

    @property
    def backends(self) -> list[str]:
        """Where the runs took place: of "simulation", "gpu" (simcli execute, validate) and "live".

        >>> corun.open(QUICK).backends
        ['simulation']
        """
        return [row[0] for row in self.cursor("SELECT DISTINCT backend FROM runs WHERE error IS NULL ORDER BY backend")]

    @property
    def revision(self) -> str:
        """Revision of what simulations compute, of its runs (`simcli version` names that of new ones); "0" of files
        from before there were revisions. The numbers of two revisions differ for that alone.

        >>> corun.open(QUICK).revision.isdigit()
        True
        """
        has_properties = self.cursor("SELECT 1 FROM sqlite_master WHERE name = 'properties'").fetchone()
        found = has_properties and self.cursor(
            "SELECT value FROM properties WHERE key = 'results_revision'").fetchone()
        return str(found[0]) if found else "0"

    def samples(self, metric: str | None = None,
                backend: str | None = None) -> dict[SampleKey, dict[int, float]]:
        """The values by seed, {seed: value}, of every (scenario, policy, client, metric, unit), in the order of the
        plan; failed runs are left out, and what a run counts none of is 0. `metric` keeps one metric: InputError for
        what is no metric, nothing where no run has it. `backend` is one of `backends`; InputError where there are
        several and none is chosen. In a sweep, keys have the number of the point in front.

        >>> samples = corun.open(QUICK).samples("fps_mean")
        >>> sorted(samples["pair", "nvshare", "game", "fps_mean", "fps"])
        [1, 2, 3, 4, 5]
        """
        return {key: values for key, values, _, _ in self._samples(metric, backend)}

    def summary(self, metric: str | None = None, backend: str | None = None) -> "DataFrame":
        """Mean over seeds with its 95 % interval (Student's t), by scenario, policy, client and metric.

        Columns: scenario, policy, client, metric, unit, value, lo, hi, n, band_lo, band_hi. `lo` and `hi` are missing
        where n is less than 3. Between `band_lo` and `band_hi` lie 90 % of measured figures that were predicted so
        (docs/metrics.md); missing where no such figure was ever compared with real programs.
        Failed runs are not in it. `metric` and `backend` are those of `samples`. A sweep has the column `point` in
        front, to be merged with `points`.

        >>> low = corun.open(QUICK).summary("fps_1low")
        >>> list(low.columns), list(low.n)
        (['scenario', 'policy', 'client', 'metric', 'unit', 'value', 'lo', 'hi', 'n', 'band_lo', 'band_hi'], [5, 5])
        """
        return as_table(self._summary_rows(metric, backend))

    def basis(self) -> "DataFrame":
        """How it is known what each policy does on its device: "compared", "calibrated", "stated", "data sheet" or
        "never compared" (docs/mechanisms.md); "" where nothing is shared, where it was measured, and of older files.

        Columns: scenario, backend, policy, basis.

        >>> corun.open(QUICK).basis()[["policy", "basis"]].values.tolist()
        [['passthrough', 'compared'], ['nvshare', 'compared']]
        """
        from corun.core import _core

        contents = json.loads(_core.report_contents(self.path, ""))
        return as_table([{"scenario": scenario["name"], "backend": scenario["backend"], "policy": setting["label"],
                          "basis": setting["basis"]}
                         for scenario in contents["scenarios"] for setting in scenario["settings"]])

    def warnings(self) -> list[str]:
        """Sentences on runs that look too short for what is said of them: frame times that had not settled after the
        warm-up in more than half of the seeds (MSER-5 on the run's whole series), or fewer than 100 frames for a 99th
        percentile. Only of what was recorded: `record: { frames: all }`.

        >>> corun.open(QUICK).warnings()[0].partition(":")[0]
        'pair, nvshare, game'
        """
        from corun.core import _core

        return _core.horizon_warnings(self.path)

    def run_id(self, policy: str, seed: int | None = None, scenario: str | None = None) -> str:
        """The id of one run, as `runs.id` and the column `run` of the tables have it: of `policy` with `seed`, or with
        the least one. Raises InputError where there is none, or where several scenarios have one and none is named.

        >>> results = corun.open(QUICK)
        >>> results.run_id("nvshare", seed=2) in set(results.runs.id)
        True
        """
        return inside.run_id(self, policy, seed, scenario)

    def frame_times(self, scenario: str | None = None, policy: str | None = None, client: str | None = None,
                    warmup: bool = False) -> "DataFrame":
        """One row per frame that was shown in [warmup, horizon), the ones that metrics count, with where its time went;
        all in integer nanoseconds. `warmup` keeps the frames before as well. The other arguments keep one of each.

        Columns: `scenario`, `policy`, `seed`, `run`, `client`, `number`, `start_ns`, `present_ns`; `frame_time_ns`,
        from the present before to this one (missing for a run's first); and the parts from start to present,
        `host_ns` (until its first work was submitted), `queued_ns` (until that began on the device: gate and queue),
        `own_ns` (on the device), `away_ns` (between its first and last work, while others had the device or none had),
        `until_shown_ns` (from the end of its work to its present); `missed`.

        >>> frames = corun.open(QUICK).frame_times(policy="passthrough", client="game")
        >>> parts = frames[["host_ns", "queued_ns", "own_ns", "away_ns", "until_shown_ns"]].sum(axis=1)
        >>> bool((parts == frames.present_ns - frames.start_ns).all())
        True
        """
        return inside.frame_times(self, scenario, policy, client, warmup)

    def device_time(self, begin_ns: float, end_ns: float, policy: str, seed: int | None = None,
                    scenario: str | None = None) -> dict[str, int]:
        """Device time of each client in [begin_ns, end_ns) of one run (as in run_id), as {client: nanoseconds}. An
        operation that reaches over an end counts in proportion. Needs `record: { operations: all }`, else InputError.

        >>> experiment = corun.Experiment(PAIR).set("record", {"operations": "all"})
        >>> results = corun.run(experiment, until="300ms", seed=1)
        >>> sorted(results.device_time(100_000_000, 200_000_000, "passthrough"))
        ['game', 'train']
        """
        return inside.device_time(self, begin_ns, end_ns, policy, seed, scenario)

    @property
    def plot(self) -> "Plots":
        """Pictures of these results: corun.plots.Plots. Needs pandas and matplotlib (`pip install "corun[plots]"`).

        >>> [name for name in dir(corun.open(QUICK).plot) if not name.startswith("_")]
        ['effects', 'frame_parts', 'frame_tail', 'frame_times', 'frontier', 'heatmap', 'paper', 'save', 'sweep',
         'timeline']
        """
        from corun.plots import Plots

        return Plots(self)

    @property
    def is_sweep(self) -> bool:
        """Whether the runs are at points of a sweep.

        >>> corun.open(QUICK).is_sweep
        False
        """
        return self.has("points") and self.cursor("SELECT 1 FROM points LIMIT 1").fetchone() is not None

    @property
    def points(self) -> "DataFrame":
        """The points of a sweep, a row each: `point`, its number, and a column for each parameter. Numbers are in base
        units, named by the end of the column's name: `nvshare.quantum_ns`, `_bytes`, `_per_s`.

        >>> swept = corun.sweep(PAIR, {"nvshare.quantum": ["10ms", "20ms"], "horizon": ["200ms"]}, seed=1)
        >>> list(swept.points.columns)
        ['point', 'nvshare.quantum_ns', 'horizon_ns']
        """
        rows: dict[int, dict[str, Any]] = {}
        if self.is_sweep:
            for point, parameter, value, number, unit in self.cursor("SELECT * FROM points ORDER BY rowid"):
                row = rows.setdefault(point, {"point": point})
                row[parameter + _UNITS[unit]] = value if number is None else int(number) if unit in _WHOLE else number
        return as_table(list(rows.values()))

    def hash(self) -> str:
        """A hash of plan, points and all rows of runs but wall times: 32 hex digits, equal for equal results however
        many workers and interruptions they took, as `simcli hash` prints it.

        >>> len(corun.open(QUICK).hash())
        32
        """
        from corun.core import _core

        return _core.results_hash(self.path)

    def findings(self, baseline: str | None = None) -> list[str]:
        """What the results say, in the sentences of the closing table of `simcli run`: expectations, met or not, and
        what the policies keep and give, scenario by scenario; with `baseline`, the sentences of `simcli compare` with
        this policy behind them. Empty where there is nothing to compare with. Raises InputError for another baseline.

        >>> for sentence in corun.open(QUICK).findings():
        ...     print(sentence.partition(" fps")[0])
        passthrough keeps game at 60.0
        """
        from corun.core import _core

        self.check_names(policy=baseline)
        contents = json.loads(_core.report_contents(self.path, baseline or ""))
        many = len(contents["scenarios"]) > 1
        found = []
        for scenario in contents["scenarios"]:
            name, backend = scenario["name"], scenario["backend"]
            effects = [effect["text"] for effect in contents["effects"]
                       if baseline and (effect["scenario"], effect["backend"]) == (name, backend)]
            verdicts = [f"{'met' if verdict['holds'] else 'not met'}: {verdict['text']}"
                        for verdict in scenario["verdicts"]]
            found += [f"{name}: {text}" if many else text for text in [*verdicts, *scenario["sentences"], *effects]]
        return found

    def report(self, output: str | os.PathLike[str], *, baseline: str | None = None,
               overwrite: bool = False) -> pathlib.Path:
        """Writes these results as one HTML page, the one of `simcli report` (docs/report.md), and returns its path.
        `baseline` is the policy that others are compared with, by default the first. Raises InputError where `output`
        is there already, unless `overwrite`, and for a baseline that no run has.

        >>> page = corun.open(QUICK).report(os.path.join(os.path.dirname(QUICK), "quick.html"), overwrite=True)
        >>> page.read_text().startswith("<!doctype html>")
        True
        """
        from corun.core import _core

        self.check_names(policy=baseline)
        path = pathlib.Path(output)
        if path.exists() and not overwrite:
            raise InputError(f"{path}: exists: give another `output`, or `overwrite=True`")
        command = ["simcli", "report", self.path, "-o", str(path), *(["--baseline", baseline] if baseline else [])]
        path.write_text(_core.report(self.path, baseline or "", shlex.join(command)), encoding="utf-8")
        return path

    def _samples(self, metric: str | None, backend: str | None) -> list[tuple[SampleKey, dict[int, float], Any, Any]]:
        """(key, values by seed, ends of the band) in the order of the plan, in a sweep point by point."""
        from corun.core import _core

        rows = _core.samples(self.path, inside.one_backend(self, backend) or "")
        if metric is not None:
            known = [row[4] for row in rows] + [row["metric"] for row in _core.metrics()]
            check_name(metric, known, "metric", self.path)
        rows = sorted((row for row in rows if metric in (None, row[4])), key=lambda row: row[0] or 0)
        return [(row[:6] if self.is_sweep else row[1:6], row[6], row[7], row[8]) for row in rows]

    def _summary_rows(self, metric: str | None = None, backend: str | None = None) -> list[dict[str, Any]]:
        from corun.statistics import mean_interval

        rows = []
        group = ("point", *_GROUP) if self.is_sweep else _GROUP
        for key, values, band_low, band_high in self._samples(metric, backend):
            value, low, high = mean_interval(values.values())
            rows.append(dict(zip(group, key)) | {"value": value, "lo": low, "hi": high, "n": len(values),
                                                 "band_lo": band_low, "band_hi": band_high})
        return rows

    def _grid(self) -> tuple[list[str], list[list[str]]] | None:
        """Headings and lines of the summary; None for a sweep and where the compiled part is absent, which it needs."""
        if self.is_sweep:
            return None
        try:
            there = self.backends
            rows = [row | ({"policy": f"{row['policy']} ({backend})"} if len(there) > 1 else {})
                    for backend in there for row in self._summary_rows(backend=backend)]
            return layout.summary_grid(rows)
        except ImportError:
            return None

    def _headline(self) -> str:
        runs = planned_runs(self, "policy, error")
        failed = sum(1 for _, error in runs if error is not None)
        policies = ", ".join(dict.fromkeys(policy for policy, _ in runs))
        count = self.cursor("SELECT count(DISTINCT point) FROM points").fetchone()[0] if self.is_sweep else 0
        points = f" at {count} points" if count else ""
        return f"{self.path}: {len(runs)} runs{points} ({failed} failed), policies {policies}"

    def _shown(self) -> tuple[list[str], list[list[str]], str]:
        """Headings and lines of what is shown of it, and how many lines are left out."""
        headings, lines = self._grid() or ([], [])
        short_headings, short_lines = layout.short_grid(headings, lines)
        left_out = len(lines) - len(short_lines)
        return short_headings, short_lines, f"and {left_out} more lines: see summary()" if left_out else ""

    def __repr__(self) -> str:
        headings, lines, more = self._shown()
        table = f"\n{layout.text_table(headings, lines)}" if lines else ""
        return f"<corun.Results {self._headline()}>" + table + (f"\n{more}" if more else "")

    def _repr_html_(self) -> str:
        headings, lines, more = self._shown()
        return layout.html_table(headings, lines, self._headline() + (f"; {more}" if more else ""))
