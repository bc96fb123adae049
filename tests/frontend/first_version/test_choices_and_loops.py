"""Choices, loops and Python in graphs, as TensorFlow's own tests ask for them."""

import numpy as np
import pytest

import gravure.tf as tf

v1 = tf.compat.v1


def test_a_choice_of_a_session_runs_what_its_result_waits_for():
    with tf.Graph().as_default(), v1.Session() as session:
        v, w = v1.Variable(1.0), v1.Variable(1.0)

        def branch():
            v.assign(5.0)
            with tf.control_dependencies([w.assign(5.0)]):
                return tf.constant(2.0)

        chosen = tf.cond(v1.placeholder_with_default(True, []), branch, lambda: tf.constant(0.0))
        session.run(v1.global_variables_initializer())
        assert session.run(chosen) == 2.0
        assert session.run([v, w]) == [1.0, 5.0]


def test_a_choice_of_a_function_runs_all_that_has_an_effect():
    v = tf.Variable(1.0)

    @tf.function
    def f(pred):
        def branch():
            v.assign(5.0)
            return 2.0

        return tf.cond(pred, branch, lambda: 0.0)

    assert f(tf.constant(True)) == 2.0
    assert v.numpy() == 5.0


def test_names_of_a_branch_begin_with_those_of_the_choice():
    names = []

    @tf.function
    def f(pred, x):
        def branch():
            names.append(tf.identity(x, name="a").name)
            return x

        y = tf.cond(pred, branch, lambda: x + 1.0)

        def body(z):
            names.append(tf.identity(z, name="b").name)
            return [z + 1.0]

        return tf.while_loop(lambda z: z < 3.0, body, [y])

    f(tf.constant(True), tf.constant(1.0))
    assert names == ["cond/a:0", "while/b:0"]


def test_a_tensor_of_one_branch_is_named_where_another_one_uses_it():
    kept = []

    @tf.function
    def f(pred):
        def yes():
            kept.append(tf.constant(1.0) + 1.0)
            return kept[0]

        return tf.cond(pred, yes, lambda: kept[0] * 2.0)

    with pytest.raises(ValueError, match=r"Tensor cond/\w+:0 in true_fn is accessed from false_fn"):
        f(tf.constant(True))

    @tf.function
    def g(index):
        def first():
            kept.append(tf.constant(1.0) + 1.0)
            return kept[-1]

        return tf.switch_case(index, [first, lambda: tf.constant(1.0), lambda: kept[-1] * 2.0])

    with pytest.raises(ValueError, match="in branch 0 is accessed from branch 2"):
        g(tf.constant(1))


def test_slices_and_tensors_are_not_given_by_one_choice():
    @tf.function
    def f(pred, x):
        def rows():
            return tf.IndexedSlices(x, tf.constant([0]))

        return tf.cond(pred, rows, lambda: x)

    with pytest.raises(TypeError, match=r"Cannot reconcile tf\.cond 0-th outputs"):
        f(tf.constant(True), tf.constant([1.0]))


def test_a_list_of_one_is_the_value_where_the_first_version_runs_at_once():
    def ones():
        return [tf.constant(10)]

    assert v1.cond(tf.less(1, 2), ones, ones).numpy() == 10
    assert [x.numpy() for x in v1.cond(tf.less(1, 2), ones, ones, strict=True)] == [10]


@pytest.mark.parametrize("stage", [False, True])
def test_a_loop_carries_slices(stage):
    def f(values):
        x = tf.IndexedSlices(values, tf.constant([0, 3]), dense_shape=tf.constant([10, 2]))

        def twice(i, x):
            return [i + 1, tf.IndexedSlices(x.values * 2.0, x.indices, x.dense_shape)]

        found = tf.while_loop(lambda i, _: i < 3, twice, [tf.constant(0), x])[1]
        return found.values, found.indices, found.dense_shape

    values = tf.constant([[2.0, 4.0], [3.0, 5.0]])
    made = (tf.function(f) if stage else f)(values)
    np.testing.assert_array_equal(made[0], values * 8.0)
    assert [x.numpy().tolist() for x in made[1:]] == [[0, 3], [10, 2]]


