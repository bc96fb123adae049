"""Numbers of which the run says how many there are: draws, and places in ordered rows."""

import warnings

import numpy as np
import pytest

import gravure as gv
import gravure.tf as tf


@pytest.mark.parametrize("spec", [None, tf.TensorSpec([], tf.int32)], ids=["free", "told"])
def test_draws_of_as_many_numbers_as_the_run_says_are_compiled(spec):
    generator = tf.random.Generator.from_seed(3)
    draws = {
        "stateless": lambda n: tf.random.stateless_normal([n, 2], [1, 2]),
        "seeded": lambda n: tf.random.uniform([n], seed=5),
        "generator": lambda n: generator.normal([n]),
        "ints": lambda n: tf.random.stateless_uniform([n], [4, 5], 0, 9, tf.int32),
    }

    def run(make):
        tf.random.set_seed(7)
        generator.reset_from_seed(3)
        return [make(tf.constant(n)) for n in (3, 3, 3, 5, 2, 300)]

    for name, draw in draws.items():
        with warnings.catch_warnings():
            warnings.simplefilter("error", gv.PerformanceWarning)
            staged = tf.function(draw, input_signature=spec and [spec])
            found, again = run(staged), run(staged)
        assert not [line for line in staged.explain() if "Python" in line], name
        for one, other in zip(found, run(draw) if name != "seeded" else again, strict=True):
            assert one.shape == other.shape
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("outer", [(), (2, 3)])
@pytest.mark.parametrize("count", [0, 5, 33, 200])
def test_places_in_ordered_rows_are_searched_by_compiled_code(count, outer, side):
    draw = np.random.default_rng(count).normal
    rows = np.sort(np.round(draw(size=(*outer, count)), 1).astype("f"))
    values = np.round(draw(size=(*outer, 7)), 1).astype("f")
    wanted = tf.searchsorted(rows, values, side=side).numpy()
    for dims in ([None] * rows.ndim, rows.shape):
        specs = [tf.TensorSpec(dims), tf.TensorSpec([None] * rows.ndim)]
        staged = tf.function(lambda x, y: tf.searchsorted(x, y + 0, side=side), specs)
        for _ in range(4):
            assert np.array_equal(staged(rows, values), wanted)
        assert not [line for line in staged.explain() if "Python" in line]


def test_what_is_no_number_is_before_or_behind_all():
    nan = float("nan")
    assert tf.searchsorted([1.0, 2.0], [nan, 1.5]).numpy().tolist() == [0, 1]
    assert tf.searchsorted([1.0, 2.0], [nan, 1.5], side="right").numpy().tolist() == [2, 1]


def test_the_state_of_a_seed_is_a_tensor():
    made = tf.random.create_rng_state(1, "philox")
    assert (made.dtype, made.numpy().tolist()) == (tf.int64, [1, 0, 0])


def test_a_run_tells_whether_a_seed_is_of_two_numbers():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
    def drawn(seed):
        return tf.random.stateless_normal([3], seed), tf.random.stateless_gamma([2], seed, 2.0)

    wanted = tf.random.stateless_normal([3], [1, 2]).numpy()
    for _ in range(4):
        assert drawn(tf.constant([1, 2]))[0].numpy().tolist() == wanted.tolist()
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\(3,\).*expected shape \(2,\)"):
        drawn(tf.constant([1, 2, 3]))
