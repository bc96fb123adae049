"""Summaries of the first version: operations that give them, and what writes them."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Self
from weakref import WeakKeyDictionary

import numpy as np

from ....ir.op import Array
from ...data.host import ArrayKind
from ...formats import summaries as s
from ...formats.events import EventFile
from ...formats.messages import Event, GraphDef, MetaGraph, Summary, SummaryMetadata
from ...function.function import init_scope
from ...graph.graph import Graph
from ...values.context import STATE
from ...values.run_errors import InvalidArgumentError
from ..core.bridge import TfTensor, dressed, wrap
from ..core.host_ops import SCALAR_TEXT, text
from ..core.names import name_scope
from ..core.values import InGraph, convert, graph_of, path_of
from ..graph.state import get_default_graph
from ..io.pictures import png_bytes
from ..io.records import tf_record_iterator
from ..ops.array_ops import expand_dims
from ..runs.graph_messages import graph_message
from ..train.savers import get_global_step
from . import second

SUMMARIES = "summaries"


@contextmanager
def scoped(name: str, family: str | None) -> Iterator[tuple[str, str]]:
    """Enter the scope of a summary; give its tag and the name of its operation."""
    clean = re.sub(r"[^-/\w.]", "_", name).lstrip("/")
    with name_scope(clean if family is None else f"{family}/{clean}") as scope:
        tag = scope.rstrip("/")
        yield (tag if family is None else f"{family}/{tag}"), scope


def added(
    type_: str, name: str, tensor: object, make: Callable[[str, Array], Any], collections: object,
    family: str | None = None,
) -> TfTensor:  # fmt: skip
    """Return a summary of a tensor: in a graph an operation that gives it, else the summary."""
    graph = graph_of([tensor])
    with InGraph(graph), scoped(name, family) as (tag, scope):
        value = convert(tensor)

        def compute(array: Array) -> tuple[Array]:
            return (text(make(tag, array).SerializeToString()),)

        if graph is None:
            return wrap(compute(np.asarray(value))[0])
        kind = ArrayKind(type_, compute, lambda _: [SCALAR_TEXT])
        made = graph.add(kind, [graph.owned(value)], name=scope).outputs[0]
    collect(made, collections)
    return dressed(made)


def collect(summary: Any, collections: Any) -> None:
    """Put a summary into lists of the graph."""
    for each in [SUMMARIES] if collections is None else collections:
        summary.graph.add_to_collection(each, summary)


def goes_to_writer() -> bool:
    """Say whether a writer of the second version is entered, with a step: it gets summaries then.

    That is so in eager code and in functions which that calls.
    """
    with init_scope():
        if STATE.context is not None:
            return False
    missing = (
        "default summary writer not found"
        if second.NOW.writer is None
        else "global step not set"
        if _step() is None
        else ""
    )
    if missing:
        warnings.warn(
            f"Cannot activate TF2 compatibility support for TF1 summary ops: {missing}.",
            stacklevel=3,
        )
    return not missing


def _step() -> object:
    return get_global_step() if second.NOW.step is None else second.NOW.step


def sent(
    write: Callable[..., object], name: str, family: str | None, data: object, **options: object
) -> TfTensor:
    """Let a function of the second version write, and return what merges with summaries."""
    with scoped(name, family) as (tag, _), name_scope(""):
        write(tag, data, step=_step(), **options)
    return convert(b"")


def scalar(
    name: str, tensor: object, collections: object = None, family: str | None = None
) -> TfTensor:
    """Return a summary of one number."""
    if goes_to_writer():
        return sent(second.scalar, name, family, tensor)

    def make(tag: str, array: Array) -> object:
        if array.size != 1:
            raise InvalidArgumentError(f"a scalar summary of {array.size} elements: {tag}")
        return Summary(value=[Summary.Value(tag=tag, simple_value=float(array.reshape(-1)[0]))])

    return added("ScalarSummary", name, tensor, make, collections, family)


def histogram(
    name: str, values: object, collections: object = None, family: str | None = None
) -> TfTensor:
    """Return a summary of the distribution of numbers."""
    if goes_to_writer():
        return sent(second.histogram, name, family, values)

    def make(tag: str, array: Array) -> object:
        found = s.histogram(s.checked(array, tag, "histogram"))
        return Summary(value=[Summary.Value(tag=tag, histo=found)])

    return added("HistogramSummary", name, values, make, collections, family)


def image(
    name: str,
    tensor: object,
    max_outputs: int = 3,
    collections: object = None,
    family: str | None = None,
) -> TfTensor:
    """Return a summary of images: batch, height, width, channels."""
    if goes_to_writer():
        return sent(second.image, name, family, tensor, max_outputs=max_outputs)

    def make(tag: str, array: Array) -> object:
        if array.ndim != 4 or array.shape[3] not in (1, 3, 4):
            raise InvalidArgumentError(
                f"Tensor must be 4-D with last dim 1, 3, or 4, not {list(array.shape)}"
            )
        made, count = Summary(), min(max_outputs, len(array))
        for i in range(count):
            height, width, channels = array.shape[1:]
            label = f"{tag}/image" if max_outputs == 1 else f"{tag}/image/{i}"
            value = made.value.add(tag=label).image
            value.height, value.width, value.colorspace = height, width, channels
            value.encoded_image_string = png_bytes(s.as_bytes_image(array[i]))
        return made

    return added("ImageSummary", name, tensor, make, collections, family)


def audio(
    name: str,
    tensor: object,
    sample_rate: Any,
    max_outputs: int = 3,
    collections: object = None,
    family: str | None = None,
) -> TfTensor:
    """Return a summary of sounds: batch, frames, and channels if there are several."""
    if goes_to_writer():
        found = convert(tensor)
        found = expand_dims(found, 2) if found.shape.rank == 2 else found
        return sent(
            second.audio, name, family, found, sample_rate=sample_rate, max_outputs=max_outputs
        )
    if np.ndim(sample_rate):
        raise InvalidArgumentError("sample_rate must be a scalar")
    rate = float(sample_rate)

    def make(tag: str, array: Array) -> object:
        found, made = array.reshape(*array.shape[:2], -1), Summary()
        for i in range(min(max_outputs, len(found))):
            label = f"{tag}/audio" if max_outputs == 1 else f"{tag}/audio/{i}"
            value = made.value.add(tag=label).audio
            value.sample_rate, value.content_type = rate, "audio/wav"
            value.length_frames, value.num_channels = found.shape[1:]
            value.encoded_audio_string = s.sound(found[i], rate)
        return made

    return added("AudioSummaryV2", name, tensor, make, collections, family)


def tensor_summary(
    name: str,
    tensor: object,
    summary_description: object = None,
    collections: object = None,
    summary_metadata: object = None,
    family: str | None = None,
    display_name: str | None = None,
) -> TfTensor:
    """Return a summary of a tensor, with what says how it is shown."""
    shown = SummaryMetadata()
    if summary_metadata is not None:
        shown.CopyFrom(summary_metadata)
    if display_name is not None:
        shown.display_name = display_name
    if summary_description is not None:
        shown.summary_description = summary_description

    def make(tag: str, array: Array) -> object:
        return s.of_tensor(tag, array, shown)

    return added("TensorSummaryV2", name, tensor, make, collections, family)


def text_summary(name: str, tensor: object, collections: object = None) -> TfTensor:
    """Return a summary of texts."""
    found = convert(tensor)
    if found.dtype.name != "string":
        raise ValueError(f"Expected tensor {found.dtype.name} to have dtype string")
    if goes_to_writer():
        second.text(name, found, step=_step())
        return convert(b"")
    return tensor_summary(name, found, None, collections, s.metadata("text"))


def _require_graph() -> None:
    if STATE.context is None:
        raise RuntimeError(
            "Merging tf.summary.* ops is not compatible with eager execution. Use "
            "tf.contrib.summary instead."
        )


def merge(
    inputs: Sequence[object], collections: object = None, name: str | None = None
) -> TfTensor:
    """Return several summaries as one."""
    _require_graph()
    graph = get_default_graph()
    with InGraph(graph):
        tensors = [graph.owned(convert(each)) for each in inputs]
        label = re.sub(r"[^-/\w.]", "_", name or "Merge/MergeSummary")

        def compute(*arrays: Array) -> tuple[Array]:
            return (text(s.merged([x for a in arrays for x in np.ravel(a).tolist()])),)

        kind = ArrayKind("MergeSummary", compute, lambda _: [SCALAR_TEXT])
        made = graph.add(kind, tensors, name=label).outputs[0]
    collect(made, collections if collections is not None else [])
    return dressed(made)


def merge_all(key: str = SUMMARIES, scope: str | None = None, name: str | None = None) -> object:
    """Return all summaries of the graph as one, None if there are none."""
    _require_graph()
    found = get_default_graph().get_collection(key, scope)
    return merge(found, name=name) if found else None


SHARED: WeakKeyDictionary[object, dict[str, EventFile]] = WeakKeyDictionary()
"""The files that writers of a session have together, by their folders."""


class FileWriter:
    """Writes summaries, graphs and events into a file of a folder."""

    def __init__(
        self,
        logdir: object,
        graph: object = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        graph_def: object = None,
        filename_suffix: str | None = None,
        session: object = None,
    ) -> None:
        self._folder = path_of(logdir, "FileWriter")
        if graph is not None and graph_def is not None:
            raise ValueError("Please pass only graph, or graph_def (deprecated), but not both.")
        files: dict[str, EventFile] = {}
        if session is not None:  # writers of one session and one folder have a file together
            files = SHARED.setdefault(session, files)

        def opened() -> EventFile:
            if self._folder not in files or files[self._folder].is_closed:
                suffix = filename_suffix or ""
                files[self._folder] = EventFile(self._folder, max_queue, flush_secs, suffix)
            files[self._folder].writers += 1
            return files[self._folder]

        self._open: Callable[[], EventFile] = opened
        self._file: EventFile | None = self._open()
        self._shown: set[str] = set()
        given = graph if graph is not None else graph_def
        if given is not None:
            self.add_graph(given)
            self.add_meta_graph(given)

    @property
    def event_writer(self) -> FileWriter:
        """Return what writes."""
        return self

    def get_logdir(self) -> str:
        """Return the folder."""
        return self._folder

    def add_event(self, event: object) -> None:
        """Write an event; a writer that is closed warns, and does nothing."""
        if self._file is None:
            warnings.warn(
                "Attempting to use a closed FileWriter. The operation will be a noop unless the "
                "FileWriter is explicitly reopened.",
                stacklevel=3,
            )
            return
        self._file.add(event)

    def _add(self, global_step: object, **what: object) -> None:
        step = 0 if global_step is None else int(np.asarray(global_step))
        self.add_event(Event(wall_time=time.time(), step=step, **what))

    def add_summary(self, summary: Any, global_step: object = None) -> None:
        """Write a summary: a message, or the bytes that an operation gave."""
        found = summary
        if not isinstance(summary, Summary):
            data = summary if isinstance(summary, bytes) else np.asarray(summary, object).item()
            found = Summary.FromString(data)
        for value in found.value:
            if value.HasField("metadata"):
                if value.tag in self._shown:
                    value.ClearField("metadata")
                self._shown.add(value.tag)
        self._add(global_step, summary=found)

    def add_graph(
        self, graph: object, global_step: object = None, graph_def: object = None
    ) -> None:
        """Write a graph."""
        if graph is not None and graph_def is not None:
            raise ValueError("Please pass only graph, or graph_def (deprecated), but not both.")
        found = graph if graph is not None else graph_def
        if isinstance(found, Graph):
            found = graph_message(found)
        if not isinstance(found, GraphDef):
            raise TypeError(f"add_graph(): a graph was expected, got {type(found).__name__}")
        self._add(global_step, graph_def=found.SerializeToString())

    def add_meta_graph(self, meta_graph_def: object, global_step: object = None) -> None:
        """Write a graph as TensorFlow's message of one with what belongs to it: its nodes."""
        found = (
            graph_message(meta_graph_def) if isinstance(meta_graph_def, Graph) else meta_graph_def
        )
        if isinstance(found, GraphDef):
            found = MetaGraph(graph_def=found)
        if not isinstance(found, MetaGraph):
            raise TypeError(
                f"meta_graph_def of {type(found).__name__}, expected the graph or TensorFlow's "
                "message"
            )
        self._add(global_step, meta_graph_def=found.SerializeToString())

    def add_session_log(self, session_log: object, global_step: object = None) -> None:
        """Write that a session began, ended, or wrote a checkpoint."""
        self._add(global_step, session_log=session_log)

    def add_run_metadata(self, run_metadata: object, tag: str, global_step: object = None) -> None:
        """Write what is known of a run."""
        serialised = getattr(run_metadata, "SerializeToString", None)
        if serialised is None:
            raise TypeError(f"run_metadata of {type(run_metadata).__name__}, expected a message")
        self._add(global_step, tagged_run_metadata={"tag": tag, "run_metadata": serialised()})

    def flush(self) -> None:
        """Let what was written reach the file."""
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        """End the file, unless other writers of a session have it, too."""
        if self._file is not None:
            self._file.writers -= 1
            if self._file.writers:
                self._file.flush()
            else:
                self._file.close()
            self._file = None

    def reopen(self) -> None:
        """Begin a new file if the last one was ended."""
        if self._file is None:
            self._file = self._open()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def summary_iterator(path: object) -> Iterator[Any]:
    """Give the events of a file."""
    records = tf_record_iterator(path_of(path, "summary_iterator"))
    return map(Event.FromString, records)  # (which may be asked again where a file has grown)


class FileWriterCache:
    """Writers by their folders."""

    _kept: ClassVar[dict[str, FileWriter]] = {}

    @classmethod
    def get(cls, logdir: object) -> FileWriter:
        """Return the writer of a folder."""
        folder = path_of(logdir, "FileWriterCache")
        if folder not in cls._kept:
            cls._kept[folder] = FileWriter(folder)
        return cls._kept[folder]

    @classmethod
    def clear(cls) -> None:
        """End all files."""
        for writer in cls._kept.values():
            writer.close()
        cls._kept.clear()
