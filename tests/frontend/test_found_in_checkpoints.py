"""What TensorFlow's own tests of checkpoints found."""

import copy
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
