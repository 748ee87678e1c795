"""No list of metrics stands outside the table of metrics and the headlines, which say what is shown of it."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[3]
HOMES = {"sim/metrics/metric_table.cpp", "sim/metrics/headlines.h", "sim/metrics/collector.cpp",
         "sim/cluster/cluster_metrics.cpp"}
# What sentences, figures and goals ask for by name; kills is also a table of results files, and power_w and
# sm_clock_mhz are also what a capture and a validation say of the device.
NAMED_ELSEWHERE = {"fps_mean", "fps_1low", "frame_time_p50_ms", "frame_time_p99_ms", "throughput_per_s",
                   "solo_throughput_per_s", "job_time_p50_ms", "job_time_p99_ms", "job_interval_p99_ms",
                   "slowdown", "wait_p99_ms",
                   "harvest_ratio", "gpu_busy_ratio", "switch_ratio", "paging_ratio", "quality_mean",
                   "missed_frame_ratio", "refused", "kills", "render_time_p50_ms", "render_time_p99_ms",
                   "ttft_p99_ms", "tpot_p99_ms", "rejected", "goodput_per_s", "progress_ratio", "power_w",
                   "sm_clock_mhz",
                   # a closing table shows estimates with their ranges
                   "pod_time_mean_s", "pod_time_mean_low_s", "pod_time_mean_high_s",
                   "slowdown_mean", "slowdown_mean_low", "slowdown_mean_high"}
CODE = [path for folder in ("sim", "experiments", "python") for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in (".h", ".cpp", ".py", ".js") and "reproduce" not in path.parts]


def quoted(path):
    """The texts in quotes of a source file, but for those in comments."""
    return re.findall(r'"([^"\n]*)"', re.sub(r"(?<!:)//.*", "", path.read_text(encoding="utf-8")))


def test_a_metric_is_named_in_the_table_where_it_is_computed_and_where_a_consumer_must():
    table = set(re.findall(r'\.name = "(\w+)"', (ROOT / "sim/metrics/metric_table.cpp").read_text()))
    assert len(table) > 40
    elsewhere = {name for path in CODE if str(path.relative_to(ROOT)) not in HOMES
                 for name in table.intersection(quoted(path))}
    assert elsewhere == NAMED_ELSEWHERE, "say it in the table of metrics or in sim/metrics/headlines.h"
