"""Programs as users of TensorFlow write them; numbers and texts are those of TensorFlow 2.21."""

from collections import namedtuple

import numpy as np
import pytest

import gravure.tf as tf

v1 = tf.compat.v1


def test_lists_of_a_graph_are_kept_by_name():
    with tf.Graph().as_default() as graph:
        v1.add_to_collections(["c", "d"], 3)
        v1.get_collection_ref("c").append(9)
        assert (v1.get_collection("c"), v1.get_collection("d")) == ([3, 9], [3])
        local = v1.Variable(2.0, name="l", collections=[v1.GraphKeys.LOCAL_VARIABLES])
        assert v1.local_variables() == [local]
        assert v1.global_variables() == []
        with v1.Session() as session:
            assert not session.run(v1.is_variable_initialized(local))
            session.run(v1.local_variables_initializer())
            assert session.run(v1.is_variable_initialized(local))
        v1.losses.add_loss(tf.constant(2.0))
        v1.losses.add_loss(tf.constant(0.5))
        assert v1.Session().run(v1.losses.get_total_loss()) == 2.5
        graph.clear_collection("c")
        assert "c" not in graph.get_all_collection_keys()


def test_what_is_waited_for_may_be_named_and_must_be_there():
    with tf.Graph().as_default() as graph:
        a = tf.constant(1, name="a")
        with tf.control_dependencies(["a"]):
            assert tf.no_op().control_inputs == [a.op]
        with pytest.raises(KeyError), tf.control_dependencies(["x"]):
            pass
        with pytest.raises(ValueError, match="Tensor"):
            graph.get_operation_by_name("a:0")
        assert [t.name for t in v1.tuple([a, a])] == [
            "tuple/control_dependency:0",
            "tuple/control_dependency_1:0",
        ]
        assert graph.unique_name("z", mark_as_used=False) == graph.unique_name("z") == "z"


def test_slices_with_indices_are_fetched_without_their_shape():
    with tf.Graph().as_default():
        slices = tf.IndexedSlices(tf.constant([1.0, 2.0]), tf.constant([0, 3]))
        found = v1.Session().run(slices)
    assert type(found).__name__ == "IndexedSlicesValue"
    assert found.indices.tolist() == [0, 3]
    assert found.dense_shape is None


@pytest.mark.parametrize(
    ("rate", "expected"),
    [
        (lambda s: v1.train.exponential_decay(0.1, s, 2, 0.5), 0.035355),
        (lambda s: v1.train.exponential_decay(0.1, s, 2, 0.5, staircase=True), 0.05),
        (lambda s: v1.train.natural_exp_decay(0.1, s, 2, 0.5), 0.0472367),
        (lambda s: v1.train.inverse_time_decay(0.1, s, 2, 0.5), 0.0571429),
        (lambda s: v1.train.polynomial_decay(0.1, s, 4, 0.01, power=2.0), 0.015625),
        (lambda s: v1.train.polynomial_decay(0.1, s, 2, 0.01, cycle=True), 0.0325),
        (lambda s: v1.train.cosine_decay(0.1, s, 4), 0.0146447),
        (lambda s: v1.train.piecewise_constant(s, [1, 3, 5], [1.0, 0.5, 0.2, 0.1]), 0.5),
    ],
)
def test_learning_rates_change_with_the_steps(rate, expected):
    with tf.Graph().as_default():
        made = rate(tf.constant(3, tf.int64))
        assert v1.Session().run(made) == pytest.approx(expected, rel=1e-4)
    assert float(rate(tf.constant(3))()) == pytest.approx(expected, rel=1e-4)


def test_an_optimiser_takes_its_rate_from_a_schedule():
    w = tf.Variable(1.0)
    schedule = tf.keras.optimizers.schedules.ExponentialDecay(0.5, 1, 0.1)
    optimizer = tf.keras.optimizers.SGD(schedule)
    for _ in range(2):
        optimizer.apply_gradients([(tf.constant(1.0), w)])
    assert float(w) == pytest.approx(0.45)


