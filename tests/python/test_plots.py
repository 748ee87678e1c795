"""Pictures show the numbers of the results, and say what they lack."""

import pytest

import corun
from built_package import PAIR

pytest.importorskip("corun.core", reason="the compiled part is not built: ./dev build")
pytest.importorskip("matplotlib")
from matplotlib import pyplot


@pytest.fixture
def results(quick):
    with corun.open(quick) as opened:
        yield opened
    pyplot.close("all")


def test_the_tail_ends_at_the_longest_frame_time(results):
    axes = results.plot.frame_tail("game", marks_ms=())
    longest = results.frame_times(policy="nvshare", client="game").frame_time_ns.max() / 1e6
    lines = {line.get_label(): line for line in axes.lines}
    assert lines["nvshare"].get_xdata().max() == pytest.approx(longest)
    assert lines["nvshare"].get_ydata().min() > 0, "a logarithmic axis has no zero"


def test_a_policy_has_one_colour(results):
    tail = {line.get_label(): line.get_color() for line in results.plot.frame_tail("game", marks_ms=()).lines}
    labels = {text.get_text(): text.get_color() for text in results.plot.pareto("train.throughput_per_s").texts}
    assert labels == tail


def test_pareto_hollows_what_another_policy_beats(results):
    axes = results.plot.pareto("harvest_ratio", "frame_time_p99_ms")
    filled = {line.get_markerfacecolor() != "white" for line in axes.lines if line.get_marker() == "o"}
    value = {metric: results.summary(metric).set_index("policy").value
             for metric in ("harvest_ratio", "frame_time_p99_ms")}
    is_beaten = (value["harvest_ratio"]["passthrough"] >= value["harvest_ratio"]["nvshare"]
                 and value["frame_time_p99_ms"]["passthrough"] < value["frame_time_p99_ms"]["nvshare"])
    assert is_beaten and filled == {True, False}


def test_pareto_asks_whose_metric(results):
    with pytest.raises(corun.InputError, match="several clients have `throughput_per_s`: name one, as in \"game"):
        results.plot.pareto("throughput_per_s")
    with pytest.raises(corun.InputError, match="no metric `fps_2low`: there are .*fps_1low"):
        results.plot.pareto("harvest_ratio", "fps_2low")


def test_effects_are_those_of_compare(results):
    axes = results.plot.effects("passthrough", "fps_mean")
    effect = corun.compare(results, "passthrough", "fps_mean").iloc[0]
    assert axes.lines[0].get_xdata()[0] == pytest.approx(effect.difference)
    assert axes.get_xlabel() == "difference (fps)"


def test_a_timeline_names_frames_and_the_rule_that_held(results):
    axes = results.plot.timeline(0.5, 0.9, "nvshare", seed=1)
    texts = {text.get_text() for text in axes.texts}
    assert "lock" in texts and any(text.isdigit() for text in texts)
    with pytest.raises(corun.InputError, match="nothing of policy `nvshare` is recorded from 7 to 8 s"):
        results.plot.timeline(7, 8, "nvshare")


def test_parts_of_frames_are_as_long_as_the_frames(results):
    frames = results.frame_times(policy="nvshare", client="game").nlargest(3, "frame_time_ns")
    bars = results.plot.frame_parts(frames).patches
    ends = [max(bar.get_x() + bar.get_width() for bar in bars[place::3]) for place in range(3)]
    assert ends == pytest.approx(list((frames.present_ns - frames.start_ns) / 1e6))


def test_an_unknown_client_or_scenario_is_said(results):
    with pytest.raises(corun.InputError, match="no frames of client `gme`: there are game"):
        results.plot.frame_tail("gme")
    with pytest.raises(corun.InputError, match="in scenario `two`"):
        results.plot.frame_tail("game", scenario="two")


def test_a_sweep_is_not_drawn_as_if_it_were_one_point():
    with corun.sweep(PAIR, {"nvshare.quantum": ["10ms", "20ms"]}, until="200ms", seed=1) as swept:
        for draw in (swept.plot.pareto, lambda: swept.plot.effects("passthrough", "fps_mean")):
            with pytest.raises(corun.InputError, match="a sweep has a value for each point"):
                draw()
