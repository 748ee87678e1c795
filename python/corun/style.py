"""How figures look: colours, sizes, and files that are the same for the same figure."""

import contextlib
import os
import pathlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from corun.core import _core
from corun.errors import InputError

try:
    from cycler import cycler
    from matplotlib import pyplot
    from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator
except ImportError as error:
    raise ImportError(f"pictures need pandas and matplotlib ({error}): pip install \"corun[plots]\"") from error

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PAPER", "SCREEN", "Style", "client_colours", "policy_colours", "save", "use"]

LATE = "#b3261e"
GRID, LINE, SOFT = "#e6e6e6", "#999999", "#bbbbbb"
# The parts of a frame, with their numbers of the palette, as in reports.
_PART_HUES = {"host_ns": ("host", 4), "queued_ns": ("gate and queue", 1), "own_ns": ("own work", 0),
              "away_ns": ("others on the device", 3), "until_shown_ns": ("done, until shown", 2)}
_METADATA: dict[str, dict[str, Any]] = {".png": {"Software": None}, ".pdf": {"CreationDate": None},
                                       ".svg": {"Date": None}}


@dataclass(frozen=True)
class Style:
    """Sizes of a figure: `width` in inches, or None for the one of each kind of figure, and matplotlib's settings."""

    width: float | None = None
    settings: dict[str, Any] = field(default_factory=dict)

    @contextlib.contextmanager
    def applied(self) -> Iterator[None]:
        """Its settings, for as long as something is drawn."""
        with pyplot.rc_context(self.settings):
            yield

    def axes(self, ax: "Axes | None", size: tuple[float, float]) -> "Axes":
        """`ax`, or new axes of a figure of this size or of the style's width, without a frame and with a quiet grid."""
        if ax is None:
            width, height = size if self.width is None else (self.width, max(size[1] * self.width / size[0], 2.0))
            _, ax = pyplot.subplots(figsize=(width, height), constrained_layout=True)
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(color=GRID, linewidth=0.6)
        ax.set_axisbelow(True)
        return ax


SCREEN = Style(None, {"axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": GRID,
                      "grid.linewidth": 0.6, "axes.axisbelow": True, "legend.framealpha": 0.8,
                      "legend.edgecolor": "none",
                      "axes.prop_cycle": cycler(color=_core.colours())})
# A column of a two-column page, in type of 7 and 8 points.
PAPER = Style(3.35, SCREEN.settings | {
    "font.size": 8, "axes.titlesize": 8, "axes.labelsize": 8, "xtick.labelsize": 7, "ytick.labelsize": 7,
    "legend.fontsize": 7, "axes.linewidth": 0.6, "xtick.major.width": 0.6, "ytick.major.width": 0.6,
    "lines.linewidth": 1.0, "lines.markersize": 4})


def use(style: Style = SCREEN) -> None:
    """Gives figures of your own the looks of these, from now on: axes without a frame, a quiet grid, and the palette as
    matplotlib's "C0" to "C8".

    >>> corun.style.use()
    """
    pyplot.rcParams.update(style.settings)


def policy_colours(names: Iterable[str]) -> dict[str, str]:
    """The colour of each policy, "#rrggbb": the one that reports give it. The main policies have the same in all
    figures, whatever else is in them.

    >>> corun.style.policy_colours(["nvshare", "pilotfish"])["pilotfish"]
    '#0072b2'
    """
    policies, colours = list(dict.fromkeys(names)), _core.colours()
    return {policy: colours[look % len(colours)] for policy, look in zip(policies, _core.looks(policies))}


def client_colours(names: Iterable[str]) -> dict[str, str]:
    """The colour of each client, by its place.

    >>> len(set(corun.style.client_colours(["game", "train"]).values()))
    2
    """
    colours, looks = _core.colours(), _core.client_looks()
    return {client: colours[looks[place % len(looks)]] for place, client in enumerate(dict.fromkeys(names))}


def frame_parts() -> dict[str, tuple[str, str]]:
    """(name, colour) of each part of a frame, by its column in Results.frame_times."""
    colours = _core.colours()
    return {column: (name, colours[hue]) for column, (name, hue) in _PART_HUES.items()}


def save(ax: "Axes", path: str | os.PathLike[str]) -> pathlib.Path:
    """Writes the whole figure of `ax` as `.pdf`, `.svg` or `.png` and returns the path. Text in a PDF stays text. Equal
    figures give equal files. Raises InputError for another ending.

    >>> axes = corun.open(QUICK).plot.paper.frame_tail("game")
    >>> corun.style.save(axes, os.path.join(os.path.dirname(QUICK), "tail.pdf")).name
    'tail.pdf'
    """
    target = pathlib.Path(path)
    if target.suffix not in _METADATA:
        raise InputError(f"{target}: a figure is saved as {', '.join(_METADATA)}")
    with pyplot.rc_context({"pdf.fonttype": 42, "svg.hashsalt": "corun"}):
        ax.figure.savefig(target, dpi=200, metadata=_METADATA[target.suffix])
    return target


def plain_ticks(axis: Any) -> None:
    """Numbers without powers of ten on a logarithmic axis: at 1, 2 and 5 of a decade, or some round ones within one."""
    low, high = axis.get_view_interval()
    if high < 10 * low:
        axis.set_major_locator(MaxNLocator(6))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_locator(NullLocator())
        return

    def text(value: float, _: object) -> str:
        return f"{value:g}" if f"{value:.0e}"[0] in "125" else ""

    axis.set_major_formatter(FuncFormatter(text))
    axis.set_minor_formatter(FuncFormatter(text))
