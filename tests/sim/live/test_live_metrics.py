"""What `simcli live --metrics` serves, as Prometheus, Grafana and a reader of docs/live.md take it.

One run of programs of the fake driver is scraped under each of two policies. The text is read by Prometheus' own
library; every query of the dashboard is checked against it; the page's table and example are those of a scrape, and
CORUN_UPDATE=1 rewrites the table.
"""

import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

import pytest
import yaml

import promql
import test_live_transcripts as live

ROOT = pathlib.Path(__file__).resolve().parents[3]
DASHBOARD = json.loads((ROOT / "packaging/grafana/corun-live.json").read_text(encoding="utf-8"))
PAGE = ROOT / "docs/live.md"
TABLE = re.compile(r"(?<=<!-- made from a scrape: begin -->\n).*?(?=<!-- made from a scrape: end -->)", re.DOTALL)
EXPERIMENT = """
name: told
device: h200
horizon: 6s
policies: [nvshare: { quantum: 200ms }, gaiagpu: { memory_limits: { train: 2 } }]
clients:
  - { name: game, command: [live_frames, "20", "5"], role: interactive, pacing: 50fps }
  - { name: train, command: [live_app, step, "0", "2000"], share: 0.2 }
  - { name: encode, command: [live_app, step, "0", "500"], share: 0.2 }
"""


@pytest.fixture(name="parser", scope="module")
def prometheus_parser():
    return pytest.importorskip("prometheus_client.parser", reason="python3-prometheus-client (packages.txt)")


@pytest.fixture(name="folder", scope="module")
def folder_with_experiment(tmp_path_factory):
    if not (live.PROGRAMS / "live_app").exists():
        pytest.skip(f"{live.PROGRAMS}/live_app is not built")
    folder = tmp_path_factory.mktemp("metrics")
    (folder / "told.yaml").write_text(EXPERIMENT)
    return folder


