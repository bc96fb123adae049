"""Ragged tensors by TensorFlow's rules: expected values are TensorFlow's."""

import numpy as np
import pytest

import gravure.tf as tf

constant, value = tf.ragged.constant, tf.compat.v1.ragged.constant_value


def test_what_sessions_give_is_an_operand() -> None:
    v = value([[1, 2], [3]])
    assert tf.gather(v, [1]).to_list() == [[3]]
    assert tf.add(v, 1).to_list() == [[2, 3], [4]]
    assert tf.concat([v, v], 0).to_list() == [[1, 2], [3], [1, 2], [3]]
    assert tf.reduce_sum(v, 1).numpy().tolist() == [3, 3]
    with pytest.raises(ValueError, match="unsupported type"):
        tf.convert_to_tensor(v)


@pytest.mark.parametrize(
    ("given", "options", "shape"),
    [
        ([], {"ragged_rank": 1}, [0, None]),
        ([[], [], []], {"ragged_rank": 2}, [3, None, None]),
        ([], {"inner_shape": (0, 4, 2)}, [0, 4, 2]),
        ([[]], {"inner_shape": (1, 0)}, [1, 0]),
        ([np.ones((2, 3)), np.ones((1, 3))], {"ragged_rank": 1}, [2, None, 3]),
    ],
)
def test_nested_lists_have_these_shapes(given, options, shape) -> None:
    assert constant(given, **options).shape.as_list() == shape
    assert list(value(given, **options).shape) == shape


@pytest.mark.parametrize(
    ("given", "options", "said"),
    [
        (12, {"inner_shape": (1,)}, r"incompatible with dim\(inner_shape\)=1"),
        ([[1], [[]]], {}, "empty list nesting is greater than scalar value nesting"),
        ([1, 2], {"ragged_rank": 1}, "requires scalar value depth greater than 1"),
        ([[1], [2]], {"ragged_rank": -1}, "must be nonnegative"),
    ],
)
def test_lists_of_other_depths_are_refused(given, options, said) -> None:
    for function in (constant, value):
        with pytest.raises(ValueError, match=said):
            function(given, **options)


def test_values_have_the_types_of_numpy_and_lists_that_of_their_first_float() -> None:
    assert value([[1, 2], [3]]).dtype == np.int64
    assert value([["a"], ["bc"]]).dtype == np.dtype("<U2")
    assert tf.constant([2, np.float64(1.0)]).dtype == tf.float32
    assert tf.constant([np.float64(1.0), 2]).dtype == tf.float64


def test_matrices_of_different_sizes_are_multiplied() -> None:
    a = constant([[[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0, 3.0]]])
    b = constant([[[1.0], [1.0]], [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]])
    with tf.GradientTape() as tape:
        tape.watch(a.flat_values)
        product = tf.matmul(a, b)
        total = tf.reduce_sum(product.flat_values)
    assert product.to_list() == [[[3.0], [7.0]], [[4.0, 5.0]]]
    assert product.shape.as_list() == [2, None, None]
    gradient = tape.gradient(total, a.flat_values)
    assert gradient.numpy().tolist() == [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="ragged in their innermost"):
        tf.matmul(constant([[1, 2, 3], [4, 5]]), constant([[5], [4], [3]]))
    assert tf.function(lambda x: tf.matmul(x, tf.ones([2, 3, 1]), transpose_a=True))(
        constant([[[1.0], [2.0], [3.0]], [[1.0, 1.0]] * 3])
    ).to_list() == [[[6.0]], [[3.0], [3.0]]]


def test_means_of_whole_numbers_have_fractions() -> None:
    x = constant([[0, 1, 2], [4]])
    assert tf.reduce_mean(x).numpy() == 1.75
    assert tf.reduce_mean(x).dtype == tf.float64
    assert tf.math.reduce_variance(x).numpy() == 2.1875


