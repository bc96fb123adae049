"""The namespaces `tf.experimental` and `tf.types.experimental`."""

from __future__ import annotations

from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np

from ...function.function import Function
from ...function.traces import ConcreteFunction
from ..arrays.names import numpy
from ..core import element_types
from ..core.bridge import Common, TfTensor
from ..core.space import Space
from ..core.values import convert
from ..data.optional import Optional
from ..extension import dispatching as _d
from ..extension.types import BatchableExtensionType, ExtensionSpec, ExtensionType
from ..ragged.names import experimental as _ragged
from ..runs.executors import function_executor_type
from ..runs.printed import AtomicFunction, FunctionType

TensorLike: TypeAlias = (
    Common | int | float | bool | str | bytes | complex | tuple  # type: ignore[type-arg]
    | list | np.ndarray | np.generic  # type: ignore[type-arg]
)  # fmt: skip
"""What becomes a tensor."""


@runtime_checkable
class TraceType(Protocol):
    """What a function is traced by in place of a value."""

    def is_subtype_of(self, other: object) -> bool:
        """Say whether all values of this are values of another one."""


@runtime_checkable
class SupportsTracingProtocol(Protocol):
    """A value that says itself what functions are traced by."""

    def __tf_tracing_type__(self, context: object) -> TraceType:
        """Return that."""


types = Space(
    "types",
    experimental=Space(
        "types.experimental",
        AtomicFunction=AtomicFunction,
        Callable=(Function, ConcreteFunction),
        ConcreteFunction=ConcreteFunction,
        FunctionType=FunctionType,
        GenericFunction=Function,
        PolymorphicFunction=Function,
        SupportsTracingProtocol=SupportsTracingProtocol,
        TensorLike=TensorLike,
        TraceType=TraceType,
    ),
)


def to_dlpack(tf_tensor: TfTensor) -> object:
    """Return a capsule by which others read a tensor's memory."""
    return tf_tensor.__dlpack__()


class Capsule:
    """A capsule as what numpy reads."""

    def __init__(self, capsule: object) -> None:
        self.capsule = capsule

    def __dlpack__(self, **options: object) -> object:
        """Return the capsule."""
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return the host."""
        return (1, 0)


def from_dlpack(dlcapsule: object) -> TfTensor:
    """Return a tensor of a capsule, or of what has memory that others may read."""
    reads = hasattr(dlcapsule, "__dlpack__")
    return convert(np.from_dlpack(dlcapsule if reads else Capsule(dlcapsule)))  # type: ignore[arg-type]


NARROW = {
    name: element_types.TYPES[name]
    for name in (
        *("float4_e2m1fn", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"),
        *("int2", "int4", "uint2", "uint4"),
    )
}
"""Element types of a few bits: they are moved and converted, nothing else."""

experimental = Space(
    "experimental",
    **NARROW,
    dlpack=Space("experimental.dlpack", from_dlpack=from_dlpack, to_dlpack=to_dlpack),
    BatchableExtensionType=BatchableExtensionType,
    ExtensionType=ExtensionType,
    ExtensionTypeSpec=ExtensionSpec,
    Optional=Optional,
    dispatch_for_api=_d.dispatch_for_api,
    dispatch_for_binary_elementwise_apis=_d.dispatch_for_binary_elementwise_apis,
    dispatch_for_unary_elementwise_apis=_d.dispatch_for_unary_elementwise_apis,
    function_executor_type=function_executor_type,
    numpy=numpy,
    unregister_dispatch_for=_d.unregister_dispatch_for,
    **_ragged,
)