def started(folder, *arguments):
    environment = {"PATH": f"{live.PROGRAMS}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
    return subprocess.Popen([str(live.test_transcripts.simcli()), "live", "told.yaml", "-f", *arguments], cwd=folder,
                            env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def url_of(process):
    """Where it says that it serves metrics."""
    said = ""
    for line in process.stdout:
        said += line
        if line.startswith("metrics: "):
            return line.split()[1]
    raise AssertionError(said)


def get(url):
    with urllib.request.urlopen(url, timeout=3) as reply:
        assert reply.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
        return reply.read().decode()


def await_line(url, *patterns):
    """A scrape that has a line like each of these."""
    until = time.monotonic() + 15
    while True:
        text = get(url)
        missing = [pattern for pattern in patterns if not re.search(f"^{pattern}$", text, re.MULTILINE)]
        if not missing:
            return text
        assert time.monotonic() < until, f"{missing} in\n{text}"
        time.sleep(0.1)


@pytest.fixture(name="scrapes", scope="module")
def scrapes_of_a_run(folder):
    """Under nvshare, which holds programs by its lock, and under GaiaGPU, which limits memory."""
    with started(folder, "--metrics", ":0", "-o", "told.sqlite") as process:
        url = url_of(process)
        first = await_line(url, *(f'corun_held_seconds_total{{client="{client}",policy="nvshare",reason="{reason}"}} .*'
                                  for client in ("train", "encode") for reason in ("lock", "pending_window")),
                           r'corun_actions_total{client="train",policy="nvshare",action="admit"} .*',
                           r'corun_job_time_p99_seconds{client="train",policy="nvshare"} .*',
                           r'corun_frames_total{client="game",policy="nvshare"} (?:\d{3}|[4-9]\d)')
        second = await_line(url, r'corun_memory_limit_bytes{client="train",policy="gaiagpu"} .*',
                            r'corun_launches_total{client="train",policy="gaiagpu"} [1-9]\d*')
        process.send_signal(signal.SIGINT)
        output = process.communicate(timeout=20)[0]
    assert process.returncode == 130, output
    return first, second


@pytest.fixture(name="families", scope="module")
def families_of_scrapes(parser, scrapes):
    """name -> family of the first scrape, with the samples of the second."""
    families, more = ({family.name: family for family in parser.text_string_to_metric_families(text)}
                      for text in scrapes)
    for name, family in families.items():
        family.samples += more[name].samples
    return families


@pytest.fixture(name="known", scope="module")
def known_metrics(families):
    """Name of a sample -> its labels."""
    return {sample.name: set(sample.labels) for family in families.values() for sample in family.samples}


def test_prometheus_reads_every_family_with_help_type_and_base_units(families):
    for name, family in families.items():
        assert name.startswith("corun_") and family.documentation, name
        assert family.type in ("counter", "gauge", "histogram"), name
        assert not re.search(r"_(ms|us|ns|minutes|kib|mib|percent)\b", name), name
        for sample in family.samples:
            if family.type == "counter":
                assert sample.name == name + "_total" and sample.value >= 0, sample


def test_no_sample_comes_twice(scrapes):
    for text in scrapes:
        samples = [line.rpartition(" ")[0] for line in text.splitlines() if not line.startswith("#")]
        assert len(samples) == len(set(samples))


def test_histograms_ascend_to_their_count(families):
    for family in families.values():
        buckets = {}
        for sample in family.samples:
            if sample.name.endswith("_bucket"):
                buckets.setdefault(frozenset(sample.labels.items() - {("le", sample.labels["le"])}), []).append(sample)
        counts = {frozenset(sample.labels.items()): sample.value
                  for sample in family.samples if sample.name.endswith("_count")}
        for labels, steps in buckets.items():
            values = [sample.value for sample in steps]
            assert values == sorted(values) and values[-1] == counts[labels], labels
            assert [float(sample.labels["le"]) for sample in steps] == sorted(float(s.labels["le"]) for s in steps)


def test_totals_grow_from_scrape_to_scrape(folder, parser):
    with started(folder, "--metrics", ":0", "-o", "grows.sqlite") as process:
        url = url_of(process)
        texts = [await_line(url, r'corun_launches_total{client="encode",policy="nvshare"} [1-9]\d+')]
        time.sleep(0.5)
        texts.append(get(url))
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
    first, second = ({(sample.name, tuple(sorted(sample.labels.items()))): sample.value
                      for family in parser.text_string_to_metric_families(text) if family.type != "gauge"
                      for sample in family.samples} for text in texts)
    assert all(second[name] >= value for name, value in first.items())
    assert any(second[name] > value for name, value in first.items() if name[0] == "corun_device_time_seconds_total")


def queries():
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            yield pytest.param(target["expr"], target["legendFormat"], id=f"{panel['title']} {target['refId']}")


@pytest.mark.parametrize("query, legend", queries())
def test_the_dashboard_asks_for_what_there_is(query, legend, known):
    said = query.replace("$__rate_interval", "1m")
    shown = promql.labels(said, known)
    assert set(re.findall(r"{{(\w+)}}", legend)) <= shown, f"{legend} of {shown}"
    for variable in set(re.findall(r"\$(\w+)", said)):
        assert f'{variable}=~"${variable}"' in said, f"${variable} is a list"


def test_the_dashboards_variables_are_labels_of_what_there_is(known):
    for variable in DASHBOARD["templating"]["list"]:
        if variable["type"] == "query":
            metric, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", variable["query"]["query"]).groups()
            assert label in known[metric]


def test_the_dashboard_shows_every_metric(families):
    text = json.dumps(DASHBOARD)
    unseen = {name for name in families if not re.search(rf"\b{name}(?:_total|_bucket|_sum|_count)?\b", text)}
    assert unseen == {"corun_build_info", "corun_runs_finished", "corun_run_in_progress"}


@pytest.mark.parametrize("query, reason", [
    ("rate(corun_frames_total)", r"expected"), ("rate(corun_frames_total[1m]", "expected"),
    ("corun_frame_total", "no metric"), ('corun_frames_total{name="a"}', "no label"),
    ("histogram_quantile(0.9, sum by (client) (rate(corun_wait_seconds_bucket[1m])))", "needs buckets"),
    ("sum by (reason) (corun_frames_total)", "sum by"), ("corun_launches_held / corun_launches_total", "is matched"),
    ("corun_frames_total corun_frames_total", "expected")])
def test_a_wrong_query_is_noticed(query, reason, known):
    with pytest.raises(AssertionError, match=reason):
        promql.labels(query, known)


def table_of(families):
    rows = []
    for name, family in families.items():
        labels = sorted({label for sample in family.samples for label in sample.labels} - {"le"})
        shown = name + ("_total" if family.type == "counter" else "")
        rows.append(f"| `{shown}` | {family.type} | {', '.join(labels)} | {family.documentation} |\n")
    return "| metric | type | labels | meaning |\n|---|---|---|---|\n" + "".join(rows)


def test_the_pages_table_is_that_of_a_scrape(families):
    page = PAGE.read_text(encoding="utf-8")
    made = TABLE.sub(lambda _: table_of(families), page)
    if "CORUN_UPDATE" in os.environ:
        PAGE.write_text(made, encoding="utf-8")
        page = made
    assert page == made, "the table of docs/live.md is made: run this test once with CORUN_UPDATE=1"


def test_the_pages_example_is_of_a_scrape(scrapes):
    page = PAGE.read_text(encoding="utf-8")
    example = re.search(r"curl -s [^\n]*\n(.*?)```", page, re.DOTALL)[1].splitlines()
    shown = [re.sub(r"[\d.]+$", "[figure]", line) for line in example if line]
    told = {re.sub(r"[\d.]+$", "[figure]", line) for line in scrapes[0].splitlines()}
    assert len(shown) > 5 and set(shown) <= told, set(shown) - told


def test_the_pages_configurations_name_the_port_and_the_dashboard():
    page = PAGE.read_text(encoding="utf-8")
    prometheus, grafana = (yaml.safe_load(found) for found in
                           re.findall(r"```yaml\n((?:scrape_configs|apiVersion):.*?)```", page, re.DOTALL))
    assert prometheus["scrape_configs"][0]["static_configs"] == [{"targets": ["localhost:9400"]}]
    assert "--metrics :9400" in page
    assert grafana["providers"][0]["options"]["path"] == "/usr/share/corun/grafana"


def test_other_paths_are_not_found(folder):
    with started(folder, "--metrics", "127.0.0.1:0", "-o", "paths.sqlite") as process:
        with pytest.raises(urllib.error.HTTPError) as error:
            urllib.request.urlopen(url_of(process).replace("/metrics", "/"), timeout=3)
        assert error.value.code == 404
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)


def test_a_port_in_use_is_an_error_before_anything_is_started(folder):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with started(folder, "--metrics", address, "-o", "busy.sqlite") as process:
            output = process.communicate(timeout=20)[0]
    assert process.returncode == 2
    assert output == ("error[E0400]: metrics cannot be served here: Address already in use\n"
                      f"  --> {address}\n"
                      "   = help: end what listens there, or let any free port be taken: `--metrics :0`\n\n")
    assert not (folder / "busy.sqlite").exists()


def test_without_the_option_nothing_listens(folder):
    with started(folder, "-o", "off.sqlite") as process:
        time.sleep(1)
        sockets = {os.readlink(f"/proc/{process.pid}/fd/{name}") for name in os.listdir(f"/proc/{process.pid}/fd")}
        process.send_signal(signal.SIGINT)
        output = process.communicate(timeout=20)[0]
    inodes = {line.split()[9] for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]}
    assert "metrics:" not in output
    assert not {name for name in sockets if name.startswith("socket:") and name[8:-1] in inodes}
