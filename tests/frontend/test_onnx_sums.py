"""Sizes that are sums of others, where an operation needs it."""

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import helper

import gravure as gv
from gravure.errors import RuntimeInputError, UnsupportedOp
from gravure.frontend.programs.load import load_program
from gravure.ir.program import argument_specs

node = helper.make_node
Make = Callable[..., onnx.ModelProto]


def i64(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def decoder_with_a_mask(model: Make) -> onnx.ModelProto:
    """Positions of words behind those that were kept, by a mask of both, as decoders have them."""
    return model(
        [
            node("Shape", ["past"], ["p"], start=0, end=1),
            node("CumSum", ["mask", "axis"], ["every"]),
            node("Slice", ["every", "p", "most", "axis0"], ["own"]),
            node("Add", ["x", "own"], ["y"], name="positions"),
        ],
        {"x": ("f32", ["T"]), "mask": ("f32", ["W"]), "past": ("f32", ["P"])},
        ["y"],
        {"axis": np.array(0, np.int64), "axis0": i64(0), "most": i64(1 << 40)},
    )


def test_a_mask_is_as_long_as_what_is_behind_it_and_what_is_new(model: Make) -> None:
    data = decoder_with_a_mask(model).SerializeToString()
    program = load_program(data)
    assert [str(s) for s in argument_specs(program.main)] == ["f32[T]", "f32[P + T]", "f32[P]"]
    assert program.assumed[0][0] == "W = P + T"
    made = gv.compile(data, dims={"T": (1, 9), "P": (0, 9), "W": (2, 8)})
    for past, new in ((0, 2), (3, 2), (5, 3)):
        mask = np.arange(past + new, dtype=np.float32)
        (found,) = made.run([np.ones(new, np.float32), mask, np.zeros(past, np.float32)])
        np.testing.assert_array_equal(found, 1 + np.cumsum(mask)[past:])
    for past, new, whole in ((3, 2, 4), (3, 2, 6), (0, 1, 2)):
        with pytest.raises(RuntimeInputError):
            made.run(
                [np.ones(new, np.float32), np.ones(whole, np.float32), np.ones(past, np.float32)]
            )
    with pytest.raises(UnsupportedOp, match=r"(?s)node 'positions'.* it may fit when T is fixed"):
        load_program(data, dims={"W": 5})
