"""`Writer`: what rules append nodes to; it knows the element type of every value.

An operator that does not take an element type is given a wider one, and its result is converted
back. What depends on stored tensors only is computed while it is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeAlias, TypeVar

import numpy as np
from onnx import defs, helper
from xdsl.ir import Operation, SSAValue

from ....ir import Array, Dim, DType, TensorSpec
from ....ir.types import dtypes as d
from ....ir.types.values import Spec, value_spec
from ..file.data import DTYPES
from .extents import Extents, NotWritableError

OPSET = 21
"""The version of the operator set that is written where it has all that it takes."""
NEWEST = max(OPSET, min(defs.onnx_opset_version(), 28))
"""The one that is written where it has not: newer operators, and element types."""

CODES: dict[DType, int] = {dtype: code for code, dtype in DTYPES.items()}
TYPES: dict[DType, str] = {
    dtype: f"tensor({helper.tensor_dtype_to_string(code).removeprefix('TensorProto.').lower()})"
    for dtype, code in CODES.items()
}
WIDER: dict[DType, tuple[DType, ...]] = {
    d.bf16: (d.f32, d.f64),
    d.f16: (d.f32, d.f64),
    d.f32: (d.f64,),
    d.i8: (d.i32, d.i64),
    d.u8: (d.i32, d.i64),
    d.i16: (d.i32, d.i64),
    d.u16: (d.i32, d.i64),
    d.i32: (d.i64,),
    d.u32: (d.i64,),
    d.bool_: (d.u8, d.i32),
}
"""The types that hold all values of another one."""


Value: TypeAlias = tuple[str, Spec]
"""Name and type of an input or an output."""


@dataclass
class Graph:
    """A graph inside of a node."""

    name: str
    nodes: list[NodeText]
    inputs: list[Value]
    outputs: list[Value]


Written = TypeVar("Written")


@dataclass
class NodeText:
    """One node to be written."""

    op_type: str
    inputs: list[str]
    outputs: list[str]
    attributes: dict[str, Any]
    label: str = ""


@dataclass
class Names:
    """Names that are different from each other."""

    taken: set[str] = field(default_factory=set)
    counts: dict[str, int] = field(default_factory=dict)

    def fresh(self, stem: str) -> str:
        """Return a new name like this one."""
        name = stem
        while name in self.taken or not name:
            count = self.counts[stem] = self.counts.get(stem, 0) + 1
            name = f"{stem}_{count}"
        self.taken.add(name)
        return name


class Writer:
    """Appends nodes, and knows the name and type of every value."""

    def __init__(self, weights: Mapping[str, Array], opset: int = OPSET) -> None:
        self.weights, self.opset = weights, opset
        self.names, self.labels = Names(), Names()
        self.nodes: list[NodeText] = []
        self.head: list[NodeText] = []
        """Nodes that compute dimensions; they come first."""
        self.initializers: dict[str, Array] = {}
        self.types: dict[str, DType] = {}
        self.values: dict[SSAValue, str] = {}
        self.arrays: dict[SSAValue, Array] = {}
        """Values that are known, stored when something asks for their names."""
        self.stems: dict[SSAValue, str] = {}
        """What the initializers of known values are called."""
        self.extents = Extents(self)
        self.label = ""
        self._constants: dict[tuple[DType, tuple[int, ...], bytes], str] = {}

    # Values.

    def name(self, value: SSAValue) -> str:
        """Return the name of a value; one that is known becomes an initializer."""
        found = self.values.get(value)
        if found is None:
            stem = self.stems.get(value) or value.name_hint or "constant"
            found = self.values[value] = self.store(self.arrays[value], stem)
        return found

    def forget(self, value: SSAValue) -> None:
        """Let a value have no name, and not be known."""
        self.values.pop(value, None)
        self.arrays.pop(value, None)

    def store(self, array: Array, stem: str = "constant") -> str:
        """Return the name of an initializer; equal small ones are one."""
        dtype = d.of_numpy(array.dtype)
        if dtype not in CODES or dtype.kind == "c":
            raise NotWritableError(f"ONNX has no tensors of {dtype}")
        is_small = array.size <= 16 and not dtype.is_text
        key = (dtype, array.shape, array.tobytes()) if is_small else None
        if key is not None and key in self._constants:
            return self._constants[key]
        name = self.names.fresh(stem)
        self.initializers[name], self.types[name] = array, dtype
        if key is not None:
            self._constants[key] = name
        return name

    def number(self, value: float, dtype: DType) -> str:
        """Return a constant without axes."""
        return self.store(np.array(value).astype(dtype.numpy))

    def like(self, value: float, other: str) -> str:
        """Return a constant without axes of another value's type."""
        return self.number(value, self.types[other])

    def integers(self, values: Sequence[Dim]) -> str:
        """Return a vector of i64, which may be dimensions."""
        return self.extents.vector(values)

    def cast(self, x: str, dtype: DType) -> str:
        """Return a value converted, or itself if it has the type."""
        if self.types[x] == dtype:
            return x
        if dtype not in CODES or "c" in (dtype.kind, self.types[x].kind):
            raise NotWritableError(f"ONNX cannot convert {self.types[x]} to {dtype}")
        more = {"saturate": 0} if dtype.is_narrow_float and dtype.bits == 8 else {}
        return str(self.node("Cast", x, dtype=dtype, to=CODES[dtype], **more))

    # Nodes.

    def node(
        self, op_type: str, *inputs: str, outputs: int = 1, dtype: DType | None = None, **more: Any
    ) -> Any:
        """Append a node; return its output's name, or a tuple of several.

        An input left out is an empty name. `dtype` is the type of outputs that the operator's
        definition leaves open.
        """
        forms = _forms(op_type, self.opset)
        given, wide = self._fitting(op_type, forms, inputs)
        stem = f"{self.label or op_type}"
        made = [self.names.fresh(f"{stem}:{i}" if i else stem) for i in range(outputs)]
        label = self.labels.fresh(self.label or op_type)
        self.nodes.append(NodeText(op_type, given, made, more, label))
        results = []
        for index, name in enumerate(made):
            form = forms.outputs[min(index, len(forms.outputs) - 1)]
            found, back = wide.get(form, (None, None))
            self.types[name] = found or forms.only(form) or dtype or self._undefined(op_type)
            results.append(self.cast(name, back) if back else name)
        return results[0] if outputs == 1 else tuple(results)

    def same(self, x: str) -> str:
        """Return another name for a value of any kind."""
        name = self.names.fresh(x)
        self.types[name] = self.types[x]
        self.append("Identity", [x], [name])
        return name

    def names_for(self, op: Operation) -> list[str]:
        """Return new names for the results of an operation."""
        found = []
        for result in op.results:
            name = self.names.fresh(result.name_hint or self.label or op.name)
            self.types[name] = self.dtype(result)
            found.append(name)
        return found

    def append(self, op_type: str, inputs: list[str], outputs: list[str], **more: Any) -> None:
        """Append a node whose outputs have names and types already."""
        label = self.labels.fresh(self.label or op_type)
        self.nodes.append(NodeText(op_type, inputs, outputs, more, label))

    @staticmethod
    def _undefined(op_type: str) -> DType:
        raise AssertionError(f"the type of {op_type}'s output is not given")

    def _fitting(
        self, op_type: str, forms: Forms, inputs: Sequence[str]
    ) -> tuple[list[str], dict[str, tuple[DType, DType | None]]]:
        """Return inputs of types that the operator takes; and for each type what it is now.

        With each comes the type that results are to be converted back to, if any.
        """
        wide: dict[str, tuple[DType, DType | None]] = {}
        given = []
        for index, name in enumerate(inputs):
            form = forms.inputs[min(index, len(forms.inputs) - 1)]
            allowed = forms.allowed.get(form)
            if not name or allowed is None:
                given.append(name)
                continue
            if form not in wide:
                wide[form] = _chosen(op_type, self.types[name], allowed)
            given.append(self.cast(name, wide[form][0]))
        return given, wide

    @contextmanager
    def inside(self) -> Iterator[list[NodeText]]:
        """Append to a new list of nodes for a while."""
        outer, self.nodes = self.nodes, []
        try:
            yield self.nodes
        finally:
            self.nodes = outer

    def attempt(self, write: Callable[[], Written]) -> Written:
        """Return what a function gives; take back the nodes of one that gives up."""
        before = len(self.nodes)
        try:
            return write()
        except NotWritableError:
            del self.nodes[before:]
            raise

    # Known values.

    def known(self, value: SSAValue) -> Array | None:
        """Return the value of a stored tensor, None of others."""
        return self.arrays.get(value)

    def dtype(self, value: SSAValue) -> DType:
        """Return the element type of a value, or of what it holds."""
        spec = value_spec(value.type)
        while not isinstance(spec, TensorSpec):
            spec = spec.element
        return spec.dtype


