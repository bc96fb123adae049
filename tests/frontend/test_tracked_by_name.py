"""Parts of objects that are named by hand, and parts of variables that were cut."""

from pathlib import Path
from typing import Any

import pytest

import gravure.tf as tf


@pytest.mark.parametrize("make", [tf.Module, tf.train.Checkpoint])
def test_parts_named_by_hand_are_saved_and_read(make: Any, tmp_path: Path) -> None:
    first, second = make(), make()
    variable, other = tf.Variable([1.0, 2.0]), tf.Variable([0.0, 0.0])
    assert first._track_trackable(variable, "part") is variable
    second._track_trackable(other, "part")
    assert first._lookup_dependency("part") is variable
    assert first._lookup_dependency("none") is None
    assert [(n, x is variable) for n, x in first._trackable_children().items()] == [("part", True)]
    whole = [x if isinstance(x, tf.train.Checkpoint) else tf.train.Checkpoint(root=x)
             for x in (first, second)]  # fmt: skip
    path = whole[0].save(str(tmp_path / "point"))
    whole[1].restore(path).assert_existing_objects_matched()
    assert other.numpy().tolist() == [1.0, 2.0]


def test_names_of_parts_are_unique() -> None:
    module: Any = tf.Module()
    module._track_trackable(tf.Variable(1.0), "part")
    with pytest.raises(ValueError, match="Names must be unique"):
        module._track_trackable(tf.Variable(2.0), "part")
    module._track_trackable(tf.Variable(2.0), "part", overwrite=True)
    assert module._lookup_dependency("part").numpy() == 2.0
    with pytest.raises(TypeError, match="Got type <class 'int'>"):
        module._track_trackable(3, "number")
    assert module.variables == ()


def test_parts_of_variables_say_where_they_lie() -> None:
    assert tf.Variable(1.0)._get_save_slice_info() is None
    made: Any = tf.Variable.SaveSliceInfo("a", [4, 2], [0, 0], [2, 2])
    assert (made.full_name, made.spec) == ("a", "4 2 0,2:0,2")
    with tf.Graph().as_default():
        cut = tf.compat.v1.fixed_size_partitioner(2)
        whole: Any = tf.compat.v1.get_variable("w", [4, 2], partitioner=cut)
        found = [part._get_save_slice_info() for part in whole]
    assert [(x.full_name, x.spec) for x in found] == [("w", "4 2 0,2:0,2"), ("w", "4 2 2,2:0,2")]


def test_the_build_is_told_and_files_of_it_are_refused() -> None:
    assert tf.sysconfig.get_build_info()["is_cuda_build"] is False
    for each in ("get_include", "get_lib", "get_compile_flags", "get_link_flags"):
        with pytest.raises(tf.errors.UnimplementedError, match="added by plugins"):
            getattr(tf.sysconfig, each)()
