"""Sizes that are computed of open ones meet sizes that are known: what fits is told by a run."""

import numpy as np
import pytest

import gravure as gv
import gravure.tf as tf

KNOWN = tf.constant([1.0, 2.0, 3.0, 4.0])
COMPUTED = {
    "concat": lambda x: tf.concat([x, x], 0),
    "pad": lambda x: tf.pad(x, [[1, 1]]),
    "reshape": lambda x: tf.reshape(tf.stack([x, x]), [-1]),
    "strided": lambda x: tf.concat([x] * 4, 0)[::2],
    "tile": lambda x: tf.tile(x, [2]),
    "zeros": lambda x: tf.zeros([2 * tf.size(x)]),
}
USES = {
    "add": lambda a, b: b + a,
    "einsum": lambda a, b: tf.einsum("i,i->", a, b),
    "mask": lambda a, b: tf.boolean_mask(b, a > 0),
    "matmul": lambda a, b: tf.matmul(a[None], b[:, None]),
    "multiply": tf.multiply,
    "stack": lambda a, b: tf.stack([a, b]),
    "where": lambda a, b: tf.where(a > b, a, b),
}


@pytest.mark.parametrize("shape", [[None], None], ids=["size", "rank"])
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("computed", COMPUTED)
def test_a_computed_size_may_be_a_known_one(computed, use, shape):
    def value(x):
        return USES[use](COMPUTED[computed](x), KNOWN)

    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(value(x))
        return tape.gradient(y, x, unconnected_gradients="zero")

    x = tf.constant([1.0, 2.0])
    for function in (value, slope):
        staged = tf.function(function, input_signature=[tf.TensorSpec(shape, tf.float32)])
        assert np.allclose(staged(x), function(x))


def test_two_open_sizes_are_put_in_each_by_its_own():
    @tf.function(input_signature=[tf.TensorSpec([None]), tf.TensorSpec([None])])
    def f(x, y):
        return tf.ones([4, 6]) * tf.concat([x, x], 0)[:, None] * tf.tile(y, [3])[None]

    assert np.array_equal(f([1.0, 2.0], [3.0, 4.0]), np.outer([1, 2, 1, 2], [3, 4] * 3))
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match="5"):
        f(tf.ones([5]), tf.ones([2]))


@pytest.mark.parametrize("reduction", [gv.mean, gv.var, gv.std, gv.logsumexp, gv.prod])
def test_reductions_of_open_sizes_have_gradients(reduction):
    def slope(x):
        with gv.GradientTape() as tape:
            tape.watch(x)
            y = gv.sum(reduction(x * x, axis=0))
        return tape.gradient(y, x)

    staged = gv.function(slope, input_signature=[tf.TensorSpec([None, None], tf.float32)])
    for shape in ((2, 3), (4, 1)):
        x = gv.asarray(np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(shape))
        assert np.allclose(staged(x), slope(x), rtol=1e-4)


@pytest.mark.parametrize("open_", [False, True], ids=["known", "open"])
@pytest.mark.parametrize("how", ["sum", "mean", "max", "min", "prod", "sqrt_n"])
def test_how_many_segments_there_are_may_be_computed(how, open_):
    combine = getattr(tf.math, f"unsorted_segment_{how}")

    def both(x, numbers):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = combine(x, numbers, tf.reduce_max(numbers) + 1)
        return y, tape.gradient(y, x)

    count = None if open_ else 3
    specs = [tf.TensorSpec([count, 2]), tf.TensorSpec([count], tf.int32)]
    staged = tf.function(both, input_signature=specs)
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    for numbers in ([1, 0, 1], [0, 2, -1]):
        wanted = both(x, tf.constant(numbers))
        for found, known in zip(staged(x, tf.constant(numbers)), wanted, strict=True):
            assert np.allclose(found, known)


SMOOTH = {
    "square": tf.square,
    "scale": lambda x: x * 2.0,
    "column": lambda x: x[:, None] * tf.ones([3]),
    "taken": lambda x: (x[:, None] * tf.ones([3]))[:, 1],
    "matmul": lambda x: tf.nn.softmax(x[:, None] @ tf.constant([[1.0, -2.0]]))[:, 1],
    "reshape": lambda x: tf.exp(tf.reshape(x, [-1, 1])),
}


