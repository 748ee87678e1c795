"""Figures out of results files: one value for each seed, so that what is computed from several stays paired by seed."""

import contextlib
import fnmatch
import json
import math
import pathlib
import sqlite3
import statistics

# Two-sided 95 % points of Student's t; beyond 30 degrees of freedom the normal one is within 2 %.
T95 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
       2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042]
ENDINGS = ["", "_ms", "_ratio", "_per_s", "_mean"]


class Missing(Exception):
    """A figure that the results do not have, or a run that failed."""


class PerSeed:
    """A value for each seed. Arithmetic goes seed by seed; numbers count for every seed."""

    each = "seed"

    def __init__(self, values):
        self.values = dict(values)

    def _with(self, other, operation):
        if not isinstance(other, PerSeed):
            return PerSeed({seed: operation(value, other) for seed, value in self.values.items()})
        if self.values.keys() != other.values.keys():
            raise Missing("figures of different seeds cannot be combined")
        return PerSeed({seed: operation(value, other.values[seed]) for seed, value in self.values.items()})

    def __add__(self, other):
        return self._with(other, lambda a, b: a + b)

    def __sub__(self, other):
        return self._with(other, lambda a, b: a - b)

    def __mul__(self, other):
        return self._with(other, lambda a, b: a * b)

    def __truediv__(self, other):
        return self._with(other, lambda a, b: a / b if b else math.nan)

    def __rsub__(self, other):
        return self._with(other, lambda a, b: b - a)

    def __rtruediv__(self, other):
        return self._with(other, lambda a, b: b / a if a else math.nan)

    def __neg__(self):
        return self * -1

    def __abs__(self):
        return PerSeed({seed: abs(value) for seed, value in self.values.items()})

    __radd__, __rmul__ = __add__, __mul__

    def mean(self):
        return math.fsum(self.values.values()) / len(self.values)

    def half_width(self):
        """Of the 95 % interval of the mean; 0 for one seed, which shows nothing about others."""
        count, mean = len(self.values), self.mean()
        if count < 2:
            return 0.0
        variance = math.fsum((value - mean) ** 2 for value in self.values.values()) / (count - 1)
        return (T95[count - 2] if count <= 31 else 1.96) * math.sqrt(variance / count)


def fold(figures, choose):
    figures = list(figures)
    seeds = figures[0].values.keys()
    return PerSeed({seed: choose(figure.values[seed] for figure in figures) for seed in seeds})


