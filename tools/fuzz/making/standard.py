"""A rule for every operator: a test case of the standard's, between moves that cancel out."""

from __future__ import annotations

import warnings
from functools import cache, partial
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from ....ir import Array
from .elementwise import Rule, needs
from .maker import DIGITS, OPSET, Grower, Value

LARGEST = 4096
"""Elements that the inputs of a case may have."""
DOUBTED = {
    "test_maxunpool_export_with_output_shape",
    "test_resize_downsample_scales_linear_align_corners",
    "test_resize_downsample_scales_cubic_align_corners",
    "test_mvn",
}
"""Cases for which onnxruntime gives other results than the standard.

Of equal elements, `test_mvn` has the root of a variance that cancelled to below zero there.
"""
SIZED = ("Resize", "Upsample")
"""Whose floats behind the first operand say sizes: as data they would leave these open."""
DRAWN = ("Random", "Bernoulli", "Multinomial", "Dropout")


@cache
def cases() -> tuple[Any, ...]:
    """Return the cases of single operators that take and give arrays, made once."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # the standard overflows on purpose
        from onnx.backend.test.loader import load_model_tests

        return tuple(case for case in load_model_tests(kind="node") if fits(case))


def fits(case: Any) -> bool:
    """Say whether a case has one set of small arrays and operators that draw nothing."""
    model = case.model
    if case.name in DOUBTED or model is None or not case.data_sets:
        return False
    if len(model.graph.node) > 8 or model.functions:
        return False
    if any(each.domain or each.version > OPSET for each in model.opset_import):
        return False
    if any(node.op_type.startswith(DRAWN) for node in model.graph.node):
        return False
    inputs, outputs = case.data_sets[0]
    arrays = [*inputs, *outputs]
    return all(is_plain(each) for each in arrays) and bool(inputs) and _size(inputs) < LARGEST


def is_plain(each: Any) -> bool:
    """Say whether this is an array of a type that graphs are grown of."""
    made = numpy_helper.to_array(each) if isinstance(each, onnx.TensorProto) else each
    if not isinstance(made, np.ndarray | np.generic):
        return False
    return made.dtype.name in DIGITS or (
        made.dtype.kind in "iub" and made.dtype.itemsize in (1, 2, 4, 8)
    )


def _size(arrays: list[Any]) -> int:
    return sum(numpy_array(each).size for each in arrays)


def numpy_array(each: Any) -> Array:
    """Return an array of a case."""
    return numpy_helper.to_array(each) if isinstance(each, onnx.TensorProto) else np.asarray(each)


def moved(maker: Grower, array: Array) -> Value:
    """Return an array as an input that was moved, and moved back."""
    dtype = array.dtype.name
    if dtype not in DIGITS or not array.ndim or maker.chance(0.2):
        return maker.constant(array)
    most = _most(array)
    order = list(range(array.ndim))
    if maker.chance(0.5):
        maker.random.shuffle(order)
    there = np.ascontiguousarray(array.transpose(order))
    value = maker.input(dtype, [maker.fixed(size) for size in there.shape], there)
    back = [order.index(axis) for axis in range(array.ndim)]
    shape = tuple(map(maker.fixed, array.shape))
    return maker.append("Transpose", [value], [shape], most=most, step=0.0, noise=1e-6, perm=back)


def _most(array: Array) -> float:
    wide = np.abs(array.astype(np.float64))
    finite = wide[np.isfinite(wide)]
    needs(finite.size == wide.size)
    return max(float(finite.max()), 1.0) if finite.size else 1.0


def standard(maker: Grower, x: Value) -> Value:
    """Return the first result of a case, for whatever value."""
    del x
    needs(maker.outer is None)
    case = maker.choose(cases())
    inputs, outputs = case.data_sets[0]
    graph = case.model.graph
    names = {"": ""}
    sizes = {name for n in graph.node if n.op_type in SIZED for name in n.input[1:]}
    for declared, each in zip(graph.input, inputs, strict=False):
        given = maker.constant if declared.name in sizes else partial(moved, maker)
        names[declared.name] = given(numpy_array(each)).name
    for tensor in graph.initializer:
        names[tensor.name] = maker.constant(numpy_helper.to_array(tensor)).name
    copied = []
    for node in graph.node:
        needs(not any(a.HasField("g") for a in node.attribute))
        new = onnx.NodeProto.FromString(node.SerializeToString())
        for name in node.output:
            names.setdefault(name, maker.fresh())
        for field, given in ((new.input, node.input), (new.output, node.output)):
            del field[:]
            field.extend(names[name] for name in given)
        copied.append(new)
    needs(_version_fits(case.model))
    maker.nodes += copied
    made = [
        result(maker, names[declared.name], numpy_array(each))
        for declared, each in zip(graph.output, outputs, strict=False)
    ]
    maker.values += made[1:]
    return made[0]


def result(maker: Grower, name: str, array: Array) -> Value:
    """Return a result of a case: floats are rounded in ways that only the case knows."""
    is_float = array.dtype.name in DIGITS
    most = _most(array)
    step, noise = (0.0, 2e-3 * most) if is_float else (1.0, 0.0)
    shape = tuple(map(maker.fixed, array.shape))
    return Value(name, array.dtype.name, shape, most, step, noise, single=False)


def _version_fits(model: onnx.ModelProto) -> bool:
    """Say whether the operators mean the same in the version that graphs are grown in."""
    version = next(each.version for each in model.opset_import if not each.domain)
    kinds = [(node.op_type, onnx.defs.get_schema) for node in model.graph.node]
    return all(
        get(kind, version, "").since_version == get(kind, OPSET, "").since_version
        for kind, get in kinds
    )


RULES: tuple[Rule, ...] = (standard,)
