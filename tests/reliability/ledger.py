"""Records of what was tried: files in this folder from which RELIABILITY.md is made.

A record is what one command found, with its date, commit and machine. It is committed, so that the page can be made,
and judged, without running everything again. What adds up over campaigns (`added`) says of its counts when and at which
commits they begin and end, and over how many campaigns they go, since no one commit stands for them all.
"""

import datetime
import json
import os
import pathlib
import platform
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from repository import git  # noqa: E402

FOLDER = ROOT / "tests/reliability/records"


def commit():
    """The commit that was tried, with + where the tree differed from it in more than records."""
    others = git("status", "--porcelain", "--", ".", ":!tests/reliability/records", ":!RELIABILITY.md",
                 ":!tests/fuzz/corpus")
    return (git("rev-parse", "--short=12", "HEAD") or "unknown") + ("+" if others else "")


def machine():
    names = [line.split(":", 1)[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
             if line.startswith("model name")]
    return f"{names[0] if names else platform.machine()}, {os.cpu_count()} processors"


def read(name):
    """A record, or None where nothing was tried yet."""
    path = FOLDER / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else None


def moment():
    """When and at which commit something is tried. Ask before it begins: a long campaign ends at another commit."""
    return {"date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(), "commit": commit()}


def added(before, counts, at):
    """The counts of a campaign that was begun at the moment `at`, on top of those of the campaigns before it.

    `before` is what this returned last time, or None. Every count of `counts` is summed; "campaigns", "first" and
    "last" say over what."""
    before = before or {}
    return {**{name: before.get(name, 0) + count for name, count in counts.items()},
            "campaigns": before.get("campaigns", 0) + 1, "first": before.get("first", at), "last": at}


def write(name, found, at=None):
    FOLDER.mkdir(parents=True, exist_ok=True)
    content = {**(at or moment()), "machine": machine(), **found}
    (FOLDER / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n")
