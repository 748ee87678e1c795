"""The tables of a results file of `simcli run`, one SQLite file: opening it, reading it."""

import gzip
import importlib
import os
import pathlib
import sqlite3
import tempfile
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from corun.errors import InputError, check_name

if TYPE_CHECKING:
    from pandas import DataFrame

    from corun.table import Table


def _pandas_or_none() -> Any:
    try:
        return importlib.import_module("pandas")
    except ImportError:
        return None


pandas = _pandas_or_none()

SCHEMA_VERSION = 2
_EXPECTED = "expected a results file of `simcli run`"
# The rows of `runs` are stored by id; those of `metrics` keep the order in which the runs were planned.
_RUNS = """SELECT runs.* FROM runs LEFT JOIN (SELECT run, min(rowid) AS first FROM metrics GROUP BY run) ON run = id
           ORDER BY first IS NULL, first"""


def unpacked(path: str | os.PathLike[str], folder: str) -> str:
    """The path of a gzipped file's content, written into `folder`. Raises InputError where it cannot be read."""
    target = os.path.join(folder, pathlib.Path(path).stem)
    try:
        most = max(64 << 20, 100 * os.path.getsize(path))  # a file that grows more was made to
        with gzip.open(path) as packed, open(target, "wb") as file:
            while block := packed.read(1 << 20):
                file.write(block)
                if file.tell() > most:
                    raise InputError(f"{path}: expands to more than {most} bytes, as no results file of its size does")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (OSError, EOFError) as error:
        raise InputError(f"{path}: {error}: expected a gzip file") from None
    return target


