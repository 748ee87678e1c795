"""What studies/serving measures: servers alone, next to a training, and next to a second server of the same model.

A cell is a way of sharing and its parties. A party is a program with the percentage of the SMs that MPS gives it and,
for a server, a file of requests/.
"""

import dataclasses
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SERVER = ROOT / "servers" / "language" / "engine.py"
SERVERS = {"1b": ["--model", "1b", "--batching", "chunked", "--max-batch", "32"],
           "8b": ["--model", "8b", "--batching", "prefill_first", "--max-batch", "16"]}
LOADS = ["low", "middle", "high"]
TRAININGS = {"1b": "wide_training", "8b": "embedding_training"}
WAYS = {"turns": (100, 100), "mps": (100, 100), "split": (70, 30)}  # percentages of a server and of its neighbour


@dataclasses.dataclass(frozen=True)
class Party:
    program: str  # of SERVERS or of tests/hardware/programs
    percentage: int
    requests: str = None
    copy: int = 1

    @property
    def is_server(self):
        return self.program in SERVERS

    @property
    def label(self):
        return f"{self.program}@{self.percentage}" + (f"_{self.copy}" if self.copy > 1 else "")


@dataclasses.dataclass(frozen=True)
class Cell:
    way: str
    parties: tuple

    @property
    def name(self):
        return "_".join([self.way, *(party.requests or party.program for party in self.parties)])


def cells():
    for program in SERVERS:
        for load in LOADS:
            yield Cell("turns", (Party(program, 100, f"{program}_{load}"),))
    for way, (own, rest) in WAYS.items():
        for program, training in TRAININGS.items():
            yield Cell(way, (Party(training, rest),))
            server = Party(program, own, f"{program}_low")
            yield Cell(way, (server, Party(training, rest)))
            yield Cell(way, (server, Party(program, rest, f"{program}_replica", 2)))
    for program in SERVERS:
        yield Cell("split", (Party(program, WAYS["split"][0], f"{program}_low"),))
