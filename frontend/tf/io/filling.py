"""What fills a queue while a session runs, and the summary of how full it is."""

from __future__ import annotations

from collections.abc import Sequence

from ...graph.graph import Operation
from ..graph.queues import QueueBase
from ..ops.math_ops import cast
from ..ops.older import maximum
from ..summary.first import scalar
from ..train.coordinator import QueueRunner, add_queue_runner


def fill(
    queue: QueueBase,
    enqueue_ops: Sequence[Operation | None],
    capacity: int,
    least: int = 0,
    summary_name: str | None = None,
) -> None:
    """Let operations fill a queue, each in a thread, and show what part of its room is taken.

    The room is that above the `least` elements that stay in a queue which mixes.
    """
    add_queue_runner(QueueRunner(queue, enqueue_ops))
    room, above = capacity - least, queue.size()
    name = f"fraction_of_{room}_full"
    if least:
        above, name = maximum(0, above - least), f"fraction_over_{least}_of_{room}_full"
    scalar(summary_name or name, cast(above, "float32") * (1.0 / room if room else float("inf")))
