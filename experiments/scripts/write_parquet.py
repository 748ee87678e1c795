"""Writes the rows of a query on a results file as Parquet: python3 write_parquet.py RESULTS QUERY RUN OUTPUT.

RUN is what the query's only parameter stands for, or "" where it has none. Needs pyarrow; exit code 3 where it is not
there. Only `simcli export` runs this.
"""

import pathlib
import sqlite3
import sys

ROWS_AT_A_TIME = 100_000


def arrow_type(arrow, values):
    """Of a column, by what all of its values are."""
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int}:
        return arrow.int64()
    return arrow.float64() if kinds <= {int, float} else arrow.string()


def table_of(arrow, names, rows):
    columns = list(zip(*rows)) or [() for _ in names]
    types = [arrow_type(arrow, column) for column in columns]
    columns = [[None if v is None else str(v) for v in column] if kind == arrow.string() else column
               for column, kind in zip(columns, types)]
    return arrow.table([arrow.array(column, kind) for column, kind in zip(columns, types)], names=names)


def main(results, query, run, output):
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        print(f"pyarrow is not there for {sys.executable}", file=sys.stderr)
        return 3
    database = sqlite3.connect(f"{pathlib.Path(results).absolute().as_uri()}?mode=ro", uri=True)
    cursor = database.execute(query, (run,) if run else ())
    table = table_of(pyarrow, [column[0] for column in cursor.description], cursor.fetchall())
    pyarrow.parquet.write_table(table, output, compression="zstd", row_group_size=ROWS_AT_A_TIME)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