def test_averages_of_variables_follow_them():
    with tf.Graph().as_default():
        w = v1.Variable([1.0, 2.0], name="w")
        average = v1.train.ExponentialMovingAverage(0.9)
        with tf.control_dependencies([v1.assign(w, [2.0, 4.0])]):
            step = average.apply([w])
        assert list(average.variables_to_restore()) == ["w/ExponentialMovingAverage"]
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            session.run(step)
            assert np.allclose(session.run(average.average(w)), [1.1, 2.2])


def test_a_manager_goes_on_with_the_checkpoints_of_its_folder(tmp_path):
    saved = tf.train.Checkpoint(v=tf.Variable(1.0))
    first = tf.train.CheckpointManager(saved, tmp_path, max_to_keep=2)
    paths = [first.save() for _ in range(3)]
    again = tf.train.CheckpointManager(saved, tmp_path, max_to_keep=2)
    assert again.checkpoints == paths[1:]
    again.save()
    assert not v1.train.checkpoint_exists(paths[1])
    reader = tf.train.load_checkpoint(str(tmp_path))
    assert reader.get_tensor("v/.ATTRIBUTES/VARIABLE_VALUE") == 1.0
    assert reader.has_tensor("nope") is False


def test_functions_of_functions_have_the_gradients_that_they_state():
    x = tf.constant([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as along:
        y = x * x * tf.reduce_sum(x)
    assert np.array_equal(along.jvp(y), [7.0, 4.0])
    w = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        z = tf.recompute_grad(lambda a: a * a * w)(tf.constant(2.0))
    assert float(tape.gradient(z, w)) == 4.0
    with tf.GradientTape() as tape:
        tape.watch(x)
        rounded = tf.grad_pass_through(tf.round)(x * 1.3)
    assert np.allclose(tape.gradient(rounded, x), [1.3, 1.3])
    with pytest.raises(ValueError, match="Passed in object"), tf.GradientTape() as tape:
        tape.watch(1.0)


def test_gradients_have_the_name_that_is_given_and_ask_for_no_value_of_a_number():
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [])
        assert v1.Session().run(tf.gradients(x, x)) == [1.0]
        assert tf.gradients(x * x, x, name="g")[0].name.startswith("g/")


def test_a_signature_declares_structures_and_says_them():
    spec = [{"a": tf.TensorSpec([], tf.float32), "b": [tf.TensorSpec([2], tf.float32)]}]

    @tf.function(input_signature=spec)
    def f(d):
        return {"y": d["a"] + d["b"][0]}

    assert f({"b": [[1.0, 2.0]], "a": 1.0})["y"].numpy().tolist() == [2.0, 3.0]
    trace = f.get_concrete_function()
    assert trace.output_shapes == {"y": tf.TensorShape([2])}
    assert trace.output_dtypes == {"y": tf.float32}
    (given,), named = trace.structured_input_signature
    assert given["b"][0].shape == [2]
    assert named == {}


def test_the_order_of_keys_makes_no_new_trace():
    @tf.function
    def f(d):
        return d["a"] - d["b"]

    assert int(f({"a": tf.constant(3), "b": tf.constant(1)})) == 2
    assert int(f({"b": tf.constant(1), "a": tf.constant(3)})) == 2
    assert f.experimental_get_tracing_count() == 1
    with pytest.raises(TypeError, match="returns"):
        tf.function(object)()


def test_parts_of_variables_are_assigned_in_functions():
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])

    @tf.function
    def f(i):
        w[:, 1].assign([8.0, 9.0])
        w[i, 0].assign(7.0)
        return w.read_value()

    assert f(tf.constant(1)).numpy().tolist() == [[1.0, 8.0], [7.0, 9.0]]


