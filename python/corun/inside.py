"""Looking inside runs: which run is meant, where the time of each frame went, and which client had the device then."""

from typing import TYPE_CHECKING

from corun.errors import InputError
from corun.tables import Tables, planned_runs

if TYPE_CHECKING:
    from pandas import DataFrame

    from corun.results import Results

__all__ = ["device_time", "frame_times", "one_backend", "run_id"]

_FRAME_TIMES = """
SELECT runs.scenario, runs.policy, runs.seed, f.run, f.client, f.number, f.start_ns, f.present_ns,
       f.present_ns - lag(f.present_ns) OVER (PARTITION BY f.run, f.client ORDER BY f.present_ns) AS frame_time_ns,
       f.submit_ns - f.start_ns AS host_ns,
       f.gpu_begin_ns - f.submit_ns AS queued_ns,
       f.gpu_busy_ns AS own_ns,
       f.gpu_end_ns - f.gpu_begin_ns - f.gpu_busy_ns AS away_ns,
       f.present_ns - f.gpu_end_ns AS until_shown_ns,
       f.missed
FROM frames f JOIN runs ON runs.id = f.run
WHERE runs.error IS NULL AND (?1 OR f.present_ns >= runs.warmup_ns) AND f.present_ns < runs.horizon_ns
  AND (?2 IS NULL OR runs.scenario = ?2) AND (?3 IS NULL OR runs.policy = ?3) AND (?4 IS NULL OR f.client = ?4)
ORDER BY f.rowid
"""

_DEVICE_TIME = """
SELECT client, kind, sum(device_time_ns * 1.0 * (min(end_ns, ?3) - max(begin_ns, ?2)) / (end_ns - begin_ns))
FROM operations WHERE run = ?1 AND begin_ns < ?3 AND end_ns > ?2 GROUP BY client, kind ORDER BY client, kind
"""


def one_backend(results: "Results", backend: str | None) -> str | None:
    """The backend of the runs that are meant: `backend`, or the only one there is; None in a file without runs. Raises
    InputError where there are several and none is named, or none is of this name."""
    there = results.backends
    if backend is None and len(there) > 1:
        raise InputError(f"{results.path}: holds runs of several backends: choose one of {', '.join(there)} by "
                         "`backend`")
    if backend not in (None, *there):
        raise InputError(f"{results.path}: no run of backend `{backend}`: there are {', '.join(there) or 'none'}")
    return backend or (there[0] if there else None)


def run_id(results: Tables, policy: str, seed: int | None = None, scenario: str | None = None) -> str:
    """The id of one run: see Results.run_id."""
    results.check_names(scenario, policy)
    runs = [run for run in planned_runs(results, "id, scenario, policy, seed, error") if run[4] is None]
    found = [run for run in runs if run[2] == policy and seed in (None, run[3]) and scenario in (None, run[1])]
    if not found:
        there = sorted({f"{run[1]}/{run[2]}" for run in runs})
        seeds = sorted({run[3] for run in runs})
        raise InputError(f"{results.path}: no run of policy `{policy}`"
                         + (f" in scenario `{scenario}`" if scenario else "") + (f" with seed {seed}" if seed else "")
                         + f": there are {', '.join(there) or 'none'} with seeds {', '.join(map(str, seeds))}")
    scenarios = list(dict.fromkeys(run[1] for run in found))
    if len(scenarios) > 1:
        raise InputError(f"{results.path}: policy `{policy}` is in several scenarios: choose one of "
                         f"{', '.join(scenarios)} by `scenario`")
    least: str = min(found, key=lambda run: int(run[3]))[0]
    return least


def frame_times(results: Tables, scenario: str | None = None, policy: str | None = None, client: str | None = None,
                warmup: bool = False) -> "DataFrame":
    """Frames with their parts: see Results.frame_times."""
    if not results.has("frames"):
        raise InputError(f"{results.path}: has no table frames: an older version wrote it; run the experiment again")
    results.check_names(scenario, policy)
    if client is not None:
        with_frames = [row[0] for row in results.cursor("SELECT DISTINCT client FROM frames ORDER BY client")]
        if client not in with_frames:
            results.check_names(client=client)  # one without frames has none to show, and is no mistake
    return results.sql(_FRAME_TIMES, (warmup, scenario, policy, client))


def device_time(results: Tables, begin_ns: float, end_ns: float, policy: str, seed: int | None = None,
                scenario: str | None = None) -> dict[str, int]:
    """Which client had the device: see Results.device_time."""
    run = run_id(results, policy, seed, scenario)
    query = "SELECT 1 FROM operations WHERE run = ?"
    if not results.has("operations") or results.cursor(query, (run,)).fetchone() is None:
        raise InputError(f"{results.path}: no operations of policy `{policy}` are recorded: run it with "
                         "`record: { operations: all }`, or .set(\"record\", {\"operations\": \"all\"})")
    spans: dict[str, dict[str, int]] = {}
    for client, kind, device_time_ns in results.cursor(_DEVICE_TIME, (run, int(begin_ns), int(end_ns))):
        spans.setdefault(client, {})[kind] = round(device_time_ns)
    return {client: sum(kinds.values()) for client, kinds in spans.items()}
