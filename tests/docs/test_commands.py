"""Every command that README.md, docs/ and studies/ show is run by a test and prints what they show, or is listed here
with why not.

How pages are read: pages.py. `--update [PAGE...]` rewrites the output that pages show, `--update --fill PAGE`
also where a page shows none.
"""

import pathlib
import re
import sys
import tempfile

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import pages

GPU = "needs a GPU"
# What is shown and not run here: page -> [(begin of the line, why)].
NOT_RUN = {
    "README.md": [
        ("./dev run", "the build itself; tests/fresh_root.sh runs it on an empty system"),
        ("./dev test", "the tests themselves"),
    ],
    "docs/tutorial.md": [("./dev build", "the build itself; tests/fresh_root.sh runs it on an empty system")],
    "docs/calibrate.md": [("simcli calibrate --gpu", GPU)],
    "docs/capture.md": [("simtrace", GPU + "; tests/tracer runs them on stand-ins"), ("python3 train.py", GPU)],
    "docs/cluster.md": [("simcli run experiments/cluster/openb.yaml",
                         "needs a public trace that is not in the repository"),
                        ("simcli run experiments/cluster", "seconds each; tests/sim/cluster compares both"),
                        ("studies/cluster/by_mix_error.py", "reads what these write")],
    "docs/execute.md": [("simcli execute", GPU + "; tests/sim/executor runs it on a stand-in")],
    "docs/games.md": [("python3 tests/hardware", GPU)],
    "docs/identify.md": [("simcli identify",
                          "minutes of computing, or a GPU; tests/experiments/identify runs it smaller")],
    "docs/serving.md": [("simtrace record", GPU + "; tests/servers runs the engine without one")],
    "docs/install.md": [("", "builds and installs; tests/install and tests/python/test_install.py do it")],
    "docs/live.md": [("simcli live", GPU), ("simcli control", GPU + "; tests/sim/live does it on a stand-in"),
                     ("simcli validate --live", GPU + "; tests/sim/live runs it on a stand-in"),
                     ("$ simcli live", GPU),
                     ("$ curl", "tests/sim/live/test_live_metrics.py compares it with a scrape")],
    "docs/policies/block_time_limiter.md": [("", "a minute of computing; `./dev reproduce` runs it")],
    "docs/policies/nvshare_adaptive.md": [("", "minutes of computing; `./dev reproduce` runs it")],
    "docs/policies/rivals.md": [("", "minutes of computing; `./dev reproduce` runs it")],
    "docs/report.md": [("", "tests/experiments/report/test_report.py runs them, test_view.py `view`")],
    "docs/sweep.md": [("python3 search.py",
                       "needs Optuna; tests/python/test_searching.py runs it where that is installed"),
                      ("python3 tests/python/dask_sweep.py", "minutes of computing; test_sweeping.py runs it smaller"),
                      ("python3 tests/experiments/kill_and_resume.py",
                       "minutes of computing; test_sweep.py runs it smaller")],
    "docs/validate.md": [("studies/validation/score.py", "writes into the checkout"),
                         ("simcli validate",
                          "minutes of computing, or a GPU; tests/experiments/validate runs it smaller")],
}
RUN = [page for page in pages.PAGES
       if any(block.info in ("console", "python") or block.file_name for block in pages.blocks(pages.read_page(page)))]


def why_not(page, line):
    if page in pages.STUDIES:
        return ("needs a GPU, or minutes of computing; "
                "tests/experiments/test_accuracy.py runs the script on made-up results")
    return next((why for begin, why in NOT_RUN.get(page, []) if line.startswith(begin)), None)


@pytest.mark.parametrize("page", pages.PAGES)
def test_what_looks_like_a_command_is_run_or_listed(page):
    loose = [line for block, line in pages.shown_commands(page) if block.info != "console" and not why_not(page, line)]
    assert not loose, f"show it in a ```console block as `$ {loose[0]}`, or list it in NOT_RUN with the reason"


@pytest.mark.parametrize("page", NOT_RUN)
def test_what_is_listed_is_shown(page):
    lines = [line for block, line in pages.shown_commands(page) if block.info != "console"]
    assert not [begin for begin, _ in NOT_RUN[page] if not any(line.startswith(begin) for line in lines)]


@pytest.mark.parametrize("page", RUN)
def test_commands_print_what_is_shown(page, tmp_path):
    if not (pages.BUILD / "simcli").exists():
        pytest.skip("simcli is not built: ./dev build")
    pages.make_folder(tmp_path)
    for step, actual in pages.play(page, tmp_path):
        shown = "\n".join(step.expected)
        assert pages.matches(step.expected, actual), (f"{page}: $ {step.command}\n--- shown\n{shown}\n--- printed\n"
                                                      + "\n".join(actual))


@pytest.mark.parametrize("expected, actual, fits", [
    (["a", "[...]", "c"], ["a", "b", "b", "c"], True),
    (["a [...] c"], ["a b c"], True),
    (["a [...] c"], ["a", "c"], False),
    ([], ["anything"], True),
    ([], ["anything", "[exit 2]"], False),
    (["[exit 2]"], ["anything", "[exit 2]"], True),
    (["a"], ["a", "b"], False),
    (["a.c"], ["abc"], False),
])
def test_output_is_compared_line_by_line(expected, actual, fits):
    assert pages.matches(expected, actual) == fits


def test_links_lead_somewhere():
    """Relative links of README, docs and studies name a file."""
    broken = []
    for page in pages.PAGES + pages.STUDIES:
        for target in re.findall(r"\]\(([^)#: ]+)(?:#[^)]*)?\)",
                                 re.sub(r"```.*?```", "", pages.read_page(page), flags=re.DOTALL)):
            if not (pages.ROOT / page).parent.joinpath(target).exists():
                broken.append(f"{page}: {target}")
    assert not broken


def update(chosen, is_filling):
    """Rewrites the output of every command whose shown one does not fit;
    with `is_filling`, where none is shown as well."""
    for page in chosen or RUN:
        text = pages.read_page(page)
        with tempfile.TemporaryDirectory() as folder:
            pages.make_folder(pathlib.Path(folder))
            for step, actual in pages.play(page, pathlib.Path(folder)):
                if not pages.matches(step.expected, actual) or (is_filling and not "".join(step.expected)):
                    shown, printed = (f"$ {step.command}\n" + "".join(line + "\n" for line in lines)
                                      for lines in (step.expected, actual))
                    text = text.replace(shown, printed + "\n" * (step.expected[-1:] == [""]), 1)
        (pages.ROOT / page).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] != ["--update"]:
        sys.exit(__doc__)
    update([page for page in sys.argv[2:] if page != "--fill"], "--fill" in sys.argv)
