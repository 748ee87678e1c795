"""Whether runs were long enough for what is said of them."""

import itertools

from corun import statistics

_FRAMES_OF_A_PERCENTILE = 100


def horizon_warnings(results):
    """Sentences on runs whose frame times had not settled, or that show too few frames for a 99th percentile."""
    runs = {row["id"]: row for row in _rows(results, "SELECT * FROM runs WHERE error IS NULL")}
    if not runs or "warmup_ns" not in next(iter(runs.values())) or not results.has("frames"):
        return []
    groups = {}
    frames = _rows(results, "SELECT run, client, present_ns FROM frames ORDER BY run, client, present_ns")
    for (run, client), its in itertools.groupby(frames, key=lambda row: (row["run"], row["client"])):
        if run in runs:
            verdict = _verdict(runs[run], [row["present_ns"] for row in its])
            groups.setdefault((runs[run]["scenario"], runs[run]["policy"], client), []).append((runs[run], verdict))
    return [text for key, verdicts in groups.items() for text in _sentences(*key, verdicts)]


def _verdict(run, presents):
    """(has not settled in the measured time, frames in it)"""
    times = [after - before for before, after in zip(presents, presents[1:])]
    cut, is_settled = statistics.mser5(times)
    measured = sum(1 for present in presents if present >= run["warmup_ns"])
    is_late = is_settled and presents[cut] > max(run["warmup_ns"], run["horizon_ns"] // 4)
    return (len(times) >= 10 and not is_settled) or is_late, measured


def _sentences(scenario, policy, client, verdicts):
    run = verdicts[0][0]
    place = f"{scenario}, {policy}, {client}"
    horizon, warmup = run["horizon_ns"] / 1e9, run["warmup_ns"] / 1e9
    unsettled = sum(1 for _, (is_unsettled, _) in verdicts if is_unsettled)
    if 2 * unsettled > len(verdicts):
        yield (f"{place}: in {unsettled} of {len(verdicts)} runs the frame times had not settled after the warm-up of "
               f"{warmup:g} s (MSER-5): try a horizon of {4 * horizon:g} s")
    frames = min(measured for _, (_, measured) in verdicts)
    if frames < _FRAMES_OF_A_PERCENTILE:
        longer = _FRAMES_OF_A_PERCENTILE * (horizon - warmup) / max(frames, 1) + warmup
        yield (f"{place}: {frames} frames are too few for a 99th percentile or a 1 % low, which are then the slowest "
               f"frame: try a horizon of {longer:.2g} s")


def _rows(results, query):
    cursor = results.cursor(query)
    names = [column[0] for column in cursor.description]
    return (dict(zip(names, row)) for row in cursor)
