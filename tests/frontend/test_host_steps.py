"""Models that are cut at host steps: right for all sizes, and open about what is not compiled."""

import io
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

import gravure as gv
import gravure.frontend.models.compiled as compiled_models
import gravure.frontend.models.pieces as stepped_models
import gravure.runtime.model as runtime_model
from gravure.codegen.compiled import Options
from gravure.errors import (
    CompileError,
    GraphError,
    OutOfMemoryError,
    RuntimeInputError,
    UnsupportedOp,
)
from gravure.frontend.models.pieces import SteppedModel
from gravure.frontend.programs.constraints import constraints
from gravure.frontend.programs.load import load_program
from gravure.ir import Program, interpret, parse, print_module
from gravure.runtime.buffer import aligned_bytes

node = helper.make_node
Make = Callable[..., onnx.ModelProto]
RANDOM = np.random.default_rng(1)


def stepped(made: onnx.ModelProto, *, threads: int = 1, **options: Any) -> SteppedModel:
    """Return a model whose host steps are the host's, however little they select."""
    return SteppedModel(load_program(made.SerializeToString(), **options), Options(), threads)


def check(made: onnx.ModelProto, *sets: Sequence[Any], **options: Any) -> SteppedModel:
    """Compare the compiled and the interpreted model with the standard's own evaluator."""
    model = stepped(made, **options)
    text = print_module(load_program(made.SerializeToString(), **options).module)
    assert print_module(parse(text)) == text
    judge = ReferenceEvaluator(made)
    for inputs in sets:
        wanted: Any = judge.run(None, dict(zip(judge.input_names, inputs, strict=True)))
        program = load_program(made.SerializeToString(), **options)
        for results in (model.run(inputs), interpret(program, inputs)):
            for found, expected in zip(results, wanted, strict=True):
                assert found.dtype == expected.dtype
                np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    return model


