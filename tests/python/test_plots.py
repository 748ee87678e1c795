"""Pictures show the numbers of the results, and say what they lack."""

import json
import re

import pytest

import corun
from built_package import PAIR

pytest.importorskip("corun.core", reason="the compiled part is not built: ./dev build")
pytest.importorskip("matplotlib")
from matplotlib import pyplot
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.colors import to_hex
from corun import _core
from corun.style import policy_colours


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
    labels = {text.get_text(): text.get_color() for text in results.plot.frontier("train.throughput_per_s").texts}
    assert labels == tail == policy_colours(["passthrough", "nvshare"])


def test_a_picture_that_is_not_there_is_said_to_have_another_name(results):
    with pytest.raises(AttributeError, match=r"there is no picture `plot.pareto`: it is `plot.frontier` now"):
        results.plot.pareto("train.throughput_per_s")
    with pytest.raises(AttributeError, match=r"there is no picture `plot.frame_tial`: did you mean .*frame_tail"):
        results.plot.frame_tial("game")
    assert not hasattr(results.plot, "nothing_like_it")


def test_the_frontier_hollows_what_another_policy_beats(results):
    axes = results.plot.frontier("harvest_ratio", "frame_time_p99_ms")
    filled = {line.get_markerfacecolor() != "white" for line in axes.lines if line.get_marker() == "o"}
    value = {metric: results.summary(metric).set_index("policy").value
             for metric in ("harvest_ratio", "frame_time_p99_ms")}
    is_beaten = (value["harvest_ratio"]["passthrough"] >= value["harvest_ratio"]["nvshare"]
                 and value["frame_time_p99_ms"]["passthrough"] < value["frame_time_p99_ms"]["nvshare"])
    assert is_beaten and filled == {True, False}


def test_a_picture_asks_whose_metric(results):
    with pytest.raises(corun.InputError, match="several clients have `throughput_per_s`: name one, as in \"game"):
        results.plot.frontier("throughput_per_s")
    with pytest.raises(corun.InputError, match="no metric `fps_2low`: did you mean .*`fps_1low`"):
        results.plot.frontier("harvest_ratio", "fps_2low")
    with pytest.raises(corun.InputError, match="no metric `slowdown` of client `trian`: did you mean `train`"):
        results.plot.frontier("trian.slowdown")


def test_axes_have_the_headings_of_tables_and_units(results):
    axes = results.plot.frontier("train.throughput_per_s", "fps_1low")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("train: throughput (1/s)", "game: 1% low (fps)")
    assert results.plot.frontier("harvest_ratio", "missed_frame_ratio").get_xlabel() == "harvest"


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
    with pytest.raises(corun.InputError, match="no client `gme`: did you mean `game`"):
        results.plot.frame_tail("gme")
    with pytest.raises(corun.InputError, match="no frames of client `train`"):
        results.plot.frame_tail("train")
    with pytest.raises(corun.InputError, match="no scenario `two`: there are pair"):
        results.plot.frame_tail("game", scenario="two")
    with pytest.raises(corun.InputError, match="no policy `nvshar`: did you mean `nvshare`"):
        results.plot.frame_tail("game", policies=["nvshar"])


@pytest.fixture(scope="module")
def swept():
    """Two quanta at two rates of the game, three seeds."""
    with corun.sweep(PAIR, {"nvshare.quantum": ["10ms", "40ms"], "clients.game.pacing": ["30fps", "60fps"]},
                     until="500ms", seed=[1, 2, 3]) as results:
        yield results


@pytest.fixture(scope="module")
def one_parameter():
    with corun.sweep(PAIR, {"nvshare.quantum": ["10ms", "40ms", "400ms"]}, until="500ms", seed=[1, 2, 3]) as results:
        yield results


def values_of(results, metric, policy, client):
    """The rows of the summary of one figure, by point."""
    return results.summary(metric).query("policy == @policy and client == @client").set_index("point")


def band_of(axes, policy):
    """{place: (low, high)} of the band that is drawn in a policy's colour."""
    colour = policy_colours(["passthrough", "nvshare"])[policy]
    band = next(band for band in axes.collections
                if isinstance(band, PolyCollection) and to_hex(band.get_facecolor()[0]) == colour)
    ends = {}
    for x, y in band.get_paths()[0].vertices:
        ends.setdefault(round(float(x), 6), []).append(float(y))
    return {x: (min(ys), max(ys)) for x, ys in ends.items()}


