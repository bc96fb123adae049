"""Values that stay in a session between its steps, by handles."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from itertools import count

import numpy as np

from ....ir.types.tensor import Array, TensorSpec
from ...graph.frame import Frame, OutsideError, Store
from ...graph.graph import Graph, GraphTensor, Kind, Operation
from ...graph.kinds import Placeholder
from ...values.context import entered
from ...values.dtypes import DTypeLike
from ...values.run_errors import InvalidArgumentError
from ...values.texts import TEXT
from ..core.bridge import TfTensor, dressed
from ..core.element_types import TfDataType
from ..core.host_ops import text
from ..core.values import shape_spec

NUMBERS = count()
TEXT_SPEC = TensorSpec(TEXT, ())


class Keep(Kind):
    """Lets a value stay in the session, and gives its handle."""

    type = "GetSessionHandle"
    stateful = True
    waits = True

    def infer(
        self, specs: Sequence[TensorSpec], attributes: dict[str, object]
    ) -> Sequence[TensorSpec]:
        """Return the spec of a text."""
        return [TEXT_SPEC]

    def run(self, frame: Frame, op: Operation, inputs: Sequence[object]) -> Sequence[object]:
        """Put the value into the store."""
        if frame.is_staging:
            raise OutsideError("a value that stays in the session")
        handle = f"{op.name};{next(NUMBERS)};{frame.device}"
        frame.store.kept[handle] = np.array(inputs[0])
        return [text(handle.encode())]

    def gradient(self, op: Operation, grads: Sequence[object], emit: object) -> Sequence[object]:
        """Return nothing: what stays is taken by another step."""
        return (None,) * len(op.inputs)


class Take(Keep):
    """Gives the value of a handle."""

    type = "GetSessionTensor"

    def infer(
        self, specs: Sequence[TensorSpec], attributes: dict[str, object]
    ) -> Sequence[TensorSpec]:
        """Return the element type that was said; a handle tells no shape."""
        spec = attributes["spec"]
        assert isinstance(spec, TensorSpec)
        return [spec]

    def run(self, frame: Frame, op: Operation, inputs: Sequence[object]) -> Sequence[object]:
        """Look the value up."""
        if frame.is_staging:
            raise OutsideError("a value that stays in the session")
        found = value_of(frame.store, np.asarray(inputs[0]).item())
        wanted = op.outputs[0].spec.dtype
        if found.dtype != wanted.numpy:
            raise InvalidArgumentError(
                f"the value of the handle is of {found.dtype.name}, expected {wanted}"
            )
        return [found]


class Forget(Keep):
    """Lets the value of a handle go."""

    type = "DeleteSessionTensor"

    def infer(
        self, specs: Sequence[TensorSpec], attributes: dict[str, object]
    ) -> Sequence[TensorSpec]:
        """Return nothing."""
        return []

    def run(self, frame: Frame, op: Operation, inputs: Sequence[object]) -> Sequence[object]:
        """Take it out of the store."""
        if frame.is_staging:
            raise OutsideError("a value that stays in the session")
        forget(frame.store, np.asarray(inputs[0]).item())
        return []


def value_of(store: Store, handle: bytes | str) -> Array:
    """Return the value of a handle, or raise if there is none."""
    name = handle.decode() if isinstance(handle, bytes) else handle
    if name not in store.kept:
        raise InvalidArgumentError(f"The tensor with handle '{name}' is not in the session store.")
    return store.kept[name]


def forget(store: Store, handle: bytes | str) -> None:
    """Let the value of a handle go, or raise if there is none."""
    value_of(store, handle)
    del store.kept[handle.decode() if isinstance(handle, bytes) else handle]


class TensorHandle:
    """A value that stays in a session as long as the handle does."""

    def __init__(self, handle: object, dtype: TfDataType, store: Store) -> None:
        assert isinstance(handle, bytes), "a session keeps a value by a text"
        self.handle, self.dtype, self.store = handle.decode(), dtype, store
        self._end = weakref.finalize(self, store.kept.pop, self.handle, None)

    def __str__(self) -> str:
        return self.handle

    def get_raw_handle(self) -> str:
        """Return the text by which the value is known; it stays until it is deleted by that."""
        self._end.detach()
        return self.handle

    def eval(self) -> Array | np.generic:
        """Return the value."""
        found = value_of(self.store, self.handle)
        return found if found.ndim else found[()]

    def delete(self) -> None:
        """Let the value go."""
        forget(self.store, self.handle)
        self._end.detach()


def get_session_handle(data: object, name: str | None = None) -> TfTensor:
    """Return what gives the handle of a value, which stays in the session that runs it."""
    if not isinstance(data, GraphTensor):
        raise TypeError("`data` must be of type Tensor.")
    with entered(data.graph):
        return dressed(data.graph.add(Keep(), [data], name=name).outputs[0])


def held(graph: Graph, dtype: DTypeLike, name: str | None = None) -> tuple[GraphTensor, TfTensor]:
    """Return what a handle is fed for, and the value of that handle."""
    with entered(graph):
        holder = graph.add(Placeholder(), (), {"spec": TEXT_SPEC}).outputs[0]
        spec = shape_spec(dtype, None)
        taken = graph.add(Take(), [holder], {"spec": spec}, name=name)
        return holder, dressed(taken.outputs[0])


def forgotten(graph: Graph, name: str | None = None) -> tuple[GraphTensor, Operation]:
    """Return what a handle is fed for, and what lets its value go."""
    with entered(graph):
        holder = graph.add(Placeholder(), (), {"spec": TEXT_SPEC}).outputs[0]
        return holder, graph.add(Forget(), [holder], name=name)
