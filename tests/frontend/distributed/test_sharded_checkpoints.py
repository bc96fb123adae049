"""Checkpoints of several tasks: a shard of each, found by any other number of tasks."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gravure import tf
from gravure.frontend.graph.checkpoint_ops import DamagedCheckpointError

from .test_servers import CLUSTER, ONE_PS, on_tasks

v1 = tf.compat.v1
A, B = np.float32([1, 2, 3]), np.float32([[4], [5]])


def trained(places: tuple[Any, Any]) -> Any:
    """Return a graph of two variables, what changes them, and a saver."""
    with tf.Graph().as_default() as graph:
        with tf.device(places[0]):
            a = v1.get_variable("a", initializer=A)
        with tf.device(places[1]):
            b = v1.get_variable("b", initializer=B)
        step = tf.group(a.assign_add(a), b.assign_sub(b * 0.5))
        init, saver = v1.global_variables_initializer(), v1.train.Saver(max_to_keep=2)
    return graph, a, b, step, init, saver


def save_over_two(folder: Path) -> str:
    """Train over two parameter servers, and save after each step; return the last checkpoint."""

    def work(server: Any, index: int) -> Any:
        if index:
            return None
        graph, _, _, step, init, saver = trained(("/job:ps/task:0", "/job:ps/task:1"))
        with v1.Session(server.target, graph=graph) as session:
            session.run(init)
            for number in range(3):
                session.run(step)
                path = saver.save(session, str(folder / "model"), global_step=number)
            return path

    found: str = on_tasks(CLUSTER, work)["worker:0"]
    return found


def restored(target: str, path: str, places: tuple[Any, Any]) -> list[Any]:
    graph, a, b, _, _, saver = trained(places)
    with v1.Session(target, graph=graph) as session:
        saver.restore(session, path)
        return [np.asarray(x) for x in session.run([a, b])]


def test_each_task_saves_a_shard_and_any_world_restores_them(tmp_path: Path) -> None:
    path = save_over_two(tmp_path)
    kept = {f"model-{n}{end}.safetensors"
            for n in (1, 2) for end in ("", "-00000-of-00002", "-00001-of-00002")}  # fmt: skip
    assert {each.name for each in tmp_path.glob("*.safetensors")} == kept
    assert v1.train.latest_checkpoint(str(tmp_path)) == path
    assert dict(tf.train.list_variables(path)) == {"a": [3], "b": [2, 1]}

    def one_server(server: Any, index: int) -> Any:
        return restored(server.target, path, ("/job:ps/task:0", "/job:worker/task:0"))

    here = restored("", path, (None, None))
    for found in (here, on_tasks(ONE_PS, one_server)["worker:0"]):
        np.testing.assert_array_equal(found[0], A * 8)
        np.testing.assert_array_equal(found[1], B / 8)


def test_a_shard_that_is_gone_or_changed_is_named_and_changes_nothing(tmp_path: Path) -> None:
    path = save_over_two(tmp_path)
    shard = Path(f"{path}-00001-of-00002.safetensors")
    data = bytearray(shard.read_bytes())
    data[-1] ^= 1
    shard.write_bytes(data)
    with pytest.raises(DamagedCheckpointError, match=r"00001-of-00002.*not the one that was saved"):
        restored("", path, (None, None))
    shard.unlink()
    with pytest.raises(DamagedCheckpointError, match=r"00001-of-00002.*the shard is missing"):
        restored("", path, (None, None))
    whole = Path(f"{path}.safetensors").read_bytes()
    Path(f"{path}.safetensors").write_bytes(whole.replace(b"model-2-00000", b"../../-00000x"))
    with pytest.raises(DamagedCheckpointError, match="is no shard"):
        restored("", path, (None, None))


def test_a_saver_of_one_process_makes_shards_where_it_is_told_to(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        v = v1.get_variable("v", initializer=A)
        saver = v1.train.Saver(sharded=True)
        with v1.Session(graph=graph) as session:
            session.run(v.initializer)
            path = saver.save(session, str(tmp_path / "m"))
            session.run(v.assign(A * 0.0))
            saver.restore(session, path)
            np.testing.assert_array_equal(session.run(v), A)
    names = sorted(each.name for each in tmp_path.glob("*.safetensors"))
    assert names == ["m-00000-of-00001.safetensors", "m.safetensors"]
    with tf.Graph().as_default() as graph:
        saver = v1.train.import_meta_graph(f"{path}.meta")
        with v1.Session(graph=graph) as session:
            saver.restore(session, path)
            np.testing.assert_array_equal(session.run("v:0"), A)