def f32(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


def test_what_lies_between_host_steps_is_compiled(model: Make) -> None:
    made = model(
        [
            node("Relu", ["x"], ["a"]),
            node("NonZero", ["a"], ["places"], name="find"),
            node("Transpose", ["places"], ["rows"]),
            node("GatherND", ["a", "rows"], ["b"]),
            node("Exp", ["b"], ["c"]),
            node("ReduceSum", ["c"], ["y"], keepdims=0),
        ],
        {"x": ("f32", [2, 3])},
        ["b", "y"],
    )
    found = check(made, [f32(2, 3)], [-np.ones((2, 3), np.float32)])
    assert [str(step) for step in found.host_steps] == ["find (non_zero)"]
    assert list(found.pieces) == ["segment0", "segment1"]
    assert [str(info) for info in found.outputs] == ["f32[places]", "f32[]"]


def test_host_step_of_which_only_the_size_is_used(model: Make) -> None:
    nodes = [
        node("Compress", ["x", "mask"], ["kept"], axis=0),
        node("Shape", ["kept"], ["s"]),
        node("Expand", ["row", "s"], ["y"]),
        node("Size", ["kept"], ["n"]),
    ]
    made = model(
        nodes,
        {"x": ("f32", [4, 2]), "mask": ("bool", [4])},
        ["y", "n"],
        {"row": np.float32([1, 2])},
    )
    check(made, [f32(4, 2), np.array([True, False, True, True])], [f32(4, 2), np.zeros(4, bool)])


def test_one_model_serves_all_sizes(model: Make) -> None:
    nodes = [
        node("Range", ["zero", "n", "one"], ["r"]),
        node("Cast", ["r"], ["f"], to=TensorProto.FLOAT),
        node("Sin", ["f"], ["y"]),
    ]
    made = model(nodes, {"n": ("i64", [])}, ["y"], {"zero": np.int64(0), "one": np.int64(1)})
    found = stepped(made)
    piece = found.pieces["segment0"]
    made_first = piece.model
    for size in (3, 0, 64, 5000, 700):
        wanted = np.sin(np.arange(size, dtype=np.float32))
        np.testing.assert_allclose(found.run([np.int64(size)])[0], wanted, rtol=1e-5, atol=1e-6)
    assert piece.bounds["r"] >= 1 << 30
    with ThreadPoolExecutor(4) as pool:
        sizes = [*range(8100, 8300, 10)]
        for size, [y] in zip(
            sizes, pool.map(found.run, [[np.int64(s)] for s in sizes]), strict=True
        ):
            assert y.shape == (size,)
    assert piece.model is made_first
    (row,) = constraints(load_program(made.SerializeToString()))
    assert str(row) == (
        "r >= 0: known when node 'Range_0' (gv.range_of) was run, "
        f"compiled with room for up to {piece.bounds['r']}"
    )


def test_a_size_takes_more_than_its_share_where_others_do_not(
    model: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stepped_models, "ROOM", 1 << 20)
    nodes = [node("Reshape", ["x", "s"], ["a"]), node("Transpose", ["a"], ["y"])]
    made = model(nodes, {"x": ("f32", ["N"]), "s": ("i64", [2])}, ["y"])
    found = stepped(made, dims={"N": (0, 1 << 17)})
    piece = found.pieces["segment0"]
    shares = dict(piece.bounds)
    assert shares["a"] == shares["a_2"] == 256
    x = f32(3000)
    for shape in ((3, 1000), (1000, 3), (6, 500)):
        [y] = found.run([x, np.array(shape)])
        np.testing.assert_array_equal(y, x.reshape(shape).T)
    assert piece.bounds == {"a": 256, "a_2": 512}


def test_pieces_are_kept_with_whole_programs(
    model: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = {"w": f32(64, 8), "v": f32(3)}
    nodes = [
        node("MatMul", ["x", "w"], ["a"]), node("NonZero", ["a"], ["places"]),
        node("Cast", ["places"], ["b"], to=TensorProto.FLOAT), node("Exp", ["b"], ["y"]),
    ]  # fmt: skip
    data = model(nodes, {"x": ("f32", [4, 64])}, ["y", "a"], weights).SerializeToString()
    x = f32(4, 64)
    monkeypatch.setenv("GRAVURE_CACHE", str(tmp_path))
    first = gv.compile(data).run([x])
    with monkeypatch.context() as patched:
        patched.setattr(compiled_models, "compile_program", None)
        again = gv.compile(data).run([x])
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, other)
    weights["w"] *= -1
    others = model(nodes, {"x": ("f32", [4, 64])}, ["y", "a"], weights).SerializeToString()
    np.testing.assert_array_equal(gv.compile(others).run([x])[1], -first[1])


def test_work_on_weights_alone_is_done_once(model: Make) -> None:
    nodes = [
        node("NonZero", ["x"], ["places"]),
        node("Size", ["places"], ["n"]),
        node("Cast", ["n"], ["f"], to=TensorProto.FLOAT),
        node("Transpose", ["w"], ["t"]),
        node("Softmax", ["t"], ["s"]),
        node("MatMul", ["x", "s"], ["a"]),
        node("Add", ["a", "f"], ["y"]),
    ]
    made = model(nodes, {"x": ("f32", [4, 64])}, ["y"], {"w": f32(64, 64)})
    found = check(made, [f32(4, 64)], [np.zeros((4, 64), np.float32)])
    described = [piece.model.compiled.description for piece in found.pieces.values()]
    assert sum(len(each.prepare) for each in described) > 0
    kernels = [str(step) for each in described for step in each.steps]
    assert not any("softmax" in kernel for kernel in kernels), kernels


SHAPES: list[tuple[Any, dict[str, Any], list[Any]]] = [
    (node("Reshape", ["x", "s"], ["y"]), {"s": ("i64", [2])}, [np.array([0, -1])]),
    (node("Reshape", ["x", "s"], ["y"]), {"s": ("i64", [3])}, [np.array([2, 3, 4])]),
    (node("Expand", ["x", "s"], ["y"]), {"s": ("i64", [3])}, [np.array([5, 1, 6])]),
    (node("Slice", ["x", "a", "b"], ["y"]), {"a": ("i64", [2]), "b": ("i64", [2])},
     [np.array([1, -2]), np.array([9, -1])]),
    (node("Slice", ["x", "a", "b", "ax", "st"], ["y"]),
     {"a": ("i64", [1]), "b": ("i64", [1]), "st": ("i64", [1])},
     [np.array([5]), np.array([-100]), np.array([-2])]),
    (node("Pad", ["x", "p"], ["y"]), {"p": ("i64", [4])}, [np.array([1, 0, 3, 2])]),
    (node("Pad", ["x", "p"], ["y"], mode="edge"), {"p": ("i64", [4])}, [np.array([1, 0, 2, 2])]),
    (node("Tile", ["x", "r"], ["y"]), {"r": ("i64", [2])}, [np.array([2, 3])]),
    (node("Tile", ["x", "r"], ["y"]), {"r": ("i64", [2])}, [np.array([0, 3])]),
    (node("ConstantOfShape", ["s"], ["y"]), {"s": ("i64", [2])}, [np.array([2, 3])]),
    (node("TopK", ["x", "k"], ["y", "z"], axis=1), {"k": ("i64", [1])}, [np.array([3])]),
    (node("OneHot", ["i", "n", "v"], ["y"]), {"n": ("i64", [])}, [np.array(4)]),
    (node("Split", ["x", "s"], ["y", "z"], axis=1), {"s": ("i64", [2])}, [np.array([4, 2])]),
    (node("Resize", ["x", "", "", "s"], ["y"], mode="linear"), {"s": ("i64", [2])},
     [np.array([7, 3])]),
    (node("Compress", ["x", "c"], ["y"], axis=1), {"c": ("bool", [6])},
     [np.array([True, False, True, True, False, False])]),
    (node("ReduceSum", ["x", "a"], ["y"], keepdims=0), {"a": ("i64", [1])}, [np.array([-2])]),
    (node("ReduceL2", ["x", "a"], ["y"]), {"a": ("i64", [2])}, [np.array([1, 0])]),
    (node("ReduceLogSumExp", ["x", "a"], ["y"]), {"a": ("i64", [1])}, [np.array([0])]),
    (node("Resize", ["x", "", "f"], ["y"], mode="linear"), {"f": ("f32", [2])},
     [np.array([0.6, 2], np.float32)]),
    (node("Unique", ["x"], ["y", "i", "j", "n"]), {}, []),
]  # fmt: skip
CONSTANTS = {
    "ax": np.array([1]),
    "i": np.array([1, 3]),
    "v": np.float32([0, 1]),
}


@pytest.mark.parametrize(
    ("each", "inputs", "values"), SHAPES, ids=lambda x: getattr(x, "op_type", "")
)
def test_shapes_that_are_data(
    model: Make, each: Any, inputs: dict[str, Any], values: list[Any]
) -> None:
    outputs = list(each.output)
    more = [node("Cast", [name], [f"{name}2"], to=TensorProto.DOUBLE) for name in outputs]
    kept = {name: value for name, value in CONSTANTS.items() if name in each.input}
    given = {"x": ("f32", [4, 6])} if "x" in each.input else {}
    opset = 18 if each.op_type.startswith("Reduce") else 17
    made = model([each, *more], {**given, **inputs}, [f"{n}2" for n in outputs], kept, opset=opset)
    check(made, [*([f32(4, 6)] if given else []), *values])


@pytest.mark.parametrize("size", [4, "N"])
@pytest.mark.parametrize("known", [False, True])
def test_conditions_longer_and_shorter_than_their_axis(model: Make, size: Any, known: bool) -> None:
    inputs = {"x": ("f32", [size, 2]), "c": ("bool", ["M"])}
    each = node("Compress", ["x", "c"], ["y"], axis=0)
    for count in (2, 4, 9):
        c, x = np.arange(count) % 2 == 1, f32(4, 2)
        given = {"c": c} if known else {}
        made = model([each], {n: i for n, i in inputs.items() if n not in given}, ["y"], given)
        found = gv.compile(made.SerializeToString(), dims=dict.fromkeys(used(made), (0, 9)))
        arguments = [x] if known else [x, c]
        is_longer = known and size == "N" and count == 9  # than any size that is open
        fits = pytest.warns(gv.PerformanceWarning, match="stop 8, expected 0 to N")
        with fits if is_longer else nullcontext():
            np.testing.assert_array_equal(found(*arguments), x[np.flatnonzero(c[:4])])


def used(made: onnx.ModelProto) -> set[str]:
    """Return the names of the dimensions of inputs."""
    dims = [dim for info in made.graph.input for dim in info.type.tensor_type.shape.dim]
    return {dim.dim_param for dim in dims if dim.dim_param}


def test_result_of_a_host_step_must_fit_what_was_assumed(model: Make) -> None:
    nodes = [node("Reshape", ["x", "s"], ["a"], name="r"), node("MatMul", ["a", "w"], ["y"])]
    made = model(nodes, {"x": ("f32", [6]), "s": ("i64", [2])}, ["y"], {"w": f32(3, 4)})
    found = check(made, [f32(6), np.array([2, 3])], [f32(6), np.array([-1, 3])])
    with pytest.raises(RuntimeInputError, match=r"node 'r'.*shape \[3, 2\], expected f32\[a,3\]"):
        found.run([f32(6), np.array([3, 2])])
    with pytest.raises(RuntimeInputError, match="6 elements, expected 12"):
        found.run([f32(6), np.array([4, 3])])


def test_what_is_assumed_later_holds_of_sizes_that_were_cut(model: Make) -> None:
    """A mask put into an image: rows above and below, cut to its height, then columns beside."""
    nodes = [
        node("ConstantOfShape", ["above"], ["top"]),
        node("ConstantOfShape", ["below"], ["bottom"]),
        node("Concat", ["top", "x", "bottom"], ["high"], axis=0),
        node("Slice", ["high", "zero", "four", "zero"], ["rows"]),
        node("ConstantOfShape", ["beside"], ["left"]),
        node("Concat", ["left", "rows"], ["wide"], axis=1),
        node("Slice", ["wide", "zero", "five", "one"], ["image"]),
        node("Unsqueeze", ["image", "zero"], ["one_image"]),
        node("Concat", ["one_image", "whole"], ["y"], axis=0),
    ]
    sizes = {name: ("i64", [2]) for name in ("above", "below", "beside")}
    inputs = {**sizes, "x": ("f32", [2, 3]), "whole": ("f32", [1, 4, 5])}
    numbers = {"zero": 0, "one": 1, "four": 4, "five": 5}
    made = model(nodes, inputs, ["y"], {n: np.array([v], np.int64) for n, v in numbers.items()})
    shapes = [((1, 3), (1, 3), (4, 2)), ((0, 3), (2, 3), (4, 2)), ((2, 3), (0, 3), (4, 2))]
    check(made, *([*map(np.array, each), f32(2, 3), f32(1, 4, 5)] for each in shapes))


def test_what_is_known_of_a_shape_stays_known(model: Make) -> None:
    nodes = [
        node("Concat", ["n", "three"], ["s"], axis=0),
        node("Reshape", ["x", "s"], ["a"]),
        node("Expand", ["a", "wide"], ["b"]),
        node("Conv", ["b", "w"], ["y"]),
    ]
    made = model(
        nodes,
        {"x": ("f32", [12]), "n": ("i64", [1]), "k": ("i64", [1])},
        ["y"],
        {"three": np.array([3, 1, 4]), "w": f32(2, 3, 1, 2)},
    )
    made.graph.node.insert(2, node("Concat", ["one", "three2", "k", "one"], ["wide"], axis=0))
    for name, value in {"one": np.array([1]), "three2": np.array([3])}.items():
        made.graph.initializer.append(onnx.numpy_helper.from_array(value, name))
    found = check(made, [f32(12), np.array([1]), np.array([5])], [f32(12), *[np.array([1])] * 2])
    assert str(found.outputs[0]) == "f32[a, 2, b, 3]"


def test_sizes_that_are_data_can_be_bounded(model: Make) -> None:
    made = model([node("NonZero", ["x"], ["p"]), node("Neg", ["p"], ["y"])],
                 {"x": ("f32", ["N"])}, ["y"])  # fmt: skip
    found = stepped(made, dims={"N": (1, 9), "p": (0, 9)})
    assert found.pieces["segment0"].bounds == {"p": 9}
    assert [(d.name, d.low, d.high) for d in found.dims] == [("N", 1, 9)]
    with pytest.raises(RuntimeInputError, match="N is 10, expected 1 to 9"):
        found.run([np.ones(10, np.float32)])
    with pytest.raises(GraphError, match="there is no dimension 'q'"):
        stepped(made, dims={"N": (1, 9), "q": 4})
    with pytest.raises(CompileError, match="dimension N has no upper bound"):
        stepped(made)


def loop(*nodes: Any, outputs: Sequence[str], state: Any) -> onnx.GraphProto:
    """Return the body of a loop of one state."""
    inputs = [
        helper.make_tensor_value_info("i", TensorProto.INT64, []),
        helper.make_tensor_value_info("go", TensorProto.BOOL, []),
        state,
    ]
    made = [helper.make_empty_tensor_value_info(name) for name in outputs]
    return helper.make_graph(nodes, "body", inputs, made)


def test_loop_of_unknown_trips_collects_and_grows(model: Make) -> None:
    body = loop(
        node("Concat", ["s", "tail"], ["next"], axis=0),
        node("ReduceSum", ["next"], ["sum"], keepdims=0),
        node("Less", ["sum", "limit"], ["on"]),
        outputs=["on", "next", "sum"],
        state=helper.make_tensor_value_info("s", TensorProto.FLOAT, None),
    )
    made = model(
        [node("Loop", ["", "", "start"], ["last", "sums"], body=body, name="l")],
        {"start": ("f32", [2]), "limit": ("f32", []), "tail": ("f32", [1])},
        ["last", "sums"],
    )
    found = stepped(made)
    assert [str(step) for step in found.host_steps] == ["l (host_loop)"]
    for limit in (0.0, 3.5, 90.0):
        last, sums = found.run([np.float32([1, 1]), np.float32(limit), np.float32([1])])
        trips = max(1, int(np.ceil(limit)) - 2)
        np.testing.assert_array_equal(last, np.ones(trips + 2, np.float32))
        np.testing.assert_array_equal(sums, np.arange(3, trips + 3, dtype=np.float32))


@pytest.mark.parametrize("change", ["grows", "shrinks"])
def test_a_state_of_an_open_size_changes_its_size(change: str, model: Make) -> None:
    """The name of a size that a trip changes does not stand for it afterwards."""
    step = (
        node("Concat", ["s", "s"], ["next"], axis=0)
        if change == "grows"
        else node("Slice", ["s", "one", "most"], ["next"])
    )
    body = loop(
        step,
        node("Size", ["next"], ["count"]),
        node("Less" if change == "grows" else "Greater", ["count", "limit"], ["on"]),
        outputs=["on", "next"],
        state=helper.make_tensor_value_info("s", TensorProto.FLOAT, None),
    )
    made = model(
        [node("Loop", ["", "go", "start"], ["last"], body=body, name="l")],
        {"start": ("f32", ["n"])}, ["last"],
        {"go": np.array(True), "one": np.int64([1]), "most": np.int64([99]),
         "limit": np.array(8 if change == "grows" else 3, np.int64)},
    )  # fmt: skip
    found = stepped(made, dims={"n": (1, 20)})
    for count in (2, 3, 5):
        (last,) = found.run([np.ones(count, np.float32)])
        size = count * 2
        while size < 8:
            size *= 2
        assert last.shape == (size if change == "grows" else min(max(count - 1, 0), 3),)


def test_sequence_that_a_loop_collects_is_joined(model: Make) -> None:
    body = loop(
        node("Cast", ["i"], ["f"], to=TensorProto.FLOAT),
        node("Mul", ["x", "f"], ["part"]),
        node("SequenceInsert", ["s", "part"], ["next"]),
        node("Identity", ["go"], ["on"]),
        outputs=["on", "next"],
        state=helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, None),
    )
    nodes = [
        node("SequenceEmpty", [], ["none"]),
        node("Loop", ["n", "", "none"], ["all"], body=body),
        node("ConcatFromSequence", ["all"], ["y"], axis=0, new_axis=1),
        node("SequenceAt", ["all", "n2"], ["z"]),
        node("Exp", ["z"], ["e"]),
    ]
    inputs = {"x": ("f32", [2, 2]), "n": ("i64", []), "n2": ("i64", [])}
    found = stepped(model(nodes, inputs, ["y", "e"]))
    x = f32(2, 2)
    y, e = found.run([x, np.int64(5), np.int64(-2)])
    np.testing.assert_array_equal(y, np.stack([x * i for i in range(5)]).astype(np.float32))
    np.testing.assert_allclose(e, np.exp(x * 3), rtol=1e-5)
    with pytest.raises(RuntimeInputError, match="position 7 of a sequence of 5"):
        found.run([x, np.int64(5), np.int64(7)])
    with pytest.raises(RuntimeInputError, match="the sequence is empty"):
        found.run([x, np.int64(0), np.int64(0)])


