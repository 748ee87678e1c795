"""Tables on a terminal fit into it, at any width, and say all that they say in a file."""

import fcntl
import os
import pathlib
import pty
import struct
import subprocess
import termios

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIMCLI = pathlib.Path(os.environ.get("CORUN_BUILD", ROOT / "build" / "release")) / "simcli"
TRAINING = ROOT / "traces/samples/resnet50_train_bs64.kineto.json.gz"
EXPERIMENT = """
name: narrow
device: h200
horizon: 1s
seeds: 3
clients:
  - { name: game, synthetic: { game: { gpu: 6ms } }, pacing: 60fps }
  - { name: train, synthetic: { kernels: { duration: 2ms, count: 20 } } }
policies: [passthrough, exclusive, nvshare: { quantum: 200ms, gate_frames: true }]
"""
COMMANDS = {
    "run": ["run", "narrow.yaml", "-f", "--progress", "none", "-o", "again.sqlite"],
    "plan": ["plan", "narrow.yaml"],
    "compare": ["compare", "narrow.sqlite"],
    "sql": ["sql", "narrow.sqlite", "-c", "SELECT * FROM runs"],
    "info": ["info", TRAINING],
    "advise": ["advise", f"one={TRAINING}", f"two={TRAINING}"],
    "metrics": ["metrics"],
    "policies": ["policy", "list"],
    "policy": ["policy", "list", "pilotfish"],
}


@pytest.fixture(name="folder", scope="module")
def folder_with_results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("narrow")
    (folder / "narrow.yaml").write_text(EXPERIMENT)
    in_a_file(folder, ["run", "narrow.yaml", "-o", "narrow.sqlite"])
    return folder


def in_a_file(folder, words):
    done = subprocess.run([SIMCLI, *words], cwd=folder, capture_output=True, text=True, timeout=120,
                          env=os.environ | {"COLUMNS": "60"})
    assert done.returncode == 0, done.stderr
    return done.stdout


def on_a_terminal(folder, words, width, **variables):
    """Standard output where that is a terminal of this width, without colour."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    process = subprocess.Popen([SIMCLI, *words], cwd=folder, stdout=its, stderr=subprocess.DEVNULL,
                               env=environment | {"NO_COLOR": "1"} | variables)
    os.close(its)
    text = b""
    try:
        while part := os.read(ours, 65536):
            text += part
    except OSError:  # no process has the other side open any more
        pass
    os.close(ours)
    assert process.wait(timeout=120) == 0
    return text.decode().replace("\r\n", "\n")


def is_of_a_table(line):
    """Of columns, and not of a word alone, which stays whole."""
    return "  " in line.strip()


@pytest.fixture(name="written", scope="module")
def written_by_commands(folder):
    return {name: in_a_file(folder, words) for name, words in COMMANDS.items()}


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("name", COMMANDS)
def test_tables_fit_and_say_all(folder, written, name, width):
    shown = on_a_terminal(folder, COMMANDS[name], width)
    assert [line for line in shown.splitlines() if len(line) > width and is_of_a_table(line)] == []
    assert set(written[name].split()) <= set(shown.split())
    assert any(len(line) > 60 and is_of_a_table(line) for line in written[name].splitlines()), "nothing to fit"


def test_a_wide_terminal_shows_what_a_file_gets(folder, written):
    for name in ("compare", "metrics", "policies"):
        assert on_a_terminal(folder, COMMANDS[name], 1000) == written[name], name


def test_rows_of_a_divided_table_are_named_in_each_part(folder):
    shown = on_a_terminal(folder, COMMANDS["run"], 60)
    parts = [part for part in shown.split("\n\n") if "policy " in part and "client" in part]
    assert len(parts) >= 3
    for part in parts:
        first = next(line for line in part.splitlines() if line.startswith(("passthrough", "nvshare")))
        assert first.split()[1] in ("game", "train"), part


def test_columns_in_the_environment_count_for_more_than_the_terminal(folder):
    shown = on_a_terminal(folder, COMMANDS["metrics"], 200, COLUMNS="70")
    assert 60 < max(map(len, shown.splitlines())) <= 70
