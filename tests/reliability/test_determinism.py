"""The ways of determinism.py give the same results, and it says so where they do not."""

import json
import pathlib
import sqlite3
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import determinism  # noqa: E402
import results_record  # noqa: E402

pytestmark = pytest.mark.skipif(not determinism.RELEASE.exists(), reason="simcli is not built: ./dev build")
TINY = "tests/experiments/transcripts/files/tiny.yaml"


@pytest.mark.parametrize("ways", [determinism.ways_of_a_run, determinism.ways_of_a_sweep])
def test_in_every_way_in_which_it_must_not_matter_an_experiment_gives_the_same_rows(ways, capsys):
    tried = []
    compared, differing = determinism.compare(TINY, "10s", ways(), tried)
    assert differing == 0 and compared >= 6 * len(tried), capsys.readouterr().out
    assert {"killed and resumed", "sweep killed and resumed", "3 shards merged"} & set(tried)


def test_other_rows_are_told(capsys):
    ways = [("1 worker", lambda way: way.do("--jobs", 1)), ("others", lambda way: way.do(seeds="[1, 2, 4]"))]
    _, differing = determinism.compare(TINY, "1s", ways, [])
    assert differing == 6 and "others  DIFFERS" in capsys.readouterr().out


def test_results_are_those_recorded_for_their_revision():
    """Where this fails although results were to change: raise kResultsRevision and run results_record.py --record."""
    recorded, known = json.loads(results_record.RECORD.read_text()), results_record.experiments()
    assert results_record.revision(determinism.RELEASE) == recorded["revision"]
    assert set(recorded["hashes"]) == set(known)
    found = results_record.hashes(determinism.RELEASE, {name: known[name] for name in results_record.QUICK})
    assert results_record.differing(found, recorded["hashes"]) == []


def test_one_changed_number_changes_the_hash_of_results(tmp_path):
    way = determinism.Way(tmp_path, TINY, "1s")
    path = way.do()
    before = results_record.result_hash(path)
    with sqlite3.connect(path) as database:
        database.execute("UPDATE runs SET notes = 'in other words', wall_time_s = 7")
    assert results_record.result_hash(path) == before
    with sqlite3.connect(path) as database:
        database.execute("UPDATE metrics SET value = value * 1.0000001 WHERE rowid = 7")
    assert results_record.result_hash(path) != before
