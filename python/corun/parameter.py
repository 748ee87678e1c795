"""Parameters of policies: described once, checked wherever an experiment sets them.

A subclass of corun.Policy states them as class attributes; in a policy they are plain values: integer nanoseconds for
durations, numbers, True or False, text, a dict from client name to number.
"""

from collections.abc import Sequence
from typing import Any, Generic, TypeVar, overload

from corun.core import _core

Value = TypeVar("Value")

__all__ = ["Parameter", "boolean", "by_client", "choice", "duration", "integer", "real"]


class Parameter(Generic[Value]):
    """One row of a policy's parameter table. Made by the functions of this module. `minimum` and `maximum` are in base
    units: nanoseconds for a duration, else `unit`.

    >>> parameter = corun.parameter.real(0.9, minimum=0.5, unit="of the period")
    >>> parameter.type, parameter.default, parameter.minimum, parameter.unit
    ('real', 0.9, 0.5, 'of the period')
    """

    def __init__(self, type: str, default: object, minimum: float = 0.0, maximum: float = 0.0,
                 choices: Sequence[str] = (), unit: str = "", meaning: str = "", source: str = "ours") -> None:
        self.type, self.default = type, default
        self.minimum, self.maximum, self.choices = minimum, maximum, list(choices)
        self.unit, self.meaning, self.source = unit, meaning, source

    @overload
    def __get__(self, instance: None, owner: type) -> "Parameter[Value]": ...
    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...

    def __get__(self, instance: object | None, owner: type) -> Any:
        return self  # an instance of a policy has the value as an attribute of its own

    def __repr__(self) -> str:
        return f"<corun.Parameter: {self.type}, default {self.default!r}{f' {self.unit}' if self.unit else ''}>"

    def describe(self, name: str) -> dict[str, Any]:
        """The row as a dict, under the name that the policy gives it.

        >>> corun.parameter.boolean(True).describe("is_eager")["name"]
        'is_eager'
        """
        return vars(self) | {"name": name}


def duration(default: str, minimum: str = "1ns", maximum: str = "24h", meaning: str = "",
             source: str = "ours") -> Parameter[int]:
    """A length of time with a unit, as text: "300us", "16.6ms", "2s". The policy sees integer nanoseconds.

    >>> corun.parameter.duration("10ms", minimum="1ms").minimum
    1000000
    """
    return Parameter("duration", default, _core.duration_ns(minimum), _core.duration_ns(maximum), meaning=meaning,
                     source=source)


def real(default: float, minimum: float = 0.0, maximum: float = 1.0, unit: str = "", meaning: str = "",
         source: str = "ours") -> Parameter[float]:
    """A number in [minimum, maximum].

    >>> corun.parameter.real(0.9).maximum
    1.0
    """
    return Parameter("real", default, minimum, maximum, unit=unit, meaning=meaning, source=source)


def integer(default: int, minimum: int = 0, maximum: int = 2**31, unit: str = "", meaning: str = "",
            source: str = "ours") -> Parameter[int]:
    """A whole number in [minimum, maximum].

    >>> corun.parameter.integer(4, minimum=1, unit="kernels").unit
    'kernels'
    """
    return Parameter("integer", default, minimum, maximum, unit=unit, meaning=meaning, source=source)


def boolean(default: bool, meaning: str = "", source: str = "ours") -> Parameter[bool]:
    """True or False.

    >>> corun.parameter.boolean(True).default
    True
    """
    return Parameter("boolean", default, meaning=meaning, source=source)


def choice(default: str, choices: Sequence[str], meaning: str = "", source: str = "ours") -> Parameter[str]:
    """One of several words.

    >>> corun.parameter.choice("mean", ["mean", "last"]).choices
    ['mean', 'last']
    """
    return Parameter("choice", default, choices=choices, meaning=meaning, source=source)


def by_client(minimum: float = 0.0, maximum: float = 1.0, unit: str = "", meaning: str = "",
              source: str = "ours") -> Parameter[dict[str, float]]:
    """A mapping from client names to numbers in [minimum, maximum]; empty where an experiment does not give it.

    >>> corun.parameter.by_client().default
    {}
    """
    return Parameter("by_client", {}, minimum, maximum, unit=unit, meaning=meaning, source=source)
