"""`map_fn`, `scan`, `foldl` and choices: what they carry, and what they refuse."""

import numpy as np
import pytest

import gravure.tf as tf

v1 = tf.compat.v1
SPARSE = [[0, 1, 0], [2, 0, 3]]


def scoped(total, x=1):
    with v1.variable_scope("body"), v1.variable_scope(None, "inner"):
        two = v1.get_variable("two", [], tf.int32, v1.constant_initializer(2))
    return (total + x) * two


@pytest.mark.parametrize("apply", [tf.map_fn, tf.foldl, tf.foldr, tf.scan])
def test_all_slices_share_the_variables_that_the_first_one_makes(apply):
    with tf.Graph().as_default(), v1.Session() as session, v1.variable_scope("root") as scope:
        found = [apply(scoped, tf.constant([1, 2, 3]))]
        assert [v.name for v in v1.global_variables()] == ["root/body/inner/two:0"]
        scope.reuse_variables()
        found.append(apply(scoped, tf.constant([1, 2, 3])))
        session.run(v1.global_variables_initializer())
        first, second = session.run(found)
        assert np.array_equal(first, second)
        assert len(v1.global_variables()) == 1


def test_variables_are_not_shared_behind_the_slices():
    with tf.Graph().as_default():
        tf.map_fn(scoped, tf.constant([1, 2, 3]))
        with v1.variable_scope("body/inner"), pytest.raises(ValueError, match="already exists"):
            v1.get_variable("two", [])


def test_nothing_is_combined_of_no_slices():
    none = tf.range(0)
    assert tf.scan(lambda a, x: a, none, tf.ones([2, 4])).shape == (0, 2, 4)
    assert tf.foldl(lambda a, x: a, none, 3).numpy() == 3
    for apply in (tf.scan, tf.foldl, tf.foldr):
        with pytest.raises(tf.errors.InvalidArgumentError, match="there are no slices"):
            apply(lambda a, x: a, none)
    with pytest.raises(ValueError, match="elems must be a Tensor or"):
        tf.map_fn(lambda x: x, [])


@pytest.mark.parametrize(
    ("apply", "kind"),
    [
        (lambda xs: tf.scan(lambda a, x: (a, -a), xs, np.array(1.0)), ValueError),
        (lambda xs: tf.map_fn(lambda x: (x, x), xs, fn_output_signature=[xs.dtype] * 2), TypeError),
        (lambda xs: tf.map_fn(lambda x: (x, x), xs, fn_output_signature=(xs.dtype,)), ValueError),
        (lambda xs: tf.map_fn(lambda x: (x, x), xs), ValueError),
    ],
)
@pytest.mark.parametrize("shape", [[2], [None]])
def test_results_are_of_the_structure_that_is_stated(apply, kind, shape):
    with pytest.raises(kind, match="two structures don't have the same nested structure"):
        tf.function(apply, input_signature=[tf.TensorSpec(shape, tf.float64)])(np.array([1.0, 2.0]))


@pytest.mark.parametrize("enter", [lambda f: f, tf.function], ids=["at once", "in a graph"])
def test_rows_of_sparse_tensors_are_sparse(enter):
    x = tf.sparse.from_dense(SPARSE)
    same = enter(lambda x: tf.map_fn(lambda row: row * 2, x))(x)
    assert tf.sparse.to_dense(same).numpy().tolist() == [[0, 2, 0], [4, 0, 6]]
    sums = enter(lambda x: tf.map_fn(tf.sparse.reduce_sum, x, fn_output_signature=tf.int32))(x)
    assert sums.numpy().tolist() == [1, 5]


def test_a_choice_gives_arrays_of_tensors_that_a_loop_carries():
    @tf.function
    def squares_above(x):
        def body(i, held):
            written = tf.cond(
                x[i] > 0, lambda: held.write(i, x[i] ** 2), lambda: held.write(i, x[i])
            )
            return i + 1, written

        start = (tf.constant(0), tf.TensorArray(tf.int32, size=4))
        return tf.while_loop(lambda i, _: i < 4, body, start)[1].stack()

    assert squares_above(tf.constant([-2, 0, 2, 3])).numpy().tolist() == [-2, 0, 4, 9]


@pytest.mark.parametrize("size", [None, [4]])
def test_a_choice_gives_slices_with_indices(size):
    @tf.function
    def chosen(first, which):
        def branch(more):
            dense = None if size is None else tf.constant(size)
            return lambda: [tf.IndexedSlices(tf.constant([10]) + more, tf.constant([2]), dense)]

        by_truth = tf.cond(first, branch(1), branch(2))[0]
        by_number = tf.switch_case(which, [branch(3), branch(4)])[0]
        assert (by_truth.dense_shape is None) == (size is None)
        return by_truth.values + by_number.values, by_truth.indices

    made = chosen(tf.constant(True), tf.constant(1))
    assert [x.numpy().tolist() for x in made] == [[25], [2]]


def test_what_branches_give_is_of_one_structure():
    text = "tf.cond must have the same number, type, and overall structure of return values"
    with pytest.raises(TypeError, match=text):
        tf.function(lambda p: tf.cond(p, lambda: {"a": 1}, lambda: {"b": 1}))(tf.constant(True))


@pytest.mark.parametrize("body", [lambda i, x: (i + 1, i, x), lambda i, _: (i + 1,)])
@pytest.mark.parametrize("enter", [lambda f: f, tf.function], ids=["at once", "in a graph"])
def test_a_body_gives_as_many_values_as_a_loop_carries(enter, body):
    loop = enter(lambda: tf.while_loop(lambda i, *_: i < 3, body, [tf.constant(0), tf.ones(2)]))
    with pytest.raises(ValueError, match="two structures don't have the same nested structure"):
        loop()


ROWS = np.float32([[1, 2, 3], [4, 5, 6], [7, 8, 9], [1, 0, 1]])
TAKEN = np.int32([1, 2, 1])


def slope(x, i):
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(tf.gather(x, i) ** 2)
    return tape.gradient(loss, x)


def slope_in_loop(x, i):
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.constant(0.0)
        for n in tf.range(tf.size(i)):
            loss += tf.reduce_sum(tf.gather(x, i[n:]) ** 2)
    return tape.gradient(loss, x)


def slope_of_slope(x, i):
    with tf.GradientTape() as tape:
        tape.watch(x)
        found = tf.reduce_sum(tf.convert_to_tensor(slope(x, i)) ** 2)
    return tape.gradient(found, x)


@pytest.mark.parametrize("shape", [[None, 3], [None, None], None], ids=["rows", "sizes", "rank"])
@pytest.mark.parametrize("function", [slope, slope_in_loop, slope_of_slope])
def test_gradients_of_rows_of_open_sizes_are_those_of_known_ones(function, shape):
    open_rank = None if shape is None else [None]
    specs = [tf.TensorSpec(shape), tf.TensorSpec(open_rank, tf.int32)]
    staged = tf.function(function, input_signature=specs)
    wanted = function(tf.constant(ROWS), tf.constant(TAKEN))
    for _ in range(4):
        found = staged(ROWS, TAKEN)
        if function is slope:
            assert isinstance(found, tf.IndexedSlices)
        np.testing.assert_allclose(
            tf.convert_to_tensor(found), tf.convert_to_tensor(wanted), rtol=1e-6
        )
