"""Advice: may programs share a GPU, and what does each get? How many sessions of a game, or servers, does one hold?"""

import json
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from corun.core import _core

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["Advice", "Fit", "advise", "fit"]


def _words(values: Mapping[str, object] | None, unit: str = "") -> list[str]:
    """{"a": 31} as ["a=31/s"]; text has its unit already, and mappings and lists become YAML."""
    return [f"{name}={_word(value, unit)}" for name, value in (values or {}).items()]


def _word(value: object, unit: str) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value) if isinstance(value, (dict, list)) else f"{value}{unit}"


class Advice(dict[str, Any]):
    """What `simcli advise --json` says, as nested dicts; printed, it is the verdict."""

    def __str__(self) -> str:
        return str(self["text"]).strip()

    def __repr__(self) -> str:
        return f"<corun.Advice: {_first_line(self)}>"

    @property
    def shares(self) -> "DataFrame":
        """What each program gets in each way that was tried, as a table (pandas): the way's `basis`
        (docs/mechanisms.md); middles of `kept` and `p99_ms`, of servers also of `ttft_p99_ms` and `tpot_p99_ms`, with
        the ends between which 90 % of measured figures lie, which were predicted so (NaN where none were measured); and
        of servers whether their `promises` are kept."""
        import pandas
        return pandas.DataFrame([
            {"way": way["label"], "mode": way["mode"], "basis": way["basis"], "program": program["name"],
             **{name + end: value for name, band in _figures_of(program)
                for end, value in (("", _middle(program.get(name))), ("_low", program.get(band, {}).get("low")),
                                   ("_high", program.get(band, {}).get("high")))},
             **_promises_of(program)}
            for way in self["ways"] if not way["impossible"] for program in way["programs"]])

    def _repr_html_(self) -> str:
        import html
        names = [program["name"] for program in next((way["programs"] for way in self["ways"] if way["programs"]), [])]
        kept = "".join(f"<th>{html.escape(name)} keeps</th>" for name in names)
        head = f"<tr><th>way</th><th>basis</th>{kept}</tr>"
        rows = "".join(
            f"<tr><td>{html.escape(way['label'])}</td><td>{html.escape(way['basis'])}</td>"
            + "".join(f"<td>{_kept(program)}</td>" for program in way["programs"])
            + (f"<td>{html.escape(way['impossible'])}</td>" if way["impossible"] else "") + "</tr>"
            for way in self["ways"])
        return f"<p>{html.escape(str(self))}</p><table>{head}{rows}</table>"


