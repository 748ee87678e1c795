"""What `simcli report` writes, looked at in a headless Chromium as its reader would."""

import gzip
import pathlib
import re
import shutil
import sqlite3
import subprocess

import pytest

from report_pages import figures, report, run, show
from test_transcripts import ROOT, simcli
from written_results import Results, throughputs

HOSTILE = "</script><img src=x onerror=\"window.hacked=1\"><svg onload='window.hacked=1'>${7*7}\u2028\"'&amp;"
LIVE = [*sorted((ROOT / "studies" / "live" / "short-windows").glob("*.sqlite.gz")),
        ROOT / "studies" / "live" / "players" / "players.sqlite.gz"]
VALIDATION = ROOT / "studies" / "validation" / "h200" / "part1.sqlite.gz"


def test_every_figure_is_drawn_without_a_complaint_or_a_request(page, results):
    path, _ = report(results)
    show(page, path)
    assert figures(page) == ["trade-off", "rates", "distribution", "courses", "parts", "timeline", "device"]
    assert page.evaluate("document.querySelector('h1').textContent") == "small"


@pytest.mark.parametrize("width", [360, 1500])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_narrow_and_wide_windows_in_light_and_dark(page, results, width, scheme):
    path, _ = report(results)
    page.prefer(scheme)
    page.resize(width, 900)
    show(page, path)
    figures(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.documentElement.dataset.theme") == scheme
    page.resize(1100, 900)


def test_expectations_are_judged_as_by_the_run(page, results):
    path, contents = report(results)
    [scenario] = contents["scenarios"]
    verdicts = {v["text"].split(":")[0]: (v["holds"], v["decides"]) for v in scenario["verdicts"]}
    assert verdicts["exclusive.game.fps_mean >= 59fps"] == (True, True)
    assert verdicts["passthrough.train.throughput <= 0.5 * exclusive.train.throughput"] == (False, True)
    assert verdicts["exclusive.game.fps_mean >= 59fps"][0] and len(verdicts) == 4  # one of qos repeats an expectation
    show(page, path)
    assert "1 of 2 expectations are not met" in page.evaluate("document.getElementById('answer').textContent")


def test_it_shows_the_experiment_that_it_comes_from(results):
    _, contents = report(results)
    [experiment] = contents["experiments"]
    assert experiment["text"] == (results.parent / "small.yaml").read_text()
    assert experiment["file"] == "small.yaml" and experiment["description"] == "A game beside training."
    assert contents["command"].startswith("simcli report ")


def test_figures_are_the_means_of_the_results(results):
    _, contents = report(results)
    [scenario] = contents["scenarios"]
    shown = {(scenario["settings"][setting]["label"], client, metric): mean
             for setting, client, metric, mean, *_ in scenario["values"]}
    database = sqlite3.connect(results)
    for policy, client, metric, mean in database.execute(
            "SELECT policy, client, metric, avg(value) FROM metrics JOIN runs ON id = run GROUP BY 1, 2, 3"):
        assert shown[policy, client, metric] == pytest.approx(mean, rel=1e-5)


def test_the_parts_of_a_late_frame_add_up_to_its_time(results):
    _, contents = report(results)
    late = [frame for run_ in contents["scenarios"][0]["late"] for frame in run_["frames"]]
    assert late
    for frame in late:
        parts = [int(part) for part in frame["parts"].split()]
        assert sum(parts) == pytest.approx(frame["us"], abs=len(parts))
        assert min(parts) >= 0


def test_distributions_are_quantiles_of_the_frames_behind_the_warm_up(results):
    _, contents = report(results)
    [scenario] = contents["scenarios"]
    database = sqlite3.connect(results)
    for drawn in scenario["distributions"]:
        times = []
        for run_, warmup, horizon in database.execute("SELECT id, warmup_ns, horizon_ns FROM runs WHERE policy = ?",
                                                      (scenario["settings"][drawn["setting"]]["label"],)):
            shown = [row[0] for row in database.execute(
                "SELECT present_ns FROM frames WHERE run = ? AND client = ? ORDER BY 1", (run_, drawn["client"]))]
            times += [b - a for a, b in zip(shown, shown[1:]) if a >= warmup and b < horizon]
        times.sort()
        assert drawn["frames"] == len(times)
        for share, us in zip(contents["probabilities"], map(int, drawn["us"].split())):
            assert us == times[max(0, -int(-(share * len(times) - 1e-9) // 1) - 1)] // 1000, share


def test_every_metric_is_explained(results):
    _, contents = report(results)
    used = {value[2] for value in contents["scenarios"][0]["values"]}
    assert used <= set(contents["metrics"])
    assert contents["metrics"]["fps_1low"].startswith("rate of the mean of the slowest 1 % of frame times")


def test_switching_series_and_frames_redraws(page, results):
    path, _ = report(results)
    show(page, path)
    figures(page)
    curves = "document.querySelector('figure[data-figure=distribution]').charts.map(c => c.data.datasets.length)"
    before = page.evaluate(curves)
    page.evaluate("document.querySelector('figure[data-figure=distribution] .legend button').click()")
    assert page.evaluate(curves) == [count - 1 for count in before]
    words = "document.querySelector('.why').textContent"
    first = page.evaluate(words)
    page.evaluate("document.querySelectorAll('figure[data-figure=timeline] .frames button')[1].click()")
    assert page.evaluate(words) != first
    assert page.complaints == []


def test_hostile_names_stay_text(page, results, tmp_path):
    hostile = tmp_path / "hostile.sqlite"
    shutil.copy(results, hostile)
    database = sqlite3.connect(hostile)
    for table, columns in {"runs": ["experiment", "scenario", "policy", "parameters", "device", "notes"],
                           "metrics": ["client", "metric", "unit"], "frames": ["client"], "holds": ["client", "rule"],
                           "decisions": ["client", "action"], "operations": ["client", "name"],
                           "experiments": ["name", "description", "file", "changes", "text"],
                           "expectations": ["scenario", "text", "policy"]}.items():
        for column in columns:
            database.execute(f"UPDATE {table} SET {column} = {column} || ?", (HOSTILE,))
    database.execute("UPDATE metrics SET client = 'device' WHERE client LIKE 'device%'")
    database.execute("UPDATE metrics SET metric = replace(metric, ?, ''), unit = replace(unit, ?, '')", (HOSTILE,) * 2)
    database.commit()
    database.close()
    path, _ = report(hostile)
    assert path.read_text().count("<script") == 3
    show(page, path)
    assert "timeline" in figures(page)
    assert page.evaluate("window.hacked") is None
    assert page.evaluate("document.querySelectorAll('img, iframe, [onerror], [onload]').length") == 0
    assert page.evaluate("document.querySelector('h1').textContent") == "small" + HOSTILE
    assert HOSTILE.replace("\u2028", "") in page.evaluate("document.body.textContent").replace("\u2028", "")


def test_the_page_may_run_nothing_but_its_own_script(page, results):
    path, _ = report(results)
    show(page, path)
    page.evaluate("document.body.append("
                  "Object.assign(document.createElement('script'), {textContent: 'window.hacked=1'}))")
    assert page.evaluate("window.hacked") is None
    assert any("Content Security Policy" in text for text in page.complaints)


def test_the_same_results_give_the_same_bytes(results):
    first = report(results)[0].read_bytes()
    assert report(results)[0].read_bytes() == first


def test_several_files_are_one_report(page, results, tmp_path):
    with Results(tmp_path / "other.sqlite", scenario="elsewhere") as other:
        throughputs(other, "exclusive", [4, 5, 6])
        throughputs(other, "shared", [2, 3, 4])
    output = tmp_path / "both.html"
    run("report", results, tmp_path / "other.sqlite", "-o", output)
    show(page, output)
    assert "rates" in figures(page)
    assert "elsewhere" in page.evaluate("document.querySelector('nav').textContent")


@pytest.mark.parametrize("packed", [*LIVE, VALIDATION], ids=lambda path: path.name)
def test_reports_of_measurements_are_drawn(page, packed, tmp_path):
    results = tmp_path / packed.stem
    results.write_bytes(gzip.decompress(packed.read_bytes()))
    path, contents = report(results)
    show(page, path)
    assert ("validation" in figures(page)) == bool(contents["validation"])
    assert "nan" not in page.evaluate("document.getElementById('report').innerText")


def test_a_sweep_of_hundreds_of_points_stays_readable(page, tmp_path):
    with Results(tmp_path / "sweep.sqlite") as sweep:
        sweep.database.executescript("""
            CREATE TABLE IF NOT EXISTS points (point INTEGER, parameter TEXT, value TEXT, number REAL, unit TEXT);
            CREATE TABLE IF NOT EXISTS planned_runs (position INTEGER, point INTEGER, run TEXT);""")
        for point in range(300):
            margin = 100 + point
            metrics = [("game", "frame_time_p99_ms", 30 - point / 30, "ms"), ("game", "fps_mean", 60, "fps"),
                       ("device", "harvest_ratio", 0.9 - point / 600, "ratio")]
            name = sweep.run("pilotfish", 1, metrics, horizon_s=10 + point)
            sweep.database.execute("INSERT INTO points VALUES (?,'pilotfish.margin',?,?,'ns')",
                                   (point, f"{margin}us", margin * 1000))
            sweep.database.execute("INSERT INTO planned_runs VALUES (?,?,?)", (point, point, name))
        sweep.run("passthrough", 1, [("game", "frame_time_p99_ms", 35, "ms"), ("game", "fps_mean", 30, "fps"),
                                     ("device", "harvest_ratio", 1.1, "ratio")])
    path, contents = report(tmp_path / "sweep.sqlite")
    labels = [setting["label"] for setting in contents["scenarios"][0]["settings"]]
    assert len(labels) == 301 and "pilotfish (margin=100us)" in labels and "passthrough" in labels
    show(page, path)
    assert {"trade-off", "sensitivity", "rates"} <= set(figures(page))
    assert path.stat().st_size < 1_000_000


def test_a_client_that_a_point_does_not_have_is_not_said_to_be_refused(page, tmp_path):
    (tmp_path / "count.yaml").write_text("""\
name: count
device: h200
horizon: 500ms
clients: [{ name: load, synthetic: { kernels: { duration: 2ms } } }]
policies: [passthrough]
sweep: { clients.load.count: [1, 3] }
""")
    run("sweep", tmp_path / "count.yaml", "-o", tmp_path / "count.sqlite", "--progress", "none")
    path, _ = report(tmp_path / "count.sqlite")
    show(page, path)
    text = page.evaluate("document.getElementById('report').innerText")
    assert "refused" not in text
    page.evaluate("document.querySelector('#scenario-1 details').open = true")
    page.wait_for("document.querySelector('#scenario-1 details table') !== null")
    rows = page.evaluate("document.querySelector('#scenario-1 details').querySelectorAll('tbody tr').length")
    assert rows == 4, "one client at the first point, three at the second"


def test_a_sweep_says_what_it_found_and_how_to_run_it_again(tmp_path):
    results = tmp_path / "sweep.sqlite"
    subprocess.run([simcli(), "sweep", "sweep.yaml", "-o", results, "--seed", "1", "--progress", "none"], check=True,
                   capture_output=True, cwd=ROOT / "tests" / "experiments" / "transcripts" / "files")
    _, contents = report(results)
    texts = [effect["text"] for effect in contents["effects"]]
    assert any(re.search(r"nvshare gives game .* \(least of 3 points: nvshare.quantum 50ms\)", text)
               for text in texts), texts
    assert contents["experiments"][0]["again"] == "simcli sweep sweep.yaml --seed 1"


def test_the_commands_of_the_page_do_what_it_says(results, tmp_path):
    page = re.sub(r"```python\n.*?```\n", "", (ROOT / "docs" / "report.md").read_text(), flags=re.DOTALL)
    commands = [line.split() for block in re.findall(r"```\n(.*?)```", page, re.DOTALL) for line in block.splitlines()]
    assert len(commands) >= 10
    (tmp_path / "results").mkdir()
    shutil.copy(results, tmp_path / "results" / "quickstart.sqlite")
    with sqlite3.connect(tmp_path / "results" / "quickstart.sqlite") as database:
        database.execute("UPDATE runs SET scenario = 'pair'")
    shutil.copy(ROOT / "tests" / "experiments" / "transcripts" / "files" / "together.corun", tmp_path / "game.corun")
    for words in commands:
        if words[1] == "view":
            continue  # does not end by itself: test_view.py
        done = subprocess.run([str(simcli()), *words[1:]], cwd=tmp_path, capture_output=True, text=True, timeout=60,
                              check=False)
        assert done.returncode == 0, (words, done.stderr)
        assert (tmp_path / words[words.index("-o") + 1]).stat().st_size > 100, words


def test_runs_of_two_results_revisions_are_told_below_their_table(page, tmp_path):
    files = [tmp_path / "old.sqlite", tmp_path / "new.sqlite"]
    for path, policy, revision in zip(files, ("exclusive", "pilotfish"), ("1", "2")):
        with Results(path) as written:
            throughputs(written, policy, [10.0, 11.0])
            written.of_revision(revision)
    run("report", *files, "-o", tmp_path / "both.html")
    show(page, tmp_path / "both.html")
    words = page.evaluate("document.querySelector('#scenario-1').innerText")
    assert "of several results revisions" in words and "exclusive of revision 1; pilotfish of revision 2" in words
    run("report", files[0], "-o", tmp_path / "one.html")
    assert "results revision" not in (tmp_path / "one.html").read_text()


def test_what_is_no_results_file_is_refused(tmp_path):
    (tmp_path / "x.sqlite").write_text("no")
    done = run("report", tmp_path / "x.sqlite", "-o", tmp_path / "r.html", check=False)
    assert done.returncode == 2 and not (tmp_path / "r.html").exists()


def test_a_report_that_exists_is_kept(results, tmp_path):
    kept = tmp_path / "kept.html"
    kept.write_text("mine")
    done = run("report", results, "-o", kept, check=False)
    assert done.returncode == 2 and kept.read_text() == "mine"


def test_the_page_needs_no_other_file():
    page = "".join(path.read_text() for path in pathlib.Path(ROOT, "experiments/report/page").iterdir())
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|@import|fetch\(|XMLHttpRequest|innerHTML|document\.write",
                         page)
