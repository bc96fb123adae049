"""Few numbers that are drawn until they fit have the same bits at once as by compiled code."""

from collections import Counter

import numpy as np
import pytest

import gravure.tf as tf
from gravure.frontend.tf.draws import first_tries, sampling

COUNT = 1500
GIVEN = np.random.default_rng(0)
PARAMETERS = {
    "gamma": np.exp(2 * GIVEN.normal(size=COUNT)),
    "gamma of odd shapes": np.array([0.0, -1.0, np.nan, np.inf, 1.0, 0.5, 2.0, 1e300, 5e-324]),
    "poisson": GIVEN.random(COUNT) * 9.9,
    "poisson of low rates": GIVEN.random(COUNT) * 0.9,
    "poisson of odd rates": np.array([0.0, -0.0, -1.0, np.nan, np.inf, 10.0, 50.0, 5e-324, 3.0]),
}


@pytest.mark.parametrize("name", PARAMETERS)
@pytest.mark.parametrize("place", [0, 3])
def test_steps_at_once_and_compiled_code_give_the_same_bits(name, place, monkeypatch):
    distribution, parameters = name.split()[0], PARAMETERS[name]
    draw = getattr(sampling, distribution)
    key = np.array([77, 5, place, 0, 9, 0], np.uint32)
    monkeypatch.setattr(first_tries, "DRAWN", Counter())
    at_once = draw(key, parameters)
    assert first_tries.DRAWN[distribution] == 1
    monkeypatch.setattr(first_tries, "OFTEN", 0)
    compiled = draw(key, parameters)
    assert first_tries.DRAWN[distribution] == 1
    assert at_once.dtype == compiled.dtype
    assert at_once.tobytes() == compiled.tobytes()


def test_what_is_drawn_first_is_not_compiled_for_few_numbers(monkeypatch):
    def never(name, blocks=0):
        raise AssertionError("it is compiled")

    monkeypatch.setattr(first_tries, "DRAWN", Counter())
    monkeypatch.setattr(first_tries, "_kernel", never)
    for _ in range(3):
        assert tf.random.gamma([3], 2.0).shape == (3,)
        assert tf.random.poisson([3], 2.0).shape == (3,)
        assert tf.random.stateless_gamma([2, 2], [1, 2], [0.5, 3.0]).shape == (2, 2)


def test_tapes_see_nothing_of_the_steps(monkeypatch):
    monkeypatch.setattr(first_tries, "DRAWN", Counter())
    alpha = tf.constant([0.5, 2.0])
    grads = []
    for often in (50, 0):
        monkeypatch.setattr(first_tries, "OFTEN", often)
        with tf.GradientTape() as tape:
            tape.watch(alpha)
            drawn = tf.random.stateless_gamma([4, 2], [1, 2], alpha)
        grads.append(tape.gradient(drawn, alpha))
    assert grads[0] is not None
    assert np.array_equal(*grads)
