"""What TensorFlow refuses is refused with its types of errors; what it takes beside is taken."""

import numpy as np
import pytest

import gravure.tf as tf

v1 = tf.compat.v1
X = np.arange(6, dtype=np.float32).reshape(2, 3)
Refused = (ValueError, tf.errors.InvalidArgumentError)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tf.where([True, False], [1, 2], None), "must both be non-None"),
        (lambda: v1.where([True, False], None, [1, 2]), "must both be non-None"),
        (lambda: tf.split(X, [1, 1], 1), "Determined shape must"),
        (lambda: tf.split(X, [1, 2], 1, num=3), "num is 3, expected 2"),
        (lambda: tf.pad(X, [[1, 1]]), "paddings must be the rank of inputs"),
        (lambda: tf.pad(X, [1, 1]), "paddings must be a matrix with 2 columns"),
        (lambda: tf.pad(X, [[1, 1]] * 2, "odd"), "`mode` expected to be"),
        (lambda: tf.cumsum(X, 2), r"Expected scan axis in the range \[-2, 2\)"),
        (lambda: tf.math.cumprod(X, [0]), "axis must be a scalar"),
        (lambda: tf.clip_by_value(X, 0.0, np.ones((4, 2, 3), np.float32)), "incompatible"),
        (lambda: tf.clip_by_norm(X, np.ones((4, 2, 3), np.float32)), "incompatible"),
        (lambda: tf.nn.space_to_depth(X[None, ..., None], 1), "Block size should be > 1"),
        (lambda: tf.nn.space_to_depth(X[None, ..., None], 2), "evenly divisible by 2"),
        (lambda: tf.nn.depth_to_space(X[None, ..., None], 2), "evenly divisible by 4"),
        (lambda: tf.reduce_sum(X, [1, -1]), "Axes contains duplicate dimension: 1"),
        (lambda: tf.reduce_sum(X, keepdims=np.array([1, 2])), "truth value"),
        (lambda: tf.unravel_index([1], [2, 0]), "dims cannot contain a dim of zero"),
        (lambda: tf.add(X, X.T), r"Incompatible shapes: \[2, 3\] vs. \[3, 2\]"),
        (
            lambda: tf.logical_and([True] * 2, [True] * 3),
            "Dimensions must be equal, but are 2 and 3",
        ),
        (lambda: v1.random_normal_initializer(dtype=tf.string), "floating point"),
        (lambda: v1.orthogonal_initializer(dtype=tf.int32), "floating point"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(call, message):
    with pytest.raises(Refused, match=message):
        call()
    with tf.Graph().as_default(), v1.Session() as session, pytest.raises(Refused):
        session.run(call())


def test_numbers_of_no_element_are_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="index is out of bound"):
        tf.unravel_index([6], [2, 3])


def test_a_real_number_is_its_own_conjugate_and_text_has_none():
    with tf.Graph().as_default():
        x = v1.placeholder(tf.int32)
        assert tf.math.conj(x) is x
        assert tf.math.real(x) is x
    with pytest.raises(TypeError, match="Expected numeric"):
        tf.math.conj(["a"])


def test_norms_are_of_integers_and_of_complex_numbers_too():
    assert tf.math.reduce_euclidean_norm([[3, 4], [1, 1]], 1).numpy().tolist() == [5, 1]
    found = tf.math.reduce_euclidean_norm([3 + 4j, 1.0])
    assert found.numpy() == pytest.approx(26**0.5)


def test_norms_of_complex_numbers_are_real_but_for_the_euclidean_one():
    z = tf.constant([[1 + 1j, 2 - 1j], [3j, 1 + 1j]], tf.complex64)
    plain = np.array(z)

    def norms(z):
        return [
            tf.norm(z), tf.norm(z, 1), tf.norm(z[0], np.inf), tf.norm(z, 2, axis=[0, 1]),
            tf.norm(z, 1, axis=[0, 1]),
        ]  # fmt: skip

    wanted = [
        np.linalg.norm(plain.ravel()), np.abs(plain).sum(), np.abs(plain[0]).max(),
        np.linalg.norm(plain, 2), np.linalg.norm(plain, 1),
    ]  # fmt: skip
    staged = tf.function(norms)
    for found in (norms(z), *[staged(z) for _ in range(3)]):
        assert [x.dtype for x in found] == [tf.complex64, *[tf.float32] * 4]
        np.testing.assert_allclose([np.real(x) for x in found], wanted, rtol=1e-6)


def test_complex_numbers_have_numbers_put_around_them():
    z = tf.constant([[1 + 2j, 3.0]], tf.complex64)
    found = tf.pad(z, [[1, 0], [0, 1]], constant_values=2j)
    assert found.numpy().tolist() == [[2j, 2j, 2j], [1 + 2j, 3, 2j]]


