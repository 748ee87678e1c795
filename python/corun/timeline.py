"""Captures, as columns."""

import functools
import os
from typing import Any

from corun.core import _core
from corun.table import Table

__all__ = ["Timeline"]


class Timeline:
    """What one capture says happened, read from any format that `simcli info` reads (`.corun`, PyTorch profiler,
    Nsight Systems, PresentMon, MangoHud, ...).

    Times are integer nanoseconds from the capture's origin; rows are ordered by start. What the source does not have is
    missing. `format` names the importer where its guess is wrong. Raises InputError where the file cannot be read.

    >>> timeline = corun.Timeline(CAPTURE)
    >>> len(timeline.operations), timeline.counts["kernels"]
    (3925, 3655)
    >>> timeline.operations["kind"].words[0]
    'kernel'
    """

    def __init__(self, path: str | os.PathLike[str], format: str = "") -> None:
        self.path = os.fspath(path)
        self._core = _core.Timeline(self.path, format)

    @functools.cached_property
    def operations(self) -> Table:
        """Kernels, copies and memsets: `start_ns`, `duration_ns`, `kind`, `name`, `device`, `process`, `context`,
        `stream`, `call` (row of `calls` that submitted it), `blocks`, `threads_per_block`, `registers_per_thread`,
        `shared_memory_bytes` (of a block), `bytes`, `graph_node`.

        >>> corun.Timeline(CAPTURE).operations["duration_ns"].type
        'integer'
        """
        return Table(self._core.operations())

    @functools.cached_property
    def calls(self) -> Table:
        """Calls of the host: `start_ns`, `duration_ns`, `kind`, `process`, `thread`, `stream` (missing: all),
        `awaited` (row of `operations`: the last one that an event wait waits for).

        >>> "kind" in corun.Timeline(CAPTURE).calls.columns
        True
        """
        return Table(self._core.calls())

    @functools.cached_property
    def frames(self) -> Table:
        """Presented frames: `present_ns`, `interval_ns`, `cpu_busy_ns`, `in_present_ns`, `submit_ns`, `gpu_begin_ns`,
        `gpu_end_ns`, `gpu_busy_ns`, `visits`, `application`, `dropped` (0 or 1).

        >>> len(corun.Timeline(CAPTURE).frames)
        0
        """
        return Table(self._core.frames())

    @functools.cached_property
    def marks(self) -> Table:
        """Named intervals that mark steps: `start_ns`, `duration_ns`, `name`, `process`, `thread`.

        >>> corun.Timeline(CAPTURE).marks.columns
        ['start_ns', 'duration_ns', 'name', 'process', 'thread']
        """
        return Table(self._core.marks())

    @functools.cached_property
    def draws(self) -> Table:
        """Pieces of the few frames whose composition was sampled: `start_ns`, `duration_ns`, `calls`, `pass` (of the
        frame, from 1 on; 0 = not recorded), `application`.

        >>> corun.Timeline(CAPTURE).draws.columns
        ['start_ns', 'duration_ns', 'calls', 'pass', 'application']
        """
        return Table(self._core.draws())

    @property
    def provenance(self) -> dict[str, Any]:
        """A dict: `format`, `version`, `file`, `content_hash`, `clock`, `origin_ns`, `devices`, `skipped` (bad records
        by reason), `notes`, `programs` (name by process).

        >>> corun.Timeline(CAPTURE).provenance["format"]
        'kineto'
        """
        return self._core.provenance

    @property
    def fidelity(self) -> dict[str, bool]:
        """A dict of what the capture can be trusted with: `has_durations`, `has_calls`, `has_frames`, `per_frame`,
        `integer_microseconds`, `has_times`, `host_gaps_inflated`, `co_run`.

        >>> corun.Timeline(CAPTURE).fidelity["host_gaps_inflated"]
        True
        """
        return self._core.fidelity

    @property
    def counts(self) -> dict[str, int]:
        """A dict of what `simcli info` counts: `kernels`, `memops`, `frames`, `streams`, `span_ns`, `busy_ns`.

        >>> sorted(corun.Timeline(CAPTURE).counts)
        ['busy_ns', 'frames', 'kernels', 'memops', 'span_ns', 'streams']
        """
        return self._core.counts

    @property
    def steps(self) -> dict[str, Any]:
        """A dict of the program's steps, as a replay takes them: `count`, `certainty` (none, unsure, likely, certain),
        `how`, `step_ns` (mean), `host_ns` (from begin to begin on the host, median), `host_ns_p10`, `host_ns_p90`,
        `device_ns`, `operations`, `left_out_before`, `left_out_after`, `unfit` (why it cannot be replayed, or ""),
        `remedy`, `ranges` (that recur, with counts).

        >>> corun.Timeline(CAPTURE).steps["certainty"]
        'certain'
        """
        return self._core.steps()

    def __repr__(self) -> str:
        counts = self.counts
        return (f"<corun.Timeline {self.path}: {counts['kernels']} kernels, {counts['memops']} copies and memsets, "
                f"{counts['frames']} frames in {counts['span_ns'] / 1e9:.3g} s>")
