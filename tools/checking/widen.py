"""Write a program in f64 where it is in f32: errors of rounding go, other errors stay."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, SSAValue
from xdsl.rewriter import Rewriter

from ...ir import Program, verify
from ...ir.types.attributes import ArrayValueAttr, DTypeAttr, to_attribute
from ...ir.types.dtypes import f32, f64
from ...ir.types.tensor import Array, spec_of


def is_single(program: Program) -> bool:
    """Say whether there is anything in f32 in a program."""
    return any(_wide(value.type) != value.type for value in _values(program))


def widen(program: Program) -> Program:
    """Return a program of the level `graph` with f64 in place of each f32.

    Raises `InvalidModuleError` where an operation takes f32 only.
    """
    made = Program(
        program.module.clone(),
        {name: _wide_array(array) for name, array in program.weights.items()},
        program.source,
        program.assumed,
    )
    for value in _values(made):
        if (wide := _wide(value.type)) != value.type:
            Rewriter.replace_value_with_new_type(value, wide)
    for op in made.module.walk():
        for row in (op.properties, op.attributes):
            for name, attribute in row.items():
                row[name] = _wide(attribute)
        if isinstance(op, FuncOp):
            kind = op.function_type
            op.function_type = FunctionType.from_lists(
                [_wide(each) for each in kind.inputs], [_wide(each) for each in kind.outputs]
            )
    verify(made.module)
    return made


def _values(program: Program) -> list[SSAValue]:
    found: list[SSAValue] = []
    for op in program.module.walk():
        found += op.results
        found += [each for region in op.regions for block in region.blocks for each in block.args]
    return found


def _wide(attribute: Attribute) -> Attribute:
    """Return an attribute, or a type, with f64 in place of f32."""
    match attribute:
        case DTypeAttr() if attribute.data == f32:
            return to_attribute(f64)
        case ArrayValueAttr():
            array = attribute.data.array
            return to_attribute(_wide_array(array)) if array.dtype == np.float32 else attribute
        case ArrayAttr():
            return ArrayAttr([_wide(each) for each in attribute.data])
        case DictionaryAttr():
            return DictionaryAttr({name: _wide(each) for name, each in attribute.data.items()})
        case _:
            return _wide_type(attribute)


def _wide_type(kind: Attribute) -> Attribute:
    try:
        spec = spec_of(kind)
    except TypeError:  # no tensor
        return kind
    return spec.with_dtype(f64).type if spec.dtype == f32 else kind


def _wide_array(array: Array) -> Array:
    """Return an array in f64 if it is in f32; what stands for all of it stays one number."""
    if array.dtype != np.float32:
        return array
    if array.size > 1 and not any(array.strides):
        return np.broadcast_to(array[(0,) * array.ndim].astype(np.float64), array.shape)
    return array.astype(np.float64)
