"""How results look: numbers, a summary as text, tables as HTML. Names come from files and are escaped."""

import html


def number(value):
    """Four significant digits, and nothing for what is missing."""
    if value is None or value != value:
        return ""
    return f"{value:.4g}" if abs(value) < 10_000 else f"{value:.0f}"


def estimate(row):
    """"60.0 [59.8, 60.2] (57.1 to 60.0)": with its interval unless there is none or it is a point, and with its band
    where there is one."""
    if row is None:
        return ""
    has_interval = row["lo"] is not None and row["lo"] != row["hi"]
    interval = f" [{number(row['lo'])}, {number(row['hi'])}]" if has_interval else ""
    band = f" ({number(row['band_lo'])} to {number(row['band_hi'])})" if row.get("band_lo") is not None else ""
    return number(row["value"]) + interval + band


def summary_grid(rows):
    """(headings, lines) of a summary by scenario, policy and client, from the rows of Results.summary as dicts."""
    from corun.core import _core

    found = {(row["scenario"], row["policy"], row["client"], row["metric"]): row for row in rows}
    units = {row["metric"]: row["unit"] for row in rows}
    metrics = [metric for metric in _core.summary_metrics() if metric in units]
    keys = list(dict.fromkeys((row["scenario"], row["policy"], row["client"])
                              for row in rows if row["metric"] in metrics))
    headings = ["scenario", "policy", "client", *(_heading(metric, units[metric]) for metric in metrics)]
    return headings, [[*key, *(estimate(found.get((*key, metric))) for metric in metrics)] for key in keys]


def _heading(metric, unit):
    stated = metric.endswith(("_ms", "_per_s", "_ratio")) or unit == "ratio"
    return metric if stated else f"{metric} ({unit})"


def text_table(headings, lines):
    """Columns of text, aligned."""
    widths = [max(len(line[column]) for line in [headings, *lines]) for column in range(len(headings))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip()
                     for line in [headings, *lines])


def html_table(headings, lines, caption=""):
    """A table; everything in it is text."""
    def row(tag, cells):
        return "<tr>" + "".join(f"<{tag}>{html.escape(_shown(cell))}</{tag}>" for cell in cells) + "</tr>"

    body = "".join(row("td", line) for line in lines)
    return (f"<table><caption>{html.escape(caption)}</caption><thead>{row('th', headings)}</thead>"
            f"<tbody>{body}</tbody></table>")


def _shown(cell):
    return "" if cell is None else number(cell) if isinstance(cell, float) else str(cell)
