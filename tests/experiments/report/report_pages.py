"""Reports that `simcli report` writes, opened in a headless Chromium as their reader would."""

import json
import re
import subprocess
import sys

from test_transcripts import ROOT, simcli

sys.path.insert(0, str(ROOT / "tests" / "support"))
import browser  # noqa: E402, F401

EXPERIMENT = """\
version: 1
name: small
description: A game beside training.
device: h200
horizon: 2s
seeds: 2
clients:
  - name: game
    trace: {root}/traces/samples/h200/openarena_4k.corun
    pacing: 60fps
    qos: {{ fps_mean: ">= 59fps" }}
  - name: train
    synthetic: {{ training: {{ profile: resnet50 }} }}
policies: [exclusive, passthrough, pilotfish]
record: {{ operations: all }}
expect:
  - exclusive.game.fps_mean >= 59fps
  - passthrough.train.throughput <= 0.5 * exclusive.train.throughput
"""


def run(*arguments, check=True):
    done = subprocess.run([str(simcli()), *map(str, arguments)], capture_output=True, text=True, timeout=120)
    assert not check or done.returncode in (0, 6), done.stderr
    return done


def report(results, *options):
    """The path of the report on a results file, and what it draws."""
    output = results.with_suffix(".html")
    run("report", results, "-o", output, "-f", *options)
    island = re.search(r'<script type="application/json" id="contents">(.*?)</script>', output.read_text(),
                       re.DOTALL)[1]
    return output, json.loads(island)


def show(page, path):
    page.requests.clear()
    page.complaints.clear()
    page.open(path.as_uri())
    assert page.complaints == []
    assert page.requests == [path.as_uri()]


# Draws what was not near the window yet. Name, number of marks, and how many of them are nowhere.
FIGURES = """[...document.querySelectorAll('figure')].map(f => {
  f.dataset.drawn || f.draw();
  const marks = f.charts.flatMap(c => c.getSortedVisibleDatasetMetas().flatMap(meta => meta.data));
  return [f.dataset.figure, marks.length, marks.filter(m => !isFinite(m.x) || !isFinite(m.y)).length]; })"""


def figures(page):
    found = page.evaluate(FIGURES)
    for name, marks, broken in found:
        assert marks > 0 and broken == 0, (name, marks, broken)
    assert page.complaints == []
    return [name for name, *_ in found]
