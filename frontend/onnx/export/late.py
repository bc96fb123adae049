"""Host steps: shapes that are data, selections whose size is data, texts, images, sequences.

Sizes that such a step finds out are read off its results where something else needs them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import helper

from ....ir import Op
from ....ir.types import dtypes as d
from ....ir.types.values import OptionalSpec, SequenceSpec, value_spec
from .rules import writes
from .writer import CODES, Writer

REDUCTIONS = {
    "sum": "ReduceSum", "prod": "ReduceProd", "max": "ReduceMax", "min": "ReduceMin",
    "any": "ReduceMax", "all": "ReduceMin", "mean": "ReduceMean", "logsumexp": "ReduceLogSumExp",
}  # fmt: skip


@writes("gv.read_sizes")
def read_sizes(out: Writer, op: Op, vector: str) -> Sequence[str]:
    """Note that dimensions are the elements of a vector."""
    wide = out.cast(vector, d.i64)
    for place, size in enumerate(op.plain_attributes()["sizes"]):
        out.extents.declare_element(wide, place, size)
    return ()


@writes("gv.reshape_to")
def reshape_to(out: Writer, op: Op, x: str, shape: str) -> str:
    """Write the operator itself."""
    zero = int(op.plain_attributes()["zero"])
    return str(out.node("Reshape", x, out.cast(shape, d.i64), allowzero=zero))


@writes("gv.expand_to")
def expand_to(out: Writer, op: Op, x: str, shape: str) -> str:
    """Write the operator itself."""
    return str(out.node("Expand", x, out.cast(shape, d.i64)))


@writes("gv.slice_by")
def slice_by(out: Writer, op: Op, x: str, *bounds: str) -> str:
    """Write the operator itself."""
    starts, stops, steps = (out.cast(each, d.i64) for each in bounds)
    axes = out.integers(op.plain_attributes()["axes"])
    return str(out.node("Slice", x, starts, stops, axes, steps))


@writes("gv.pad_by")
def pad_by(out: Writer, op: Op, x: str, pads: str, value: str) -> str:
    """Write the operator itself."""
    rules = op.plain_attributes()
    if op.specs[2].rank:
        value = str(out.node("Squeeze", value))
    axes = out.integers(rules["axes"])
    return str(out.node("Pad", x, out.cast(pads, d.i64), value, axes, mode=rules["mode"]))


@writes("gv.slice_along")
def slice_along(out: Writer, op: Op, x: str, *bounds: str) -> str:
    """Write the operator itself."""
    starts, stops, steps, axes = (out.cast(each, d.i64) for each in bounds)
    return str(out.node("Slice", x, starts, stops, axes, steps))


@writes("gv.pad_along")
def pad_along(out: Writer, op: Op, x: str, pads: str, value: str, axes: str) -> str:
    """Write the operator itself."""
    wide = [out.cast(each, d.i64) for each in (pads, axes)]
    mode = op.plain_attributes()["mode"]
    return str(out.node("Pad", x, wide[0], value, wide[1], mode=mode))


@writes("gv.squeeze_along")
def squeeze_along(out: Writer, op: Op, x: str, axes: str) -> str:
    """Write the operator itself."""
    return str(out.node("Squeeze", x, out.cast(axes, d.i64)))


@writes("gv.unsqueeze_along")
def unsqueeze_along(out: Writer, op: Op, x: str, axes: str) -> str:
    """Write the operator itself."""
    return str(out.node("Unsqueeze", x, out.cast(axes, d.i64)))


@writes("gv.reduce_along")
def reduce_along(out: Writer, op: Op, x: str, axes: str) -> str:
    """Write the operator itself; truths are reduced as numbers."""
    rules, dtype = op.plain_attributes(), op.specs[0].dtype
    keep, none = int(rules["keep"]), int(rules["none"])
    given = x if dtype is not d.bool_ else out.cast(x, d.u8)
    made = str(out.node(
        REDUCTIONS[rules["kind"]], given, out.cast(axes, d.i64), keepdims=keep,
        noop_with_empty_axes=none,
    ))  # fmt: skip
    return made if dtype is not d.bool_ else out.cast(made, d.bool_)


@writes("gv.resize_to")
def resize_to(out: Writer, op: Op, x: str, given: str, *regions: str) -> str:
    """Write the operator itself."""
    rules, by_sizes = op.plain_attributes(), op.specs[1].dtype.is_integer
    last = ("", out.cast(given, d.i64)) if by_sizes else (out.cast(given, d.f32),)
    more = {
        "axes": list(rules["axes"]), "mode": rules["mode"], "nearest_mode": rules["nearest"],
        "coordinate_transformation_mode": rules["coordinate"], "cubic_coeff_a": rules["cubic"],
        "exclude_outside": int(rules["exclude_outside"]), "antialias": int(rules["antialias"]),
        "extrapolation_value": rules["fill"], "keep_aspect_ratio_policy": rules["policy"],
    }  # fmt: skip
    return str(out.node("Resize", x, *(regions or ("",)), *last, **more))


@writes("gv.mel_weights")
def mel_weights(out: Writer, op: Op, *xs: str) -> str:
    """Write the operator itself, which wants numbers without axes."""
    pairs = zip(xs, op.specs, strict=True)
    given = [str(out.node("Squeeze", x)) if spec.rank else x for x, spec in pairs]
    wide = [out.cast(x, kind) for x, kind in zip(given, (*[d.i64] * 3, *[d.f32] * 2), strict=True)]
    dtype = op.plain_attributes()["dtype"]
    return str(out.node("MelWeightMatrix", *wide, dtype=dtype, output_datatype=CODES[dtype]))


@writes("gv.range_of")
def range_of(out: Writer, op: Op, *bounds: str) -> str:
    """Write the operator itself, which wants numbers without axes."""
    pairs = zip(bounds, op.specs, strict=True)
    given = [out.node("Squeeze", name) if spec.rank else name for name, spec in pairs]
    return str(out.node("Range", *given))


@writes("gv.leading")
def leading(out: Writer, op: Op, x: str, count: str) -> str:
    """Cut off what is behind the count."""
    stop = out.node("Reshape", out.cast(count, d.i64), out.integers((1,)))
    return str(out.node("Slice", x, out.integers((0,)), stop, out.integers((0,))))


@writes("gv.non_zero")
def non_zero(out: Writer, op: Op, x: str) -> str:
    """Write the operator itself; a number is a vector of one."""
    if not op.specs[0].rank:
        x = str(out.node("Reshape", x, out.integers((1,))))
    return str(out.node("NonZero", x))


@writes("gv.unique")
def unique(out: Writer, op: Op, x: str) -> Sequence[str]:
    """Write the operator itself."""
    rules = op.plain_attributes()
    more: dict[str, Any] = {} if rules["axis"] is None else {"axis": rules["axis"]}
    made: Sequence[str] = out.node("Unique", x, outputs=4, sorted=int(rules["sorted"]), **more)
    return made


@writes("gv.non_max_suppression")
def non_max_suppression(out: Writer, op: Op, *xs: str) -> str:
    """Write the operator itself."""
    boxes, scores, *numbers = xs
    kinds = (d.i64, d.f32, d.f32)
    given = [out.cast(name, kind) for name, kind in zip(numbers, kinds, strict=True)]
    center = int(op.plain_attributes()["center"])
    return str(out.node("NonMaxSuppression", boxes, scores, *given, center_point_box=center))


@writes("gv.transform_rows")
def transform_rows(out: Writer, op: Op, x: str) -> str:
    """Write the operator itself; one back, which divides there, as the mirror of one of mirrors."""
    axis = out.number(-2, d.i64)
    if not op.plain_attributes()["inverse"]:
        return str(out.node("DFT", x, "", axis))
    mirror = out.store(np.array([1, -1], op.specs[0].dtype.numpy))
    turned = out.node("DFT", out.node("Mul", x, mirror), "", axis)
    return str(out.node("Mul", turned, mirror))


@writes("gv.text_concat")
def text_concat(out: Writer, op: Op, a: str, b: str) -> str:
    """Write the operator itself."""
    return str(out.node("StringConcat", a, b))


@writes("gv.text_match")
def text_match(out: Writer, op: Op, x: str) -> str:
    """Write the operator itself."""
    return str(out.node("RegexFullMatch", x, pattern=op.plain_attributes()["pattern"]))


@writes("gv.text_split")
def text_split(out: Writer, op: Op, x: str) -> Sequence[str]:
    """Write the operator itself."""
    rules = op.plain_attributes()
    more = {"maxsplit": rules["limit"]} if rules["limit"] >= 0 else {}
    made: Sequence[str] = out.node(
        "StringSplit", x, outputs=2, delimiter=rules["delimiter"], **more
    )
    return made


@writes("gv.text_normalize")
def text_normalize(out: Writer, op: Op, x: str) -> str:
    """Write the operator itself."""
    rules = op.plain_attributes()
    more = {"stopwords": rules["stopwords"]} if rules["stopwords"] else {}
    return str(
        out.node(
            "StringNormalizer", x, case_change_action=rules["case"],
            is_case_sensitive=int(rules["exact"]), **more,
        )
    )  # fmt: skip


@writes("gv.decode_image")
def decode_image(out: Writer, op: Op, data: str) -> str:
    """Write the operator itself."""
    return str(out.node("ImageDecoder", data, pixel_format=op.plain_attributes()["layout"]))


@writes("gv.sequence")
def sequence(out: Writer, op: Op, *xs: str) -> Sequence[str]:
    """Write the operator itself."""
    return _holding(out, op, "SequenceConstruct", xs)


@writes("gv.empty_sequence")
def empty_sequence(out: Writer, op: Op) -> Sequence[str]:
    """Write the operator itself."""
    return _holding(out, op, "SequenceEmpty", (), dtype=CODES[op.plain_attributes()["dtype"]])


@writes("gv.sequence_insert")
def sequence_insert(out: Writer, op: Op, *xs: str) -> Sequence[str]:
    """Write the operator itself."""
    return _holding(out, op, "SequenceInsert", xs)


@writes("gv.sequence_erase")
def sequence_erase(out: Writer, op: Op, *xs: str) -> Sequence[str]:
    """Write the operator itself."""
    return _holding(out, op, "SequenceErase", xs)


@writes("gv.sequence_at")
def sequence_at(out: Writer, op: Op, *xs: str) -> Sequence[str]:
    """Write the operator itself."""
    return _holding(out, op, "SequenceAt", xs)


@writes("gv.sequence_length")
def sequence_length(out: Writer, op: Op, xs: str) -> Sequence[str]:
    """Write the operator itself."""
    return _holding(out, op, "SequenceLength", (xs,))


@writes("gv.sequence_concat")
def sequence_concat(out: Writer, op: Op, xs: str) -> Sequence[str]:
    """Write the operator itself."""
    rules = op.plain_attributes()
    more = {"axis": rules["axis"], "new_axis": int(rules["new"])}
    return _holding(out, op, "ConcatFromSequence", (xs,), **more)


@writes("gv.split_to_sequence")
def split_to_sequence(out: Writer, op: Op, x: str, *sizes: str) -> Sequence[str]:
    """Write the operator itself."""
    rules = op.plain_attributes()
    more = {"axis": rules["axis"], "keepdims": int(rules["keep"])}
    return _holding(out, op, "SplitToSequence", (x, *sizes), **more)


def _holding(out: Writer, op: Op, op_type: str, xs: Sequence[str], **more: object) -> Sequence[str]:
    """Append the node for an operation on sequences, which takes all types as they are."""
    names = out.names_for(op)
    out.append(op_type, list(xs), names, **more)
    return names


@writes("gv.none")
def nothing(out: Writer, op: Op) -> Sequence[str]:
    """Write the operator itself."""
    element = value_spec(op.results[0].type)
    assert isinstance(element, OptionalSpec), "nothing is an optional"
    tensor = helper.make_tensor_type_proto(CODES[out.dtype(op.results[0])], None)
    is_sequence = isinstance(element.element, SequenceSpec)
    kind = helper.make_sequence_type_proto(tensor) if is_sequence else tensor
    return _holding(out, op, "Optional", (), type=kind)


@writes("gv.has_element")
def has_element(out: Writer, op: Op, x: str) -> Sequence[str]:
    """Write the operator itself."""
    return _holding(out, op, "OptionalHasElement", (x,))


@writes("gv.get_element")
def get_element(out: Writer, op: Op, x: str) -> Sequence[str]:
    """Write the operator itself."""
    return _holding(out, op, "OptionalGetElement", (x,))
