#!/bin/sh
# Prints scored.md: laws of memory, scored by the fourth, fifth and sixth draw of pairs, and what programs draw.
set -eu
cd "$(dirname "$0")"
draws=../advice
printf 'Written by tables.sh; laws.py says what the words mean.\n\n## Fourth draw\n\n'
/usr/bin/python3 laws.py predict $draws/fourth/rates.jsonl counters_device_bound.jsonl power_alone.jsonl 4 2>/dev/null |
  /usr/bin/python3 laws.py score $draws/fourth/measured.jsonl $draws/fourth/rates.jsonl /dev/stdin
printf '\n## Fifth draw\n\n'
/usr/bin/python3 laws.py score $draws/fifth/measured.jsonl $draws/fifth/rates.jsonl fifth_laws.jsonl \
  fifth_simulated.jsonl
printf '\n## Sixth draw\n\n'
/usr/bin/python3 laws.py score sixth_measured.jsonl $draws/fourth/rates.jsonl,$draws/fifth/rates.jsonl \
  sixth_laws.jsonl sixth_present.jsonl sixth_simulated.jsonl
printf '\n## Power\n\n'
/usr/bin/python3 laws.py power power_alone.jsonl
