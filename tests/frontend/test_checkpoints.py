"""Checkpoints of objects: named edges, deferred values, files replaced as a whole."""

import numpy as np
import pytest

import gravure.tf as tf


class Net(tf.Module):
    def __init__(self):
        super().__init__()
        self.v = tf.Variable([1.0, 2.0])

    def grow(self):
        self.out = tf.Variable([0.0])


def test_i23_values_wait_for_variables_that_are_made_later(tmp_path):
    a = Net()
    a.grow()
    a.v.assign([5.0, 6.0])
    a.out.assign([9.0])
    path = tf.train.Checkpoint(net=a).save(str(tmp_path / "ckpt"))
    names = [n.partition("/.ATTRIBUTES")[0] for n, _ in tf.train.list_variables(path)]
    assert names == ["_CHECKPOINTABLE_OBJECT_GRAPH", "net/out", "net/v", "save_counter"]
    b = Net()
    status = tf.train.Checkpoint(net=b).restore(path)
    assert np.array_equal(b.v, [5.0, 6.0])
    with pytest.raises(AssertionError, match=r"net\.out"):
        status.assert_consumed()
    b.grow()
    assert np.array_equal(b.out, [9.0])
    status.assert_consumed()


def test_a_manager_keeps_the_newest(tmp_path):
    net = Net()
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(net=net), str(tmp_path), max_to_keep=2)
    for value in range(4):
        net.v.assign([value, value])
        manager.save()
    assert len(list(tmp_path.glob("*.safetensors"))) == 2
    net.v.assign([0.0, 0.0])
    manager.restore_or_initialize()
    assert np.array_equal(net.v, [3.0, 3.0])


def test_what_an_optimiser_keeps_is_restored_while_a_function_is_traced(tmp_path):
    def made():
        v, optimizer = tf.Variable([1.0, 2.0]), tf.optimizers.Adam(0.1)

        @tf.function
        def step():
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(v * v)
            optimizer.apply_gradients([(tape.gradient(loss, v), v)])

        return step, v, optimizer, tf.train.Checkpoint(v=v, optimizer=optimizer)

    step, _, optimizer, kept = made()
    for _ in range(3):
        step()
    path = kept.save(str(tmp_path / "c"))
    before = [x.numpy() for x in optimizer.variables]
    step, _, optimizer, kept = made()
    status = kept.restore(path)
    step.get_concrete_function()  # makes what the optimiser keeps
    status.assert_consumed()
    for a, b in zip(before, optimizer.variables, strict=True):
        np.testing.assert_array_equal(a, b.numpy())


def test_lists_and_dictionaries_of_a_checkpoint_take_values_when_they_grow(tmp_path):
    kept = tf.train.Checkpoint()
    kept.listed = [tf.Variable(1.0)]
    kept.listed.append(tf.Variable(2.0))
    kept.mapped = {"one": kept.listed[0]}
    kept.mapped["two"] = kept.listed[1]
    path = kept.save(str(tmp_path / "list"))
    again, two = tf.train.Checkpoint(), tf.Variable(0.0)
    again.mapped = {"two": two}
    again.restore(path)
    assert two.numpy() == 2
    again.listed = []
    assert repr(again.listed) == "ListWrapper([])"
    first = tf.Variable(0.0)
    again.listed.append(first)
    assert first.numpy() == 1


def test_what_two_ways_lead_to_is_found_by_each(tmp_path):
    inner = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0]))
    path = tf.train.Checkpoint(a=inner, b=inner, c=tf.train.Checkpoint(d=inner)).save(
        str(tmp_path / "both")
    )
    assert [name for name, _ in tf.train.list_variables(path) if "/v/" in name] == [
        "a/v/.ATTRIBUTES/VARIABLE_VALUE"
    ]
    for names in (("a",), ("b",), ("b", "c/d"), ("c/d",)):
        variables = {name: tf.Variable([0.0, 0.0]) for name in names}
        parts = {name: tf.train.Checkpoint(v=v) for name, v in variables.items()}
        if "c/d" in parts:
            parts["c"] = tf.train.Checkpoint(d=parts.pop("c/d"))
        status = tf.train.Checkpoint(**parts).restore(path)
        status.assert_existing_objects_matched()
        assert [v.numpy().tolist() for v in variables.values()] == [[1, 2]] * len(names)


