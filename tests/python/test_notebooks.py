"""Every notebook runs from a clean checkout in under a minute, asserts something, and is committed without outputs."""

import ast
import json
import os
import re
import resource

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from built_package import PACKAGE, ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
SECONDS = 60
# An interpreter with another pandas than Debian's, for example of a virtual environment with the newest ones:
# pip install pandas matplotlib ipykernel. Its Python has to be the one that the package was built for.
OTHER_PYTHON = os.environ.get("CORUN_NOTEBOOK_PYTHON", "")
NEEDS_PACKAGE = pytest.mark.skipif(PACKAGE == ROOT / "python", reason="the compiled part is not built: ./dev build")


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def path(request):
    return request.param


@pytest.fixture
def notebook(path):
    return nbformat.read(path, as_version=4)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def execute(notebook, kernel="python3"):
    NotebookClient(notebook, timeout=4 * SECONDS, kernel_name=kernel,
                   resources={"metadata": {"path": str(ROOT / "notebooks")}}).execute()


def test_there_is_one_for_each_question():
    assert [path.stem[:2] for path in NOTEBOOKS] == [f"{n:02}" for n in range(len(NOTEBOOKS))]
    listed = (ROOT / "docs/README.md").read_text()
    assert not [path.name for path in NOTEBOOKS if path.name not in listed], "docs/README.md lists every notebook"


def test_is_committed_without_outputs(notebook):
    assert all(not cell.outputs and cell.execution_count is None for cell in code_cells(notebook))
    assert set(notebook.metadata) == {"kernelspec", "language_info"}, "nothing of the editor that wrote it"


def test_begins_with_a_title(notebook):
    assert notebook.cells[0].cell_type == "markdown" and re.match(r"# [A-Z]", notebook.cells[0].source)


def test_asserts_something_at_the_end(notebook):
    asserts = [node for node in ast.walk(ast.parse(code_cells(notebook)[-1].source)) if isinstance(node, ast.Assert)]
    assert len(asserts) >= 3


def test_writes_nothing_beside_itself(notebook):
    """Results live in temporary files: a notebook may be read from a folder that cannot be written."""
    assert not [cell for cell in code_cells(notebook) if "output=" in cell.source]


@NEEDS_PACKAGE
def test_runs_in_a_minute(notebook):
    def computed():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    before = computed()
    execute(notebook)
    assert computed() - before < SECONDS


@NEEDS_PACKAGE
def test_a_notebook_whose_claim_is_wrong_fails():
    notebook = nbformat.read(NOTEBOOKS[0], as_version=4)
    for cell in code_cells(notebook):
        cell.source = cell.source.replace("  - pilotfish\n", "  - passthrough: {}\n    as: pilotfish\n")
        cell.source = cell.source.replace("horizon: 4s", "horizon: 1s")
    with pytest.raises(CellExecutionError, match="PilotFish keeps the game at 60 fps"):
        execute(notebook)


@pytest.fixture
def other_kernel(tmp_path, monkeypatch):
    """The name of a kernel of OTHER_PYTHON."""
    argv = [OTHER_PYTHON, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (tmp_path / "kernels/other").mkdir(parents=True)
    (tmp_path / "kernels/other/kernel.json").write_text(
        json.dumps({"argv": argv, "display_name": "other", "language": "python"}))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    return "other"


@NEEDS_PACKAGE
@pytest.mark.skipif(not OTHER_PYTHON, reason="CORUN_NOTEBOOK_PYTHON names no interpreter with another pandas")
def test_runs_with_another_pandas(notebook, other_kernel):
    import pandas

    said = nbformat.v4.new_code_cell("import pandas, sys; print(sys.executable, pandas.__version__)")
    notebook.cells.append(said)
    execute(notebook, other_kernel)
    interpreter, version = said.outputs[0].text.split()
    assert interpreter == OTHER_PYTHON and version != pandas.__version__
