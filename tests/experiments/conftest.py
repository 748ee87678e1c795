"""Lets the tests in this folder's folders import what they share: test_transcripts, written_results, test_export."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "results")]
