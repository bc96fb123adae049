"""Ways back through formulas are noted, without what nobody wants."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

import gravure as gv
import gravure.tf as tf
from gravure.frontend.eager.remembered import Notes, _used

FORMULAS: dict[str, Callable[[tf.Tensor, tf.Tensor], tf.Tensor]] = {
    "pow": lambda x, y: x**y,
    "a whole power": lambda x, y: x**2 + y,
    "atan2": tf.math.atan2,
    "xlogy": tf.math.xlogy,
    "divided": lambda x, y: x / y,
    "largest": tf.maximum,
    "broadcast": lambda x, y: x * y[:1] - y,
    "both": lambda x, y: tf.tanh(x) * tf.sigmoid(y) * x,
    "complex": lambda x, y: tf.math.real(tf.complex(x, y) * tf.complex(y, x)),
}


@pytest.mark.parametrize("count", [6, 1 << 15])
@pytest.mark.parametrize("name", FORMULAS)
def test_noted_ways_give_the_bits_of_the_first_time(name: str, count: int) -> None:
    random = np.random.default_rng(0)
    x, y = (tf.constant(random.random((2, count), np.float32) + 0.5) for _ in "xy")
    for wanted in ([x], [y], [x, y]):
        found = [_gradients(FORMULAS[name], x, y, wanted) for _ in range(5)]
        for later in found[1:]:
            for one, other in zip(found[0], later, strict=True):
                assert (one is None) == (other is None)
                assert one is None or one.numpy().tobytes() == other.numpy().tobytes()


def _gradients(
    formula: Callable[[tf.Tensor, tf.Tensor], tf.Tensor],
    x: tf.Tensor,
    y: tf.Tensor,
    wanted: Sequence[tf.Tensor],
) -> Sequence[tf.Tensor | None]:
    with tf.GradientTape() as tape:
        tape.watch(wanted)
        made = formula(x, y)
    found: Sequence[tf.Tensor | None] = tape.gradient(made, wanted)
    return found


def test_second_derivatives_go_through_noted_ways() -> None:
    x = tf.constant([1.0, 2.0])
    for _ in range(5):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                made = x**3
            once = inner.gradient(made, x)
        np.testing.assert_allclose(once, [3, 12])
        np.testing.assert_allclose(outer.gradient(once, x), [6, 12])


def test_operations_whose_results_nobody_has_are_not_noted() -> None:
    notes = Notes()
    watched = notes.watch(gv.asarray([1.0, 2.0]))
    assert isinstance(watched, gv.Tensor)
    gv.log(watched * 3)
    notes.form(watched * 2)
    assert len(notes.steps) == 3
    assert [step.call.op.name for step in _used(notes, notes.steps) if step.call] == ["gv.mul"]
