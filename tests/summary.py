"""Adds up JUnit files and prints what `./dev test` ends with: one line per suite, the failures, the closing line.

A file that is missing means that its suite could not run: it counts as one failure.
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


def count(results, kind):
    return sum(1 for result in results if result[0] == kind)


def counts(results):
    text = f"{count(results, 'passed')} passed, {count(results, 'failed')} failed"
    skipped = count(results, "skipped")
    return f"{text}, {skipped} skipped" if skipped else text


def summary(suites):
    """The closing block as text; `suites` maps a suite's name to its results."""
    everything = [result for results in suites.values() for result in results]
    lines = [f"{name:8}{counts(results)}  ({sum(r[2] for r in results):.0f} s)" for name, results in suites.items()]
    lines += [f"FAILED  {name}" for kind, name, _ in everything if kind == "failed"]
    return "\n".join(["", *lines, "", counts(everything)])


def main(paths):
    suites = {path.stem: read_suite(path) for path in map(pathlib.Path, paths)}
    print(summary(suites))
    return 1 if any(count(results, "failed") for results in suites.values()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
