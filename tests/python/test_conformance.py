"""check_policy passes policies that keep the promises and names the promise that a bad one breaks."""

import itertools
import random

import pytest

import corun

pytest.importorskip("corun.core", reason="the compiled part is not built: ./dev build")
pytest.importorskip("pandas")


def verdicts(policy, **options):
    checks = corun.check_policy(policy, **options)
    return dict(zip(checks.check, checks.passed)), dict(zip(checks.check, checks.found))


class OpenAll(corun.Policy):
    """All clients may launch."""

    def decide(self, view, act):
        for client in view.clients:
            if client.is_present:
                act.open(client)


@pytest.mark.parametrize("policy", ["passthrough", "pilotfish", "djay", {"nvshare": {"quantum": "20ms"}},
                                    {"gaiagpu": {"limits": {"train": 0.4}}}, OpenAll],
                         ids=lambda policy: policy if isinstance(policy, str) else getattr(policy, "__name__", None))
def test_good_policies_pass(policy):
    passed, found = verdicts(policy)
    assert all(passed.values()), found
    assert ("asked twice" in passed) == (policy is OpenAll)


def test_starving_a_lone_client_is_found():
    class GamesOnly(OpenAll):
        def decide(self, view, act):
            for client in view.clients:
                if client.is_present and client.is_interactive:
                    act.open(client)

    passed, found = verdicts(GamesOnly)
    assert not passed["lone client"] and found["lone client"].startswith("train alone")
    assert passed["work goes on"] and passed["same again"]


def test_chance_is_found():
    chance = random.Random(1)

    class Gambler(OpenAll):
        def decide(self, view, act):
            for client in view.clients:
                if client.is_present:
                    (act.open if chance.random() < 0.5 else act.close)(client)
            act.wake_at(view.now_ns + 10_000_000)

    passed, _ = verdicts(Gambler)
    assert not passed["same again"]


def test_deciding_that_counts_is_found():
    class Counting(OpenAll):
        def __init__(self):
            self.asked = itertools.count()

        def decide(self, view, act):
            is_odd = next(self.asked) % 2
            for client in view.clients:
                if client.is_present:
                    (act.close if is_odd and client.name == "train" else act.open)(client)
            act.wake_at(view.now_ns + 10_000_000)

    passed, found = verdicts(Counting)
    assert passed["same again"] and not passed["asked twice"] and "differs" in found["asked twice"]


def test_an_illegal_action_ends_the_checks():
    class PastWaker(OpenAll):
        def decide(self, view, act):
            act.wake_at(view.now_ns)

    passed, found = verdicts(PastWaker)
    assert list(passed) == ["legal"] and not passed["legal"] and "wake" in found["legal"]


def test_an_exception_is_named_where_a_table_shows_it():
    class Raises(corun.Policy):
        def decide(self, view, act):
            raise ZeroDivisionError("of mine")

    checks = corun.check_policy(Raises)
    assert checks.found[0].startswith("ZeroDivisionError: of mine (policy 'raises' at t=0")
    assert "ZeroDivisionError: of mine" in repr(checks)


def test_what_is_no_policy_is_an_error():
    with pytest.raises(corun.InputError, match="nvshar"):
        corun.check_policy("nvshar")
    with pytest.raises(corun.InputError, match="there is no such plug-in"):
        corun.check_policy({"plugin": {"file": "./none.so"}})
