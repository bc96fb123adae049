"""Taking the elements of datasets: at once, in functions, and in sessions."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....ir.types.dtypes import bool_, u8
from ....ir.types.tensor import Array, TensorSpec
from ...data.outside import kept_outside
from ...data.stages import Element, Run, Stage, Stream, part
from ...data.states import from_bytes, to_bytes
from ...eager.tensor import Tensor
from ...function.traces import ACTIVE
from ...graph.execute import Plan
from ...graph.frame import Frame, Store
from ...graph.func_graph import FuncGraph
from ...graph.graph import Graph, GraphTensor, Operation, spec_with_unknowns
from ...graph.kinds import Placeholder
from ...values import nest
from ...values.context import STATE
from ...values.run_errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    OpError,
    OutOfRangeError,
)
from ..core.bridge import wrap
from ..core.nested import flatten
from ..core.specs import TensorSpec as Declared
from ..core.specs import TypeSpec
from ..core.structures import (
    PartSpec,
    Pipeline,
    alike,
    classes_of,
    core_spec,
    is_below,
    numpy_packer,
    packed,
    packer,
    shapes_of,
    types_of,
)
from ..core.values import convert
from .handles import HANDLE, StoreKind, add, graph_for, with_pipeline
from .optional import Optional
from .options import ExternalStatePolicy

END = "End of sequence"
MOST_ASKED = 1000
"""How often Python may ask an iterator of a graph for its next element."""


def iterator_of(dataset: Pipeline) -> GraphIterator | EagerIterator:
    """Return an iterator over a dataset: one of the process, or one of the function's runs."""
    if isinstance(STATE.context, FuncGraph):
        return GraphIterator.within_function(dataset)
    if isinstance(STATE.context, Graph) or graph_for(dataset._stage.tensors()) is not None:
        raise RuntimeError(
            "`tf.data.Dataset` only supports Python-style iteration in eager mode or within "
            "tf.function."
        )
    return EagerIterator(dataset)


class Saveable:
    """An iterator that can be saved: its stream, and what is done about state outside of it."""

    stream: Stream
    _policy: object

    def check_state(self) -> None:
        """Refuse to save a state that does not hold all that the elements depend on."""
        policy = self._policy or ExternalStatePolicy.FAIL
        outside = None if policy is ExternalStatePolicy.IGNORE else kept_outside(self.stream.stage)
        if outside is None:
            return
        if policy is ExternalStatePolicy.FAIL:
            raise FailedPreconditionError(f"{outside} is stateful.")
        warnings.warn(f"the state of {outside} is not saved with that of an iterator", stacklevel=2)

    def checkpoint_parts(self) -> dict[str, object]:
        """Return what a checkpoint keeps."""
        return {"ITERATOR_STATE": StreamState(self)}

    def save(self) -> object:
        """Return the state, as a text."""
        self.check_state()
        return convert(to_bytes(self.stream.save()))

    def restore(self, state: object) -> None:
        """Go on from a state that `save` has given."""
        self.stream.restore(from_bytes(np.asarray(convert(state, "string")).item()))


class StreamState:
    """The state of an iterator as a leaf of checkpoints."""

    def __init__(self, iterator: Saveable) -> None:
        self.iterator = iterator

    @property
    def spec(self) -> TensorSpec:
        """Return what the state is: bytes, of a number that nobody knows before."""
        return spec_with_unknowns(u8, (None,))

    @property
    def state(self) -> StreamState:
        """Return what a checkpoint asks for the value."""
        return self

    def value_in(self, store: object) -> Array:
        """Return the state as an array of bytes."""
        self.iterator.check_state()
        return np.frombuffer(to_bytes(self.iterator.stream.save()), np.uint8)

    def assign(self, value: object) -> None:
        """Go on from a state."""
        self.iterator.stream.restore(from_bytes(np.asarray(value, np.uint8).tobytes()))


class Elements:
    """What all iterators say about their elements."""

    element_spec: object

    output_shapes = property(lambda self: shapes_of(self.element_spec))
    output_types = property(lambda self: types_of(self.element_spec))
    output_classes = property(lambda self: classes_of(self.element_spec))


