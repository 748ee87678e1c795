"""tests/hardware/live_table.py: what it runs, and the table it makes of results that were made up."""

import importlib.util
import pathlib
import sqlite3

import pytest

ROOT = pathlib.Path(__file__).parents[2]
spec = importlib.util.spec_from_file_location("live_table", ROOT / "tests" / "hardware" / "live_table.py")
live_table = importlib.util.module_from_spec(spec)
spec.loader.exec_module(live_table)


def write_results(path, runs, backend="live"):
    """`runs`: (experiment, scenario, policy, error, {client: {metric: value}})."""
    file = sqlite3.connect(path)
    file.execute("CREATE TABLE runs (id TEXT, experiment TEXT, scenario TEXT, policy TEXT, error TEXT, backend TEXT)")
    file.execute("CREATE TABLE metrics (run TEXT, client TEXT, metric TEXT, value REAL, unit TEXT)")
    for number, (*key, error, clients) in enumerate(runs):
        file.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?)", [str(number), *key, error, backend])
        for client, metrics in clients.items():
            for metric, value in metrics.items():
                file.execute("INSERT INTO metrics VALUES (?, ?, ?, ?, '')", [str(number), client, metric, value])
    file.commit()
    file.close()


def game(fps, busy=0.5):
    return {"fps_mean": fps, "fps_1low": fps - 2, "frame_time_p99_ms": 1000 / fps, "quality_mean": 1,
            "throughput_per_s": fps, "gpu_busy_ratio": busy}


def rate(value):
    return {"throughput_per_s": value, "gpu_busy_ratio": 1}


@pytest.fixture
def results(tmp_path):
    """Two repetitions: alone the game takes half of the GPU, and the other program does 30 steps a second."""
    paths = []
    for number, step in enumerate((0, 1)):
        paths.append(str(tmp_path / f"{number}.sqlite"))
        write_results(paths[-1], [
            ("mix", "game alone", "passthrough", None, {"game": game(60), "device": {"gpu_busy_ratio": 0.5}}),
            ("mix", "train alone", "passthrough", None, {"train": rate(30)}),
            ("mix", "pair", "pilotfish", None, {"game": game(59 + step), "train": rate(12 + step)}),
            ("mix", "pair", "passthrough", None, {"game": game(40, busy=0.9), "train": rate(15)}),
            ("mix", "pair", "nvshare", "the policy failed", {})])
    return paths


def printed(capsys, paths):
    code = live_table.main(["table", *paths])
    output = capsys.readouterr()
    return code, [[cell.strip() for cell in line.split("|")[1:-1]] for line in output.out.splitlines()], output.err


def test_means_and_intervals_of_the_repetitions(results, capsys):
    _, rows, _ = printed(capsys, results)
    assert rows[0] == live_table.COLUMNS
    assert rows[4] == ["mix: pair", "pilotfish", "game", "59.5 ± 6.4", "57.5 ± 6.4", "16.81 ± 1.79", "1.000 ± 0.000",
                       "", "", ""]


def test_harvest_is_progress_over_the_time_left_idle(results, capsys):
    _, rows, _ = printed(capsys, results)
    assert rows[5][7:] == ["12.50 ± 6.35", "0.417 ± 0.212", "0.83 ± 0.42"]
    assert rows[3][2:] == ["train", "", "", "", "", "30.00 ± 0.00", "1.000 ± 0.000", ""], "nothing is harvested alone"


def test_what_was_simulated_beside_live_runs_is_left_out(results, capsys, tmp_path):
    write_results(tmp_path / "simulated.sqlite", [("mix", "pair", "pilotfish", None, {"game": game(1)})], "simulation")
    assert printed(capsys, [*results, str(tmp_path / "simulated.sqlite")]) == printed(capsys, results)


def test_what_is_alone_is_the_median_run(results, capsys, tmp_path):
    write_results(tmp_path / "cold.sqlite", [("mix", "train alone", "passthrough", None, {"train": rate(3)})])
    _, rows, _ = printed(capsys, [*results, str(tmp_path / "cold.sqlite")])
    assert rows[5][8] == "0.417 ± 0.212"


def test_one_repetition_has_no_interval(results, capsys):
    _, rows, _ = printed(capsys, results[:1])
    assert rows[4][3] == "59.0"


def test_a_run_that_failed_is_said_and_counts_nowhere(results, capsys):
    code, rows, errors = printed(capsys, results)
    assert code == 1
    assert "mix/pair/nvshare: the policy failed" in errors
    assert not any("nvshare" in row for row in rows)


@pytest.fixture
def fake_build(tmp_path):
    """A folder with a simcli that notes its arguments and writes an empty file, and a scene with two levels."""
    build = tmp_path / "build"
    build.mkdir()
    (build / "simcli").write_text(f"""#!/bin/sh
echo "$CUDA_VISIBLE_DEVICES $@" >> {tmp_path}/calls
for last; do :; done
echo > "$last"
""")
    (build / "scene").write_text("""#!/bin/sh
echo "# made up"
echo "quality:"
echo "  - { name: a, cost: 1, quality: 1 }"
echo "  - { name: b, cost: 0.5, quality: 0.9 }"
""")
    for program in build.iterdir():
        program.chmod(0o755)
    return build


def test_repetitions_are_interleaved_and_go_on_where_they_stopped(tmp_path, fake_build):
    command = ["measure", "--build", str(fake_build), "-o", str(tmp_path / "out"), "--gpu", "3", "--repetitions", "2",
               "--load", "1.5", "--set", "scene:horizon=20s", "training", "scene"]
    assert live_table.main(command) == 0
    assert live_table.main(command) == 0
    calls = (tmp_path / "calls").read_text().splitlines()
    order = [pathlib.Path(call.split()[-1]).name for call in calls]
    assert order == ["training-1.sqlite", "scene-1.sqlite", "training-2.sqlite", "scene-2.sqlite"]
    assert all(call.startswith("3 live ") for call in calls)
    assert "horizon" not in calls[0]
    for part in ("--set horizon=20s", '--set scenarios.training.clients.scene.command[2]="3"',
                 '--set scenarios.alone.clients.scene.command[6]="1.5"', "--seed 1"):
        assert part in calls[1]


def test_players_get_the_menu_that_was_measured(tmp_path, fake_build):
    live_table.main(["measure", "--build", str(fake_build), "-o", str(tmp_path / "out"), "--repetitions", "1",
                     "players"])
    assert ("--set scenarios.players.clients.player.quality=[{ name: a, cost: 1, quality: 1 }, "
            "{ name: b, cost: 0.5, quality: 0.9 }]") in (tmp_path / "calls").read_text()


@pytest.mark.parametrize("name", live_table.SCENES)
def test_the_words_it_changes_are_those_of_the_experiments(name):
    text = (ROOT / "studies" / "live" / f"{name}.yaml").read_text()
    paths = live_table.SCENES[name]
    key, = {path.rpartition(".")[2] for path in paths}
    assert text.count(f"      - name: {key}\n") + text.count(f"\n{key}:\n") == len(paths)
    for line in (line for line in text.splitlines() if "build/release/scene" in line):
        command = line.partition("[")[2].rstrip("]").split(", ")
        assert command[live_table.DEVICE_WORD - 1] == "--device"
        assert command[live_table.LOAD_WORD - 1] == "--load"
        # The menu is measured at this size.
        assert name not in live_table.WITH_MENU or command[live_table.SIZE_WORD] == live_table.SIZE
