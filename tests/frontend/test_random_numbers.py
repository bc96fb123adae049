"""Random operations draw the same numbers eagerly, in functions and ahead of time."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gravure as gv
import gravure.tf as tf
from gravure.frontend.tf.draws.sampling import permutation
from gravure.frontend.tf.ops import random_ops
from gravure.ir.ops.random import STRIDE, drawn_key

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
    keys = [drawn_key((3, 7), count * STRIDE * 300 * 70) for count in range(2)]
    one, many = ([], [])
    for threads, found in ((1, one), (3, many)):
        with gv.load(tmp_path / "draw.so", threads=threads) as model:
            found += [model(key) for key in keys]
    np.testing.assert_array_equal(one, many)
    np.testing.assert_allclose(one, eager, rtol=2e-6, atol=2e-6)


def test_draws_in_loops_and_branches_are_compiled() -> None:
    def walk(n: Any) -> Any:
        def step(i: Any, s: Any) -> Any:
            return i + 1, s + tf.random.normal([2], seed=3)

        far = tf.while_loop(lambda i, s: i < n, step, (0, tf.zeros([2])))[1]
        return far + tf.cond(n > 2, lambda: tf.random.uniform([2], seed=5), lambda: 0.0 * far)

    def draws(count: int) -> list[Any]:
        tf.random.set_seed(7)
        staged = tf.function(walk)
        found = [staged(tf.constant(n)).numpy() for n in (3, 2, 3, 4, 3)[:count]]
        [concrete] = staged.cache.values()
        assert concrete.graph.refusal == ""
        return found

    interpreted, together = draws(2), draws(5)
    np.testing.assert_allclose(together[:2], interpreted, rtol=2e-6, atol=2e-6)
    assert len({tuple(x) for x in np.round(together, 4)}) == 5
    eager = tf.random.set_seed(7) or [walk(tf.constant(n)).numpy() for n in (3, 2, 3, 4, 3)]
    np.testing.assert_allclose(together, eager, rtol=2e-5, atol=2e-6)


def test_a_gradient_of_a_gradient_sees_the_draw_that_was_drawn() -> None:
    @tf.function
    def noisy(x: Any) -> Any:
        return tf.reduce_sum(x**3 * tf.random.uniform([3], 1.0, 2.0, seed=1))

    @tf.function
    def twice(x: Any) -> Any:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = noisy(x)
            slope = inner.gradient(y, x)
        return y, slope, outer.gradient(slope, x)

    for _ in range(5):
        y, slope, second = twice(tf.constant([1.0, 1.0, 1.0]))
        np.testing.assert_allclose(tf.reduce_sum(slope), 3 * y, rtol=1e-5)
        np.testing.assert_allclose(tf.reduce_sum(second), 6 * y, rtol=1e-5)
    [concrete] = twice.cache.values()
    assert concrete.graph.refusal == ""


def test_stateless_draws_are_those_of_tensorflow() -> None:
    draw, bell = tf.random.stateless_uniform, tf.random.stateless_normal
    for found, expected in (
        (draw([2], [1, 2]), [0.84406042, 0.19204533]),
        (draw([2], [1, 2], dtype=tf.float64), [0.7524837538451801, 0.9697857725627486]),
        (draw([3], [1, 2], minval=0, maxval=10, dtype=tf.int32), [0, 9, 4]),
        (draw([2], [1, 2], None, None, tf.int32), [1105988140, 1738052849]),
        (bell([2], [3, 4]), [-0.17393383, 1.67235470]),
        (tf.function(lambda seed: draw([2], seed))(tf.constant([1, 2])), [0.84406042, 0.19204533]),
    ):
        np.testing.assert_allclose(found, expected, rtol=2e-6)


CLOSE: dict[str, float] = {"rtol": 2e-6, "atol": 1e-6}
"""Normal numbers go through logarithms and sines, which differ in the last places."""


def test_draws_with_seeds_are_those_of_tensorflow() -> None:
    tf.random.set_seed(3)
    first = [0.7300215, 0.5961578, 0.37875235, 0.03880572, 0.7283852]
    second = [0.01820624, 0.14788377, 0.0617969, 0.5092071, 0.5942911]
    for wanted in (first, second):
        np.testing.assert_allclose(tf.random.uniform([5], seed=7).numpy(), wanted, rtol=1e-6)
    drawn = [-0.45067555, -0.6528815, 0.3364032, 1.3522494, 0.7076454]
    np.testing.assert_allclose(tf.random.normal([5], seed=7).numpy(), drawn, **CLOSE)
    unseeded = tf.random.uniform([3]).numpy()
    np.testing.assert_allclose(unseeded, [0.13366318, 0.5678531, 0.4963317], rtol=1e-6)
    inside = tf.random.truncated_normal([6], seed=7).numpy()
    np.testing.assert_allclose(inside, [*drawn[:4], 1.3565425, 0.6383049], **CLOSE)
    whole = tf.random.uniform([5], 0, 100, tf.int32, seed=7).numpy()
    assert whole.tolist() == [76, 86, 53, 30, 94]
    wide = tf.random.uniform([3], dtype=tf.float64, seed=7).numpy()
    np.testing.assert_allclose(wide, [0.8401726, 0.03001888, 0.82708188], rtol=1e-6)


def test_draws_in_functions_are_those_of_tensorflow() -> None:
    @tf.function
    def draw() -> Any:
        return tf.random.uniform([2]), tf.random.normal([2])

    tf.random.set_seed(3)
    wanted = (
        ([0.12736404, 0.8146913], [-0.02353588, -0.7080437]),
        ([0.88987064, 0.6627567], [-0.786447, -0.63908803]),
    )
    for uniforms, normals in wanted:
        found = draw()
        np.testing.assert_allclose(found[0].numpy(), uniforms, rtol=1e-6)
        np.testing.assert_allclose(found[1].numpy(), normals, **CLOSE)


def test_draws_of_a_generator_are_those_of_tensorflow() -> None:
    one = tf.random.Generator.from_seed(5)
    np.testing.assert_allclose(one.uniform([3]), [0.567016, 0.2077086, 0.18223882], rtol=1e-6)
    drawn = [-1.6569936, 0.98407227, 1.190147, -1.4798713, 0.44445375]
    np.testing.assert_allclose(one.normal([5]), drawn, **CLOSE)
    assert one.state.numpy().tolist() == [2053, 0, 0]
    assert one.uniform([2], 1, 5, tf.int32).numpy().tolist() == [3, 2]
    whole = one.uniform_full_int([3], dtype=tf.int32).numpy()
    assert whole.tolist() == [-163620100, 1564923894, -999671052]
    assert one.uniform_full_int([2]).numpy().tolist() == [7949696273897146372, 15701743443633834972]
    inside = one.truncated_normal([5], 1.0, 2.0).numpy()
    np.testing.assert_allclose(inside, [1.695006, 3.17284, -1.565991, 2.8504925, 1.5073011], 1e-6)
    assert one.make_seeds(2).numpy().tolist()[0] == [-138822244472995442, 1867735081507980743]
    assert one.split(2)[1].state.numpy().tolist() == [0, 0, 4973500709357460796]
    assert one.skip(10).numpy().tolist() == [6149, 0, 0]
    one.reset([-1, 3, 4])
    np.testing.assert_allclose(one.uniform([3]), [0.08355188, 0.6038739, 0.27058923], rtol=1e-6)
    assert one.state.numpy().tolist() == [767, 4, 4]  # the counter has 128 bits
    made = tf.random.Generator.from_key_counter(7, [1, 2]).uniform([2])
    np.testing.assert_allclose(made, [0.10157979, 0.8636915], rtol=1e-6)
    with pytest.raises(ValueError, match="unsupported value mersenne"):
        tf.random.Generator.from_seed(5, alg="mersenne")
    with pytest.raises(ValueError, match="incompatible"):
        tf.random.Generator.from_state([1, 2])


def test_generators_move_on_in_functions() -> None:
    one = tf.random.Generator.from_seed(1)
    step = tf.function(lambda: one.normal([2, 2]))
    found = [step().numpy() for _ in range(CALLS)]
    [concrete] = step.cache.values()
    assert concrete.graph.refusal == ""
    wanted = [[-0.16787435, 1.8853472], [-1.2292364, 0.3688398]]
    np.testing.assert_allclose(found[3], wanted, **CLOSE)
    assert one.state.numpy().tolist() == [1 + CALLS * 4 * STRIDE, 0, 0]
    again = tf.random.Generator.from_seed(1)
    eager = [again.normal([2, 2]).numpy() for _ in range(CALLS)]
    np.testing.assert_allclose(found, eager, **CLOSE)


MAKERS = {
    "seed": lambda one: tf.random.Generator.from_seed(1),
    "chance": lambda one: tf.random.Generator.from_non_deterministic_state(),
    "state": lambda one: tf.random.Generator.from_state([1, 2, 3], alg="philox"),
    "key": lambda one: tf.random.Generator.from_key_counter(1, [2, 3], alg="philox"),
    "computed": lambda one: tf.random.Generator.from_state(one.state + 1, alg="philox"),
    "copy": lambda one: tf.random.Generator(copy_from=one),
    "split": lambda one: one.split(2)[1],
}


@pytest.mark.parametrize("kind", MAKERS)
def test_each_call_of_a_function_cannot_make_generators(kind: str) -> None:
    one = tf.random.Generator.from_seed(1)
    with pytest.raises(ValueError, match="tried to create variables"):
        tf.function(lambda: MAKERS[kind](one).normal([1]))()


@pytest.mark.parametrize("splits", [False, True])
def test_the_first_call_of_a_function_can_make_generators(splits: bool) -> None:
    kept: list[tf.random.Generator] = []

    @tf.function
    def draw() -> tf.Tensor:
        if not kept:
            one = tf.random.Generator.from_seed(1)
            kept.append(one.split(2)[1] if splits else one)
        return kept[0].normal([1])

    wanted = [0.6538216, -0.0259837] if splits else [0.4384227, 1.6272374]
    np.testing.assert_allclose([draw()[0], draw()[0]], wanted, **CLOSE)


def test_generators_are_reset_by_what_a_function_computes() -> None:
    one = tf.random.Generator.from_seed(1)

    @tf.function
    def draw(seed: tf.Tensor, key: tf.Tensor, counter: tf.Tensor) -> list[tf.Tensor]:
        one.reset_from_seed(seed)
        found = [one.normal([1])]
        one.reset_from_key_counter(key, counter)
        return [*found, one.normal([1])]

    found = draw(*(tf.constant(each, tf.int64) for each in (5, 5, [5, 6])))
    np.testing.assert_allclose(np.ravel(found), [-1.7138785, 1.5323465], **CLOSE)


def test_the_generator_of_the_process_may_be_first_asked_for_in_a_function() -> None:
    before = tf.random.get_global_generator()
    tf.random.set_global_generator(None)
    try:
        draw = tf.function(lambda: tf.random.get_global_generator().normal([2]))
        assert (draw().numpy() != draw().numpy()).all()
    finally:
        tf.random.set_global_generator(before)


def test_stateless_draws_by_a_seed_that_is_computed_are_compiled() -> None:
    @tf.function
    def draw(seed: Any) -> Any:
        return tf.random.stateless_uniform([4], seed), tf.random.stateless_normal([3], seed)

    for _ in range(CALLS):
        uniforms, normals = draw(tf.constant([1, 2]))
    [concrete] = draw.cache.values()
    assert concrete.graph.refusal == ""
    eager = tf.random.stateless_uniform([4], [1, 2]).numpy()
    np.testing.assert_array_equal(uniforms.numpy(), eager)
    np.testing.assert_allclose(normals, [0.54411012, 0.20738031, 0.07356432], **CLOSE)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("draw", [tf.random.uniform, tf.random.normal])
def test_many_numbers_are_those_that_few_would_be(
    draw: Any, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for often in (1 << 60, 1):
        monkeypatch.setattr(random_ops, "OFTEN", often)
        tf.random.set_seed(5)
        found.append([draw(shape, dtype=dtype).numpy() for shape in ([7, 143], [], [4], [0])])
    for few, compiled in zip(*found, strict=True):
        np.testing.assert_array_equal(few, compiled)


@pytest.mark.parametrize(
    "drop",
    [
        lambda x: tf.nn.dropout(x, 0.5),
        lambda x: tf.nn.dropout(x, rate=tf.constant(0.5)),
        lambda x: tf.compat.v1.nn.dropout(x, keep_prob=0.5),
    ],
)
def test_eager_dropout_draws_anew_each_time(drop: Any) -> None:
    x = tf.ones([20, 50])
    tf.random.set_seed(9)
    drawn = [tf.random.uniform([20, 50]).numpy() >= 0.5 for _ in range(6)]
    tf.random.set_seed(9)
    for kept in drawn:
        np.testing.assert_array_equal(drop(x).numpy(), np.where(kept, 2.0, 0.0))


def test_no_function_that_draws_is_remembered() -> None:
    """Each public function that draws, called often with the same arguments, draws anew."""
    x, rows = tf.ones([4, 64]), tf.reshape(tf.range(256.0), [4, 64])
    image = tf.reshape(tf.range(4 * 8 * 8 * 3.0), [4, 8, 8, 3])
    labels = tf.reshape(tf.range(4, dtype=tf.int64), [4, 1])
    weights, biases = tf.reshape(tf.range(6400.0), [100, 64]) / 6400, tf.zeros([100])
    functions = [
        lambda: tf.random.uniform([64]),
        lambda: tf.random.normal([64]),
        lambda: tf.random.truncated_normal([64]),
        lambda: tf.random.gamma([64], 2.0),
        lambda: tf.random.poisson([64], 50.0),
        lambda: tf.random.categorical(tf.zeros([1, 1000]), 8),
        lambda: tf.random.shuffle(tf.range(64)),
        lambda: tf.nn.dropout(x, 0.5),
        lambda: tf.image.random_crop(image, [4, 2, 2, 3]),
        lambda: tf.image.random_brightness(image, 0.5),
        lambda: tf.image.random_contrast(image, 0.1, 0.9),
        lambda: tf.nn.sampled_softmax_loss(weights, biases, labels, rows, 20, 100),
        lambda: tf.nn.nce_loss(weights, biases, labels, rows, 20, 100),
        lambda: tf.random.log_uniform_candidate_sampler(labels, 1, 20, True, 1000)[0],
    ]
    for draw in functions:
        found = {np.asarray(draw()).tobytes() for _ in range(12)}
        assert len(found) > 6, draw


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_many_truncated_numbers_are_those_of_all_tries(
    dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[None] = []
    rest = random_ops._draw_rest
    monkeypatch.setattr(random_ops, "_draw_rest", lambda *given: drawn.append(rest(*given)))

    def draw() -> Any:
        return tf.random.stateless_truncated_normal([1_000_003], [1, 2], dtype=dtype)

    assert draw().numpy().tobytes() == tf.function(draw)().numpy().tobytes()
    assert drawn or dtype == "float64", "some numbers need more tries"


def test_seeds_that_are_fractions_are_cut_as_in_tensorflow() -> None:
    drawn = []
    for seed in (1.0, 2.5):
        tf.random.set_seed(seed)  # type: ignore[arg-type]
        drawn += [float(tf.random.uniform([])), float(tf.random.uniform([], seed=2.7))]
    wanted = [0.1651308536529541, 0.406396746635437, 0.8804190158843994, 0.552105188369751]
    np.testing.assert_allclose(drawn, wanted, rtol=1e-6)


@pytest.mark.parametrize(
    ("seed", "state"),
    [
        (1, [1, 0, 0]),
        (np.int64(1), [0, 0, 1]),
        (1.7, [0, 0, 1]),
        ([3, -4], [0, 3, -4]),
        ((3, 4, 5, 6), [3, 4, 5]),
        (1 << 70, [0, 64, 0]),
        (-1, [-1, -1, -1]),
    ],
)
def test_seeds_of_generators_fill_the_state_as_in_tensorflow(seed: Any, state: list[int]) -> None:
    for given in (seed, tf.constant(seed) if isinstance(seed, list) else seed):
        made = tf.random.Generator.from_seed(given)
        assert made.state.numpy().tolist() == state
        assert tf.random.create_rng_state(given, "philox").numpy().tolist() == state
        made.reset_from_seed(given)
        assert made.state.numpy().tolist() == state


def test_many_places_are_exchanged_as_in_tensorflow() -> None:
    """The numbers were recorded from TensorFlow 2.21."""
    tf.random.set_seed(1)
    found = tf.random.shuffle(tf.range(100001))
    assert found.numpy()[:4].tolist() == [91742, 93950, 17006, 57580]
    words = np.random.RandomState(0).randint(0, 1 << 32, 6999, np.uint32)
    few = list(range(7000))
    for i, word in enumerate(words.tolist()):
        other = i + word % (7000 - i)
        few[i], few[other] = few[other], few[i]
    np.testing.assert_array_equal(permutation(words, 7000), few)


def drawn(dataset: Any) -> list[list[float]]:
    """Return what two iterations of a pipeline give."""
    return [[float(x) for x in dataset] for _ in range(2)]


def test_each_iteration_of_a_pipeline_draws_anew_by_its_seed() -> None:
    """The numbers were recorded from TensorFlow 2.21."""
    tf.random.set_seed(5)
    mapped = tf.data.Dataset.range(3).map(lambda x: tf.random.uniform([]))
    first, second = drawn(mapped)
    assert first == second
    np.testing.assert_allclose(first, [0.182864785, 0.67307663, 0.93638718], rtol=1e-6)
    one, other = iter(mapped), iter(mapped)
    assert [float(next(one)) for _ in range(2)] == [float(next(other)) for _ in range(2)]
    first, second = drawn(mapped.repeat(2))
    assert first == second
    assert len(set(first)) == 6

    @tf.function
    def called(x: Any) -> Any:
        return tf.random.uniform([], seed=9)

    first, second = drawn(tf.data.Dataset.range(40).map(called))
    assert first == second
    tf.random.set_seed(None)
    first, second = drawn(tf.data.Dataset.range(3).map(lambda x: tf.random.uniform([])))
    assert not set(first) & set(second)
    with tf.Graph().as_default():
        tf.compat.v1.set_random_seed(3)
        made = tf.data.Dataset.range(2).map(lambda x: tf.random.uniform([]))
        iterator = tf.compat.v1.data.make_initializable_iterator(made)
        following = iterator.get_next()
        with tf.compat.v1.Session() as session:
            rows = []
            for _ in range(2):
                session.run(iterator.initializer)
                rows.append([session.run(following) for _ in range(2)])
    assert rows[0] == rows[1]
