"""Numbers of tries that succeed, and the states of generators that draw them."""

import numpy as np
import pytest

from gravure import tf
from gravure.frontend.tf.draws import generator, successes

KEY = np.array([7, 8, 2**32 - 5, 2**32 - 1, 2**32 - 1, 0], np.uint32)


def test_successes_are_what_their_function_says_in_python() -> None:
    random = np.random.default_rng(0)
    counts = np.concatenate([random.integers(0, 50, 150), 10.0 ** random.uniform(0, 8, 150)])
    probs = np.concatenate([random.random(250), 10.0 ** random.uniform(-8, 0, 50)])
    made = [0.0] * len(counts)
    key = KEY.tolist()
    successes._draw.function(key, counts, probs, successes.TAILS, made)
    assert made == successes.binomial(KEY, counts, probs).tolist()


@pytest.mark.parametrize(("count", "chance"), [(np.inf, 0.3), (np.nan, 0.3), (np.inf, 0.9)])
def test_of_tries_without_end_as_many_succeed(count, chance) -> None:
    """Their numbers were looked up in a table at the least of all integers."""
    found = tf.random.stateless_binomial([4], [1, 2], count, chance, output_dtype="float64")
    np.testing.assert_array_equal(found, [count] * 4)


@pytest.mark.parametrize(
    ("counts", "probs", "wanted"),
    [
        (10, 0.3, [[4, 2], [3, 3], [2, 2]]),
        ([10, 20], [0.3, 0.5], [[4, 12], [2, 9], [3, 6]]),
        (np.array([10, 20]), [0.3, 0.5], [[4, 12], [2, 9], [3, 6]]),
        (np.array([10, 20], "float32"), np.array([0.3, 0.5]), [[4, 12], [2, 9], [3, 6]]),
        ([10, 20], tf.constant([0.3, 0.5]), [[4, 12], [2, 9], [3, 6]]),
    ],
)
@pytest.mark.parametrize("staged", [False, True])
def test_whole_tries_and_chances_without_a_tensor_are_doubles(counts, probs, wanted, staged):
    """They were refused: the chances took the type of the tries."""

    def draw():
        return tf.random.stateless_binomial([3, 2], [3, 14], counts, probs)

    np.testing.assert_array_equal((tf.function(draw) if staged else draw)(), wanted)


@pytest.mark.parametrize("state", [[0, 0, 0], [-3, 5, 7], [2**63 - 1, -1, -9], [-1, -1, 1]])
def test_generators_move_on_at_once_as_in_functions(state) -> None:
    at_once, staged = (tf.random.Generator.from_state(state) for _ in range(2))

    def draws(of):
        probs = tf.constant([0.3, 0.5, 0.9])
        yield of.binomial([4, 3], 20.0, probs)
        yield of.normal([5])
        yield of.uniform_full_int([3], "uint32")
        yield of.skip(-3)

    in_function = tf.function(lambda: list(draws(staged)))
    for found, wanted in zip(draws(at_once), in_function(), strict=True):
        assert np.array_equal(found, wanted)
    assert np.array_equal(at_once.state, staged.state)


def test_states_of_generators_are_moved_without_operations(monkeypatch) -> None:
    monkeypatch.setattr(generator, "perform_all", None)
    found = tf.random.Generator.from_state([-1, 3, 7])
    found.normal([3])
    assert found.state.numpy().tolist() == [767, 4, 7]