def test_an_axis_may_be_a_tensor():
    for kind in (np.int32, np.int64):
        found = tf.cumsum(X, tf.constant(1, kind), reverse=True)
        assert found.numpy().tolist() == [[3, 3, 2], [12, 9, 5]]


def test_one_number_stands_for_all_new_rows():
    with tf.Graph().as_default(), v1.Session() as session:
        variable = v1.Variable(X)
        changes = [
            v1.scatter_add(variable, [0, 0], 2.0),
            v1.scatter_mul(variable, [1], 3.0),
            v1.scatter_update(variable, [[1]], 7.0),
        ]
        session.run(variable.initializer)
        found = [session.run(change).tolist() for change in changes]
    assert found == [[[4, 5, 6], [3, 4, 5]], [[4, 5, 6], [9, 12, 15]], [[4, 5, 6], [7, 7, 7]]]


def test_a_variable_that_is_made_at_once_has_no_initializer():
    assert tf.Variable(1.0).initializer is None


def test_masks_of_numpy_and_extents_are_indices():
    x = tf.constant(X)
    assert x[np.array([False, True])].numpy().tolist() == [[3, 4, 5]]
    assert x[:, : v1.Dimension(2)].shape == (2, 2)
    assert x[v1.Dimension(None) :].shape == (2, 3)


def test_slopes_of_functions_are_found_in_graphs():
    with tf.Graph().as_default(), v1.Session():
        given = [tf.constant(X[0]), X[1]]
        exact, found = tf.test.compute_gradient(lambda x, y: x * x * y, given)
    assert exact[0].diagonal().tolist() == [0, 8, 20]
    np.testing.assert_allclose(found[1], exact[1], atol=1e-3)


def test_equations_are_raw_operations():
    assert tf.raw_ops.Einsum(inputs=[X, X], equation="ij,ij->i").numpy().tolist() == [5, 50]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("reciprocal", 0.2 - 0.4j),
        ("log1p", 1.0397208 + 0.7853982j),
        ("expm1", -2.1312044 + 2.4717266j),
        ("asin", 0.4270786 + 1.5285709j),
        ("acos", 1.1437178 - 1.5285709j),
        ("atan", 1.3389725 + 0.4023595j),
        ("asinh", 1.4693518 + 1.0634400j),
        ("acosh", 1.5285709 + 1.1437178j),
        ("atanh", 0.1732868 + 1.1780972j),
    ],
)
def test_functions_of_complex_numbers_have_values_and_slopes(name, value):
    function = getattr(tf.math, name)
    assert function(tf.constant(1 + 2j)).numpy() == pytest.approx(value, rel=1e-6)
    (exact,), (found,) = tf.test.compute_gradient(function, [np.array([1 + 2j])])
    np.testing.assert_allclose(exact, found, atol=1e-5)


def test_a_polynomial_without_coefficients_is_zero_everywhere():
    assert tf.math.polyval([], [1.0, 2.0]).numpy().tolist() == [0, 0]


@pytest.mark.parametrize(
    ("dtype", "shape", "text"),
    [
        (tf.float32, None, "with dtype float$"),
        (tf.float16, [10, 10], r"with dtype half and shape \[10,10\]$"),
        (tf.int64, [None, 3], r"with dtype int64 and shape \[\?,3\]$"),
        (tf.string, [], "with dtype string$"),
    ],
)
def test_what_is_not_fed_is_named_with_its_type_and_shape(dtype, shape, text):
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(dtype, shape, name="x")
        with pytest.raises(tf.errors.InvalidArgumentError, match=text):
            session.run(tf.identity(x))


def test_a_case_has_a_session_where_operations_run_at_once():
    case = tf.test.TestCase()
    with case.cached_session() as session:
        assert session.run([tf.constant(1.0), {"a": tf.constant([2])}]) == [1.0, {"a": [2]}]
        with pytest.raises(RuntimeError, match="feed_dict is not supported"):
            session.run(tf.constant(1.0), feed_dict={"x": 1})


@pytest.mark.parametrize("lengths", [None, [6, 6], [2, 3]])
def test_transforms_of_real_numbers_are_of_tensors_of_any_rank(lengths):
    values = np.arange(32, dtype=np.float32).reshape(2, 4, 4) % 7
    found = {}
    for shape in (None, (2, 4, 4)):
        with tf.Graph().as_default(), v1.Session() as session:
            x = v1.placeholder(tf.float32, shape)
            there = tf.signal.rfft2d(x, lengths)
            back = tf.signal.irfft2d(there, lengths)
            slopes = v1.gradients(tf.abs(there) ** 2.0, x) + v1.gradients(back**2.0, x)
            found[shape] = session.run([there, back, *slopes], {x: values})
    for some, known in zip(*found.values(), strict=True):
        np.testing.assert_allclose(some, known, rtol=1e-4, atol=1e-3)


