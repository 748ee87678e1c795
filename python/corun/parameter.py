"""Parameters of policies: described once, checked wherever an experiment sets them.

A subclass of corun.Policy states them as class attributes; in a policy they are plain values: integer nanoseconds for
durations, numbers, True or False, text, a dict from client name to number.
"""

from corun.core import _core

__all__ = ["Parameter", "boolean", "by_client", "choice", "duration", "integer", "real"]


class Parameter:
    """One row of a policy's parameter table. Made by the functions of this module. `minimum` and `maximum` are in base
    units: nanoseconds for a duration, else `unit`.

    >>> parameter = corun.parameter.real(0.9, minimum=0.5, unit="of the period")
    >>> parameter.type, parameter.default, parameter.minimum, parameter.unit
    ('real', 0.9, 0.5, 'of the period')
    """

    def __init__(self, type, default, minimum=0.0, maximum=0.0, choices=(), unit="", meaning="", source="ours"):
        self.type, self.default = type, default
        self.minimum, self.maximum, self.choices = minimum, maximum, list(choices)
        self.unit, self.meaning, self.source = unit, meaning, source

    def describe(self, name):
        """The row as a dict, under the name that the policy gives it.

        >>> corun.parameter.boolean(True).describe("is_eager")["name"]
        'is_eager'
        """
        return vars(self) | {"name": name}


def duration(default, minimum="1ns", maximum="24h", meaning="", source="ours"):
    """A length of time with a unit, as text: "300us", "16.6ms", "2s". The policy sees integer nanoseconds.

    >>> corun.parameter.duration("10ms", minimum="1ms").minimum
    1000000
    """
    return Parameter("duration", default, _core.duration_ns(minimum), _core.duration_ns(maximum), meaning=meaning,
                     source=source)


def real(default, minimum=0.0, maximum=1.0, unit="", meaning="", source="ours"):
    """A number in [minimum, maximum].

    >>> corun.parameter.real(0.9).maximum
    1.0
    """
    return Parameter("real", default, minimum, maximum, unit=unit, meaning=meaning, source=source)


def integer(default, minimum=0, maximum=2**31, unit="", meaning="", source="ours"):
    """A whole number in [minimum, maximum].

    >>> corun.parameter.integer(4, minimum=1, unit="kernels").unit
    'kernels'
    """
    return Parameter("integer", default, minimum, maximum, unit=unit, meaning=meaning, source=source)


def boolean(default, meaning="", source="ours"):
    """True or False.

    >>> corun.parameter.boolean(True).default
    True
    """
    return Parameter("boolean", default, meaning=meaning, source=source)


def choice(default, choices, meaning="", source="ours"):
    """One of several words.

    >>> corun.parameter.choice("mean", ["mean", "last"]).choices
    ['mean', 'last']
    """
    return Parameter("choice", default, choices=choices, meaning=meaning, source=source)


def by_client(minimum=0.0, maximum=1.0, unit="", meaning="", source="ours"):
    """A mapping from client names to numbers in [minimum, maximum]; empty where an experiment does not give it.

    >>> corun.parameter.by_client().default
    {}
    """
    return Parameter("by_client", {}, minimum, maximum, unit=unit, meaning=meaning, source=source)