def test_a_module_saves_its_only_declared_function_as_the_default(tmp_path):
    class Model(tf.Module):
        def __init__(self):
            super().__init__(name="m")
            self.v = tf.Variable(2.0, trainable=False)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32, name="x")])
        def __call__(self, x):
            return x * self.v

    model = Model()
    assert model.non_trainable_variables == (model.v,)
    assert model.name_scope.name == "m/"
    tf.saved_model.save(model, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    assert list(loaded.signatures) == ["serving_default"]


def test_shapes_that_change_are_checked_when_it_runs():
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [None, 3])
        checked = tf.ensure_shape(x, [2, 3])
        assert checked.shape == [2, 3]
        assert tf.concat([x, tf.ones([2, 2])], 1).shape == [2, 5]
        assert tf.broadcast_to(x, [2, 5, 3]).shape == [2, 5, 3]
        session = v1.Session()
        for _ in range(6):
            assert session.run(checked, {x: np.ones((2, 3))}).shape == (2, 3)
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(checked, {x: np.ones((3, 3))})


def test_values_are_written_as_tensorflow_writes_them(tmp_path):
    file = f"file://{tmp_path}/out"
    tf.print(tf.range(100), "a", 1.5, output_stream=file)
    tf.print(tf.range(10), summarize=2, output_stream=file)
    tf.print({"a": tf.constant(1.0), "b": [tf.constant("s")]}, output_stream=file)
    tf.print(tf.constant([True, False]), tf.constant(1.23456789), output_stream=file)
    tf.print(tf.ones([2, 2]), sep="|", end="!\n", output_stream=file)
    assert (tmp_path / "out").read_text().splitlines() == [
        "[0 1 2 ... 97 98 99] a 1.5",
        "[0 1 ... 8 9]",
        "{'a': 1, 'b': [\"s\"]}",
        "[1 0] 1.23456788",
        "[[1 1]",
        " [1 1]]!",
    ]


def test_what_python_asks_of_a_symbolic_tensor_is_refused_by_its_class():
    def branch(x):
        return x if x > 0 else -x

    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        tf.function(branch, autograph=False)(tf.constant(1.0))
    with pytest.raises(NotImplementedError, match="numpy"):
        tf.function(np.array)(tf.constant(1.0))


def test_structures_of_shapes_and_specs():
    shape = tf.TensorShape([2, None])
    assert shape.with_rank_at_least(1) == shape
    assert [1] + shape == [1, 2, None]  # noqa: RUF005  (this is what is tried)
    assert shape.is_subtype_of(tf.TensorShape([None, None]))
    assert tf.TensorShape(None)[0] is None
    assert tf.broadcast_static_shape(tf.TensorShape([1, 3]), tf.TensorShape([2, 1])) == [2, 3]
    with pytest.raises(TypeError, match="Dimension value"):
        tf.TensorShape([1.5])
    with pytest.raises(ValueError, match="fully defined"):
        shape.assert_is_fully_defined()


def test_elements_of_a_queue_have_its_shapes():
    with tf.Graph().as_default():
        queue = tf.queue.FIFOQueue(3, [tf.float32], shapes=[[2]])
        with pytest.raises(ValueError, match="incompatible"):
            queue.enqueue([1.0])


def test_a_graph_is_imported_with_inputs_of_its_types():
    Pair = namedtuple("Pair", "x y")
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [None], name="x")
        pair = Pair(x, tf.add(x, 1.0, name="y"))
        data = graph.as_graph_def()
        assert v1.Session().run(pair, {x: [1.0]}).y.tolist() == [2.0]
    with tf.Graph().as_default(), pytest.raises(ValueError, match="incompatible"):
        tf.import_graph_def(data, input_map={"x:0": tf.constant([1])})


def test_gradients_at_a_logit_of_zero_are_those_of_the_logistic_function():
    logits = tf.Variable(tf.zeros([2]))
    with tf.GradientTape() as tape:
        loss = tf.nn.sigmoid_cross_entropy_with_logits([1.0, 0.0], logits)
    assert tape.gradient(loss, logits).numpy().tolist() == [-0.5, 0.5]


