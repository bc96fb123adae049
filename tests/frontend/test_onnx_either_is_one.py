"""Sizes that broadcast: either of two is 1 in some runs, though they were taken to be equal."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper

import gravure as gv
from gravure.errors import (
    CompileError,
    GraphError,
    ParseError,
    PerformanceWarning,
    RequirementError,
    RuntimeInputError,
    UnsupportedOp,
)
from gravure.frontend.programs.load import load_program
from gravure.ir import interpret
from gravure.ir.host import has_host_steps

node = helper.make_node
Make = Callable[..., onnx.ModelProto]
RANDOM = np.random.default_rng(0)
PAIRS = ((4, 4), (1, 4), (4, 1), (1, 1), (3, 1))
N, M = ("f32", ["n", 3]), ("f32", ["m", 3])
DIMS = dict.fromkeys("nmkl", (1, 16))


def image(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


def compiled_of(made: onnx.ModelProto, whichever: bool = False, **more: Any) -> Any:
    named = {d.dim_param for i in made.graph.input for d in i.type.tensor_type.shape.dim}
    dims = {name: sizes for name, sizes in DIMS.items() if name in named}
    return gv.compile(made.SerializeToString(), dims={**dims, **more}, whichever=whichever)


def check(made: onnx.ModelProto, cases: Sequence[Mapping[str, Any]]) -> Any:
    """Compare the compiled model, and the one in which either may be 1, with onnxruntime.

    Each is run and bound, and the second one as a library too where it has no host steps.
    """
    data = made.SerializeToString()
    peer = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    compiled = compiled_of(made)
    program = load_program(data, whichever=True)
    either = compiled_of(made, whichever=True)
    every = [compiled, either]
    if not has_host_steps(program):
        with tempfile.TemporaryDirectory() as folder:
            either.save(f"{folder}/either.so")
            every.append(gv.load(f"{folder}/either.so"))
    for feeds in cases:
        inputs = [feeds[each.name] for each in made.graph.input]
        wanted = peer.run(None, dict(feeds))
        made_by = [each.run(given) for each in every for given in (feeds, inputs)]
        made_by += [each.bind(inputs)() for each in every]
        for results in (*made_by, interpret(program, inputs)):
            for found, expected in zip(results, wanted, strict=True):
                assert found.dtype == expected.dtype
                assert found.shape == expected.shape
                np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    return compiled


def test_sizes_of_arguments(model: Make) -> None:
    nodes = [node("Add", ["x", "y"], ["a"]), node("Mul", ["a", "x"], ["z"])]
    made = model(nodes, {"x": N, "y": M}, ["z"])
    compiled = check(made, [{"x": image(n, 3), "y": image(m, 3)} for n, m in PAIRS])
    found = compiled(image(1, 3), image(5, 3))
    assert found.shape == (5, 3)
    with pytest.raises(RuntimeInputError, match="compiled with"):
        compiled.run([image(2, 3), image(5, 3)])
    with pytest.raises(RuntimeInputError, match="compiled with"):
        compiled.run([image(1, 3), image(1, 4)])


def test_sizes_of_several_axes_and_operands(model: Make) -> None:
    inputs = {"c": ("bool", ["n", 1, "k"]), "x": ("f32", ["m", "k"]), "y": ("f32", ["m", "l"])}
    made = model([node("Where", ["c", "x", "y"], ["z"])], inputs, ["z"])
    rows = [(2, 3, 4, 4), (2, 3, 1, 4), (1, 3, 4, 1), (2, 1, 4, 1), (1, 1, 1, 5)]
    check(made, [{"c": image(n, 1, k) > 0, "x": image(m, k), "y": image(m, length)}
                 for n, m, k, length in rows])  # fmt: skip


def test_stacks_of_matrices(model: Make) -> None:
    inputs = {"x": ("f32", ["n", 2, 3]), "y": ("f32", ["m", 3, 2])}
    made = model([node("MatMul", ["x", "y"], ["z"])], inputs, ["z"])
    check(made, [{"x": image(n, 2, 3), "y": image(m, 3, 2)} for n, m in PAIRS])


@pytest.mark.parametrize("both", [False, True])
def test_sizes_that_data_tells(model: Make, both: bool) -> None:
    nodes = [node("Compress", ["x", "c"], ["a"], axis=0)]
    nodes += [node("Compress", ["y", "d"], ["b"], axis=0)] if both else []
    nodes += [node("Greater", ["a", "b" if both else "y"], ["g"])]
    nodes += [node("Where", ["g", "a", "b" if both else "y"], ["z"])]
    inputs = {"x": N, "c": ("bool", ["n"]), "y": M, **({"d": ("bool", ["m"])} if both else {})}

    def feeds(n: int, m: int) -> dict[str, np.ndarray]:
        found = {"x": image(6, 3), "c": np.arange(6) < n, "y": image(7 if both else m, 3)}
        return {**found, **({"d": np.arange(7) < m} if both else {})}

    made = model(nodes, inputs, ["z"])
    compiled = check(made, [feeds(n, m) for n, m in PAIRS])
    with pytest.raises(RuntimeInputError):
        compiled.run(feeds(2, 5))


def test_what_has_no_such_sizes_is_read_once(model: Make) -> None:
    made = model([node("Add", ["x", "x"], ["y"])], {"x": N}, ["y"])
    with pytest.raises(UnsupportedOp, match="no two sizes"):
        load_program(made.SerializeToString(), whichever=True)
    compiled = compiled_of(made)
    with pytest.raises(RuntimeInputError, match="argument 'x'"):
        compiled.run([image(1, 4)])
    assert compiled.otherwise.refusal.is_needless
    fixed = model([node("Add", ["x", "y"], ["z"])], {"x": N, "y": M}, ["z"])
    several = compiled_of(fixed, n=(2, 9), m=(2, 9))
    with pytest.raises(RuntimeInputError):
        several.run([image(1, 3), image(4, 3)])
    assert several.otherwise.refusal.is_needless
    assert compiled_of(made, whichever=True).run([image(4, 3)])[0].shape == (4, 3)
    with pytest.raises(GraphError, match="expected onnx"):
        load_program(b"model m(x: f32[N]) -> (y) { y = relu(x) }", whichever=True)


def test_a_model_is_read_once_more_as_it_was(model: Make, tmp_path: Path) -> None:
    made = model([node("Add", ["x", "y"], ["z"])], {"x": N, "y": M}, ["z"])
    path = tmp_path / "m.onnx"
    path.write_bytes(made.SerializeToString())
    x, y = image(1, 3), image(4, 3)
    for source in (made, bytearray(made.SerializeToString()), path, str(path)):
        compiled: Any = gv.compile(source, dims={"n": (1, 16), "m": (1, 16)})
        np.testing.assert_allclose(compiled.run([x, y])[0], x + y, rtol=1e-6)
    from_proto: Any = gv.compile(made, dims={"n": (1, 16), "m": (1, 16)})
    from_file: Any = gv.compile(path, dims={"n": (1, 16), "m": (1, 16)})
    made.graph.node[0].op_type = "Sub"
    path.write_bytes(made.SerializeToString())
    np.testing.assert_allclose(from_proto.run([x, y])[0], x + y, rtol=1e-6)
    with pytest.raises(RuntimeInputError, match="compiled with"):
        from_file.run([x, y])
    assert isinstance(from_file.otherwise.refusal, ParseError)


def test_a_number_beside_a_size_that_may_be_one(model: Make) -> None:
    """It was refused where the user said that both are possible."""
    inputs = {"x": ("f32", [4, "n"]), "k": ("f32", ["m", "n"])}
    made = model([node("Add", ["x", "k"], ["z"])], inputs, ["z"])
    compiled = check(made, [{"x": image(4, n), "k": image(m, n)} for n, m in ((3, 4), (5, 1))])
    with pytest.raises(RequirementError, match="sizes 4 and m are to be equal, or one of them 1"):
        compiled.run([image(4, 3), image(3, 3)])
    three = model([node("Add", ["x", "k"], ["z"])], {"x": ("f32", [4, 3]), "k": M}, ["z"])
    unsaid: Any = gv.compile(three.SerializeToString())  # m is taken to be 4
    for m in (4, 1):
        x, k = image(4, 3), image(m, 3)
        np.testing.assert_allclose(unsaid.run([x, k])[0], x + k, rtol=1e-6)
        np.testing.assert_allclose(unsaid.bind([x, k])()[0], x + k, rtol=1e-6)
    with pytest.raises(RuntimeInputError, match="compiled with"):
        unsaid.bind([image(4, 3), image(2, 3)])


def test_bound_models_look_at_their_arrays_each_time(model: Make) -> None:
    made = model([node("Add", ["x", "y"], ["z"])], {"x": N, "y": M}, ["z"])
    x, y, z = image(1, 3), image(4, 3), np.empty((4, 3), np.float32)
    compiled = compiled_of(made)
    again = compiled.bind([x, y], [z])
    for _ in range(3):
        x += 1
        again()
        np.testing.assert_allclose(z, x + y, rtol=1e-6)
    with pytest.raises(RuntimeInputError, match="compiled with"):
        compiled.bind([image(2, 3), y])
    with pytest.raises(RuntimeInputError, match="compiled with"):
        compiled.bind([x, image(4, 5)])


def test_the_other_model_has_the_same_weights(model: Make) -> None:
    nodes = [node("Add", ["x", "y"], ["a"]), node("Add", ["a", "w"], ["z"])]
    made = model(nodes, {"x": N, "y": M}, ["z"], {"w": image(3)})
    data, w = made.SerializeToString(), image(3)
    compiled: Any = gv.compile(data, dims={"n": (1, 16), "m": (1, 16)}, settable=["w"])
    x, y = image(1, 3), image(4, 3)
    for weights in (w, w + 1):
        compiled.set_weights({"w": weights})
        np.testing.assert_allclose(compiled.run([x, y])[0], x + y + weights, rtol=1e-5)


def test_why_there_is_no_other_model_is_said(model: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is wrong with making it is no answer to a run: only refusals are kept."""
    made = model([node("Add", ["x", "y"], ["z"])], {"x": N, "y": M}, ["z"])
    compiled = compiled_of(made)

    def refused(*_: Any) -> Any:
        raise UnsupportedOp("not so")

    def broken() -> Any:
        raise MemoryError("not enough")

    monkeypatch.setattr(compiled.otherwise, "make", broken)
    with pytest.raises(MemoryError, match="not enough"):
        compiled.run([image(1, 3), image(4, 3)])
    monkeypatch.setattr(compiled.otherwise, "make", refused)
    monkeypatch.setattr(compiled.otherwise, "make_exact", refused)
    with pytest.raises(RuntimeInputError, match="compiled with") as told:
        compiled.run([image(1, 3), image(4, 3)])
    assert str(told.value.__cause__) == "not so"


