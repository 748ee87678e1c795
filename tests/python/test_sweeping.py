"""Sweeps from Python give the rows of `simcli sweep`, whichever executor does the work."""

import concurrent.futures
import os
import signal
import subprocess

import pytest

import corun
from built_package import PACKAGE, PAIR
from dask_sweep import dask_sweep

pytest.importorskip("corun.core", reason="the compiled part is not built: ./dev build")

SWEPT = {"nvshare.quantum": ["5ms", "10ms", "20ms", "40ms"], "clients.game.pacing": ["30fps", "60fps"]}


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The hash of what simcli makes of the sweep."""
    path = tmp_path_factory.mktemp("cli") / "cli.sqlite"
    lists = [f"-L{parameter}={','.join(values)}" for parameter, values in SWEPT.items()]
    subprocess.run([PACKAGE.parent / "simcli", "sweep", PAIR, *lists, "-o", path], check=True, capture_output=True)
    with corun.open(path) as results:
        assert len(results.points) == 8 and len(results.runs) == 2 * (2 + 8)
        return results.hash()


def test_threads_and_simcli_give_the_same_rows(expected):
    assert corun.sweep(PAIR, SWEPT, jobs=1).hash() == expected
    assert corun.sweep(PAIR, SWEPT, jobs=8).hash() == expected


@pytest.mark.parametrize("make", [concurrent.futures.ThreadPoolExecutor, concurrent.futures.ProcessPoolExecutor])
def test_executors_give_the_same_rows(make, expected):
    with make(2) as executor:
        assert corun.sweep(PAIR, SWEPT, executor=executor).hash() == expected


def test_a_point_is_compared_with_the_baseline_that_it_shares():
    results = corun.sweep(PAIR, {"nvshare.quantum": ["5ms", "40ms"]}, seed=[1, 2])
    frames = results.summary("fps_mean").merge(results.points, on="point")
    assert list(frames.point) == [0, 0, 1, 1] and list(frames.policy) == ["passthrough", "nvshare"] * 2
    assert len(set(frames[frames.policy == "passthrough"].value)) == 1
    assert set(frames["nvshare.quantum_ns"]) == {5_000_000, 40_000_000} and set(frames.n) == {2}
    assert "6 runs at 2 points" in repr(results)


class Breaks(concurrent.futures.ProcessPoolExecutor):
    """A pool that loses a worker when it is given its fifth piece of work."""

    count = 0

    def submit(self, work, *arguments):
        self.count += 1
        return super().submit(_end_self) if self.count == 5 else super().submit(work, *arguments)


def _end_self():
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_broken_pool_leaves_what_can_be_resumed(tmp_path, expected):
    path = tmp_path / "results.sqlite"
    with Breaks(1) as executor, pytest.raises(concurrent.futures.BrokenExecutor) as raised:
        corun.sweep(PAIR, SWEPT, executor=executor, output=path)
    assert 0 < len(raised.value.results.runs) < 20
    raised.value.results.close()
    with pytest.raises(corun.InputError, match="exists"):
        corun.sweep(PAIR, SWEPT, output=path)
    assert corun.sweep(PAIR, SWEPT, output=path, resume=True).hash() == expected


def test_lost_work_is_tried_again_and_not_for_ever(expected):
    class Loses(concurrent.futures.ThreadPoolExecutor):
        lost = 0

        def submit(self, work, *arguments):
            if self.lost < self.most:
                self.lost += 1
                return super().submit(_lose)
            return super().submit(work, *arguments)

    with Loses(1) as executor:
        executor.most = 2
        assert corun.sweep(PAIR, SWEPT, executor=executor).hash() == expected
    with Loses(1) as executor, pytest.raises(RuntimeError, match="lost 3 times: of the test"):
        executor.most = 100
        corun.sweep(PAIR, SWEPT, executor=executor)


def _lose():
    raise OSError("of the test")


def test_there_has_to_be_a_sweep():
    with pytest.raises(corun.InputError, match="no section `sweep`"):
        corun.sweep(PAIR)
    with pytest.raises(corun.InputError, match="did you mean `nvshare`"):
        corun.sweep(PAIR, {"nvshre.quantum": ["1ms"]})


def test_a_dask_cluster_gives_the_same_rows_though_a_worker_is_killed(tmp_path):
    pytest.importorskip("distributed", reason="python3-distributed is not installed")
    swept = {"nvshare.quantum": {"from": "1ms", "to": "50ms", "step": "1ms"}, "clients.game.pacing": ["30fps", "60fps"]}
    expected = corun.sweep(PAIR, swept, until="500ms").hash()
    results, _, killed = dask_sweep(tmp_path, 20, PAIR, swept, until="500ms")
    assert killed and results.hash() == expected


def test_ranges_are_sampled_and_compared_point_by_point():
    pytest.importorskip("pandas")
    swept = corun.sweep(PAIR, {"nvshare.quantum": {"from": "10ms", "to": "50ms"}},
                        sample={"method": "latin_hypercube", "points": 3, "seed": 1}, until="200ms", seed=[1, 2])
    assert len(swept.points) == 3 and swept.points["nvshare.quantum_ns"].between(10_000_000, 50_000_000).all()
    effects = corun.compare(swept, baseline="passthrough", metric="fps_mean")
    assert list(effects.point) == list(swept.points.point) and set(effects.n) == {2}
