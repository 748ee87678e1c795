"""Columns are handed over and not copied: looked at through the bare structures of the Arrow interface."""

import ctypes

import numpy
import pytest

import corun
from built_package import CAPTURE, ROOT

pytest.importorskip("corun.core", reason="the compiled part is not built: ./dev build")


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


Release = ctypes.c_void_p
Schema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p),
                   ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64),
                   ("children", ctypes.POINTER(ctypes.POINTER(Schema))), ("dictionary", ctypes.POINTER(Schema)),
                   ("release", Release), ("private", ctypes.c_void_p)]
Array._fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
                  ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64),
                  ("buffers", ctypes.POINTER(ctypes.c_void_p)), ("children", ctypes.POINTER(ctypes.POINTER(Array))),
                  ("dictionary", ctypes.POINTER(Array)), ("release", Release), ("private", ctypes.c_void_p)]
Stream._fields_ = [("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))),
                   ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))),
                   ("get_last_error", ctypes.c_void_p), ("release", Release), ("private", ctypes.c_void_p)]


def held(capsule, name, structure):
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return structure.from_address(pointer(capsule, name))


def release(structure):
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(structure.release)(ctypes.addressof(structure))


def address(column):
    return numpy.asarray(column).__array_interface__["data"][0]


@pytest.fixture(scope="module")
def operations():
    return corun.Timeline(CAPTURE).operations


def test_arrow_and_numpy_see_the_same_memory(operations):
    schema_capsule, array_capsule = operations.__arrow_c_array__()
    schema, array = held(schema_capsule, b"arrow_schema", Schema), held(array_capsule, b"arrow_array", Array)
    assert (schema.format, schema.n_children, array.length) == (b"+s", len(operations.columns), len(operations))
    names = [schema.children[i].contents.name.decode() for i in range(schema.n_children)]
    assert names == operations.columns
    duration = array.children[names.index("duration_ns")].contents
    assert duration.buffers[1] == address(operations["duration_ns"])
    assert schema.children[names.index("duration_ns")].contents.format == b"l"


def test_text_is_a_dictionary(operations):
    schema_capsule, array_capsule = operations["name"].__arrow_c_array__()
    schema, array = held(schema_capsule, b"arrow_schema", Schema), held(array_capsule, b"arrow_array", Array)
    assert (schema.format, schema.dictionary.contents.format) == (b"i", b"u")
    words = array.dictionary.contents
    ends = (ctypes.c_int32 * (words.length + 1)).from_address(words.buffers[1])
    text = ctypes.string_at(words.buffers[2], ends[words.length])
    code = (ctypes.c_int32 * array.length).from_address(array.buffers[1])[5]
    assert text[ends[code]:ends[code + 1]].decode() == operations["name"][5] == operations["name"].words[code]


