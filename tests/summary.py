"""Adds up JUnit files and prints what `./dev test` ends with: one line per suite, the failures, the closing line.

A file that is missing means that its suite could not run: it counts as one failure. A second file, NAME-again.xml,
holds what failed in NAME.xml and ran once more, alone: what passed there has passed, and is named.
"""

import pathlib
import sys
import xml.etree.ElementTree as xml


def outcome(case):
    """'failed', 'skipped' or 'passed', for the dialects of ctest and pytest."""
    skipped = case.find("skipped")
    could_not_run = case.get("status") == "notrun" and not skipped.get("message", "").startswith("SKIP_")
    if could_not_run or case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    return "skipped" if skipped is not None or case.get("status") == "disabled" else "passed"


def read_suite(path):
    """A list of (outcome, test name, seconds)."""
    try:
        cases = xml.parse(path).getroot().iter("testcase")
        return [(outcome(case), case.get("name", "?"), float(case.get("time", 0))) for case in cases]
    except (OSError, xml.ParseError) as error:
        return [("failed", f"{path.stem} tests did not run: {error}", 0.0)]


def with_second_tries(first, second):
    """The results of a suite after its failures ran again, and the names of those that then passed."""
    outcomes = {name: {kind for kind, other, _ in second if other == name} for _, name, _ in second}
    saved = {name for name, kinds in outcomes.items() if kinds == {"passed"}}
    again = [name for kind, name, _ in first if kind == "failed" and name in saved]
    return [("passed" if name in again else kind, name, seconds) for kind, name, seconds in first], again


def count(results, kind):
    return sum(1 for result in results if result[0] == kind)


def counts(results):
    text = f"{count(results, 'passed')} passed, {count(results, 'failed')} failed"
    skipped = count(results, "skipped")
    return f"{text}, {skipped} skipped" if skipped else text


def summary(suites, again=()):
    """The closing block as text; `suites` maps a suite's name to its results, `again` names what passed only alone."""
    everything = [result for results in suites.values() for result in results]
    lines = [f"{name:8}{counts(results)}  ({sum(r[2] for r in results):.0f} s)" for name, results in suites.items()]
    lines += [f"AGAIN   {name}: failed once, passed when it ran alone" for name in again]
    lines += [f"FAILED  {name}" for kind, name, _ in everything if kind == "failed"]
    return "\n".join(["", *lines, "", counts(everything)])


def main(paths):
    suites, again = {}, []
    for path in map(pathlib.Path, paths):
        second = path.with_name(f"{path.stem}-again.xml")
        results = read_suite(path)
        suites[path.stem], saved = with_second_tries(results, read_suite(second) if second.exists() else [])
        again += saved
    print(summary(suites, again))
    return 1 if any(count(results, "failed") for results in suites.values()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
