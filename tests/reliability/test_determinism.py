"""The ways of determinism.py give the same results, and it says so where they do not."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import determinism  # noqa: E402

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
