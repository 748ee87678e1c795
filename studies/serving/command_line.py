"""The four commands that the studies of servers have in common."""

import argparse
import pathlib


def commands(description, experiment, predict, measure, score):
    """The parser, and those of `measure` and of `score`, which take options of the study."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    found = parser.add_subparsers(required=True)
    command = found.add_parser("experiment")
    command.add_argument("folder", type=pathlib.Path)
    command.set_defaults(do=experiment)
    command = found.add_parser("predict")
    command.add_argument("results", type=pathlib.Path)
    command.set_defaults(do=predict)
    measuring = found.add_parser("measure")
    measuring.add_argument("-o", "--output", type=pathlib.Path, required=True)
    measuring.set_defaults(do=measure)
    scoring = found.add_parser("score")
    scoring.set_defaults(do=score)
    return parser, measuring, scoring