def test_a_transform_of_nothing_is_nothing():
    assert tf.signal.fft(np.zeros((2, 0), np.complex64)).shape == (2, 0)


@pytest.mark.parametrize("scan", [tf.cumsum, tf.math.cumprod])
@pytest.mark.parametrize("options", [{}, {"exclusive": True}, {"exclusive": True, "reverse": True}])
def test_there_is_nothing_to_combine_of_no_complex_numbers(scan, options):
    assert scan(np.zeros([2, 0], np.complex64), -1, **options).shape == (2, 0)
    x = np.array([1.0, 2.0, 3.0], np.float32)
    made = scan((1j * x).astype(np.complex64), **options).numpy()
    want = scan(x, **options).numpy()
    np.testing.assert_array_equal(np.abs(made), np.abs(want))


@pytest.mark.parametrize("source", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("target", ["float16", "float32", "int8", "uint16", "int32", "uint32"])
def test_what_is_limited_by_a_type_is_a_number_of_it(source, target):
    x = tf.constant([np.inf, -np.inf, 0.0], source)
    made = tf.saturate_cast(x, target)
    ends = [float(getattr(tf, target).max), float(getattr(tf, target).min)]
    most = [min(ends[0], float(x.dtype.max)), max(ends[1], float(x.dtype.min))]
    found = np.asarray(made.numpy(), np.float64)
    assert np.isfinite(found).all()
    assert (np.abs(found[:2]) <= np.abs(most)).all()
    np.testing.assert_allclose(found[:2], most, rtol=2.0**-7)


def test_both_parts_of_complex_numbers_are_limited_and_only_one_is_kept():
    x = tf.constant([1e300 - 1e300j, 2.0 + 3.0j], tf.complex128)
    most = np.finfo(np.float32).max
    np.testing.assert_array_equal(
        tf.saturate_cast(x, tf.complex64).numpy(), np.array([most - most * 1j, 2.0 + 3.0j])
    )
    np.testing.assert_array_equal(tf.saturate_cast(x, tf.float32).numpy(), [most, 2.0])
    np.testing.assert_array_equal(
        tf.saturate_cast(tf.constant([1e300], tf.float64), tf.complex64).numpy(), [most]
    )


@pytest.mark.parametrize(
    "made",
    [
        lambda s: tf.fill(s, 1.0),
        lambda s: tf.broadcast_to(1.0, s),
        lambda s: tf.reshape(tf.ones([0]), s),
        tf.random.uniform,
    ],
)
@pytest.mark.parametrize("enter", [lambda f: f, tf.function], ids=["at once", "in a graph"])
def test_a_shape_is_no_matrix(made, enter):
    with pytest.raises((TypeError, *Refused)):
        enter(made)(tf.constant([[0, 1], [2, 3]]))


X2 = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
ROWS = np.array([[0, 1], [2, 0], [1, -1]], np.int32)


@pytest.mark.parametrize("size", [3, None])
def test_indices_outside_are_ignored_where_that_is_said(size):
    specs = [tf.TensorSpec([size and 2, 2]), tf.TensorSpec([size, 2], tf.int32)]

    @tf.function(input_signature=specs)
    def both(x, i):
        taken = tf.gather_nd(x, i, bad_indices_policy="IGNORE")
        slices = tf.gather_nd(x, i[:, :1], bad_indices_policy="IGNORE")
        put = tf.scatter_nd(i, taken + 1.0, [2, 2], bad_indices_policy="IGNORE")
        return taken, slices, put

    taken, slices, put = (made.numpy().tolist() for made in both(X2, ROWS))
    assert taken == [2.0, 0.0, 0.0]
    assert slices == [[1.0, 2.0], [0.0, 0.0], [3.0, 4.0]]
    assert put == [[0.0, 3.0], [0.0, 0.0]]


@pytest.mark.parametrize("policy", ["", "DEFAULT", "ERROR", "odd"])
def test_indices_outside_are_refused_otherwise(policy):
    text = "bad_indices_policy is 'odd'" if policy == "odd" else "does not index into"
    with pytest.raises(Refused, match=text):
        tf.gather_nd(X2, ROWS, bad_indices_policy=policy)
    with pytest.raises(Refused, match=text):
        tf.scatter_nd(ROWS, np.ones(3, np.float32), [2, 2], bad_indices_policy=policy)


def test_a_part_of_a_variable_keeps_its_type():
    v = tf.Variable([1, 2])
    for kind in (tf.int8, tf.int64, tf.float32):
        with pytest.raises(ValueError, match="requested dtype int32"):
            v[:].assign(tf.constant([3, 4], kind))
    assert v[:1].assign([5]).numpy().tolist() == [5, 2]


def test_constants_of_the_first_version_are_filled_with_their_last_element():
    assert v1.constant([1, 2, 3], shape=[2, 3]).numpy().tolist() == [[1, 2, 3], [3, 3, 3]]
    assert v1.constant(7, shape=[2]).numpy().tolist() == [7, 7]
    with pytest.raises(ValueError, match="Too many elements provided"):
        v1.constant([1, 2, 3], shape=[2])
    for make in (tf.constant, lambda x, shape: v1.constant(x, shape=shape, verify_shape=True)):
        with pytest.raises(TypeError, match="3 elements"):
            make([1, 2, 3], shape=[2, 3])


def test_a_default_without_a_shape_may_be_fed_with_any():
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder_with_default([17], shape=None)
        assert x.shape.rank is None
        assert session.run(x + 1).tolist() == [18]
        assert session.run(x + 1, {x: [[1, 2]]}).tolist() == [[2, 3]]


@pytest.mark.parametrize(
    ("shift", "axis", "text"),
    [
        ([1], [0, 1], "shift and axis must have the same size"),
        ([1, 2, 3], [0, 1], "shift and axis must have the same size"),
        ([[0, 1]], 1, "shift must be a scalar or a 1-D vector"),
        (1, -10, r"axis -10 is out of range \[-2, 2\)"),
    ],
)
@pytest.mark.parametrize("computed", [False, True])
def test_elements_are_moved_along_as_many_axes_as_there_are_shifts(shift, axis, text, computed):
    if computed:
        spec = [tf.TensorSpec(np.shape(shift), tf.int32)]
        roll = tf.function(lambda by: tf.roll(X, by, axis), input_signature=spec)
    else:
        roll = lambda by: tf.roll(X, by, axis)  # noqa: E731
    with pytest.raises((TypeError, *Refused), match=text):
        roll(tf.constant(shift))


def test_nothing_is_put_around_a_number():
    for edges in (np.zeros((0, 2), np.int32), tf.zeros([0, 2], tf.int64)):
        assert tf.pad(7, edges).numpy() == 7
    with pytest.raises(Refused, match="paddings must be a matrix with 2 columns"):
        tf.pad(7, np.zeros(0, np.int32))


def parts_of(initializer, shape=(10, 400)):
    with tf.Graph().as_default(), v1.Session() as session:
        cut = v1.fixed_size_partitioner(5, axis=1)
        made = v1.get_variable("v", shape, initializer=initializer, partitioner=cut)
        assert len(list(made)) == 5
        whole = tf.identity(made)
        session.run(v1.global_variables_initializer())
        return session.run(whole)


def test_initializers_know_of_which_whole_they_make_a_part():
    np.testing.assert_array_equal(parts_of(v1.initializers.identity()), np.eye(10, 400))
    made = parts_of(v1.variance_scaling_initializer(mode="fan_out", seed=1))
    np.testing.assert_allclose(made.std(), 400**-0.5, rtol=0.05)


@pytest.mark.parametrize(
    ("labels", "predictions", "text"),
    [
        ([1, 1, 5], [2, 1, 0], r"`labels` out of bound: labels\[2\] = 5, expected less than 3"),
        ([1, 1, 0], [2, 3, 0], r"`predictions` out of bound: predictions\[1\] = 3"),
        ([1, -1, 0], [2, 1, 0], r"`labels` contains negative values: labels\[1\] = -1"),
        ([1, 1, 0], [-2, 1, 0], r"`predictions` contains negative values: predictions\[0\] = -2"),
        ([1, 1], [2, 1, 0], "the shapes of labels and predictions must be equal"),
    ],
)
@pytest.mark.parametrize("enter", [lambda f: f, tf.function], ids=["at once", "in a graph"])
def test_a_table_of_classes_says_which_number_is_that_of_none(labels, predictions, text, enter):
    count = enter(lambda a, b: tf.math.confusion_matrix(a, b, 3))
    with pytest.raises((ValueError, *Refused), match=text):
        count(tf.constant(labels), tf.constant(predictions))


@pytest.mark.parametrize(
    ("mask", "axis"),
    [([True, False, True], 0), ([[True]], 0), (True, 0), ([[True, False], [True, True]], 1)],
)
def test_masks_of_other_shapes_than_what_they_choose_from_are_refused(mask, axis):
    values = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(ValueError, match=r"incompatible|scalar"):
        tf.boolean_mask(values, mask, axis=axis)
    with pytest.raises(ValueError, match=r"incompatible|scalar"):
        tf.function(lambda x: tf.boolean_mask(x, mask, axis=axis))(values)