def test_models_that_are_no_files_have_sizes_as_they_say() -> None:
    with pytest.raises(GraphError, match="expected onnx"):
        gv.compile(b"model m(x: f32[N]) -> (y) { y = relu(x) }", whichever=True)
    program = load_program(b"model m(x: f32[3]) -> (y) { y = relu(x) }")
    with pytest.raises(CompileError, match="whichever"):
        gv.compile(program, whichever=True)


def test_sizes_of_what_is_expanded_to_another_shape(model: Make) -> None:
    """Runs were refused, with `whichever` too: what was repeated did not fit that shape."""
    shape, expand = node("Shape", ["z"], ["s"]), node("Expand", ["x", "s"], ["e"])
    back = [node("Shape", ["x"], ["t"]), node("Expand", ["z", "t"], ["f"])]
    forms: Sequence[Sequence[onnx.NodeProto]] = (
        [node("Neg", ["e"], ["y"])],
        [node("Add", ["e", "z"], ["y"])],
        [*back, node("Sub", ["e", "f"], ["y"])],
    )
    for form in forms:
        made = model([shape, expand, *form], {"x": N, "z": M}, ["y"])
        check(made, [{"x": image(n, 3), "z": image(m, 3)} for n, m in PAIRS])
        for compiled in (compiled_of(made), compiled_of(made, whichever=True)):
            with pytest.raises((RuntimeInputError, RequirementError), match=r"sizes|m = 4"):
                compiled.run({"x": image(4, 3), "z": image(2, 3)})


