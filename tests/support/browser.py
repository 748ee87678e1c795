"""A headless Chromium, driven through its debugging pipe: no package besides the browser is needed."""

import base64
import contextlib
import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
OPTIONS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
           "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
           "--force-color-profile=srgb", "--remote-debugging-pipe"]
PATIENCE_S = 60


class Page:
    """One page, with what it asked the network for, what of that its content policy blocked, and its complaints."""

    def __init__(self, to_browser, from_browser):
        self.to_browser, self.from_browser, self.rest = to_browser, from_browser, b""
        self.numbers, self.session = itertools.count(1), None
        self.requests, self.complaints = [], []
        self.blocked, self.address_of = set(), {}
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def ask(self, method, **parameters):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to_browser, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == number:
                assert "error" not in answer, answer
                return answer["result"]

    def receive(self):
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.from_browser], [], [], PATIENCE_S)
            assert ready, "the browser does not answer"
            part = os.read(self.from_browser, 1 << 20)
            assert part, "the browser has ended"
            self.rest += part
        message, self.rest = self.rest.split(b"\0", 1)
        message = json.loads(message)
        self.note(message.get("method"), message.get("params", {}))
        return message

    def note(self, method, event):
        if method == "Network.requestWillBeSent":
            self.requests.append(event["request"]["url"])
            self.address_of[event["requestId"]] = event["request"]["url"]
        elif method == "Network.loadingFailed" and event.get("blockedReason") == "csp":
            self.blocked.add(self.address_of.get(event["requestId"]))
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(event["exceptionDetails"].get("exception", {}).get("description", "exception"))
        elif method == "Runtime.consoleAPICalled" and event["type"] in ("error", "warning", "assert"):
            self.complaints.append(" ".join(str(a.get("value", a.get("description"))) for a in event["args"]))
        elif method == "Log.entryAdded" and event["entry"]["level"] in ("error", "warning"):
            self.complaints.append(event["entry"]["text"])

    def evaluate(self, expression):
        result = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def resize(self, width, height):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def prefer(self, scheme):
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, address):
        self.ask("Page.navigate", url=address)
        self.wait_for("document.readyState === 'complete'")

    def wait_for(self, expression, patience_s=PATIENCE_S):
        end = time.monotonic() + patience_s
        while not self.evaluate(expression):
            assert time.monotonic() < end, f"not within {patience_s} s: {expression}"
            time.sleep(0.05)

    def screenshot(self, path, clip=None):
        options = {"clip": {**clip, "scale": 1}, "captureBeyondViewport": True} if clip else {}
        path.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot", format="png", **options)["data"]))


@contextlib.contextmanager
def page():
    """A page of a browser of its own, which ends with it."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for_browser, to_browser = os.pipe()
        from_browser, by_browser = os.pipe()
        # The browser reads descriptor 3 and writes descriptor 4.
        start = f'exec "$0" "$@" 3<&{for_browser} 4>&{by_browser}'
        browser = subprocess.Popen(["bash", "-c", start, PROGRAM, *OPTIONS, f"--user-data-dir={profile}"],
                                   pass_fds=(for_browser, by_browser), stderr=subprocess.DEVNULL)
        os.close(for_browser), os.close(by_browser)
        try:
            yield Page(to_browser, from_browser)
        finally:
            os.close(to_browser), os.close(from_browser)
            browser.terminate()
            try:
                browser.wait(10)
            except subprocess.TimeoutExpired:
                browser.kill()
                browser.wait()
