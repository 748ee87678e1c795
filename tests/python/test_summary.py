"""The closing block of `./dev test`."""

import importlib.util
import pathlib

import pytest

SOURCE = pathlib.Path(__file__).parent.parent / "summary.py"
spec = importlib.util.spec_from_file_location("closing_summary", SOURCE)
closing = importlib.util.module_from_spec(spec)
spec.loader.exec_module(closing)

CTEST = """<testsuite tests="5">
  <testcase name="a" time="1" status="run"/>
  <testcase name="b" time="1" status="fail"><failure message=""/></testcase>
  <testcase name="c" time="0" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/></testcase>
  <testcase name="d" time="0" status="disabled"/>
  <testcase name="g" time="0" status="notrun"><skipped message="Unable to find executable"/></testcase>
</testsuite>"""
PYTEST = """<testsuites><testsuite tests="2">
  <testcase classname="x" name="e" time="0.5"/>
  <testcase classname="x" name="f" time="0.5"><skipped type="pytest.skip"/></testcase>
</testsuite></testsuites>"""


def run(tmp_path, capsys, *texts):
    paths = [tmp_path / f"suite{number}.xml" for number in range(len(texts))]
    for path, text in zip(paths, texts):
        if text is not None:
            path.write_text(text)
    code = closing.main(map(str, paths))
    return code, capsys.readouterr().out.splitlines()


def test_adds_up_both_dialects_and_fails_on_a_failure(tmp_path, capsys):
    code, lines = run(tmp_path, capsys, CTEST, PYTEST)
    assert code == 1
    assert lines[-1] == "2 passed, 2 failed, 3 skipped"
    assert "FAILED  b" in lines and "FAILED  g" in lines


def test_skips_are_mentioned_only_where_there_are_any(tmp_path, capsys):
    code, lines = run(tmp_path, capsys, '<testsuite><testcase name="a" time="1" status="run"/></testsuite>')
    assert (code, lines[-1]) == (0, "1 passed, 0 failed")


@pytest.mark.parametrize("damaged", [None, "", "<testsuite><testcase"])
def test_a_suite_that_did_not_run_is_a_failure(tmp_path, capsys, damaged):
    code, lines = run(tmp_path, capsys, PYTEST, damaged)
    assert code == 1
    assert lines[-1] == "1 passed, 1 failed, 1 skipped"


def test_what_passes_alone_is_named_and_what_fails_again_has_failed(tmp_path, capsys):
    first = "".join(f'<testcase name="{name}" time="1" status="fail"><failure message=""/></testcase>' for name in "ab")
    (tmp_path / "suite0-again.xml").write_text(
        '<testsuite><testcase name="a" time="1" status="run"/>'
        '<testcase name="b" time="1" status="fail"><failure message=""/></testcase></testsuite>')
    code, lines = run(tmp_path, capsys, f"<testsuite>{first}</testsuite>")
    assert (code, lines[-1]) == (1, "1 passed, 1 failed")
    assert "AGAIN   a: failed once, passed when it ran alone" in lines
    assert "FAILED  b" in lines


def test_a_second_try_saves_nobody_of_the_same_name(tmp_path, capsys):
    failing = '<testcase name="a" time="1" status="fail"><failure message=""/></testcase>'
    (tmp_path / "suite0-again.xml").write_text(
        f'<testsuite><testcase name="a" time="1" status="run"/>{failing}</testsuite>')
    code, lines = run(tmp_path, capsys, f"<testsuite>{failing}{failing}</testsuite>")
    assert (code, lines[-1]) == (1, "0 passed, 2 failed")
