"""A browser, and the results of a small experiment, for all tests of reports."""

import pytest

from report_pages import EXPERIMENT, ROOT, browser, run


@pytest.fixture(name="results", scope="session")
def results_of_an_experiment(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    (folder / "small.yaml").write_text(EXPERIMENT.format(root=ROOT))
    run("run", folder / "small.yaml", "-o", folder / "small.sqlite", "--progress", "none")
    return folder / "small.sqlite"


@pytest.fixture(name="page", scope="module")
def page_of_a_browser():
    if browser.PROGRAM is None:
        pytest.skip("no Chromium is installed")
    with browser.page() as page:
        page.resize(1100, 900)
        yield page
