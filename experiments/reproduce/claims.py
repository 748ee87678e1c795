"""Claims: what a paper states or Corun promises, how it is simulated, and when it counts as reproduced.

docs/reproduce.md lists the keys of the files in claims/.
"""

import dataclasses
import pathlib
import tomllib

CLAIM_KEYS = {"id", "kind", "what", "source", "experiment", "measured", "tests", "calibrated", "circular",
              "missed_because", "note", "check"}
CHECK_KEYS = {"what", "simulated", "unit", "published", "tolerance", "at_least", "at_most", "prediction", "null",
              "null_is", "rows", "rms"}
KINDS = {
    "measurement": "a published measurement, with no input from the compared rows",
    "inputs": "published, with inputs from the compared rows",
    "direction": "published in words, or as a direction only",
    "artifact": "what an artifact's code does",
    "ours": "a promise, a replay or arithmetic of this project",
    "prediction": "not compared with anything yet",
}


class BadClaim(Exception):
    """A claim file that breaks the rules: where, what."""


@dataclasses.dataclass
class Check:
    what: str
    simulated: str                  # an expression; see figures.py
    unit: str = ""
    published: float | None = None
    tolerance: str = ""             # of `published`: "6%" or, in the unit, "2.5"
    at_least: float | None = None
    at_most: float | None = None
    prediction: bool = False        # nothing to compare with: shown, decides nothing
    null: float | None = None       # what follows without a simulator: ours must be nearer to `published`
    null_is: str = ""               # how it follows
    rms_of: list = dataclasses.field(default_factory=list)  # instead of `simulated`: checks whose errors count together

    def allowed(self):
        """By how much the simulated value may differ from the published one."""
        if self.tolerance.endswith("%"):
            return abs(self.published) * float(self.tolerance[:-1]) / 100
        return float(self.tolerance)


@dataclasses.dataclass
class Claim:
    id: str
    kind: str                       # of KINDS
    what: str
    source: str
    experiment: pathlib.Path | None = None
    measured: pathlib.Path | None = None  # what gate_cost.py wrote on a GPU, in place of an experiment
    tests: list = dataclasses.field(default_factory=list)       # (program, filter of GoogleTest)
    calibrated: list = dataclasses.field(default_factory=list)  # inputs that were chosen, and on what grounds
    circular: str = ""          # why agreement proves little: an input comes from the numbers it is checked against
    missed_because: str = ""
    note: str = ""
    checks: list = dataclasses.field(default_factory=list)


def require(condition, where, message):
    if not condition:
        raise BadClaim(f"{where}: {message}")


def make_check(values, where):
    bounds = [key for key in ("published", "at_least", "at_most", "prediction") if key in values]
    require(bounds, where, "a check needs `published`, `at_least`, `at_most` or `prediction`")
    require(("published" in values) == ("tolerance" in values), where, "`published` and `tolerance` go together")
    require(("null" in values) == ("null_is" in values), where, "`null` and `null_is` go together")
    require("null" not in values or "published" in values, where, "`null` needs `published`")
    return Check(**values)


def expand(table, where):
    """A check, or one for each of its rows, `{row}` standing for its name. A row is a name, or [name, published]."""
    unknown = table.keys() - CHECK_KEYS
    require(not unknown, where, f"unknown key {', '.join(sorted(unknown))}")
    require("what" in table and "simulated" in table, where, "a check needs `what` and `simulated`")
    values = {key: value for key, value in table.items() if key not in ("rows", "rms")}
    if "rows" not in table:
        return [make_check(values, where)]
    checks = []
    for row in table["rows"]:
        name, *published = [row] if isinstance(row, str) else row
        filled = {key: values[key].replace("{row}", name) for key in ("what", "simulated")}
        checks.append(make_check(values | filled | ({"published": published[0]} if published else {}), where))
    if "rms" in table:
        checks.append(Check("root mean square of these errors", "", "%", at_most=table["rms"], rms_of=checks[:]))
    return checks


def read_claims(folder):
    """Every claim of the folder's files, by file name, in order. Throws BadClaim."""
    claims = []
    for path in sorted(pathlib.Path(folder).glob("*.toml")):
        try:
            tables = tomllib.loads(path.read_text())["claim"]
        except (tomllib.TOMLDecodeError, KeyError) as error:
            raise BadClaim(f"{path.name}: {error}") from error
        claims += [make_claim(table, path) for table in tables]
    ids = [claim.id for claim in claims]
    require(len(set(ids)) == len(ids), folder, f"two claims have the same id: {sorted(ids)}")
    return claims


def make_claim(table, path):
    where = f"{path.name}: {table.get('id', 'a claim without `id`')}"
    unknown = table.keys() - CLAIM_KEYS
    require(not unknown, where, f"unknown key {', '.join(sorted(unknown))}")
    needed = {"id", "kind", "what", "source"}
    require(needed <= table.keys(), where, "a claim needs `id`, `kind`, `what` and `source`")
    require(table["kind"] in KINDS, where, f"`kind` is one of {', '.join(KINDS)}, not {table['kind']}")
    require(("circular" in table) == (table["kind"] == "inputs"), where, "`circular` is of `inputs`, and says why")
    require("check" in table or "tests" in table, where, "a claim needs a `check` or `tests`")
    values = {key: value for key, value in table.items() if key not in ("check", "experiment", "tests")}
    if "experiment" in table:
        values["experiment"] = (path.parent.parent / table["experiment"]).resolve()
        require(values["experiment"].is_file(), where, f"there is no {table['experiment']}")
    if "measured" in table:
        require("experiment" not in table, where, "`experiment` or `measured`, not both")
        values["measured"] = (path.parent.parent / table["measured"]).resolve()
        require(values["measured"].is_file(), where, f"there is no {table['measured']}")
    values["tests"] = [tuple(part.strip() for part in test.split(":", 1)) for test in table.get("tests", [])]
    require(all(len(test) == 2 for test in values["tests"]), where, "a test is `program: filter`")
    values["checks"] = [check for row in table.get("check", []) for check in expand(row, where)]
    return Claim(**values)
