"""Variables in parts, and functions that are asked for variables: values are TensorFlow's."""

import numpy as np
import pytest

from gravure.tf import compat

tf = compat.v1


def counted(shape, dtype=None, partition_info=None):
    """Return numbers, from a hundred times the first row that the part has in the whole."""
    start = 100.0 * partition_info.var_offset[0] + partition_info.single_offset(shape)
    return tf.reshape(tf.range(float(np.prod(shape))), shape) + start


@pytest.fixture
def table():
    with tf.Graph().as_default() as graph:
        with tf.variable_scope("s", partitioner=tf.fixed_size_partitioner(3)):
            made = tf.get_variable("w", [7, 2], initializer=counted)
        yield made
        assert graph is tf.get_default_graph()


def run(*fetches):
    """Return fetches behind the initialisation of all variables."""
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [session.run(fetch) for fetch in fetches]


WHOLE = [[0, 1], [2, 3], [4, 5], [303, 304], [305, 306], [505, 506], [507, 508]]


def test_parts_are_variables_and_the_whole_is_a_tensor(table):
    names = [v.name for v in tf.global_variables()]
    assert names == [f"s/w/part_{i}:0" for i in range(3)]
    assert [v.shape.as_list() for v in table] == [[3, 2], [2, 2], [2, 2]]
    assert (table.name, table.get_shape().as_list(), len(table)) == ("s/w", [7, 2], 3)
    assert table.dtype == tf.float32
    by_one = tf.matmul(tf.ones([1, 7]), table)
    whole, product = run(table.as_tensor(), by_one)
    np.testing.assert_array_equal(whole, WHOLE)
    np.testing.assert_array_equal(product, np.sum(WHOLE, 0, keepdims=True))


def test_rows_are_looked_up_in_turn_or_one_part_after_the_other(table):
    mod = tf.nn.embedding_lookup(table, [0, 1, 6])
    div = tf.nn.embedding_lookup(table, [0, 1, 6], partition_strategy="div")
    first, second = run(mod, div)
    np.testing.assert_array_equal(first, [[0, 1], [303, 304], [4, 5]])
    np.testing.assert_array_equal(second, [[0, 1], [2, 3], [507, 508]])


def test_gradients_and_steps_are_those_of_the_parts(table):
    loss = tf.reduce_sum(tf.matmul(tf.ones([1, 7]), table))
    step = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    gradients = tf.gradients(loss, list(table))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = session.run(gradients)
        session.run(step)
        after = session.run(table.as_tensor())
    assert [g.shape for g in found] == [(3, 2), (2, 2), (2, 2)]
    np.testing.assert_array_equal(after, np.array(WHOLE) - 0.5)


def test_the_whole_is_written_by_shares(table):
    new = np.arange(14, dtype=np.float32).reshape(7, 2)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(table.assign(new))
        session.run(table.assign_add(tf.constant(new)))
        session.run(table.assign_sub(np.ones_like(new)))
        np.testing.assert_array_equal(session.run(table.as_tensor()), 2 * new - 1)


def test_parts_are_saved_and_restored(table, tmp_path):
    saver = tf.train.Saver()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = saver.save(session, str(tmp_path / "parts"))
        session.run(table.assign(np.zeros([7, 2], np.float32)))
        saver.restore(session, path)
        np.testing.assert_array_equal(session.run(table.as_tensor()), WHOLE)


def test_they_are_shared_as_variables_are(table):
    three = tf.fixed_size_partitioner(3)
    with tf.variable_scope("s", reuse=True, partitioner=three):
        assert tf.get_variable("w", [7, 2]) is table
    with tf.variable_scope("s", reuse=True):
        assert tf.get_variable("w") is table
        with pytest.raises(ValueError, match="Trying to share variable s/w, but specified shape"):
            tf.get_variable("w", [6, 2])
    with (
        tf.variable_scope("s", reuse=True, partitioner=tf.fixed_size_partitioner(2)),
        pytest.raises(ValueError, match=r"specified partitions \[2, 1\] and found partitions"),
    ):
        tf.get_variable("w", [7, 2])
    with (
        tf.variable_scope("s", partitioner=three),
        pytest.raises(ValueError, match="Partitioned variable with name s/w already exists"),
    ):
        tf.get_variable("w", [7, 2])


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([2, 2], "Can only slice a variable along one dimension"),
        ([0, 2], "Partitioner returned zero partitions for some axes"),
        ([2], "does not match the Variable's rank"),
        ([5, 1], "at most 4 are not empty"),
    ],
)
def test_partitions_that_cannot_be_are_refused(counts, message):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        tf.get_variable("v", [4, 6], partitioner=lambda shape, dtype: counts)


