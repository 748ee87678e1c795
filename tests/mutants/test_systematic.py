"""Slips at random places: what is found in a source, and what the score counts."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import schemata  # noqa: E402
import systematic  # noqa: E402

SOURCE = """#include <algorithm>
#include <compare>
struct Length { int l; auto operator<=>(const Length&) const = default; };
inline bool is_less(Length a, Length b) { return a < b; }
constexpr int kLimit = 7, kOther = 8;
enum class Way { kOne = 1 };
#define CORUN_CHECK(x) ((x) ? 0 : 1)
inline int sum(const int* values, int count) {
  int found = 0;
  for (int i = 0; i < count; ++i) {
    if (values[i] == kLimit) continue;
    found += std::min(values[i], 3);
  }
  CORUN_CHECK(found > 5);
  switch (found) { case 4: return 9; default: break; }
  static_assert(kLimit > 2);
  const auto half = [](double all) { return all / 2; };
  found = int(half(found) * 2);
  return found * 2;
}
"""


@pytest.fixture
def found(tmp_path):
    cindex = pytest.importorskip("clang.cindex")
    import sites
    try:
        cindex.Index.create()
    except cindex.LibclangError:
        pytest.skip("no libclang is installed (packages.txt)")
    (tmp_path / "sum.cpp").write_text(SOURCE)
    return sites.sites_of(tmp_path, "sum.cpp", ["-xc++", "-std=c++20"])


def test_every_kind_of_slip_is_found_where_it_can_be_switched(found):
    slips = {(site["line"], site["original"], site["mutated"]) for site in found}
    assert {(10, "i < count", "i <= count"), (10, "i < count", "i >= count"), (10, "++i", "--i"),
            (11, "values[i] == kLimit", "values[i] != kLimit"), (11, "continue;", ""),
            (12, "std::min(values[i], 3)", "std::max(values[i], 3)"), (12, "3", "3 + 1"),
            (12, "found += std::min(values[i], 3);", ""), (19, "found * 2", "found / 2"),
            (10, "", "continue at once"), (13, "", "break after one pass"),
            (17, "return all / 2;", "return 0;"),
            (19, "return found * 2;", "return 0;")} <= slips
    assert {site["mutated"] for site in found if site["line"] == 4 and site["kind"] == "constant"} == set()
    without_switch = {5, 6, 7, 14, 16}
    assert not without_switch & {line for line, _, _ in slips}
    assert not any(original == "4" for _, original, _ in slips), "the label of a case is a constant of the compiler"


def test_a_copy_with_all_slips_compiles_and_each_is_switched_by_its_number(found, tmp_path, monkeypatch):
    monkeypatch.setattr(schemata.plant, "ROOT", tmp_path)
    chosen = [{**site, "number": number} for number, site in enumerate(schemata.apart(found, 100), 1)]
    assert len(chosen) >= 5
    main = "\nint main() { const int values[] = {1, 7, 5}; return sum(values, 3); }\n"
    text = schemata.SWITCH.replace("SIZE", "4096") + schemata.instrumented("sum.cpp", chosen).decode() + main
    (tmp_path / "copy.cpp").write_text(text)
    subprocess.run(["g++", "-std=c++20", "-w", "copy.cpp", "-o", "copy"], cwd=tmp_path, check=True)
    (tmp_path / "reached").write_bytes(bytes(4096))

    def result(number):
        return subprocess.run([tmp_path / "copy"], timeout=5, env={
            "CORUN_MUTANT": str(number), "CORUN_MUTANTS_REACHED": str(tmp_path / "reached")}).returncode

    assert result(0) == 9, "case 4: a copy without a slip does what the original does"
    reached = {number for number, byte in enumerate((tmp_path / "reached").read_bytes()) if byte}
    assert reached and reached <= {site["number"] for site in chosen}
    initial, = (site["number"] for site in chosen if site["line"] == 9)
    assert result(initial) == 10 and initial in reached


def test_a_mistake_that_signals_every_process_reaches_its_own_alone(tmp_path):
    if subprocess.run([*systematic.OF_ITS_OWN, "true"], capture_output=True).returncode != 0:
        pytest.skip("no PID namespace may be made here")
    case = type("Case", (), {"folder": tmp_path, "environment": {}})
    other = subprocess.Popen(["sleep", "60"])
    assert systematic.run(["sh", "-c", "test $$ -ne 1 && kill -9 -1; exit 7"], case, {}, 20) == 7
    assert other.poll() is None, "a process outside goes on"
    other.kill()
    assert other.wait() == -9
    assert systematic.run(["sh", "-c", "kill -TERM $$"], case, {}, 20) not in (0, None), "signals act as ever"


def test_a_sample_takes_more_of_larger_folders_and_is_the_same_for_a_seed():
    sites = [{"file": f"{folder}/a.cpp", "start": 10 * place, "end": 10 * place + 5}
             for folder, count in (("policies", 400), ("sim/live", 100)) for place in range(count)]
    one = schemata.sample(sites, 60, 1)
    assert [sum(site["file"].startswith(folder) for site in one) for folder in ("policies", "sim/live")] == [40, 20]
    assert one == schemata.sample(sites, 60, 1) != schemata.sample(sites, 60, 2)


def test_no_two_slips_of_a_sample_overlap():
    spans = [(0, 9), (2, 3), (9, 12), (13, 14), (13, 14)]
    chosen = schemata.apart([{"file": "a", "start": start, "end": end} for start, end in spans], 5)
    assert [(site["start"], site["end"]) for site in chosen] == [(0, 9), (13, 14)]


def test_slips_in_lines_with_errors_are_dropped_and_a_file_with_other_errors_altogether():
    sites = [{"file": name, "line": line, "original": original} for name, line, original in
             (("sim/a.h", 3, "x\n+ y"), ("sim/a.h", 7, "z"), ("sim/b.cpp", 1, "u"), ("sim/c.cpp", 4, "v"))]
    output = f"{schemata.TREE}/sim/a.h:4:5: error: no\n../../sim/b.cpp:9:5: error: a cache's path\n"
    assert schemata.without_errors(sites, output) == [sites[1], sites[3]]


def test_a_slip_that_changes_nothing_counts_neither_as_caught_nor_as_missed(tmp_path, monkeypatch):
    monkeypatch.setattr(systematic.plant, "ROOT", tmp_path)
    monkeypatch.setattr(systematic, "EQUIVALENT", tmp_path / "equivalent.toml")
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies/a.cpp").write_text("a\n  b < c;\nd\n")
    (tmp_path / "equivalent.toml").write_text(
        '[[mutant]]\nfile = "policies/a.cpp"\nline = "b < c;"\nmutated = "b <= c"\nreason = "never equal"\n')
    slips = [{"number": number, "file": "policies/a.cpp", "line": line, "kind": "relation", "original": "b < c",
              "mutated": mutated} for number, line, mutated in ((1, 2, "b <= c"), (2, 2, "b >= c"), (3, 1, "b <= c"))]
    result = systematic.score(slips, {1: None, 2: "a_test, 1", 3: None})
    assert result["folders"] == {"policies": {"mutants": 3, "caught": 1, "equivalent": 1}}
    assert len(result["survivors"]) == 1 and "policies/a.cpp:1:" in result["survivors"][0]


def test_a_run_that_goes_on_leaves_out_what_was_caught_in_the_same_place_and_way(tmp_path):
    slip = {"file": "policies/a.cpp", "start": 4, "end": 9, "original": "b < c", "mutated": "b <= c"}
    others = [{**slip, "start": 14, "end": 19}, {**slip, "mutated": "b >= c"}, {**slip, "original": "b < d"}]
    slips = [{**one, "number": number} for number, one in enumerate([slip, *others], 5)]
    log = tmp_path / "found.jsonl"
    assert systematic.caught_before(slips, log) == {}
    log.write_text("".join(json.dumps(line) + "\n" for line in (
        {**slip, "number": 1, "found": "a_test, 1"}, {**others[0], "number": 2, "found": None})))
    assert systematic.caught_before(slips, log) == {5: "a_test, 1"}


def test_each_mistake_is_on_record_as_soon_as_it_was_tried(tmp_path, monkeypatch):
    monkeypatch.setattr(systematic, "try_mutant", lambda number, cases: "a_test, 1" if number == 1 else None)
    slips = [{"number": number, "file": "a", "line": 1, "kind": "loop", "start": number, "end": number,
              "original": "", "mutated": "break"} for number in (1, 2)]
    log = tmp_path / "found.jsonl"
    assert systematic.try_all(slips, [], log) == {1: "a_test, 1", 2: None}
    assert {line["number"]: line["found"] for line in map(json.loads, log.read_text().splitlines())} == {
        1: "a_test, 1", 2: None}


def test_no_mistake_is_begun_when_the_time_is_over(tmp_path, monkeypatch):
    tried = []
    monkeypatch.setattr(systematic, "try_mutant", lambda number, cases: tried.append(number))
    slips = [{"number": number, "file": "a", "line": 1, "kind": "loop", "original": "", "mutated": "break"}
             for number in range(40)]
    assert systematic.try_all(slips, [], tmp_path / "found.jsonl", minutes=1e-9) == {}
    assert len(systematic.try_all(slips, [], tmp_path / "found.jsonl", minutes=1)) == 40
    assert tried != sorted(tried), "those of a short time are a sample of all"


def case_of(name, cost, program="program"):
    case = systematic.run_cpp.Case({"name": name, "command": [str(program), f"--gtest_filter={name}"]})
    case.cost = cost
    return case


def test_the_quickest_tests_are_tried_until_two_minutes_of_them():
    cases = [case_of("a.slow", 90), case_of("a.quick", 1), case_of("a.middle", 40), case_of("a.long", 100)]
    tried = [case.name for group in systematic.groups(cases) for case in group]
    assert tried == ["a.quick", "a.middle"]


def test_python_tests_that_start_simcli_are_cases_that_start_the_one_of_the_copy(tmp_path, monkeypatch):
    monkeypatch.setattr(systematic.schemata, "TREE", tmp_path)
    monkeypatch.setattr(systematic.schemata, "BUILT", tmp_path / "built")
    folder = tmp_path / "tests/experiments"
    folder.mkdir(parents=True)
    (folder / "test_program.py").write_text(
        "import os\n\n\ndef test_a():\n    pass\n\n\ndef test_b():\n    assert os.environ['CORUN_SIMCLI'] == 'none'\n")
    (folder / "test_module.py").write_text("def test_c():\n    pass\n")
    cases = systematic.python_cases(None)
    assert [case.name for case in cases] == [f"tests/experiments/test_program.py::test_{name}" for name in "ab"]
    assert [case.name.rpartition("_")[2] for case in systematic.python_cases("test_b")] == ["b"]
    done = [systematic.subprocess.run(case.command, cwd=case.folder, env={**os.environ, **case.environment},
                                      capture_output=True).returncode for case in cases]
    assert done == [0, 1], "the second one says which simcli it was given"


def test_what_tests_come_to_is_looked_at_once_for_what_is_built(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(systematic, "look_at", lambda case, sites: (seen.append(case.name), [True, 1.0, [7]])[1])
    program, kept = tmp_path / "program", tmp_path / "looks.json"
    program.touch()
    cases = [case_of("a.one", 0, program), case_of("a.two", 0, program)]
    os.utime(program, (0, 0))
    for _ in range(2):
        passing = systematic.first_pass(cases, 9, kept)
        assert [case.reached for case in passing] == [[7], [7]] and sorted(seen) == ["a.one", "a.two"]
    os.utime(program, (2**33, 2**33))
    systematic.first_pass(cases, 9, kept)
    assert len(seen) == 4, "the program was built again"


def test_what_python_tests_come_to_is_looked_at_again_when_simcli_is_built_again(tmp_path, monkeypatch):
    monkeypatch.setattr(systematic, "look_at", lambda case, sites: [True, 1.0, [7]])
    monkeypatch.setattr(systematic.schemata, "BUILT", tmp_path)
    (tmp_path / "simcli").touch()
    os.utime(tmp_path / "simcli", (0, 0))
    cases = [systematic.run_cpp.Case({"name": "test_a.py::test_b", "command": ["pytest"]})]
    systematic.first_pass(cases, 9, tmp_path / "looks.json")
    assert systematic.kept_looks(tmp_path / "looks.json", cases) == {"test_a.py::test_b": [True, 1.0, [7]]}
    os.utime(tmp_path / "simcli", (2**33, 2**33))
    assert systematic.kept_looks(tmp_path / "looks.json", cases) == {}
