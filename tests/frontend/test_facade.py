"""What TensorFlow's names do beyond the rows: loops over slices, variables by name, text, sizes."""

import inspect

import numpy as np
import pytest

import gravure.tf as tf
from gravure.frontend.function.libraries import program_of
from gravure.frontend.graph.frame import Store
from gravure.frontend.tf.core.calls import arguments_of
from gravure.passes.manager import run
from gravure.passes.pipelines import pipeline_of

v1 = tf.compat.v1


def test_a_tensor_array_is_written_in_a_loop_and_differentiated():
    w = tf.Variable(0.5)

    @tf.function
    def powers(n):
        array = tf.TensorArray(tf.float32, size=n)
        step = lambda i, x, a: (i + 1, x * w, a.write(i, x * w))  # noqa: E731
        loop = tf.while_loop(lambda i, x, a: i < n, step, (0, 1.0, array))
        return loop[2].stack()

    with tf.GradientTape() as tape:
        y = powers(tf.constant(3))
    assert np.allclose(y, [0.5, 0.25, 0.125])
    assert float(tape.gradient(y, w)) == 1.0 + 2 * 0.5 + 3 * 0.25
    array = tf.TensorArray(tf.float32, 2).write(0, 1.0)
    with pytest.raises(tf.errors.OutOfRangeError):
        array.write(2, 1.0)
    array.read(0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="twice"):
        array.read(0)


def test_functions_of_slices_take_any_number_of_them():
    @tf.function(input_signature=[tf.TensorSpec([None])])
    def f(x):
        doubled = tf.map_fn(lambda e: e * 2.0, x)
        return doubled, tf.scan(lambda a, e: a + e, x), tf.foldl(lambda a, e: a * e, x)

    for count in (2, 4):
        x = np.arange(1, count + 1, dtype=np.float32)
        doubled, sums, product = f(tf.constant(x))
        assert np.array_equal(doubled, x * 2)
        assert np.array_equal(sums, np.cumsum(x))
        assert float(product) == np.prod(x)


def test_variables_are_shared_by_name_in_scopes():
    with tf.Graph().as_default():
        with v1.variable_scope("a"):
            w = v1.get_variable("w", [2])
        with v1.variable_scope("a", reuse=True):
            assert v1.get_variable("w") is w
        with v1.variable_scope("a", reuse=v1.AUTO_REUSE):
            assert v1.get_variable("w") is w
            assert v1.get_variable("u", [1]).name == "a/u:0"
        with v1.variable_scope("a"), pytest.raises(ValueError, match="already exists"):
            v1.get_variable("w", [2])
        with v1.variable_scope("a", reuse=True), pytest.raises(ValueError, match="does not exist"):
            v1.get_variable("v", [2])


def test_shapes_are_known_as_far_as_sizes_are():
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [None, 3])
        n = tf.shape(x)[0]
        assert tf.reshape(x, [n, 3, 1]).shape.as_list() == [None, 3, 1]
        assert tf.zeros([n, 2]).shape.as_list() == [None, 2]
        assert tf.one_hot(tf.range(n), 4).shape.as_list() == [None, 4]
        assert x[n - 1].shape.as_list() == [3]
        assert tf.boolean_mask(x, x[:, 0] > 0.0).shape.as_list() == [None, 3]


def test_text_is_moved_joined_and_compared():
    a = tf.constant(["x", "y"])
    assert tf.strings.join([a, "z"], separator="-").numpy().tolist() == [b"x-z", b"y-z"]
    assert tf.gather(a, [1, 0]).numpy().tolist() == [b"y", b"x"]
    assert (a == "x").numpy().tolist() == [True, False]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"gv\.mul"):
        _ = a * a


def test_functions_of_gamma_have_gradients_of_any_order():
    x = tf.constant([0.5, 2.0, -1.5])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.math.lgamma(x)
        first = inner.gradient(y, x)
    assert np.allclose(y, [0.5723649, 0.0, 0.8600470], atol=1e-6)
    assert np.allclose(first, tf.math.digamma(x), rtol=1e-5)
    assert np.allclose(first, [-1.9635100, 0.4227843, 0.7031566], rtol=1e-5)
    assert np.allclose(outer.gradient(first, x), [4.9348022, 0.6449341, 9.3792466], rtol=1e-5)


def test_matrices_with_a_zero_pivot_are_inverted():
    a = tf.constant([[0.0, 2.0], [1.0, 3.0]])
    assert np.allclose(tf.linalg.inv(a) @ a, np.eye(2), atol=1e-6)
    with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
        tf.linalg.inv(tf.ones([2, 2]))