def test_a_sweep_is_a_line_with_its_interval_for_each_policy(one_parameter):
    axes = one_parameter.plot.sweep("train.throughput_per_s")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("nvshare.quantum (ms)", "train: throughput (1/s)")
    lines = {line.get_label(): line for line in axes.lines}
    assert {label: line.get_color() for label, line in lines.items()} == policy_colours(["passthrough", "nvshare"])
    expected = values_of(one_parameter, "throughput_per_s", "nvshare", "train")
    assert list(lines["nvshare"].get_xdata()) == [10, 40, 400]
    assert list(lines["nvshare"].get_ydata()) == pytest.approx(list(expected.value))
    assert len(set(lines["passthrough"].get_ydata())) == 1, "which no quantum changes"
    band = band_of(axes, "nvshare")
    assert [band[place] for place in (10, 40, 400)] == [pytest.approx(ends) for ends in zip(expected.lo, expected.hi)]
    assert axes.get_xscale() == "log", "over a factor of 20"
    with pytest.raises(corun.InputError, match="no parameter `nvshare.quantun`: did you mean `nvshare.quantum`"):
        one_parameter.plot.sweep("fps_mean", "nvshare.quantun")


def test_a_sweep_of_more_parameters_shows_their_range(swept):
    axes = swept.plot.sweep("fps_mean", "clients.game.pacing", policies=["nvshare"])
    assert axes.get_xlabel() == "clients.game.pacing (/s)" and axes.get_xscale() == "linear"
    (line,), by_point = axes.lines, values_of(swept, "fps_mean", "nvshare", "game").value
    at = swept.points.set_index("point")["clients.game.pacing_per_s"]
    its = {rate: [by_point[point] for point in by_point.index if at[point] == rate] for rate in (30, 60)}
    assert list(line.get_xdata()) == [30, 60]
    assert list(line.get_ydata()) == pytest.approx([sum(values) / 2 for values in its.values()])
    assert band_of(axes, "nvshare") == {rate: pytest.approx((min(values), max(values))) for rate, values in its.items()}
    (marks,) = (marks for marks in axes.collections if isinstance(marks, PathCollection))
    assert sorted(marks.get_offsets()[:, 1]) == pytest.approx(sorted(by_point)), "a mark for each point"


def test_a_heatmap_has_a_cell_for_each_pair_of_values(swept):
    axes = swept.plot.heatmap("frame_time_p99_ms", "nvshare")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("nvshare.quantum (ms)", "clients.game.pacing (/s)")
    assert [label.get_text() for label in axes.get_xticklabels()] == ["10", "40"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["30", "60"]
    by_point = values_of(swept, "frame_time_p99_ms", "nvshare", "game").value
    points = swept.points.set_index("point")
    cells = axes.collections[0].get_array().reshape(2, 2)
    for point, value in by_point.items():
        quantum, rate = points.loc[point]
        assert cells[[30, 60].index(rate), [10_000_000, 40_000_000].index(quantum)] == pytest.approx(value)
    assert sorted(text.get_text() for text in axes.texts) == sorted(f"{value:.3g}" for value in by_point)
    turned = swept.plot.heatmap("frame_time_p99_ms", "nvshare", x="clients.game.pacing")
    assert turned.get_xlabel() == "clients.game.pacing (/s)" and turned.get_ylabel() == "nvshare.quantum (ms)"


def test_what_is_no_sweep_has_no_sweeps_pictures(results, one_parameter):
    for draw in (results.plot.sweep, lambda metric: results.plot.heatmap(metric, "nvshare")):
        with pytest.raises(corun.InputError, match="is no sweep"):
            draw("fps_mean")
    with pytest.raises(corun.InputError, match="2 parameters are to be shown, and the sweep has nvshare.quantum"):
        one_parameter.plot.heatmap("fps_mean", "nvshare")


def test_the_frontier_of_a_sweep_has_a_point_for_each_setting(one_parameter):
    axes = one_parameter.plot.frontier("train.throughput_per_s", "frame_time_p99_ms")
    marks = [line for line in axes.lines if line.get_marker() == "o"]
    assert len(marks) == 3 + 1, "passthrough is the same at all points"
    throughput = values_of(one_parameter, "throughput_per_s", "nvshare", "train").value
    frame = values_of(one_parameter, "frame_time_p99_ms", "nvshare", "game").value
    drawn = {(mark.get_xdata()[0], mark.get_ydata()[0]) for mark in marks}
    assert set(zip(throughput, frame)) < drawn
    best = {point for point in drawn if not any(other[0] >= point[0] and other[1] <= point[1] and other != point
                                                for other in drawn)}
    front = next(line for line in axes.lines if line.get_label() == "not beaten in both")
    assert set(zip(front.get_xdata(), front.get_ydata())) == best
    assert {(mark.get_xdata()[0], mark.get_ydata()[0]) for mark in marks
            if mark.get_markerfacecolor() != "white"} == best


def test_a_family_of_policies_has_one_colour_and_a_line():
    variants = [{"nvshare": {"quantum": quantum}, "as": f"nvshare-{quantum}"} for quantum in ("10ms", "40ms")]
    experiment = corun.Experiment(PAIR).set("policies", ["passthrough", *variants])
    with corun.run(experiment, until="500ms", seed=1) as results:
        axes = results.plot.frontier("train.throughput_per_s", "fps_mean", family=lambda name: name.split("-")[0])
        assert [text.get_text() for text in axes.get_legend().get_texts()][1:] == ["passthrough", "nvshare"]
        own = [line for line in axes.lines if line.get_color() == policy_colours(["nvshare"])["nvshare"]
               and line.get_marker() != "o"]
        assert [len(line.get_xdata()) for line in own if line.get_marker() == "None"] == [2]


def test_effects_of_a_sweep_name_their_points(one_parameter):
    axes = one_parameter.plot.effects("passthrough", "fps_mean")
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        f"nvshare, nvshare.quantum {quantum}" for quantum in ("10ms", "40ms", "400ms")]