def test_a_saver_needs_no_session_for_variables_outside_of_graphs(tmp_path):
    saving = tf.compat.v1.train
    with pytest.raises(RuntimeError, match="var_list"):
        saving.Saver()
    a, c = tf.Variable(1.0, name="a"), tf.Variable([3.0], name="scoped/c")
    saver = saving.Saver([a, c])
    path = saver.save(None, str(tmp_path / "ckpt"), global_step=tf.Variable(7))
    assert path.endswith("ckpt-7")
    assert saver.last_checkpoints == [path]
    assert tf.train.latest_checkpoint(str(tmp_path)) == path
    assert tf.train.list_variables(path) == [("a", []), ("scoped/c", [1])]
    a.assign(5.0)
    c.assign([6.0])
    saver.restore(None, path)
    assert (a.numpy(), c.numpy().tolist()) == (1, [3])
    other = tf.Variable(0.0)
    saving.Saver({"a": other}).restore(None, path)
    assert other.numpy() == 1
    with pytest.raises(tf.errors.NotFoundError, match="missing"):
        saving.Saver([a, tf.Variable(1.0, name="missing")]).restore(None, path)
    with pytest.raises(ValueError, match="shared_name 'a'"):
        saving.Saver([a, tf.Variable(1.0, name="a")])
    with tf.Graph().as_default():
        saver = saving.Saver([tf.compat.v1.get_variable("a", [])])
        with pytest.raises(TypeError, match="Session"):
            saver.restore(None, path)


def test_a_checkpoint_of_objects_reads_what_a_saver_wrote_by_names(tmp_path):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        tf.compat.v1.get_variable("a", initializer=1.0)
        tf.compat.v1.get_variable("scoped/c", initializer=3.0)
        session.run(tf.compat.v1.global_variables_initializer())
        path = tf.compat.v1.train.Saver().save(session, str(tmp_path / "ckpt"))
    a = tf.Variable(0.0, name="a")
    with tf.name_scope("scoped"):
        c = tf.Variable(0.0, name="c")
    twin = tf.Variable(0.0, name="scoped/c")
    kept = tf.train.Checkpoint(variables=[a, c, twin])
    kept.restore(path).assert_existing_objects_matched()
    assert [x.numpy() for x in (a, c, twin)] == [1, 3, 3]
    unknown = tf.train.Checkpoint(v=tf.Variable(0.0, name="b")).restore(path)
    with pytest.raises(AssertionError, match="b"):
        unknown.assert_existing_objects_matched()


def test_values_of_other_shapes_are_refused_in_the_run_too():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        variable = tf.compat.v1.get_variable("v", [2], initializer=tf.compat.v1.zeros_initializer())
        fed = tf.compat.v1.placeholder(tf.float32)
        change = variable.assign(fed)
        session.run(tf.compat.v1.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match="not compatible"):
            session.run(change, {fed: [1.0, 2.0, 3.0]})
        with pytest.raises(ValueError, match="Cannot feed value of shape"):
            variable.load([1.0, 2.0, 3.0], session)
        assert session.run(variable).tolist() == [0.0, 0.0]
        assert session.run(change, {fed: [1.0, 2.0]}).tolist() == [1.0, 2.0]


def test_options_of_checkpoints_are_heeded_or_refused(tmp_path):
    seen = []
    options = tf.train.CheckpointOptions(
        experimental_io_device="/job:localhost",
        experimental_write_callbacks=[seen.append, lambda: seen.append("done")],
    )
    variable = tf.Variable(3.0)
    checkpoint = tf.train.Checkpoint(v=variable)
    path = checkpoint.save(str(tmp_path / "kept"), options=options)
    manager = tf.train.CheckpointManager(checkpoint, str(tmp_path / "more"), 2)
    assert seen == [path, "done"]
    variable.assign(5.0)
    checkpoint.restore(path, options=options)
    assert float(variable) == 3.0
    second = manager.save(options=options)
    assert seen[2:] == [second, "done"]
    with pytest.raises(NotImplementedError, match="experimental_skip_slot_variables"):
        tf.train.CheckpointOptions(experimental_skip_slot_variables=True)
    with pytest.raises(TypeError, match=r"tf\.train\.CheckpointOptions"):
        checkpoint.save(str(tmp_path / "kept"), options={"a": 1})


def test_what_two_ways_lead_to_is_called_by_the_shortest(tmp_path):
    deep = tf.Module()
    deep.held = [tf.Variable([1.0]), {"k": tf.Variable([2.0])}]
    last, first = deep.held[0], deep.held[1]["k"]
    kept = tf.train.Checkpoint(deep=deep, z=last, b=first, a=first)
    names = [n for n, _ in tf.train.list_variables(kept.write(str(tmp_path / "kept")))]
    found = [n.partition("/.ATTRIBUTES")[0] for n in names if "VALUE" in n]
    assert found == ["a", "z"]
    (again := tf.Module()).held = [tf.Variable([0.0]), {"k": tf.Variable([0.0])}]
    tf.train.Checkpoint(deep=again).restore(str(tmp_path / "kept")).assert_consumed()
    assert [float(again.held[0][0]), float(again.held[1]["k"][0])] == [1.0, 2.0]
