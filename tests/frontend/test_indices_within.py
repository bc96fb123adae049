"""Indices of ONNX models that are data: those that are out of range end the run, and say so.

Kernels clamp them, so that nothing is read outside of a buffer; but what they make of them is not
what the model says, and nobody would see it.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import gravure
import gravure.ir as ir
from gravure.errors import GraphError, RequirementError, RuntimeInputError
from gravure.frontend.programs.load import load_program
from gravure.frontend.programs.save import Saving, save_program
from gravure.ir.ops.control.state import Require
from gravure.ir.types.dtypes import of_numpy
from gravure.passes.pipelines import LEVELS
from gravure.tools.inputs import make_inputs

Make = Callable[..., onnx.ModelProto]
node = helper.make_node
X = np.arange(12, dtype=np.float32).reshape(3, 4)
RNG = np.random.default_rng(0)


def f32(*shape: int) -> np.ndarray:
    """Return some numbers."""
    return RNG.random(shape).astype(np.float32)


def ids(*values: Any) -> np.ndarray:
    """Return indices."""
    return np.array(values, np.int64)


# operator: attributes, operands with the indices left out, where these stand, those in range, and
# others with what is found
CASES: dict[str, tuple[dict[str, Any], list[np.ndarray], int, list[Any], list[tuple[Any, str]]]] = {
    "Gather": ({"axis": 1}, [X], 1, [ids(3, -4)], [(ids(0, 4), "4"), (ids(-5, 0), "-5")]),
    "GatherElements": (
        {"axis": 1}, [X], 1, [ids([0, 3], [-4, 1], [2, 2])],
        [(ids([0, 0], [0, 4], [0, 0]), "4"), (ids([0, 0], [0, 0], [-5, 0]), "-5")],
    ),
    "GatherND": (
        {}, [X], 1, [ids([2, 3], [-3, -4])],
        [(ids([3, 0], [0, 0]), "[0] = 3"), (ids([0, -5], [0, 0]), "[1] = -5")],
    ),
    "ScatterElements": (
        {"axis": 0}, [X, f32(1, 4)], 1, [ids([0, 1, 2, -3])],
        [(ids([0, 0, 3, 0]), "3"), (ids([0, 0, 0, -4]), "-4")],
    ),
    "ScatterND": (
        {"reduction": "add"}, [X, f32(2, 4)], 1, [ids([0], [-3])],
        [(ids([0], [3]), "3"), (ids([-4], [0]), "-4")],
    ),
    "TensorScatter": (
        {"axis": 1}, [f32(2, 4, 3), f32(2, 2, 3)], 2, [ids(0, 2)],
        [(ids(0, 3), "4"), (ids(-1, 0), "-1")],
    ),
    "ReverseSequence": (
        {"time_axis": 0, "batch_axis": 1}, [X], 1, [ids(0, 1, 2, 3)],
        [(ids(0, 1, 2, 4), "4"), (ids(0, -1, 2, 3), "-1")],
    ),
    "CumSum": ({}, [X], 1, [ids(1)[0], ids(-2)[0]], [(ids(2)[0], "2"), (ids(-3)[0], "-3")]),
    "MaxUnpool": (
        {"kernel_shape": [2, 2], "strides": [2, 2]}, [f32(1, 1, 2, 2)], 1,
        [ids(0, 3, 8, 15).reshape(1, 1, 2, 2)],
        [
            (ids(0, 3, 8, 16).reshape(1, 1, 2, 2), "16"),
            (ids(0, 3, -1, 9).reshape(1, 1, 2, 2), "-1"),
        ],
    ),
    "RoiAlign": (
        {"output_height": 2, "output_width": 2, "sampling_ratio": 2},
        [f32(2, 1, 4, 4), np.array([[0, 0, 2, 2], [1, 1, 3, 3]], np.float32)], 2,
        [ids(0, 1)], [(ids(0, 2), "2"), (ids(-1, 0), "-1")],
    ),
    "NegativeLogLikelihoodLoss": (
        {"ignore_index": -7}, [f32(3, 4)], 1, [ids(0, 3, -7)],
        [(ids(0, 4, 1), "4"), (ids(0, -5, 1), "-5")],
    ),
    "LSTM": (
        {"hidden_size": 2}, [f32(3, 2, 4), f32(1, 8, 4), f32(1, 8, 2), f32(1, 16)], 4,
        [np.array([3, 1], np.int32)],
        [(np.array([4, 1], np.int32), "4"), (np.array([-1, 1], np.int32), "-1")],
    ),
}  # fmt: skip
ROWS = [
    pytest.param(name, wrong, found, id=f"{name}-{found}")
    for name, row in CASES.items()
    for wrong, found in row[4]
]


def made(model: Make, name: str) -> onnx.ModelProto:
    """Return a model of one operator whose indices are an input."""
    attributes, others, place, (good, *_), _ = CASES[name]
    operands = [*others[:place], good, *others[place:]]
    names = [f"x{n}" for n in range(len(operands))]
    types = {
        n: (of_numpy(x.dtype).name, list(x.shape)) for n, x in zip(names, operands, strict=True)
    }
    version = 24 if name == "TensorScatter" else 18
    return model([node(name, names, ["y"], name="here", **attributes)], types, ["y"], opset=version)


def arguments(name: str, indices: np.ndarray) -> list[np.ndarray]:
    """Return what the model is called with."""
    _, others, place, _, _ = CASES[name]
    return [*others[:place], indices, *others[place:]]


@pytest.mark.parametrize("name", CASES)
def test_indices_in_range_give_what_they_name(model: Make, name: str) -> None:
    data = made(model, name).SerializeToString()
    run = gravure.compile(data)
    for indices in CASES[name][3]:
        (wanted,) = ir.interpret(load_program(data), arguments(name, indices))
        np.testing.assert_allclose(run.run(arguments(name, indices))[0], wanted, rtol=1e-6)


@pytest.mark.parametrize(("name", "wrong", "found"), ROWS)
def test_an_index_out_of_range_ends_the_run(
    model: Make, name: str, wrong: np.ndarray, found: str
) -> None:
    data = made(model, name).SerializeToString()
    ways: dict[str, Callable[[], object]] = {
        "compiled": lambda: gravure.compile(data).run(arguments(name, wrong)),
        "interpreted": lambda: ir.interpret(load_program(data), arguments(name, wrong)),
    }
    for way, run in ways.items():
        with pytest.raises(RequirementError, match="node 'here") as caught:
            run()
        assert f"{found} is not in [" in str(caught.value), way


@pytest.fixture
def gathered(model: Make) -> bytes:
    """Return a model that takes rows of a table."""
    types = {"x": ("f32", [3, 4]), "i": ("i64", ["N", 2])}
    return model([node("Gather", ["x", "i"], ["y"], name="here")], types, ["y"]).SerializeToString()


@pytest.mark.parametrize("level", LEVELS)
def test_every_level_looks(gathered: bytes, level: str) -> None:
    run = gravure.compile(gathered, dims={"N": (1, 4)}, level=level)
    np.testing.assert_array_equal(run.run([X, ids([0, -3])])[0], X[[[0, -3]]])
    with pytest.raises(RequirementError, match=r"index = 3 is not in \[-3, 3\)"):
        run.run([X, ids([0, 1], [3, 2])])
    assert [info.name for info in run.outputs] == ["y"]


def test_a_library_says_it_by_its_status(gathered: bytes, tmp_path: Path) -> None:
    path = tmp_path / "rows.so"
    gravure.compile(gathered, dims={"N": (1, 4)}).save(path)
    run = gravure.load(path)
    bound = run.bind([X, (given := ids([0, 1]))])
    np.testing.assert_array_equal(bound()[0], X[[[0, 1]]])
    given[0, 1] = -4
    for attempt in (bound, lambda: run.run([X, given])):
        with pytest.raises(RequirementError, match=r"node 'here': Gather: index = -4"):
            attempt()
    given[0, 1] = 2
    np.testing.assert_array_equal(bound()[0], X[[[0, 2]]])


def test_a_gpu_looks_as_well(gathered: bytes) -> None:
    run = gravure.compile(gathered, dims={"N": (1, 4)}, target="cuda:sm_80", device="emulated")
    np.testing.assert_array_equal(run.run([X, ids([0, -3])])[0], X[[[0, -3]]])
    for attempt in (run.run, lambda given: run.bind(given)()):
        with pytest.raises(RequirementError, match="node 'here': Gather: index = 3"):
            attempt([X, ids([0, 3])])


def test_only_the_branch_that_is_taken_counts(model: Make) -> None:
    branches = [
        helper.make_graph(
            [node("Gather", ["x", name], [f"y_{name}"], name=f"of {name}")], name, [],
            [helper.make_tensor_value_info(f"y_{name}", TensorProto.FLOAT, None)],
        )
        for name in ("i", "j")
    ]  # fmt: skip
    types = {"c": ("bool", []), "x": ("f32", [3, 4]), "i": ("i64", [2]), "j": ("i64", [2])}
    choice = node("If", ["c"], ["y"], then_branch=branches[0], else_branch=branches[1])
    run = gravure.compile(model([choice], types, ["y"]).SerializeToString())
    good, wrong = ids(0, 2), ids(0, 3)
    np.testing.assert_array_equal(run.run([np.array(True), X, good, wrong])[0], X[[0, 2]])
    np.testing.assert_array_equal(run.run([np.array(False), X, wrong, good])[0], X[[0, 2]])
    for flag, given in ((True, (wrong, good)), (False, (good, wrong))):
        with pytest.raises(RequirementError, match="of i" if flag else "of j"):
            run.run([np.array(flag), X, *given])


@pytest.mark.parametrize("grows", [False, True])
def test_a_trip_of_a_loop_counts(model: Make, grows: bool) -> None:
    value = helper.make_tensor_value_info
    join = node("Concat", ["before", "row"], ["after"], axis=0)
    body = helper.make_graph(
        [
            node("Unsqueeze", ["trip", "zero"], ["place"]),
            node("Gather", ["x", "place"], ["row"], name="in the loop"),
            join if grows else node("Add", ["before", "row"], ["after"]),
            node("Identity", ["goes"], ["on"]),
        ],
        "body",
        [
            value("trip", TensorProto.INT64, []), value("goes", TensorProto.BOOL, []),
            value("before", TensorProto.FLOAT, None),
        ],
        [value("on", TensorProto.BOOL, []), value("after", TensorProto.FLOAT, None)],
    )  # fmt: skip
    types = {"n": ("i64", []), "x": ("f32", [3, 4]), "first": ("f32", [1, 4])}
    whole = model(
        [node("Loop", ["n", "", "first"], ["y"], body=body)], types, ["y"], {"zero": ids(0)}
    )
    run = gravure.compile(whole.SerializeToString())
    first = f32(1, 4)
    wanted = np.concatenate([first, X]) if grows else first + X[0] + X[1] + X[2]
    np.testing.assert_allclose(run.run([ids(3)[0], X, first])[0], wanted, rtol=1e-6)
    with pytest.raises(RequirementError, match=r"in the loop': Gather: index = 3 "):
        run.run([ids(4)[0], X, first])


def test_models_with_host_steps_look(model: Make) -> None:
    nodes = [
        node("NonZero", ["m"], ["rows"]),
        node("Transpose", ["rows"], ["points"], perm=[1, 0]),
        node("GatherND", ["x", "points"], ["y"], name="here"),
    ]
    types = {"m": ("f32", ["A", "B"]), "x": ("f32", [3, 4])}
    run = gravure.compile(
        model(nodes, types, ["y"]).SerializeToString(), dims={"A": (1, 9), "B": (1, 9)}
    )
    np.testing.assert_array_equal(run.run([np.ones((3, 4), np.float32), X])[0], X.ravel())
    assert [info.name for info in run.outputs] == ["y"]
    for shape, found in (((4, 4), "[0] = 3"), ((3, 6), "[1] = 5")):
        with pytest.raises(RequirementError) as caught:
            run.run([np.ones(shape, np.float32), X])
        assert f"{found} is not in" in str(caught.value)


def requirements(data: bytes) -> list[Require]:
    """Return what a model requires of values."""
    return [op for op in load_program(data).module.walk() if isinstance(op, Require)]


def test_what_is_known_to_lie_inside_is_not_looked_at(model: Make) -> None:
    low, high = np.array(-3, np.int64), np.array(2, np.int64)
    chains = {
        "clamped": [node("Clip", ["i", "low", "high"], ["at"])],
        "searched": [node("ArgMax", ["w"], ["at"], axis=0, keepdims=0)],
        "wrapped": [node("Mod", ["i", "three"], ["at"])],
        "moved": [node("ArgMin", ["w"], ["a"], axis=0), node("Transpose", ["a"], ["at"])],
        "shifted": [node("ArgMax", ["w"], ["a"], axis=0), node("Sub", ["a", "one"], ["at"])],
        "best": [node("TopK", ["w", "ones"], ["v", "at"], axis=0)],
    }
    stored = {"low": low, "high": high, "three": ids(3)[0], "one": ids(1)[0], "ones": ids(1)}
    types = {"x": ("f32", [3, 4]), "i": ("i64", ["N"]), "w": ("f32", [3, "N"])}
    for name, nodes in chains.items():
        gather = node("Gather", ["x", "at"], ["y"])
        whole = model([*nodes, gather], types, ["y"], stored).SerializeToString()
        assert not requirements(whole), name
    shifted = [*chains["searched"], node("Add", ["at", "one"], ["more"])]
    whole = model([*shifted, node("Gather", ["x", "more"], ["y"])], types, ["y"], stored)
    assert len(requirements(whole.SerializeToString())) == 1


def test_the_same_indices_are_looked_at_once(model: Make) -> None:
    nodes = [
        node("Cast", ["i"], ["wide"], to=TensorProto.INT64),
        node("Gather", ["x", "i"], ["a"]),
        node("Gather", ["w", "wide"], ["b"]),
        node("Add", ["a", "b"], ["y"]),
    ]
    types = {"x": ("f32", [3, 4]), "w": ("f32", [3, 4]), "i": ("i32", [2])}
    assert len(requirements(model(nodes, types, ["y"]).SerializeToString())) == 1


def test_indices_that_are_known_are_refused_when_the_model_is_read(model: Make) -> None:
    types = {"x": ("f32", [3, 4])}
    for many in (2, 5000):  # so many are not followed, but their ends are known
        wrong = np.full(many, 1, np.int64)
        wrong[-1] = 3
        whole = model([node("Gather", ["x", "i"], ["y"])], types, ["y"], {"i": wrong})
        with pytest.raises(GraphError, match=r"index from 1 to 3, expected \[-3, 3\)"):
            load_program(whole.SerializeToString())


def test_a_known_index_in_a_branch_counts_where_the_branch_is_taken(model: Make) -> None:
    branches = [
        helper.make_graph(
            nodes, name, [], [helper.make_tensor_value_info(name, TensorProto.FLOAT, None)]
        )
        for name, nodes in (
            ("a", [node("Gather", ["x", "i"], ["a"], name="here")]),
            ("b", [node("Neg", ["x"], ["b"])]),
        )
    ]
    choice = node("If", ["c"], ["y"], then_branch=branches[0], else_branch=branches[1])
    types = {"c": ("bool", []), "x": ("f32", [3, 4])}
    data = model([choice], types, ["y"], {"i": ids(0, 1, 5)}).SerializeToString()
    run, program = gravure.compile(data), load_program(data)
    for way in (run.run, lambda x: ir.interpret(program, x)):
        np.testing.assert_array_equal(way([np.array(False), X])[0], -X)
        with pytest.raises(RequirementError, match="here': Gather: index = 5 is not in"):
            way([np.array(True), X])


def test_a_cache_that_goes_round_is_written_from_any_place_that_is_not_negative(
    model: Make,
) -> None:
    attributes = {"axis": 1, "mode": "circular"}
    types = {"x": ("f32", [1, 3, 2]), "u": ("f32", [1, 2, 2]), "i": ("i64", [1])}
    scatter = node("TensorScatter", ["x", "u", "i"], ["y"], name="here", **attributes)
    run = gravure.compile(model([scatter], types, ["y"], opset=24).SerializeToString())
    x, u, most = f32(1, 3, 2), f32(1, 2, 2), np.iinfo(np.int64).max
    for place in (0, 2, 7, most - 1, most):
        wanted = x.copy()
        wanted[:, [(place + n) % 3 for n in range(2)]] = u
        np.testing.assert_array_equal(run.run([x, u, ids(place)])[0], wanted)
    for place in (-1, -3, -most - 1):
        with pytest.raises(RequirementError, match=f"here': TensorScatter: index = {place} "):
            run.run([x, u, ids(place)])


def test_a_known_index_into_an_open_axis_is_looked_at_in_the_run(model: Make) -> None:
    types = {"x": ("f32", ["N", 4])}
    whole = model([node("Gather", ["x", "i"], ["y"])], types, ["y"], {"i": ids(2, 0)})
    run = gravure.compile(whole.SerializeToString(), dims={"N": (1, 8)})
    np.testing.assert_array_equal(run.run([X])[0], X[[2, 0]])
    with pytest.raises(RequirementError, match="index = 2 is not in"):
        run.run([X[:2]])


def test_nothing_is_required_of_no_indices(model: Make) -> None:
    types = {"x": ("f32", [3, 4]), "i": ("i64", ["N"])}
    whole = model([node("Gather", ["x", "i"], ["y"])], types, ["y"])
    run = gravure.compile(whole.SerializeToString(), dims={"N": (0, 8)})
    assert run.run([X, np.empty(0, np.int64)])[0].shape == (0, 4)


@pytest.mark.parametrize("suffix", ["onnx", "gv", "mlir"])
def test_a_model_that_is_written_requires_the_same(
    gathered: bytes, tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / f"again.{suffix}"
    save_program(load_program(gathered), path, Saving())
    dims = {} if suffix == "mlir" else {"N": (1, 4)}
    with pytest.raises(RequirementError, match=r"Gather: index = 3 is not in \[-3, 3\)"):
        ir.interpret(load_program(path, dims=dims), [X, ids([0, 3])])
    if suffix == "onnx":
        assert [each.op_type for each in onnx.load(path).graph.node] == ["Gather"]


def test_the_largest_of_no_elements_has_no_place(model: Make) -> None:
    types = {"x": ("f32", ["B", "N"])}
    whole = model([node("ArgMax", ["x"], ["y"], axis=1, keepdims=0)], types, ["y"])
    run = gravure.compile(whole.SerializeToString(), dims={"B": (0, 4), "N": (0, 4)})
    np.testing.assert_array_equal(run.run([X])[0], [3, 3, 3])
    assert run.run([X[:0, :0]])[0].shape == (0,)
    with pytest.raises(RuntimeInputError, match="axis 1 is empty, expected elements for B places"):
        run.run([X[:, :0]])


def test_random_inputs_are_such_as_a_run_takes(model: Make, tmp_path: Path) -> None:
    nodes = [
        node("Gather", ["x", "i"], ["a"]),
        node("Gather", ["x", "many"], ["b"]),
        node("Gather", ["w", "many"], ["c"]),
    ]
    types = {
        "x": ("f32", [3, 4]), "w": ("f32", ["N", 4]), "i": ("i64", [50]), "many": ("i32", [50]),
    }  # fmt: skip
    path = tmp_path / "rows.onnx"
    path.write_bytes(model(nodes, types, ["a", "b", "c"]).SerializeToString())
    for size in (1, 2, 5):
        compiled = gravure.compile(path, dims={"N": size})
        compiled.save(tmp_path / "rows.so")
        loaded = gravure.load(tmp_path / "rows.so")
        assert [info.within for info in loaded.inputs] == [info.within for info in compiled.inputs]
        made = make_inputs(None, loaded.inputs, loaded.dims)
        assert {*made["i"]} == {0, 1, 2}
        assert {*made["many"]} == {*range(min(size, 3))}
        loaded.run(made)
    open_ones = gravure.compile(path, dims={"N": (1, 9)})
    open_ones.run(make_inputs(None, open_ones.inputs, open_ones.dims, {"N": 2}))
    assert not gravure.check(path, dims={"N": 2}).findings
