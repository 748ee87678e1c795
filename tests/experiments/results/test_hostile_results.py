"""Results files that were made to harm their reader: refused with a reason, soon, by every command and in Python."""

import shutil
import sqlite3
import subprocess
import sys

import pytest

from test_transcripts import ROOT, simcli

sys.path.insert(0, str(ROOT / "tests/python"))
import built_package  # noqa: E402, F401  puts corun where Python finds it

pytest.importorskip("corun.core", reason="the compiled part is not built: ./dev build")
import corun  # noqa: E402

FILES = ROOT / "tests/experiments/transcripts/files"
ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT {} FROM n"
COLUMNS = {"runs": 17, "metrics": 5, "frames": 12, "operations": 12, "holds": 8}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "r.sqlite"
    subprocess.run([simcli(), "run", FILES / "tiny.yaml", "-o", path, "--set", "record={frames: all, operations: all}"],
                   check=True, capture_output=True, timeout=60)
    return path


@pytest.fixture
def changed(tmp_path, whole):
    def change(*statements):
        path = tmp_path / "h.sqlite"
        shutil.copy(whole, path)
        with sqlite3.connect(path, isolation_level=None) as database:
            for statement in statements:
                database.execute(statement)
        database.close()
        return path
    return change


def names(path, table):
    with sqlite3.connect(path) as database:
        return [row[1] for row in database.execute(f"PRAGMA table_info({table})")]


def commands(path, tmp_path):
    yield ["report", path, "-f", "-o", tmp_path / "h.html"]
    yield ["compare", path]
    yield ["hash", path]
    yield ["export", path, "--table", "metrics", "-f", "-o", tmp_path / "h.csv"]
    for ending in ("json", "pftrace"):
        yield ["export", path, "--run", "tiny.passthrough.1", "-f", "-o", tmp_path / f"h.{ending}"]


def run(command, seconds=20):
    return subprocess.run([simcli(), *command], capture_output=True, text=True, timeout=seconds)


def refuse(path, tmp_path, words, every=True):
    said = [run(command) for command in commands(path, tmp_path)]
    assert all(done.returncode in (0, 2) for done in said), [done.stderr for done in said]
    refused = [done for done in said if done.returncode == 2]
    assert refused and all(words in done.stderr and str(path) in done.stderr for done in refused), said
    assert not every or len(refused) == len(said)


@pytest.mark.parametrize("table", COLUMNS)
@pytest.mark.parametrize("kind", ["endless", "circular", "harmless"])
def test_a_view_in_place_of_a_table_is_refused(changed, whole, tmp_path, table, kind):
    columns = names(whole, table)
    body = {"endless": ENDLESS.format(", ".join(f"x AS {name}" for name in columns)),
            "circular": f"SELECT * FROM {table}",
            "harmless": "SELECT " + ", ".join(f"1 AS {name}" for name in columns)}[kind]
    path = changed(f"DROP TABLE {table}", f"CREATE VIEW {table} AS {body}")
    refuse(path, tmp_path, f"`{table}` is no table, but computed when it is read")
    with pytest.raises(corun.InputError, match="is no table"):
        corun.open(path)


def test_a_column_that_is_computed_is_refused(changed, tmp_path):
    path = changed("DROP TABLE frames", "CREATE TABLE frames(x, run AS (x), client AS (hex(zeroblob(100000000))))")
    refuse(path, tmp_path, "column `run` of `frames` is computed when it is read")
    with pytest.raises(corun.InputError, match="is computed when it is read"):
        corun.open(path)


@pytest.mark.parametrize("change", [
    f"UPDATE frames SET present_ns = {2**63 - 1} WHERE number % 2 = 0",
    f"UPDATE frames SET gpu_begin_ns = {-2**63}",
    "UPDATE frames SET present_ns = 'soon'",
    f"UPDATE operations SET end_ns = {2**63 - 1}, begin_ns = {-2**63}",
])
def test_a_time_that_is_none_is_refused(changed, tmp_path, change):
    refuse(changed(change), tmp_path, "holds what is no time in ns", every=False)


@pytest.mark.parametrize("change", ["UPDATE metrics SET value = 'fast'", "UPDATE metrics SET value = x'00'"])
def test_a_figure_that_is_none_is_refused_and_not_taken_for_0(changed, tmp_path, change):
    path = changed(change)
    for command in ("compare", "report"):
        done = run([command, path] if command == "compare" else ["report", path, "-f", "-o", tmp_path / "h.html"])
        assert done.returncode == 2 and "column `value` holds what is no number" in done.stderr, done.stderr


@pytest.mark.parametrize("change", ["UPDATE planned_runs SET run = 7", "UPDATE planned_runs SET run = NULL",
                                    "INSERT INTO properties VALUES ('engine', 7)"])
def test_a_plan_whose_names_are_none_is_refused(changed, whole, change):
    loose = [statement for table, columns in (("planned_runs", "position, point, run"), ("properties", "key, value"))
             for statement in (f"CREATE TABLE loose({columns})", f"INSERT INTO loose SELECT {columns} FROM {table}",
                               f"DROP TABLE {table}", f"ALTER TABLE loose RENAME TO {table}")]
    path = changed(*loose, change)
    done = run(["hash", path])
    assert done.returncode == 2 and "a name in the plan is no text" in done.stderr, done.stderr
    done = run(["merge", path, whole, "-o", path.with_suffix(".merged")])
    assert done.returncode == 2, done.stderr


def test_many_clients_take_time_for_each_and_no_more(changed, tmp_path):
    path = changed("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 30000) INSERT INTO metrics "
                   "SELECT (SELECT id FROM runs LIMIT 1), 'c' || x, 'throughput_per_s', 1.0, '/s' FROM n")
    assert run(["report", path, "-f", "-o", tmp_path / "h.html"], seconds=30).returncode == 0


def test_a_packed_file_that_grows_without_end_is_refused(tmp_path):
    import gzip

    path = tmp_path / "r.sqlite.gz"
    path.write_bytes(gzip.compress(bytes(100 << 20)))
    with pytest.raises(corun.InputError, match="expands to more than 67108864 bytes"):
        corun.open(path)


def test_a_cell_that_a_spreadsheet_would_compute_is_exported_as_text(changed, tmp_path):
    path = changed("UPDATE metrics SET client = '=1+1'", "UPDATE metrics SET value = -1.5")
    assert run(["export", path, "--table", "metrics", "-f", "-o", tmp_path / "h.csv"]).returncode == 0
    text = (tmp_path / "h.csv").read_text()
    assert ",'=1+1," in text and ",=1+1" not in text and ",-1.5," in text
