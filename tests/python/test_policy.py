import re

import pytest

import corun
from built_package import PAIR

pytest.importorskip("corun.core", reason="the compiled part is not built: ./dev build")


def ask(policy, until="200ms", seed=1, **options):
    experiment = corun.Experiment(PAIR, policies=[policy]).set("policies", [policy._policy_name()])
    return corun.run(experiment, until=until, seed=seed, **options)


def failing(policy, **options):
    with pytest.raises(corun.PolicyError) as raised:
        ask(policy, **options)
    return str(raised.value)


class Open(corun.Policy):
    """Opens every gate when its client comes."""

    hears = ()

    def decide(self, view, act):
        for client in view.clients:
            if client.is_present and not client.gate_is_open:
                act.open(client)


def values(results):
    metrics = results.metrics
    return {(row.client, row.metric): row.value for row in metrics.itertuples()}


def test_opening_every_gate_is_passthrough():
    ours = values(ask(Open))
    theirs = values(corun.run(corun.Experiment(PAIR).set("policies", ["passthrough"]), until="200ms", seed=1))
    assert ours == theirs and ours["game", "fps_mean"] > 0


def test_parameters_are_described_checked_and_handed_over():
    seen = []

    class Described(Open):
        """Has one parameter of each type."""

        slice = corun.parameter.duration("10ms", minimum="1ms", maximum="1s", meaning="a length of time")
        margin = corun.parameter.real(0.1)
        most = corun.parameter.integer(3, minimum=1, maximum=9)
        is_strict = corun.parameter.boolean(False)
        how = corun.parameter.choice("mean", ["mean", "last"])
        limits = corun.parameter.by_client()

        def __init__(self):
            assert not hasattr(self, "code"), "its hash is a parameter of the run, not of the policy"
            seen.append((self.slice, self.margin, self.most, self.is_strict, self.how, self.limits))

    experiment = corun.Experiment(PAIR, policies=[Described])
    given = {"slice": "20ms", "is_strict": True, "how": "last", "limits": {"train": 0.5}}
    corun.run(experiment.set("policies", ["described", {"described": given, "as": "other"}]), until="50ms", seed=1,
              jobs=1)
    assert seen == [(10_000_000, 0.1, 3, False, "mean", {}), (20_000_000, 0.1, 3, True, "last", {"train": 0.5})]
    for wrong, message in (({"slice": "2s"}, "from 1ms to 1s"), ({"most": 10}, "from 1 to 9"),
                           ({"how": "men"}, "did you mean 'mean'"), ({"slices": "1ms"}, "did you mean `slice`"),
                           ({"limits": {"trian": 0.5}}, "did you mean `train`")):
        with pytest.raises(corun.InputError, match=message):
            experiment.set("policies", [{"described": wrong}])


def test_a_wrong_description_is_refused():
    class Taken(Open):
        decide = corun.parameter.real(0.5)

    class Needy(Open):
        needs = {"frames"}

    with pytest.raises(corun.InputError, match="`decide` cannot be a parameter"):
        corun.Experiment(PAIR, policies=[Taken])
    with pytest.raises(corun.InputError, match="`frames` in `needs`: expected of device_time, frame_events"):
        corun.Experiment(PAIR, policies=[Needy])
    class Deaf(Open):
        def on_complete(self, view, client, op, device_time_ns):
            pass

    with pytest.raises(corun.InputError, match="Deaf: `on_complete` is never called: did you mean `on_completed`"):
        corun.Experiment(PAIR, policies=[Deaf])
    with pytest.raises(corun.InputError, match="already a policy named 'open'"):
        corun.Experiment(PAIR, policies=[Open, Open])


def test_hears_what_happens_and_sees_the_present():
    heard = {}

    class Listens(Open):
        hears = {"submitted", "launched", "completed", "frames"}

        def note(self, what, *details):
            heard.setdefault(what, []).append(details)

        def on_joined(self, view, client):
            self.note("joined", view.now_ns, client.name, client.is_interactive)

        def on_submitted(self, view, client, op):
            self.note("submitted", client.name, op.name, op.is_render, op.number, op.exact_ns)

        def on_completed(self, view, client, op, device_time_ns):
            self.note("completed", client.name, op.is_kernel, device_time_ns, view.device.busy_ns)

        def on_frame(self, view, client, event):
            self.note("frame", event, client.frame.number, client.frame.begin_ns, client.frame.end_ns)

    ask(Listens, jobs=1)
    assert sorted(details[1:] for details in heard["joined"]) == [("game", True), ("train", False)]
    assert [d[3] for d in heard["submitted"] if d[0] == "game"][:3] == [0, 1, 2]
    assert all(d[4] is None for d in heard["submitted"]), "nobody knows the future"
    assert all(d[2] >= 1_000_000 for d in heard["completed"] if d[0] == "train"), "kernels of 1 ms"
    assert heard["frame"][0][0] == "begin" and heard["frame"][0][3] is None
    assert [d[0] for d in heard["frame"]][:4] == ["begin", "end", "begin", "end"]


def test_a_policy_that_needs_the_oracle_is_told():
    exact = []

    class Knows(Open):
        needs = {"oracle"}
        hears = {"submitted"}

        def on_submitted(self, view, client, op):
            exact.append(op.exact_ns)

    ask(Knows, jobs=1)
    assert exact and all(value > 0 for value in exact)


def test_holds_and_actions_are_in_the_results():
    class Starves(corun.Policy):
        """Lets one operation of each client pass every 20 ms."""

        def decide(self, view, act):
            for client in view.clients:
                if client.waiting_count and view.now_ns % 20_000_000 == 0 and not client.in_flight:
                    act.admit(client)
                elif client.waiting_count:
                    act.hold(client.name, "starves", needed=1, available=0, unit="kernels")
            act.wake_at(view.now_ns - view.now_ns % 20_000_000 + 20_000_000)

    results = ask(Starves)
    assert set(results.decisions.action) == {"admit"} and len(results.decisions) > 5
    assert set(results.holds.rule) == {"starves"} and set(results.holds.unit) == {"kernels"}


