"""Rules of graphs, functions and tapes as TensorFlow 2.21 keeps them, errors included."""

import threading

import numpy as np
import pytest

import gravure.tf as tf

v1 = tf.compat.v1


def ready():
    session = v1.Session()
    session.run(v1.global_variables_initializer())
    return session


def test_what_must_not_be_fed_or_fetched_is_refused():
    with tf.Graph().as_default() as graph:
        a = tf.constant(1.0, name="a")
        b = tf.add(a, a, name="b")
        assert [o.name for o in a.consumers()] == ["b", "b"]
        graph.prevent_feeding(a)
        graph.prevent_fetching(b.op)
        assert (graph.is_feedable(a), graph.is_fetchable(b)) == (False, False)
        with pytest.raises(ValueError, match="may not be fed"):
            v1.Session().run(a, {a: 2.0})
        with pytest.raises(ValueError, match="not fetchable"):
            v1.Session().run(b)
        for arguments, error in (
            ((5,), TypeError),
            (("a:0", False), ValueError),
            (("a", True, False), ValueError),
        ):
            with pytest.raises(error):
                graph.as_graph_element(*arguments)
        with pytest.raises(TypeError):
            v1.Session(graph=5)


def test_lists_of_a_graph_are_looked_through_by_scope():
    with tf.Graph().as_default() as graph:
        with tf.name_scope("inner"):
            graph.add_to_collection("y", tf.constant(1, name="k"))
        graph.add_to_collection("y", tf.constant(1, name="out"))
        assert [t.name for t in graph.get_collection("y", "inn.*/k")] == ["inner/k:0"]
        v1.train.create_global_step()
        with pytest.raises(ValueError, match="already exists"):
            v1.train.create_global_step()


def test_an_assignment_without_its_value_is_an_operation():
    with tf.Graph().as_default():
        v = v1.Variable([1.0, 2.0, 8.0])
        session = ready()
        assert session.run(v.assign([4.0, 5.0, 6.0], read_value=False)) is None
        found = session.run(v1.scatter_div(v, [0, 2], [2.0, 3.0]))
        assert found.tolist() == [2.0, 5.0, 2.0]
        with session.as_default():
            v.load([0.0, 1.0, 2.0])
            assert v.eval().tolist() == [0.0, 1.0, 2.0]


def test_variables_of_templates_and_wrapped_functions_are_shared():
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [])
        times = v1.make_template(
            "tpl", lambda y: y * v1.get_variable("k", initializer=lambda: tf.constant(3.0))
        )
        made = times(x) + times(x)
        local = v1.get_local_variable("loc", [2])
        assert v1.local_variables() == [local]
        assert [v.name for v in v1.global_variables()] == ["tpl/k:0"]
        assert ready().run(made, {x: 2.0}) == 12.0

    def scaled(x):
        return x * v1.get_variable("v", [], initializer=v1.ones_initializer())

    wrapped = v1.wrap_function(scaled, [tf.TensorSpec([], tf.float32)])
    assert float(wrapped(tf.constant(2.0))) == 2.0
    assert [v.name for v in wrapped.variables] == ["v:0"]


def test_threads_stop_together_and_their_error_is_raised():
    coordinator, seen = tf.train.Coordinator(), []

    def work():
        while not coordinator.should_stop():
            seen.append(1)
            if len(seen) == 5:
                coordinator.request_stop()

    thread = threading.Thread(target=work)
    thread.start()
    coordinator.join([thread])
    assert (len(seen), coordinator.should_stop()) == (5, True)
    coordinator.clear_stop()
    with coordinator.stop_on_exception():
        raise KeyError("first")
    coordinator.request_stop(KeyError("second"))
    with pytest.raises(KeyError, match="first"):
        coordinator.join()


def test_a_queue_is_filled_by_threads_of_its_runner():
    with tf.Graph().as_default():
        queue = v1.FIFOQueue(3, tf.int32, shapes=[[]])
        count = v1.Variable(0)
        runner = v1.train.QueueRunner(queue, [queue.enqueue(count.assign_add(1))])
        v1.train.add_queue_runner(runner)
        head, stop = queue.dequeue(), queue.close(cancel_pending_enqueues=True)
        session, coordinator = ready(), v1.train.Coordinator()
        threads = v1.train.start_queue_runners(session, coordinator)
        assert [int(session.run(head)) for _ in range(4)] == [1, 2, 3, 4]
        coordinator.request_stop()
        session.run(stop)
        coordinator.join(threads)


