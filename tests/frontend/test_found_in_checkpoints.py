"""What TensorFlow's own tests of checkpoints found."""

import copy
import gc
import weakref
from pathlib import Path

import pytest

import gravure.tf as tf


@pytest.mark.parametrize("form", [str, Path, tf.constant])
@pytest.mark.parametrize("staged", [False, True])
def test_the_path_of_a_checkpoint_has_any_form_in_functions_too(tmp_path, form, staged):
    variable = tf.Variable(3.0)
    checkpoint = tf.train.Checkpoint(v=variable)
    given = str(tmp_path / "a")
    write = tf.function(checkpoint.write) if staged else checkpoint.write
    found = write(given if form is tf.constant and not staged else form(given))
    assert (found.numpy().decode() if staged else found) == given
    variable.assign(5.0)
    checkpoint.read(given)
    assert variable.numpy() == 3.0


def test_a_path_that_a_function_is_given_is_that_of_each_call(tmp_path):
    variable = tf.Variable(1.0)
    checkpoint = tf.train.Checkpoint(v=variable)
    write = tf.function(lambda name: checkpoint.write(tf.strings.join([str(tmp_path), "/", name])))
    for name in ("a", "b"):
        assert write(tf.constant(name)).numpy().decode() == str(tmp_path / name)
        variable.assign_add(1.0)
    checkpoint.read(str(tmp_path / "b"))
    assert variable.numpy() == 2.0


def test_a_manager_goes_on_from_the_step_of_the_last_checkpoint(tmp_path):
    steps = tf.Variable(0, dtype=tf.int64)
    manager = tf.train.CheckpointManager(
        tf.train.Checkpoint(v=steps), str(tmp_path), 9, step_counter=steps,
        checkpoint_interval=2, last_checkpoint_step=3,
    )  # fmt: skip
    saved = []
    for step in range(8):
        steps.assign(step)
        if manager.save(checkpoint_number=step):
            saved.append(step)
    assert saved == [5, 7]


def test_copied_options_have_a_list_of_functions_of_their_own():
    options = tf.train.CheckpointOptions(experimental_write_callbacks=[lambda path: path])
    other = copy.copy(options)
    other.experimental_write_callbacks.append(print)
    assert len(options.experimental_write_callbacks) == 1
    with pytest.raises(AssertionError, match="takes more than the path"):
        tf.train.CheckpointOptions(experimental_write_callbacks=[lambda path, more: path])


def test_a_grid_of_nothing_is_no_grid():
    assert tf.meshgrid() == []


def test_a_function_of_a_session_writes_the_values_that_this_has(tmp_path):
    at = str(tmp_path / "a")
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        v = tf.Variable(1.0)
        write = tf.function(tf.train.Checkpoint(v=v).write)
        path, change = write(at), v.assign(3.0)
        session.run(v.initializer)
        for wanted in (1.0, 3.0):
            assert session.run(path) == at.encode()
            assert tf.train.load_variable(at, "v/.ATTRIBUTES/VARIABLE_VALUE") == wanted
            session.run(change)


def test_a_path_that_is_computed_makes_no_folder(tmp_path):
    write = tf.function(tf.train.Checkpoint(v=tf.Variable(1.0)).write)
    with pytest.raises(tf.errors.NotFoundError, match="No such file or directory"):
        write(tf.constant(str(tmp_path / "none" / "a")))


def test_values_of_other_shapes_are_told_as_incompatible(tmp_path):
    path = tf.train.Checkpoint(v=tf.Variable([1.0, 1.0])).save(str(tmp_path / "a"))
    with pytest.raises(ValueError, match=r"incompatible tensor with shape .*v: float32\[2\]"):
        tf.train.Checkpoint(v=tf.Variable([1.0])).restore(path)


class Later(tf.Module):
    """Makes its variable when it is asked to."""

    def make(self):
        self.v = tf.Variable(0.0)


