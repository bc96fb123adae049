"""Sizes that decide about ranks, weights or matrices, beside onnxruntime: a model for each number.

And what was refused where it is data: resizing with all its rules, mel weights; sparse tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import gravure as gv
import gravure.frontend.models.several as several_models
from gravure.errors import CompileError, ParseError, RuntimeInputError, UnsupportedOp
from gravure.frontend.models.several import SeveralModel
from gravure.frontend.programs.load import load_program
from gravure.ir import interpret
from gravure.ir.ops.host.resizing import ResizeTo

node, info = helper.make_node, helper.make_tensor_value_info
Make = Callable[..., onnx.ModelProto]
Feeds = Mapping[str, Any]
ANY = (1, 32)
pytestmark = pytest.mark.filterwarnings("ignore:.*a model is compiled for each new number")


def check(made: onnx.ModelProto, cases: Iterator[Feeds], **dims: Any) -> Any:
    """Compare one compiled model with onnxruntime, and with numpy where a size is a number."""
    data = made.SerializeToString()
    peer = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    named = {d.dim_param for i in made.graph.input for d in i.type.tensor_type.shape.dim}
    bounds = {**{name: ANY for name in named if name}, **dims}
    compiled = gv.compile(data, dims=bounds)
    for case in cases:
        feeds = {name: np.asarray(x) for name, x in case.items()}
        inputs = [feeds[each.name] for each in made.graph.input]
        fixed = dict(bounds)
        for each, x in zip(made.graph.input, inputs, strict=True):
            rows = zip(each.type.tensor_type.shape.dim, x.shape, strict=True)
            fixed |= {dim.dim_param: size for dim, size in rows if dim.dim_param}
        program = load_program(data, dims=fixed)
        wanted = peer.run(None, feeds)
        for results in (compiled.run(feeds), interpret(program, inputs)):
            for found, expected in zip(results, wanted, strict=True):
                assert found.dtype == expected.dtype
                assert found.shape == expected.shape
                np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    return compiled


def image(random: np.random.Generator, *shape: int) -> np.ndarray:
    return random.standard_normal(shape).astype(np.float32)


SHAPES: Mapping[str, Sequence[Sequence[int]]] = {
    "Reshape": ([24], [2, -1], [2, 3, 4], [0, 2, 3], [-1]),
    "Expand": ([6], [4, 6], [2, 1, 6], [1]),
    "ConstantOfShape": ([6], [3, 6], [2, 1, 6], []),
}


@pytest.mark.parametrize("kind", SHAPES)
def test_a_shape_of_as_many_sizes_as_a_run_says(model: Make, kind: str) -> None:
    """And what comes behind it: its rank is another in each."""
    random = np.random.default_rng(1)
    first = ["s"] if kind == "ConstantOfShape" else ["x", "s"]
    nodes = [node(kind, first, ["a"]), node("Relu", ["a"], ["b"]), node("Shape", ["b"], ["n"]),
             node("Size", ["b"], ["z"]), node("ReduceSum", ["b"], ["t"])]  # fmt: skip
    inputs = {"x": ("f32", ["n", 6]), "s": ("i64", ["k"])}
    given = {name: inputs[name] for name in first}
    made = model(nodes, given, ["b", "n", "z", "t"])

    def cases() -> Iterator[Feeds]:
        for shape in (*SHAPES[kind], SHAPES[kind][0]):
            feeds = {"x": image(random, 4, 6), "s": np.array(shape, np.int64)}
            yield {name: feeds[name] for name in first}

    compiled = check(made, cases(), k=(0, 8))
    assert isinstance(compiled, SeveralModel)
    assert len(compiled.made) == len({*map(len, SHAPES[kind])} | {min(compiled.made)})
    assert str(compiled.outputs[0]) == "f32[*]"
    assert compiled.inputs[-1].shape == ("k",)
    with pytest.raises(RuntimeInputError, match="k is 9, expected 0 to 8"):
        compiled.run({**dict(cases().__next__()), "s": np.ones(9, np.int64)})


def test_weights_of_sizes_that_a_run_says(model: Make) -> None:
    random = np.random.default_rng(2)
    inputs = {"x": ("f32", [1, 2, 8, 9]), "w": ("f32", ["o", 2, "h", "w"])}
    made = model([node("Conv", ["x", "w"], ["y"])], inputs, ["y"])
    sizes = ((3, 1, 1), (2, 3, 2), (3, 1, 1), (1, 2, 2))
    cases = ({"x": image(random, 1, 2, 8, 9), "w": image(random, o, 2, h, w)} for o, h, w in sizes)
    compiled = check(made, cases)
    with pytest.raises(CompileError, match="decides about ranks or weights"):
        compiled.save("model.so")
    compiled.threads = 2
    assert compiled.threads == 2
    bound = compiled.bind({"x": image(random, 1, 2, 8, 9), "w": image(random, 3, 2, 1, 1)})
    assert bound()[0].shape == (1, 3, 8, 9)
    compiled.close()


def test_transposed_windows_to_a_shape_of_open_images(model: Make) -> None:
    random = np.random.default_rng(3)
    rules = {"output_shape": [10, 8], "strides": [2, 2]}
    weights = {"w": image(random, 2, 3, 3, 3)}
    inputs = {"x": ("f32", [1, 2, "h", "w"])}
    made = model([node("ConvTranspose", ["x", "w"], ["y"], **rules)], inputs, ["y"], weights)
    check(made, ({"x": image(random, 1, 2, h, w)} for h, w in ((5, 4), (6, 4), (5, 5))), h=(5, 9))


def test_scans_of_batches_of_any_size(model: Make) -> None:
    random = np.random.default_rng(4)
    body = helper.make_graph(
        [node("Add", ["s", "x"], ["o"]), node("Identity", ["o"], ["p"])], "body",
        [info("s", 1, [2]), info("x", 1, [2])], [info("o", 1, [2]), info("p", 1, [2])],
    )  # fmt: skip
    inputs = {"i": ("f32", ["b", 2]), "x": ("f32", ["b", "t", 2])}
    scan = node("Scan", ["", "i", "x"], ["o", "p"], num_scan_inputs=1, body=body)
    made = model([scan], inputs, ["o", "p"], opset=8)
    sizes = ((1, 4), (3, 5), (1, 2))
    check(made, ({"i": image(random, b, 2), "x": image(random, b, t, 2)} for b, t in sizes))


@pytest.mark.parametrize("back", [0, 1])
def test_scans_of_sequences_of_different_lengths(model: Make, back: int) -> None:
    """What one gives is filled up with zeros; all of one length were taken only."""
    random = np.random.default_rng(5)
    body = helper.make_graph(
        [node("Add", ["s", "x"], ["o"]), node("Identity", ["o"], ["p"])], "body",
        [info("s", 1, [2]), info("x", 1, [2])], [info("o", 1, [2]), info("p", 1, [2])],
    )  # fmt: skip
    inputs = {"n": ("i64", ["b"]), "i": ("f32", ["b", 2]), "x": ("f32", ["b", "t", 2])}
    rules = {"num_scan_inputs": 1, "body": body, "directions": [back]}
    made = model([node("Scan", ["n", "i", "x"], ["o", "p"], **rules)], inputs, ["o", "p"], opset=8)

    def cases() -> Iterator[Feeds]:
        for lengths, trips in (([4, 1, 2], 4), ([3, 3, 3], 3), ([5], 6), ([1, 6, 2], 6)):
            count = len(lengths)
            yield {"n": lengths, "i": image(random, count, 2), "x": image(random, count, trips, 2)}

    compiled = check(made, cases())
    with pytest.raises(RuntimeInputError, match="size 4, expected 0 to 3"):
        compiled.run({"n": np.int64([4]), "i": image(random, 1, 2), "x": image(random, 1, 3, 2)})


def test_few_models_are_kept_and_what_no_number_mends_is_refused(
    model: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(several_models, "KEPT", 2)
    inputs = {"s": ("i64", ["k"])}
    made = model([node("ConstantOfShape", ["s"], ["y"])], inputs, ["y"])
    compiled: Any = gv.compile(made.SerializeToString(), dims={"k": (1, 8)})
    for rank in (1, 2, 3, 1):
        assert compiled.run({"s": np.full(rank, 2)})[0].shape == (2,) * rank
    assert [*compiled.made] == [3, 1]
    with pytest.raises(UnsupportedOp, match="input shape has k numbers"):
        load_program(made.SerializeToString())  # a program has one rank
    both = [node("ConstantOfShape", ["s"], ["y"]), node("Unheard", ["y"], ["z"])]
    with pytest.raises(UnsupportedOp, match="Unheard"):
        gv.compile(model(both, inputs, ["z"]).SerializeToString(), dims={"k": (1, 8)})


SIZED = {"x": ("f32", [1, 2, "h", "w"]), "s": ("i64", [2])}


@pytest.mark.parametrize("policy", ["not_larger", "not_smaller"])
def test_sizes_that_are_data_keep_the_aspect(model: Make, policy: str) -> None:
    random = np.random.default_rng(5)
    rules = {"mode": "linear", "axes": [2, 3], "keep_aspect_ratio_policy": policy}
    made = model([node("Resize", ["x", "", "", "s"], ["y"], **rules)], SIZED, ["y"], opset=18)
    images = [image(random, 1, 2, *random.integers(3, 9, 2)) for _ in range(12)]
    check(made, ({"x": x, "s": random.integers(2, 12, 2)} for x in images))
    fixed = model([node("Resize", ["x", "", "", "s"], ["y"], **rules)], {"x": SIZED["x"]}, ["y"],
                  {"s": np.int64([8, 6])}, opset=18)  # fmt: skip
    compiled = check(fixed, ({"x": x} for x in images))
    assert not isinstance(compiled, SeveralModel)


@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("by", ["sizes", "scales"])
def test_open_images_are_resized_with_antialias(model: Make, mode: str, by: str) -> None:
    random = np.random.default_rng(6)
    rules = {"mode": mode, "axes": [2, 3], "antialias": 1}
    given = ["x", "", "s"] if by == "scales" else ["x", "", "", "s"]
    inputs = {**SIZED, "s": ("f32" if by == "scales" else "i64", [2])}
    made = model([node("Resize", given, ["y"], **rules)], inputs, ["y"], opset=18)

    def cases() -> Iterator[Feeds]:
        for _ in range(12):
            x = image(random, 1, 2, *random.integers(4, 9, 2))
            factors = random.choice([0.4, 0.5, 0.75, 1.5, 2], 2).astype(np.float32)
            yield {"x": x, "s": factors if by == "scales" else random.integers(2, 12, 2)}

    check(made, cases())


def test_open_images_are_cropped_by_data(model: Make) -> None:
    """An axis whose size stays is cropped too, as the standard says; onnxruntime leaves it."""
    random = np.random.default_rng(7)
    rules = {"mode": "linear", "axes": [2, 3], "extrapolation_value": 7.5}
    rules |= {"coordinate_transformation_mode": "tf_crop_and_resize"}
    inputs = {**SIZED, "r": ("f32", [4])}
    made = model([node("Resize", ["x", "r", "", "s"], ["y"], **rules)], inputs, ["y"], opset=18)

    def cases() -> Iterator[Feeds]:
        for low, high in ((0.1, 0.9), (-0.25, 1.1), (0.5, 0.5)):
            region = np.float32([low, low, high, high])
            yield {"x": image(random, 1, 2, 6, 8), "s": np.int64([3, 5]), "r": region}

    check(made, cases())
    compiled = gv.compile(made.SerializeToString(), dims={"h": ANY, "w": ANY})
    feeds = {"x": image(random, 1, 2, 5, 5), "s": np.int64([5, 5])}
    feeds["r"] = np.float32([0, 0.25, 1, 1])
    wanted: Any = ReferenceEvaluator(made).run(None, feeds)
    np.testing.assert_allclose(compiled.run(feeds)[0], wanted[0], rtol=1e-5, atol=1e-5)


def test_sizes_that_are_none_are_refused_in_the_run(model: Make) -> None:
    rules = {"mode": "linear", "axes": [2, 3], "antialias": 1}
    made = model([node("Resize", ["x", "", "", "s"], ["y"], **rules)], SIZED, ["y"], opset=18)
    compiled = gv.compile(made.SerializeToString(), dims={"h": ANY, "w": ANY})
    with pytest.raises(RuntimeInputError, match=r"expected numbers from 0 on"):
        compiled.run({"x": np.ones((1, 2, 3, 3), "f4"), "s": np.int64([2, -1])})
    more: Any = {"axes": (0,), "policy": "not_larger", "mode": "linear", "nearest": "floor"}
    more |= {"coordinate": "half_pixel", "cubic": -0.75, "exclude_outside": False}
    with pytest.raises(ValueError, match="of no elements"):
        ResizeTo.evaluate(np.ones(0, "f4"), np.int64([2]), antialias=False, fill=0.0, **more)


def test_mel_weights_of_numbers_that_are_data(model: Make) -> None:
    inputs = {name: ("i64", []) for name in "abc"} | {name: ("f32", []) for name in "de"}
    made = model([node("MelWeightMatrix", [*"abcde"], ["y"])], inputs, ["y"])

    def cases() -> Iterator[Feeds]:
        for bins, points, low in ((8, 16, 0), (4, 64, 300), (5, 36, 10)):
            yield {"a": bins, "b": points, "c": 8192, "d": np.float32(low), "e": np.float32(4000)}

    check(made, cases())
    compiled = gv.compile(made.SerializeToString())
    first = {"a": np.array(8), "b": np.array(16), "c": np.array(8192)}
    for change, told in (({"c": np.array(0)}, "0 samples"), ({"a": np.array(1 << 30)}, "at most")):
        with pytest.raises(RuntimeInputError, match=told):
            compiled.run({**first, **change, "d": np.float32(0), "e": np.float32(4000)})
    with pytest.raises(RuntimeInputError, match="outside of the spectrum"):
        compiled.run({**first, "d": np.float32(0), "e": np.float32(9000)})


def sparse(values: Any, indices: Any, shape: Sequence[int]) -> Any:
    """Return a sparse tensor of the name `w`."""
    return helper.make_sparse_tensor(
        numpy_helper.from_array(np.float32(values), "w"),
        numpy_helper.from_array(np.array(indices, np.int64), "places"), shape,
    )  # fmt: skip


@pytest.mark.parametrize("indices", [[1, 5, 11], [[0, 1], [1, 2], [3, 2]], []])
def test_sparse_tensors_are_written_out(model: Make, indices: Any) -> None:
    given = sparse([1, 2, 3][: len(indices)], indices, [4, 3])
    dense = np.zeros(12, np.float32)
    dense[[1, 5, 11][: len(indices)]] = [1, 2, 3][: len(indices)]
    inputs = {"x": ("f32", ["n", 4])}
    made = model([node("MatMul", ["x", "w"], ["y"])], inputs, ["y"])
    made.graph.sparse_initializer.append(given)
    held = [node("Constant", [], ["w"], sparse_value=given), node("MatMul", ["x", "w"], ["y"])]
    x = image(np.random.default_rng(8), 5, 4)
    for each in (made, model(held, inputs, ["y"])):
        (found,) = gv.compile(each.SerializeToString(), dims={"n": ANY}).run({"x": x})
        np.testing.assert_allclose(found, x @ dense.reshape(4, 3), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("values", "indices", "shape", "told"),
    [
        ([1, 2], [0, 12], [4, 3], "outside"),
        ([1, 2], [-1, 2], [4, 3], "outside"),
        ([1], [[4, 0]], [4, 3], "outside"),
        ([1], [[0, -1]], [4, 3], "outside"),
        ([1, 2], [3, 3], [4, 3], "given twice"),
        ([1, 2], [3], [4, 3], "for 2 values"),
        ([1], [[1, 2, 3]], [4, 3], "for 1 values"),
        ([1], [0], [1 << 20, 1 << 20], "expected at most"),
        ([1], [0], [-1, -1], "expected at most"),
    ],
)
def test_damaged_sparse_tensors(
    model: Make, values: Any, indices: Any, shape: Any, told: str
) -> None:
    made = model([node("MatMul", ["x", "w"], ["y"])], {"x": ("f32", ["n", 4])}, ["y"])
    made.graph.sparse_initializer.append(sparse(values, indices, shape))
    with pytest.raises(ParseError, match=told):
        load_program(made.SerializeToString())
    twice = model([node("Relu", ["x"], ["y"])], {"x": ("f32", [4])}, ["y"], {"w": np.ones(2)})
    twice.graph.sparse_initializer.append(sparse([1], [0], [4]))
    with pytest.raises(ParseError, match="given twice"):
        load_program(twice.SerializeToString())
