"""Lets the tests in this folder's folders import what they share (test_transcripts, written_results)."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