def test_rows_outside_of_a_variable_are_refused():
    w = tf.Variable(tf.zeros([2, 3]))
    with pytest.raises(tf.errors.InvalidArgumentError):
        w.scatter_update(tf.IndexedSlices([[1.0, 1.0, 1.0]], [9]))
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.function(lambda i: w.scatter_nd_add([[i]], [[1.0, 1.0, 1.0]]))(tf.constant(2))
    assert not np.asarray(w).any()


def test_functions_return_slices_with_indices():
    w = tf.Variable(tf.ones([4, 2]))

    @tf.function
    def gradient():
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.gather(w, [0, 0, 2]) ** 2.0)
        return {"g": tape.gradient(y, w)}

    for _ in range(2):
        found = gradient()["g"]
        assert isinstance(found, tf.IndexedSlices)
        assert found.indices.numpy().tolist() == [0, 0, 2]
        assert found.values.numpy().tolist() == [[2.0, 2.0]] * 3


def test_losses_of_the_first_version_count_what_has_a_weight():
    with tf.Graph().as_default():
        losses, x, y = v1.losses, tf.constant([1.0, 2.0]), tf.constant([1.5, 0.0])
        made = {
            0.25: losses.mean_squared_error(x, y, weights=[1.0, 0.0]),
            4.25: losses.mean_squared_error(x, y, reduction=losses.Reduction.SUM),
            0.8125: losses.huber_loss(x, y),
            0.5: losses.hinge_loss([1.0, 0.0], y),
            1.213262: losses.softmax_cross_entropy([[1, 0]], [[1.0, 2.0]], label_smoothing=0.2),
        }
        assert len(losses.get_losses()) == 5
        found = v1.Session().run(list(made.values()))
    assert np.allclose(found, list(made), rtol=1e-5)


def test_arguments_of_the_first_version_have_their_old_names_and_places():
    with tf.Graph().as_default():
        x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        image = tf.reshape(x, [1, 2, 2, 1])
        tables = [tf.constant([[0.0], [2.0]]), tf.constant([[1.0], [3.0]])]
        fetches = {
            "kept": v1.nn.dropout(x, 1.0),
            "mean": v1.nn.moments(x, [0], keep_dims=True)[0],
            "sum": v1.reduce_sum(x, reduction_indices=[1], keep_dims=True),
            "conv": v1.nn.conv2d(image, filter=tf.ones([1, 1, 1, 1]), strides=1, padding="SAME"),
            "rows": v1.nn.embedding_lookup(tables, [0, 1, 2, 3]),
            "whole": v1.div(7, 2),
            "norm": v1.nn.fused_batch_norm(image, [1.0], [0.0], is_training=True)[2],
        }
        found = v1.Session().run(fetches)
    assert found["kept"].tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert found["mean"].tolist() == [[2.0, 3.0]]
    assert found["sum"].tolist() == [[3.0], [7.0]]
    assert found["conv"].ravel().tolist() == [1.0, 2.0, 3.0, 4.0]
    assert found["rows"].ravel().tolist() == [0.0, 1.0, 2.0, 3.0]
    assert found["whole"] == 3
    assert np.allclose(found["norm"], [5.0 / 3.0])


def test_devices_inside_of_others_say_the_rest():
    with tf.Graph().as_default(), tf.device("/job:w/task:1"):
        with tf.device("/gpu:2"):
            assert tf.constant(1).device == "/job:w/task:1/device:GPU:2"
        with tf.device(None):
            assert tf.constant(1).device == ""


def test_a_function_checks_numbers_that_it_does_not_use():
    @tf.function
    def f(x):
        tf.debugging.check_numerics(x, "found it")
        return tf.constant(1)

    assert int(f(tf.constant([1.0]))) == 1
    for _ in range(6):
        with pytest.raises(tf.errors.InvalidArgumentError, match="found it"):
            f(tf.constant([np.inf]))


