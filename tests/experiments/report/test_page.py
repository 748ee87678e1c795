"""The page of a report as a reader meets it: the first screen, figures by mouse and by keyboard, and how soon it
opens."""

import base64
import csv
import io
import math
import sqlite3
import struct

import pytest

from report_pages import figures, report, show
from written_results import Results

SIZES = [(1280, 800), (420, 800)]
# Where something ends, in pixels from the top of the page.
END = "Math.ceil(document.querySelector('{}').getBoundingClientRect().bottom + scrollY)"
# Texts that are seen, each with its contrast with what lies behind it: (text, ratio).
CONTRASTS = """(() => {
  const parse = c => c.match(/[\\d.]+/g).map(Number);
  const linear = v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => [r, g, b].map(v => linear(v / 255))
      .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = node => {
    const own = parse(getComputedStyle(node).backgroundColor);
    return own.length === 3 || own[3] > 0 ? own : behind(node.parentElement);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    const node = text.parentElement;
    if (!text.data.trim() || !node.checkVisibility() || ['SCRIPT', 'OPTION'].includes(node.tagName)) continue;
    if (node.closest('[aria-pressed=false], .repeated, .tip')) continue;
    const [a, b] = [light(parse(getComputedStyle(node).color)), light(behind(node))].sort((x, y) => y - x);
    found.push([text.data.slice(0, 40), (a + 0.05) / (b + 0.05)]);
  }
  return found; })()"""
FIGURE = "document.querySelector('figure[data-figure={}]')"


def range_of(page, name, axis="x"):
    return page.evaluate(f"(s => [s.min, s.max])({FIGURE.format(name)}.charts[0].scales.{axis})")


def press(page, key, modifiers=0):
    for kind in ("keyDown", "keyUp"):
        page.ask("Input.dispatchKeyEvent", type=kind, key=key, code=key, modifiers=modifiers)


def mouse(page, kind, x, y, **more):
    page.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left" if kind != "mouseMoved" else "none",
             buttons=1 if kind != "mouseReleased" else 0, clickCount=1, **more)


@pytest.fixture(name="small")
def page_of_the_small_experiment(page, results):
    path, _ = report(results)
    page.prefer("light")
    page.resize(1280, 800)
    show(page, path)
    figures(page)
    page.evaluate("scrollTo({top: 0, behavior: 'instant'})")
    return page


@pytest.mark.parametrize("width, height", SIZES)
def test_the_first_screen_has_the_verdict_and_what_every_client_keeps(page, results, width, height):
    path, contents = report(results)
    page.resize(width, height)
    show(page, path)
    words = page.evaluate("document.getElementById('answer').innerText")
    assert "1 of 2 expectations are not met" in words
    assert all(sentence in words for sentence in contents["scenarios"][0]["sentences"])
    assert page.evaluate(END.format("#answer p:last-of-type")) < height
    assert page.evaluate(END.format(".kept table")) < height
    assert page.evaluate("document.querySelectorAll('.kept tbody tr').length") == 3
    if width >= 1280:
        assert page.evaluate(END.format("#answer figure .drawing")) < height


def test_what_is_kept_is_the_rate_over_the_rate_alone(results):
    _, contents = report(results)
    [scenario] = contents["scenarios"]
    mean = {(setting, client, metric): value for setting, client, metric, value, *_ in scenario["values"]}
    assert len(scenario["kept"]) == 6
    for setting, client, kept, low, high, band_low, band_high in scenario["kept"]:
        rate = mean.get((setting, client, "fps_mean"), mean[setting, client, "throughput_per_s"])
        assert kept == pytest.approx(rate / mean[setting, client, "solo_throughput_per_s"], rel=1e-3)
        assert low <= kept <= high
        assert band_low is None or band_low <= kept * 1.0001 and kept <= band_high * 1.0001


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_from_its_ground(page, results, scheme):
    path, _ = report(results)
    page.prefer(scheme)
    show(page, path)
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    page.wait_for("document.querySelectorAll('details table').length > 5")
    found = page.evaluate(CONTRASTS)
    page.prefer("light")
    assert len(found) > 100
    assert [(text, ratio) for text, ratio in found if ratio < 4.5] == []


def test_the_tab_key_reaches_controls_and_figures(small):
    reached = set()
    for _ in range(60):
        press(small, "Tab")
        reached.add(small.evaluate("document.activeElement.tagName + ':' + (document.activeElement.getAttribute("
                                   "'aria-label') || document.activeElement.textContent).slice(0, 30)"))
    assert any(name.startswith("CANVAS:Figure 1.") for name in reached)
    assert {"BUTTON:Zoom in", "BUTTON:Reset the zoom", "BUTTON:Save the figure as a picture"} <= reached


