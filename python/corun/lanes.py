"""The lanes of a timeline: what there is of each client in a stretch of a run, and how it is drawn."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from corun.style import LATE, client_colours
from corun.tables import Tables

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["lanes"]

Span = tuple[int, int]
Draw = Callable[["Axes", int], None]


def lanes(results: Tables, run: str, span: Span) -> list[tuple[str, Draw]]:
    """(name, function that draws it at a height) for everything that there is of a run in `span`, in nanoseconds."""
    def rows(query: str) -> list[tuple[Any, ...]]:
        return results.cursor(query, (run, *span)).fetchall()

    frames = rows("SELECT client, number, start_ns, gpu_begin_ns, gpu_end_ns, present_ns, missed FROM frames "
                  "WHERE run = ? AND present_ns > ? AND start_ns < ? ORDER BY present_ns")
    operations = rows("SELECT client, begin_ns, end_ns FROM operations "
                      "WHERE run = ? AND end_ns > ? AND begin_ns < ?")
    holds = rows("SELECT client, begin_ns, end_ns, rule FROM holds WHERE run = ? AND end_ns > ? AND begin_ns < ? "
                 "ORDER BY begin_ns")
    clients = [row[0] for row in results.cursor(
        "SELECT client FROM metrics WHERE run = ? AND client <> 'device' GROUP BY client ORDER BY min(rowid)", (run,))]
    found = []
    for client, colour in client_colours(clients).items():
        for kind, all_rows, draw in (("frames", frames, _draw_frames),
                                     ("on the device", operations, _draw_operations), ("held", holds, _draw_holds)):
            its = [row[1:] for row in all_rows if row[0] == client]
            if its:
                found.append((f"{client}: {kind}", _bound(draw, its, colour, span)))
    return found


def _bound(draw: Callable[..., None], rows: Sequence[Any], colour: str, span: Span) -> Draw:
    return lambda ax, place: draw(ax, place, rows, colour, span)


def _draw_operations(ax: "Axes", place: int, rows: Sequence[Any], colour: str, _: Span) -> None:
    ax.broken_barh([(begin / 1e6, (end - begin) / 1e6) for begin, end in rows], (place - 0.25, 0.5), color=colour,
                   linewidth=0)


def _draw_frames(ax: "Axes", place: int, rows: Sequence[Any], colour: str, span: Span) -> None:
    for number, start, gpu_begin, gpu_end, present, missed in rows:
        edge = LATE if missed else colour
        ax.broken_barh([(start / 1e6, (present - start) / 1e6)], (place - 0.3, 0.6), facecolor="none", edgecolor=edge)
        ax.broken_barh([(gpu_begin / 1e6, (gpu_end - gpu_begin) / 1e6)], (place - 0.3, 0.6), color=edge, alpha=0.35,
                       linewidth=0)
        _write_in(ax, place, str(number), (start, present), span)


def _draw_holds(ax: "Axes", place: int, rows: Sequence[Any], colour: str, span: Span) -> None:
    rules = list(dict.fromkeys(rule for _, _, rule in rows))
    for begin, end, rule in rows:
        ax.broken_barh([(begin / 1e6, (end - begin) / 1e6)], (place - 0.2, 0.4), facecolor=colour,
                       alpha=0.25 + 0.3 * (rules.index(rule) % 3), linewidth=0)
        _write_in(ax, place, rule, (begin, end), span)


def _write_in(ax: "Axes", place: int, text: str, interval: Span, span: Span) -> None:
    """Text in the middle of what is seen of an interval, where there is room for it."""
    begin, end = max(interval[0], span[0]), min(interval[1], span[1])
    letters = 12 * ax.figure.get_size_inches()[0]  # that the whole span has room for
    if end - begin > len(text) * (span[1] - span[0]) / letters:
        ax.text((begin + end) / 2e6, place, text, ha="center", va="center", fontsize=7)
