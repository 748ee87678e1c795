#!/usr/bin/env python3
"""How far a second measurement of the cells is from the first, on another host: mean and worst, in per cent.

    noise.py > noise.md
"""

import collections
import statistics

from score import rows_of

SERVED = {"tokens/s": lambda row: row["output_tokens_per_s"], "TTFT p50": lambda row: row["first_token_ms"]["p50"],
          "TTFT p99": lambda row: row["first_token_ms"]["p99"], "TPOT p50": lambda row: row["token_ms"]["p50"],
          "TPOT p99": lambda row: row["token_ms"]["p99"]}
TRAINED = {"steps/s": lambda row: row["it_s"]}


def main():
    first, second = rows_of("measured/serving.jsonl"), rows_of("measured/second.jsonl")
    changes = collections.defaultdict(list)
    for key, row in second.items():
        kind = "alone" if row["parties"] == 1 else row["way"]
        for title, figure in (SERVED if "token_ms" in row else TRAINED).items():
            changes[title, kind].append(abs(100 * (figure(row) / figure(first[key]) - 1)))
    kinds = ["alone", "turns", "mps"]
    print("| figure | " + " | ".join(kinds) + " |\n" + "|---" * (1 + len(kinds)) + "|")
    for title in [*SERVED, *TRAINED]:
        its = [changes[title, kind] for kind in kinds]
        print(f"| {title} | " + " | ".join(f"{statistics.mean(c):.1f} ({max(c):.1f})" for c in its) + " |")


if __name__ == "__main__":
    main()
