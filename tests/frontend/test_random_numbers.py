"""Random operations draw the same numbers eagerly, in functions and ahead of time."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gravure as gv
import gravure.tf as tf
from gravure.ir.ops.random import key_of

SHAPE = (300, 70)
CALLS = 5
"""The first ones are interpreted, the last ones compiled."""


def uniform() -> Any:
    return tf.random.uniform(SHAPE, -1.0, 1.0, seed=7)


def normal() -> Any:
    return tf.random.normal(SHAPE, seed=7)


@pytest.mark.parametrize("draw", [uniform, normal], ids=lambda draw: draw.__name__)
def test_functions_draw_what_eager_code_draws(draw: Any) -> None:
    tf.random.set_seed(3)
    eager = [draw().numpy() for _ in range(CALLS)]
    tf.random.set_seed(3)
    step = tf.function(draw)
    staged = [step().numpy() for _ in range(CALLS)]
    for one, other in zip(eager, staged, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-6, atol=2e-6)
    assert not np.allclose(eager[0], eager[1])
    if draw is uniform:
        np.testing.assert_array_equal(eager, staged)


@pytest.mark.parametrize("draw", [uniform, normal], ids=lambda draw: draw.__name__)
def test_libraries_draw_the_same_on_any_number_of_threads(draw: Any, tmp_path: Path) -> None:
    tf.random.set_seed(3)
    eager = [draw().numpy() for _ in range(2)]
    tf.function(draw).get_concrete_function().save(tmp_path / "draw.so")
    keys = [key_of((3, 7, 0), count) for count in range(2)]
    one, many = ([], [])
    for threads, found in ((1, one), (3, many)):
        with gv.load(tmp_path / "draw.so", threads=threads) as model:
            found += [model(key) for key in keys]
    np.testing.assert_array_equal(one, many)
    np.testing.assert_allclose(one, eager, rtol=2e-6, atol=2e-6)
