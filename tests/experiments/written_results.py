"""Results files small enough to check by hand, in the schema that simcli writes."""

import pathlib
import re
import sqlite3

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = re.search(r'kResultsSchema = R"\((.*?)\)"', (ROOT / "experiments" / "results" / "schema.cpp").read_text(),
                   re.DOTALL)[1]


class Results:
    """A results file; `with` closes it."""

    def __init__(self, path, scenario="pair", backend="simulation"):
        self.path, self.scenario, self.backend = path, scenario, backend
        self.database = sqlite3.connect(path)
        self.database.executescript(SCHEMA + "PRAGMA user_version = 2;")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.database.commit()
        self.database.close()

    def run(self, policy, seed, metrics=(), error=None, horizon_s=10, warmup_s=1, frames=()):
        """One run. `metrics` are (client, metric, value, unit), `frames` (client,
        times in ns at which they are shown)."""
        name = f"{self.scenario}-{self.backend}-{policy}-{seed}-{horizon_s}"
        self.database.execute(
            "INSERT INTO runs VALUES (?,'demo',?,?,'',?,?,'0','h200','',?,?,0.1,1,?,'',NULL)",
            (name, self.scenario, policy, seed, self.backend, horizon_s * 10**9, warmup_s * 10**9, error))
        self.database.executemany("INSERT INTO metrics VALUES (?,?,?,?,?)", [(name, *row) for row in metrics])
        for client, times in frames:
            self.database.executemany(
                "INSERT INTO frames VALUES (?,?,?,0,0,0,0,?,0,0,1.0,0)",
                [(name, client, number, time) for number, time in enumerate(times)])
        return name

    def of_revision(self, revision):
        """What simulations compute is of this revision."""
        self.database.execute("INSERT INTO properties (key, value) VALUES ('results_revision', ?)", (revision,))

    def point(self, number, values, runs):
        """A point of a sweep: what each parameter is, and the runs that belong to it."""
        self.database.executemany("INSERT INTO points VALUES (?,?,?,NULL,'')",
                                  [(number, parameter, value) for parameter, value in values.items()])
        self.database.executemany("INSERT INTO planned_runs (point, run) VALUES (?,?)", [(number, run) for run in runs])


def throughputs(results, policy, values, client="train", **options):
    """One run a seed (1, 2, ...) with that throughput."""
    for seed, value in enumerate(values, 1):
        results.run(policy, seed, [(client, "throughput_per_s", value, "1/s")], **options)
