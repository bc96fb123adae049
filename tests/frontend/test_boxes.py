"""Boxes that stand out are found in a loop as by numpy."""

from typing import Any

import numpy as np
import pytest
from onnx import helper

import gravure as gv
from gravure.frontend.models.loops import LOOPS
from gravure.ir.ops.selecting import NonMaxSuppression

node = helper.make_node
RANDOM = np.random.default_rng(7)


def boxes(*shape: int) -> Any:
    """Return boxes on few places, so that many sides, shares and areas are equal, or none."""
    return RANDOM.integers(0, 7, (*shape, 4)).astype(np.float32) / 4


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("overlap", [0.0, 0.5, 1.0, -1.0, np.nan])
def test_boxes_are_those_of_the_operation(center: bool, overlap: float) -> None:
    for count, most in ((0, 3), (1, 0), (9, 1 << 40), (60, 7), (130, 50), (130, -1)):
        found, scores = boxes(2, count), RANDOM.integers(-2, 6, (2, 3, count)).astype(np.float32)
        odd = RANDOM.random(found.shape) < 0.02
        found[odd] = RANDOM.choice(np.float32([np.nan, np.inf, -np.inf, -1, 1e30]), odd.sum())
        scores[RANDOM.random(scores.shape) < 0.05] = np.nan
        for least in (-np.inf, 0, np.nan):
            given = found, scores, np.int64([most]), np.float32(overlap), np.float32([least])
            with np.errstate(all="ignore"):
                (wanted,) = NonMaxSuppression.evaluate(*given, center=center)
            (made,) = LOOPS[NonMaxSuppression](*given, center=center)
            np.testing.assert_array_equal(made, wanted)
            assert made.dtype == np.int64
            assert made.base is None


def test_a_model_that_suppresses_boxes_is_run_by_the_loop(model: Any) -> None:
    """Compiled code compared all boxes in each round: of many that took six times as long."""
    made = model(
        [node("NonMaxSuppression", ["boxes", "scores", "most"], ["y"])],
        {"boxes": ("f32", [1, 200, 4]), "scores": ("f32", [1, 2, 200])}, ["y"],
        {"most": np.int64([5])},
    )  # fmt: skip
    compiled = gv.compile(made.SerializeToString())
    assert [step.operation for step in compiled.host_steps] == ["gv.non_max_suppression"]  # type: ignore[attr-defined]
    given = boxes(1, 200), RANDOM.random((1, 2, 200), np.float32)
    most = np.int64([5]), np.float32(0), np.float32(-np.inf)
    (wanted,) = NonMaxSuppression.evaluate(*given, *most)
    np.testing.assert_array_equal(compiled(*given), wanted)
