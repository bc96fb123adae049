"""Sizes that exporters round as floats, and move before they use them, stay known."""

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
from onnx import helper

import gravure as gv
from gravure.frontend.programs.load import load_program
from gravure.ir.program import result_specs

node = helper.make_node
Make = Callable[..., onnx.ModelProto]


def i64(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def test_sizes_that_are_rounded_as_floats_stay_known(model: Make, same_as_onnxruntime: Any) -> None:
    """As detectors pad an image: the largest of one, over 32, rounded up, with its channels."""
    nodes = [
        node("Shape", ["x"], ["shape"]),
        node("Split", ["shape"], ["channels", "height"], axis=0, num_outputs=2),
        node("Cast", ["height"], ["whole"], to=1),
        node("ReduceMax", ["whole"], ["largest"], keepdims=1),
        node("Div", ["largest", "step"], ["part"]),
        node("Ceil", ["part"], ["rounded"]),
        node("Mul", ["rounded", "step"], ["wanted"]),
        node("Cast", ["wanted"], ["size"], to=7),
        node("Sub", ["size", "height"], ["more"]),
        node("Sub", ["channels", "channels"], ["none"]),
        node("Concat", ["none", "more", "none", "none"], ["ends"], axis=0),
        node("Reshape", ["ends", "pairs"], ["rows"]),
        node("Slice", ["rows", "last", "first", "zero", "last"], ["turned"]),
        node("Transpose", ["turned"], ["columns"], perm=[1, 0]),
        node("Reshape", ["columns", "flat"], ["pads"]),
        node("Pad", ["x", "pads"], ["wide"]),
        node("MatMul", ["w", "wide"], ["y"]),
    ]
    made = model(
        nodes,
        {"x": ("f32", [3, "h"])},
        ["y"],
        {
            "step": np.float32([32]), "pairs": i64(-1, 2), "flat": i64(-1), "zero": i64(0),
            "last": i64(-1), "first": i64(-9), "w": np.float32([[1, 2, 3]]),
        },
    )  # fmt: skip
    made.opset_import[0].version = 18
    program = load_program(made.SerializeToString())
    assert str(result_specs(program.main)[0].dims[1]) == "32*((h + 31) // (32))"
    for h in (1, 32, 33, 75):
        same_as_onnxruntime(made, np.ones((3, h), np.float32))


def test_what_is_known_of_moved_elements_stays_known(model: Make) -> None:
    nodes = [
        node("Concat", ["zero", "n", "zero", "zero"], ["ends"], axis=0),
        node("Reshape", ["ends", "pairs"], ["rows"]),
        node("Transpose", ["rows"], ["columns"], perm=[1, 0]),
        node("Reshape", ["columns", "flat"], ["pads"]),
        node("Pad", ["x", "pads"], ["y"]),
    ]
    pads = {"pairs": i64(2, 2), "flat": i64(-1), "zero": i64(0)}
    made = model(nodes, {"x": ("f32", [3, 4]), "n": ("i64", [1])}, ["y"], pads)
    found = gv.compile(made.SerializeToString())
    assert found.outputs[0].shape == ("y", 4)
    assert found.run([np.ones((3, 4), np.float32), i64(2)])[0].shape == (5, 4)