def choice(name: str, kind: int, shape: list[int]) -> onnx.GraphProto:
    """Return a branch that gives the first rows of `x`."""
    one = helper.make_tensor(f"{name}_one", TensorProto.INT64, shape, [2] * len(shape))
    nodes = [node("Slice", ["x", "zero", f"{name}_one"], [name])]
    made = [helper.make_tensor_value_info(name, kind, None)]
    return helper.make_graph(nodes, name, [], made, [one])


def test_branches_of_different_sizes(model: Make) -> None:
    then = choice("a", TensorProto.FLOAT, [1])
    other = helper.make_graph(
        [node("Relu", ["x"], ["b"])], "o", [], [helper.make_empty_tensor_value_info("b")]
    )
    made = model(
        [node("If", ["c"], ["r"], then_branch=then, else_branch=other), node("Neg", ["r"], ["y"])],
        {"c": ("bool", []), "x": ("f32", [5, 3])},
        ["y"],
        {"zero": np.array([0])},
    )
    x = f32(5, 3)
    found = stepped(made)
    np.testing.assert_array_equal(found.run([np.bool_(True), x])[0], -x[:2])
    np.testing.assert_array_equal(found.run([np.bool_(False), x])[0], -np.maximum(x, 0))


def test_optionals_go_in_and_out() -> None:
    inner = helper.make_tensor_type_proto(TensorProto.FLOAT, [2])
    kind = helper.make_optional_type_proto(inner)
    graph = helper.make_graph(
        [node("OptionalHasElement", ["x"], ["y"]), node("Identity", ["x"], ["z"])],
        "g",
        [helper.make_value_info("x", kind)],
        [
            helper.make_tensor_value_info("y", TensorProto.BOOL, []),
            helper.make_value_info("z", kind),
        ],
    )
    found = stepped(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]))
    assert [str(info) for info in found.inputs] == ["optional(f32[2])"]
    assert found.run([None])[1] is None
    x = f32(2)
    y, z = found.run([x])
    assert y
    assert z is not x
    np.testing.assert_array_equal(z, x)
    with pytest.raises(RuntimeInputError, match=r"argument 'x' is optional\(f32\[2\]\)"):
        found.run([f32(3)])