def _figures_of(program: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Figures with their bands."""
    served = [("ttft_p99_ms", "ttft_p99_band"), ("tpot_p99_ms", "tpot_p99_band")] if "promises" in program else []
    return [("kept", "kept_band"), ("p99_ms", "p99_band"), *served]


def _promises_of(server: Mapping[str, Any]) -> dict[str, str]:
    """The worst state of a server's promises, and nothing of other programs."""
    if "promises" not in server:
        return {}
    states = [promise["state"] for promise in server["promises"]]
    return {"promises": max(states, key=["kept", "close", "in_doubt", "broken"].index, default="kept")}


def _first_line(answer: "Advice | Fit") -> str:
    return str(answer).partition("\n")[0]


def _middle(spread: Mapping[str, float] | None) -> float | None:
    return (spread["low"] + spread["high"]) / 2 if spread else None


def _kept(program: Mapping[str, Any]) -> str:
    """"0.68 (0.64 to 0.87)", as in the table of `simcli advise`."""
    low, high = (f"{program['kept'][end]:.2f}" for end in ("low", "high"))
    band = program.get("kept_band")
    return (low if low == high else f"{low} to {high}") + (
        f" ({band['low']:.2f} to {band['high']:.2f})" if band else " (no band)")


def advise(traces: Iterable[str | os.PathLike[str]], *, gpu: str = "",
           solo_rate: Mapping[str, float | str] | None = None, keep: Mapping[str, float] | None = None,
           p99: Mapping[str, str] | None = None, fps: Mapping[str, float] | None = None,
           keys: Mapping[str, object] | None = None, modes: Iterable[str] = (), policies: Iterable[str] = (),
           most_work: bool = False, largest_load: bool = False) -> Advice:
    """Simulates the programs of `traces` in all ways of sharing `gpu` and says which is best.

    Programs are called as their files, without endings; an experiment file stands for all of its clients. `solo_rate`
    {"a": 31} are steps per second alone; `keep` {"a": 0.9}, `p99` {"a": "30ms"} and `fps` {"game": 60} are promises;
    `keys` {"game.pacing": "60fps"} are keys of clients: {"chat.server": {...}} makes a server of a captured engine,
    whose `slo` is its promise. `policies` are tried, too; `largest_load` searches the largest load that keeps the
    server's promises. Raises InputError where a word or a capture is wrong.

    >>> name = "resnet50_train_bs64"
    >>> advice = corun.advise([CAPTURE, CAPTURE], solo_rate={name: 31, name + "_2": 31}, modes=["time_sliced", "mps"])
    >>> advice["verdict"], advice["best"], len(advice["ways"])
    ('share', 'MPS', 2)
    >>> advice.shares.query("mode == 'mps'")[["program", "kept"]].round(2).values.tolist()
    [['resnet50_train_bs64', 0.58], ['resnet50_train_bs64_2', 0.58]]
    """
    text = _core.advise([os.fspath(trace) for trace in traces], _words(solo_rate, "/s"), _words(keys), _words(keep),
                        _words(p99), _words(fps), list(modes), list(policies), gpu, most_work, largest_load)
    return Advice(json.loads(text))


class Fit(dict[str, Any]):
    """What `simcli fit --json` says, as nested dicts; printed, it is the sentence."""

    def __str__(self) -> str:
        return str(self["text"]).strip()

    def __repr__(self) -> str:
        return f"<corun.Fit: {_first_line(self)}>"

    @property
    def points(self) -> "DataFrame":
        """All points of all curves as a table (pandas): policy with its basis, fillers, sessions, whether
        they hold, worst figures, of servers as `chat_ttft_p99_ms`."""
        import pandas
        return pandas.DataFrame([
            {"policy": curve["policy"], "basis": curve["basis"], "has_fillers": curve["has_fillers"],
             "sessions": point["sessions"], "holds": point["holds"],
             **{name: _middle(point[name]) for name in _FIGURES if name in point},
             **{f"{filler}_kept": _middle(kept) for filler, kept in point["kept"].items()},
             **{f"{server}_{name}": _middle(its[name]) for server, its in point["servers"].items()
                for name in ("ttft_p99_ms", "tpot_p99_ms") if name in its}}
            for curve in self["curves"] for point in curve["points"]])

    def _repr_html_(self) -> str:
        import html
        return f"<p>{html.escape(str(self))}</p>{self.points.to_html(index=False)}"


_FIGURES = ("fps_mean", "fps_1low", "frame_time_p99_ms", "missed_frame_ratio", "quality_mean", "copies_kept")


def fit(game: str | os.PathLike[str], fps: float = 60, *, beside: Iterable[str | os.PathLike[str]] = (),
        gpu: str = "", quality: str = "", policies: Iterable[str] = (), p99: str = "", low: float | None = None,
        missed: float | None = None, most: int = 64, solo_rate: Mapping[str, float | str] | None = None,
        keys: Mapping[str, object] | None = None) -> Fit:
    """Simulates more and more sessions of the game of a capture until they hold `fps` no longer, more and more servers
    until they keep their promises no longer, or copies of a program until a server next to them does not.

    `beside` are captures of programs that run, too; `p99` "20ms", `low` and `missed` are what a session must hold;
    `solo_rate` and `keys` are as of advise(), and so are experiment files. Raises InputError where a word or a capture
    is wrong.

    >>> found = corun.fit("traces/samples/h200/openarena_4k.corun", most=2)
    >>> found["fits"], found["curves"][0]["sessions"], len(found.points)
    (True, 1, 2)
    """
    text = _core.fit(os.fspath(game), [os.fspath(trace) for trace in beside], _words(solo_rate, "/s"), _words(keys),
                     list(policies), f"{fps:g}", p99, "" if low is None else f"{low:g}",
                     "" if missed is None else f"{missed:g}", quality, str(most), gpu)
    return Fit(json.loads(text))
