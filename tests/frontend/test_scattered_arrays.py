"""`TensorArray.scatter` and `split` with indices and lengths that only the run knows."""

import warnings

import numpy as np
import pytest

import gravure as gv
import gravure.tf as tf


def in_parts(x, size, dynamic):
    """Scatter the squares of rows, some at a time, by indices of a computed count."""
    array = tf.TensorArray(tf.float32, 0 if dynamic else tf.size(x[:, 0]), dynamic_size=dynamic)
    for a in tf.range(0, tf.shape(x)[0], size):
        to = tf.minimum(a + size, tf.shape(x)[0])
        array = array.scatter(tf.range(a, to), x[a:to] ** 2)
    return array.stack()


@pytest.mark.parametrize("count", [1, 5, 8])
def test_rows_of_a_computed_count_are_scattered(count):
    x = tf.constant(np.arange(count * 3, dtype=np.float32).reshape(count, 3))

    def slope(x, size):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(in_parts(x, size, False) * x)
        return tape.gradient(y, x)

    for function, wanted in (
        (lambda x, size: in_parts(x, size, False), x**2),
        (slope, 3 * x**2),
    ):
        staged = tf.function(
            function, input_signature=[tf.TensorSpec([None, 3]), tf.TensorSpec([], tf.int32)]
        )
        with warnings.catch_warnings():
            warnings.simplefilter("error", gv.PerformanceWarning)
            for size in (1, 3, 9):
                assert np.allclose(staged(x, tf.constant(size)), wanted)


def test_an_array_grows_to_the_highest_index():
    def rows(x, at):
        return tf.TensorArray(tf.float32, 1, dynamic_size=True).scatter(at, x).stack()

    x, at = tf.constant([[1.0], [2.0]]), tf.constant([3, 0])
    wanted = [[2.0], [0.0], [0.0], [1.0]]
    staged = tf.function(
        rows, input_signature=[tf.TensorSpec([None, 1]), tf.TensorSpec([None], tf.int32)]
    )
    assert staged(x, at).numpy().tolist() == wanted
    assert tf.function(rows)(x, at).numpy().tolist() == wanted