def test_results_are_apart_from_arguments(model: Make) -> None:
    nodes = [node("Reshape", ["x", "s"], ["y"]), node("SequenceConstruct", ["x", "x"], ["z"])]
    found = stepped(model(nodes, {"x": ("f32", [6]), "s": ("i64", [2])}, ["y", "z"]))
    x = f32(6)
    y, z = found.run([x, np.array([2, 3])])
    kept = y.copy()
    x[:] = 0
    np.testing.assert_array_equal(y, kept)
    np.testing.assert_array_equal(z[1], kept.ravel())


def test_scan_with_host_steps_in_it(model: Make) -> None:
    body = helper.make_graph(
        [
            node("NonZero", ["row"], ["places"]),
            node("ReduceSum", ["places"], ["sum"], keepdims=0),
            node("Add", ["sum", "s"], ["next"]),
            node("Identity", ["next"], ["out"]),
        ],
        "b",
        [
            helper.make_tensor_value_info("s", TensorProto.INT64, []),
            helper.make_tensor_value_info("row", TensorProto.FLOAT, [5]),
        ],
        [helper.make_empty_tensor_value_info(name) for name in ("next", "out")],
    )
    made = model(
        [node("Scan", ["start", "x"], ["last", "all"], body=body, num_scan_inputs=1)],
        {"start": ("i64", []), "x": ("f32", ["T", 5])},
        ["last", "all"],
    )
    x = np.float32(RANDOM.integers(0, 2, (70, 5)))
    check(made, [np.array(3), x], [np.array(3), x[:1]], dims={"T": (1, 100)})


