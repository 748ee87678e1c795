"""What a results file says of each run, in a form that two files can be compared by."""

import hashlib
import sqlite3

SHOWN_ALONE = {"error_classes", "mechanisms"}  # of what is known about models, in no hash
IGNORED = {("runs", "wall_time_s"),  # the one figure that differs from time to time
           ("planned_runs", "position")}  # of the plan, not of the run


def rows_by_run(path, ignored=IGNORED):
    """run id -> [(table, row)], rows in stored order. Raises sqlite3.DatabaseError where the file is damaged."""
    with sqlite3.connect(f"file:{path}?mode=rw", uri=True) as database:  # what was killed is rolled back
        found = database.execute("PRAGMA integrity_check").fetchone()[0]
        if found != "ok":
            raise sqlite3.DatabaseError(found)
        runs = {name: [] for (name,) in database.execute("SELECT id FROM runs")}
        names = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
        for (table,) in database.execute(names).fetchall():
            columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
            key = "id" if table == "runs" else "run"
            if key not in columns or table in SHOWN_ALONE:
                continue
            shown = [column for column in columns if (table, column) not in ignored]
            quoted = ", ".join(f'"{column}"' for column in [key, *shown])
            for name, *row in database.execute(f"SELECT {quoted} FROM {table} ORDER BY rowid"):
                if name in runs:  # a plan names runs that are not there yet
                    runs[name].append((table, tuple(row)))
    database.close()
    return runs


def content_hash(path):
    """Of all runs whatever the order in which they were done."""
    text = repr(sorted(rows_by_run(path).items()))
    return hashlib.sha256(text.encode()).hexdigest()[:32]
