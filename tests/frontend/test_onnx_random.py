"""Random operators of ONNX: distributed as asked, the same numbers for the same seed."""

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import gravure as gv
from gravure.errors import UnsupportedOp
from gravure.frontend.programs.load import load_program
from gravure.frontend.programs.onnx_backend import prepare
from gravure.ir import interpret

node = helper.make_node
Make = Callable[..., onnx.ModelProto]
COUNT = 20000


def drawn(made: onnx.ModelProto, *inputs: Any, **options: Any) -> list[np.ndarray]:
    """Return what compiled code draws, which must be what is drawn interpreted."""
    data = made.SerializeToString()
    found = gv.compile(data, **options).run(list(inputs))
    program = load_program(data, dims=options.get("dims"))
    for one, other in zip(found, interpret(program, list(inputs)), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-6)
    return found


def test_draws_have_the_distribution_asked_for(model: Make) -> None:
    nodes = [
        node("RandomNormal", [], ["a"], shape=[COUNT], mean=3.0, scale=2.0),
        node("RandomUniform", [], ["b"], shape=[COUNT], low=-1.0, high=5.0, dtype=11),
        node("RandomNormalLike", ["x"], ["c"], dtype=1),
        node("RandomUniformLike", ["x"], ["d"]),
    ]
    a, b, c, d = drawn(model(nodes, {"x": ("f16", [2, COUNT])}, [*"abcd"], opset=22),
                       np.zeros((2, COUNT), np.float16))  # fmt: skip
    assert [x.dtype.name for x in (a, b, c, d)] == ["float32", "float64", "float32", "float16"]
    assert abs(a.mean() - 3) < 0.06
    assert abs(a.std() - 2) < 0.05
    assert b.min() >= -1
    assert b.max() < 5
    assert abs(b.mean() - 2) < 0.05
    assert c.shape == d.shape == (2, COUNT)
    assert abs(np.corrcoef(c)[0, 1]) < 0.03


def test_classes_are_drawn_as_often_as_their_weights_say(model: Make) -> None:
    nodes = [
        node("Multinomial", ["x"], ["y"], sample_size=COUNT, dtype=TensorProto.INT64),
        node("Bernoulli", ["p"], ["z"], dtype=TensorProto.BOOL, seed=4.0),
    ]
    made = model(nodes, {"x": ("f32", ["N", 4]), "p": ("f64", [COUNT])}, ["y", "z"], opset=15)
    share = np.array([[0.1, 0.2, 0.3, 0.4], [0.0, 1.0, 0.0, 0.0]])
    with np.errstate(divide="ignore"):
        weights = (np.log(share) + 3).astype(np.float32)
    y, z = drawn(made, weights, np.linspace(0, 1, COUNT), dims={"N": (1, 4)})
    assert y.dtype == np.int64
    for row, wanted in zip(y, share, strict=True):
        np.testing.assert_allclose(np.bincount(row, minlength=4) / COUNT, wanted, atol=0.015)
    assert not z[: COUNT // 100].any() or z[: COUNT // 100].mean() < 0.05
    assert abs(z.mean() - 0.5) < 0.01


def test_a_seed_says_which_numbers(model: Make) -> None:
    def draw(name: str, **attributes: Any) -> np.ndarray:
        nodes = [
            node("RandomUniform", [], ["y"], name=name, shape=[8], **attributes),
            node("RandomUniform", [], ["z"], name=name, shape=[8], **attributes),
        ]
        return np.stack(drawn(model(nodes, {}, ["y", "z"])))

    one, other = draw("a", seed=7.0), draw("b", seed=7.0)
    assert (one == other).all()
    assert (one[0] == one[1]).all()
    assert (one != draw("a", seed=8.0)).all()
    unsaid = draw("a")
    assert (unsaid == draw("a")).all()
    assert (unsaid != draw("b")).all()
    assert (unsaid[0] != unsaid[1]).all()


@pytest.mark.parametrize("trips", [3, 200])
def test_each_trip_of_a_loop_draws_others(model: Make, trips: int) -> None:
    info = helper.make_tensor_value_info
    body = helper.make_graph(
        [node("RandomUniform", [], ["u"], shape=[4], seed=1.0), node("Identity", ["c"], ["on"])],
        "body",
        [info("i", 7, []), info("c", 9, [])],
        [info("on", 9, []), info("u", 1, [4])],
    )
    nodes = [node("Loop", ["n", ""], ["y"], body=body)]
    (found,) = drawn(model(nodes, {}, ["y"], {"n": np.int64(trips)}))
    assert found.shape == (trips, 4)
    assert len(np.unique(found)) == trips * 4


def test_the_backend_of_suites_says_that_draws_cannot_be_compared(model: Make) -> None:
    made = model([node("Bernoulli", ["p"], ["y"])], {"p": ("f32", [5])}, ["y"], opset=15)
    chances = np.array([0, 1, 0, 1, 1], np.float32)
    with pytest.raises(UnsupportedOp, match="Bernoulli draws numbers"):
        prepare(made)
    np.testing.assert_array_equal(prepare(made, draws=True).run([chances])[0], chances)