@dataclass(frozen=True)
class Forms:
    """What an operator's definition says of types."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    allowed: dict[str, frozenset[str]]

    def only(self, form: str) -> DType | None:
        """Return the one type that there can be, None where there are several."""
        types = self.allowed.get(form, frozenset((form,)))
        found = [dtype for dtype, text in TYPES.items() if text in types]
        return found[0] if len(types) == len(found) == 1 else None


@cache
def _forms(op_type: str, opset: int) -> Forms:
    try:
        schema = defs.get_schema(op_type, opset)
    except defs.SchemaError as error:
        raise NotWritableError(f"opset {opset} of ONNX has no {op_type}") from error
    return Forms(
        tuple(each.type_str for each in schema.inputs),
        tuple(each.type_str for each in schema.outputs),
        {c.type_param_str: frozenset(c.allowed_type_strs) for c in schema.type_constraints},
    )


def _chosen(
    op_type: str, dtype: DType, allowed: frozenset[str]
) -> tuple[DType, DType | None]:  # fmt: skip
    """Return the type that an operator is given, and the one to convert back to."""
    if TYPES.get(dtype) in allowed:
        return dtype, None
    for wider in WIDER.get(dtype, ()):
        if TYPES[wider] in allowed:
            return wider, dtype
    raise NotWritableError(f"{op_type} of ONNX does not take {dtype}")
