#!/usr/bin/env python3
"""What if a decode of Higgs has more operations that its host waits for? Rates in both ways, for two setups.

    waits.py SIMCLI FOLDER > waits.md
"""

import itertools
import pathlib
import sys

import captures
import stand_ins

SETUPS = {"h100-higgs-speech": ("h100", (2, 3), 5), "h200-higgs": ("h200", (2, 5), 2)}  # device, replicas, seconds
WAITS = (0, 9, 30, 100)


def simulate(simcli, folder, setup, ends):
    device, counts, seconds = SETUPS[setup]
    place = folder / f"waits-{setup}"
    place.mkdir(parents=True, exist_ok=True)
    text = (f"name: waits-{setup}\ndevice: {device}\nhorizon: {seconds}s\nwarmup: {seconds / 10:g}s\nseeds: 1\n"
            "defaults: { host_jitter: 10%, host_gaps: recorded, step: { range: iteration }, accept: [other_gpu] }\n"
            "policies: [passthrough]\nrecord: { frames: none, decisions: none }\nscenarios:\n")
    for name, capture in ends.items():
        capture.write(place / f"{name}.json")
        runs = [("turns", 1), *itertools.product(("turns", "mps"), counts)]
        for way, count in runs:
            text += stand_ins.scenario(f"{way}-{count}-{name}", way, count, f"{name}.json", "1")
    return stand_ins.simulate(simcli, place, text)


def main():
    inputs, folder = stand_ins.read_inputs(), pathlib.Path(sys.argv[2])
    simcli = str(pathlib.Path(sys.argv[1]).resolve())
    for setup, (_, counts, _) in SETUPS.items():
        ends, own = {}, inputs[setup]
        for busy, waits in itertools.product(own["busy"], WAITS):
            facts = stand_ins.facts_of(setup, inputs) | {"small_operations": waits}
            capture = captures.Capture(8 * captures.SMS, 256)
            for _ in range(5):
                begin = capture.host
                captures.higgs(capture, 1e3 * 87.0 * 48.2 / own["rate"][0], busy, "pieces", facts)
                capture.mark(begin)
            ends[f"{busy:g}_{waits}"] = capture
        found = simulate(simcli, folder, setup, ends)
        print(f"{setup}: rate over that of one replica, {', '.join(map(str, counts))} replicas.\n")
        print("| busy share of one | waits of a decode | turns | MPS |\n|---|---|---|---|")
        for name in ends:
            told = [", ".join(f"{found[f'{way}-{count}-{name}'] / found[f'turns-1-{name}']:.2f}" for count in counts)
                    for way in ("turns", "mps")]
            print("| " + " | ".join([*name.split("_"), *told]) + " |")
        print(flush=True)


if __name__ == "__main__":
    main()
