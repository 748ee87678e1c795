"""Columns that are handed over and not copied."""

from typing import TYPE_CHECKING, Any

from corun.core import _core
from corun.layout import html_table, listed

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from corun._core import Column

__all__ = ["Table"]


class Table:
    """Named columns of equal length: integers (int64), reals (float64) or text.

    pandas, polars, pyarrow, DuckDB and others take it as it is, by the Arrow PyCapsule interface; a column without
    missing integers offers its memory as a buffer, so `numpy.asarray(table["present_ns"])` copies nothing. Missing
    values are None; missing reals are NaN in the buffer. Immutable; what was handed out keeps the memory alive.

    >>> table = corun.open(QUICK).table("frames", policy="passthrough", client="game")
    >>> table.columns[:5]
    ['scenario', 'policy', 'seed', 'run', 'client']
    >>> memoryview(table["present_ns"]).format, len(table) == len(table["present_ns"])
    ('q', True)
    """

    def __init__(self, columns: "_core.Table") -> None:
        self._columns = columns

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in order.

        >>> corun.open(QUICK).table("kills").columns[-2:]
        ['lost_ns', 'restored_ns']
        """
        return self._columns.columns

    def __len__(self) -> int:
        """The number of rows."""
        return len(self._columns)

    def __getitem__(self, name: str) -> "Column":
        """One column, with `name`, `type` ("integer", "real", "text"), `missing` (how many), `[row]`, `to_list()`, the
        Arrow interface and, where no integer is missing, the buffer protocol. KeyError lists the columns there are."""
        return self._columns[name]

    def to_pandas(self) -> "pandas.DataFrame":
        """A DataFrame that shares the memory of numbers. Text becomes categorical; integers of which some are missing
        become the nullable Int64. Those two are copied.

        >>> corun.open(QUICK).table("frames").to_pandas().client.dtype.name
        'category'
        """
        import pandas

        return pandas.DataFrame({name: _pandas_column(self[name]) for name in self.columns}, copy=False)

    def to_polars(self) -> "polars.DataFrame":
        """A polars DataFrame. Text becomes categorical. Needs polars 1.3 or newer, else ImportError.

        >>> corun.open(QUICK).table("frames").to_polars().group_by("policy").len()  # doctest: +SKIP
        """
        import polars

        return polars.DataFrame(self)

    def to_arrow(self) -> "pyarrow.Table":
        """A pyarrow Table; text is dictionary-encoded. Needs pyarrow 14 or newer, else ImportError.

        >>> corun.open(QUICK).table("frames").to_arrow().num_rows  # doctest: +SKIP
        """
        import pyarrow

        return pyarrow.table(self)

    def __arrow_c_schema__(self) -> object:
        return self._columns.__arrow_c_schema__()

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return self._columns.__arrow_c_array__(requested_schema)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._columns.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return f"<corun.Table: {len(self)} rows of {listed(self.columns)}>"

    def _repr_html_(self) -> str:
        shown = 10
        columns = [self[name] for name in self.columns]
        rows = [[column[row] for column in columns] for row in range(min(shown, len(self)))]
        return html_table(self.columns, rows, f"{len(self)} rows, the first {len(rows)} shown")


def _pandas_column(column: "Column") -> Any:
    import numpy
    import pandas

    if column.type == "text":
        return pandas.Categorical.from_codes(column.codes, column.words)
    if column.type == "integer" and column.missing:
        return pandas.array(column.to_list(), dtype="Int64")
    return numpy.asarray(column)
