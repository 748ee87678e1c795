#!/usr/bin/env python3
"""Medians of what copy_turns.cu printed, in microseconds; prints Markdown. usage: summary.py rows.jsonl > table.md"""

import json
import sys

COMPANY = {"none": "alone", "queue": "next to kernels of 1 ms", "short": "next to kernels of 50 us"}
WAYS = {"kernel": "an empty kernel", "to_device": "to the device", "to_device_pinned": "to the device, pinned",
        "to_host": "to the host", "to_host_pinned": "to the host, pinned"}


def main(path):
    with open(path, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    found = {(row["way"], row["bytes"], row["company"]): row["median_us"] for row in rows}
    print(f"| what is waited for | bytes | {' | '.join(COMPANY.values())} |")
    print("|---" * (2 + len(COMPANY)) + "|")
    for way, size in dict.fromkeys((row["way"], row["bytes"]) for row in rows):
        times = " | ".join(f"{found[way, size, company]:.0f}" for company in COMPANY)
        print(f"| {WAYS[way]} | {size if size else ''} | {times} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
