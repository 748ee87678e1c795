"""A results file small enough to check by hand."""

import sqlite3

SCHEMA = """
CREATE TABLE runs (id TEXT PRIMARY KEY, experiment TEXT, scenario TEXT, policy TEXT, seed INTEGER, backend TEXT,
                   error TEXT) WITHOUT ROWID;
CREATE TABLE metrics (run TEXT, client TEXT, metric TEXT, value REAL, unit TEXT);
CREATE TABLE frames (run TEXT, client TEXT, number INTEGER, present_ns INTEGER);
PRAGMA user_version = 1;
"""


def write_results(path):
    """Two policies; game fps 60, 62, 64 over three seeds under `pilotfish`, one seed of `nvshare`, and a failed run."""
    with sqlite3.connect(path) as database:
        database.executescript(SCHEMA)
        for seed, fps in ((1, 60.0), (2, 62.0), (3, 64.0)):
            add_run(database, f"z{seed}", "pilotfish", seed, fps)
        add_run(database, "n1", "nvshare", 1, 30.0)
        database.execute("INSERT INTO runs VALUES ('f1', 'demo', 'one game', 'djay', 1, 'sim', 'djay needs a menu')")
    database.close()
    return path


def add_run(database, run, policy, seed, fps):
    database.execute("INSERT INTO runs VALUES (?, 'demo', 'one game', ?, ?, 'sim', NULL)", (run, policy, seed))
    database.execute("INSERT INTO metrics VALUES (?, 'game', 'fps_mean', ?, 'fps')", (run, fps))
    database.execute("INSERT INTO frames VALUES (?, 'game', 0, 16000000)", (run,))
