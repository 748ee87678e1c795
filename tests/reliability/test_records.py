"""The page of figures says what its records say, and the list of mistakes fits the code."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "mutants")]
import reliability_page as figures  # noqa: E402
import plant  # noqa: E402


def test_the_page_is_made_of_the_records():
    assert figures.PAGE.read_text() == figures.page(), "run ./dev figures"


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
        suite, case = mutant["test"].split(": ")[1].split("/")[-1].split(".")
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