def test_missing_values_are_marked_and_not_zero(operations):
    sizes = operations["bytes"]  # of copies only
    assert 0 < sizes.missing and sizes.to_list().count(None) == sizes.missing
    array = held(capsule := sizes.__arrow_c_array__()[1], b"arrow_array", Array)
    bits = (ctypes.c_uint8 * (array.length // 8 + 1)).from_address(array.buffers[0])
    assert array.null_count == sizes.missing
    assert [bits[row // 8] >> row % 8 & 1
            for row in range(array.length)] == [int(v is not None) for v in sizes.to_list()]
    del capsule
    with pytest.raises(TypeError):
        memoryview(sizes)


def test_a_stream_gives_one_batch_and_ends(operations):
    stream = held(capsule := operations.__arrow_c_stream__(), b"arrow_array_stream", Stream)
    schema, array = Schema(), Array()
    assert stream.get_schema(stream, schema) == 0 and schema.n_children == len(operations.columns)
    assert stream.get_next(stream, array) == 0 and array.length == len(operations)
    release(array)
    release(schema)
    assert not array.release and not schema.release
    assert stream.get_next(stream, array) == 0 and not array.release
    del capsule


def test_memory_outlives_the_table():
    column = corun.Timeline(CAPTURE).operations["start_ns"]
    shared = numpy.asarray(column)
    expected = column.to_list()
    array = held(capsule := column.__arrow_c_array__()[1], b"arrow_array", Array)
    del column
    assert shared.tolist() == expected
    assert list((ctypes.c_int64 * array.length).from_address(array.buffers[1])) == expected
    del capsule


def test_buffers_are_read_only(operations):
    with pytest.raises(ValueError, match="read-only"):
        numpy.asarray(operations["start_ns"])[0] = 1


def test_pandas_shares_numbers_and_keeps_missing_ones(operations):
    frame = operations.to_pandas()
    assert frame.start_ns.to_numpy().__array_interface__["data"][0] == address(operations["start_ns"])
    assert list(frame.name[:3]) == operations["name"].to_list()[:3]
    assert frame.bytes.dtype == "Int64" and frame.bytes.isna().any() and frame.bytes.notna().any()
    assert [None if missing else int(value) for value, missing in zip(frame.bytes, frame.bytes.isna())] == \
        operations["bytes"].to_list()


def test_polars_and_pyarrow_take_a_table(operations):
    pyarrow = pytest.importorskip("pyarrow")
    table = operations.to_arrow()
    assert table["duration_ns"].chunk(0).buffers()[1].address == address(operations["duration_ns"])
    assert table["name"].to_pylist() == operations["name"].to_list()
    assert pyarrow.compute.sum(table["bytes"]).as_py() == sum(v for v in operations["bytes"].to_list() if v is not None)
    polars = pytest.importorskip("polars")
    assert operations.to_polars()["name"].to_list() == operations["name"].to_list()
    assert polars.Series(operations["start_ns"]).to_list() == operations["start_ns"].to_list()


def test_a_table_and_a_column_are_shown_in_a_line(operations):
    assert repr(operations).startswith("<corun.Table: 3925 rows of start_ns, duration_ns, ")
    assert repr(operations).endswith(" more>") and len(repr(operations)) < 120
    assert repr(operations["bytes"]) == f"<corun column bytes: 3925 values, {operations['bytes'].missing} missing>"
    assert repr(corun.parameter.integer(4, unit="kernels")) == "<corun.Parameter: integer, default 4 kernels>"


def test_rows_and_columns_that_are_not_there(operations):
    assert operations["start_ns"][-1] == operations["start_ns"].to_list()[-1]
    with pytest.raises(IndexError):
        operations["start_ns"][len(operations)]
    with pytest.raises(KeyError, match="no column `start`: there are start_ns, duration_ns"):
        operations["start"]


def test_a_table_of_results_holds_what_the_file_holds(quick):
    results = corun.open(quick)
    frames = results.table("frames")
    expected = results.sql("SELECT f.* FROM frames f ORDER BY f.rowid")
    for name in expected.columns:
        assert frames[name].to_list() == expected[name].tolist(), name
    chosen = results.table("frames", policy="nvshare", client="game")
    assert set(chosen["policy"].to_list()) == {"nvshare"} and 0 < len(chosen) < len(frames)
    assert len(results.table("frames", client="train")) == 0


def test_missing_values_of_results_are_missing(quick, tmp_path):
    results = corun.open(quick)
    with pytest.raises(corun.InputError, match="no table `frame`: did you mean `frames`. there are metrics, frames"):
        results.table("frame")
    from corun import _core

    table = _core.query(str(quick), "SELECT 1 AS a, 1 AS b, NULL AS c, 'x' AS d UNION ALL SELECT NULL, 2.5, NULL, NULL",
                        [])
    assert [table[name].to_list() for name in "abcd"] == [[1, None], [1.0, 2.5], [None, None], ["x", None]]
    assert [table[name].type for name in "abcd"] == ["integer", "real", "real", "text"]
    with pytest.raises(corun.InputError, match="both numbers and text"):
        _core.query(str(quick), "SELECT 1 AS a UNION ALL SELECT 'x'", [])


def test_a_timeline_says_what_it_is():
    timeline = corun.Timeline(ROOT / "traces/samples/h200/openarena_4k.corun")
    assert timeline.counts["kernels"] == 0 and len(timeline.frames) == timeline.counts["frames"] > 1000
    present = numpy.asarray(timeline.frames["present_ns"])
    assert (numpy.diff(present) >= 0).all() and timeline.fidelity["has_frames"]
    assert f"{len(present)} frames" in repr(timeline)
    with pytest.raises(corun.InputError, match="known formats|not|trace"):
        corun.Timeline(ROOT / "README.md")
