"""How results look: numbers, a summary as text, tables as HTML. Names come from files and are escaped."""

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]


def number(value: float | None) -> str:
    """Three significant digits, as tables of `simcli` have, and nothing for what is missing."""
    if value is None or value != value:
        return ""
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def estimate(row: Row) -> str:
    """"60 ±0.2": a mean with the farther end of its interval, unless that is below 0.2 % of it."""
    farther = 0.0 if row["lo"] is None else max(row["hi"] - row["value"], row["value"] - row["lo"])
    return number(row["value"]) + (f" ±{farther:.1g}" if farther > 0.002 * abs(row["value"]) else "")


def rate(row: Row | None) -> str:
    """"60 ±0.2 fps (57.1 to 60)": with its unit, and with its band where there is one."""
    if row is None:
        return ""
    band = f" ({number(row['band_lo'])} to {number(row['band_hi'])})" if row["band_lo"] is not None else ""
    return f"{estimate(row)} {'/s' if row['unit'] == '1/s' else row['unit']}{band}"


# A client's rate is the first of these that it has; a figure of jobs, and what clients have that show none.
_RATES = ("fps_mean", "throughput_per_s")
_OF_JOBS = "job_time_p99_ms"
_IN_ITS_PLACE = ("fps_mean", "job_interval_p99_ms")
_SHARED = ("device", "cluster")


def summary_grid(rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    """(headings, lines) of a summary, from the rows of Results.summary as dicts: a line for each scenario, policy and
    client, with its rate and the other main metrics that some of them have. What belongs to the device stands with the
    first client that is no game."""
    from corun.core import _core

    figures: dict[tuple[str, str, str], dict[str, Row]] = {}
    for row in rows:
        figures.setdefault((row["scenario"], row["policy"], row["client"]), {})[row["metric"]] = row
    cells = {key: _cells(key, figures) for key in figures if key[2] not in _SHARED or _is_alone(key, figures)}
    headings = {row["metric"]: row for row in _core.metrics()}
    shown = [metric for metric in _core.summary_metrics() if metric not in _RATES
             and any(metric in its for its in cells.values())]
    if not any(its["quality_mean"]["value"] < 1 for its in cells.values() if "quality_mean" in its):
        shown = [metric for metric in shown if metric != "quality_mean"]
    lines = []
    for key, its in cells.items():
        lines.append([*key, rate(next((its[metric] for metric in _RATES if metric in its), None)),
                      *(estimate(its[metric]) if metric in its else "" for metric in shown)])
    return ["scenario", "policy", "client", "rate", *(_heading(headings[metric]) for metric in shown)], lines


def _is_alone(key: tuple[str, str, str], figures: Mapping[tuple[str, str, str], Any]) -> bool:
    return key[2] == "cluster" or all(other[2] in _SHARED for other in figures if other[:2] == key[:2])


def _cells(key: tuple[str, str, str], figures: Mapping[tuple[str, str, str], dict[str, Row]]) -> dict[str, Row]:
    """The figures that stand in the line of a client."""
    others = [other for other in figures if other[:2] == key[:2] and other[2] not in _SHARED]
    jobs = [other for other in others if "fps_mean" not in figures[other]]
    of_device = figures.get((*key[:2], "device"), {}) if key == (jobs or others or [key])[0] else {}
    shows_jobs = not any(metric in figures[key] for metric in _IN_ITS_PLACE)
    own = {metric: row for metric, row in figures[key].items() if metric != _OF_JOBS or shows_jobs}
    return {metric: row for metric, row in of_device.items() if metric not in _RATES} | own


def _heading(metric: Row) -> str:
    unit = "" if metric["unit"] in ("", "ratio") else f" ({metric['unit']})"
    return f"{metric['heading'] or metric['metric'].replace('_', ' ')}{unit}"


def short_grid(headings: Sequence[str], lines: Sequence[Sequence[str]],
               most: int = 40) -> tuple[list[str], list[list[str]]]:
    """The same without a column of scenarios where there is one alone, without names that stand in the line above, and
    with the first `most` lines."""
    first = 1 if len({line[0] for line in lines}) < 2 else 0
    shown = []
    for above, line in zip([[""] * len(headings), *lines], lines[:most]):
        is_same = [above[: place + 1] == line[: place + 1] and place < 2 for place in range(len(line))]
        shown.append(["" if same else cell for same, cell in zip(is_same, line)][first:])
    return list(headings[first:]), shown


def text_table(headings: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Columns of text, aligned."""
    widths = [max(len(line[column]) for line in [headings, *lines]) for column in range(len(headings))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip()
                     for line in [headings, *lines])


def html_table(headings: Iterable[object], lines: Iterable[Iterable[object]], caption: str = "") -> str:
    """A table; everything in it is text."""
    def row(tag: str, cells: Iterable[object]) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(_shown(cell))}</{tag}>" for cell in cells) + "</tr>"

    body = "".join(row("td", line) for line in lines)
    return (f"<table><caption>{html.escape(caption)}</caption><thead>{row('th', headings)}</thead>"
            f"<tbody>{body}</tbody></table>")


def _shown(cell: object) -> str:
    return "" if cell is None else number(cell) if isinstance(cell, float) else str(cell)


def listed(names: Sequence[str], most: int = 80) -> str:
    """Names in one line: as many as fit into `most` letters, then how many more there are.

    >>> corun.layout.listed(["start_ns", "end_ns", "name"], most=20)
    'start_ns, end_ns and 1 more'
    """
    shown = list(names[:1])
    while len(shown) < len(names) and len(", ".join([*shown, names[len(shown)]])) <= most:
        shown.append(names[len(shown)])
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
