"""What every policy promises, tried on a policy from outside."""

from typing import TYPE_CHECKING, Any

from corun.core import _core  # noqa: F401  says what to do where the compiled part is absent
from corun.errors import Error
from corun.experiment import Experiment
from corun.policy import Policy
from corun.running import run
from corun.tables import as_table

if TYPE_CHECKING:
    from pandas import DataFrame

    from corun.policy import Actions, GpuView
    from corun.results import Results

# A class, a name, or an item as in an experiment.
PolicyChoice = type[Policy] | str | dict[str, Any]

__all__ = ["check_policy"]

_GAME: dict[str, Any] = {"name": "game", "synthetic": {"game": {"gpu": "4ms", "cv": 0.1}}, "pacing": "60fps",
                         "quality": "default"}
_TRAIN: dict[str, Any] = {"name": "train", "synthetic": {"kernels": {"duration": "1ms", "count": 10}}}
_BURST: dict[str, Any] = {"name": "burst", "synthetic": {"kernels": {"duration": "2ms", "count": 3}},
          "pacing": {"period": "50ms", "vsync": False}}
_NEVER = {"arrival": "1h"}
# All clients are in every scenario, since policies may name clients or need frames of some.
_SCENARIOS = {"game alone": [_GAME, _TRAIN | _NEVER, _BURST | _NEVER],
              "train alone": [_GAME | _NEVER, _TRAIN, _BURST | _NEVER],
              "pair": [_GAME, _TRAIN, _BURST | _NEVER],
              "three": [_GAME, _TRAIN, _BURST],
              "guest": [_GAME, _TRAIN | {"arrival": "200ms", "stay": "300ms"}, _BURST | _NEVER]}
_HORIZON_NS = 1_000_000_000


def check_policy(policy: PolicyChoice, device: str | dict[str, Any] = "h200") -> "DataFrame":
    """Runs a policy in small experiments and looks whether it keeps what every policy promises: `check`, `passed`, and
    `found`, what broke it. A policy that passes can still be a bad one.

    `policy` is a subclass of corun.Policy, a name, or an item as in an experiment: {"nvshare": {"quantum": "20ms"}},
    {"plugin": {"file": "./mine.so"}}. `device` is the one of an experiment; policies that work inside one context need
    {"model": "h200", "sharing": "concurrent"}. There are five scenarios of a second with the clients `game` (60 fps, 4
    ms a frame), `train` (kernels of 1 ms) and `burst` (6 ms of kernels every 50 ms): game alone, train alone, both, all
    three, and a train that comes late and leaves early.

    The checks: no action is refused and no exception leaves it ("legal"); a client alone keeps running ("lone client");
    of several, one does ("work goes on"); the same history gives the same decisions ("same again"); a longer run
    begins like the shorter one ("no future"); and for a class, a second `decide` whose actions are dropped changes
    nothing ("asked twice"). After "legal" fails the others are not tried. Raises InputError and UnsupportedError for
    what is no policy or lacks what it needs.

    >>> checks = corun.check_policy({"nvshare": {"quantum": "20ms"}})
    >>> list(checks.check), bool(checks.passed.all())
    (['legal', 'lone client', 'work goes on', 'same again', 'no future'], True)
    """
    try:
        first = _History(policy, device)
    except Error as error:
        if not hasattr(error, "results"):
            raise
        return as_table([_row("legal", _cause(str(error)))])
    rows = [_row("legal", first.error)]
    if not first.error:
        again, shorter = _History(policy, device), _History(policy, device, until="600ms")
        rows += [_row("lone client", first.starving(["game alone", "train alone"])),
                 _row("work goes on", first.starving(["pair", "three", "guest"])),
                 _row("same again", first.difference(again)),
                 _row("no future", first.difference(shorter, until_ns=600_000_000))]
        if isinstance(policy, type):
            rows.append(_row("asked twice", first.difference(_History(_asked_twice(policy), device))))
    return as_table(rows)


def _row(check: str, found: str) -> dict[str, Any]:
    return {"check": check, "passed": not found, "found": found}


def _cause(text: str) -> str:
    """What an error of a policy says in one line: the exception or the refusal first, which tables cut least."""
    first, *others = text.strip().splitlines()
    place, separator, what = first.partition(" s: ")
    if what.startswith("Traceback"):
        what = others[-1] if others else what
    return f"{what} ({place} s)" if separator else first


class _History:
    """What a policy did in the scenarios: decisions and begins of operations, by scenario."""

    def __init__(self, policy: PolicyChoice, device: str | dict[str, Any], until: str | None = None) -> None:
        own = [policy] if isinstance(policy, type) else []
        experiment = Experiment({
            "name": "conformance", "device": device, "horizon": f"{_HORIZON_NS}ns", "warmup": "100ms",
            "record": {"operations": "all", "decisions": "all"},
            "policies": [own[0]._policy_name() if own else policy],
            "scenarios": [{"name": name, "clients": clients} for name, clients in _SCENARIOS.items()],
        }, policies=own)
        with _quietly(experiment, until) as results:
            errors = results.cursor("SELECT scenario, error FROM runs WHERE error IS NOT NULL").fetchall()
            self.error = "; ".join(f"{scenario}: {_cause(error)}" for scenario, error in errors)
            self.decisions = _by_scenario(results, "decisions",
                                          "time_ns, action, client, count, duration_ns, level, fraction")
            self.operations = _by_scenario(results, "operations", "begin_ns, client")

    def starving(self, scenarios: list[str]) -> str:
        """The first scenario in whose second half nothing began; "" if there is none."""
        for name in scenarios:
            if not any(begin >= _HORIZON_NS // 2 for begin, _ in self.operations.get(name, [])):
                return f"{name}: nothing ran after {_HORIZON_NS // 2} ns"
        return ""

    def difference(self, other: "_History", until_ns: int = _HORIZON_NS) -> str:
        """The first decision before `until_ns` that another history has not; "" if there is none."""
        for name in _SCENARIOS:
            mine, its = ([row for row in history.decisions.get(name, []) if row[0] < until_ns]
                         for history in (self, other))
            if mine != its:
                place = next((n for n, (a, b) in enumerate(zip(mine, its)) if a != b), min(len(mine), len(its)))
                return f"{name}: decision {place} at {(mine + its)[place if place < len(mine) else -1][0]} ns differs"
        return ""


def _quietly(experiment: Experiment, until: str | None) -> "Results":
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return run(experiment, until=until, baselines=False, progress=False)


def _by_scenario(results: "Results", table: str, columns: str) -> dict[str, list[tuple[Any, ...]]]:
    found: dict[str, list[tuple[Any, ...]]] = {}
    for scenario, *row in results.cursor(f"SELECT runs.scenario, {columns} FROM {table} t JOIN runs ON runs.id = t.run "
                                         "ORDER BY t.rowid"):
        found.setdefault(scenario, []).append(tuple(row))
    return found


class _Dropped:
    """Actions that come to nothing."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: None


def _asked_twice(policy: type[Policy]) -> type[Policy]:
    class Twice(policy):  # type: ignore[valid-type,misc]
        name = policy._policy_name()

        def decide(self, view: "GpuView", act: "Actions") -> None:
            super().decide(view, _Dropped())
            super().decide(view, act)

    return Twice
