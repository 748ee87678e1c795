"""Where the time of frames went, and which client had the device: what the notebooks' stories rest on."""

import gzip
import math
import shutil

import pytest

import corun
from built_package import PAIR
from results_fixture import write_results

pytest.importorskip("corun.core", reason="the compiled part is not built: ./dev build")
pandas = pytest.importorskip("pandas")

PARTS = ["host_ns", "queued_ns", "own_ns", "away_ns", "until_shown_ns"]


@pytest.fixture(scope="module")
def recorded():
    """One second of PAIR with every operation."""
    with corun.run(corun.Experiment(PAIR).set("record", {"operations": "all"}), until="1s", seed=[1, 2]) as results:
        yield results


def test_frame_times_are_those_of_the_metrics(recorded):
    for (policy, seed), frames in recorded.frame_times(client="game").groupby(["policy", "seed"]):
        times = sorted(frames.frame_time_ns.dropna())
        rank = times[math.ceil(0.99 * len(times)) - 1] / 1e6
        metric = recorded.samples("frame_time_p99_ms")["pair", policy, "game", "frame_time_p99_ms", "ms"][seed]
        assert rank == pytest.approx(metric) or rank < metric, "a quiet end of the run may add one"
    calm = recorded.frame_times(policy="passthrough", client="game")
    assert calm.frame_time_ns.max() / 1e6 == pytest.approx(
        recorded.summary("frame_time_max_ms").set_index("policy").value["passthrough"])


def test_parts_of_a_frame_add_up_to_its_way(recorded):
    frames = recorded.frame_times(warmup=True)
    assert (frames[PARTS].sum(axis=1) == frames.present_ns - frames.start_ns).all()
    assert (frames[PARTS] >= 0).all(axis=None)


def test_a_frame_that_stands_at_the_gate_is_queued(recorded):
    frames = recorded.frame_times(policy="nvshare", client="game", warmup=True)
    slowest = frames.loc[frames.frame_time_ns.idxmax()]
    assert slowest.queued_ns > 50_000_000 and max(PARTS, key=lambda part: slowest[part]) == "queued_ns"


def test_warmup_keeps_the_frames_before(recorded):
    every, measured = (recorded.frame_times("pair", "passthrough", warmup=warmup) for warmup in (True, False))
    assert len(every) > len(measured) > 0
    assert measured.present_ns.min() >= recorded.runs.warmup_ns.iloc[0]


def test_device_time_of_windows_adds_up_to_that_of_the_run(recorded):
    begin, middle, end = recorded.runs.warmup_ns.iloc[0], 400_000_000, 1_000_000_000
    parts = [recorded.device_time(*window, "passthrough", seed=1) for window in ((begin, middle), (middle, end))]
    for client in ("game", "train"):
        busy = recorded.samples("gpu_busy_ratio")["pair", "passthrough", client, "gpu_busy_ratio", "ratio"][1]
        assert sum(part[client] for part in parts) == pytest.approx(busy * (end - begin), rel=0.02)


def test_device_time_says_what_is_missing(quick):
    with pytest.raises(corun.InputError, match="no operations of policy `nvshare` are recorded"):
        corun.open(quick).device_time(0, 1e9, "nvshare")


def test_a_run_is_named_by_policy_and_seed(quick):
    results = corun.open(quick)
    assert results.run_id("nvshare") == results.run_id("nvshare", seed=1) != results.run_id("nvshare", seed=2)
    with pytest.raises(corun.InputError, match="no policy `nvshar`: did you mean `nvshare`"):
        results.run_id("nvshar")
    with pytest.raises(corun.InputError, match="no run of policy `nvshare` with seed 9: there are pair/nvshare, "
                                               "pair/passthrough with seeds 1, 2, 3, 4, 5"):
        results.run_id("nvshare", seed=9)


def test_packed_results_are_opened(quick, tmp_path):
    packed = tmp_path / "quick.sqlite.gz"
    with open(quick, "rb") as source, gzip.open(packed, "wb") as target:
        shutil.copyfileobj(source, target)
    with corun.open(packed) as results:
        assert len(results.runs) == 10
    packed.write_bytes(packed.read_bytes()[:1000])
    with pytest.raises(corun.InputError, match="quick.sqlite.gz: .*expected a gzip file"):
        corun.open(packed)
    with pytest.raises(corun.InputError, match="no such file"):
        corun.open(tmp_path / "none.sqlite.gz")


def test_a_failed_run_is_no_run_to_look_into(tmp_path):
    results = corun.open(write_results(tmp_path / "results.sqlite"))
    assert results.run_id("pilotfish") == "z1" and results.run_id("pilotfish", seed=3) == "z3"
    with pytest.raises(corun.InputError, match="no run of policy `djay`"):
        results.run_id("djay")