def test_pictures_for_a_paper_are_as_wide_as_a_column(results, tmp_path):
    plain, paper = (plot.frame_tail("game") for plot in (results.plot, results.plot.paper))
    assert paper.figure.get_size_inches()[0] == 3.35 < plain.figure.get_size_inches()[0]
    assert paper.xaxis.label.get_size() == 8 < plain.xaxis.label.get_size()
    assert paper.get_legend().get_texts()[0].get_size() == 7
    assert pyplot.rcParams["font.size"] == plain.xaxis.label.get_size(), "the settings are of the picture alone"


@pytest.mark.parametrize("ending, begin", [("pdf", b"%PDF"), ("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_a_picture_is_saved_as_the_same_file_each_time(results, tmp_path, ending, begin):
    files = []
    for number in (1, 2):
        plot = results.plot.paper
        files.append(plot.save(plot.frame_tail("game"), tmp_path / f"{number}.{ending}").read_bytes())
    assert files[0] == files[1] and files[0].startswith(begin)
    if ending == "pdf":
        assert b"/Type3" not in files[0], "text stays text"


def test_a_picture_is_not_saved_as_anything(results, tmp_path):
    with pytest.raises(corun.InputError, match="saved as .png, .pdf, .svg"):
        results.plot.save(results.plot.frame_tail("game"), tmp_path / "tail.doc")


MAIN = ["passthrough", "exclusive", "pilotfish", "nvshare", "gaiagpu", "djay", "mps_percentage", "mig"]


def test_main_policies_have_the_same_colour_in_all_figures():
    alone = {policy: policy_colours([policy])[policy] for policy in MAIN}
    assert len(set(alone.values())) == len(MAIN)
    together = policy_colours(["mine", *reversed(MAIN), "yours"])
    assert {policy: together[policy] for policy in MAIN} == policy_colours(MAIN) == alone


def test_other_policies_have_a_colour_that_follows_their_name():
    swept = "pilotfish, margin 2ms"
    assert policy_colours([swept])[swept] == policy_colours(["pilotfish"])["pilotfish"]
    assert policy_colours(["orion"]) == {"orion": policy_colours(["passthrough", "exclusive", "orion"])["orion"]}
    names = [f"policy{number}" for number in range(7)]
    assert len(set(policy_colours(names).values())) == 7, "as long as there are any left"
    assert len(set(_core.looks([f"policy{number}" for number in range(40)]))) == 40


def test_a_report_has_the_same_colours(results, tmp_path):
    page = results.report(tmp_path / "page.html").read_text()
    contents = json.loads(re.search(r'id="contents">(.*?)</script>', page, re.DOTALL)[1])
    light = dict(re.findall(r"--c(\d): (#[0-9a-f]{6});", re.search(r":root \{ --c0.*?\}", page)[0]))
    drawn = {setting["label"]: light[str(setting["look"] % contents["colours"])]
             for setting in contents["scenarios"][0]["settings"]}
    assert drawn == policy_colours(["passthrough", "nvshare"])
