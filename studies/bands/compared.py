#!/usr/bin/env python3
"""Which mechanisms of sharing were compared with hardware, on which GPU, by which studies.

    compared.py            writes experiments/bands/compared.csv, which simcli has built in
    compared.py --check    exits with 1 where that file says something else

A mechanism is that of bands ("turns", "mps", "split", "games", with servers another one), or the name of a policy. It
counts as compared on a GPU where a study holds both what was predicted and what was measured there: a residual of
residuals.csv, a results file of `simcli validate`, or what FURTHER names.
"""

import argparse
import collections
import csv
import gzip
import pathlib
import re
import sqlite3
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
STUDIES = HERE.parent
TABLE = STUDIES.parent / "experiments/bands/compared.csv"
# Of others: their experiment.yaml.
EXPERIMENTS = {"servers": "serving/serving.yaml", "sessions": None, "live": "live/validate.yaml"}

# Studies whose predictions and measurements lie in forms of their own: mechanism, GPU, study, a file that holds both.
FURTHER = [
    ("games", "h100", "sessions/h100", "table.md"),
    ("stream_priority", "h200", "client-priority", "scored.md"),
    ("turns with servers with games", "h200", "serving/game", "scored.md"),
    ("mps with servers with games", "h200", "serving/game", "scored.md"),
    ("static_quality", "h200", "live/density", "table.md"),
    ("djay", "h200", "live/density", "table.md"),
]


def by_residuals():
    for row in csv.DictReader(open(HERE / "residuals.csv", encoding="utf-8")):
        study = row["study"]
        yield row["mechanism"], device_of(study), "serving" if study == "servers" else study


def device_of(study):
    experiment = EXPERIMENTS.get(study, f"{study}/experiment.yaml")
    if experiment is None:
        return "h200"
    text = (STUDIES / experiment).read_text(encoding="utf-8")
    return re.search(r"^device: (?:\{ *model: *)?(\w+)", text, re.M)[1]


def by_validations():
    for path in sorted(STUDIES.rglob("*.sqlite.gz")):
        for policy, device in policies_of(path):
            yield policy, device, str(path.parent.relative_to(STUDIES))


def policies_of(path):
    """Those under which one scenario was both simulated and measured; the driver's turns are in the residuals."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(gzip.decompress(path.read_bytes()))
        file.flush()
        database = sqlite3.connect(f"file:{file.name}?mode=ro", uri=True)
        rows = database.execute(
            "SELECT DISTINCT a.policy, a.device FROM runs a JOIN runs b USING (scenario, policy) WHERE "
            "a.backend = 'simulation' AND b.backend <> 'simulation' AND a.error IS NULL AND b.error IS NULL").fetchall()
        database.close()
    return [row for row in rows if row[0] != "passthrough"]


def further():
    for mechanism, device, study, file in FURTHER:
        assert (STUDIES / study / file).exists(), (study, file)
        yield mechanism, device, study


def table():
    studies = collections.defaultdict(set)
    for source in (by_residuals(), by_validations(), further()):
        for mechanism, device, study in source:
            studies[mechanism, device].add(study)
    lines = ["mechanism,device,studies"]
    lines += [f"{mechanism},{device},{' '.join(sorted(its))}" for (mechanism, device), its in sorted(studies.items())]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if not options.check:
        TABLE.write_text(table(), encoding="utf-8")
    elif TABLE.read_text(encoding="utf-8") != table():
        sys.exit(f"{TABLE} is not what the studies say: run studies/bands/compared.py")


if __name__ == "__main__":
    main()