class IteratorSpec(TypeSpec, nest.TensorGroup):
    """What an iterator is like that is given to a function: which elements it has."""

    def __init__(self, element_spec: object) -> None:
        self.element_spec = element_spec

    def components(self) -> list[Declared]:
        """Return the spec of the tensor that stands for it."""
        return [Declared((), "string")]

    def with_components(self, parts: Sequence[object]) -> object:
        """Return the iterator of a graph's tensor; of anything else, the description."""
        (handle,) = parts
        return GraphIterator(handle, self.element_spec) if isinstance(handle, Tensor) else self

    def described(self) -> IteratorSpec:
        """Return the description: it is one."""
        return self

    def form(self) -> Hashable:
        """Return the description: there is nothing else."""
        return self

    def takes(self, other: nest.TensorGroup) -> bool:
        """Say whether iterators that another spec describes can stand for those of this one."""
        if not isinstance(other, IteratorSpec) or not alike(self.element_spec, other.element_spec):
            return False
        return all(map(is_below, flatten(other.element_spec), flatten(self.element_spec)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IteratorSpec) and bool(self.element_spec == other.element_spec)

    def __hash__(self) -> int:
        return hash(str(self.element_spec))

    def __repr__(self) -> str:
        return f"IteratorSpec({self.element_spec!r})"


class ByHandle(nest.TensorGroup):
    """An iterator, for which a tensor stands where functions take it and give it."""

    element_spec: object
    _handle: Tensor

    def components(self) -> list[Tensor]:
        """Return the tensor that stands for it."""
        return [self._handle]

    def with_components(self, parts: Sequence[object]) -> object:
        """Return the iterator of another tensor; of anything else, what it is like."""
        return self if parts[0] is self._handle else self.described().with_components(parts)

    def described(self) -> IteratorSpec:
        """Return what it is like."""
        return IteratorSpec(self.element_spec)

    def form(self) -> Hashable:
        """Return what there is of its description besides the spec of its tensor."""
        return self.described()


class EagerIterator(Elements, Saveable, ByHandle):
    """Takes elements at once; in a function, each time that the function runs."""

    def __init__(self, dataset: Pipeline) -> None:
        self.element_spec = dataset.element_spec
        self.stream = Run(ACTIVE[-1]).open(dataset._stage)
        self._pack = packer(self.element_spec)
        self._policy = dataset.policy()
        self._handle = wrap(part(Holder(self.stream)))

    def __iter__(self) -> EagerIterator:
        return self

    def __next__(self) -> object:
        if STATE.context is not None:
            return self._in_graph().get_next()
        return self._pack(self.stream.__next__())

    next = __next__

    def get_next(self, name: str | None = None) -> object:
        """Return the next element, or raise `OutOfRangeError`."""
        if STATE.context is not None:
            return self._in_graph().get_next(name)
        try:
            return self._pack(self.stream.__next__())
        except StopIteration:
            raise OutOfRangeError(END) from None

    def get_next_as_optional(self) -> Optional:
        """Return the next element, or that there is none."""
        if STATE.context is not None:
            return self._in_graph().get_next_as_optional()
        try:
            return Optional.from_value(self._pack(self.stream.__next__()))
        except StopIteration:
            return Optional.empty(self.element_spec)

    def looped_in_graph(self) -> GraphIterator:
        """Return what a loop of a graph takes its elements from."""
        return self._in_graph()

    def next_in_graph(self) -> tuple[GraphTensor, object]:
        """Return whether there is another element, and it, each time that the graph runs."""
        return self._in_graph().next_in_graph()

    def _in_graph(self) -> GraphIterator:
        return GraphIterator(self._handle, self.element_spec)


class Holder:
    """Where a stream is: what the handle of an iterator stands for."""

    def __init__(self, stream: Stream | None = None) -> None:
        self.stream = stream

    def take(self) -> Sequence[object]:
        """Return the next element, or raise an error by TensorFlow's name."""
        if self.stream is None:
            raise FailedPreconditionError(
                "GetNext() failed because the iterator has not been initialized. Ensure that you "
                "have run the initializer operation for this iterator before getting the next "
                "element."
            )
        try:
            return self.stream.__next__()
        except StopIteration:
            raise OutOfRangeError(END) from None


def begun(run: Run, stage: Stage) -> Sequence[object]:
    """Return where a stream is that begins."""
    return (part(Holder(run.open(stage))),)


class NumpyIterator(Saveable):
    """Takes elements as arrays and numbers of numpy's."""

    def __init__(self, dataset: Pipeline) -> None:
        if STATE.context is not None:
            raise RuntimeError("as_numpy_iterator() is not supported while tracing functions")
        for spec in flatten(dataset.element_spec):
            if isinstance(spec, PartSpec) and not spec.has_numpy_value():
                spec.numpy_value(np.empty((), object))  # which says why
        self.stream = Run(ACTIVE[-1]).open(dataset._stage)
        self._policy = dataset.policy()
        self._pack = numpy_packer(dataset.element_spec)

    def __iter__(self) -> NumpyIterator:
        return self

    def __next__(self) -> object:
        return self._pack(self.stream.__next__())

    def next(self) -> object:
        """Return the next element."""
        return self.__next__()


class GraphIterator(Elements, ByHandle):
    """An iterator in a graph: `handle` stands for the stream when the graph runs."""

    def __init__(self, handle: Tensor, spec: object, initializer: Operation | None = None) -> None:
        self._handle, self.element_spec, self._initializer = handle, spec, initializer
        self._asked = 0

    @classmethod
    def within_function(cls, dataset: Pipeline) -> GraphIterator:
        """Return an iterator that begins anew in each run of the function."""
        made = with_pipeline("OneShotIterator", dataset._stage, [HANDLE], begun)
        return cls(made.outputs[0], dataset.element_spec)

    @property
    def initializer(self) -> Operation:
        """Return the operation that lets the iterator begin."""
        if self._initializer is None:
            raise ValueError("The iterator does not have an initializer.")
        return self._initializer

    def __iter__(self) -> GraphIterator:
        return self

    def __next__(self) -> object:
        self._asked += 1
        if self._asked > MOST_ASKED:
            raise ValueError(
                f"a graph asks an iterator for its next element {MOST_ASKED} times: a loop of "
                "Python's goes over it, and its end is known only when the graph runs. Let "
                "tf.function convert the loop (autograph=True)."
            )
        return self.get_next()

    def get_next(self, name: str | None = None) -> object:
        """Return the next element: tensors that are another one in each run."""
        outputs = add(next_kind(self.element_spec), [self._handle], name or "IteratorGetNext")
        return packed(self.element_spec, outputs)

    def get_next_as_optional(self) -> Optional:
        """Return the next element, or that there is none."""
        outputs = add(optional_kind(self.element_spec), [self._handle])
        return Optional(outputs[0], outputs[1:], self.element_spec)

    def looped_in_graph(self) -> GraphIterator:
        """Return what a loop of a graph takes its elements from."""
        return self

    def next_in_graph(self) -> tuple[GraphTensor, object]:
        """Return whether there is another element, and it: zeros if there was none."""
        outputs = add(optional_kind(self.element_spec), [self._handle])
        return outputs[0], packed(self.element_spec, outputs[1:])

    def string_handle(self, name: str | None = None) -> GraphTensor:
        """Return text that names the iterator: another one is made of it."""
        return add(StringHandle(), [self._handle], name)[0]

    def make_initializer(self, dataset: Pipeline, name: str | None = None) -> Operation:
        """Return an operation that lets the iterator begin with a dataset."""
        return initializer_of(self._handle, dataset, self.element_spec)


def next_kind(spec: object) -> StoreKind:
    """Return the operation that takes an element."""
    return taking([core_spec(leaf) for leaf in flatten(spec)])


def taking(specs: Sequence[TensorSpec]) -> StoreKind:
    """Return the operation that takes an element of such parts."""

    def taken(store: object, handle: Array) -> Sequence[object]:
        made: Sequence[object] = handle.item().take()
        check(made, specs)
        return made

    return StoreKind("IteratorGetNext", taken, lambda _: specs, effect=True)


def check(element: Sequence[Any], specs: Sequence[TensorSpec]) -> None:
    """Raise unless the parts of an element are what an iterator was declared for."""
    if len(element) != len(specs):
        raise InvalidArgumentError(
            f"Expected {len(specs)} components but got {len(element)} components."
        )
    for i, (array, spec) in enumerate(zip(element, specs, strict=True)):
        if spec.dtype.numpy != array.dtype:
            raise InvalidArgumentError(
                f"Data type mismatch at component {i}: expected {spec.dtype} but got {array.dtype}."
            )


def optional_kind(spec: object) -> StoreKind:
    """Return the operation that takes an element, or says that there is none."""
    return taking_if_any([core_spec(leaf) for leaf in flatten(spec)])


def taking_if_any(specs: Sequence[TensorSpec]) -> StoreKind:
    """Return the operation that takes an element of such parts, or says that there is none."""

    def taken(store: object, handle: Array) -> Sequence[object]:
        try:
            return (np.array(True), *handle.item().take())
        except OutOfRangeError:
            return (np.array(False), *map(stand_in, specs))

    return StoreKind(
        "IteratorGetNextAsOptional", taken, lambda _: [TensorSpec(bool_, ()), *specs], effect=True
    )


def stand_in(spec: TensorSpec) -> Array:
    """Return an array like those of a spec, for an element that is not there."""
    dims = [d if isinstance(d, int) else 0 for d in spec.shape or ()]
    made: Array = np.zeros(dims, spec.dtype.numpy)
    if made.dtype.kind == "O":
        made[...] = b""
    return made


class NamedIterator(StoreKind):
    """The handle of an iterator of a graph: each session has a stream of its own for it."""

    def __init__(self, shared: str) -> None:
        super().__init__("IteratorV2", self.handle, lambda _: [HANDLE])
        self.key: str | NamedIterator = shared or self

    def handle(self, store: Store) -> Sequence[Array]:
        """Return where the stream of the session is."""
        with store.lock:
            found: Holder = store.queues.setdefault(self.key, Holder())
            store.queues.setdefault(f"iterator {id(found)}", found)
        return (part(found),)


class StringHandle(StoreKind):
    """Text that names the stream of a handle in a session."""

    def __init__(self) -> None:
        super().__init__("IteratorToStringHandle", self.text, lambda _: [HANDLE])

    @staticmethod
    def text(store: Store, handle: Array) -> Sequence[Array]:
        """Return the text."""
        return (part(f"iterator {id(handle.item())}".encode()),)


class FromStringHandle(StoreKind):
    """The handle that text names."""

    def __init__(self) -> None:
        super().__init__("IteratorFromStringHandleV2", self.handle, lambda _: [HANDLE])

    @staticmethod
    def handle(store: Store, text: object) -> Sequence[Array]:
        """Return where the stream is."""
        found = store.queues.get(np.asarray(text).item().decode())
        if found is None:
            raise InvalidArgumentError(f"{text} is not the handle of an iterator of this session")
        return (part(found),)


class InitializeIterator(StoreKind):
    """Lets an iterator begin with a pipeline."""

    def __init__(self, stage: Stage, keys: Sequence[int]) -> None:
        super().__init__("MakeIterator", self.begin, lambda _: [], effect=True)
        self.stage, self.keys = stage, list(keys)

    def begin(self, store: Store, handle: Array, *values: object) -> tuple[()]:
        """Open the pipeline."""
        run = Run(store, dict(zip(self.keys, values, strict=True)))
        handle.item().stream = run.open(self.stage)
        return ()


def initializer_of(handle: Any, dataset: Pipeline, spec: object) -> Operation:
    """Return the operation that lets an iterator begin with a dataset."""
    mine, theirs = flatten(spec), flatten(dataset.element_spec)
    fits = len(mine) == len(theirs) and all(map(_fits, mine, theirs))
    if not fits:
        raise TypeError(
            f"Expected output types and shapes {spec!r} but got {dataset.element_spec!r}."
        )
    taken = [tensor for tensor in dataset._stage.tensors() if not tensor.eager]
    kind = InitializeIterator(dataset._stage, [id(tensor) for tensor in taken])
    graph: Graph = handle.graph
    return graph.add(kind, [handle, *map(graph.owned, taken)], name="MakeIterator")


def _fits(mine: Any, theirs: Any) -> bool:
    if isinstance(mine, PartSpec) or isinstance(theirs, PartSpec):
        return bool(mine == theirs)
    return bool(mine.dtype == theirs.dtype and mine.shape.is_compatible_with(theirs.shape))


def make_initializable_iterator(dataset: Pipeline, shared_name: str | None = None) -> GraphIterator:
    """Return an iterator of the graph that begins when its initializer runs."""
    if STATE.context is None and graph_for(dataset._stage.tensors()) is None:
        raise RuntimeError(
            "`make_initializable_iterator()` is not supported in eager mode. Use Python-style "
            "iteration instead."
        )
    handle = add(NamedIterator(shared_name or ""), [])[0]
    initializer = initializer_of(handle, dataset, dataset.element_spec)
    return GraphIterator(handle, dataset.element_spec, initializer)


class OneShot(NamedIterator):
    """The handle of an iterator that begins when it is used first, in each session."""

    def __init__(self, stage: Stage) -> None:
        super().__init__("")
        self.type, self.stage = "OneShotIterator", stage
        self.taken = [tensor for tensor in stage.tensors() if isinstance(tensor, GraphTensor)]
        self.plan = Plan(self.taken, [])

    def handle(self, store: Store) -> Sequence[Array]:
        """Return where the stream of the session is."""
        found = super().handle(store)
        holder: Holder = found[0].item()
        with store.lock:
            if holder.stream is None:
                holder.stream = Run(store, self.known(store)).open(self.stage)
        return found

    def known(self, store: Store) -> dict[int, object]:
        """Return the values of the tensors that the pipeline takes, which are always the same."""
        values = self.plan.run(Frame(store), []) if self.taken else []
        return {id(x): value for x, value in zip(self.taken, values, strict=True)}


def make_one_shot_iterator(dataset: Pipeline) -> EagerIterator | GraphIterator:
    """Return an iterator that begins by itself; in eager code, one like any other."""
    if STATE.context is None:
        return EagerIterator(dataset)
    kind = OneShot(dataset._stage)
    fed = [op for op in kind.plan.ops if isinstance(op.kind, Placeholder) or op.kind.stateful]
    if fed:
        raise ValueError(
            "Failed to create a one-shot iterator for a dataset: it depends on "
            f"{fed[0].name!r} ({fed[0].type}), which is not the same at all times. Use "
            "`make_initializable_iterator`."
        )
    return GraphIterator(add(kind, [])[0], dataset.element_spec)


@dataclass(frozen=True)
class Only:
    """Takes the only element of a pipeline, or raises an error."""

    missing: OpError | None = None
    is_by_place: bool = False

    def __call__(self, run: Run, stage: Stage) -> Element:
        """Take it."""
        run.is_by_place = self.is_by_place
        stream = run.open(stage)
        found = next(stream, None)
        if found is None:
            raise self.missing or InvalidArgumentError("Dataset was empty.")
        if next(stream, None) is not None:
            raise InvalidArgumentError("Dataset had more than one element.")
        return found


def single_element(
    dataset: Pipeline,
    missing: OpError | None = None,
    *,
    is_by_place: bool = False,
) -> object:
    """Return the only element of a dataset; raise `missing` where there is none."""
    specs = [core_spec(leaf) for leaf in flatten(dataset.element_spec)]
    only = Only(missing, is_by_place)
    if STATE.context is None and graph_for(dataset._stage.tensors()) is None:
        return packer(dataset.element_spec)(only(Run(ACTIVE[-1]), dataset._stage))
    made = with_pipeline("DatasetToSingleElement", dataset._stage, specs, only)
    return packed(dataset.element_spec, made.outputs)


class Iterator(GraphIterator):
    """`tf.compat.v1.data.Iterator`: iterators that are made of a structure or of a handle."""

    @staticmethod
    def from_structure(
        output_types: object,
        output_shapes: object = None,
        shared_name: str | None = None,
        output_classes: object = None,
    ) -> GraphIterator:
        """Return an iterator that begins with a dataset of this structure."""
        from .generating import spec_from_types  # noqa: PLC0415

        handle = add(NamedIterator(shared_name or ""), [])[0]
        return GraphIterator(handle, spec_from_types(output_types, output_shapes))

    @staticmethod
    def from_string_handle(
        string_handle: object,
        output_types: object,
        output_shapes: object = None,
        output_classes: object = None,
    ) -> GraphIterator:
        """Return the iterator that text names when the graph runs."""
        from .generating import spec_from_types  # noqa: PLC0415

        handle = add(FromStringHandle(), [convert(string_handle)])[0]
        return GraphIterator(handle, spec_from_types(output_types, output_shapes))


__all__ = ["EagerIterator", "GraphIterator", "Iterator", "NumpyIterator"]
