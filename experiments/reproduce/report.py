"""Verdicts on claims, and the page that tells them."""

import dataclasses
import math
import os
import pathlib

import figures

HERE = pathlib.Path(__file__).resolve().parent

REPRODUCED, MISSED, CIRCULAR, PREDICTED, ERROR = "reproduced", "missed", "circular", "predicted", "error"


@dataclasses.dataclass
class Row:
    """One check or test with what came of it."""
    what: str
    published: str
    simulated: str
    tolerance: str
    verdict: str
    error: float = math.nan  # simulated over published, minus 1


@dataclasses.dataclass
class Verdict:
    claim: object
    rows: list
    verdict: str


def number(value):
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"


def with_unit(value, unit):
    return f"{number(value)} {unit}".rstrip()


def interval(value, unit):
    half = value.half_width()
    if half <= 1e-9 * abs(value.mean()):
        return with_unit(value.mean(), unit)
    return f"{number(value.mean())} ± {number(half)} {unit}".rstrip() + f", {len(value.values)} seeds"


def bounds(check):
    """What a check demands, in words; figures that have an interval may have to satisfy it with the whole of it."""
    parts = []
    if check.at_least is not None:
        parts.append(f"at least {with_unit(check.at_least, check.unit)}")
    if check.at_most is not None:
        parts.append(f"at most {with_unit(check.at_most, check.unit)}")
    return ", ".join(parts) + (" with 95 % certainty" if check.certain else "")


def is_within_bounds(check, value):
    margin = value.half_width() if check.certain else 0.0
    low, high = value.mean() - margin, value.mean() + margin
    return (check.at_least is None or low >= check.at_least) and (check.at_most is None or high <= check.at_most)


def judge_check(check, results):
    value = figures.evaluate(check.simulated, results)
    simulated = interval(value, check.unit)
    if check.prediction:
        return Row(check.what, "", simulated, "", PREDICTED)
    is_met = is_within_bounds(check, value)
    published, tolerance, error = "", bounds(check), math.nan
    if check.published is not None:
        published = with_unit(check.published, check.unit)
        unit = "points" if check.unit == "%" else check.unit
        tolerance = check.tolerance if check.tolerance.endswith("%") else f"{check.tolerance} {unit}".rstrip()
        is_met = is_met and abs(value.mean() - check.published) <= check.allowed()
        error = value.mean() / check.published - 1 if check.published else math.nan
        simulated += f" ({100 * error:+.1f} %)" if check.published else ""
    return Row(check.what, published, simulated, tolerance, REPRODUCED if is_met else MISSED, error)


def judge_rms(check, rows):
    """Root mean square of the relative errors of other checks, in per cent."""
    errors = [rows[id(other)].error for other in check.rms_of]
    rms = 100 * math.sqrt(math.fsum(error * error for error in errors) / len(errors))
    verdict = REPRODUCED if rms <= check.at_most else MISSED
    return Row(check.what, "", with_unit(rms, "%"), f"at most {with_unit(check.at_most, '%')}", verdict)


def judge(claim, results, tests):
    """The verdict on a claim. `results`: of its experiment, or the text of what went wrong; `tests`:
    outcome by test."""
    rows = {}
    for check in claim.checks:
        try:
            if isinstance(results, str):
                raise figures.Missing(results)
            rows[id(check)] = judge_rms(check, rows) if check.rms_of else judge_check(check, results)
        except figures.Missing as missing:
            rows[id(check)] = Row(check.what, "", str(missing), "", ERROR)
    listed = list(rows.values())
    for test in claim.tests:
        passed, text = tests.get(test, (None, "was not run"))
        verdict = ERROR if passed is None else REPRODUCED if passed else MISSED
        listed.append(Row(f"test `{test[1]}`", "", text, "passes", verdict))
    return Verdict(claim, listed, overall(claim, listed))


def overall(claim, rows):
    verdicts = {row.verdict for row in rows}
    if ERROR in verdicts:
        return ERROR
    if MISSED in verdicts:
        return MISSED
    if verdicts == {PREDICTED}:
        return PREDICTED
    return CIRCULAR if claim.circular else REPRODUCED


def reason(verdict):
    if verdict.verdict == MISSED:
        return verdict.claim.missed_because or "no reason is known"
    return verdict.claim.circular if verdict.verdict == CIRCULAR else ""


HEAD = """# What is reproduced

Written by `./dev reproduce`; [docs/reproduce.md](../../docs/reproduce.md) says how claims are stated and judged.
**{reproduced} of {judged} claims are reproduced.**

* `reproduced`: every check of the claim is met. `missed`: one is not; the reason stands next to it.
* `circular`: every check is met, but an input comes from the numbers that they compare with, so little is proved.
* `predicted`: what we expect of measurements that we have not seen. `error`: there is no figure.

| claim | what | checks met | verdict | why not |
|---|---|---|---|---|
"""


def page(verdicts):
    judged = [v for v in verdicts if v.verdict not in (PREDICTED, CIRCULAR)]
    text = HEAD.format(reproduced=sum(v.verdict == REPRODUCED for v in judged), judged=len(judged))
    for v in verdicts:
        met = sum(row.verdict == REPRODUCED for row in v.rows)
        count = sum(row.verdict != PREDICTED for row in v.rows)
        link = f"[{v.claim.id}](#{v.claim.id.lower()})"
        text += f"| {link} | {v.claim.what} | {met} of {count} | {v.verdict} | {reason(v)} |\n"
    return text + "".join(section(v) for v in verdicts)


def section(verdict):
    claim = verdict.claim
    text = f"\n## {claim.id}\n\n{claim.what}\n\nSource: {claim.source}  \n"
    if claim.experiment:
        text += f"Experiment: [{claim.experiment.name}]({os.path.relpath(claim.experiment, HERE)})  \n"
    text += f"Verdict: **{verdict.verdict}**{': ' + reason(verdict) if reason(verdict) else ''}\n"
    for line in claim.calibrated:
        text += f"\n* Calibrated input: {line}"
    text += f"\n\n{claim.note}\n" if claim.note else "\n" if claim.calibrated else ""
    text += "\n| check | published | simulated | tolerance | verdict |\n|---|---|---|---|---|\n"
    for row in verdict.rows:
        text += f"| {row.what} | {row.published} | {row.simulated} | {row.tolerance} | {row.verdict} |\n"
    return text
