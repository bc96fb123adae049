"""Host steps out as ONNX: sizes that data tells, sequences, loops and choices of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from gravure.frontend.onnx.export.model import to_model
from gravure.frontend.programs.load import load_program
from gravure.passes.manager import run
from gravure.passes.pipelines import PORTABLE

node, info = helper.make_node, helper.make_tensor_value_info
Make = Callable[..., onnx.ModelProto]
X = np.array([[0, 1.5, -2], [3, 0, 1]], np.float32)

GROWS = helper.make_graph(
    [
        node("Concat", ["s", "s"], ["next"], axis=0),
        node("Identity", ["go"], ["on"]),
    ],
    "grows",
    [info("i", 7, []), info("go", 9, []), info("s", 1, None)],
    [info("on", 9, []), info("next", 1, None)],
)


def branch(name: str, *nodes: onnx.NodeProto) -> onnx.GraphProto:
    return helper.make_graph(nodes, name, [], [info(name, 1, None)])


CASES: dict[str, tuple[Sequence[onnx.NodeProto], dict[str, Any], Sequence[str]]] = {
    "places": (
        [node("NonZero", ["x"], ["p"]), node("Transpose", ["p"], ["t"]),
         node("GatherND", ["x", "t"], ["y"])],
        {"x": X}, ["y", "p"],
    ),
    "sizes": (
        [node("Reshape", ["x", "s"], ["a"]), node("Shape", ["a"], ["n"]),
         node("Neg", ["a"], ["y"])],
        {"x": X, "s": np.array([3, -1])}, ["y", "n"],
    ),
    "parts": (
        [node("Split", ["x", "s"], ["a", "b"], axis=1), node("Exp", ["a"], ["y"]),
         node("Neg", ["b"], ["z"])],
        {"x": X, "s": np.array([2, 1])}, ["y", "z"],
    ),
    "sequence": (
        [node("SplitToSequence", ["x", "s"], ["a"], axis=1), node("Neg", ["x"], ["m"]),
         node("SequenceInsert", ["a", "m", "at"], ["b"]), node("SequenceErase", ["b"], ["c"]),
         node("SequenceLength", ["c"], ["n"]), node("ConcatFromSequence", ["c"], ["y"], axis=1)],
        {"x": X, "s": np.array([2, 1]), "at": np.array(0)}, ["y", "n"],
    ),
    "loop": ([node("Loop", ["n", "c", "x"], ["last"], body=GROWS)],
             {"n": np.array(3), "c": np.array(True), "x": X}, ["last"]),
    "choice": (
        [node("If", ["c"], ["y"],
              then_branch=branch("a", node("Concat", ["x", "x"], ["a"], axis=0)),
              else_branch=branch("b", node("Identity", ["x"], ["b"])))],
        {"c": np.array(True), "x": X}, ["y"],
    ),
    "axes": (
        [node("Slice", ["x", "b", "e", "a"], ["s"]), node("Pad", ["s", "p", "", "a"], ["q"]),
         node("Unsqueeze", ["q", "a"], ["u"]), node("Squeeze", ["u", "a"], ["y"]),
         node("ReduceSum", ["x", "a"], ["z"]), node("ReduceMax", ["t", "a"], ["m"])],
        {"x": X, "b": np.array([1]), "e": np.array([3]), "a": np.array([1]), "p": np.array([2, 1]),
         "t": X > 1}, ["y", "z", "m"],
    ),
    "image": (
        [node("Resize", ["x", "", "", "to"], ["y"], mode="linear", antialias=1),
         node("Resize", ["x", "", "by"], ["z"], mode="linear", antialias=1),
         node("Resize", ["x", "r", "", "to"], ["w"], mode="linear",
              coordinate_transformation_mode="tf_crop_and_resize")],
        {"x": X, "to": np.array([3, 2]), "by": np.array([1.5, 0.7], np.float32),
         "r": np.array([0, 0.1, 0.9, 1], np.float32)}, ["y", "z", "w"],
    ),
    "mel": ([node("MelWeightMatrix", [*"abcde"], ["y"])],
            {"a": np.array(4), "b": np.array(32), "c": np.array(8000),
             "d": np.array(0, np.float32), "e": np.array(4000, np.float32)}, ["y"]),
    "bits": ([node("BitCast", ["x"], ["y"], to=TensorProto.INT32)], {"x": X}, ["y"]),
}  # fmt: skip
NEWER = {"bits": 26, "axes": 20, "image": 19}
CODES = {"float32": "f32", "int64": "i64", "bool": "bool"}


@pytest.mark.parametrize("case", CASES)
def test_what_is_written_gives_what_the_original_gave(model: Make, case: str) -> None:
    nodes, inputs, outputs = CASES[case]
    declared = {name: (CODES[x.dtype.name], x.shape) for name, x in inputs.items()}
    original = model(nodes, declared, outputs, opset=NEWER.get(case, 17))
    program = load_program(original.SerializeToString())
    run(PORTABLE, program)
    made = to_model(program)
    assert made.opset_import[0].version >= (26 if case == "bits" else 21)
    wanted: Any = ReferenceEvaluator(original).run(None, inputs)
    found: Any = ReferenceEvaluator(made).run(None, inputs)
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("saturate", [0, 1])
def test_what_is_too_large_for_narrow_floats_stays_what_it_was(model: Make, saturate: int) -> None:
    cast = node("Cast", ["x"], ["y"], to=TensorProto.FLOAT8E4M3FN, saturate=saturate)
    original = model([cast], {"x": ("f32", [4])}, ["y"], opset=21)
    x = np.array([1e4, -1e4, 0.3, 448], np.float32)
    made = to_model(load_program(original.SerializeToString()))
    found: Any = ReferenceEvaluator(made).run(None, {"x": x})
    limit = 448 if saturate else np.nan
    wanted = np.array([limit, -limit, 0.3125, 448], np.float32)
    np.testing.assert_array_equal(found[0].astype(np.float32), wanted)


def test_sequences_go_in_and_come_out(model: Make) -> None:
    kind = helper.make_sequence_type_proto(helper.make_tensor_type_proto(1, [2]))
    nodes = [node("SequenceInsert", ["xs", "x"], ["y"])]
    original = model(nodes, {"x": ("f32", [2])}, ["y"])
    original.graph.input.append(helper.make_value_info("xs", kind))
    made = to_model(load_program(original.SerializeToString()))
    a, b = np.ones(2, np.float32), np.zeros(2, np.float32)
    (found,) = ReferenceEvaluator(made).run(None, {"x": b, "xs": [a]})
    np.testing.assert_array_equal(found, [a, b])


@pytest.mark.parametrize("inverse", [0, 1])
def test_transforms_of_open_axes_are_written(model: Make, inverse: int) -> None:
    nodes = [node("DFT", ["x", "", "axis"], ["y"], inverse=inverse)]
    inputs = {"x": ("f32", [2, "n", 2])}
    original = model(nodes, inputs, ["y"], {"axis": np.int64(1)}, opset=20)
    made = to_model(load_program(original.SerializeToString()))
    x = np.random.default_rng(0).standard_normal((2, 6, 2)).astype(np.float32)
    (found,) = ReferenceEvaluator(made).run(None, {"x": x})
    change = np.fft.ifft if inverse else np.fft.fft
    wanted = change(x[..., 0] + 1j * x[..., 1])
    np.testing.assert_allclose(found[..., 0] + 1j * found[..., 1], wanted, rtol=1e-4, atol=1e-5)
