"""A hook that writes when each operation of a step was carried out."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from ...formats.messages import RunMetadata, RunOptions, StepStats
from ..summary.first import FileWriterCache
from .hooks import (
    SecondOrStepTimer,
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
    read_of_the_global_step,
)


def events(step_stats: StepStats, *, memory: bool) -> Iterator[dict[str, object]]:
    """Give the events of a step as browsers draw them: a process a device, a row a thread."""
    for number, device in enumerate(step_stats.dev_stats):
        about = {"pid": number, "ph": "M"}
        yield {**about, "name": "process_name", "args": {"name": f"{device.device} Compute"}}
        for node in device.node_stats:
            label = node.timeline_label
            kind = label.partition(" = ")[2].partition("(")[0] or node.node_name
            args = {"name": node.node_name, "op": kind}
            if memory and node.memory:
                args["bytes"] = str(sum(each.total_bytes for each in node.memory))
            yield {
                **{"name": kind, "cat": "Op", "ph": "X", "pid": number, "tid": node.thread_id},
                **{"ts": node.all_start_micros, "dur": node.all_end_rel_micros, "args": args},
            }


class ProfilerHook(SessionRunHook):
    """Writes `timeline-STEP.json` every so many steps or seconds, and the step's metadata.

    The first step is not written. Arrows between operations (`show_dataflow`) are not drawn.
    """

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: str = "",
        show_dataflow: bool = True,
        show_memory: bool = False,
    ) -> None:
        self._folder, self._memory = output_dir, show_memory
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)
        self._next: int | None = None
        self._asked = False

    def begin(self) -> None:
        """Find the count of steps."""
        self._writer = FileWriterCache.get(self._folder)
        self._step = read_of_the_global_step("ProfilerHook")

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for the count, and for times if it is time."""
        self._asked = self._next is not None and self._timer.should_trigger_for_step(self._next)
        options = RunOptions(trace_level=RunOptions.FULL_TRACE) if self._asked else None
        return SessionRunArgs(self._step, options=options)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Write the times of a step, if they were asked for."""
        before = int(run_values.results)
        if self._next is None:
            self._timer.update_last_triggered_step(before)
        now = before + 1
        if self._asked:
            now = int(run_context.session.run(self._step))
            self._timer.update_last_triggered_step(now)
            self._write(now, run_values.run_metadata)
        self._next = now + 1

    def _write(self, step: int, metadata: RunMetadata) -> None:
        """Write the file of a step."""
        found = {"traceEvents": list(events(metadata.step_stats, memory=self._memory))}
        Path(os.path.join(self._folder, f"timeline-{step}.json")).write_text(json.dumps(found))
        self._writer.add_run_metadata(metadata, f"step_{step}")
