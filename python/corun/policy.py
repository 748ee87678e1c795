"""Policies in Python: the seam that the built-in ones use."""

import inspect
import re
import sys
import typing

from corun.core import _core
from corun.errors import InputError, near_names
from corun.parameter import Parameter

__all__ = ["Actions", "Client", "GpuView", "Operation", "Policy", "QualityLevel", "ShadowFrame"]


class QualityLevel(typing.NamedTuple):
    """One rendering setting of a game: `cost` is GPU time relative to the best level, `quality` is in [0, 1], `knobs`
    the level of each of the game's knobs (0 = best; empty: it has none)."""

    name: str
    cost: float
    quality: float
    knobs: tuple[int, ...] = ()


GpuView = _core.GpuView
Client = _core.Client
Operation = _core.Operation
Actions = _core.Actions
ShadowFrame = _core.ShadowFrame


class Policy:
    """A rule for sharing the device: hear, then decide. Subclass it, override `decide` and what you want to hear, and
    hand the class to `Experiment(..., policies=[Mine])`, which may then name it like a built-in policy.

    Hearing may change the policy's own state and cannot act. Deciding comes once per instant, after everything of that
    instant has been heard, and when a wake-up that was asked for is due; it states what should hold, and asked twice
    with nothing heard between, it must change nothing more. The same history must give the same decisions: no clock,
    no environment, no random numbers but seeded ones. Gates are closed when a client joins. A run has an instance of
    its own; one thread at a time calls it. Objects that a call hands out are valid during that call and raise
    RuntimeError later: copy values; a client may be kept and shows the present of whatever call it is used in.

    `view` (GpuView) has `now_ns`, `device`, `clients`, `changed` and `client(name)`. `act` (Actions) has `open`,
    `close`, `admit(client, count=1)`, `wake_at(ns)`, `hold(client, rule, needed, available, unit)`, `keep_holds()`,
    `set_quality`, `shadow`, `snapshot`, `kill`, `refuse`, `prefetch`, `set_slice`, `set_priority`, `set_sm_cap`,
    `set_sm_share` and `set_instance`, most of them of a client, its number or its name. What they hold is described in
    corun/_core.pyi.

    Class attributes describe it: `name` (by default the class's in snake_case), `source`, `deviations`, `needs` (of
    "frame_events", "quality_levels", "predictions", "device_time", "oracle", "shared_context"), `hears` (events after
    which it is asked: "submitted", "launched", "completed", "frames"), and parameters made by corun.parameter, which an
    instance finds as values. The first line of the docstring is its summary. Its code is part of the ids of its runs.

    An exception ends the run with corun.PolicyError: simulated time and traceback; so does an action that is not
    allowed. A decision costs a few microseconds and takes the interpreter lock: runs of a policy in Python do not get
    quicker with more jobs.

    >>> class Turns(corun.Policy):
    ...     \"\"\"Clients have the device in turns.\"\"\"
    ...     turn = corun.parameter.duration("20ms", minimum="1ms", meaning="length of a turn")
    ...
    ...     def decide(self, view, act):
    ...         number = view.now_ns // self.turn
    ...         present = [client for client in view.clients if client.is_present]
    ...         for place, client in enumerate(present):
    ...             if place == number % len(present):
    ...                 act.open(client)
    ...             else:
    ...                 act.close(client)
    ...                 act.hold(client, "turn")
    ...         act.wake_at((number + 1) * self.turn)
    >>> experiment = corun.Experiment(PAIR, policies=[Turns]).set("policies", [{"turns": {"turn": "10ms"}}])
    >>> results = corun.run(experiment, until="200ms")
    >>> len(results.runs), set(results.runs.policy)
    (2, {'turns'})
    """

    name: typing.ClassVar[str]
    source: typing.ClassVar[str] = ""
    deviations: typing.ClassVar[typing.Sequence[str]] = ()
    needs: typing.ClassVar[typing.Collection[str]] = ()
    hears: typing.ClassVar[typing.Collection[str]] = frozenset({"submitted", "launched", "completed", "frames"})

    def decide(self, view: GpuView, act: Actions) -> None:
        """States what should hold from now on, by calling methods of `act`. Must be overridden."""
        raise NotImplementedError("a policy needs a method decide(self, view, act)")

    def on_joined(self, view: GpuView, client: Client) -> None:
        """A client came; its gate is closed."""

    def on_left(self, view: GpuView, client: Client) -> None:
        """A client went."""

    def on_submitted(self, view: GpuView, client: Client, op: Operation) -> None:
        """A client asked to run `op`. It is launched at once if the gate is open, else it waits."""

    def on_launched(self, view: GpuView, client: Client, op: Operation) -> None:
        """`op` passed the gate."""

    def on_completed(self, view: GpuView, client: Client, op: Operation, device_time_ns: int) -> None:
        """`op` finished, or was lost in a kill; `device_time_ns` is what it took on the device."""

    def on_frame(self, view: GpuView, client: Client, event: str) -> None:
        """A frame of the client: `event` is "begin" (first GPU work began) or "end" (its last ended)."""

    def on_resized(self, view: GpuView, client: Client) -> None:
        """Its owner asks for another share or amount of memory."""

    def on_shadow(self, view: GpuView, client: Client, shadow: ShadowFrame) -> None:
        """A shadow frame that was asked for is complete."""

    def on_copied(self, view: GpuView, client: Client, event: str) -> None:
        """`event` is "snapshot" (of its memory, complete) or "restored" (after a kill)."""

    @classmethod
    def _parameters(cls) -> dict[str, Parameter[typing.Any]]:
        found: dict[str, Parameter[typing.Any]] = {}
        for base in reversed(cls.__mro__):
            found |= {name: value for name, value in vars(base).items() if isinstance(value, Parameter)}
        return found

    @classmethod
    def _describe(cls) -> dict[str, typing.Any]:
        """What a PolicyDescriptor says, as a dict."""
        known = {"frame_events", "quality_levels", "predictions", "device_time", "oracle", "shared_context"}
        _refuse_unknown(cls, "needs", known)
        _refuse_unknown(cls, "hears", Policy.hears)
        _refuse_unknown_hooks(cls)
        parameters = cls._parameters()
        taken = sorted((set(dir(Policy)) | {"code"}) & set(parameters))
        if taken:
            raise InputError(f"policy {cls.__name__}: `{taken[0]}` cannot be a parameter: "
                             "the name has a meaning already")
        return {"name": cls._policy_name(), "summary": (inspect.getdoc(cls) or "").partition("\n")[0],
                "source": cls.source, "deviations": list(cls.deviations), "needs": set(cls.needs),
                "parameters": [parameter.describe(name) for name, parameter in parameters.items()]}

    @classmethod
    def _policy_name(cls) -> str:
        own: str | None = vars(cls).get("name")
        return own or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()

    @classmethod
    def _create(cls, values: dict[str, typing.Any]) -> "Policy":
        """An instance whose parameters have these values, known to __init__ already."""
        instance = cls.__new__(cls)
        for name, value in values.items():
            if name != "code":
                setattr(instance, name, value)
        instance.__init__()  # type: ignore[misc]
        return instance

    @classmethod
    def _code(cls) -> str:
        """The text of the module that the class is from; where there is none, what its functions are compiled to."""
        module = sys.modules.get(cls.__module__)
        try:
            return inspect.getsource(module)  # type: ignore[arg-type]
        except (OSError, TypeError):
            return "\n".join(_code_of(value) for _, value in sorted(vars(cls).items()) if inspect.isfunction(value))