def test_a_gradient_goes_back_through_slices_that_a_loop_carries():
    with tf.Graph().as_default(), v1.Session() as session:
        values = tf.constant([2.0, 4.0])
        x = tf.IndexedSlices(values, tf.constant([0, 3]), tf.constant([10]))

        def more(i, x):
            return [i + 1, tf.IndexedSlices(x.values * 2.0, x.indices, x.dense_shape)]

        _, found = v1.while_loop(lambda i, _: i < 10, more, [tf.constant(0), x])
        made = session.run(v1.gradients(found.values, values)[0])
        assert made.tolist() == [1024.0, 1024.0]


@pytest.mark.parametrize("stage", [False, True])
def test_a_loop_carries_sparse_tensors_that_grow(stage):
    def f(x):
        def more(i, x):
            place = tf.cast(tf.fill([1, 1], i), tf.int64)
            return [i + 1, tf.sparse.add(x, tf.SparseTensor(place, [1.0], x.dense_shape))]

        return tf.while_loop(lambda i, _: i < 4, more, [tf.constant(0), x])[1]

    x = tf.SparseTensor(tf.constant([[0], [3]], tf.int64), [2.0, 4.0], [6])
    made = (tf.function(f) if stage else f)(x)
    assert tf.sparse.to_dense(made).numpy().tolist() == [3.0, 1.0, 1.0, 5.0, 0.0, 0.0]


@pytest.mark.parametrize("stage", [False, True])
def test_a_loop_carries_sparse_tensors_of_any_rank_where_that_is_stated(stage):
    def f(x):
        def deeper(i, x):
            places = tf.concat([x.indices, [[0], [0]]], axis=1)
            return [i + 1, tf.SparseTensor(places, x.values, tf.concat([x.dense_shape, [1]], 0))]

        shapes = [tf.TensorShape([]), tf.TensorShape([None])]
        start = [tf.constant(0), x]
        found = tf.while_loop(lambda i, _: i < 2, deeper, start, shape_invariants=shapes)[1]
        return found.indices, found.dense_shape

    x = tf.SparseTensor(tf.constant([[0], [3]], tf.int64), [2.0, 4.0], [6])
    indices, sizes = (tf.function(f) if stage else f)(x)
    assert indices.numpy().tolist() == [[0, 0, 0], [3, 0, 0]]
    assert sizes.numpy().tolist() == [6, 1, 1]


def test_the_rank_is_what_is_stated_of_a_sparse_tensor():
    @tf.function
    def f(x):
        shapes = [tf.TensorShape([2, 2])]
        return tf.while_loop(lambda x: True, lambda x: [x], [x], shape_invariants=shapes)

    with pytest.raises(ValueError, match=r"is \[rank\], found \(2, 2\)"):
        f(tf.SparseTensor([[0]], [2.0], [6]))


def test_a_body_gives_as_many_values_as_the_loop_carries():
    with pytest.raises(ValueError, match="the same number of elements"):
        tf.while_loop(lambda x, y: x < 3, lambda x, y: [x + 1], [0, 0])


def test_a_shape_that_changes_is_to_be_stated():
    @tf.function
    def f(x):
        return tf.while_loop(lambda x: True, lambda x: [tf.concat([x, x], 0)], [x])

    with pytest.raises(ValueError, match=r"after one iteration\. To allow .*`shape_invariants`"):
        f(tf.constant([1.0]))


def test_gradients_by_what_a_function_took_from_outside():
    v, a = tf.constant(1.0), tf.Variable(np.ones([2, 2], np.float32))

    @tf.function
    def f():
        def step(i, x):
            return (i + 1, x * tf.reduce_sum(a) * v)

        return tf.gradients(tf.while_loop(lambda i, _: i < 2, step, [0, 1.0])[1], [v])[0]

    assert f().numpy() == 32.0


def test_what_changes_a_variable_reads_it_behind_that():
    with tf.Graph().as_default(), v1.Session() as session:
        v = v1.Variable(1.0)
        session.run(v.initializer)
        assert session.run(v.assign_add(2.0).read_value()) == 3.0
        with pytest.raises(AttributeError, match="read_value"):
            tf.constant(1.0).read_value()


def test_inputs_of_different_loops_are_refused():
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [])
        first, second = (tf.raw_ops.Enter(data=x, frame_name=name) for name in ("a", "b"))
        with pytest.raises(tf.errors.InvalidArgumentError, match="inputs from different frames"):
            session.run(first + second, {x: 1.0})


