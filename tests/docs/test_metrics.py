"""The table of metrics (sim/metrics/metric_table.cpp) is the one place that says what metrics there are and mean.

The tables of docs/metrics.md are made from it: CORUN_UPDATE=1 rewrites them.
"""

import json
import os
import re
import subprocess

import pytest

import pages

PAGE = pages.ROOT / "docs/metrics.md"
TABLES = re.compile(r"(?<=<!-- made from the table of metrics: begin -->\n)"
                    r".*?(?=<!-- made from the table of metrics: end -->)", re.DOTALL)
GROUPS = {"Of clients with frames": ["client with frames"], "Of servers": ["server"],
          "Of every client": ["client", "client and device"], "Of the device": ["device"],
          "Of a cluster": ["cluster", "cluster and client"]}


@pytest.fixture(name="metrics", scope="module")
def metrics_of_simcli():
    if not (pages.BUILD / "simcli").exists():
        pytest.skip("simcli is not built: ./dev build")
    listing = subprocess.run([pages.BUILD / "simcli", "metrics", "--json"], capture_output=True, check=True).stdout
    return {metric["name"]: metric for metric in json.loads(listing)["metrics"]}


def row_of(metric, names):
    also = {"client and device": "of the device as well", "cluster and client": "of each client as well"}
    absent = "0 where absent" if metric["counts_from_zero"] else ""
    text = "; ".join(filter(None, [metric["meaning"], metric["definition"], absent, also.get(metric["of"])]))
    marked = re.sub(r"\w+_\w+", lambda word: f"`{word[0]}`" if word[0] in names else word[0], text)
    return f"| `{metric['name']}` | {metric['unit']} | {metric['better'].replace('neither', '')} | {marked} |\n"


def tables(metrics):
    text = ""
    for heading, owners in GROUPS.items():
        rows = [row_of(metric, metrics) for metric in metrics.values() if metric["of"] in owners]
        text += f"\n### {heading}\n\n| metric | unit | better | meaning |\n|---|---|---|---|\n{''.join(rows)}"
    return text + "\n"


def test_the_page_says_what_the_table_says(metrics):
    page = PAGE.read_text(encoding="utf-8")
    made = TABLES.sub(lambda _: tables(metrics), page)
    if "CORUN_UPDATE" in os.environ:
        PAGE.write_text(made, encoding="utf-8")
        page = made
    assert page == made, "the tables of docs/metrics.md are generated: run this test once with CORUN_UPDATE=1"
