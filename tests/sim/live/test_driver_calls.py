"""What tracer/gate/driver/driver_calls.h says of the driver's functions is what NVIDIA's headers say,
where they are."""

import os
import pathlib
import re
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "support"))
from repository import ROOT  # noqa: E402

HEADERS = pathlib.Path(os.environ.get("CUDA_PATH", "/usr/local/cuda")) / "include"
ROW = re.compile(r"X\((\w+), (\d+), (\d+), (\d+), k\w+\)")
CUPTI_ROW = re.compile(r"X\((\w+), (\d+), k\w+\)")
NEWER = range(837, 841)  # of CUDA 13.2, which headers of CUDA 13.0 lack
NAME = re.compile(r"(cu\w+?)(?:_v\d)?(_ptsz|_ptds)?")
RENAMED = {("cuGraphInstantiateWithFlags", 12000): 11040}  # since then it is what cuGraphInstantiate is


def text():
    return (ROOT / "tracer/gate/driver/driver_calls.h").read_text(encoding="utf-8")


def rows():
    return [(name, int(number), int(since), int(count)) for name, number, since, count in ROW.findall(text())]


def cupti_rows():
    return [(name, int(number)) for name, number in CUPTI_ROW.findall(text())]


def header(name):
    path = HEADERS / name
    if not path.exists():
        pytest.skip(f"needs {path}")
    return path.read_text(encoding="utf-8", errors="replace")


def test_numbers_are_those_of_cupti():
    known = {name: int(number) for name, number in
             re.findall(r"CUPTI_DRIVER_TRACE_CBID_(\w+)\s*=\s*(\d+)", header("cupti_driver_cbid.h"))}
    assert len(rows()) > 100 and len(cupti_rows()) > 30
    assert [row for row in rows() if known.get(row[0]) != row[1]] == []
    assert [row for row in cupti_rows() if known.get(row[0], row[1] if row[1] in NEWER else None) != row[1]] == []


def test_counts_of_arguments_are_those_of_the_driver():
    declared = {}
    for base, since, ending, arguments in re.findall(
            r"PFN_(cu\w+?)_v(\d+)(_ptsz|_ptds)?\)\(([^;]*)\);", header("cudaTypedefs.h")):
        declared[base, ending, int(since)] = 0 if arguments.strip() == "void" else arguments.count(",") + 1
    wrong = []
    for name, _, since, count in rows():
        base, ending = NAME.fullmatch(name).groups(default="")
        if declared.get((base, ending, RENAMED.get((name, since), since))) != count:
            wrong.append((name, since, count))
    assert wrong == []
