"""Which devices a graph is on, why, and what is sent: as is said, as graphs, and as is done."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gravure as gv
from gravure import tf
from gravure.errors import InputError
from gravure.frontend.values.devices import PlacementError
from gravure.runtime.comm.mailbox import Mailbox

from .test_servers import ONE_PS, on_tasks

v1 = tf.compat.v1
HOST = "/job:localhost/replica:0/task:0/device:"
PS, WORKER = (f"/job:{job}/replica:0/task:0/device:CPU:0" for job in ("ps", "worker"))


def two_consumers(there: str, here: str) -> Any:
    """Return a graph in which two operations of a device use one value of another."""
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [4, 3], name="x")
        with tf.device(there):
            made = tf.exp(x, name="made")
        with tf.device(here), tf.control_dependencies([made]):
            first = tf.sin(made, name="first")
            second = tf.cos(made, name="second")
            last = tf.reduce_sum(first * second, name="last")
    return graph, x, last


def test_e4_devices_of_one_process_send_each_value_once() -> None:
    graph, x, last = two_consumers("/cpu:1", "/cpu:0")
    config = v1.ConfigProto(device_count={"CPU": 2})
    with v1.Session(graph=graph, config=config) as session:
        told = v1.RunMetadata()
        options = v1.RunOptions(output_partition_graphs=True)
        session.run(last, {x: np.ones([4, 3])}, options, told)
        found = session.explain_placement(last, [x])
    nodes = {node.name: node for part in told.partition_graphs for node in part.node}
    received = [n for n in nodes.values() if n.op == "_Recv" and b":" in n.attr["tensor_name"].s]
    [sent] = [n for n in nodes.values() if n.op == "_Send" and b":" in n.attr["tensor_name"].s]
    assert len(received) == 1
    assert nodes["first"].input[0] == nodes["second"].input[0] == received[0].name
    assert (list(sent.input), sent.device) == (["made"], f"{HOST}CPU:1")
    assert received[0].attr["send_device"].s.decode() == f"{HOST}CPU:1"
    [row] = found.transfers
    assert (row.tensor, row.bytes, row.users) == ("made:0", 48, ("first", "second"))
    assert {r.operation: r.device[-5:] for r in found.rows}["made"] == "CPU:1"


def test_e4_partition_graphs_have_the_nodes_that_tensorflow_has() -> None:
    """As TensorFlow 2.21 gives them, but that it hands `x` to one device, which sends it on."""
    with tf.Graph().as_default() as graph:
        with tf.device("/cpu:0"):
            x = v1.placeholder(tf.float32, [2], name="x")
            a = tf.add(x, x, name="a")
        with tf.device("/cpu:1"):
            b, c = tf.multiply(a, a, name="b"), tf.subtract(a, x, name="c")
        with tf.device("/cpu:0"), tf.control_dependencies([c]):
            d = tf.tanh(b, name="d")
    told = v1.RunMetadata()
    options = v1.RunOptions(output_partition_graphs=True)
    with v1.Session(graph=graph, config=v1.ConfigProto(device_count={"CPU": 2})) as session:
        session.run(d, {x: [1, 2]}, options, told)
    found = {
        part.node[0].device[-5:]: {n.name: (n.op, list(n.input)) for n in part.node}
        for part in told.partition_graphs
    }
    assert found == {
        "CPU:0": {
            "_arg_x_0_0": ("_Arg", []),
            "a": ("AddV2", ["_arg_x_0_0", "_arg_x_0_0"]),
            "a/_0": ("_Send", ["a"]),
            "b/_3": ("_Recv", []),
            "c/_6": ("_Recv", []),
            "c/_7": ("Identity", ["c/_6"]),
            "d": ("Tanh", ["b/_3", "^c/_7"]),
            "_retval_d_0_0": ("_Retval", ["d"]),
        },
        "CPU:1": {
            "_arg_x_0_0": ("_Arg", []),
            "a/_1": ("_Recv", []),
            "b": ("Mul", ["a/_1", "a/_1"]),
            "b/_2": ("_Send", ["b"]),
            "c": ("Sub", ["a/_1", "_arg_x_0_0"]),
            "c/ctrl/_4": ("Const", ["^c"]),
            "c/_5": ("_Send", ["c/ctrl/_4"]),
        },
    }
    nodes = {n.name: n for part in told.partition_graphs for n in part.node}
    assert nodes["a/_0"].attr["T"].type == nodes["a/_1"].attr["tensor_type"].type == 1
    assert nodes["a/_0"].attr["tensor_name"].s == nodes["a/_1"].attr["tensor_name"].s == b"a:0"


def test_e4_tasks_send_each_value_once_and_as_many_bytes_as_is_said(monkeypatch: Any) -> None:
    def work(server: Any, index: int) -> Any:
        graph, x, last = two_consumers("/job:ps/task:0", "/job:worker/task:0")
        with v1.Session(server.target, graph=graph) as session:
            told = v1.RunMetadata()
            options = v1.RunOptions(output_partition_graphs=True)
            session.run(last, {x: np.ones([4, 3])}, options, told)
            return told, session.explain_placement(last, [x])

    counted: list[int] = []
    send = Mailbox.send

    def sent(self: Mailbox, key: Any, value: Any, to: int) -> None:
        if key[0] == "value":
            counted.append(getattr(value, "nbytes", 0))
        send(self, key, value, to)

    monkeypatch.setattr(Mailbox, "send", sent)
    told, found = on_tasks(ONE_PS, work)["worker:0"]
    parts = {part.node[0].device: {n.name: n for n in part.node} for part in told.partition_graphs}
    assert set(parts) == {PS, WORKER}
    [node] = [n for n in parts[PS].values() if n.op == "_Send" and b":" in n.attr["tensor_name"].s]
    got = next(n for n in parts[WORKER].values() if n.attr["tensor_name"].s == b"made:0")
    assert list(node.input) == ["made"]
    assert parts[WORKER]["first"].input[0] == parts[WORKER]["second"].input[0] == got.name
    [row] = found.transfers
    assert (row.source, row.target, row.bytes) == (PS, WORKER, 48)
    assert sum(counted) == found.bytes == 48
    assert len([size for size in counted if size]) == 1


def test_e4_control_edges_and_split_loops_are_nodes_of_the_graphs() -> None:
    def work(server: Any, index: int) -> Any:
        with tf.Graph().as_default() as graph:
            with tf.device("/job:ps/task:0"):
                v = v1.get_variable("v", [], initializer=v1.zeros_initializer(), use_resource=True)
                write = v.assign_add(1.0)

            def body(i: Any) -> Any:
                with tf.device("/job:ps/task:0"):
                    i = i + 1.0
                with tf.device("/job:worker/task:0"):
                    return tf.multiply(i, 2.0)

            with tf.control_dependencies([write]), tf.device("/job:worker/task:0"):
                loop = tf.while_loop(lambda i: i < 20.0, body, [1.0], name="loop")
                last = tf.identity(loop[0], name="last")
        with v1.Session(server.target, graph=graph) as session:
            session.run(v.initializer)
            told = v1.RunMetadata()
            options = v1.RunOptions(output_partition_graphs=True)
            found = session.run(last, None, options, told)
            return found, told, session.explain_placement(last), write.op.name

    value, told, found, write = on_tasks(ONE_PS, work)["worker:0"]
    assert value == 22.0
    parts = {part.node[0].device: {n.name: n for n in part.node} for part in told.partition_graphs}
    [waits] = [n for n in parts[WORKER].values() if n.op == "_Recv"]
    [sends] = [n for n in parts[PS].values() if n.op == "_Send"]
    assert (sends.input[0], parts[PS][sends.input[0]].op) == (f"{write}/ctrl", "Const")
    assert list(parts[PS][sends.input[0]].input) == [f"^{write}"]
    assert waits.name.endswith("/_wait")
    assert any(n.op == "While" for n in parts[WORKER].values())
    [row] = [row for row in found.rows if row.type == "While"]
    assert row.why == f"is carried out together by {WORKER}, {PS}"


def test_the_command_says_where_why_and_how_much(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [4, 3], name="x")
        with tf.device("/job:ps/task:0"):
            w = v1.get_variable("w", [3, 2], initializer=v1.zeros_initializer())
        with tf.device("/job:worker/task:1"):
            y = tf.matmul(x, w, name="y")
        tf.reduce_sum(y, name="sum")
        with tf.device("/cpu:1"):
            tf.exp(x, name="elsewhere")
    path = v1.train.write_graph(graph, str(tmp_path), "g.pb", as_text=False)
    found = gv.explain_placement(path, ["sum"], ["x:0"], cluster={"ps": 1, "worker": 2})
    text = str(found)
    assert "y                        MatMul          /job:worker/replica:0/task:1" in text
    assert "asks for /job:worker/task:1" in text
    assert "sent in each step, 56 bytes" in text
    assert [(r.tensor, r.bytes) for r in found.partition.transfers] == [
        ("y/w/Read/ReadVariableOp:0", 24), ("y:0", 32),
    ]  # fmt: skip
    assert found.as_json()["transfers"][1]["users"] == ("sum",)
    with pytest.raises(
        PlacementError, match=r"'elsewhere' \(Exp\).*explicitly assigned to /device:CPU"
    ):
        gv.explain_placement(path, ["elsewhere"])
    soft = gv.explain_placement(path, ["elsewhere"], soft=True).partition
    assert soft.rows[-1].why == "asks for /device:CPU:1, which is not there, and may be elsewhere"
    two = gv.explain_placement(path, ["elsewhere"], ["x"], cpus=2).partition
    assert (two.rows[-1].device, two.transfers) == (f"{HOST}CPU:1", ())
    with pytest.raises(InputError, match="no such file"):
        gv.explain_placement(tmp_path / "none.pb")