def test_rows_are_printed_as_lists(capsys) -> None:
    tf.print(constant([["a'", "b"], []]), constant([[1.5]]))
    tf.print([constant([[1] * 9])], tf.sparse.from_dense([[1]]), summarize=1)
    assert capsys.readouterr().err == (
        "[['a\\'', 'b'], []] [[1.500000]]\n"
        "[[[1, ..., 1]]] 'SparseTensor(indices=[[0 0]], values=[1], shape=[1 1])'\n"
    )


def test_rows_are_chosen_and_parted() -> None:
    where = tf.compat.v1.where
    x, y = constant([[1, 2], [3]]), constant([[4], [5, 6]])
    assert where([True, False], x, y).to_list() == [[1, 2], [5, 6]]
    parts = tf.ragged.stack_dynamic_partitions(x, 1, 2)
    assert parts.to_list() == [[], [[[1, 2], [3]]]]
    with pytest.raises(ValueError, match="incompatible"):
        tf.ragged.stack_dynamic_partitions(["a", "b", "c"], [1, 2], 3)


def test_rows_are_gathered_by_batches_and_by_empty_places() -> None:
    x = constant([["a", "b", "c"], ["d"], [], ["e"]])
    order = value([[1, 2, 0], [], [], [0, 0]])
    assert tf.compat.v1.batch_gather(x, order).to_list() == [
        [b"b", b"c", b"a"], [], [], [b"e", b"e"]]  # fmt: skip
    assert tf.gather_nd(x, [[], []]).to_list() == [x.to_list()] * 2
    y = constant([[[["a", "b"], ["c"]]], [[["f"], ["g"]], [["h"], ["k", "l"]]]])
    found = tf.gather(y, [0, 1], axis=2, batch_dims=1)
    assert found.to_list() == [[[b"a", b"b"]], [[b"g"], [b"k", b"l"]]]
    assert tf.repeat(3, [4], 0).numpy().tolist() == [3] * 4


def test_axes_are_numbers() -> None:
    x = constant([[1, 2], [3]])
    for function in (tf.reduce_sum, tf.squeeze):
        with pytest.raises(TypeError, match=r"axis|Axis"):
            function(x, "x")
    with pytest.raises(TypeError, match="outer_axis must be an int"):
        x.merge_dims({}, 1)
    assert constant([[[1, 2], []], [[3]]]).row_lengths(-3).numpy() == 2


