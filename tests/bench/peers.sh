#!/usr/bin/env bash
# Other engines and ours, in turns in one run: hold and M/M/1 in SimPy, SimGrid and ns-3 as Debian packages them, in
# our queue and engine, and in the limit (tests/bench/yardstick). Writes build/bench/peers.md, which `./dev bench` takes
# over into BENCHMARKS.md.
#   apt-get install --no-install-recommends g++ libboost-dev libns3-dev libsimgrid-dev pkg-config python3-simpy3
# usage: tests/bench/peers.sh [ROUNDS]     (default 5)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
rounds=${1:-5}
out=build/bench

[ -x $out/event_queue_bench ] || { echo "peers: build the benchmarks first: ./dev bench event_queue" >&2; exit 1; }
g++ -std=c++17 -O2 tests/bench/peers/simgrid_peer.cpp -o $out/simgrid_peer -lsimgrid
# Not pkg-config --libs: Debian's file names libraries of packages that this one does not depend on.
g++ -std=c++17 -O2 $(pkg-config --cflags ns3-core) tests/bench/peers/ns3_peer.cpp -o $out/ns3_peer -lns3-core

exec /usr/bin/python3 - "$rounds" "$out" <<'PYTHON'
import json
import statistics
import subprocess
import sys
from collections import defaultdict

rounds, out = int(sys.argv[1]), sys.argv[2]
PENDING = [1, 100, 10_000]
ENGINES = {
    "SimPy": (["/usr/bin/python3", "tests/bench/peers/simpy_peer.py"], []),
    "SimGrid": ([f"{out}/simgrid_peer"], ["--log=root.thresh:error"]),
    "ns-3": ([f"{out}/ns3_peer"], []),
}
times = defaultdict(list)


def ours():
    done = subprocess.run([f"{out}/event_queue_bench", "--benchmark_format=json", "--benchmark_min_time=0.1",
                           "--benchmark_filter=BM_Hold(Limit)?/(1|100|10000)$|Mm1"], capture_output=True, text=True,
                          check=True)
    for row in json.loads(done.stdout)["benchmarks"]:
        name, _, pending = row["name"].removeprefix("BM_").partition("/")
        engine = "the limit" if name.endswith("Limit") else "Corun"
        times[engine, int(pending) if pending else "M/M/1"].append(1e9 / row["items_per_second"])


for number in range(rounds):
    print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)
    ours()
    for engine, (command, options) in ENGINES.items():
        for task in [*PENDING, "M/M/1"]:
            words = ["mm1", "50000"] if task == "M/M/1" else ["hold", str(task), "100000"]
            done = subprocess.run([*command, *words, *options], capture_output=True, text=True, check=True)
            times[engine, task].append(float(done.stdout))

lines = ["| | hold, 1 pending | 100 | 10,000 | M/M/1 |", "| --- | ---: | ---: | ---: | ---: |"]
for engine in ["the limit", "Corun", "ns-3", "SimGrid", "SimPy"]:
    cells = []
    for task in [*PENDING, "M/M/1"]:
        mine, median = statistics.median(times["Corun", task]), statistics.median(times[engine, task])
        ratio = median / mine
        cells.append(f"{median:,.0f} ({ratio:.0f} x)" if ratio >= 10 else f"{median:,.0f} ({ratio:.2g} x)")
    lines.append(f"| {engine} | " + " | ".join(cells) + " |")
with open(f"{out}/peers.md", "w") as page:
    page.write("## Other engines\n\n`tests/bench/peers.sh`: ns of CPU time per event, medians of "
               f"{rounds} alternated rounds, and the ratio to Corun. The limit's M/M/1 has no event queue.\n\n"
               + "\n".join(lines) + "\n")
print("\n".join(lines))
PYTHON
