"""Host steps in a row are planned once, and give what they give one by one."""

from collections.abc import Callable

import numpy as np
import onnx
from onnx import helper

import gravure as gv
from gravure.frontend.models.pieces import SteppedModel
from gravure.runtime.tracing import Trace, listening

node = helper.make_node
Make = Callable[..., onnx.ModelProto]
RANDOM = np.random.default_rng(1)


def named(model: Make) -> onnx.ModelProto:
    """Return a model that looks categories up, and gives the name of the largest."""
    made = model(
        [node("LabelEncoder", ["t"], ["i"], domain="ai.onnx.ml", keys_strings=["a", "b", "c"],
              values_floats=[1.0, -2.0, 5.0], default_float=0.5),
         node("Mul", ["i", "x"], ["y"]), node("ArgMax", ["y"], ["k"], axis=1, keepdims=0),
         node("LabelEncoder", ["k"], ["z"], domain="ai.onnx.ml", keys_int64s=[0, 1, 2],
              values_strings=["low", "mid", "high"], default_string="?")],
        {"t": ("string", ["N", 3]), "x": ("f32", ["N", 3])}, ["z", "y"],
    )  # fmt: skip
    made.opset_import.append(helper.make_opsetid("ai.onnx.ml", 2))
    return made


def test_steps_in_a_row_are_planned_once(model: Make) -> None:
    made = gv.compile(named(model).SerializeToString(), dims={"N": (1, 9)})
    assert isinstance(made, SteppedModel)
    assert made.straight is not None
    for rows in (1, 4, 7):
        texts = RANDOM.choice(np.array(["a", "b", "c", "d"], object), (rows, 3))
        x = RANDOM.standard_normal((rows, 3)).astype(np.float32)
        with listening(Trace()):  # who looks on is told of each step
            watched = made.run([texts, x])
        for each, other in zip(made.run([texts, x]), watched, strict=True):
            np.testing.assert_array_equal(each, other)
        factors = np.vectorize({"a": 1, "b": -2, "c": 5, "d": 0.5}.get, otypes=[float])(texts)
        np.testing.assert_allclose(watched[1], factors * x, rtol=1e-6)
