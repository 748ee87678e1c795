"""The page of figures says what its records say, and the list of mistakes fits the code."""

import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "mutants"), str(HERE.parent / "fuzz")]
import fuzz  # noqa: E402
import line_coverage  # noqa: E402
import reliability_page as figures  # noqa: E402
import ledger  # noqa: E402
import plant  # noqa: E402


def test_the_page_is_made_of_the_records():
    assert figures.PAGE.read_text() == figures.page(), "run ./dev figures"


def test_a_record_says_that_the_commit_is_unknown_where_there_is_no_git(monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    assert ledger.commit() == "unknown"


def test_every_fuzzed_surface_is_on_the_page_and_has_inputs():
    surfaces = {path.name for path in (HERE.parent / "fuzz/corpus").iterdir()}
    assert surfaces == set(figures.SURFACES)
    targets = (HERE.parent / "fuzz/CMakeLists.txt").read_text()
    assert all(f"({name} " in targets or f" {name}" in targets for name in surfaces)


def test_every_mistake_has_its_place_and_its_test():
    listed = plant.mutants()
    assert len(listed) >= 40
    assert list(plant.misplaced(listed)) == []
    sources = "\n".join(path.read_text() for path in HERE.parent.rglob("*_test.cpp"))
    for mutant in listed:
        case = mutant["test"].split(".")[-1].split("/")[0]
        assert case in sources, mutant["test"]


def test_a_mistake_without_its_place_is_said():
    mutant = {"number": 7, "name": "does not matter", "file": "x.cpp", "original": "a + b"}
    said, = plant.misplaced([mutant], lambda path: "a + b; a + b;")
    assert "occurs 2 times in x.cpp" in said
    assert list(plant.misplaced([mutant], lambda path: "c = a + b;")) == []


def test_a_planted_mistake_is_one_thing_or_the_other_by_its_switch():
    assert plant.switched({"number": 3, "original": "a < b", "mutated": "a <= b"}) == \
        "(::corun::mutant_is_on(3) ? (a <= b) : (a < b))"
    assert plant.switched({"number": 4, "original": "f();", "mutated": ""}) == \
        "{ if (::corun::mutant_is_on(4)) {  } else { f(); } }"


def test_campaigns_add_up_and_say_when_and_at_which_commits_they_began_and_ended():
    one, two = {"date": "2026-01-01", "commit": "aaa"}, {"date": "2026-02-02", "commit": "bbb"}
    kept = None
    for at, inputs in ((one, 10), (two, 20), (two, 3)):
        kept = ledger.added(kept, {"inputs": inputs, "seconds": 1}, at)
    assert kept == {"inputs": 33, "seconds": 3, "campaigns": 3, "first": one, "last": two}


def test_a_surface_of_the_record_reaches_its_goal_over_all_campaigns(tmp_path, monkeypatch):
    monkeypatch.setattr(ledger, "FOLDER", tmp_path)
    at = ledger.moment()
    for _ in range(2):
        fuzz.add_to_record("orion", 10, figures.GOAL_SECONDS // 2, [], at)
        row, = (line for line in figures.page().splitlines() if line.startswith("| orion:"))
        reached = "| no |" not in row
    assert reached and f"| 20 | {figures.GOAL_SECONDS:,} s | 2 |" in row, row


def test_a_finding_stays_open_until_it_is_repeated_and_passes(tmp_path, monkeypatch):
    monkeypatch.setattr(ledger, "FOLDER", tmp_path)
    monkeypatch.setattr(fuzz, "BUILT", tmp_path)
    (tmp_path / "findings").mkdir()
    target, finding = tmp_path / "fuzz_orion", tmp_path / "findings/orion-crash-1"

    def campaign(found):
        fuzz.add_to_record("orion", 1, 1, found, ledger.moment())
        return ledger.read("fuzz")["surfaces"]["orion"]["open_findings"]

    assert campaign(["orion-crash-1"]) == ["orion-crash-1"]
    assert campaign([]) == ["orion-crash-1"], "its input is not here, so nobody can say that it passes"
    finding.touch()
    for verdict, still in (("false", ["orion-crash-1"]), ("true", [])):
        target.write_text(f"#!/bin/sh\n{verdict}\n")
        target.chmod(0o755)
        assert campaign([]) == still


def test_a_line_has_run_if_it_ran_in_any_program_and_lines_of_tests_do_not_count():
    files = line_coverage.merged([[("sim/a.h", 1, False), ("sim/a.h", 2, False), ("tests/t.cpp", 1, True)],
                                  [("sim/a.h", 1, True), ("policies/b.cpp", 7, False), ("build/x.cpp", 1, True)]])
    assert line_coverage.by_folder(files) == {"policies": {"lines": 1, "run": 0}, "sim": {"lines": 2, "run": 1}}


def test_a_file_that_no_test_ran_counts_with_all_its_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(ledger, "ROOT", tmp_path)
    monkeypatch.setattr(line_coverage, "BUILT", tmp_path)
    (tmp_path / "sim").mkdir()
    for name, text in {"ran": "int main() {\n  return 0;\n}\n", "idle": "int idle() {\n  return 1;\n}\n"}.items():
        (tmp_path / f"sim/{name}.cpp").write_text(text)
        subprocess.run(["g++", "--coverage", "-O0", "-c", f"sim/{name}.cpp", "-o", f"{name}.o"], cwd=tmp_path,
                       check=True)
    subprocess.run(["g++", "--coverage", "ran.o", "-o", "ran"], cwd=tmp_path, check=True)
    subprocess.run([tmp_path / "ran"], cwd=tmp_path, check=True)
    files = line_coverage.merged(map(line_coverage.lines_of, sorted(tmp_path.rglob("*.gcno"))))
    assert files == {"sim/ran.cpp": {1: True, 2: True}, "sim/idle.cpp": {1: False, 2: False}}