def test_conditions_of_a_case_are_checked_when_they_are_run():
    @tf.function
    def chosen(x):
        pairs = [(x < 5, lambda: 1), (x < 9, lambda: 2)]
        return tf.case(pairs, default=lambda: 3, exclusive=True)

    @tf.function
    def some(x):
        return tf.case([(x < 5, lambda: 1)])

    assert [int(chosen(tf.constant(k))) for k in (7, 10)] == [2, 3]
    assert int(some(tf.constant(1))) == 1
    for function, k in ((chosen, 1), (some, 6)):
        for _ in range(6):  # interpreted at first, later compiled
            with pytest.raises(tf.errors.InvalidArgumentError, match="Input error"):
                function(tf.constant(k))


def test_branches_give_one_structure():
    x = tf.constant(1.0)
    with pytest.raises(TypeError):
        tf.function(lambda p: tf.cond(p, lambda: x, lambda: [x]))(tf.constant(True))
    assert tf.function(lambda p: tf.cond(p, lambda: (), lambda: ()))(tf.constant(True)) == ()


def test_a_concrete_function_is_called_by_the_parameters_of_its_function():
    @tf.function
    def f(x, y=2, *, z=None):
        return x * float(y)

    concrete = f.get_concrete_function(tf.TensorSpec([None], name="xx"))
    x = tf.ones([2])
    for given in (concrete(x), concrete(xx=x), concrete(x, 2)):
        assert given.numpy().tolist() == [2.0, 2.0]
    for arguments in ((), (x, 3), (x, 2, 1)):
        with pytest.raises(TypeError):
            concrete(*arguments)


def test_signatures_are_bound_by_their_structure():
    @tf.function(input_signature=[{"a": tf.TensorSpec([])}, [tf.TensorSpec([2])]])
    def f(d, pair):
        return d["a"] + pair[0]

    assert f({"a": 1.0}, [[1.0, 2.0]]).numpy().tolist() == [2.0, 3.0]
    with pytest.raises(TypeError):
        f({"b": 1.0}, [[1.0, 2.0]])
    with pytest.raises(TypeError):
        tf.function(lambda x: x, input_signature=[1])(2)
    spec = tf.TensorSpec([None, 2], tf.int32, "n")
    assert tf.TensorSpec.from_spec(spec, name="q").name == "q"
    assert spec.most_specific_common_supertype([tf.TensorSpec([3, 2], tf.int32, "n")]) == spec
    assert spec.most_specific_common_supertype([tf.TensorSpec([3, 2])]) is None
    assert tf.type_spec_from_value([1]) == tf.TensorSpec([1], tf.int32)


def test_only_rows_that_were_taken_have_gradients_of_rows():
    v = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        taken, other = tf.gather(v, [0, 0, 2]), tf.linalg.diag(v)
    assert isinstance(tape.gradient(taken, v), tf.IndexedSlices)
    assert isinstance(tape.gradient(other, v), tf.Tensor)


def test_a_custom_gradient_states_its_variables_and_gives_as_many_as_there_are_arguments():
    w = tf.Variable(2.0)
    shapes = []

    @tf.custom_gradient
    def hidden(x):
        return x * w, lambda dy: dy

    @tf.custom_gradient
    def one_of_two(x, y):
        return x * y, lambda dy: dy

    @tf.custom_gradient
    def seen(x):
        return x * 2.0, lambda dy: (shapes.append(dy.shape.as_list()), dy)[1]

    with pytest.raises(TypeError, match="variables"):
        hidden(tf.constant(1.0))
    with tf.GradientTape() as tape:
        made = one_of_two(w, w)
    with pytest.raises(ValueError, match="gave 1 values"):
        tape.gradient(made, w)
    with tf.GradientTape() as tape:
        made = seen(w) + 0.0
    assert (float(tape.gradient(made, w)), shapes) == (1.0, [[]])


