"""Errors, by the side that has to act. The same four kinds as the exit codes of `simcli`."""

import difflib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from corun.results import Results


class Error(Exception):
    """What the package raises. Its text is what `simcli` prints: where, what was found and expected, what to do.

    `diagnostics` lists everything that is wrong as dicts with `code`, `file`, `line`, `column`, `message`, `label`,
    `notes` and `help`; lines and columns count from 1, 0 is "not known". `code`, `file`, `line` and `column` are those
    of the first. `results` is there where runs failed or were cut off: what they gave so far.

    >>> try:
    ...     corun.Experiment(PAIR).set("devise", "h200")
    ... except corun.InputError as error:
    ...     print(error.code, error.line, error.column, error.diagnostics[0]["label"])
    E0201 1 1 did you mean `device`?
    """

    results: "Results"

    def __init__(self, text: str, diagnostics: Iterable[Mapping[str, Any]] = ()) -> None:
        super().__init__(text)
        self.diagnostics = list(diagnostics)
        first = self.diagnostics[0] if self.diagnostics else {}
        self.code: str | None = first.get("code")
        self.file: str | None = first.get("file")
        self.line: int = first.get("line", 0)
        self.column: int = first.get("column", 0)


class InputError(Error, ValueError):
    """A file, an experiment or an argument that is not what it should be: the user's turn.

    >>> try:
    ...     corun.open("no-such.sqlite")
    ... except corun.InputError as error:
    ...     print(error)
    no-such.sqlite: no such file: `simcli run EXPERIMENT.yaml` writes one
    """


class UnsupportedError(Error):
    """This build, capture or machine cannot do it."""


class DeviceError(Error):
    """The device or the operating system failed: no memory, no space on the disk."""


class PolicyError(Error):
    """A policy raised an exception or asked for what is not allowed: its author's turn. The text has the simulated time
    and, for a policy in Python, the traceback.

    >>> class Fails(corun.Policy):
    ...     def decide(self, view, act):
    ...         raise ZeroDivisionError("of mine")
    >>> try:
    ...     corun.run(corun.Experiment(PAIR, policies=[Fails]).set("policies", ["fails"]), until="100ms")
    ... except corun.PolicyError as error:
    ...     print("ZeroDivisionError: of mine" in str(error), len(error.results.runs))
    True 2
    """


# Names that a message lists: behind near ones, and where there are none.
_MOST_BEHIND_NEAR, _MOST_LISTED = 12, 40


def near_names(name: str, known: Iterable[str]) -> list[str]:
    """Up to four of `known` that may have been meant: what begins like it, then what is spelt like it.

    >>> corun.errors.near_names("fps", ["harvest_ratio", "fps_mean", "fps_1low"])
    ['fps_mean', 'fps_1low']
    >>> corun.errors.near_names("nvshar", ["passthrough", "nvshare"])
    ['nvshare']
    """
    known = list(dict.fromkeys(known))
    longer = [other for other in known if name and other.startswith(name)]
    return list(dict.fromkeys([*longer, *difflib.get_close_matches(name, known, n=4)]))[:4]


def check_name(name: str | None, known: Iterable[str], what: str, where: str) -> None:
    """Raises InputError where `name` is given and none of `known`, which are `what` (as in "metric") of `where`.

    >>> corun.errors.check_name("fps_maen", ["fps_mean", "fps_1low"], "metric", "results.sqlite")
    Traceback (most recent call last):
    corun.errors.InputError: results.sqlite: no metric `fps_maen`: did you mean `fps_mean`? there are fps_mean, fps_1low
    """
    known = list(dict.fromkeys(known))
    if name is None or name in known:
        return
    near = " or ".join(f"`{other}`" for other in near_names(name, known))
    most = _MOST_BEHIND_NEAR if near else _MOST_LISTED
    there = f"there are {', '.join(known[:most]) or 'none'}" + (", ..." if len(known) > most else "")
    raise InputError(f"{where}: no {what} `{name}`: {f'did you mean {near}? ' if near else ''}{there}")


_KINDS: dict[int, type[Error]] = {2: InputError, 3: UnsupportedError, 4: DeviceError, 5: PolicyError}


def from_core(kind: int, text: str, diagnostics: Iterable[Mapping[str, Any]]) -> Error:
    """The exception of an error of the compiled part; `kind` is simcli's exit code."""
    return _KINDS[kind](text.strip("\n"), diagnostics)