def test_arrow_keys_walk_through_marks_and_say_them(small):
    small.evaluate(f"{FIGURE.format('rates')}.querySelector('canvas').focus()")
    said = []
    for _ in range(3):
        press(small, "ArrowRight")
        said.append(small.evaluate("document.querySelector('.tip').textContent"))
    assert [text.split(",")[0] for text in said] == ["exclusive", "passthrough", "pilotfish"]
    assert small.evaluate("!document.querySelector('.tip').hidden")
    press(small, "Escape")
    assert small.evaluate("document.querySelector('.tip').hidden")


def test_keys_zoom_move_and_reset(small):
    home = range_of(small, "trade-off")
    small.evaluate(f"{FIGURE.format('trade-off')}.querySelector('canvas').focus()")
    press(small, "+")
    low, high = range_of(small, "trade-off")
    assert high - low == pytest.approx(0.6 * (home[1] - home[0]), rel=1e-6)
    press(small, "ArrowRight", modifiers=8)
    assert range_of(small, "trade-off")[0] == pytest.approx(low + (high - low) / 4, rel=1e-6)
    press(small, "0")
    assert range_of(small, "trade-off") == pytest.approx(home)


def test_a_drag_zooms_and_the_button_resets(small):
    home = range_of(small, "trade-off")
    x, y, width, height = small.evaluate(
        "(c => { const b = c.canvas.getBoundingClientRect(), a = c.chartArea;"
        " return [b.left + a.left, b.top + a.top, a.width, a.height]; })"
        f"({FIGURE.format('trade-off')}.charts[0])")
    mouse(small, "mousePressed", x + width / 4, y + height / 4)
    mouse(small, "mouseMoved", x + width / 2, y + height / 2)
    mouse(small, "mouseReleased", x + width / 2, y + height / 2)
    low, high = range_of(small, "trade-off")
    assert low == pytest.approx(home[0] + (home[1] - home[0]) / 4, abs=0.02 * (home[1] - home[0]))
    assert high == pytest.approx(home[0] + (home[1] - home[0]) / 2, abs=0.02 * (home[1] - home[0]))
    small.evaluate(f"{FIGURE.format('trade-off')}.querySelector('[aria-label=\"Reset the zoom\"]').click()")
    assert range_of(small, "trade-off") == pytest.approx(home)


