"""The compiled part of the package: what its objects hold. Use the package's own names.

Times and durations are integer nanoseconds since the run began; what is not known or not stated is None.
"""

from collections.abc import Callable, Sequence
from typing import Any

engine_version: str
results_revision: int

def read(text: str, file: str, sets: list[str], policies: list[type], seeds: list[int],
         until: str | None, expands_sweep: bool = False) -> Experiment: ...
def results_hash(path: str) -> str: ...
def duration_ns(text: str) -> int: ...
def query(path: str, query: str, parameters: list[str]) -> Table: ...
def student_t_95(degrees: int) -> float: ...
def mean_interval(values: list[float]) -> tuple[float, float | None, float | None]: ...
def paired_interval(values: list[float], baseline: list[float], is_ratio: bool) -> tuple[
    float, float | None, float | None]: ...
def paired_bootstrap(values: list[float], baseline: list[float], is_ratio: bool, resamples: int, seed: int,
                     is_expanded: bool, indices: list[int] | None) -> tuple[float, float | None, float | None]: ...
def compare(path: str, baseline: str, metrics: list[str], backend: str) -> list[tuple[Any, ...]]: ...
def check_results(path: str) -> None: ...
def horizon_warnings(path: str) -> list[str]: ...
def metrics() -> list[dict[str, Any]]: ...
def summary_metrics() -> list[str]: ...
def is_better_small(metric: str, unit: str) -> bool: ...
def counts_from_zero(metric: str) -> bool: ...
def mser5(series: list[float]) -> tuple[int, bool]: ...
def batch_means(series: list[float], batches: int) -> tuple[float, float, float]: ...
def lag1_correlation(series: list[float]) -> float: ...

class Experiment:
    name: str
    description: str
    output: str
    scenarios: list[str]
    points: list[dict[str, str]]  # of an expanded sweep
    def check(self) -> None: ...
    def plan(self) -> list[dict[str, Any]]: ...
    def run(self, output: str, if_exists: IfExists, jobs: int, baselines: bool,
            tick: Callable[[int], object]) -> list[tuple[int, str]]: ...

class IfExists:
    """What becomes of a results file that is there already."""

    name: str
    value: int
    fail: IfExists
    replace: IfExists
    resume: IfExists

class PlannedRuns:
    """The runs of an experiment, done in any order by any number of threads."""

    def __init__(self, experiment: Experiment, baselines: bool) -> None: ...
    def ids(self) -> list[str]: ...
    def run(self, ids: list[str], output: str) -> None: ...
    def writer(self, output: str, if_exists: IfExists) -> ResultsWriter: ...

class ResultsWriter:
    """A results file that is being written."""

    def completed_runs(self) -> list[str]: ...
    def append(self, path: str) -> list[str]: ...
    def close(self) -> None: ...

class Column:
    """One column of a table."""

    name: str
    type: str  # "integer", "real", "text"
    missing: int
    codes: list[int] | None  # of text: number of each row's word, -1 where missing
    words: list[str] | None  # of text: the different ones
    def __len__(self) -> int: ...
    def __getitem__(self, row: int) -> int | float | str | None: ...
    def to_list(self) -> list[int | float | str | None]: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]: ...

class NumberColumn(Column):
    """Offers its memory: int64 without missing values, or float64 with NaN for missing ones."""

    def __buffer__(self, flags: int) -> memoryview: ...

class Table:
    columns: list[str]
    def __len__(self) -> int: ...
    def __getitem__(self, name: str) -> Column: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...

class Timeline:
    provenance: dict[str, Any]
    fidelity: dict[str, bool]
    counts: dict[str, int]
    def __init__(self, path: str, format: str = "") -> None: ...
    def operations(self) -> Table: ...
    def calls(self) -> Table: ...
    def frames(self) -> Table: ...
    def marks(self) -> Table: ...
    def draws(self) -> Table: ...

class GpuView:
    """All that a policy can see at one instant: what a real interposer can know, nothing of the future."""

    now_ns: int
    device: Device
    clients: list[Client]  # by id
    def client(self, name: str) -> Client: ...

class Device:
    sm_count: int
    max_threads_per_sm: int
    max_blocks_per_sm: int
    memory_bytes: int | None
    context_bytes: int
    to_device_bytes_per_s: int | None
    from_device_bytes_per_s: int | None
    time_slice_ns: int | None  # None: contexts share the device at once
    switch_cost_ns: int
    busy_ns: int  # measured: some client's operation ran

class Client:
    id: int
    name: str
    is_interactive: bool  # renders frames that somebody looks at
    priority: int  # higher matters more
    is_present: bool
    gate_is_open: bool
    waiting: list[Operation]  # held at the gate, in order
    waiting_count: int  # the same, without making objects
    in_flight: int
    in_flight_predicted_ns: int
    last_submitted_ns: int | None
    device_time_ns: int  # received since the run began
    frame: Frame  # the newest
    frame_period_ns: int | None
    quality_menu: list[Any]  # of corun.policy.QualityLevel, best first
    quality_level: int
    awaits_shadow: bool
    requested_share: float | None  # (0, 1]
    requested_bytes: int | None
    working_set_bytes: int | None
    allocated_bytes: int | None
    resident_bytes: int
    paged_bytes: int
    snapshot_bytes: int
    last_snapshot_ns: int | None
    is_copying: bool

class Operation:
    number: int  # counts the client's submissions from 0
    name: str  # of the kernel; "frame" for render work
    is_render: bool
    is_copy: bool
    is_kernel: bool
    is_to_device: bool
    is_from_device: bool
    blocks: int | None
    bytes: int
    predicted_by_name_ns: int | None  # mean over the solo profile
    predicted_by_shape_ns: int | None
    exact_ns: int | None  # only for a policy that needs "oracle"
    position: int  # within its job
    sm_demand: float  # fraction of the SMs that its first wave fills
    submitted_ns: int

class Frame:
    number: int
    begin_ns: int | None
    end_ns: int | None  # None while it is being rendered
    gpu_busy_ns: int
    quality_level: int
    scene: int

class ShadowFrame:
    number: int
    quality_level: int
    scene: int
    gpu_busy_ns: int
    quality: float

_Who = Client | int | str

class Actions:
    """What a decision may ask for; checked and applied in order when decide returns."""

    def open(self, client: _Who) -> None: ...
    def close(self, client: _Who) -> None: ...
    def admit(self, client: _Who, count: int = 1) -> None: ...
    def set_quality(self, client: _Who, level: int) -> None: ...
    def shadow(self, client: _Who, level: int) -> None: ...
    def snapshot(self, client: _Who) -> None: ...
    def kill(self, client: _Who) -> None: ...
    def refuse(self, client: _Who) -> None: ...
    def prefetch(self, client: _Who) -> None: ...
    def set_slice(self, client: _Who, slice_ns: int) -> None: ...
    def set_priority(self, client: _Who, level: int) -> None: ...
    def set_sm_cap(self, client: _Who, fraction: float) -> None: ...
    def set_sm_share(self, client: _Who, fraction: float) -> None: ...
    def set_instance(self, client: _Who, fraction: float) -> None: ...
    def wake_at(self, when_ns: int) -> None: ...
    def hold(self, client: _Who, rule: str, needed: float = 0.0, available: float = 0.0, unit: str = "") -> None: ...