def test_values_penalties_and_scalars_in_parts():
    with tf.Graph().as_default():
        rows = tf.get_variable(
            "rows", initializer=tf.ones([5, 2]), partitioner=tf.fixed_size_partitioner(2)
        )
        columns = tf.get_variable(
            "columns",
            [2, 3],
            initializer=tf.ones_initializer(),
            partitioner=tf.fixed_size_partitioner(2, axis=1),
            regularizer=tf.reduce_sum,
        )
        with tf.variable_scope("s", partitioner=tf.fixed_size_partitioner(2)):
            scalar = tf.get_variable("scalar", [], initializer=tf.zeros_initializer())
        assert isinstance(scalar, tf.Variable)
        assert [v.shape.as_list() for v in columns] == [[2, 2], [2, 1]]
        penalties = tf.get_collection("regularization_losses")
        found, costs = run(rows.as_tensor(), penalties)
    np.testing.assert_array_equal(found, np.ones((5, 2)))
    assert costs == [4.0, 2.0]


def test_eagerly_they_have_values_at_once():
    ones = tf.ones_initializer()
    made = tf.get_variable("v", [4], initializer=ones, partitioner=tf.fixed_size_partitioner(2))
    assert [part.numpy().tolist() for part in made] == [[1.0, 1.0], [1.0, 1.0]]
    made.assign([1.0, 2.0, 3.0, 4.0])
    assert made.as_tensor().numpy().tolist() == [1.0, 2.0, 3.0, 4.0]


def test_reading_the_whole_waits_for_nothing():
    with tf.Graph().as_default() as graph:
        with tf.control_dependencies([tf.constant(1.0)]):
            made = tf.get_variable("v", [4], partitioner=tf.fixed_size_partitioner(2))
            before = len(graph.get_operations())
            made.as_tensor()
        assert not any(op.control_inputs for op in graph.get_operations()[before:])


ASKED = [
    (tf.variable_axis_size_partitioner(64), [[5, 1], [10, 1], [10, 1]], [1, 1]),
    (tf.variable_axis_size_partitioner(1), [[10, 1], [10, 1], [10, 1]], [3, 1]),
    (tf.variable_axis_size_partitioner(100, 1, max_shards=2), [[1, 2], [1, 2], [1, 2]], [1, 1]),
    (tf.min_max_variable_partitioner(4, min_slice_size=64), [[4, 1], [4, 1], [4, 1]], [1, 1]),
    (tf.min_max_variable_partitioner(100, 1, min_slice_size=8), [[1, 6], [1, 6], [1, 6]], [1, 2]),
    (tf.min_max_variable_partitioner(100, min_slice_size=100), [[3, 1], [5, 1], [10, 1]], [1, 1]),
    (tf.fixed_size_partitioner(5), [[5, 1], [5, 1], [5, 1]], [3, 1]),
]


@pytest.mark.parametrize(("partitioner", "large", "small"), ASKED)
def test_partitioners_cut_as_tensorflows_do(partitioner, large, small):
    shape = tf.TensorShape([10, 6])
    dtypes = (tf.float32, tf.float64, tf.string)
    assert [partitioner(shape=shape, dtype=d) for d in dtypes] == large
    assert partitioner(shape=tf.TensorShape([3, 2]), dtype=tf.float32) == small


def test_functions_are_asked_for_variables_the_innermost_first():
    asked = []

    def getter(name):
        """Return a function that notes that it was asked, and scales what it is given."""

        def found(getter, variable, *args, **options):
            """Note, and ask on."""
            asked.append((name, variable, options["shape"]))
            return getter(variable, *args, **options) * 2.0

        return found

    with tf.Graph().as_default():
        with (
            tf.variable_scope("a", custom_getter=getter("outer")),
            tf.variable_scope("b", custom_getter=getter("inner")),
        ):
            twice = tf.get_variable("v", [2], initializer=tf.ones_initializer())
        once = tf.get_variable(
            "q", [2], initializer=tf.ones_initializer(), custom_getter=getter("own")
        )
        assert [v.name for v in tf.global_variables()] == ["a/b/v:0", "q:0"]
        found = run(twice, once)
    assert asked == [("inner", "a/b/v", [2]), ("outer", "a/b/v", [2]), ("own", "q", [2])]
    np.testing.assert_array_equal(found, [[4, 4], [2, 2]])


def test_averages_stand_for_variables_by_a_getter():
    with tf.Graph().as_default():
        average = tf.train.ExponentialMovingAverage(0.5)

        def averaged(getter, name, *args, **options):
            """Return the average of a variable."""
            return average.average(getter(name, *args, **options))

        with tf.variable_scope("net"):
            weights = tf.get_variable("w", initializer=4.0)
        keep = average.apply([weights])
        with tf.variable_scope("net", reuse=True, custom_getter=averaged):
            mean = tf.get_variable("w")
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(weights.assign(8.0))
            session.run(keep)
            assert session.run([weights, mean]) == [8.0, 6.0]