@pytest.mark.parametrize("equation", ["...ij,...kj->...ik", "bij,bkj->bik", "nij,nij->n"])
def test_sizes_of_a_letter_of_an_equation(model: Make, equation: str) -> None:
    inputs = {"x": ("f32", ["n", 2, 3]), "z": ("f32", ["m", 2, 3])}
    made = model([node("Einsum", ["x", "z"], ["y"], equation=equation)], inputs, ["y"])
    check(made, [{"x": image(n, 2, 3), "z": image(m, 2, 3)} for n, m in PAIRS])


def test_what_fits_neither_model_is_made_for_the_sizes_of_a_run(model: Make) -> None:
    """A slice from `10n - 100` on may count from the end, and what is squeezed may be 1."""
    nodes = [
        node("Shape", ["x"], ["shape"], end=1), node("Mul", ["shape", "ten"], ["more"]),
        node("Sub", ["more", "many"], ["from"]),
        node("Slice", ["x", "from", "to"], ["last"]), node("Squeeze", ["y"], ["flat"]),
        node("ReduceSum", ["flat"], ["total"], keepdims=0), node("Add", ["last", "total"], ["z"]),
    ]  # fmt: skip
    by = {"ten": np.int64([10]), "many": np.int64([100]), "to": np.int64([99])}
    made = model(nodes, {"x": N, "y": ("f32", ["m", 1, 3])}, ["z", "flat"], by)
    peer = onnxruntime.InferenceSession(made.SerializeToString())
    compiled = compiled_of(made)
    with pytest.warns(PerformanceWarning, match=r"shapes \[1, 3\], \[3, 1, 3\] fit no .* n = 1"):
        compiled.run({"x": image(1, 3), "y": image(3, 1, 3)})
    for n, m in ((4, 3), (1, 3), (4, 1), (1, 1), (4, 3), (1, 3)):  # it is said once
        feeds = {"x": image(n, 3), "y": image(m, 1, 3)}
        given = [feeds[each.name] for each in made.graph.input]
        for found in (compiled.run(feeds), compiled.bind(given)()):
            for one, wanted in zip(found, peer.run(None, feeds), strict=True):
                np.testing.assert_allclose(one, wanted, rtol=1e-5, atol=1e-6)
    with pytest.raises(RuntimeInputError, match="from 2 to 16"):
        compiled.run({"x": image(4, 3), "y": image(17, 1, 3)})


