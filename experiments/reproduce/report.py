"""Verdicts on claims, and the page that tells them."""

import dataclasses
import math
import os
import pathlib

import claims as claim_files
import figures

HERE = pathlib.Path(__file__).resolve().parent

REPRODUCED, MISSED, UNDECIDED, CIRCULAR = "reproduced", "missed", "undecided", "circular"
PREDICTED, ERROR = "predicted", "error"


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
    return f"{number(value.mean())} ± {number(half)} {unit}".rstrip() + f", {len(value.values)} {value.each}s"


def bounds(check):
    """What a check demands, in words."""
    parts = []
    if check.published is not None:
        unit = "points" if check.unit == "%" else check.unit
        parts.append(check.tolerance if check.tolerance.endswith("%") else f"{check.tolerance} {unit}".rstrip())
    if check.at_least is not None:
        parts.append(f"at least {with_unit(check.at_least, check.unit)}")
    if check.at_most is not None:
        parts.append(f"at most {with_unit(check.at_most, check.unit)}")
    if check.null is not None:
        parts.append(f"nearer than {with_unit(check.null, check.unit)}, {check.null_is}")
    return ", ".join(parts)


def allowed(check):
    """The least and the largest value that a check is met by."""
    low = -math.inf if check.at_least is None else check.at_least
    high = math.inf if check.at_most is None else check.at_most
    if check.published is not None:
        low, high = max(low, check.published - check.allowed()), min(high, check.published + check.allowed())
    return low, high


def judge_value(check, value):
    """Met if the whole interval over the seeds is allowed, missed if none of it is, undecided between: also where there
    is no number, or where a published figure is as near to what follows without a simulator."""
    mean, half = value.mean(), value.half_width()
    if not math.isfinite(mean) or not math.isfinite(half):
        return UNDECIDED
    low, high = allowed(check)
    slack = 1e-9 * abs(mean)  # of rounding
    if mean - half > high + slack or mean + half < low - slack:
        return MISSED
    if mean - half < low - slack or mean + half > high + slack:
        return UNDECIDED
    is_no_nearer = check.null is not None and abs(mean - check.published) >= abs(check.null - check.published)
    return UNDECIDED if is_no_nearer else REPRODUCED


def judge_check(check, results):
    value = figures.evaluate(check.simulated, results)
    simulated = interval(value, check.unit)
    if check.prediction:
        return Row(check.what, "", simulated, "", PREDICTED)
    published, error = "", math.nan
    if check.published is not None:
        published = with_unit(check.published, check.unit)
        error = value.mean() / check.published - 1 if check.published else math.nan
        simulated += f" ({100 * error:+.1f} %)" if check.published else ""
    return Row(check.what, published, simulated, bounds(check), judge_value(check, value), error)


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
    for verdict in (ERROR, MISSED, UNDECIDED):
        if verdict in verdicts:
            return verdict
    if verdicts == {PREDICTED}:
        return PREDICTED
    return CIRCULAR if claim.circular else REPRODUCED


def reason(verdict):
    if verdict.verdict == MISSED:
        return verdict.claim.missed_because or "no reason is known"
    if verdict.verdict == UNDECIDED:
        return ", ".join(row.what for row in verdict.rows if row.verdict == UNDECIDED)
    return verdict.claim.circular if verdict.verdict == CIRCULAR else ""


HEAD = """# What is reproduced

Written by `./dev reproduce`; [docs/reproduce.md](../../docs/reproduce.md) says how claims are stated and judged.
**Of {measurements} published measurements with no input from the compared rows, {reproduced} are reproduced.**

{kinds}
* `reproduced`: every check of the claim is met, by the whole 95 % interval over the seeds. `missed`: one is not; the
  reason stands next to it. `undecided`: the interval of one, named there, is partly inside and partly outside of what
  is demanded, or what follows without a simulator is as near.
* `circular`: every check is met, but an input comes from the numbers that they compare with, so little is proved.
* `predicted`: what we expect of measurements that we have not seen. `error`: there is no figure.

| claim | kind | what | checks met | verdict | why not |
|---|---|---|---|---|---|
"""


def kinds_table(verdicts):
    """How many claims of each kind came out how."""
    columns = [REPRODUCED, CIRCULAR, UNDECIDED, MISSED, PREDICTED, ERROR]
    columns = [column for column in columns if any(v.verdict == column for v in verdicts)]
    text = f"| kind | a claim is | claims | {' | '.join(columns)} |\n|---|---|---:|{'---:|' * len(columns)}\n"
    for kind, meaning in claim_files.KINDS.items():
        its = [v.verdict for v in verdicts if v.claim.kind == kind]
        if its:
            counts = " | ".join(str(its.count(column)) for column in columns)
            text += f"| `{kind}` | {meaning} | {len(its)} | {counts} |\n"
    return text


def page(verdicts):
    measured = [v for v in verdicts if v.claim.kind == "measurement"]
    text = HEAD.format(reproduced=sum(v.verdict == REPRODUCED for v in measured), measurements=len(measured),
                       kinds=kinds_table(verdicts))
    for v in verdicts:
        met = sum(row.verdict == REPRODUCED for row in v.rows)
        count = sum(row.verdict != PREDICTED for row in v.rows)
        link = f"[{v.claim.id}](#{v.claim.id.lower()})"
        text += f"| {link} | `{v.claim.kind}` | {v.claim.what} | {met} of {count} | {v.verdict} | {reason(v)} |\n"
    return text + "".join(section(v) for v in verdicts)


def section(verdict):
    claim = verdict.claim
    text = f"\n## {claim.id}\n\n{claim.what}\n\nSource: {claim.source}  \nKind: `{claim.kind}`  \n"
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