def test_parts_start_with_a_whole_of_a_checkpoint(tmp_path):
    with tf.Graph().as_default():
        tf.get_variable("whole", initializer=np.arange(6, dtype=np.float32))
        saver = tf.train.Saver()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            path = saver.save(session, str(tmp_path / "whole"))
    with tf.Graph().as_default():
        with tf.variable_scope("net", partitioner=tf.fixed_size_partitioner(4)):
            parts = tf.get_variable("whole", [6])
        tf.train.init_from_checkpoint(path, {"/": "net/"})
        assert [x.tolist() for x in run(list(parts))[0]] == [[0, 1], [2, 3], [4], [5]]


def test_a_scope_says_what_steps_keep_to():
    with tf.Graph().as_default():
        with tf.variable_scope("s", constraint=lambda v: tf.clip_by_value(v, 0.0, 1.0)):
            v = tf.get_variable("v", initializer=np.array([0.5, 0.9], np.float32))
        step = tf.train.GradientDescentOptimizer(1.0).minimize(-2.0 * v[0] + 3.0 * v[1])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(step)
            assert session.run(v).tolist() == [1.0, 0.0]


def test_rows_of_a_variable_with_a_constraint_are_refused():
    with tf.Graph().as_default():
        table = tf.get_variable("t", [3, 2], constraint=tf.nn.relu)
        loss = tf.reduce_sum(tf.nn.embedding_lookup(table, [1]))
        with pytest.raises(RuntimeError, match="constraint function on a sparse variable"):
            tf.train.AdamOptimizer().minimize(loss)


ROWS = np.arange(20, dtype=np.float32).reshape(10, 2)


def saved(path, *, parts=0, first=ROWS, by_name=False, devices=None):
    """Write a variable of ten rows, whole or in parts; return the names in the file."""
    with tf.Graph().as_default(), tf.Session() as session:
        cut = tf.fixed_size_partitioner(parts) if parts else None
        made = tf.get_variable("w", initializer=tf.constant(first), partitioner=cut)
        session.run(tf.global_variables_initializer())
        tf.train.Saver({"w": made} if by_name else [made], sharded=by_name).save(session, path)
    return [name for name, _ in tf.train.list_variables(path)]


def restored(path, *, parts=0, by_name=False):
    """Return what a variable of ten rows has that is read from a file, whole or in parts."""
    with tf.Graph().as_default(), tf.Session() as session:
        cut = tf.fixed_size_partitioner(parts) if parts else None
        made = tf.get_variable("w", [10, 2], initializer=tf.zeros_initializer(), partitioner=cut)
        tf.train.Saver({"w": made} if by_name else None).restore(session, path)
        return session.run(tf.identity(made))


@pytest.mark.parametrize("by_name", [False, True])
def test_parts_are_saved_as_what_they_are_parts_of(tmp_path, by_name):
    path = str(tmp_path / "c")
    for before in (0, 2, 4):
        assert saved(path, parts=before, by_name=by_name) == ["w"]
        for after in (0, 2, 3):
            np.testing.assert_array_equal(restored(path, parts=after, by_name=by_name), ROWS)


def test_a_part_of_another_whole_does_not_fit(tmp_path):
    path = str(tmp_path / "c")
    saved(path, first=ROWS[:5])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"w: float32\[5, 2\], expected"):
        restored(path, parts=2)


def test_a_saver_that_reshapes_gives_values_the_axes_of_their_variables(tmp_path):
    path = str(tmp_path / "c")
    saved(path)
    for reshape in (True, False):
        with tf.Graph().as_default(), tf.Session() as session:
            made = tf.get_variable("w", [4, 5], initializer=tf.zeros_initializer())
            saver = tf.train.Saver(reshape=reshape)
            if reshape:
                saver.restore(session, path)
                np.testing.assert_array_equal(session.run(made), ROWS.reshape(4, 5))
                continue
            with pytest.raises(tf.errors.InvalidArgumentError, match="shapes of both tensors"):
                saver.restore(session, path)


def test_raw_nodes_write_and_read_parts(tmp_path):
    path, raw = str(tmp_path / "c"), tf.raw_ops
    halves = ["10 2 0,5:-", "10 2 5,5:0,2"]
    parts = [ROWS[:5], ROWS[5:]]
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(raw.SaveV2(prefix=path, tensor_names=["w", "w"], shape_and_slices=halves,
                               tensors=parts))  # fmt: skip
        names, wanted = ["w", "w"], ["10 2 3,4:1,1", ""]
        read = raw.RestoreV2(prefix=path, tensor_names=names, shape_and_slices=wanted,
                             dtypes=[tf.float32, tf.float32])  # fmt: skip
        middle, whole = session.run(read)
    np.testing.assert_array_equal(middle, ROWS[3:7, 1:])
    np.testing.assert_array_equal(whole, ROWS)
