"""The runner of C++ tests, on a stand-in for a GoogleTest program that ctest lists."""

import importlib.util
import json
import os
import pathlib
import sys
import xml.etree.ElementTree as xml

import pytest

SOURCE = pathlib.Path(__file__).parent.parent / "run_cpp.py"
spec = importlib.util.spec_from_file_location("run_cpp", SOURCE)
run_cpp = importlib.util.module_from_spec(spec)
spec.loader.exec_module(run_cpp)

# Runs the cases of its filter in order. What a case does is its name; `Flaky` fails unless it is alone.
PROGRAM = f"""#!{sys.executable}
import os, sys
names = next(word for word in sys.argv if word.startswith("--gtest_filter=")).split("=")[1].split(":")
failed = False
for name in names:
    print(f"[ RUN      ] {{name}}", flush=True)
    what = name.split(".")[1].rstrip("0123456789")
    if what == "Crashes":
        os.abort()
    bad = what == "Fails" or (what == "Flaky" and len(names) > 1)
    word = "[  FAILED  ]" if bad else "[  SKIPPED ]" if what == "Skips" else "[       OK ]"
    print(f"{{word}} {{name}} (2 ms)", flush=True)
    failed = failed or bad
    if what == "EndsBadly":
        os.abort()
sys.exit(1 if failed or any("Leaks" in name for name in names) else 0)
"""
CTEST = f"""#!{sys.executable}
import os
print(open(os.environ["LISTED"]).read())
"""


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    for name, text in (("program", PROGRAM), ("ctest", CTEST)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("LISTED", str(tmp_path / "listed.json"))

    def run_cases(*names, others=()):
        tests = [{"name": name, "command": [str(tmp_path / "program"), f"--gtest_filter={name}"]} for name in names]
        tests += [{"name": name, "command": command} for name, command in others]
        (tmp_path / "listed.json").write_text(json.dumps({"tests": tests}))
        monkeypatch.setattr(sys, "argv", ["run_cpp.py", "tree", str(tmp_path / "cpp.xml"), "--jobs", "2"])
        code = run_cpp.main()
        return code, outcomes(tmp_path / "cpp.xml"), outcomes(tmp_path / "cpp-again.xml"), capsys.readouterr().out

    return run_cases


def outcomes(path):
    if not path.exists():
        return {}
    return {case.get("name"): case[0].tag if len(case) else "passed" for case in xml.parse(path).getroot()}


def test_every_case_has_its_own_outcome(run):
    code, first, again, _ = run("A.Passes", "A.Skips", "A.Fails", others=[("fuzz.x", ["true"]), ("fuzz.y", ["false"])])
    assert code == 1
    assert first == {"A.Passes": "passed", "A.Skips": "skipped", "A.Fails": "failure", "fuzz.x": "passed",
                     "fuzz.y": "failure"}
    assert again == {"A.Fails": "failure", "fuzz.y": "failure"}


def test_a_crash_ends_its_own_case_alone(run):
    many = [f"A.Passes{number}" for number in range(40)]
    code, first, again, out = run(*many[:20], "A.Crashes", *many[20:])
    assert code == 1 and again == {"A.Crashes": "failure"}
    assert all(first[name] == "passed" for name in many) and first["A.Crashes"] == "failure"
    assert "FAILED A.Crashes" in out


def test_what_passes_alone_is_kept_apart(run):
    code, first, again, _ = run("A.Flaky", "A.Passes")
    assert (code, first["A.Flaky"], again) == (0, "failure", {"A.Flaky": "passed"})


def test_a_leak_at_the_end_is_found_in_the_case_that_leaks(run):
    code, first, again, _ = run("A.Leaks", "A.Passes")
    assert (code, first["A.Passes"], again) == (1, "passed", {"A.Leaks": "failure"})


def test_a_failure_hides_no_leak_of_another_case(run):
    code, _, again, _ = run("A.Leaks", "A.Flaky", "A.Passes")
    assert (code, again) == (1, {"A.Leaks": "failure", "A.Flaky": "passed"})


def test_a_process_that_ends_badly_behind_its_cases_is_noticed(run):
    code, first, again, _ = run("A.Passes", "A.EndsBadly")
    assert (code, first["A.Passes"], again) == (1, "passed", {"A.EndsBadly": "failure"})


def test_a_program_that_was_not_built_is_a_failure(run):
    code, first, _, out = run("A.Passes", others=[("B_NOT_BUILT", [])])
    assert (code, first["B_NOT_BUILT"]) == (1, "failure") and "not built" in out


def test_no_tests_are_an_error(run):
    with pytest.raises(SystemExit, match="has no tests"):
        run()
