"""The whole of `simcli calibrate` on a made-up GPU (fake_probe.py): what it is must be in the device file."""

import json
import os
import pathlib
import re
import subprocess

import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
SIMCLI = pathlib.Path(os.environ.get("CORUN_SIMCLI", ROOT / "build" / "release" / "simcli"))


def calibrate(folder, *arguments, fake=""):
    meeting = folder / "meeting"
    meeting.mkdir(exist_ok=True)
    environment = dict(os.environ, CORUN_FAKE_PROBE=f"folder={meeting} {fake}", LC_ALL="C.UTF-8")
    return subprocess.run([str(SIMCLI), "calibrate", "--probe", str(HERE / "fake_probe.py"), "--mps-control",
                           "no-such-program", *arguments], cwd=folder, env=environment, timeout=280,
                          capture_output=True, text=True)


def value(text, key):
    found = re.search(rf"^{key}: {{ value: ([^,]*),", text, re.MULTILINE)
    assert found, f"no {key} in\n{text}"
    return found[1]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    done = calibrate(folder, "-o", "gpu.yaml", "--samples", "gpu.jsonl", "--report", "gpu.md", "--base", "h200",
                     fake="slice=1500000 switch=120000")
    assert done.returncode == 0, done.stderr
    return folder, done


def test_the_device_file_holds_what_the_gpu_is(whole):
    text = (whole[0] / "gpu.yaml").read_text()
    assert value(text, "time_slice") == "1.5ms"
    assert abs(float(value(text, "switch_cost").removesuffix("us")) - 120) < 3
    assert value(text, "lone_slice") == "rolls"
    assert value(text, "graphics") == "to_completion"
    assert value(text, "graphics_slice") == "0s"
    assert value(text, "launch_queue_depth") == "1023"
    assert value(text, "to_device_bandwidth") == "53.69GB/s"
    assert value(text, "context_memory") == "500MiB"


def test_the_device_file_goes_to_standard_output_alone(whole):
    folder = whole[0]
    done = calibrate(folder, "--from", "gpu.jsonl", "--base", "h200", "-o", "-")
    assert done.stdout == (folder / "gpu.yaml").read_text()
    assert (folder / "gpu.md").read_text() in done.stderr, "the report"
    refused = calibrate(folder, "--from", "gpu.jsonl", "-o", "-", "--json")
    assert refused.returncode == 2 and "both the file and the JSON" in refused.stderr


def test_what_was_not_measured_comes_from_the_base_and_says_so(whole):
    text = (whole[0] / "gpu.yaml").read_text()
    assert value(text, "sm_rate_exponent") == "0.5"
    assert "(from h200, not measured)" in text
    assert "no-such-program" in whole[1].stderr


