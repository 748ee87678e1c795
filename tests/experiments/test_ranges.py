"""What `simcli run` prints of programs whose host speed is not known."""

import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIMCLI = pathlib.Path(os.environ.get("CORUN_BUILD", ROOT / "build" / "release")) / "simcli"
CAPTURE = ROOT / "traces" / "samples" / "resnet50_train_bs64.kineto.json.gz"

EXPERIMENT = f"""
name: alone
device: h200
horizon: 250ms
clients: [{{ name: train, trace: {CAPTURE}, pacing: sync_each_job }}]
policies: [passthrough]
"""


def test_a_warning_stands_once_below_the_table(tmp_path):
    (tmp_path / "e.yaml").write_text(EXPERIMENT)
    done = subprocess.run([SIMCLI, "run", "e.yaml", "--progress", "none"], cwd=tmp_path, capture_output=True, text=True,
                          timeout=120)
    assert done.returncode == 0, done.stderr
    warnings = [line for line in done.stdout.splitlines() if line.startswith("warning: ")]
    assert any("figures are a range" in line for line in warnings), done.stdout
    assert len(warnings) == len(set(warnings)), done.stdout
    assert done.stdout.index(warnings[-1]) < done.stdout.index("alone (train slowest):"), done.stdout
