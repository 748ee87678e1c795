"""What the metrics of results mean."""

from typing import TYPE_CHECKING

from corun.core import _core
from corun.tables import as_table

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["metrics"]


def metrics() -> "DataFrame":
    """The metrics that runs can give, a row each.

    Columns: `metric`, `unit`, `of` (what has it: "client", "client with frames", "device", "cluster", ...), `better`
    ("more", "less" or "neither"), `heading` (of its column in tables, and of axes; may be empty), `meaning`,
    `definition` (what the meaning leaves open, may be empty), and `counts_from_zero` (a run in which nothing of the
    kind happened has no such row, and counts as 0).

    >>> table = corun.metrics()
    >>> list(table.meaning[table.metric == "frame_time_p99_ms"])
    ['99th percentile of frame times, from present to present']
    """
    return as_table(_core.metrics())
