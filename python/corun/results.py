"""The results file of `simcli run`: one SQLite file, its tables, and their summary."""

import os
import pathlib
import sqlite3

from corun.intervals import mean_interval

try:
    import pandas
except ImportError:
    pandas = None

SCHEMA_VERSION = 2
_EXPECTED = "expected a results file of `simcli run`"
_GROUP = ("scenario", "policy", "client", "metric", "unit")
# The rows of `runs` are stored by id; those of `metrics` keep the order in which the runs were planned.
_RUNS = """SELECT runs.* FROM runs LEFT JOIN (SELECT run, min(rowid) AS first FROM metrics GROUP BY run) ON run = id
           ORDER BY first IS NULL, first"""


class InputError(ValueError):
    """A file that is not what it should be. Says where, what was found and what to do."""


def open(path):
    """Opens a results file for reading.

    Raises InputError if it does not exist, is not a results file, or was written by a newer Corun.
    """
    return Results(path)


class Results:
    """A results file, opened read-only; close it with `close()` or a `with` block.

    The tables are read anew each time they are asked for, so a file that a run is still writing shows what it has.
    Not for use from several threads at once.
    """

    def __init__(self, path):
        self.path = os.fspath(path)
        if not os.path.isfile(self.path):
            raise InputError(f"{self.path}: no such file: `simcli run EXPERIMENT.yaml` writes one")
        self._connection = sqlite3.connect(pathlib.Path(self.path).absolute().as_uri() + "?mode=ro", uri=True)
        try:
            self._check()
        except Exception:
            self.close()
            raise

    def _check(self):
        try:
            tables = {row[0] for row in self._connection.execute("SELECT name FROM sqlite_master")}
            version = self._connection.execute("PRAGMA user_version").fetchone()[0]
        except sqlite3.DatabaseError as error:
            raise InputError(f"{self.path}: {error}: {_EXPECTED}") from None
        missing = {"runs", "metrics"} - tables
        if missing:
            raise InputError(f"{self.path}: has no table {', '.join(sorted(missing))}: {_EXPECTED}")
        if version > SCHEMA_VERSION:
            raise InputError(f"{self.path}: schema {version} is newer than {SCHEMA_VERSION}: update this package")

    def close(self):
        self._connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def runs(self):
        """One row per run, in the order of the plan, failed ones last: `id` (hash of the canonical run), `experiment`,
        `scenario`, `policy`, `parameters`, `seed`, ..., `error` (null if none)."""
        return self.sql(_RUNS)

    @property
    def metrics(self):
        """Long form: `run`, `client`, `metric`, `value`, `unit`."""
        return self.sql("SELECT * FROM metrics")

    @property
    def frames(self):
        """One row per presented frame, as far as the experiment recorded them."""
        return self._optional("frames")

    @property
    def decisions(self):
        """One row per decision a policy took, as far as the experiment recorded them."""
        return self._optional("decisions")

    @property
    def holds(self):
        """One row per stretch of time in which a client's operations waited at its gate for one reason."""
        return self._optional("holds")

    @property
    def kills(self):
        """One row per kill: when, the device time lost, when the client was restored."""
        return self._optional("kills")

    @property
    def refusals(self):
        """One row per client that was turned away with an error, and why."""
        return self._optional("refusals")

    @property
    def operations(self):
        """One row per device operation, as far as the experiment recorded them."""
        return self._optional("operations")

    def summary(self, metric=None):
        """Mean over seeds with its 95 % interval (Student's t), by scenario, policy, client and metric.

        Columns: scenario, policy, client, metric, unit, value, lo, hi, n. `lo` and `hi` are missing where n is 1.
        Failed runs are not in it. `metric` keeps one metric.

        >>> results.summary("fps_1low")                                             # doctest: +SKIP
        """
        groups = {}
        for row in self._metric_rows(metric):
            groups.setdefault(tuple(row[:-1]), []).append(row[-1])
        rows = []
        for key, values in groups.items():
            value, low, high = mean_interval(values)
            rows.append(dict(zip(_GROUP, key)) | {"value": value, "lo": low, "hi": high, "n": len(values)})
        return _table(rows)

    def sql(self, query, parameters=()):
        """The rows of a read-only SQL query."""
        cursor = self._connection.execute(query, parameters)
        names = [column[0] for column in cursor.description]
        if pandas is not None:
            return pandas.DataFrame.from_records(cursor.fetchall(), columns=names)
        return [dict(zip(names, row)) for row in cursor]

    def _optional(self, table):
        known = self._connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        return self.sql(f"SELECT * FROM {table}") if known else _table([])

    def _metric_rows(self, metric):
        return self._connection.execute(
            "SELECT runs.scenario, runs.policy, m.client, m.metric, m.unit, m.value"
            " FROM metrics m JOIN runs ON runs.id = m.run"
            " WHERE runs.error IS NULL AND (?1 IS NULL OR m.metric = ?1) ORDER BY m.rowid", (metric,))

    def __repr__(self):
        runs = self._connection.execute(f"SELECT policy, error FROM ({_RUNS})").fetchall()
        failed = sum(1 for _, error in runs if error is not None)
        policies = ", ".join(dict.fromkeys(policy for policy, _ in runs))
        return f"<corun.Results {self.path}: {len(runs)} runs ({failed} failed), policies {policies}>"

    def _repr_html_(self):
        summary = self.summary()
        return summary.to_html(index=False) if pandas is not None else None


def _table(rows):
    return rows if pandas is None else pandas.DataFrame(rows)