def test_texts(model: Make) -> None:
    nodes = [
        node("StringConcat", ["a", "b"], ["c"]),
        node("StringSplit", ["c"], ["parts", "counts"], delimiter="-"),
        node("Cast", ["counts"], ["n"], to=TensorProto.FLOAT),
        node("Sqrt", ["n"], ["y"]),
        node("Reshape", ["parts", "flat"], ["words"]),
        node("Cast", ["y"], ["t"], to=TensorProto.STRING),
    ]
    made = model(nodes, {}, ["words", "y", "t"], {"flat": np.array([-1])}, opset=20)
    for name in "ab":
        made.graph.input.append(helper.make_tensor_value_info(name, TensorProto.STRING, [2]))
    found = stepped(made)
    words, y, t = found.run({"a": ["x-y", "z"], "b": np.array(["!", "-?"])})
    assert words.tolist() == ["x", "y!", "z", "?"]
    np.testing.assert_allclose(y, np.sqrt(np.float32([2, 2])))
    assert t.tolist() == ["1.4142135"] * 2
    with pytest.raises(RuntimeInputError, match=r"argument 'a' is string\[2\] and was called with"):
        found.run({"a": [1, 2], "b": ["!", "?"]})


def test_library_is_refused_and_names_the_nodes(model: Make, tmp_path: Path) -> None:
    made = model([node("Unique", ["x"], ["y"], name="find")], {"x": ("f32", [3])}, ["y"])
    found = stepped(made)
    with pytest.raises(CompileError, match=r"host steps.*find \(unique\)"):
        found.save(tmp_path / "m.so")
    assert not list(tmp_path.iterdir())
    assert found.manifest["host_steps"] == ["find (unique)"]
    assert "1 host steps" in repr(found)


