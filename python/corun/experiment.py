"""Questions: what `simcli` reads from a YAML file, in Python."""

import copy
import json
import os
import pathlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from corun.core import _core
from corun.errors import InputError

if TYPE_CHECKING:
    from corun.policy import Policy

Source = str | os.PathLike[str] | Mapping[str, Any]

__all__ = ["Experiment"]


class Experiment:
    """A question: which clients, on which device, under which policies (docs/experiment.md). Immutable.

    `source` is the path of a YAML file, YAML text (with a line break in it), or a dict with the same keys. Relative
    paths in text and dicts begin at `folder`, by default the working folder. `policies` are subclasses of corun.Policy
    that the experiment may name. Lengths of time, rates and sizes are text with a unit: "300us", "60fps", "16GiB".

    Reading checks everything that the text states; raises InputError with all that is wrong, each with line and column,
    in the words of `simcli check`.

    >>> experiment = corun.Experiment(PAIR)
    >>> experiment.name, len(experiment.plan())
    ('pair', 4)
    >>> corun.Experiment("name: x\\nhorizon: 5")                              # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    corun.errors.InputError: error[E0202]: found `5`, expected a duration from 1us to 87600h
    """

    def __init__(self, source: Source, folder: str | os.PathLike[str] | None = None,
                 policies: "Iterable[type[Policy]]" = ()) -> None:
        self._text, self._file = _read(source, folder)
        self._policies = tuple(policies)
        self._sets: tuple[str, ...] = ()
        self._core = self._parse()

    def _parse(self, seeds: Sequence[int] = (), until: str | None = None,
               expands_sweep: bool = False) -> "_core.Experiment":
        return _core.read(self._text, self._file, list(self._sets), list(self._policies), list(seeds), until,
                          expands_sweep)

    @property
    def name(self) -> str:
        """As written in the experiment.

        >>> corun.Experiment(PAIR).name
        'pair'
        """
        return self._core.name

    @property
    def description(self) -> str:
        """As written in the experiment; "" where it has none.

        >>> corun.Experiment(PAIR).set("description", "Who pays?").description
        'Who pays?'
        """
        return self._core.description

    @property
    def scenarios(self) -> list[str]:
        """The names of its scenarios, in order.

        >>> corun.Experiment(PAIR).scenarios
        ['pair']
        """
        return self._core.scenarios

    @property
    def output(self) -> str | None:
        """The results file that the experiment names; None if it names none.

        >>> corun.Experiment(PAIR).output is None
        True
        """
        return self._core.output or None

    def set(self, path: str, value: object) -> "Experiment":
        """The experiment with one value changed, as `simcli run --set path=value` does: `path` is made of keys, names
        of clients and policies, and [indices]; `value` is what YAML would give, or text as in YAML.

        >>> quick = corun.Experiment(PAIR).set("horizon", "1s").set("policies.nvshare.quantum", "20ms")
        >>> quick.plan()[-1]["horizon_ns"]
        1000000000
        """
        changed = copy.copy(self)
        changed._sets = (*self._sets, f"{path}={value if isinstance(value, str) else json.dumps(value)}")
        changed._core = changed._parse()
        return changed

    def check(self) -> "Experiment":
        """Reads the captures as well and looks whether each policy finds what it needs. Returns the experiment.

        Raises InputError or UnsupportedError, whose text is that of `simcli check`.

        >>> corun.Experiment(PAIR).check().name
        'pair'
        """
        self._core.check()
        return self

    def plan(self) -> list[dict[str, Any]]:
        """The runs, in order, as dicts: `id` (hash of everything that decides the result), `scenario`, `policy`,
        `parameters`, `seed`, `device`, `horizon_ns`, `warmup_ns`.

        >>> [(run["policy"], run["seed"]) for run in corun.Experiment(PAIR).plan()]
        [('passthrough', 1), ('passthrough', 2), ('nvshare', 1), ('nvshare', 2)]
        """
        return self._core.plan()

    def __repr__(self) -> str:
        return f"<corun.Experiment {self.name} ({self._file}): {len(self.plan())} runs>"


def _read(source: Source, folder: str | os.PathLike[str] | None) -> tuple[str, str]:
    """The text of an experiment and the name that its errors give it."""
    if isinstance(source, Mapping):
        return _dump(dict(source)), os.path.join(folder or "", "<dict>")
    if isinstance(source, str) and "\n" in source:
        return source, os.path.join(folder or "", "<text>")
    if folder is not None:
        raise InputError("`folder` is for text and dicts: relative paths in a file begin at the folder of the file")
    path = pathlib.Path(source)
    try:
        return path.read_text(encoding="utf-8"), str(source)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}: expected the path of an experiment, YAML text or a dict") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: byte {error.start} is not UTF-8: expected an experiment") from None


def _dump(value: object) -> str:
    """YAML: JSON is."""
    try:
        return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InputError(f"an experiment is made of dicts, lists, text, numbers, True and False: {error}") from None