class Tables:
    """The tables of a results file, opened read-only: see Results."""

    def __init__(self, path: str | os.PathLike[str],
                 folder: "tempfile.TemporaryDirectory[str] | None" = None) -> None:
        self.path = os.fspath(path)
        self._folder = folder  # of a file that goes with this object
        if not os.path.isfile(self.path):
            raise InputError(f"{self.path}: no such file: `simcli run EXPERIMENT.yaml` writes one")
        self._connection = sqlite3.connect(pathlib.Path(self.path).absolute().as_uri() + "?mode=ro", uri=True)
        try:
            self._check()
        except Exception:
            self.close()
            raise

    def _check(self) -> None:
        try:
            kinds = dict(self._connection.execute(
                "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view')"))
            version = self._connection.execute("PRAGMA user_version").fetchone()[0]
        except sqlite3.DatabaseError as error:
            raise InputError(f"{self.path}: {error}: {_EXPECTED}") from None
        missing = {"runs", "metrics"} - kinds.keys()
        if missing:
            raise InputError(f"{self.path}: has no table {', '.join(sorted(missing))}: {_EXPECTED}")
        for name, kind in kinds.items():
            if kind == "view":  # one that never ends would be read to its end
                raise InputError(f"{self.path}: `{name}` is no table, but computed when it is read: {_EXPECTED}")
        if version > SCHEMA_VERSION:
            raise InputError(f"{self.path}: schema {version} is newer than {SCHEMA_VERSION}: update this package")
        try:
            from corun.core import _core
        except ImportError:  # sources alone read tables, too
            return
        _core.check_results(self.path)

    def close(self) -> None:
        """Closes the file; results that corun.run wrote to no file of yours are gone then.

        >>> results = corun.run(PAIR, until="100ms", seed=1)
        >>> results.close()
        >>> os.path.exists(results.path)
        False
        """
        self._connection.close()
        if self._folder is not None:
            self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def runs(self) -> "DataFrame":
        """One row per run, in the order of the plan, failed ones last: `id` (hash of the canonical run), `experiment`,
        `scenario`, `policy`, `parameters`, `seed`, `horizon_ns`, ..., `error` (null if none).

        >>> runs = corun.open(QUICK).runs
        >>> list(runs.policy)[:6], bool(runs.error.isna().all())
        (['passthrough', 'passthrough', 'passthrough', 'passthrough', 'passthrough', 'nvshare'], True)
        """
        return self.sql(_RUNS)

    @property
    def metrics(self) -> "DataFrame":
        """Long form: `run`, `client`, `metric`, `value`, `unit` of the value.

        >>> metrics = corun.open(QUICK).metrics
        >>> list(metrics[metrics.metric == "fps_mean"].unit.unique())
        ['fps']
        """
        return self.sql("SELECT * FROM metrics")

    @property
    def frames(self) -> "DataFrame":
        """One row per presented frame, as far as the experiment recorded them; times are in nanoseconds since the run
        began.

        >>> bool((corun.open(QUICK).frames.present_ns > 0).all())
        True
        """
        return self._optional("frames")

    @property
    def decisions(self) -> "DataFrame":
        """One row per decision a policy took, as far as the experiment recorded them: `time_ns`, `action`, `client`,
        ...

        >>> sorted(corun.open(QUICK).decisions.action.unique())
        ['admit', 'open']
        """
        return self._optional("decisions")

    @property
    def holds(self) -> "DataFrame":
        """One row per stretch of time in which a client's operations waited at its gate for one reason, its `rule`.

        >>> holds = corun.open(QUICK).holds
        >>> bool((holds.end_ns >= holds.begin_ns).all()), "lock" in set(holds.rule)
        (True, True)
        """
        return self._optional("holds")

    @property
    def kills(self) -> "DataFrame":
        """One row per kill: `time_ns`, `lost_ns` of device time, `restored_ns` (null where the client never was).

        >>> len(corun.open(QUICK).kills)
        0
        """
        return self._optional("kills")

    @property
    def refusals(self) -> "DataFrame":
        """One row per client that was turned away with an error, and why: `time_ns`, `rule`, `needed`, `available`,
        `unit`.

        >>> len(corun.open(QUICK).refusals)
        0
        """
        return self._optional("refusals")

    @property
    def requests(self) -> "DataFrame":
        """One row per request that a server answered, as far as the experiment recorded them: `arrival_ns`,
        `first_token_ns`, `end_ns`, tokens of `prompt` and `output`.

        >>> requests = corun.run(SERVING, until="5s", seed=1).requests
        >>> bool((requests.first_token_ns > requests.arrival_ns).all()), bool((requests.output >= 1).all())
        (True, True)
        """
        return self._optional("requests")

    @property
    def operations(self) -> "DataFrame":
        """One row per device operation, as far as the experiment recorded them: `record: { operations: all }`.

        >>> experiment = corun.Experiment(PAIR).set("record", {"operations": "all"})
        >>> operations = corun.run(experiment, until="100ms", seed=1).operations
        >>> bool((operations.end_ns >= operations.begin_ns).all())
        True
        """
        return self._optional("operations")

    def table(self, name: str, scenario: str | None = None, policy: str | None = None,
              client: str | None = None) -> "Table":
        """One table as a corun.Table, whose columns pandas, polars and Arrow share: `name` is "frames", "decisions",
        "holds", "kills", "refusals", "requests", "operations" or "metrics", with the `scenario`, `policy` and `seed` of
        its runs in front. The other arguments keep one of each. docs/results.md describes the columns.

        >>> frames = corun.open(QUICK).table("frames", policy="nvshare")
        >>> frames["seed"].to_list()[-1], frames["present_ns"].missing
        (5, 0)
        """
        from corun.core import _core
        from corun.table import Table

        tables = [row[0] for row in self.cursor(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'runs'")]
        check_name(name, tables, "table", self.path)
        self.check_names(scenario, policy, client)
        chosen = [(column, value) for column, value in
                  (("runs.scenario", scenario), ("runs.policy", policy), ("t.client", client)) if value is not None]
        where = " AND ".join(f"{column} = ?{place}" for place, (column, _) in enumerate(chosen, 1)) or "1"
        query = (f"SELECT runs.scenario, runs.policy, runs.seed, t.* FROM {name} t JOIN runs ON runs.id = t.run "
                 f"WHERE {where} ORDER BY t.rowid")
        return Table(_core.query(self.path, query, [value for _, value in chosen]))

    def sql(self, query: str, parameters: "Sequence[object] | Mapping[str, object]" = ()) -> "DataFrame":
        """The rows of a read-only SQL query.

        >>> list(corun.open(QUICK).sql("SELECT count(*) AS runs FROM runs").columns)
        ['runs']
        """
        cursor = self.cursor(query, parameters)
        names = [column[0] for column in cursor.description]
        if pandas is None:
            return as_table([dict(zip(names, row)) for row in cursor])
        frame: DataFrame = pandas.DataFrame.from_records(cursor.fetchall(), columns=names)
        return frame

    def cursor(self, query: str, parameters: "Sequence[object] | Mapping[str, object]" = ()) -> sqlite3.Cursor:
        """The same as a cursor of the standard library's sqlite3.

        >>> corun.open(QUICK).cursor("SELECT count(*) FROM runs WHERE seed > ?", (3,)).fetchone()
        (4,)
        """
        return self._connection.execute(query, parameters)

    def has(self, table: str) -> bool:
        """Whether the file has the table.

        >>> corun.open(QUICK).has("frames")
        True
        """
        return self.cursor("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone() is not None

    def check_names(self, scenario: str | None = None, policy: str | None = None, client: str | None = None) -> None:
        """Raises InputError where one is given that no run of the file has, with those that may have been meant.

        >>> corun.open(QUICK).check_names(policy="nvshar")                   # doctest: +ELLIPSIS
        Traceback (most recent call last):
        corun.errors.InputError: ...: no policy `nvshar`: did you mean `nvshare`? there are nvshare, passthrough
        """
        for what, name, query in (("scenario", scenario, "SELECT DISTINCT scenario FROM runs ORDER BY 1"),
                                  ("policy", policy, "SELECT DISTINCT policy FROM runs ORDER BY 1"),
                                  ("client", client, "SELECT DISTINCT client FROM metrics ORDER BY 1")):
            if name is not None:
                check_name(name, [row[0] for row in self.cursor(query)], what, self.path)

    def _optional(self, table: str) -> "DataFrame":
        return self.sql(f"SELECT * FROM {table}") if self.has(table) else as_table([])


def planned_runs(tables: Tables, columns: str) -> list[tuple[Any, ...]]:
    """Columns of `runs` as tuples, in the order of the plan, failed ones last."""
    return tables.cursor(f"SELECT {columns} FROM ({_RUNS})").fetchall()


def as_table(rows: list[dict[str, Any]]) -> "DataFrame":
    """Dicts as a DataFrame where pandas is installed, else as they are."""
    frame: Any = rows if pandas is None else pandas.DataFrame(rows)
    return frame
