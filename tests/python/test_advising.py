"""corun.advise: the answer of `simcli advise` as nested dicts."""

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
    assert "<table>" in advice._repr_html_()


@pytest.mark.parametrize("question, what", [
    ({"traces": PAIR[:1]}, "two programs or more"),
    ({"traces": PAIR, "keep": {"bert": 0.9}}, "no program is called `bert`"),
    ({"traces": PAIR, "solo_rate": {"resnet50_train_bs64": "fast"}}, "expected a rate"),
    ({"traces": PAIR, "modes": ["magic"]}, "found `magic`")])
def test_what_cannot_be_answered_is_an_input_error(question, what):
    with pytest.raises(corun.InputError, match=what):
        corun.advise(**question)
