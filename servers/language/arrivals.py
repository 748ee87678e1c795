#!/usr/bin/env python3
"""Requests to a language model: a file of them, made by chance and read.

    arrivals.py --rate R --seconds S --prompt MEAN --output MEAN [--prompt-cv CV] [--output-cv CV]
                [--prompt-range MIN MAX] [--output-range MIN MAX] [--burst N] [--seed SEED] > FILE

FILE is CSV with the header `arrival_s,prompt,output`: seconds since the serving began, ascending, and tokens. Requests
arrive at R a second on average, after independent exponential times (Poisson); with --burst N they arrive N at once.
Lengths are log-normal with the given mean and coefficient of variation, rounded and then clamped, so that the mean of a
file is somewhat off. Equal arguments give equal files.
"""

import argparse
import csv
import math
import random
import sys

HEADER = ["arrival_s", "prompt", "output"]


def length(chance, mean, cv, limits):
    variance = math.log1p(cv * cv)
    drawn = chance.lognormvariate(math.log(mean) - variance / 2, math.sqrt(variance))
    return min(max(round(drawn), limits[0]), limits[1])


def made_requests(options):
    """(arrival_s, prompt, output) of each request."""
    chance, at = random.Random(options.seed), 0.0
    while (at := at + chance.expovariate(options.rate / options.burst)) < options.seconds:
        for _ in range(options.burst):
            yield (round(at, 6), length(chance, options.prompt, options.prompt_cv, options.prompt_range),
                   length(chance, options.output, options.output_cv, options.output_range))


def read_requests(path, longest):
    """The rows of a file; ValueError names the line that is no request, or one of more than `longest` tokens."""
    rows, before = [], 0.0
    with open(path, encoding="utf-8", newline="") as file:
        lines = csv.reader(file)
        if next(lines, None) != HEADER:
            raise ValueError(f"{path}:1: the header is not {','.join(HEADER)}")
        for number, line in enumerate(lines, 2):
            try:
                arrival, prompt, output = float(line[0]), int(line[1]), int(line[2])
            except (ValueError, IndexError):
                raise ValueError(f"{path}:{number}: not seconds and two numbers of tokens: {','.join(line)}") from None
            if not before <= arrival < math.inf or prompt < 1 or output < 1:
                raise ValueError(f"{path}:{number}: arrivals ascend, and a request has one token at least of each kind")
            if prompt + output > longest:
                raise ValueError(f"{path}:{number}: {prompt + output} tokens: the server holds {longest} at most")
            rows.append((arrival, prompt, output))
            before = arrival
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    for kind, limits in (("prompt", [16, 1536]), ("output", [4, 512])):
        parser.add_argument(f"--{kind}", type=float, required=True)
        parser.add_argument(f"--{kind}-cv", type=float, default=0.8)
        parser.add_argument(f"--{kind}-range", type=int, nargs=2, default=limits, metavar=("MIN", "MAX"))
    parser.add_argument("--burst", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    rows = csv.writer(sys.stdout, lineterminator="\n")
    rows.writerow(HEADER)
    rows.writerows(made_requests(parser.parse_args()))


if __name__ == "__main__":
    main()
