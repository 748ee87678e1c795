"""studies/serving/measure.py: its figures of a serving, and which cells it runs."""

import pathlib
import sys
from types import SimpleNamespace

import pytest

ROOT = pathlib.Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "studies" / "serving"), str(ROOT / "servers" / "language")]
import cells  # noqa: E402
import measure  # noqa: E402
from arrivals import read_requests  # noqa: E402
from batching import Sizes  # noqa: E402


def test_figures_of_a_serving_count_what_arrived_in_time(tmp_path):
    (tmp_path / "r.csv").write_text("arrival_s,first_token_s,end_s,prompt,output\n"
                                    "0,0.1,0.5,10,5\n0.5,0.8,0.8,10,1\n1,1.5,,10,9\n1.9,,,10,9\n3,,,10,9\n")
    figures = measure.served(tmp_path / "r.csv", 2)
    assert (figures["arrived"], figures["begun"], figures["ended"]) == (4, 3, 2)
    assert figures["first_token_ms"] == {"mean": 300, "p50": 300, "p99": 500}
    assert figures["token_ms"] == {"mean": 100, "p50": 100, "p99": 100}  # four tokens in 0.4 s
    assert figures["output_tokens_per_s"] == 3


def test_capacity_is_that_of_a_full_server(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(measure, "SERVERS", {"1b": ["--max-batch", "10"]})
    (tmp_path / "1b.steps.csv").write_text("begin_s,end_s,kind,size,context,sequences,queue,kv_tokens\n"
                                           "0,0.1,prefill,512,0,1,0,0\n0,0.01,decode,10,512,10,0,0\n"
                                           "0,0.025,decode,10,1024,10,0,0\n0,9,decode,10,2048,10,0,0\n")
    measure.capacity(SimpleNamespace(folder=tmp_path))
    assert capsys.readouterr().out.startswith("1b: 2.5 requests a second")  # 0.1 s and 120 tokens of 2.5 ms each


def test_a_server_has_each_neighbour_in_each_way_and_no_more_than_the_device():
    together = [cell for cell in cells.cells() if len(cell.parties) == 2]
    assert len({cell.name for cell in together}) == len(together) == 12
    assert all(sum(party.percentage for party in cell.parties) == 100 for cell in together if cell.way == "split")
    assert all(len({party.label for party in cell.parties}) == 2 for cell in together)


@pytest.mark.parametrize("requests", sorted({party.requests for cell in cells.cells() for party in cell.parties
                                             if party.is_server}))
def test_every_cell_finds_its_requests_and_they_fit(requests):
    rows = read_requests(ROOT / "studies" / "serving" / "requests" / f"{requests}.csv", 2048)
    assert rows[-1][0] > 50
    assert max(prompt for _, prompt, _ in rows) <= max(Sizes(32, 2048, 512, 512, 64).prefill_contexts) + 512