def test_what_one_size_is_spread_to_may_have_to_be_the_other(model: Make) -> None:
    nodes = [node("Add", ["x", "y"], ["a"]), node("Concat", ["a", "x"], ["z"], axis=1)]
    made = model(nodes, {"x": N, "y": M}, ["z"])
    peer = onnxruntime.InferenceSession(made.SerializeToString())
    compiled = compiled_of(made)
    for n, m in ((3, 3), (3, 1)):
        feeds = {"x": image(n, 3), "y": image(m, 3)}
        with pytest.warns(PerformanceWarning) if m == 1 else nullcontext():
            np.testing.assert_array_equal(compiled.run(feeds)[0], peer.run(None, feeds)[0])
    for _ in range(2):
        with pytest.raises(RuntimeInputError):
            compiled.run({"x": image(1, 3), "y": image(3, 3)})
    with pytest.raises(RuntimeInputError):
        compiled.run({"x": image(3, 3), "y": image(1, 3).astype(np.float64)})
    with pytest.raises(RuntimeInputError):
        compiled.run({"x": image(3, 4), "y": image(1, 3)})


def test_models_for_the_sizes_of_the_last_runs_are_kept(model: Make, monkeypatch: Any) -> None:
    monkeypatch.setattr("gravure.frontend.models.otherwise.MOST", 2)
    squeezed = node("Squeeze", ["x"], ["y"])
    compiled = compiled_of(model([squeezed], {"x": ("f32", ["n", "m", 3])}, ["y"]))
    with pytest.warns(PerformanceWarning, match="the last 2 are kept"):
        assert compiled.run([image(1, 4, 3)])[0].shape == (4, 3)
    for n, m in ((4, 1), (1, 4), (1, 5), (1, 4), (4, 1)):  # whatever was run before
        assert compiled.run([image(n, m, 3)])[0].shape == (max(n, m), 3)
    assert [*compiled.otherwise.exact] == [((1, 4, 3),), ((4, 1, 3),)]
    for n in (17, 18, 19):  # what is wrong takes no place of what is right
        with pytest.raises(RuntimeInputError, match=r"from [12] to 16"):
            compiled.run([image(n, 1, 3)])
    assert [*compiled.otherwise.exact] == [((4, 1, 3),), ((19, 1, 3),)]


@pytest.mark.filterwarnings("ignore::gravure.errors.PerformanceWarning")
def test_lists_and_foreign_bytes_are_taken_for_the_sizes_of_a_run(model: Make) -> None:
    """They were refused where a model is made for the sizes, and taken where it is not."""
    squeezed = node("Squeeze", ["x"], ["y"])
    compiled = compiled_of(model([squeezed], {"x": ("f32", ["n", "m", 3])}, ["y"]))
    x = image(1, 4, 3)
    for given in (x.tolist(), x.astype(">f4"), np.asfortranarray(x)):
        np.testing.assert_array_equal(compiled.run([given])[0], x[0])