def test_values_that_wait_keep_nothing_that_nobody_else_has(tmp_path):
    path = tf.train.Checkpoint(m=Later(), v=tf.Variable(1.0), w=tf.Variable(2.0)).save(
        tmp_path / "a"
    )
    partial = tf.train.Checkpoint(v=tf.Variable(0.0))
    known = [weakref.ref(partial), weakref.ref(partial.v)]
    partial.restore(path).expect_partial()
    del partial
    assert [each() for each in known] == [None, None]


def test_an_object_gets_values_that_wait_when_the_checkpoint_is_dropped(tmp_path):
    module = Later()
    module.make()
    module.v.assign(3.0)
    path = tf.train.Checkpoint(m=module).save(tmp_path / "a")
    other = Later()
    tf.train.Checkpoint(m=other).restore(path)
    gc.collect()
    copied = copy.deepcopy(other)
    other.make()
    copied.make()
    assert (other.v.numpy(), copied.v.numpy()) == (3.0, 0.0)


def test_what_was_loaded_goes_with_its_last_user(tmp_path):
    tf.saved_model.save(tf.train.Checkpoint(v=tf.Variable(1.0)), str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    known = weakref.ref(loaded.v)
    del loaded
    assert known() is None


def test_a_class_of_checkpoints_need_not_begin_as_one(tmp_path):
    class Kept(tf.train.Checkpoint):
        def __init__(self, value):
            self.v = [tf.Variable(value)]

    path = Kept(2.0).save(str(tmp_path / "a"))
    other = Kept(0.0)
    other.restore(path).assert_consumed()
    assert other.v[0].numpy() == 2.0


def test_programs_find_the_index_of_a_checkpoint_by_its_name(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0]))
    manager = tf.train.CheckpointManager(checkpoint, str(tmp_path), max_to_keep=2)
    for _ in range(3):
        path = manager.save()
    assert sorted(x.name for x in tmp_path.glob("*.index")) == ["ckpt-2.index", "ckpt-3.index"]
    assert Path(f"{path}.index").read_text().splitlines() == [
        "save_counter/.ATTRIBUTES/VARIABLE_VALUE int64 []",
        "v/.ATTRIBUTES/VARIABLE_VALUE float32 [2]",
    ]


def test_a_checkpoint_is_restored_from_a_saved_module(tmp_path):
    module = tf.Module()
    module.rows = [{"v": tf.Variable(2.0)}]
    module.later = tf.Variable(5.0)
    tf.saved_model.save(module, str(tmp_path / "m"))
    other = tf.Module()
    other.rows = [{"v": tf.Variable(0.0)}]
    checkpoint = tf.train.Checkpoint(other)
    with pytest.raises(tf.errors.NotFoundError, match="restoring from checkpoint or SavedModel"):
        checkpoint.restore(str(tmp_path / "none"))
    checkpoint.restore(str(tmp_path / "m")).expect_partial()
    other.later = tf.Variable(1.0)
    assert [x.numpy() for x in (other.rows[0]["v"], other.later)] == [2.0, 5.0]
    (tmp_path / "m" / "graph.json").write_text("{}")
    with pytest.raises(tf.errors.DataLossError, match="no saved module"):
        checkpoint.restore(str(tmp_path / "m"))


def test_a_root_may_be_held_weakly_and_has_its_names_alone(tmp_path):
    root = tf.Module()
    root.v = tf.Variable(1.0)
    with pytest.raises(ValueError, match=r"root\.v already exists"):
        tf.train.Checkpoint(root, v=tf.Variable(2.0))
    checkpoint = tf.train.Checkpoint(root=weakref.ref(root))
    path = checkpoint.save(str(tmp_path / "a"))
    root.v.assign(2.0)
    checkpoint.restore(path).assert_consumed()
    assert root.v.numpy() == 1.0
    known = weakref.ref(root)
    del root
    assert known() is None
