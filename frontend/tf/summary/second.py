"""Summaries of the second version: writers that are entered, and what is written to them."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

import numpy as np

from ....ir import dtypes as rows
from ....ir.op import Array
from ....ir.types.tensor import TensorSpec
from ...data.host import ArrayKind
from ...formats import summaries as s
from ...formats.events import EventFile
from ...formats.messages import (
    Event,
    RunMetadata,
    Summary,
    SummaryMetadata,
    add_bytes,
)
from ...formats.messages import GraphDef as Message
from ...function.function import CALLED, init_scope
from ...graph.func_graph import FuncGraph
from ...graph.graph import Graph, GraphTensor, Operation
from ...values.context import STATE
from ...values.run_errors import DataLossError, InvalidArgumentError
from ..core.bridge import TfTensor, dressed, wrap
from ..core.names import name_scope, scope_around
from ..core.values import InGraph, convert, graph_of, path_of
from ..graph.graph_def import GraphDef
from ..graph.state import get_default_graph, no_op
from ..io.pictures import png_bytes
from ..program import profiler as profiles
from ..program.logging import LOGGER
from ..runs.graph_messages import graph_message

TRUTH = TensorSpec(rows.bool_, ())
OLD_OPERATIONS = "_SUMMARY_V2"


class Present(threading.local):
    """The writer, the step and the condition of a thread."""

    writer: SummaryWriter | None = None
    step: object = None
    condition: object = True


NOW = Present()


class SummaryWriter:
    """Writes into a file of a folder, while it is entered by `as_default`."""

    def __init__(self, make: Callable[[], EventFile] | None) -> None:
        self._make = make
        self._file: EventFile | None = None
        self._closed = False
        self._before: list[tuple[Any, object]] = []

    def file(self) -> EventFile | None:
        """Return the file, which is begun now if it was not; None if nothing is written."""
        if self._closed:
            raise RuntimeError("SummaryWriter is already closed")
        if self._file is None and self._make is not None:
            self._file = self._make()
        return self._file

    @contextmanager
    def as_default(self, step: object = None) -> Iterator[SummaryWriter]:
        """Write to it what summaries give inside."""
        if self._closed:
            raise RuntimeError("SummaryWriter is already closed")
        if self._make is None:  # one that writes nothing leaves the others to write
            yield self
            return
        before = NOW.writer, NOW.step
        NOW.writer = self
        NOW.step = before[1] if step is None else step
        try:
            yield self
        finally:
            self.flush()
            NOW.writer, NOW.step = before[0], before[1] if step is not None else NOW.step

    def set_as_default(self, step: object = None) -> None:
        """Write to it what summaries give from now on."""
        if self._closed:
            raise RuntimeError("SummaryWriter is already closed")
        if self._make is None:
            return
        NOW.writer = self
        NOW.step = NOW.step if step is None else step

    def init(self) -> Any:
        """Begin the file."""
        if self._closed:
            raise RuntimeError("SummaryWriter is already closed")
        return _in_runs("CreateSummaryFileWriter", self.file)

    def flush(self) -> Any:
        """Let what was written reach the file."""
        return _in_runs("FlushSummaryWriter", self._flush_now)

    def _flush_now(self) -> None:
        if self._file is not None:
            self._file.flush()

    def close(self) -> Any:
        """End the file; what a graph ends may begin anew, in a file of its own."""
        graph = STATE.context
        self._closed |= not isinstance(graph, Graph) or isinstance(graph, FuncGraph)
        return _in_runs("CloseSummaryWriter", self._close_now)

    def _close_now(self) -> None:
        if self._file is not None:
            self._file.close()
        self._file = None

    def __enter__(self) -> Self:
        self._before.append((NOW.writer, NOW.step))
        NOW.writer = self
        return self

    def __exit__(self, *error: object) -> None:
        NOW.writer, NOW.step = self._before.pop()
        self.flush()


def _in_runs(type_: str, action: Callable[[], object]) -> Operation | None:
    """Do what has no operands and no result: now, or in a graph each time that it runs."""
    graph = STATE.context
    if not isinstance(graph, Graph):
        action()
        return None

    def compute() -> tuple[Array]:
        action()
        return (np.array(True),)

    return graph.add(ArrayKind(type_, compute, lambda _: [TRUTH], effect=True), [])


def create_file_writer(
    logdir: object,
    max_queue: Any = None,
    flush_millis: Any = None,
    filename_suffix: str | None = None,
    name: str | None = None,
    experimental_trackable: bool = False,
    experimental_mesh: object = None,
) -> SummaryWriter:
    """Return a writer into a new file of a folder."""
    if logdir is None:
        raise ValueError("Argument `logdir` cannot be None")
    with init_scope():
        if STATE.context is None:
            _require_computed(
                logdir=logdir, max_queue=max_queue, flush_millis=flush_millis,
                filename_suffix=filename_suffix,
            )  # fmt: skip
        folder = path_of(logdir, "create_file_writer")
        seconds = 120.0 if flush_millis is None else int(flush_millis) / 1000
        queue = 10 if max_queue is None else int(max_queue)
        suffix = path_of(filename_suffix or ".v2", "filename_suffix")
        made = SummaryWriter(lambda: EventFile(folder, queue, seconds, suffix))
        if STATE.context is None:
            made.file()
    return made


def _require_computed(**given: object) -> None:
    """Refuse tensors of a graph where a file is begun at once."""
    for name, value in given.items():
        if isinstance(value, GraphTensor):
            raise ValueError(
                f'Invalid graph Tensor argument "{name}={value}" to create_file_writer(), which '
                "runs eagerly, also within an @tf.function"
            )


def create_noop_writer() -> SummaryWriter:
    """Return a writer that writes nothing."""
    return SummaryWriter(None)


@contextmanager
def record_if(condition: object) -> Iterator[None]:
    """Write what summaries give inside only if a condition holds."""
    before = NOW.condition
    NOW.condition = condition
    try:
        yield
    finally:
        NOW.condition = before


def should_record_summaries() -> TfTensor:
    """Say whether summaries would be written now."""
    said = NOW.condition() if callable(NOW.condition) else NOW.condition
    return convert(NOW.writer is not None and said, "bool")


def get_step() -> object:
    """Return the step that summaries have if none is given."""
    return NOW.step


def set_step(step: object) -> None:
    """Set the step that summaries have if none is given."""
    NOW.step = step


def tag_of(name: str) -> str:
    """Return the tag of a summary: its name within the present scope."""
    if not name or name.endswith("/"):
        raise ValueError(f"Invalid name for a summary: {name!r}")
    return f"{scope_around()}{name}"


def put(
    tensors: Sequence[object], step: object, make: Callable[..., Any], name: str = "summary"
) -> TfTensor:
    """Write what a function gives for arrays: an event without time and step.

    Return whether something was written: in a graph, each time that it runs.
    """
    writer, when = NOW.writer, NOW.step if step is None else step
    if writer is None:
        return _nothing(name)
    condition = NOW.condition() if callable(NOW.condition) else NOW.condition
    if when is None and (hasattr(condition, "graph") or condition):
        raise ValueError(
            "No step set. Please specify one either through the `step` argument or through "
            "`tf.summary.experimental.set_step()`"
        )
    if when is None:
        return _nothing(name)
    with InGraph(graph_of([*tensors, when, condition])):
        given = [convert(x) for x in (when, condition, *tensors)]

        def compute(at: Array, holds: Array, *arrays: Array) -> tuple[Array]:
            file = writer.file() if holds else None
            if file is not None:
                what = make(*arrays)
                file.add(Event(wall_time=time.time(), step=int(at), **what))
            return (np.array(file is not None),)

        graph = graph_of(given)
        if graph is None:
            return wrap(compute(*map(np.asarray, given))[0])
        kind = ArrayKind("WriteSummary", compute, lambda _: [TRUTH], effect=True)
        made = graph.add(kind, [graph.owned(x) for x in given], name=name).outputs[0]
        graph.add_to_collection(OLD_OPERATIONS, made)
    return dressed(made)


def _nothing(name: str) -> TfTensor:
    """Say that nothing was written."""
    with name_scope(name):
        return convert(False)


def write(
    tag: str, tensor: object, step: object = None, metadata: object = None, name: str | None = None
) -> TfTensor:
    """Write a tensor, with what says how it is shown."""
    label = name or "write_summary"
    if NOW.writer is None:
        return _nothing(label)
    found = tensor() if callable(tensor) and not hasattr(tensor, "spec") else tensor
    given = SummaryMetadata() if metadata is None else metadata
    data = given.SerializeToString() if isinstance(given, SummaryMetadata) else given

    def make(x: Array, data: Array) -> dict[str, object]:
        shown = SummaryMetadata.FromString(np.asarray(data).item())
        return {"summary": s.of_tensor(tag, np.asarray(x), shown)}

    return put([found, data], step, make, label)


def written(
    name: str, data: object, step: object, shown: object, make: Callable[[Array], Array]
) -> TfTensor:
    """Write what a function makes of an array, with what says how it is shown."""
    tag = tag_of(name)
    return put([data], step, lambda x: {"summary": s.of_tensor(tag, make(np.asarray(x)), shown)})


def scalar(
    name: str, data: object, step: object = None, description: str | None = None
) -> TfTensor:
    """Write a number."""
    shown = s.metadata("scalars", s.SCALARS, description or "")

    def make(array: Array) -> Array:
        if array.ndim:
            raise InvalidArgumentError(f"Expected a scalar for {name!r}, got {array.shape}")
        return array.astype(np.float32)

    return written(name, data, step, shown, make)


def histogram(
    name: str, data: object, step: object = None, buckets: int | None = None,
    description: str | None = None,
) -> TfTensor:  # fmt: skip
    """Write the distribution of numbers."""
    count = 30 if buckets is None else int(buckets)
    shown = s.metadata("histograms", s.TENSORS, description or "")
    return written(name, data, step, shown, lambda x: s.even_histogram(x, count))


def image(
    name: str,
    data: object,
    step: object = None,
    max_outputs: int = 3,
    description: str | None = None,
) -> TfTensor:
    """Write images: batch, height, width, channels; floats are between 0 and 1."""
    shown = s.metadata("images", s.BLOBS, description or "")

    def make(array: Array) -> Array:
        if array.ndim != 4:
            raise InvalidArgumentError(f"Tensor must be 4-D, not {list(array.shape)}: {name!r}")
        if array.dtype.kind == "f":
            array = np.clip(np.floor(array.astype(np.float32) * 255.999), 0, 255)
        pictures = [png_bytes(each.astype(np.uint8)) for each in array[: int(max_outputs)]]
        sizes = [b"%d" % array.shape[2], b"%d" % array.shape[1]]
        made = np.empty(2 + len(pictures), object)
        made[:] = [*sizes, *pictures]
        return made

    return written(name, data, step, shown, make)


def text(name: str, data: object, step: object = None, description: str | None = None) -> TfTensor:
    """Write texts."""
    return written(name, data, step, s.metadata("text", s.TENSORS, description or ""), lambda x: x)


def audio(
    name: str,
    data: object,
    sample_rate: Any,
    step: object = None,
    max_outputs: int = 3,
    encoding: str | None = None,
    description: str | None = None,
) -> TfTensor:
    """Write sounds: batch, frames, channels."""
    if encoding not in (None, "wav"):
        raise ValueError(f"Unknown encoding: {encoding!r}")
    rate = float(sample_rate)

    def make(array: Array) -> Array:
        found = array[: int(max_outputs)]
        made = np.empty((len(found), 2), object)
        for i, each in enumerate(found):
            made[i, 0], made[i, 1] = s.sound(each, rate), b""
        return made

    return written(name, data, step, s.metadata("audio", s.BLOBS, description or ""), make)


def graph(graph_data: object) -> TfTensor:
    """Write a graph."""
    if STATE.context is not None:
        raise ValueError("graph() cannot be invoked inside a graph context.")
    found = graph_message(graph_data) if isinstance(graph_data, Graph) else graph_data
    if not isinstance(found, Message | GraphDef):
        raise ValueError(
            "Argument 'graph_data' is not tf.Graph or tf.compat.v1.GraphDef. Received graph_data="
            f"{graph_data} of type {type(graph_data).__name__}."
        )
    data = (found if isinstance(found, Message) else found.message).SerializeToString()
    return put([], 0, lambda: {"graph_def": data})


def write_raw_pb(tensor: object, step: object = None, name: str | None = None) -> TfTensor:
    """Write a summary that is given as bytes."""

    def make(given: Array) -> dict[str, object]:
        made = Summary()
        for at, data in enumerate(np.ravel(np.asarray(given, object)).tolist()):
            if not add_bytes(made, data):
                raise DataLossError(
                    f"Bad tf.compat.v1.Summary binary proto tensor string at index {at}"
                )
        return {"summary": made}

    return put([tensor], step, make, name or "write_raw_pb")


def flush(writer: Any = None, name: str | None = None) -> Any:
    """Let what was written reach the file of a writer, or of the present one."""
    found = NOW.writer if writer is None else writer
    if found is None:
        return no_op()
    if not isinstance(found, SummaryWriter):
        raise ValueError(f"Invalid argument to flush(): {found!r}")
    return found.flush()


@contextmanager
def summary_scope(
    name: str, default_name: str = "summary", values: object = None
) -> Iterator[tuple[str, str]]:
    """Give the tag of a summary, and the scope of its operations."""
    label = name or default_name
    tag = tag_of(label)
    with name_scope(re.sub(r"[^-/\w.]", "", label) or default_name) as scope:
        yield tag, scope


def _outside_graphs(in_function: str, in_graph: str) -> bool:
    """Say whether code runs at once; warn if it does not."""
    if STATE.context is not None:
        LOGGER.warning(in_function if isinstance(STATE.context, FuncGraph) else in_graph)
    return STATE.context is None


def trace_on(graph: bool = True, profiler: bool = False, profiler_outdir: object = None) -> None:
    """Begin to take note of the functions that are called; with `profiler`, of what takes time."""
    if not _outside_graphs(
        "Cannot enable trace inside a tf.function.", "Must enable trace in eager mode."
    ):
        return
    CALLED.graphs = {} if graph else None
    if profiler and profiler_outdir is None:
        LOGGER.warning("No `profiler_outdir` passed to trace_on(). Profiler won't be enabled.")
    elif profiler:
        profiles.start(str(profiler_outdir))


def trace_off() -> None:
    """Take no note of functions any more, nor of what takes time."""
    CALLED.graphs = None
    if profiles.RUNNING.trace is not None:
        profiles.stop(save=False)


def trace_export(name: str, step: object = None, profiler_outdir: object = None) -> None:
    """Write the graphs of the functions that were called since `trace_on`, and the profile."""
    if not _outside_graphs(
        "Cannot export trace inside a tf.function.",
        "Can only export trace while executing eagerly.",
    ):
        return
    if CALLED.graphs is None and profiles.RUNNING.trace is None:
        raise ValueError("Must enable trace before export through tf.summary.trace_on.")
    found: list[FuncGraph] = list(CALLED.graphs or ())
    CALLED.graphs = None
    if profiles.RUNNING.trace is not None:
        profiles.stop()
    if not found:
        return
    run = RunMetadata()
    for each in found:
        message = graph_message(each)
        functions = run.function_graphs.add()
        functions.pre_optimization_graph.CopyFrom(message)
        functions.post_optimization_graph.CopyFrom(message)
        functions.partition_graphs.add().CopyFrom(message)
    shown = s.metadata("graph_run_metadata_graph", content=b"1")
    data = np.empty((), object)
    data[()] = run.SerializeToString()
    put([], step, lambda: {"summary": s.of_tensor(name, data, shown)})


def all_v2_summary_ops() -> list[object]:
    """Return the operations of the default graph that write summaries."""
    return get_default_graph().get_collection(OLD_OPERATIONS)