def test_what_has_no_gradient_says_so_eagerly_too():
    x = tf.constant([1.0, 1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        made = tf.unique(x)[0]
    with pytest.raises(LookupError, match="Unique"):
        tape.gradient(made, x)


def test_checks_of_constants_fail_where_they_are_written():
    with tf.Graph().as_default():
        with pytest.raises(tf.errors.InvalidArgumentError, match="boo"):
            tf.debugging.assert_equal(1, 2, message="boo")
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"^m\nd\n3$"):
            v1.assert_less(2, 1, data=["d", 3], message="m")
    assert tf.debugging.assert_same_float_dtype([tf.constant(1.0)]) == tf.float32


def test_python_gives_what_was_stated():
    found = tf.py_function(lambda x: x, [1.0], tf.TensorSpec([], tf.float32))
    assert float(found) == 1.0
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.py_function(lambda x: 1.5, [1], tf.int32)


def test_no_slices_are_mapped_to_nothing_of_the_right_shape():
    made = tf.function(lambda: tf.map_fn(lambda q: (q, q[0] > 0), tf.zeros([0, 2]), (
        tf.float32, tf.bool)))()  # fmt: skip
    assert [(x.shape.as_list(), x.dtype) for x in made] == [([0, 2], tf.float32), ([0], tf.bool)]


def test_batch_jacobians_are_of_examples():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        made, total = x * x, tf.reduce_sum(x, 1)
    assert tape.batch_jacobian(made, x).shape.as_list() == [2, 2, 2]
    with pytest.raises(ValueError, match="rank at least 2"):
        tape.batch_jacobian(total, x)


@pytest.mark.parametrize(
    ("make", "expected", "kept"),
    [
        (lambda o: o.Adadelta(1.0), ([0.994265, -1.994261], 2.994264), 6),
        (lambda o: o.Adamax(0.1), ([0.639305, -1.624768], 2.634980), 6),
        (lambda o: o.SGD(0.1, momentum=0.9), ([-1.100566, 2.201131], 0.573653), 4),
        (lambda o: o.SGD(0.1), ([0.053664, -0.107328], 2.394675), 2),
        (lambda o: o.Adam(0.1, amsgrad=True), ([0.605619, -1.602798], 2.604588), 8),
    ],
)
def test_optimisers_of_keras_keep_what_they_say(make, expected, kept):
    w, b = tf.Variable([1.0, -2.0]), tf.Variable(3.0)
    optimizer = make(tf.keras.optimizers)
    optimizer.build([w, b])
    assert len(optimizer.variables) == kept
    for _ in range(4):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w * w) * b
        optimizer.apply(tape.gradient(loss, [w, b]), [w, b])
    np.testing.assert_allclose(w.numpy(), expected[0], rtol=2e-5)
    np.testing.assert_allclose(b.numpy(), expected[1], rtol=2e-5)
    assert len(optimizer.variables) == kept


def test_classes_are_drawn_as_tensorflow_draws_them():
    tf.random.set_seed(1)
    assert tf.random.categorical([[0.1, 0.5, 0.9]], 5).numpy().tolist() == [[1, 0, 1, 2, 1]]
    staged = tf.function(lambda: tf.random.stateless_categorical([[0.1, 0.5]], 4, [1, 2]))
    assert staged().numpy().tolist() == [[1, 1, 0, 1]]


def test_optimisers_of_graphs_name_what_they_keep():
    for make, expected in (
        (lambda: v1.train.AdamOptimizer(0.1), ["beta1_power", "beta2_power", "w/Adam", "w/Adam_1"]),
        (lambda: v1.train.MomentumOptimizer(0.1, 0.9), ["w/Momentum"]),
        (
            lambda: v1.train.RMSPropOptimizer(0.1, centered=True),
            ["w/RMSProp", "w/RMSProp_1", "w/RMSProp_2"],
        ),
    ):
        with tf.Graph().as_default():
            w = v1.Variable([1.0, -2.0], name="w")
            optimizer = make()
            step = optimizer.minimize(tf.reduce_sum(w * w))
            names = [v.op.name for v in v1.global_variables()]
            assert names == ["w", *expected]
            session = ready()
            for _ in range(3):
                session.run(step)
            if "beta1_power" in names:
                np.testing.assert_allclose(session.run(w), [0.701587, -1.700625], rtol=1e-5)
                power = session.graph.get_tensor_by_name("beta1_power:0")
                assert session.run(power) == pytest.approx(0.9**4)
            else:
                assert "momentum" in optimizer.get_slot_names()