@pytest.mark.parametrize(
    ("refused", "expected"),
    [
        (lambda: tf.zeros([-1]), tf.errors.InvalidArgumentError),
        (lambda: tf.eye(-1), tf.errors.InvalidArgumentError),
        (lambda: tf.constant([1, 2], shape=[3]), TypeError),
        (lambda: tf.nest.assert_same_structure([1], (1,)), TypeError),
        (lambda: tf.debugging.assert_rank_in([1.0], (2, 3)), ValueError),
        (lambda: tf.debugging.assert_rank_at_least([1.0], 2), ValueError),
        (lambda: tf.math.no_such_name, AttributeError),
        (
            lambda: tf.nn.depthwise_conv2d(
                tf.ones([1, 2, 3, 3]), tf.ones([1, 1, 2, 1]), [1, 1, 1, 1], "SAME", "NCHW"
            ),
            tf.errors.UnimplementedError,
        ),
        (
            lambda: tf.nn.conv2d_transpose(
                tf.ones([1, 3, 3, 2]), tf.ones([3, 3, 4, 2]), [1, 9, 6, 4], 2, "SAME"
            ),
            tf.errors.InvalidArgumentError,
        ),
    ],
)
def test_what_does_not_fit_is_refused_by_tensorflows_class(refused, expected):
    with pytest.raises(expected):
        refused()


def test_branches_wait_for_what_is_outside():
    with tf.Graph().as_default():
        v, w = v1.Variable(0.0), v1.Variable(0.0)
        chosen, outside = v1.placeholder(tf.bool, []), v1.assign_add(w, 1.0)

        def taken():
            with tf.control_dependencies([v1.assign_add(v, 1.0), outside]):
                return tf.constant(1.0)

        result = tf.cond(chosen, taken, lambda: tf.constant(2.0))
        session = v1.Session()
        session.run(v1.global_variables_initializer())
        for value, expected in ((True, [1.0, 1.0]), (False, [1.0, 2.0])):
            session.run(result, {chosen: value})
            assert session.run([v, w]) == expected


def test_scopes_of_initialisation_stay_in_a_graph():
    with tf.Graph().as_default() as graph:
        with tf.init_scope():
            assert not tf.executing_eagerly()

        @tf.function
        def f(x):
            with tf.init_scope():
                assert v1.get_default_graph() is graph
            return x

        f(tf.constant(1))


def test_gradients_are_overridden_for_operations_of_a_context():
    @tf.RegisterGradient("TestNinetyNine")
    def _rule(op, grad):
        return grad * -99.0

    with tf.Graph().as_default() as graph:
        x = tf.constant(2.0)
        with graph.gradient_override_map({"Identity": "TestNinetyNine"}):
            inside = tf.identity(x)
        outside = tf.identity(x)
        found = v1.Session().run([tf.gradients(inside, x)[0], tf.gradients(outside, x)[0]])
    assert found == [-99.0, 1.0]
    with pytest.raises(KeyError):
        tf.RegisterGradient("TestNinetyNine")(_rule)


def test_variables_of_a_scope_are_regularised():
    with tf.Graph().as_default():
        ones = v1.ones_initializer()
        with v1.variable_scope("a", regularizer=lambda v: tf.reduce_sum(v) * 0.5):
            v1.get_variable("w", [2], initializer=ones)
        v1.get_variable("u", [2], initializer=ones, regularizer=lambda v: tf.reduce_sum(v * v))
        session = v1.Session()
        session.run(v1.global_variables_initializer())
        assert session.run(v1.losses.get_regularization_loss()) == 3.0
        with pytest.raises(TypeError, match="partition"):
            v1.variable_scope("b", partition=print).__enter__()


def test_rows_of_variables_are_combined_by_functions_of_the_first_version():
    with tf.Graph().as_default():
        v = v1.Variable([1.0, 2.0, 3.0])
        steps = [
            v1.scatter_nd_update(v, [[1]], [8.0]),
            v1.scatter_mul(v, [0], [5.0]),
            v1.scatter_max(v, [2], [9.0]),
        ]
        session = v1.Session()
        session.run(v.initializer)
        for step in steps:
            session.run(step)
        assert session.run(v).tolist() == [5.0, 8.0, 9.0]


