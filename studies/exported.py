"""A capture's timeline as `simcli export` writes it, for the scripts of studies."""

import json
import pathlib
import subprocess
import tempfile


def events(simcli, capture):
    """Its events with a begin (`ts`) and a length (`dur`), in microseconds, as dictionaries."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "timeline.json")
        subprocess.run([simcli, "export", capture, "-o", path], check=True, stdout=subprocess.DEVNULL)
        return [event for event in json.loads(path.read_text(encoding="utf-8"))["traceEvents"] if event["ph"] == "X"]