def test_an_exception_says_simulated_time_and_traceback():
    class Divides(corun.Policy):
        def decide(self, view, act):
            act.wake_at(21_000_000 if view.now_ns < 21_000_000 else view.now_ns + 1)
            self.divide(view.now_ns - 21_000_000)

        def divide(self, number):
            return 1 / number

    text = failing(Divides)
    assert "policy 'divides' at t=0.021000000 s: Traceback" in text
    assert "in divide\n    return 1 / number" in text and text.endswith("ZeroDivisionError: division by zero")


@pytest.mark.parametrize("act, message", [
    (lambda view, act: act.wake_at(view.now_ns), "is not in the future"),
    (lambda view, act: [act.admit(c, 5) for c in view.clients if c.is_present], "admit.* but"),
    (lambda view, act: act.open("nobody"), "no client `nobody`"),
    (lambda view, act: act.open(-1), "Unable to cast"),
    (lambda view, act: act.open(7), "there are 2 clients"),
    (lambda view, act: [act.set_sm_cap(c, 2.0) for c in view.clients if c.is_present], "set_sm_cap.* but"),
    (lambda view, act: act.open(), "incompatible function arguments"),
])
def test_what_is_not_allowed_names_policy_and_time(act, message):
    class Wrong(corun.Policy):
        def decide(self, view, actions):
            act(view, actions)

    text = failing(Wrong)
    assert re.match(r"policy 'wrong' at t=0\.\d{9} s: ", text) and re.search(message, text), text


def test_objects_of_an_earlier_call_raise_and_clients_show_the_present():
    class Keeps(Open):
        hears = {"submitted"}
        kept = None

        def on_submitted(self, view, client, op):
            if self.kept is None:
                self.kept = (view, client, op)
            else:
                assert self.kept[1].name in ("game", "train") and self.kept[0].now_ns == view.now_ns
                self.kept[2].name

    assert "this operation was seen in an earlier call" in failing(Keeps)
    kept = []

    class Leaks(Open):
        def on_joined(self, view, client):
            kept.extend([view, client])

    ask(Leaks, jobs=1)
    for read in (lambda: kept[0].now_ns, lambda: kept[1].name):
        with pytest.raises(RuntimeError, match="seen in an earlier call"):
            read()
    assert repr(kept[1]) in ("<Client 0>", "<Client 1>")


def test_hearing_cannot_act():
    leaked = []

    class Acts(corun.Policy):
        def decide(self, view, act):
            leaked.append(act)

        def on_completed(self, view, client, op, device_time_ns):
            pass

        def on_submitted(self, view, client, op):
            if leaked:
                leaked[0].open(client)

    assert "this `act` was seen in an earlier call" in failing(Acts, jobs=1)


def test_several_jobs_give_the_rows_of_one():
    class Turns(corun.Policy):
        def decide(self, view, act):
            turn = view.now_ns // 10_000_000
            for client in view.clients:
                if not client.is_present:
                    continue
                if client.id == turn % len(view.clients):
                    act.open(client)
                else:
                    act.close(client)
                    act.hold(client, "turn")
            act.wake_at((turn + 1) * 10_000_000)

    one = ask(Turns, seed=[1, 2, 3, 4], jobs=1)
    four = ask(Turns, seed=[1, 2, 3, 4], jobs=4)
    assert one.metrics.equals(four.metrics) and one.decisions.equals(four.decisions) and len(one.decisions) > 50


def test_runs_are_named_by_the_code_of_their_policy(tmp_path):
    ids = []
    for number in (1, 1, 2):
        space = {"__name__": "made", "corun": corun}
        exec(f"class Made(corun.Policy):\n    def decide(self, view, act):\n"
             f"        act.wake_at(view.now_ns + {number})\n",
             space)
        experiment = corun.Experiment(PAIR, policies=[space["Made"]]).set("policies", ["made"])
        ids.append(experiment.plan()[0]["id"])
    assert ids[0] == ids[1] != ids[2]


def test_a_policy_without_decide_says_so():
    class Nothing(corun.Policy):
        pass

    assert "a policy needs a method decide(self, view, act)" in failing(Nothing)


def test_a_policy_that_cannot_be_made_says_so():
    class Broken(Open):
        def __init__(self):
            raise LookupError("no model")

    assert "policy 'broken' could not be made: " in failing(Broken) and "LookupError: no model" in failing(Broken)


CARDS = """
name: cards
device: h200
clients: [{ name: load, synthetic: { kernels: { duration: 1ms, count: 10 } }, repeat: 5 }]
cluster:
  sharing: passthrough
  nodes: [{ count: 2, cards: 2, model: H200, card_memory: 139GiB, cpus: 96, memory: 1TiB }]
  pods: [{ name: pod, count: 12, client: load, cards: 0.5, card_memory: 8GiB, cpus: 1, every: 10ms }]
policies: [spread, bin_pack]
"""


def test_each_card_of_a_cluster_has_a_policy_of_its_own():
    made = []

    class Counted(Open):
        def __init__(self):
            made.append(self)

    experiment = corun.Experiment(CARDS, policies=[Counted])
    theirs = corun.run(experiment, jobs=2)
    ours = corun.run(experiment.set("cluster.sharing", "counted"), jobs=2)
    assert len(made) == 8 and ours.runs.error.isna().all()
    assert len(ours.metrics) > 0 and ours.metrics.drop(columns="run").equals(theirs.metrics.drop(columns="run"))
