"""What git says of this tree, to be stored with measurements."""

import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def git(*words):
    """What `git WORDS` prints; nothing where it fails or is not installed, which no program here needs."""
    try:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    except FileNotFoundError:
        return ""
