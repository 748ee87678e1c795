"""servers/language/arrivals.py: files of requests."""

import pathlib
import statistics
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).parents[2] / "servers" / "language" / "arrivals.py"
sys.path.insert(0, str(SCRIPT.parent))
from arrivals import read_requests  # noqa: E402


def made(tmp_path, *arguments):
    file = tmp_path / "requests.csv"
    file.write_bytes(subprocess.run([sys.executable, SCRIPT, *map(str, arguments)], check=True,
                                    stdout=subprocess.PIPE).stdout)
    return read_requests(file, 4096)


def test_rate_and_lengths_are_as_asked_for(tmp_path):
    rows = made(tmp_path, "--rate", 50, "--seconds", 400, "--prompt", 300, "--prompt-cv", 0.5, "--output", 80,
                "--prompt-range", 1, 3000, "--output-range", 1, 1000)
    arrivals, prompts, outputs = zip(*rows)
    assert len(rows) / 400 == pytest.approx(50, rel=0.03)
    assert statistics.mean(prompts) == pytest.approx(300, rel=0.03)
    assert statistics.stdev(prompts) / statistics.mean(prompts) == pytest.approx(0.5, rel=0.05)
    assert statistics.mean(outputs) == pytest.approx(80, rel=0.03)
    gaps = [after - before for before, after in zip(arrivals, arrivals[1:])]
    assert statistics.stdev(gaps) / statistics.mean(gaps) == pytest.approx(1, rel=0.05)


def test_bursts_arrive_at_once_at_the_same_rate(tmp_path):
    rows = made(tmp_path, "--rate", 50, "--seconds", 400, "--prompt", 9, "--output", 9, "--burst", 8)
    assert len(rows) / 400 == pytest.approx(50, rel=0.1)
    assert len({arrival for arrival, _, _ in rows}) == len(rows) / 8


def test_lengths_keep_their_limits_and_a_seed_gives_the_same_file(tmp_path):
    asked = ["--rate", 20, "--seconds", 30, "--prompt", 90, "--output", 30, "--prompt-range", 60, 99, "--seed", 3]
    rows = made(tmp_path, *asked)
    assert {prompt for _, prompt, _ in rows} >= {60, 99} and all(60 <= prompt <= 99 for _, prompt, _ in rows)
    assert rows == made(tmp_path, *asked) != made(tmp_path, *asked[:-1], 4)


@pytest.mark.parametrize("line, complaint", [
    ("0.5,10,x", "2: not seconds"), ("0.5,10", "2: not seconds"), ("nan,10,5", "2: arrivals ascend"),
    ("0.5,0,5", "2: arrivals ascend"), ("0.5,60,50", "2: 110 tokens"), ("0.5,1,1\n0.4,1,1", "3: arrivals ascend")])
def test_a_line_that_is_no_request_is_named(tmp_path, line, complaint):
    (tmp_path / "requests.csv").write_text("arrival_s,prompt,output\n" + line + "\n")
    with pytest.raises(ValueError, match=complaint):
        read_requests(tmp_path / "requests.csv", 100)