@pytest.mark.parametrize("smooth", SMOOTH)
def test_gradients_by_pieces_of_computed_ends_in_loops(smooth):
    def slopes(x):
        total = tf.zeros([])
        for start in tf.range(0, 21, 8):
            piece = x[start : tf.minimum(start + 8, 21)]
            with tf.GradientTape() as tape:
                tape.watch(piece)
                y = SMOOTH[smooth](piece)
            total += tf.reduce_sum(tape.gradient(y, piece) * piece)
        return total

    x = tf.linspace(-1.0, 1.0, 21)
    staged = tf.function(slopes)
    assert np.allclose([staged(x) for _ in range(4)], slopes(x), rtol=1e-5, atol=1e-6)


IMAGE = tf.reshape(tf.range(120.0), [1, 5, 8, 3])
BOXES = [[0.0, 0.1, 0.9, 1.0], [0.2, 0.0, 1.0, 0.5]]
BY_SIZE = {
    "band": lambda x, n: tf.linalg.band_part(x, n - 3, -1),
    "bins": lambda x, n: tf.histogram_fixed_width(x, [0.0, 9.0], nbins=n),
    "boxes": lambda x, n: tf.image.crop_and_resize(IMAGE * x[0, 0], BOXES, [0, 0], [n, 1]),
    "boxes_of_a_size": lambda x, n: tf.image.crop_and_resize(
        IMAGE * x[0, 0], BOXES, [0, 0], tf.stack([n, n - 3]), "nearest"
    ),
    "counts": lambda x, n: tf.math.bincount([0, 2, 2], minlength=n + 1),
    "counts_of_rows": lambda x, n: tf.math.bincount([[0, 2], [1, 1]], minlength=n, axis=-1),
    "eye": lambda x, n: tf.eye(n) @ x,
    "few_counts": lambda x, n: tf.math.bincount([0, 5, 5], maxlength=n),
    "ones": lambda x, n: tf.ones(n) * x[0, 0],
    "parts": lambda x, n: tf.split(x, [1, n - 1])[1],
    "parts_with_a_rest": lambda x, n: tf.split(x, [n - 2, -1], axis=1)[0],
    "rolled": lambda x, n: tf.roll(x, n - 1, 0),
    "rolled_twice": lambda x, n: tf.roll(x, [n, -n - 1], [0, -1]),
    "weights": lambda x, n: tf.math.bincount([0, 2, 1, 9], x[:, 0], minlength=n, maxlength=n + 2),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("by", BY_SIZE)
def test_sizes_that_are_computed_of_elements(by):
    def value(x, numbers):
        made = BY_SIZE[by](x, tf.reduce_max(numbers) + 1)
        weights = tf.range(1, tf.size(made) + 1)
        return tf.reduce_sum(
            tf.cast(made, tf.float32) * tf.cast(tf.reshape(weights, tf.shape(made)), tf.float32)
        )

    def in_loop(x, numbers):
        total = tf.zeros([])
        for turn in tf.range(2):
            total += value(x * (tf.cast(turn, tf.float32) + 1.0), numbers)
        return total

    def in_branch(x, numbers):
        return tf.cond(tf.reduce_sum(x) > 0.0, lambda: value(x, numbers), lambda: tf.reduce_sum(x))

    def slope_of(function):
        def slope(x, numbers):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = function(x, numbers)
            return tape.gradient(y, x, unconnected_gradients="zero")

        return slope

    x = tf.constant(np.arange(16, dtype=np.float32).reshape(4, 4))
    functions = [value, in_loop, in_branch]
    for function in [*functions, *map(slope_of, functions)]:
        staged = tf.function(function)
        for numbers in ([1, 3], [1, 3], [3, 0], [3, 3]):
            wanted = function(x, tf.constant(numbers))
            assert np.allclose(staged(x, tf.constant(numbers)), wanted, rtol=1e-4)


def test_what_counts_repeat_has_as_many_axes():
    @tf.function
    def spread(x, numbers):
        made = tf.repeat(x, tf.math.bincount(numbers))
        assert made.shape.as_list() == [None]
        return x[:1] * made

    for _ in range(3):
        found = spread(tf.constant([2.0, 3.0]), tf.constant([0, 1, 1]))
        assert found.numpy().tolist() == [4.0, 6.0, 6.0]


def test_sizes_from_outside_are_numbers_in_loops_and_choices():
    @tf.function
    def grown(x):
        count, width = tf.shape(x)[0], tf.shape(x)[1]

        def turn(i, rows):
            last = tf.reshape(rows[-1], [count * width])
            wide = tf.cond(
                i > 1, lambda: tf.fill([count, width], 1.0), lambda: tf.zeros([count, width])
            )
            return i + 1, tf.concat(
                [
                    rows,
                    (tf.reshape(last, [width, count]) @ x + tf.transpose(wide) @ wide)[
                        None, :count
                    ],
                ],
                0,
            )

        start = tf.reshape(x, [1, count, width])
        shapes = [tf.TensorShape([]), tf.TensorShape([None, 2, 2])]
        return tf.while_loop(lambda i, _: i < 4, turn, [0, start], shape_invariants=shapes)[1]

    x = tf.constant([[0.5, 0.25], [0.0, 0.5]])
    wanted = [x.numpy()]
    for i in range(4):
        wanted.append(wanted[-1].reshape(2, 2) @ x.numpy() + 2.0 * (i > 1))
    for _ in range(4):
        np.testing.assert_allclose(grown(x), wanted, rtol=1e-6)
    assert not [line for line in grown.explain() if "Reshape" in line or "Fill" in line]


def drawn(n):
    x = tf.zeros([n, 2])
    for k in tf.range(3):
        x = tf.concat([x, tf.fill([n, 1], 1.0)], -1)[:, :2] + tf.cast(k, tf.float32)
        if k > 0:
            x += tf.random.stateless_normal([n, 2], tf.stack([3, k]))
    return x


def chosen(n):
    x = tf.zeros([n, 2])
    if n > 3:
        x = x + tf.fill([n, 1], 2.0)
        if n > 4:
            x = x * tf.ones([n, 1])
    return x - tf.ones([n, 2])


@pytest.mark.parametrize("body", [drawn, chosen])
def test_sizes_of_one_number_are_one_size_within_loops_and_choices(body):
    wanted = {n: body(tf.constant(n)).numpy() for n in (2, 5, 6)}
    function = tf.function(body)
    for n in (5, 5, 5, 2, 6, 5) * 20:
        np.testing.assert_allclose(function(tf.constant(n)), wanted[n], rtol=1e-6)
    assert not [line for line in function.explain() if "carried out by Python" in line]


def counted_inside(n):
    x = tf.zeros([n])
    if n > 3:
        x = x + tf.cast(tf.range(1, n + 1), tf.float32)
    return tf.cond(n > 4, lambda: x * tf.cast(tf.range(n), tf.float32), lambda: -x)


def counted_before(n):
    x = tf.cast(tf.range(n), tf.float32)
    for _ in tf.range(3):
        x += tf.ones([n])
    return tf.cond(n > 3, lambda: x + tf.fill([n], 2.0), lambda: x)


def counted_down(n):
    return tf.cast(tf.range(n - 1, -1, -1), tf.float32) * tf.ones([n])


def counted_between(n):
    return tf.cast(tf.range(n, n + 2 * (n // 2), 2), tf.float32) - tf.zeros([n // 2])


def counted_to_what_is_larger(n):
    return tf.cast(tf.range(tf.maximum(n, 3)), tf.float32) + tf.ones([tf.maximum(n, 3)])


COUNTED = [
    counted_inside, counted_before, counted_down, counted_between, counted_to_what_is_larger
]  # fmt: skip


@pytest.mark.parametrize("body", COUNTED)
def test_what_is_counted_to_a_number_has_the_size_of_what_that_number_fills(body):
    wanted = {n: body(tf.constant(n)).numpy() for n in (0, 2, 5, 6)}
    function = tf.function(body)
    for n in (5, 5, 5, 2, 6, 0, 5) * 20:
        np.testing.assert_array_equal(function(tf.constant(n)), wanted[n])
    assert not [line for line in function.explain() if "carried out by Python" in line]