def test_rows_are_counted_apart_and_together() -> None:
    x, w = constant([[3, 0, 1], [], [5, 0, 4, 4]]), constant([[6, 0.5, 2], [], [10, 0.25, 5, 3]])
    for _ in range(3):
        each = tf.sparse.bincount(x, weights=w, axis=-1, minlength=9)
        assert each.indices.numpy().tolist() == [[0, 0], [0, 1], [0, 3], [2, 0], [2, 4], [2, 5]]
        assert each.values.numpy().tolist() == [0.5, 2.0, 6.0, 0.25, 8.0, 10.0]
        assert each.dense_shape.numpy().tolist() == [3, 9]
    every = tf.sparse.bincount(x, maxlength=4)
    assert every.indices.numpy().tolist() == [[0], [1], [3]]
    assert every.values.numpy().tolist() == [2, 1, 1]
    other = constant([[6, 0.5], [2], [10, 0.25, 5, 3]])
    dense, sparse = tf.constant([[1, 2]]), tf.sparse.from_dense([[1, 2]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="must have the same row splits"):
        tf.sparse.bincount(x, weights=other, axis=-1)
    for values, weights, kind in (
        (dense, w, "tf.Tensor"),
        (dense, sparse, "tf.Tensor"),
        (sparse, w, "SparseTensor"),
        (x, dense, "RaggedTensor"),
        (x, sparse, "RaggedTensor"),
    ):
        with pytest.raises(ValueError, match=f"must be a {kind}"):
            tf.sparse.bincount(values, weights=weights, axis=-1)


def test_features_are_crossed_by_tensorflows_rules() -> None:
    ragged, sparse = (
        constant([[1], [2, 3]]),
        tf.compat.v1.SparseTensorValue([[0, 0]], ["a"], [2, 1]),
    )
    found = tf.ragged.cross([value([[1], [2, 3]]), sparse])
    assert found.to_list() == [[b"1_X_a"], []]
    cut = tf.sparse.cross([tf.constant([[1.75]]), tf.constant([["x"]])])
    assert cut.values.numpy().tolist() == [b"1_X_x"]  # floats are cut down to integers
    with pytest.raises(ValueError, match=r"Unexpected dtype for inputs\[1\]"):
        tf.ragged.cross([ragged, tf.constant([[1.0], [2.0]])])
    with pytest.raises(ValueError, match="same batch dimension size"):
        tf.ragged.cross([ragged, constant([[1]])])
    with pytest.raises(ValueError, match="Expected D2 of index to be 2"):
        tf.sparse.cross([tf.SparseTensor([[0]], [0], [10])])
    open_ = tf.function(tf.ragged.cross, input_signature=[[tf.TensorSpec(None, tf.int32)]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="inputs with rank=2"):
        open_([tf.constant([[[1]]])])


def test_images_of_several_sizes_are_made_of_one() -> None:
    every = [tf.reshape(tf.range(n * n * 1.0), [n, n, 1]) for n in (2, 3)]
    images = tf.ragged.stack(every)
    v1 = tf.compat.v1.image
    for resize, options in ((tf.image.resize, {}), (v1.resize, {"align_corners": True})):
        found = resize(images, [4, 5], **options).numpy()
        for one, image in zip(found, every, strict=True):
            np.testing.assert_array_equal(one, resize(image, [4, 5], **options).numpy())
    spec = tf.RaggedTensorSpec([None] * 4, ragged_rank=images.ragged_rank)
    staged = tf.function(lambda x: tf.image.resize(x, [4, 5]), input_signature=[spec])
    np.testing.assert_array_equal(staged(images), tf.image.resize(images, [4, 5]))
    assert staged(images[:0]).shape[:3] == (0, 4, 5)
    with pytest.raises(ValueError, match="rank must be 4"):
        tf.image.resize(images[0:1, :, :, 0], [2, 2])


def test_they_are_cut_along_axes_of_one_length() -> None:
    x = tf.RaggedTensor.from_row_lengths(tf.reshape(tf.range(12), [4, 3]), [1, 3])
    one, two = tf.split(x, [1, 2], axis=-1)
    assert one.to_list() == [[[0]], [[3], [6], [9]]]
    assert two.to_list() == [[[1, 2]], [[4, 5], [7, 8], [10, 11]]]
    spec = tf.RaggedTensorSpec([None, None], tf.int32)
    sizes = tf.TensorSpec([2], tf.int32)
    cut = tf.function(tf.split, input_signature=[spec, sizes])
    rows = constant([[1], [2, 3], []])
    assert [p.to_list() for p in cut(rows, [2, 1])] == [[[1], [2, 3]], [[]]]
    for given in ([1, 1], [-1, 4]):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"exactly split|non-negative"):
            cut(rows, given)


@pytest.mark.parametrize(
    ("sizes", "options", "said"),
    [
        (2, {"axis": 1}, "Cannot split a ragged dimension"),
        (0, {}, "must be >=1"),
        ([1, 2], {"num": 3}, "`num` does not match"),
        ([1.0, 2.0], {}, "integers"),
        ([[1, 2]], {}, "1-D"),
        (2, {}, "Cannot exactly split"),
        ([-1, 4], {}, "non-negative"),
    ],
)
def test_what_is_no_cut_of_them_is_refused(sizes, options, said) -> None:
    with pytest.raises((ValueError, TypeError, tf.errors.InvalidArgumentError), match=said):
        tf.split(constant([[1], [2, 3], []]), sizes, **options)


def test_rows_of_one_number_have_no_variance():
    rows = tf.ragged.constant([[[0.214441]] * 7, [[0.1], [0.3]]])
    assert np.allclose(tf.math.reduce_variance(rows, axis=[1]).to_list(), [[0.0], [0.01]])
    assert tf.math.reduce_std(rows, axis=[1])[0].numpy().tolist() == [0.0]