def test_shapes_that_depend_on_the_run_are_not_claimed():
    with tf.Graph().as_default():
        x, unknown = v1.placeholder(tf.float32, [None, 3]), v1.placeholder(tf.float32)
        squeezed = tf.squeeze(tf.expand_dims(x, 1))
        assert squeezed.shape.rank is None
        assert v1.Session().run(squeezed, {x: [[1.0, 2.0, 3.0]]}).shape == (3,)
        assert tf.rank(unknown).shape == []
        like = v1.placeholder(tf.float32, [None, 3])
        assert tf.reshape(x, tf.shape(like)).shape.as_list() == [None, 3]


def test_numpy_gives_the_type_that_was_stated():
    with tf.Graph().as_default():
        made = v1.py_func(lambda: np.int32(1), [], tf.float32)
        with pytest.raises(tf.errors.InvalidArgumentError, match="expects"):
            v1.Session().run(made)


def test_texts_are_printed_in_quotes_unless_they_are_alone(tmp_path):
    out = f"file://{tmp_path / 'out'}"
    tf.print(tf.constant("alone"), output_stream=out)
    tf.print("a", tf.constant("s"), [tf.constant("t")], output_stream=out)
    assert (tmp_path / "out").read_text() == 'alone\na "s" ["t"]\n'


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda k: k.GlorotUniform(seed=3), [-0.744858, 1.076172, 0.079058, 0.835377]),
        (lambda k: k.HeNormal(seed=2), [-0.726934, -0.212597, -0.941827, -0.212958]),
    ],
)
def test_seeds_of_initial_values_give_the_numbers_of_keras_each_time(make, expected):
    initial = make(tf.keras.initializers)
    for _ in range(2):
        np.testing.assert_allclose(initial([2, 2]).numpy().ravel(), expected, rtol=1e-5)


def test_a_branch_may_give_an_operation():
    with tf.Graph().as_default():
        p, v = v1.placeholder(tf.bool, []), v1.Variable(1.0)
        step = tf.cond(p, lambda: tf.group(v.assign_add(1.0)), tf.no_op)
        session = ready()
        seen = []
        for given in (True, False, True):
            session.run(step, {p: given})
            seen.append(float(session.run(v)))
    assert seen == [2.0, 2.0, 3.0]


def test_another_graph_is_said_before_another_type():
    with tf.Graph().as_default():
        whole = tf.constant(1)
    with tf.Graph().as_default(), pytest.raises(ValueError, match="same graph"):
        tf.add(tf.constant(1.0), whole)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64", "uint64"])
@pytest.mark.parametrize("low", ["least", "most"])
def test_unique_numbers_at_the_ends_of_their_type(dtype: str, low: str) -> None:
    ends = np.iinfo(dtype)
    first = ends.min if low == "least" else ends.max - 199
    steps = np.random.default_rng(1).integers(0, 200, 400)
    steps[:2] = 0, 199
    x = np.array([int(first) + int(step) for step in steps], dtype)
    y, places, counts = tf.unique_with_counts(tf.constant(x))
    wanted = list(dict.fromkeys(x.tolist()))
    assert y.numpy().tolist() == wanted
    assert places.numpy().tolist() == [wanted.index(each) for each in x.tolist()]
    assert counts.numpy().tolist() == [x.tolist().count(each) for each in wanted]


def test_numbers_of_python_are_of_the_type_that_is_hinted_at() -> None:
    partition = tf.experimental.RowPartition
    made = (
        partition.from_row_splits([0, 2, 3], dtype_hint="int32"),
        partition.from_row_lengths([2, 1], dtype_hint="int32"),
        partition.from_row_starts([0, 2], 3, dtype_hint="int32"),
        partition.from_row_limits([2, 3], dtype_hint="int32"),
        partition.from_value_rowids([0, 0, 1], dtype_hint="int32"),
    )
    for each in made:
        assert each.dtype == tf.int32
        assert each.row_splits().numpy().tolist() == [0, 2, 3]
    assert partition.from_row_splits([0, 2, 3]).dtype == tf.int64
    typed = tf.constant([0, 2, 3], tf.int64)
    assert partition.from_row_splits(typed, dtype_hint="int32").dtype == tf.int64
