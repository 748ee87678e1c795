"""`-` in place of a file: an experiment on standard input; tables, timelines and reports on standard output."""

import csv
import io
import json
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parents[2]
SIMCLI = ROOT / "build/release/simcli"
EXPERIMENT = """
name: streamed
device: { model: h200, sharing: exclusive }
horizon: 100ms
clients: [{ name: only, synthetic: { kernels: { duration: 2ms, count: 20 } } }]
policies: [passthrough]
"""
pytestmark = pytest.mark.skipif(not SIMCLI.exists(), reason="simcli is not built: ./dev build")


def simcli(folder, *arguments, text=""):
    return subprocess.run([SIMCLI, *arguments], cwd=folder, input=text, capture_output=True, text=True)


def written(done):
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Holds r.sqlite, the results of an experiment that came by standard input."""
    folder = tmp_path_factory.mktemp("streams")
    done = simcli(folder, "run", "-", "-o", "r.sqlite", "--progress", "none", text=EXPERIMENT)
    assert done.returncode == 0, done.stderr
    return folder


def test_an_experiment_on_standard_input_gives_the_results_of_its_file(folder):
    (folder / "streamed.yaml").write_text(EXPERIMENT)
    written_by_file = simcli(folder, "run", "streamed.yaml", "-o", "f.sqlite", "--progress", "none")
    assert written_by_file.returncode == 0, written_by_file.stderr
    hashes = [simcli(folder, "hash", name).stdout.split()[0] for name in ("r.sqlite", "f.sqlite")]
    assert hashes[0] == hashes[1] != ""


def test_paths_on_standard_input_begin_at_the_working_folder(folder):
    text = EXPERIMENT.replace("synthetic: { kernels: { duration: 2ms, count: 20 } }", "trace: nowhere.corun")
    done = simcli(folder, "check", "-", text=text)
    assert done.returncode == 2 and "nowhere.corun" in done.stderr and "-:5:" in done.stderr


def test_a_mistake_on_standard_input_is_shown_with_its_line(folder):
    done = simcli(folder, "check", "-", text=EXPERIMENT.replace("horizon", "horizn"))
    assert done.returncode == 2 and "did you mean `horizon`?" in done.stderr and "horizn: 100ms" in done.stderr


def test_a_table_on_standard_output_is_that_of_a_file(folder):
    table = written(simcli(folder, "export", "r.sqlite", "--table", "metrics", "-o", "-", "--format", "csv"))
    simcli(folder, "export", "r.sqlite", "--table", "metrics", "-o", "m.csv", "-f")
    assert table == (folder / "m.csv").read_text() and len(list(csv.reader(io.StringIO(table)))) > 5


def test_a_timeline_on_standard_output_is_json_alone(folder):
    timeline = written(simcli(folder, "export", "r.sqlite", "-o", "-", "--format", "json"))
    assert json.loads(timeline)


def test_a_report_on_standard_output_is_a_page_alone(folder):
    page = written(simcli(folder, "report", "r.sqlite", "-o", "-"))
    assert page.lstrip().lower().startswith("<!doctype html>") and page.rstrip().endswith("</html>")


@pytest.mark.parametrize("words, said", [
    (("--table", "metrics", "-o", "-"), "--format csv"),
    (("--table", "metrics", "-o", "-", "--format", "parquet"), "name a file"),
    (("--table", "metrics", "-o", "-", "--format", "csv", "--json"), "leave --json out"),
    (("--table", "metrics", "-o", "-", "--format", "cvs"), "names no format")])
def test_what_standard_output_cannot_be_is_refused(folder, words, said):
    done = simcli(folder, "export", "r.sqlite", *words)
    assert done.returncode == 2 and said in done.stderr and done.stdout == ""


def test_a_format_may_be_stated_for_a_file_too(folder):
    done = simcli(folder, "export", "r.sqlite", "--table", "metrics", "-o", "plain", "--format", "jsonl")
    assert done.returncode == 0, done.stderr
    assert json.loads((folder / "plain").read_text().splitlines()[0])
