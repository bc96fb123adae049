"""Shuffles, gamma and Poisson: TensorFlow's numbers for its seeds, eagerly and in graphs."""

import numpy as np
import pytest

import gravure.tf as tf
from gravure.frontend.eager.tensor import Tensor
from gravure.frontend.tf.draws import first_tries, sampling
from gravure.frontend.tf.ops import random_ops
from gravure.frontend.tf.runs.seeds import Seeds
from gravure.ir.ops.random import drawn_key
from gravure.ir.types import dtypes as rows

v1 = tf.compat.v1
R = tf.random
RATES = [0.5, 20.0, 9.9, 1e5]
PAIRS = np.arange(10).reshape(5, 2)
SEED = [4, 7]


EAGERLY = [
    [0.0, 9.0, 8.0, 7.0, 4.0, 6.0, 3.0, 2.0, 5.0, 1.0],
    [5.0, 9.0, 7.0, 0.0, 4.0, 1.0, 2.0, 8.0, 6.0, 3.0],
    [2.0, 3.0, 4.0, 5.0, 0.0, 1.0, 6.0, 7.0, 8.0, 9.0],
    [0.0],
    [8.0, 0.0, 6.0, 7.0, 2.0, 5.0, 4.0, 1.0, 3.0],
    [0.0109, 1.1697, 0.9146, 0.1887, 1.6022, 0.1415, 0.0706, 4.2315, 0.024],
    [0.0038, 2.0992, 0.7182, 0.1822, 0.5023, 0.711, 0.0861, 2.4636, 1.3009],
    [
        0.0054,
        14.696,
        0.0014,
        10.4617,
        0.0943,
        19.016,
        0.0013,
        7.7479,
        0.0353,
        12.6902,
        0.0607,
        10.8998,
        0.0523,
        18.7097,
        0.0287,
        8.5141,
    ],
    [0.0, 18.0, 6.0, 99763.0, 2.0, 23.0, 13.0, 99984.0, 0.0, 31.0, 3.0, 100112.0],
    [3.0, 20.0, 16.0, 100654.0, 0.0, 20.0, 7.0, 99800.0, 2.0, 23.0, 6.0, 99651.0],
    [0.0, 18.0, 2.0, 23.0, 0.0, 31.0],
    [
        3.9453,
        2.1675,
        1.0414,
        0.0138,
        1.1199,
        2.5643,
        0.6773,
        4.1968,
        0.3379,
        0.0298,
        3.2038,
        0.8291,
        0.0006,
        0.5369,
        1.1151,
    ],
    [0.0, 15.0, 17.0, 0.0, 23.0, 7.0, 0.0, 16.0, 5.0, 0.0, 26.0, 11.0, 0.0, 20.0, 12.0],
    [8.0, 6.0, 5.0, 7.0, 4.0, 3.0, 2.0, 1.0, 9.0, 0.0],
    [6.0, 7.0, 8.0, 9.0, 4.0, 5.0, 0.0, 1.0, 2.0, 3.0],
]
IN_A_SESSION = [
    [3.0, 5.0, 2.0, 4.0, 0.0, 6.0, 1.0],
    [5.0419, 3.7557, 4.7717, 3.1317],
    [8.0, 3.0, 6.0],
    [6.0, 2.0, 0.0, 1.0, 4.0, 5.0, 3.0],
    [2.0, 3.0, 0.0, 1.0, 8.0, 9.0, 6.0, 7.0, 4.0, 5.0],
    [4.0, 6.0, 2.0, 3.0, 0.0, 1.0, 5.0],
    [3.261, 4.3761, 0.1698, 1.7169],
    [4.0, 5.0, 3.0],
    [2.0, 3.0, 0.0, 5.0, 6.0, 1.0, 4.0],
    [8.0, 9.0, 2.0, 3.0, 6.0, 7.0, 0.0, 1.0, 4.0, 5.0],
    [0.0, 6.0, 3.0, 4.0, 1.0, 2.0, 5.0],
    [0.8061, 3.9779, 0.4668, 2.9878],
    [2.0, 3.0, 2.0],
    [2.0, 5.0, 0.0, 3.0, 1.0, 4.0, 6.0],
    [0.0, 1.0, 4.0, 5.0, 8.0, 9.0, 2.0, 3.0, 6.0, 7.0],
]
IN_A_FUNCTION = [
    [2.0, 0.0, 4.0, 5.0, 1.0, 3.0],
    [5.648, 4.9931],
    [0.0, 5.0, 1.0, 2.0, 3.0, 4.0],
    [1.7795, 4.0912],
    [0.0, 5.0, 3.0, 4.0, 2.0, 1.0],
    [1.4078, 3.6146],
    [0.0, 1.0, 2.0, 5.0, 4.0, 3.0],
    [1.8518, 4.6864],
]


