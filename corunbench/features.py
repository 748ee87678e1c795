#!/usr/bin/env python3
"""What each capture says of its program alone; for entries that do not replay captures themselves.

    features.py > features.csv                   needs ../build/release (simcli and the Python module)

README.md describes the columns.
"""

import csv
import pathlib
import sys
import tempfile

import yaml

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
BUILT = ROOT / "build/release"
sys.path[:0] = [str(BUILT / "python"), str(ROOT / "studies/bands")]
import corun  # noqa: E402
import make  # noqa: E402
import score  # noqa: E402

COLUMNS = ["capture", "step_s", "busy", "operations_per_step", "operation_us", "operation_us_p90", "small", "blocks",
           "one_wave", "copies"]
SMALL_US, SMS = 20, 132


def clients():
    """{capture: (device, keys of its client)}, as the first study with it has them"""
    found = {}
    for path in sorted(ROOT.glob("studies/**/experiment.yaml")):
        experiment = yaml.safe_load(path.read_text(encoding="utf-8"))
        for client in (client for scenario in experiment["scenarios"] for client in scenario["clients"]):
            if "trace" not in client:
                continue
            trace = (path.parent / client["trace"]).resolve()
            keys = client | {"name": f"program_{len(found)}", "trace": str(trace), "fewer_sms": [
                str((path.parent / other).resolve()) for other in client.get("fewer_sms", [])]}
            if "pacing" in experiment.get("defaults", {}):
                keys.setdefault("pacing", experiment["defaults"]["pacing"])
            found.setdefault(str(trace.relative_to(ROOT)), (experiment["device"], keys))
    return found


def alone(wanted):
    """({name: steps per second}, {name: part of the time that the device works}) of clients, each simulated alone"""
    rates, busy = {}, {}
    for device in sorted({device for device, _ in wanted}):
        experiment = {"version": 1, "name": "alone", "device": device, "horizon": "2s", "warmup": "0.5s", "seeds": 2,
                      "defaults": {"phase": "random"}, "policies": ["passthrough"],
                      "scenarios": [{"name": keys["name"], "clients": [keys]} for of, keys in wanted if of == device]}
        with tempfile.TemporaryDirectory() as folder:
            path, output = pathlib.Path(folder) / "alone.yaml", pathlib.Path(folder) / "alone.sqlite"
            path.write_text(yaml.safe_dump(experiment), encoding="utf-8")
            make.run(BUILT / "simcli", path, output)
            rates |= {client: value for (_, client), value in make.metric(output, "throughput_per_s").items()}
            busy |= {client: value for (_, client), value in make.metric(output, "gpu_busy_ratio").items()}
    return rates, busy


def of_operations(path):
    operations = corun.Timeline(ROOT / path).operations.to_pandas()
    times = operations.duration_ns / 1e3
    kernels = operations[operations.blocks > 0]
    blocks = kernels.blocks.astype(float)
    weight = kernels.duration_ns / max(1, kernels.duration_ns.sum())
    return {"operation_us": times.mean(), "operation_us_p90": times.quantile(0.9),
            "small": times[times < SMALL_US].sum() / times.sum(), "blocks": blocks.median(),
            "one_wave": weight[blocks <= SMS].sum(),
            "copies": 1 - kernels.duration_ns.sum() / operations.duration_ns.sum()}


def main():
    captures = sorted({row["capture"] for row in score.read(HERE / "runs.csv")})
    known = clients()
    rates, busy = alone([known[capture] for capture in captures])
    table = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    table.writeheader()
    for capture in captures:
        name = known[capture][1]["name"]
        row = {"step_s": 1 / rates[name], "busy": busy[name], **of_operations(capture)}
        row["operations_per_step"] = row["busy"] * row["step_s"] * 1e6 / row["operation_us"]
        table.writerow({"capture": capture} | {name: f"{value:.5g}" for name, value in row.items()})


if __name__ == "__main__":
    main()
