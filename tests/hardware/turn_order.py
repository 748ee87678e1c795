"""By which order programs that time-slice a GPU have their turns: turn_order.py TURNS.jsonl[.gz]

Reads what turn_order.cu printed. Wherever four turns in a row are of four processes, these are compared, as a circle,
with the orders in which the processes created their contexts and channels, woke, and were forked.
"""

import gzip
import json
import statistics
import sys

WORK = ("one kernel of 120 ms", "120 queued kernels of 1 ms", "120 kernels of 1 ms, each waited for")
ORDERS = ("contexts", "channels", "wakes", "processes")


def circle(order):
    return order[order.index(0):] + order[:order.index(0)]


def turns_of(row):
    """[process, begin, end] of each turn; kernels of a process without another process between them are one turn."""
    turns = []
    for process, begin, end in sorted(row["turns"], key=lambda turn: turn[1]):
        if turns and turns[-1][0] == process:
            turns[-1][2] = max(turns[-1][2], end)
        else:
            turns.append([process, begin, end])
    return turns


def main(path):
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    print("| work | rounds | circles of four | as contexts | as channels | as woken | as forked | turn, median |")
    print("|---|---|---|---|---|---|---|---|")
    for mode, work in enumerate(WORK):
        chosen = [row for row in rows if row["mode"] == mode]
        agreeing, circles, lengths = dict.fromkeys(ORDERS, 0), 0, []
        for row in chosen:
            turns = turns_of(row)
            lengths += [end - begin for _, begin, end in turns]
            for i in range(len(turns) - 3):
                seen = [process for process, _, _ in turns[i:i + 4]]
                if len(set(seen)) < 4:
                    continue
                circles += 1
                for order in ORDERS:
                    agreeing[order] += circle(seen) == circle(row.get(order, [0, 1, 2, 3]))
        shares = " | ".join(f"{agreeing[order] / circles:.0%}" for order in ORDERS)
        print(f"| {work} | {len(chosen)} | {circles} | {shares} | {statistics.median(lengths) / 1e6:.2f} ms |")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