def test_elements_that_were_read_are_zeros_together():
    array = tf.TensorArray(tf.float32, 3).unstack([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    assert array.read(1).numpy().tolist() == [3.0, 4.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not read index 1 twice"):
        array.read(1)
    assert array.gather([2, 1]).numpy().tolist() == [[5.0, 6.0], [0.0, 0.0]]
    assert array.stack().numpy().tolist() == [[1.0, 2.0], [0.0, 0.0], [5.0, 6.0]]
    assert array.concat().numpy().tolist() == [1.0, 2.0, 0.0, 0.0, 5.0, 6.0]
    assert array.read(1).numpy().tolist() == [0.0, 0.0]  # what was made up is an element


def test_texts_are_scattered():
    @tf.function
    def words(at, texts):
        array = tf.TensorArray(tf.string, tf.size(at) + 1).scatter(at, texts)
        return array.write(tf.size(at), "end").stack()

    found = words(tf.constant([1, 0]), tf.constant(["a", "b"]))
    assert found.numpy().tolist() == [b"b", b"a", b"end"]


def test_elements_of_another_shape_or_type_are_refused():
    @tf.function
    def wide(at):
        return tf.TensorArray(tf.float32, 2, element_shape=[3]).scatter(at, tf.ones([2, 2])).stack()

    @tf.function
    def whole(at):
        return tf.TensorArray(tf.float32, 2).scatter(at, tf.ones([2, 2], tf.int32)).stack()

    with pytest.raises(ValueError, match="Incompatible shape"):
        wide(tf.constant([0, 1]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="write dtype int32"):
        whole(tf.constant([0, 1]))


@pytest.mark.parametrize("count", [[2], [None]], ids=["count", "open"])
def test_pieces_of_computed_lengths_are_split(count):
    def pieces(x, lengths):
        array = tf.TensorArray(tf.float32, tf.size(lengths)).split(x, lengths)
        return array.read(1), array.stack(), array.concat(), array.size()

    x, lengths = tf.reshape(tf.range(12.0), [6, 2]), tf.constant([3, 3])
    staged = tf.function(
        pieces, input_signature=[tf.TensorSpec([None, 2]), tf.TensorSpec(count, tf.int32)]
    )
    for found in (staged(x, lengths), tf.function(lambda x: pieces(x, [3, 3]))(x)):
        assert found[0].numpy().tolist() == x.numpy()[3:].tolist()
        assert found[1].shape == (2, 3, 2)
        assert np.array_equal(found[2], x)
        assert int(found[3]) == 2
    with pytest.raises(
        (tf.errors.InvalidArgumentError, ValueError), match=r"lengths\[1\] = 2|one length"
    ):
        staged(x, tf.constant([4, 2]))


def _pieces(**options):
    return tf.TensorArray(
        tf.float32, 3, infer_shape=False, clear_after_read=False, element_shape=[None], **options
    )


@pytest.mark.parametrize("staged", [False, True])
def test_pieces_may_have_several_lengths(staged):
    def function(x):
        made = _pieces().split(x, [1, 2, 3])
        total = 0.0
        for i in range(3):
            total += tf.reduce_sum(made.read(i))
        return made.read(1), made.concat(), made.size(), total, made.write(1, [9.0]).concat()

    found = (tf.function(function) if staged else function)(tf.range(6.0))
    assert [x.numpy().tolist() for x in found] == [
        [1.0, 2.0], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], 3, 15.0, [0.0, 9.0, 3.0, 4.0, 5.0],
    ]  # fmt: skip


def test_gradients_go_through_pieces_of_several_lengths():
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = _pieces().split(x * x, [1, 2, 3]).read(1)
        return tape.gradient(y, x)

    for function in (slope, tf.function(slope)):
        assert function(tf.range(6.0)).numpy().tolist() == [0.0, 2.0, 4.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize(("size", "lengths", "wrong"), [
    (2, [1, 2, 3], r"not equal to the size of lengths \(2 vs. 3\)"),
    (3, [1, 2, 2], "sum of lengths is 5"),
    (3, 2, "Expected lengths to be a vector"),
])  # fmt: skip
def test_lengths_that_cut_no_whole_are_refused(size, lengths, wrong):
    with pytest.raises(tf.errors.InvalidArgumentError, match=wrong):
        tf.TensorArray(tf.float32, size, infer_shape=False).split(tf.range(6.0), lengths)


@tf.function
def written(at):
    return tf.TensorArray("float32", 2).write(at, 1.0).stack()


@tf.function
def read(at):
    return tf.TensorArray("float32", 2).unstack([1.0, 2.0]).read(at)


@tf.function
def scattered(at):
    return tf.TensorArray("float32", 2).scatter([0, at], [1.0, 2.0]).stack()


@tf.function
def in_a_loop(at):
    array = tf.TensorArray("float32", 2)
    for i in tf.range(at + 1):
        array = array.write(i, 1.0)
    return array.stack()


@tf.function
def grown_on(at):
    return tf.TensorArray("float32", 1, dynamic_size=True).write(at, 1.0).stack()


@pytest.mark.parametrize("function", [written, read, scattered, grown_on, in_a_loop])
def test_functions_refuse_indices_outside_of_arrays(function):
    outside = -1 if function is grown_on else 2
    for _ in range(3):  # carried out, and compiled
        function(tf.constant(1))
        with pytest.raises(tf.errors.InvalidArgumentError, match=rf"element {outside}\b"):
            function(tf.constant(outside if function is not in_a_loop else outside + 1))


@tf.function
def largest(count):
    return tf.math.top_k([3.0, 1.0, 2.0], count)


@tf.function
def stitched(at):
    return tf.dynamic_stitch([[0], [at]], [[1.0], [2.0]])


@pytest.mark.parametrize(
    ("function", "wrong", "said"),
    [
        (largest, 4, "Had 3, needed 4"),
        (largest, -1, "needed -1"),
        (stitched, -1, "indices hold -1"),
    ],
)
def test_functions_refuse_computed_counts_and_places_that_cannot_be(function, wrong, said):
    for _ in range(3):
        function(tf.constant(1))
        with pytest.raises(tf.errors.InvalidArgumentError, match=said):
            function(tf.constant(wrong))


@pytest.mark.parametrize("staged", [False, True])
def test_variables_are_changed_by_batches_of_slices(staged):
    variable = tf.Variable(np.arange(12.0).reshape(2, 3, 2))

    def change(delta):
        return variable.batch_scatter_update(delta)

    slices = tf.IndexedSlices(-np.ones((2, 2, 2)), tf.constant([[0, 2], [1, 1]]))
    (tf.function(change) if staged else change)(slices)
    wanted = np.arange(12.0).reshape(2, 3, 2)
    wanted[0, [0, 2]] = wanted[1, 1] = -1
    assert variable.numpy().tolist() == wanted.tolist()
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not index into shape"):
        change(tf.IndexedSlices(np.ones((2, 1, 2)), [[0], [3]]))
    with pytest.raises(TypeError, match="IndexedSlices"):
        change(1.0)


def test_elements_of_several_shapes_are_refused_by_name():
    @tf.function
    def growing(x):
        array = tf.TensorArray(tf.float32, 3, infer_shape=False, element_shape=[None])
        for i in tf.range(3):
            array = array.write(i, x[: i + 1])
        return array.concat()

    with pytest.raises(
        gv.GravureError, match=r"Write.*: an element of shape \[2\].* have shape \[1\]"
    ):
        growing(tf.ones([3]))
