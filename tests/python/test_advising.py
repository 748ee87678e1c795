"""corun.advise and corun.fit: the answers of `simcli advise` and `simcli fit` as nested dicts."""

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