def flat(made):
    return np.round(np.asarray(made, np.float64), 4).ravel().tolist()


def test_draws_one_after_another():
    R.set_seed(5)
    draws = [
        *(lambda: R.shuffle(tf.range(10), seed=3) for _ in range(2)),
        lambda: R.shuffle(tf.constant(PAIRS), seed=3),
        lambda: R.shuffle(tf.range(1), seed=3),
        lambda: R.shuffle(tf.range(9)),
        *(lambda: R.gamma([3], [0.5, 2.0, 1.0], seed=1) for _ in range(2)),
        lambda: R.gamma([2, 2], [0.5, 30.0], beta=[[2.0], [3.0]], seed=1, dtype=tf.float64),
        *(lambda: R.poisson([3], RATES, seed=1) for _ in range(2)),
        lambda: R.poisson([3], [0.5, 20.0], seed=1, dtype=tf.int32),
        lambda: R.stateless_gamma([5, 3], SEED, [0.5, 2.0, 1.0]),
        lambda: R.stateless_poisson([5, 3], SEED, [0.5, 20.0, 9.9]),
        lambda: R.experimental.stateless_shuffle(tf.range(10), SEED),
        lambda: R.experimental.stateless_shuffle(tf.constant(PAIRS), SEED),
    ]
    for draw, expected in zip(draws, EAGERLY, strict=True):
        np.testing.assert_allclose(flat(draw()), expected, atol=2e-4)


def test_runs_of_a_session():
    with tf.Graph().as_default():
        v1.set_random_seed(3)
        given = v1.placeholder(tf.float32, [None, 2])
        fetches = [
            R.shuffle(tf.range(7)),
            v1.random_gamma([2], [2.0, 3.0]),
            v1.random_poisson([4.0], [3]),
            R.shuffle(tf.range(7), seed=2),
            v1.random_shuffle(given, seed=4),
        ]
        with v1.Session() as session:
            found = [x for _ in range(3) for x in session.run(fetches, {given: PAIRS})]
    for values, expected in zip(found, IN_A_SESSION, strict=True):
        np.testing.assert_allclose(flat(values), expected, atol=2e-4)


def test_calls_of_a_function():
    R.set_seed(5)

    @tf.function
    def draw(x):
        return R.shuffle(x, seed=3), R.gamma([2], 3.0, seed=2)

    found = [x for _ in range(4) for x in draw(tf.range(6))]
    for values, expected in zip(found, IN_A_FUNCTION, strict=True):
        np.testing.assert_allclose(flat(values), expected, atol=2e-4)


def test_no_gradients_go_through_a_shuffle_but_by_a_seed_of_its_own():
    x = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        y = tf.reduce_sum(R.shuffle(x, seed=1) * tf.constant([1.0, 10.0, 100.0]))
        z = R.experimental.stateless_shuffle(x, [1, 2]) * tf.constant([1.0, 10.0, 100.0])
    assert tape.gradient(y, x) is None
    assert sorted(tf.convert_to_tensor(tape.gradient(z, x)).numpy().tolist()) == [1.0, 10.0, 100.0]


def test_what_cannot_be_drawn():
    assert np.isnan(R.stateless_gamma([2], SEED, [-1.0, 0.0]).numpy()).all()
    assert np.isinf(R.stateless_poisson([1], SEED, [np.inf], tf.float32).numpy()).all()