def test_the_wheel_zooms_a_figure_only_after_a_click_on_it(small):
    home = range_of(small, "trade-off")
    x, y = small.evaluate(f"(b => [b.left + b.width / 2, b.top + b.height / 2])"
                          f"({FIGURE.format('trade-off')}.charts[0].canvas.getBoundingClientRect())")
    small.ask("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=-100)
    assert range_of(small, "trade-off") == home
    small.evaluate("scrollTo({top: 0, behavior: 'instant'})")
    small.evaluate(f"{FIGURE.format('trade-off')}.charts[0].canvas.focus({{preventScroll: true}})")
    small.ask("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=-100)
    low, high = range_of(small, "trade-off")
    assert high - low == pytest.approx(0.8 * (home[1] - home[0]), rel=1e-6)


def test_the_mouse_over_a_mark_shows_its_values(small):
    x, y = small.evaluate("(c => { const b = c.canvas.getBoundingClientRect(), m = c.getDatasetMeta(0).data[0];"
                          f" return [b.left + m.x, b.top + m.y]; }})({FIGURE.format('trade-off')}.charts[0])")
    mouse(small, "mouseMoved", x, y)
    small.wait_for("!document.querySelector('.tip').hidden")
    assert "p99 frame time" in small.evaluate("document.querySelector('.tip').textContent")


def test_every_figure_is_saved_as_a_picture_and_as_its_numbers(small):
    for name in small.evaluate("[...document.querySelectorAll('figure')].map(f => f.dataset.figure)"):
        address = small.evaluate(f"{FIGURE.format(name)}.png()")
        picture = base64.b64decode(address.removeprefix("data:image/png;base64,"))
        width, height = struct.unpack(">II", picture[16:24])
        assert picture[:8] == b"\x89PNG\r\n\x1a\n" and width > 800 and height > 300, name
        heads, *rows = csv.reader(io.StringIO(small.evaluate(f"{FIGURE.format(name)}.csv()")))
        assert rows and {len(row) for row in rows} == {len(heads)}, name
        shown = small.evaluate(f"{FIGURE.format(name)}.querySelector('details').open = true")
        assert shown
        small.wait_for(f"{FIGURE.format(name)}.querySelectorAll('details tbody tr').length === {min(len(rows), 500)}")


def test_the_timeline_shows_any_half_second(small):
    lanes = small.evaluate(f"{FIGURE.format('timeline')}.csv()")
    assert "game: frames" in lanes and "train: device" in lanes
    for instant in (0, 700, 1400):
        small.evaluate(f"(i => {{ i.value = {instant}; i.dispatchEvent(new Event('input')); }})"
                       f"({FIGURE.format('timeline')}.querySelector('input[type=range]'))")
        low, high = range_of(small, "timeline")
        assert low == pytest.approx(instant, abs=1)
        rows = list(csv.DictReader(io.StringIO(small.evaluate(f"{FIGURE.format('timeline')}.csv()"))))
        assert {row["lane"] for row in rows} >= {"game: frames", "game: device", "train: device"}
        assert all(float(row["to, ms"]) >= low and float(row["from, ms"]) <= high for row in rows)


def test_the_timeline_has_what_the_results_have(results):
    _, contents = report(results)
    timeline = contents["scenarios"][0]["timelines"][0]
    assert (timeline["begin_us"], timeline["end_us"]) == (0, 2_000_000) and timeline["has_operations"]
    [game] = [lane for lane in timeline["lanes"] if lane["client"] == "game"]
    fields = [int(field) for field in game["frames"].split()]
    presents, start = [], 0
    for row in zip(*[iter(fields)] * 5):
        start += row[0]
        presents.append(start + row[3])
    setting = contents["scenarios"][0]["settings"][timeline["setting"]]["label"]
    with sqlite3.connect(results) as database:
        kept = [row[0] // 1000 for row in database.execute(
            "SELECT present_ns FROM frames JOIN runs ON id = run WHERE policy = ? AND seed = ? AND client = 'game' "
            "AND min(start_ns, gpu_begin_ns) < horizon_ns ORDER BY present_ns", (setting, timeline["seed"]))]
    assert len(kept) > 100 and presents == pytest.approx(kept, abs=1)


def test_a_long_run_has_a_stretch_around_its_longest_frame(tmp_path):
    with Results(tmp_path / "long.sqlite") as long:
        times = [round(i * 1e9 / 60) for i in range(1, 120_000)]
        late = 90_000
        times[late:] = [time + 400_000_000 for time in times[late:]]
        long.run("shared", 1, [("game", "fps_mean", 60, "fps")], horizon_s=2000, frames=[("game", times)])
    path, contents = report(tmp_path / "long.sqlite")
    [timeline] = contents["scenarios"][0]["timelines"]
    assert timeline["begin_us"] < times[late] / 1000 < timeline["end_us"]
    assert 500_000 < timeline["end_us"] - timeline["begin_us"] < timeline["horizon_us"] == 2000e6
    assert path.stat().st_size < 2_000_000


def test_chart_js_is_in_the_page_with_its_licence(results):
    text = report(results)[0].read_text()
    assert "Chart.js v3" in text and "Released under the MIT License" in text
    assert text.count("'sha256-") == 3 and "unsafe" not in text.split("</head>")[0]


def test_a_thousand_runs_open_within_a_second(page, tmp_path):
    with Results(tmp_path / "many.sqlite") as many:
        for setting in range(200):
            for seed in range(1, 6):
                many.run(f"policy{setting}", seed, [
                    ("game", "frame_time_p99_ms", 17 + setting / 9 + seed / 7, "ms"), ("game", "fps_mean", 60, "fps"),
                    ("game", "solo_throughput_per_s", 60, "/s"), ("train", "throughput_per_s", 9 + seed, "/s"),
                    ("train", "solo_throughput_per_s", 20, "/s"), ("device", "gpu_busy_ratio", 0.9, "ratio"),
                    ("device", "harvest_ratio", 0.5 + math.sin(setting) / 3, "ratio")],
                    frames=[("game", [round(i * 1e9 / 60) for i in range(1, 120)])] if setting < 12 else ())
    path, _ = report(tmp_path / "many.sqlite")
    page.ask("Performance.enable", timeDomain="threadTicks")  # processor time: other programs do not count
    show(page, path)
    assert page.evaluate(f"{FIGURE.format('trade-off')}.dataset.drawn") == "yes"
    took = {metric["name"]: metric["value"] for metric in page.ask("Performance.getMetrics")["metrics"]}
    page.ask("Performance.disable")
    assert took["TaskDuration"] < 1, took
    assert page.evaluate("document.querySelectorAll('#answer .kept tbody tr').length") <= 8
    assert path.stat().st_size < 1_500_000