class Results:
    """The metrics of one results file, read once."""

    def __init__(self, path):
        self.path, self.metrics, self.failed = path, {}, {}
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        for scenario, policy, error in database.execute("SELECT scenario, policy, error FROM runs"):
            if error:
                self.failed[f"{scenario}/{policy}"] = error
        query = "SELECT scenario, policy, client, metric, seed, value FROM metrics JOIN runs ON runs.id = metrics.run"
        for scenario, policy, client, metric, seed, value in database.execute(query):
            run = self.metrics.setdefault(f"{scenario}/{policy}", {})
            run.setdefault(client, {}).setdefault(metric, {})[seed] = value
        database.close()

    def clients(self, run):
        if run in self.failed:
            raise Missing(f"a run of {run} failed: {self.failed[run]}")
        if run not in self.metrics:
            raise Missing(f"there is no run {run}; there are {', '.join(sorted(self.metrics))}")
        return self.metrics[run]

    def figure(self, reference):
        """`scenario/policy.client.metric`; the endings `_ms`, `_ratio`, `_per_s` and `_mean` may be left off."""
        run, client, metric = reference.rsplit(".", 2)
        metrics = self.clients(run).get(client)
        if metrics is None:
            raise Missing(f"{run} has no client {client}")
        for ending in ENDINGS:
            if metric + ending in metrics:
                return PerSeed(metrics[metric + ending])
        raise Missing(f"{run}: {client} has no {metric}")

    def each(self, reference):
        """The same figure of every client: `scenario/policy.*.metric`."""
        run, _, metric = reference.rsplit(".", 2)
        return [self.figure(f"{run}.{client}.{metric}") for client in sorted(self.clients(run)) if client != "device"]

    def figure_or(self, reference, default):
        """A figure that is only there where something happened, such as kills."""
        run = reference.rsplit(".", 2)[0]
        seeds = next(iter(self.clients(run)["device"].values()))
        try:
            found = self.figure(reference).values
        except Missing:
            found = {}
        return PerSeed({seed: found.get(seed, default) for seed in seeds})

    def progress(self, run):
        """Sum over the clients of throughput over throughput alone."""
        return sum((1 / figure for figure in self.each(f"{run}.*.slowdown")), start=0)

    def crossed_frames(self, run, game, filler):
        """Share of the game's frames at whose first submission an operation of the filler is on the device; needs
        `record: { operations: all }`."""
        scenario, policy = run.split("/")
        query = """SELECT seed, AVG(EXISTS (SELECT 1 FROM operations o WHERE o.run = f.run AND o.client = ?
                                            AND o.begin_ns BETWEEN f.submit_ns - 1000000000 AND f.submit_ns - 1
                                            AND o.end_ns > f.submit_ns))
                   FROM frames f JOIN runs ON runs.id = f.run WHERE scenario = ? AND policy = ? AND f.client = ?
                   GROUP BY seed"""
        with contextlib.closing(sqlite3.connect(":memory:")) as database:
            database.execute("ATTACH ? AS results", [str(self.path)])
            database.execute("""CREATE TEMP TABLE operations AS SELECT run, client, begin_ns, end_ns
                                FROM results.operations WHERE client = ?""", [filler])
            database.execute("CREATE INDEX temp.by_begin ON operations (run, begin_ns)")
            rows = database.execute(query, [filler, scenario, policy, game]).fetchall()
        if not rows:
            raise Missing(f"{run} has no frames of {game}")
        return PerSeed(dict(rows))

    def most_served(self, pattern):
        """Over scenarios that differ in how many players there are: the most players served in one of them."""
        runs = [run for run in self.metrics if fnmatch.fnmatchcase(run, pattern)]
        if not runs:
            raise Missing(f"there is no run like {pattern}")
        return fold([self.figure_or(f"{run}.device.players_served", 0) for run in runs], max)

    def late_after(self, run, game, joiner, limit_ms):
        """Milliseconds from the joiner's first frame until the game's last frame that took more than the limit from its
        start to its end on the GPU ended; 0 if none did. Needs `record: { frames: all }`."""
        scenario, policy = run.split("/")
        query = """SELECT r.seed, MAX(COALESCE((SELECT MAX(f.gpu_end_ns) FROM frames f WHERE f.run = r.id
                          AND f.client = ? AND f.gpu_end_ns - f.start_ns > ?) - (SELECT MIN(start_ns) FROM frames j
                          WHERE j.run = r.id AND j.client = ?), 0), 0)
                   FROM runs r WHERE r.scenario = ? AND r.policy = ?"""
        self.clients(run)
        with contextlib.closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)) as database:
            rows = database.execute(f"{query} GROUP BY r.seed", [game, limit_ms * 1e6, joiner, scenario, policy])
            return PerSeed({seed: ns / 1e6 for seed, ns in rows})

    def names(self):
        """What an expression of a claim may use."""
        return {"__builtins__": {}, "figure": self.figure, "figure_or": self.figure_or, "abs": abs,
                "total": lambda reference: fold(self.each(reference), math.fsum),
                "largest": lambda reference: fold(self.each(reference), max),
                "smallest": lambda reference: fold(self.each(reference), min),
                "mean": lambda reference: fold(self.each(reference), statistics.fmean),
                "most_served": self.most_served, "late_after": self.late_after,
                "max": lambda *figures: fold(figures, max), "min": lambda *figures: fold(figures, min),
                "progress": self.progress, "crossed_frames": self.crossed_frames}


class PerTurn(PerSeed):
    """The same for turns of a measurement."""

    each = "turn"


class Measured:
    """What tests/hardware/gate_cost.py wrote: programs at a gate against the same without one, in turns."""

    def __init__(self, path):
        lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
        self.rows = [json.loads(line) for line in lines]

    def longer_by(self, program):
        """By how many per cent the program's steps were longer, a value for each turn."""
        ratios = [ratio for row in self.rows if program in row["command"] for ratio in row["ratios"]]
        if not ratios:
            raise Missing(f"{program} was not measured")
        return PerTurn({turn: 100 * (ratio - 1) for turn, ratio in enumerate(ratios)})

    def names(self):
        return {"__builtins__": {}, "longer_by": self.longer_by}


def evaluate(expression, results):
    """The value of a claim's expression: a PerSeed. Throws Missing."""
    try:
        # Claims are code of this project.
        value = eval(expression, results.names() if results else {"__builtins__": {}})
    except (NameError, SyntaxError, TypeError, ValueError, AttributeError) as error:
        raise Missing(f"`{expression}`: {error}") from error
    return value if isinstance(value, PerSeed) else PerSeed({0: float(value)})
