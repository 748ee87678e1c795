"""corun.advise and corun.fit: the answers of `simcli advise` and `simcli fit` as nested dicts."""

import json
import pathlib

import pytest

import corun
from built_package import PACKAGE  # noqa: F401: puts the built package on the path

pytest.importorskip("corun.core", reason="the compiled part is not built: ./dev build")

SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "traces" / "samples"
PAIR = [SAMPLES / "resnet50_train_bs64.kineto.json.gz", SAMPLES / "encoder_infer_bs1.kineto.json.gz"]
RATES = {"resnet50_train_bs64": 31.014, "encoder_infer_bs1": 484.357}


@pytest.fixture(scope="module")
def advice():
    return corun.advise(PAIR, solo_rate=RATES, modes=["time_sliced", "mps"], keep={"resnet50_train_bs64": 0.8})


def test_names_the_best_way_and_what_each_program_keeps(advice):
    assert advice["verdict"] == "share" and advice["best"] == "MPS"
    turns, mps = advice["ways"]
    assert turns["broken"] and not mps["broken"], "turns leave the training less than 0.8"
    for program in mps["programs"]:
        assert program["kept_band"]["low"] < program["kept"]["low"] <= program["kept_band"]["high"]


def test_is_printed_as_its_verdict(advice):
    assert str(advice).startswith("Share them: MPS. resnet50_train_bs64 keeps 0.")
    assert repr(advice).startswith("<corun.Advice: Share them: MPS. ") and "\n" not in repr(advice)
    assert "<table>" in advice._repr_html_()


@pytest.mark.parametrize("question, what", [
    ({"traces": PAIR[:1]}, "two programs or more"),
    ({"traces": PAIR, "keep": {"bert": 0.9}}, "no program is called `bert`"),
    ({"traces": PAIR, "solo_rate": {"resnet50_train_bs64": "fast"}}, "expected a rate"),
    ({"traces": PAIR, "modes": ["magic"]}, "found `magic`")])
def test_what_cannot_be_answered_is_an_input_error(question, what):
    with pytest.raises(corun.InputError, match=what):
        corun.advise(**question)


GAME = SAMPLES.parents[1] / "studies" / "sessions" / "captures" / "large.uncapped.corun"


@pytest.fixture(scope="module")
def fitted():
    return corun.fit(GAME, 30, beside=[SAMPLES / "h200" / "resnet50_train.corun"],
                     solo_rate={"resnet50_train": 30}, policies=["passthrough"])


def test_fit_says_how_many_sessions_hold_the_frame_rate(fitted):
    alone, with_training = fitted["curves"]
    assert alone["sessions"] == 3 and alone["surely"] <= 3 <= alone["perhaps"], "measured: 3 of them held 30 FPS, not 4"
    assert with_training["has_fillers"] and with_training["sessions"] <= 3
    assert str(fitted).startswith("3 ") and " sessions of large hold 30 FPS on h200" in str(fitted)


def test_points_of_a_fit_are_a_table_of_sessions_and_figures(fitted):
    pytest.importorskip("pandas")
    alone = fitted.points[~fitted.points.has_fillers]
    assert list(alone.sessions) == sorted(alone.sessions) and alone.fps_mean.is_monotonic_decreasing
    with_training = fitted.points[fitted.points.has_fillers]
    assert with_training.resnet50_train_kept.between(0, 1).all()
    assert "<table" in fitted._repr_html_()


@pytest.mark.parametrize("words, what", [
    ({"fps": -1}, "--fps: found `-1`"), ({"p99": "soon"}, "--p99: found `soon`"),
    ({"keys": {"other.draw": "1ms"}}, "no program is called `other`"), ({"policies": ["magic"]}, "magic")])
def test_what_cannot_be_fitted_is_an_input_error(words, what):
    with pytest.raises(corun.InputError, match=what):
        corun.fit(GAME, **words)


SERVER = {"requests": {"rate": "20/s", "prompt": 200, "output": 20}, "max_batch": 8, "kv_tokens": 10000}
ENGINE = "{ engine: { prefill: { per_token: 10us }, decode: { base: 2ms } } }"


@pytest.fixture
def served(tmp_path):
    """The experiment of a made-up server next to a training."""
    path = tmp_path / "served.yaml"
    path.write_text("name: served\ndevice: h200\nhorizon: 3s\npolicies: [passthrough]\nclients:\n"
                    f"  - {{ name: chat, synthetic: {ENGINE}, server: {json.dumps(SERVER)} }}\n"
                    "  - { name: train, synthetic: { training: resnet50 } }\n")
    return path


def with_promise(ttft):
    return {"chat.server": SERVER | {"slo": {"ttft": ttft, "tpot": "50ms"}}}


@pytest.mark.parametrize("ttft, verdict, state", [("2s", "share", "kept"), ("1ms", "no_way", "broken")])
def test_advice_says_whether_a_server_keeps_its_promises(served, ttft, verdict, state):
    advice = corun.advise([served], modes=["time_sliced"], keys=with_promise(ttft))
    assert advice["verdict"] == verdict
    chat = advice["ways"][0]["programs"][0]
    assert {promise["figure"]: promise["state"] for promise in chat["promises"]} == {"TTFT": state, "TPOT": "kept"}
    assert ("misses its promises even alone" in str(advice)) == (state == "broken")
    pytest.importorskip("pandas")
    shares = advice.shares.set_index("program")
    assert shares.promises["chat"] == state and shares.ttft_p99_ms["chat"] > 0


def test_advice_has_the_largest_load_of_each_way(served):
    advice = corun.advise([served], policies=["passthrough"], largest_load=True, keys=with_promise("500ms"))
    [way] = advice["ways"]
    assert way["largest_load"]["rate_per_s"]["low"] > 20 and "surely_per_s" not in way["largest_load"]


def test_fit_counts_servers_and_programs_next_to_one(served):
    servers = corun.fit(served, policies=["passthrough"], most=1, keys=with_promise("2s"))
    alone, with_training = servers["curves"]
    assert servers["fits"] and alone["sessions"] == with_training["sessions"] == 1
    assert not corun.fit(served, policies=["passthrough"], most=1, keys=with_promise("1ms"))["fits"]
    pytest.importorskip("pandas")
    assert servers.points.chat_ttft_p99_ms.gt(0).all() and servers.points.train_kept.dropna().between(0, 1).all()


def test_a_captured_engine_with_keys_is_a_server():
    grid = SAMPLES.parents[1] / "studies" / "serving" / "grid"
    keys = {"chat.server": {"requests": {"rate": "40/s", "prompt": 200, "output": 20}, "max_batch": 32,
                            "kv_tokens": 65536, "slo": {"ttft": "5s", "tpot": "1s"}}}
    found = corun.fit(f"chat={grid / '1b.corun'}", policies=["passthrough"], most=1, keys=keys)
    assert found["curves"][0]["sessions"] == 1 and "servers like chat" in str(found)