@pytest.mark.sweep
def test_moments():
    gamma = R.gamma([20000], 2.5, 0.5, seed=1).numpy()
    assert abs(gamma.mean() - 5.0) < 0.1
    assert abs(gamma.var() - 10.0) < 0.6
    for rate in (3.0, 40.0):
        made = R.poisson([20000], rate, seed=1).numpy()
        assert abs(made.mean() - rate) < 0.05 * rate**0.5
        assert abs(made.var() - rate) < 0.05 * rate


@pytest.mark.parametrize("staged", [False, True])
def test_gradients_of_gamma_by_its_parameters(*, staged: bool) -> None:
    def gradients(alphas: list[float], function: object) -> list[list[float]]:
        alpha, beta = tf.Variable(alphas), tf.constant([1.0, 2.0, 0.5])

        def run() -> object:
            with tf.GradientTape() as tape:
                tape.watch(beta)
                total = tf.reduce_sum(function(R.gamma([4], alpha, beta, seed=3)))
            return tape.gradient(total, [alpha, beta])

        tf.random.set_seed(5)
        return [g.numpy().tolist() for g in (tf.function(run)() if staged else run())]

    wanted = [[1420.445068, 74.161354, 9.907997], [-4.0, -2.0, -8.0]]
    np.testing.assert_allclose(gradients([0.05, 0.3, 1.0], tf.math.log), wanted, rtol=2e-5)
    wanted = [[3.960634, 1.972814, 8.042376], [-9.560426, -29.17696, -14558.59]]
    np.testing.assert_allclose(gradients([2.5, 30.0, 900.0], lambda y: y), wanted, rtol=2e-5)


def test_gradients_of_stateless_gamma() -> None:
    alpha = tf.Variable([0.5, 4.0])
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(R.stateless_gamma([3, 2], [1, 2], alpha) ** 2.0)
    np.testing.assert_allclose(tape.gradient(total, alpha), [2.2125657, 26.381395], rtol=1e-5)


@pytest.mark.parametrize("count", [0, 1, 1000, first_tries.AT_ONCE + 7])
@pytest.mark.parametrize("name", ["gamma", "poisson"])
def test_what_the_first_tries_give_is_what_is_drawn_one_after_the_other(
    name: str, count: int
) -> None:
    key = drawn_key((5, 7), 2**33)
    given = np.resize([0.3, 2.0, 1.0, 8.0, 12.0, -1.0, np.inf, np.nan, 0.0, 4.9], count)
    slowly = getattr(sampling, f"_{name}")(sampling.OwnWords(key, np.arange(count)), given)
    with np.errstate(all="ignore"):
        found = getattr(sampling, name)(key, given)
        known = getattr(first_tries, name)(key, given)
    np.testing.assert_allclose(found, slowly, rtol=1e-13)
    asked = (given > 0) & np.isfinite(given) & (given != 1.0 if name == "gamma" else given < 10)
    if count > 1000:
        assert np.isfinite(known[asked]).mean() > 0.98  # few are drawn slowly


@pytest.mark.parametrize("kind", random_ops.IN_BLOCKS)
@pytest.mark.parametrize(
    "row", [rows.f32, rows.f64, rows.f16, rows.i32, rows.i64, rows.u32], ids=str
)
def test_numbers_drawn_in_blocks_are_those_drawn_one_by_one(kind: str, row: rows.DType) -> None:
    whole = kind == "RandomUniformInt"
    if row.is_float == whole or (kind == "Multinomial" and row != rows.f64):
        return
    key = Tensor(drawn_key((5, 7), 2560))
    for options in [{"low": 2, "high": 17}, {"low": None, "high": None}] if whole else [{}]:
        for dims in ((7,), (3, 33), ()):
            wanted = random_ops._drawn_by_steps(kind, key, dims, row, **options).numpy()
            for _ in range(random_ops.OFTEN):
                found = random_ops.drawn_now(kind, key, dims, row, **options).numpy()
            np.testing.assert_array_equal(found, wanted, strict=True)


def test_draws_without_a_seed_leave_nothing_behind() -> None:
    R.set_seed(None)
    before = len(Seeds.used)
    made = [R.normal([3]).numpy().tolist() for _ in range(5)]
    R.gamma([2], 0.5)
    assert len(Seeds.used) == before
    assert len({tuple(x) for x in made}) == 5