def _refuse_unknown(cls: type[Policy], attribute: str, known: typing.Collection[str]) -> None:
    unknown = sorted(set(getattr(cls, attribute)) - set(known))
    if unknown:
        raise InputError(f"policy {cls.__name__}: `{unknown[0]}` in `{attribute}`: expected of "
                         f"{', '.join(sorted(known))}")


def _refuse_unknown_hooks(cls: type[Policy]) -> None:
    """A method `on_...` that the engine never calls is a misspelt one."""
    known = [name for name in vars(Policy) if name.startswith("on_")]
    own = {name for base in cls.__mro__ if base not in Policy.__mro__ for name in vars(base)}
    for name in sorted(own):
        near = near_names(name, known)
        if name.startswith("on_") and name not in known:
            raise InputError(f"policy {cls.__name__}: `{name}` is never called: "
                             + (f"did you mean `{near[0]}`? " if near else "") + f"there are {', '.join(known)}")


def _code_of(function: typing.Any) -> str:
    code = function.__code__
    constants = [_code_of_nested(constant) for constant in code.co_consts]
    return f"{code.co_name} {code.co_code.hex()} {code.co_names} {constants} {function.__defaults__}"


def _code_of_nested(constant: object) -> str:
    return constant.co_code.hex() if inspect.iscode(constant) else repr(constant)