@pytest.mark.parametrize(
    ("made", "match"),
    [
        (np.array([], dtype=[("a", np.float32)]), "Unsupported numpy data type"),
        ({"a": 1}, "Unsupported object type dict"),
    ],
)
def test_python_gives_arrays(made, match):
    with tf.Graph().as_default(), v1.Session() as session:
        (found,) = v1.py_func(lambda: made, [], [tf.float32])
        with pytest.raises(tf.errors.InternalError, match=match):
            session.run(found)


def test_python_gives_no_variable():
    with pytest.raises(tf.errors.UnknownError, match="Attempting to return a variable"):
        tf.py_function(lambda: tf.Variable(0.0), [], tf.float32)


def test_python_without_effects_and_results_gives_nothing():
    with tf.Graph().as_default(), v1.Session() as session:
        x = tf.constant(1)
        assert session.run(v1.py_func(lambda x: None, [x], [], stateful=False)) == []
        assert session.run(v1.py_func(lambda x: None, [x], [])) is None


def test_what_is_no_element_type_is_named():
    with pytest.raises(TypeError, match=r"Cannot convert .* to a TensorFlow DType"):
        tf.py_function(lambda x: x, [1], [{}])
    with pytest.raises(TypeError, match=r"Cannot convert .* to a TensorFlow DType"):
        tf.as_dtype({})


def drawn_around(part):
    """Return what is drawn before, in and behind a part of a graph, in two runs."""
    with tf.Graph().as_default(), v1.Session() as session:
        v1.set_random_seed(1)
        given = v1.placeholder(tf.bool)
        made = [v1.random_uniform([]), part(given), v1.random_uniform([])]
        return [[float(x) for x in session.run(made, {given: b})] for b in (True, False)]


def chosen(given):
    return tf.cond(given, lambda: v1.random_uniform([]), lambda: v1.random_uniform([]) + 1.0)


def looped(given):
    def body(i, x):
        return i + 1, chosen(given)

    return tf.while_loop(lambda i, x: i < 1, body, (0, 0.0))[1]


@pytest.mark.parametrize("part", [chosen, looped])
def test_draws_of_choices_and_loops_are_counted_as_the_behaviour_says(part):
    first = [[0.812696, 0.055544, 0.778786], [0.527289, 1.406397, 0.097887]]
    second = [[0.812696, 0.812696, 0.055544], [0.527289, 1.812696, 0.838831]]
    np.testing.assert_allclose(drawn_around(part), second, atol=2e-6)
    v1.disable_control_flow_v2()
    try:
        assert not v1.control_flow_v2_enabled()
        np.testing.assert_allclose(drawn_around(part), first, atol=2e-6)
    finally:
        v1.enable_control_flow_v2()
    assert v1.control_flow_v2_enabled()


def test_functions_count_their_draws_by_themselves():
    def part(given):
        return tf.function(lambda: chosen(given))()

    v1.disable_control_flow_v2()
    try:
        found = drawn_around(part)
    finally:
        v1.enable_control_flow_v2()
    assert found[0][0] == found[0][1]
    np.testing.assert_allclose(found[1][1], 1 + found[0][0])


def chosen_by_python(given):
    def choose(x):
        if given:
            return x + v1.random_uniform([])
        return x + v1.random_uniform([]) + 1.0

    return tf.autograph.to_graph(choose)(tf.constant(0.0))


def chosen_by_number(given):
    branches = [lambda: v1.random_uniform([]) + 1.0, lambda: v1.random_uniform([])]
    return tf.switch_case(tf.cast(given, tf.int32), branches)


FOUND = [
    (chosen_by_python, [[0.812696, 0.055544, 0.778786], [0.527289, 1.406397, 0.097887]]),
    (chosen_by_number, [[0.812696, 0.812696, 0.055544], [0.527289, 1.812696, 0.838831]]),
]


@pytest.mark.parametrize(("part", "wanted"), FOUND)
def test_choices_of_python_are_counted_with_the_graph_and_those_by_number_are_not(part, wanted):
    v1.disable_control_flow_v2()
    try:
        np.testing.assert_allclose(drawn_around(part), wanted, atol=2e-6)
    finally:
        v1.enable_control_flow_v2()