@pytest.mark.parametrize(
    ("args", "kwargs", "said"),
    [
        ((1.0,), {}, "missing a required argument: 'b'"),
        ((1.0,), {"c": 2.0}, "missing a required argument: 'b'"),
        ((1.0, 2.0), {"b": 3.0}, "multiple values for argument 'b'"),
        ((1.0, 2.0, 3.0, 4.0), {}, "too many positional arguments"),
        ((1.0, 2.0), {"loud": True}, "unexpected keyword argument 'loud'"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_by_name(args, kwargs, said):
    takes = inspect.signature(lambda a, b, scale=1.0: None)
    with pytest.raises(TypeError, match=said):
        arguments_of(takes, ["a", "b", "scale"], {"scale": 1.0}, args, kwargs)
    assert arguments_of(takes, ["a", "b", "scale"], {"scale": 1.0}, (5,), {"b": 6}) == {
        "a": 5,
        "b": 6,
        "scale": 1.0,
    }


def test_constants_of_numpy_take_the_type_of_a_tensor():
    assert (tf.constant([1.0]) + np.array([2.0])).dtype == tf.float32
    with pytest.raises(TypeError):
        _ = tf.constant(1) + tf.constant(1.0)


def peak(function, *specs):
    graph = tf.function(function).get_concrete_function(*specs).graph
    program = program_of(graph.whole_plan(), graph.inputs, ["y"], Store(), {})
    report = run(pipeline_of("O2"), program)
    [plan] = [s.rewrite for s in report.steps if s.rewrite.name == "plan-memory"]
    return plan.counts["peak bytes"], str(program.module)


def test_h2_constants_are_folded():
    _, text = peak(lambda x: x + tf.constant(2.0) * tf.constant(3.0), tf.TensorSpec([4]))
    assert "gv.mul" not in text
    assert "6.0" in text


def test_h3_a_chain_of_elementwise_operations_needs_one_buffer():
    def chain(x):
        for _ in range(10):
            x = tf.exp(-x)
        return x

    used, _ = peak(chain, tf.TensorSpec([1 << 18]))
    assert used <= 1 << 20


REFUSED = {
    "gather": (tf.gather, [1, 9], "indices"),
    "gather_nd": (lambda x, i: tf.gather_nd(x, i[:, None]), [0, -1], "does not index into"),
    "scatter_nd": (lambda x, i: tf.scatter_nd(i[:, None], x[:2], [4]), [4, 0], "does not index"),
    "divide": (lambda x, i: tf.reduce_sum(x) * tf.cast(7 // i[0], tf.float32), [0, 1], "by zero"),
    "remainder": (lambda x, i: tf.cast(7 % i, tf.float32), [1, 0], "division by zero"),
    "power": (lambda x, i: tf.cast(2**i, tf.float32), [1, -1], "negative integer powers"),
    "segments": (lambda x, i: tf.math.unsorted_segment_sum(x[:2], i, 3), [0, 3], "segment"),
    "labels": (
        lambda x, i: tf.nn.sparse_softmax_cross_entropy_with_logits(i, [x, x]),
        [1, 4],
        "labels",
    ),
    "numbers": (
        lambda x, i: tf.debugging.check_numerics(x / tf.cast(i[0], tf.float32), "quotient"),
        [0, 1],
        "quotient: tensor had",
    ),
    "loop": (
        lambda x, i: tf.while_loop(
            lambda n, s: n < i[1], lambda n, s: (n + 1, s + tf.gather(x, n)), (i[0], 0.0)
        )[1],
        [1, 6],
        "indices",
    ),
    "branch": (
        lambda x, i: tf.cond(i[1] > 2, lambda: tf.gather(x, i[1]), lambda: x[0]),
        [1, 6],
        "indices",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_compiled_code_refuses_what_eager_code_refuses(name):
    function, wrong, message = REFUSED[name]
    x = tf.constant([1.0, 2.0, 3.0, 4.0])
    good = tf.constant([1, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        function(x, tf.constant(wrong))
    staged = tf.function(function)
    for _ in range(4):
        assert np.allclose(staged(x, good), function(x, good))
    [concrete] = staged.cache.values()
    assert concrete.graph.refusal == ""
    assert all(concrete.compiled.values())
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        staged(x, tf.constant(wrong))
    assert np.allclose(staged(x, good), function(x, good))


def test_sizes_that_are_computed_make_shapes():
    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.float32)])
    def made(x):
        n = tf.shape(x)[0]
        return {
            "one_hot": tf.one_hot(tf.range(n), n),
            "eye": tf.eye(n, num_columns=2),
            "linspace": tf.linspace(0.0, 1.0, n),
            "split": tf.split(x, 2, 1)[1],
            "rows": tf.reshape(x, [n, -1]),
        }

    for shape in ((3, 2), (2, 4), (4, 2)):
        x = np.arange(np.prod(shape), dtype="f").reshape(shape)
        for _ in range(3):
            found = {name: y.numpy() for name, y in made(tf.constant(x)).items()}
        n = shape[0]
        assert np.array_equal(found["one_hot"], np.eye(n))
        assert np.array_equal(found["eye"], np.eye(n, 2))
        assert np.allclose(found["linspace"], np.linspace(0, 1, n))
        assert np.array_equal(found["split"], np.split(x, 2, 1)[1])
        assert np.array_equal(found["rows"], x)
    assert made.experimental_get_tracing_count() == 1
