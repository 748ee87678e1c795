"""What is left of results when calls to the disk and allocations fail one by one, and when the power goes."""

import pathlib
import random
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import disk_faults  # noqa: E402
import disk_log  # noqa: E402
import memory_faults  # noqa: E402
import results_rows  # noqa: E402

pytestmark = pytest.mark.skipif(not disk_faults.SIMCLI.exists(), reason="simcli is not built: ./dev build")


@pytest.fixture(scope="module")
def disk(tmp_path_factory):
    return disk_faults.shim(tmp_path_factory.mktemp("disk"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "whole.sqlite"
    disk_faults.succeed(*disk_faults.sweep(path))
    return results_rows.rows_by_run(path)


@pytest.mark.parametrize("name", disk_faults.CASES)
def test_a_call_that_fails_is_an_error_of_that_file_and_costs_no_finished_run(tmp_path, disk, whole, name):
    ends = disk_faults.fail_everywhere(disk_faults.Case(tmp_path, whole, name), disk, tmp_path, every=31)
    assert ends.get(4, 0) >= 10, f"hardly any of the faults was felt: {ends}"


def test_lost_power_leaves_whole_results_with_all_that_was_synced(tmp_path, disk, whole):
    output = tmp_path / "disk/r.sqlite"
    events = disk_faults.log_of(disk_faults.sweep(output), output, disk, tmp_path)
    opened, _ = disk_faults.power_losses(events, output, whole, tmp_path / "power", random.Random(1), every=4)
    assert opened > 200


def test_lost_power_where_a_finished_file_leaves_its_log_costs_nothing(tmp_path, disk, whole):
    output = tmp_path / "disk/r.sqlite"
    events = disk_faults.log_of(disk_faults.sweep(output), output, disk, tmp_path)
    losses = disk_faults.PowerLosses(output, whole, tmp_path / "power", random.Random(1))
    journal = f"{output}-journal"
    leaves = max(number for number, one in enumerate(events) if one.kind == "O" and one.path == journal)
    for number, one in enumerate(events):
        is_synced_now = number > leaves and one.kind == "S"
        for files in losses.disk.with_any_of_the_rest() if is_synced_now else ():
            assert losses.runs_in(files) == set(whole)
        losses.disk.do(one)
    assert losses.opened > 1000


def shortest_run_s(results):
    with results_rows.sqlite3.connect(results) as database:
        return database.execute("SELECT min(wall_time_s) FROM runs").fetchone()[0]


def log_of_long_runs(output, disk, folder):
    """Of a sweep each of whose runs is synced when it is written (kLongRunS), however fast this machine is."""
    for doublings in range(8):
        events = disk_faults.log_of(disk_faults.sweep(output, "--set", f"horizon={2000 << doublings}s"), output, disk,
                                    folder)
        if shortest_run_s(output) > 0.1:
            return events
    pytest.fail(f"even runs of {2000 << doublings} simulated seconds take {shortest_run_s(output)} s")


def test_lost_power_costs_no_run_that_took_long_but_the_one_that_is_being_written(tmp_path, disk):
    output = tmp_path / "disk/r.sqlite"
    events = log_of_long_runs(output, disk, tmp_path)
    whole = results_rows.rows_by_run(output)
    _, most_lost = disk_faults.power_losses(events, output, whole, tmp_path / "power", random.Random(1), every=3)
    assert most_lost <= 1


def test_an_allocation_that_fails_is_said_and_tears_nothing(tmp_path):
    ends = memory_faults.check_all(tmp_path, part=12)
    assert ends.get(4, 0) >= 10, f"hardly any of the faults was felt: {ends}"


def event(kind, path, offset=0, content=b""):
    return disk_log.Event(kind, 0, offset, len(content), path, content)


def test_a_disk_without_power_keeps_what_was_synced_and_any_of_the_rest():
    disk = disk_log.Disk()
    for one in (event("O", "a"), event("W", "a", 0, b"old "), event("S", "a"), event("W", "a", 4, b"new"),
                event("O", "b"), event("W", "b", 0, b"b"), event("U", "b")):
        disk.do(one)
    assert disk.with_everything() == {"a": b"old new"}
    assert disk.with_what_was_synced() == {"a": b"old "}
    assert disk.with_unlinked_files_back() == {"a": b"old ", "b": b""}
    draw = random.Random(1)
    assert {disk.with_some_of_the_rest(draw)["a"] for _ in range(50)} == {b"old ", b"old new"}