def test_bound_models_see_new_contents(model: Make) -> None:
    made = model([node("NonZero", ["x"], ["y"])], {"x": ("f32", [3])}, ["y"])
    x = np.zeros(3, np.float32)
    found = stepped(made, threads=2)
    again = found.bind([x])
    assert again()[0].shape == (1, 0)
    x[1] = 1
    assert again()[0].tolist() == [[1]]
    place = np.zeros((1, 1), np.int64)
    assert found.bind({"x": x}, [place])()[0] is place
    assert place.tolist() == [[1]]
    found.threads = 1
    assert found.threads == 1


def test_what_is_no_host_operation_is_never_run_by_the_host(model: Make) -> None:
    made = model([node("Relu", ["x"], ["y"])], {"x": ("f32", [3])}, ["y"])
    assert not isinstance(gv.compile(made.SerializeToString()), SteppedModel)
    wrong = model([node("NonZero", ["x"], ["p"]), node("Nought", ["p"], ["y"], name="i")],
                  {"x": ("f32", [3])}, ["y"], opset=20)  # fmt: skip
    with pytest.raises(UnsupportedOp, match="node 'i': Nought"):
        gv.compile(wrong.SerializeToString())


@pytest.mark.parametrize("layout", ["RGB", "BGR", "Grayscale"])
def test_images_are_decoded(model: Make, layout: str) -> None:
    images = pytest.importorskip("PIL.Image")
    pixels = RANDOM.integers(0, 256, (5, 7, 3), np.uint8)
    file = io.BytesIO()
    images.fromarray(pixels).save(file, "PNG")
    nodes = [
        node("ImageDecoder", ["x"], ["image"], pixel_format=layout),
        node("Cast", ["image"], ["y"], to=TensorProto.FLOAT),
    ]
    made = model(nodes, {"x": ("u8", [len(file.getvalue())])}, ["y"], opset=20)
    data = np.frombuffer(file.getvalue(), np.uint8)
    found = check(made, [data])
    assert found.run([data])[0].shape == (5, 7, 1 if layout == "Grayscale" else 3)
    with pytest.raises(RuntimeInputError, match="the image cannot be decoded"):
        found.run([data[::-1]])


