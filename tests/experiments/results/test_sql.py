"""simcli sql: results are asked in SQL, and nothing but read."""

import csv
import hashlib
import io
import json
import sqlite3
import subprocess

import pytest

from test_transcripts import simcli
from written_results import Results, throughputs


@pytest.fixture
def results(tmp_path):
    with Results(tmp_path / "r.sqlite") as written:
        throughputs(written, "exclusive", [1.5, 2.0])
        written.run('odd "name", <b>|', 1, error="line\nbreak \033[31m")
    return written.path


def sql(path, *arguments, code=0):
    done = subprocess.run([str(simcli()), "sql", str(path), *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode == code, done.stderr
    return done


def test_lists_tables_with_their_columns(results):
    found = json.loads(sql(results, "--json").stdout)
    assert found["columns"] == ["table", "rows", "columns"]
    rows = {table: (count, columns) for table, count, columns in found["rows"]}
    assert rows["metrics"] == (2, "run, client, metric, value, unit") and rows["runs"][0] == 3


QUERY = "SELECT policy, seed, error, 2.5 AS x, NULL AS absent FROM runs ORDER BY policy, seed"
ODD = ['odd "name", <b>|', 1, "line\nbreak \033[31m", 2.5, None]


def test_json_keeps_types_and_text(results):
    found = json.loads(sql(results, "-c", QUERY, "--json").stdout)
    assert found["schema_version"] == 1 and found["columns"] == ["policy", "seed", "error", "x", "absent"]
    assert found["rows"] == [["exclusive", 1, None, 2.5, None], ["exclusive", 2, None, 2.5, None], ODD]


def test_csv_is_read_back_whole(results):
    rows = list(csv.reader(io.StringIO(sql(results, "-c", QUERY, "--csv").stdout, newline="")))
    assert rows[0] == ["policy", "seed", "error", "x", "absent"]
    assert rows[-1] == ["" if value is None else str(value) for value in ODD]


def test_a_table_and_markdown_show_names_as_text(results):
    table = sql(results, "-c", QUERY).stdout
    assert "exclusive            1  -" in table and "\033" not in table
    markdown = sql(results, "-c", QUERY, "--markdown").stdout
    assert markdown.startswith("| policy | seed |") and "<b>" not in markdown and r"&lt;b>\|" in markdown


@pytest.mark.parametrize("query", [
    "DELETE FROM runs", "UPDATE metrics SET value = 0", "INSERT INTO metrics VALUES ('a','b','c',1,'d')",
    "DROP TABLE runs", "CREATE TABLE x (y)", "CREATE TEMP TABLE x (y)", "CREATE TEMP VIEW x AS SELECT 1",
    "ATTACH DATABASE 'other.sqlite' AS other", "DETACH DATABASE main", "VACUUM INTO 'copy.sqlite'", "REINDEX",
    "PRAGMA journal_mode = DELETE", "PRAGMA query_only = OFF", "PRAGMA writable_schema = ON", "PRAGMA user_version = 7",
    "PRAGMA temp_store_directory = '.'", "SELECT load_extension('./evil')", "BEGIN IMMEDIATE", "ANALYZE",
    "SELECT 1; DELETE FROM runs", "EXPLAIN DELETE FROM runs"])
def test_nothing_but_reading_is_possible(results, query):
    before = hashlib.sha256(results.read_bytes()).hexdigest()
    said = sql(results, "-c", query, code=2).stderr
    assert "results are only read, one SELECT at a time" in said
    assert hashlib.sha256(results.read_bytes()).hexdigest() == before
    assert [path.name for path in results.parent.iterdir()] == [results.name]


@pytest.mark.parametrize("query", ["SELECT count(*) FROM runs;", "WITH x(y) AS (VALUES (3)) SELECT y FROM x",
                                   "PRAGMA table_info(runs)", "EXPLAIN QUERY PLAN SELECT * FROM runs",
                                   "SELECT json_extract('{\"a\": 1}', '$.a')", "PRAGMA user_version"])
def test_every_way_of_reading_is_possible(results, query):
    assert sql(results, "-c", query).stdout


def test_a_file_that_a_run_is_still_writing_shows_what_it_has(tmp_path):
    with Results(tmp_path / "r.sqlite") as written:
        written.database.execute("PRAGMA journal_mode = WAL")
        throughputs(written, "exclusive", [1.5, 2.0])
        written.database.commit()
        throughputs(written, "pilotfish", [1.5])  # not committed
        before = sorted(path.name for path in tmp_path.iterdir())
        assert "r.sqlite-wal" in before
        assert json.loads(sql(written.path, "-c", "SELECT count(*) FROM runs", "--json").stdout)["rows"] == [[2]]
        assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_mistake_is_shown_at_its_place(results):
    said = sql(results, "-c", "SELECT\n  polcy FROM runs", code=2).stderr
    assert "no such column: polcy" in said and "<command line>:2:3" in said and "  polcy FROM runs" in said
    assert "no such column" in sql(results, "-c", 'SELECT * FROM runs WHERE policy = "exclusive"', code=2).stderr
    assert "there is no statement" in sql(results, "-c", " -- nothing", code=2).stderr


def test_refuses_what_is_no_results_file(tmp_path, results):
    (tmp_path / "text.sqlite").write_text("hello")
    sqlite3.connect(tmp_path / "other.sqlite").execute("CREATE TABLE x (y)").connection.close()
    assert "there is no such results file" in sql(tmp_path / "absent.sqlite", code=2).stderr
    assert "there is no such results file" in sql(tmp_path, code=2).stderr
    assert "these are no results of simcli" in sql(tmp_path / "text.sqlite", code=2).stderr
    assert "there is no table `runs`" in sql(tmp_path / "other.sqlite", code=2).stderr
    with sqlite3.connect(results) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    assert "schema 99 is newer than" in sql(results, code=2).stderr