def test_matrices_in_batches_multiply_one_vector():
    a = tf.reshape(tf.range(12.0), [2, 2, 3])
    assert tf.linalg.matvec(a, [1.0, 0.0, 1.0]).numpy().tolist() == [[2.0, 8.0], [14.0, 20.0]]


def test_complex_numbers_have_powers_and_gradients():
    z = tf.constant([1 + 2j])
    assert np.allclose(z**2, [-3 + 4j])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(z)
        size, square, steps = tf.abs(z), z * z, tf.math.squared_difference(z, 1j)
    assert np.allclose(tape.gradient(size, z), [(1 + 2j) / np.sqrt(5)])
    assert np.allclose(tape.gradient(square, z), [2 - 4j])  # the conjugate of 2 z
    assert np.allclose(tape.gradient(steps, z), [2 + 2j])  # (as TensorFlow says)


def test_names_that_stood_at_the_top():
    with tf.Graph().as_default():
        x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        fetches = [
            v1.matrix_determinant(x),
            v1.trace(v1.matrix_solve(x, x)),
            v1.segment_sum(x, [0, 0])[0, 0],
            v1.while_loop(lambda i: i < 3, lambda i: i + 1, [0]),
        ]
        inside = v1.nn.in_top_k(x, [1, 0], 1)
        assert np.allclose(v1.Session().run(fetches), [-2.0, 2.0, 4.0, 3])
        assert v1.Session().run(inside).tolist() == [True, False]


def test_sizes_and_places_that_are_known_when_it_runs():
    masks = tf.function(lambda lengths, n: tf.sequence_mask(lengths, n))  # noqa: PLW0108  (binds by place)
    found = masks(tf.constant([1, 2]), tf.constant(3)).numpy()
    assert found.tolist() == [[True, False, False], [True, True, False]]
    array = tf.TensorArray(tf.float32, 2).unstack([1.0, 2.0])
    assert (array.stack() + array.gather([1, 1])).numpy().tolist() == [3.0, 4.0]
    with pytest.raises(TypeError, match="false_fn"):
        tf.cond(True, lambda: 1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="1D"):
        tf.unique([[1]])


def test_arrays_take_elements_of_ranks_that_only_the_run_knows():
    @tf.function
    def collected(count):
        numbers = tf.TensorArray(tf.float32, 0, dynamic_size=True)
        for i in tf.range(count):
            found = tf.numpy_function(lambda n: np.float32(n) * 0.5, [i], tf.float32)
            numbers = numbers.write(i, found)
        return numbers.stack()

    assert collected(tf.constant(3)).numpy().tolist() == [0.0, 0.5, 1.0]


def test_averages_go_on_in_functions():
    average, variable = tf.train.ExponentialMovingAverage(0.5), tf.Variable(0.0)
    average.apply([variable])

    @tf.function
    def step():
        variable.assign_add(4.0)
        average.apply([variable])

    step()
    step()
    assert average.average(variable).numpy() == 5.0  # (0 + 4) / 2, then (2 + 8) / 2


def test_hooks_fetch_variables_of_a_finalized_graph():
    v1.disable_v2_behavior()
    try:
        with tf.Graph().as_default():
            step = v1.train.create_global_step()
            change = v1.assign_add(step, 1)
            seen = []

            class Hook(v1.train.SessionRunHook):
                def before_run(self, context):
                    return v1.train.SessionRunArgs([step])

                def after_run(self, context, values):
                    seen.append(int(values.results[0]))

            hooks = [Hook(), v1.train.StopAtStepHook(3)]
            with v1.train.MonitoredTrainingSession(hooks=hooks) as session:
                while not session.should_stop():
                    session.run(change)
        assert seen == [1, 2, 3]
    finally:
        v1.enable_v2_behavior()
