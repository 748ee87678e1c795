"""Every notebook runs from a clean checkout in under a minute, asserts something, and is committed without outputs."""

import os

import nbformat
import pytest
from nbclient import NotebookClient

from conftest import PACKAGE, ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def notebook(request):
    return nbformat.read(request.param, as_version=4)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def test_there_are_notebooks():
    assert NOTEBOOKS


def test_is_committed_without_outputs(notebook):
    assert all(not cell.outputs and cell.execution_count is None for cell in code_cells(notebook))


def test_asserts_something_at_the_end(notebook):
    assert "assert " in code_cells(notebook)[-1].source


@pytest.mark.skipif(PACKAGE == ROOT / "python", reason="the compiled part is not built: ./dev build")
def test_runs_in_a_minute(notebook, monkeypatch, tmp_path):
    monkeypatch.setitem(os.environ, "CORUN_RESULTS", str(tmp_path / "quickstart.sqlite"))
    NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(ROOT / "notebooks")}}).execute()