def test_an_experiment_can_use_the_file(whole):
    folder = whole[0]
    (folder / "one.yaml").write_text(
        "version: 1\nname: one\ndevice: { file: gpu.yaml }\nhorizon: 1s\n"
        "clients: [{ name: a, synthetic: { training: bert } }]\npolicies: [passthrough]\n")
    done = subprocess.run([str(SIMCLI), "check", "one.yaml"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_report_shows_residuals_and_rivals(whole):
    report = (whole[0] / "gpu.md").read_text()
    assert "open driver's slice of 1.024 ms" in report
    assert re.search(r"absence with 2 spinning \| 3.36ms \| 3.36ms \| [+-]0.0 %", report), report
    assert "What was not measured" in report


def test_stored_samples_give_the_same_again(whole):
    folder = whole[0]
    done = calibrate(folder, "--from", "gpu.jsonl", "-o", "again.yaml", "--base", "h200", fake="no_gpu")
    assert done.returncode == 0, done.stderr
    assert (folder / "again.yaml").read_text() == (folder / "gpu.yaml").read_text()
    assert done.stdout == (folder / "gpu.md").read_text()


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """What the samples of a real H200 say."""
    folder = tmp_path_factory.mktemp("recorded")
    samples = ROOT / "studies" / "calibration" / "h200.jsonl"
    done = calibrate(folder, "--from", str(samples), "-o", "h200.yaml", fake="no_gpu")
    assert done.returncode == 0, done.stderr
    return (folder / "h200.yaml").read_text(), done.stdout


def number(text, key, unit):
    return float(value(text, key).removesuffix(unit))


def test_a_real_h200_has_the_slices_of_its_driver(recorded):
    text = recorded[0]
    assert 2.08 < number(text, "time_slice", "ms") < 2.11
    assert value(text, "lone_slice") == "rolls_while_queued"
    assert value(text, "turn_order") == "fixed"
    assert 200 < number(text, "switch_cost", "us") < 240  # between programs that fill the device
    assert 0.25 < number(text, "switch_state", "") < 0.35  # spinning threads lose 154 us


def test_a_real_h200_lets_graphics_finish_a_draw_and_cuts_turns(recorded):
    text = recorded[0]
    assert value(text, "graphics") == "to_completion"
    low, high = re.search(r'^graphics_slice: .*spread: "([\d.]+)us to ([\d.]+)ms"', text, re.MULTILINE).groups()
    assert float(low) < 570 and 0.57 < number(text, "graphics_slice", "ms") < 1.13 and float(high) < 1.13


def test_a_real_h200_shares_its_multiprocessors_in_dispatch_order(recorded):
    text = recorded[0]
    assert value(text, "spatial") == "dispatch_order"
    assert 0.4 < number(text, "sm_rate_exponent", "") < 0.6
    assert 0.2 < number(text, "sm_fill_exponent", "") < 0.35


def test_the_model_of_a_real_h200_beats_its_rivals(recorded):
    for title, worst in (("time slice", 0.1), ("switch cost", 2.5), ("slice of a context that is alone", 17),
                         ("whose turn is next with two busy contexts", 14),
                         ("part of the switch cost that goes with threads", 2.5),
                         ("graphics with compute", 4.5), ("turn of graphics that has more to draw", 4.5)):
        section = recorded[1].split(f"## {title}\n")[1].split("\n## ")[0]
        errors = [float(error) for error in re.findall(r"^.*: mean ([\d.]+) %", section, re.MULTILINE)]
        assert errors[0] == min(errors) and len(errors) > 1, section
        assert float(re.search(r"the model: mean .*worst ([\d.]+) %", section)[1]) <= worst, section


def test_json(whole):
    done = calibrate(whole[0], "--from", "gpu.jsonl", "--json")
    values = {entry["key"]: entry["value"] for entry in json.loads(done.stdout)["values"]}
    assert values["time_slice"] == "1.5ms"


def test_without_a_gpu_it_says_so(tmp_path):
    done = calibrate(tmp_path, "-o", "gpu.yaml", fake="no_gpu")
    assert done.returncode == 3
    assert "no CUDA driver" in done.stderr
    assert not (tmp_path / "gpu.yaml").exists()


def test_a_probe_that_fails_costs_its_values_only(tmp_path):
    done = calibrate(tmp_path, "--only", "copy,launch", "-o", "gpu.yaml", fake="fails=copy")
    assert done.returncode == 7
    text = (tmp_path / "gpu.yaml").read_text()
    assert "bandwidth" not in text
    assert value(text, "launch_queue_depth") == "1023"
    assert "CUDA_ERROR_LAUNCH_FAILED" in done.stderr


def test_an_unknown_group_is_refused(tmp_path):
    done = calibrate(tmp_path, "--only", "slices")
    assert done.returncode == 2
    assert "groups: device, slice" in done.stderr


def test_nothing_is_measured_for_a_file_that_exists(tmp_path):
    (tmp_path / "gpu.yaml").write_text("mine")
    done = calibrate(tmp_path, "-o", "gpu.yaml")
    assert done.returncode == 2
    assert (tmp_path / "gpu.yaml").read_text() == "mine"