def test_image_decoder_without_pillow_is_refused(
    model: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    monkeypatch.delitem(sys.modules, "PIL.Image", raising=False)
    made = model(
        [node("ImageDecoder", ["x"], ["y"], name="i")], {"x": ("u8", [9])}, ["y"], opset=20
    )
    with pytest.raises(UnsupportedOp, match=r"node 'i': ImageDecoder.*takes the package pillow"):
        gv.compile(made.SerializeToString())


def test_complex_numbers_are_taken_apart_by_compiled_code() -> None:
    kind = "tensor<2x3xcomplex<f32>>"
    text = f"""func.func @main(%z: {kind}, %x: tensor<3xf32>) -> ({kind}, tensor<3xf32>) {{
      %0 = gv.mul %z, %z : ({kind}, {kind}) -> {kind}
      %1 = gv.neg %x : (tensor<3xf32>) -> tensor<3xf32>
      func.return %0, %1 : {kind}, tensor<3xf32>
    }}"""
    model = gv.compile(Program(parse(text)))
    assert not isinstance(model, SteppedModel)
    z, x = np.array([[1j, 2, 3 - 1j]] * 2, np.complex64), f32(3)
    squares, opposites = model.run([z, x])
    np.testing.assert_array_equal(squares, z * z)
    np.testing.assert_array_equal(opposites, -x)


def test_functions_that_are_called_may_have_host_steps() -> None:
    kinds = '(tensor<4xf32>) -> (tensor<1x?xi64, #gv.dims<"1, u">>, tensor<4xf32>)'
    text = f"""func.func private @places(%x: tensor<4xf32>) -> {kinds.partition("-> ")[2]} {{
      %0 = gv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
      %1 = gv.non_zero %x {{sizes = #gv.dims<"u">}} : (tensor<4xf32>)
        -> tensor<1x?xi64, #gv.dims<"1, u">>
      func.return %1, %0 : tensor<1x?xi64, #gv.dims<"1, u">>, tensor<4xf32>
    }}
    func.func @main(%x: tensor<4xf32>) -> {kinds.partition("-> ")[2]} {{
      %0 = gv.neg %x : (tensor<4xf32>) -> tensor<4xf32>
      %1, %2 = func.call @places(%0) : {kinds}
      func.return %1, %2 : tensor<1x?xi64, #gv.dims<"1, u">>, tensor<4xf32>
    }}"""
    x = f32(4) * np.float32([0, 1, 0, 1])
    places, powers = gv.compile(Program(parse(text))).run([x])
    np.testing.assert_array_equal(places, [np.flatnonzero(x)])
    np.testing.assert_allclose(powers, np.exp(-x), rtol=1e-6)


@pytest.mark.parametrize("size", [1100, "N"])
def test_memory_of_what_pieces_hand_on_is_used_again(model: Make, size: Any) -> None:
    made = model(
        [
            node("Exp", ["x"], ["a"]),
            node("Neg", ["x"], ["b"]),
            node("ReduceSum", ["x"], ["s"], keepdims=1),
            node("NonZero", ["s"], ["places"]),
            node("ReduceMax", ["places"], ["n"], keepdims=0),
            node("Cast", ["n"], ["c"], to=TensorProto.FLOAT),
            node("Add", ["a", "c"], ["y"]),
            node("Add", ["b", "c"], ["z"]),
        ],
        {"x": ("f32", [size, 1100])},
        ["y", "z", "b"],
    )
    found = stepped(made, dims={"N": (1, 2000)} if size == "N" else {})
    first, small = f32(1100, 1100), f32(2, 1100) if size == "N" else f32(1100, 1100)
    kept: set[int] = set()
    for x in (first, first + 1, small, first):
        y, z, b = found.run([x])
        np.testing.assert_allclose(y, np.exp(x), rtol=1e-6)
        np.testing.assert_array_equal(z, -x)
        np.testing.assert_array_equal(b, -x)
        for piece in found.pieces.values():
            blocks = piece.kept.blocks
            assert not any(np.may_share_memory(m, result) for m in blocks for result in (y, z, b))
            kept |= {block.ctypes.data for block in blocks}
    assert len(kept) == 1, "one block, for what is in it is gone when the next run begins"
    with ThreadPoolExecutor(4) as pool:
        for x, (y, _, b) in zip(
            [first + n for n in range(12)],
            pool.map(found.run, [[first + n] for n in range(12)]),
            strict=True,
        ):
            np.testing.assert_allclose(y, np.exp(x), rtol=1e-5)
            np.testing.assert_array_equal(b, -x)


def test_pieces_shrink_where_the_system_refuses_addresses(
    model: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes = [
        node("NonZero", ["x"], ["places"]), node("Cast", ["places"], ["a"], to=TensorProto.FLOAT),
        node("Transpose", ["a"], ["b"]), node("MatMul", ["b", "a"], ["c"]),
        node("MatMul", ["c", "c"], ["d"]), node("MatMul", ["d", "b"], ["y"]),
    ]  # fmt: skip
    made = model(nodes, {"x": ("f32", ["A", "B"])}, ["y"])
    x = f32(4, 5)
    dims: dict[str, Any] = {"A": (0, 1 << 20), "B": (0, 1 << 20)}
    [wanted] = stepped(made, dims=dims).run([x])
    limit = 1 << 36

    def given(size: int) -> Any:
        if size > limit:
            raise OutOfMemoryError(f"{size} bytes")
        return aligned_bytes(size)

    found = stepped(made, dims=dims)
    [piece] = found.pieces.values()
    assert piece.model.workspace_bytes > limit
    monkeypatch.setattr(runtime_model, "aligned_bytes", given)
    with gv.profile(limits=False):  # who listens works in memory of its own
        np.testing.assert_array_equal(found.run([x])[0], wanted)
    assert piece.model.workspace_bytes <= limit
    monkeypatch.setattr(stepped_models, "addresses_left", lambda: 1 << 36)
    [other] = stepped(made, dims=dims).pieces.values()
    assert other.model.workspace_bytes <= limit >> 2
