"""What TensorFlow saved is restored (`saved_by_tensorflow/make.py`), or refused by name."""

import shutil
from pathlib import Path

import numpy as np
import pytest

import gravure.tf as tf
from gravure.errors import ParseError
from gravure.frontend.formats.bundles import other_ways, read_bundle
from gravure.frontend.formats.messages import TrackableObjectGraph
from gravure.frontend.graph.checkpoint_ops import OBJECT_GRAPH, DamagedCheckpointError

SAVED = Path(__file__).parent / "saved_by_tensorflow"
v1 = tf.compat.v1


class Parts(tf.Module):
    def __init__(self):
        self.w = tf.Variable(tf.zeros([3, 2]))
        self.b = [tf.Variable(np.zeros(4, np.int64)), {"k/l": tf.Variable(False)}]
        self.texts = tf.Variable(["x", "y", "z"])
        self.half = tf.Variable(tf.zeros([2], tf.bfloat16))
        self.number = tf.Variable(tf.complex(0.0, 0.0))
        self.again = self.b


def test_objects_get_their_values():
    parts = Parts()
    found = tf.train.Checkpoint(parts=parts, step=tf.Variable(0))
    found.restore(str(SAVED / "objects")).assert_consumed()
    np.testing.assert_array_equal(parts.w, np.arange(6.0).reshape(3, 2) / 4)
    assert parts.b[0].numpy().tolist() == [0, 1, 2, 3]
    assert bool(parts.b[1]["k/l"])
    assert parts.texts.numpy().tolist() == [b"ab", b"", "\xe9".encode() * 200]
    assert (parts.half.numpy().tolist(), complex(parts.number)) == ([1.5, 2.5], 1 + 2j)
    assert int(found.step) == 7


def test_objects_that_are_reached_in_another_way_do_too():
    """TensorFlow named the weights by the optimiser, which reaches them first."""
    made = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2)])
    made.compile("adam", "mse")
    saved = tf.train.Checkpoint(net=made, opt=made.optimizer)
    status = saved.restore(str(SAVED / "net"))
    found = made.predict(np.ones((1, 3), "f4"), verbose=0)
    np.testing.assert_allclose(found, [[-0.58603024, -0.3950683]], rtol=1e-6)
    assert int(made.optimizer.iterations) == 2
    made.optimizer.build(made.trainable_variables)
    status.assert_existing_objects_matched()
    assert all(np.any(each) for each in made.optimizer.variables)


def test_variables_of_a_graph_get_their_values():
    with tf.Graph().as_default(), v1.Session() as session:
        variables = [v1.get_variable(f"scope/part{n}", []) for n in range(40)]
        v1.train.Saver().restore(session, str(SAVED / "first"))
        assert session.run(variables) == [*map(float, range(40))]


def test_what_was_saved_can_be_listed():
    assert tf.train.latest_checkpoint(str(SAVED)) == str(SAVED / "objects")
    assert v1.train.checkpoint_exists(str(SAVED / "first"))
    assert tf.train.load_variable(str(SAVED / "first"), "scope/part7") == 7
    listed = dict(tf.train.list_variables(str(SAVED)))
    assert listed["parts/w/.ATTRIBUTES/VARIABLE_VALUE"] == [3, 2]
    assert OBJECT_GRAPH in listed


def test_a_manager_goes_on_from_what_was_saved(tmp_path):
    for path in (*SAVED.glob("objects.*"), SAVED / "checkpoint"):
        shutil.copy(path, tmp_path)
    saved = tf.train.Checkpoint(parts=Parts(), step=tf.Variable(0))
    manager = tf.train.CheckpointManager(saved, str(tmp_path), max_to_keep=1)
    assert manager.latest_checkpoint == str(tmp_path / "objects")
    saved.restore(manager.latest_checkpoint).assert_consumed()
    newest = manager.save()
    assert manager.checkpoints == [newest]
    assert not [*tmp_path.glob("objects.*")]
    saved.step.assign(0)
    saved.restore(newest)
    assert int(saved.step) == 7


def test_slices_are_refused_by_name():
    with pytest.raises(DamagedCheckpointError, match="'p' was saved in slices"):
        tf.train.load_checkpoint(str(SAVED / "slices"))


def test_what_is_not_there_is_said(tmp_path):
    for name in ("first.index", "first.data-00000-of-00001"):
        shutil.copy(SAVED / name, tmp_path)
    (tmp_path / "first.data-00000-of-00001").unlink()
    with pytest.raises(DamagedCheckpointError, match="No such file"):
        tf.train.load_checkpoint(str(tmp_path / "first"))


@pytest.mark.parametrize("ending", ["index", "data-00000-of-00001"])
def test_damaged_files_are_refused(tmp_path, ending):
    """Or give what was saved, where what is damaged is of no use."""
    for path in SAVED.glob("objects.*"):
        shutil.copy(path, tmp_path)
    prefix, path = str(tmp_path / "objects"), tmp_path / f"objects.{ending}"
    whole, wanted = path.read_bytes(), read_bundle(str(SAVED / "objects"))
    random = np.random.default_rng(0)
    damaged = [whole[:n] for n in range(0, len(whole), 13)]
    for place in random.integers(0, len(whole), 150):
        changed = bytearray(whole)
        changed[place] ^= 1 << int(random.integers(8))
        damaged.append(bytes(changed))
    refused = 0
    for data in damaged:
        path.write_bytes(data)
        try:
            found = tf.train.load_checkpoint(prefix)
        except (DamagedCheckpointError, tf.errors.NotFoundError):
            refused += 1
            continue
        for name, value in wanted.items():
            if name != OBJECT_GRAPH:
                np.testing.assert_array_equal(found.get_tensor(name), value)
    assert refused > 0.8 * len(damaged)


def test_other_ways_lead_to_objects():
    data = read_bundle(str(SAVED / "objects"))[OBJECT_GRAPH].item()
    assert other_ways(data, "objects") == {"parts/again": "parts/b"}
    assert other_ways(b"", "objects") == {}
    graph = TrackableObjectGraph()
    graph.nodes.add().children.add(node_id=1, local_name="a/b")
    graph.nodes.add().children.add(node_id=0, local_name="back")
    graph.nodes[0].children.add(node_id=1, local_name="c.d")
    assert other_ways(graph.SerializeToString(), "objects") == {"c..d": "a.Sb"}
    graph.nodes[1].children.add(node_id=2)
    with pytest.raises(ParseError, match="object 2 is not there"):
        other_ways(graph.SerializeToString(), "objects")
