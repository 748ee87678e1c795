"""Advice: may captured programs share a GPU, in which way, and what does each get?"""

import json
import os
from collections.abc import Iterable, Mapping

from corun.core import _core

__all__ = ["Advice", "advise"]


def _words(values: Mapping[str, object] | None, unit: str = "") -> list[str]:
    """{"a": 31} as ["a=31/s"]; text has its unit already."""
    return [f"{name}={value if isinstance(value, str) else f'{value}{unit}'}" for name, value in (values or {}).items()]


class Advice(dict):
    """What `simcli advise --json` says, as nested dicts; printed, it is the verdict."""

    def __str__(self) -> str:
        return self["text"].strip()

    def _repr_html_(self) -> str:
        import html
        rows = "".join(
            f"<tr><td>{html.escape(way['label'])}</td>"
            + "".join(f"<td>{program['kept']['low']:.2f} to {program['kept']['high']:.2f}</td>"
                      for program in way["programs"])
            + (f"<td>{html.escape(way['impossible'])}</td>" if way["impossible"] else "") + "</tr>"
            for way in self["ways"])
        return f"<p>{html.escape(str(self))}</p><table>{rows}</table>"


def advise(traces: Iterable[str | os.PathLike[str]], *, gpu: str = "h200",
           solo_rate: Mapping[str, float | str] | None = None, keep: Mapping[str, float] | None = None,
           p99: Mapping[str, str] | None = None, fps: Mapping[str, float] | None = None,
           keys: Mapping[str, object] | None = None, modes: Iterable[str] = (), most_work: bool = False) -> Advice:
    """Simulates the programs of `traces` in all ways of sharing `gpu` and says which is best.

    Programs are called as their files, without endings. `solo_rate` {"a": 31} are steps per second alone; `keep`
    {"a": 0.9}, `p99` {"a": "30ms"} and `fps` {"game": 60} are promises; `keys` {"game.pacing": "60fps"} are keys of
    clients. Raises InputError where a word or a capture is wrong.

    >>> name = "resnet50_train_bs64"
    >>> advice = corun.advise([CAPTURE, CAPTURE], solo_rate={name: 31, name + "_2": 31}, modes=["time_sliced", "mps"])
    >>> advice["verdict"], advice["best"], len(advice["ways"])
    ('share', 'MPS', 2)
    """
    text = _core.advise([os.fspath(trace) for trace in traces], _words(solo_rate, "/s"), _words(keys), _words(keep),
                                _words(p99), _words(fps), list(modes), gpu, most_work)
    return Advice(json.loads(text))
