"""Rows A4 and A12: operations say what they are, and TensorFlow's own graph files are read."""

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf import text_format

import gravure.tf as tf
from gravure.frontend.function.graph_data import GraphTextError

v1 = tf.compat.v1
KEPT = np.load(Path(__file__).parent / "graph_files.npz")
NAMES = sorted({name.partition(".")[0] for name in KEPT})


def file_of(name: str) -> Any:
    """Return a recorded file as a message."""
    made = v1.GraphDef()
    made.ParseFromString(KEPT[f"{name}.pb"].tobytes())
    return made


@pytest.mark.parametrize("name", NAMES)
def test_a12_graph_files_of_tensorflow_compute_what_they_did_there(name: str) -> None:
    graph = tf.Graph()
    with graph.as_default():
        found = tf.import_graph_def(file_of(name), return_elements=["out:0", "x"], name="im")
    assert found[0].name == "im/out:0"
    assert found[1].name == "im/x"
    with v1.Session(graph=graph) as session:
        made = session.run("im/out:0", {"im/x:0": KEPT[f"{name}.x"]})
    np.testing.assert_allclose(made, KEPT[f"{name}.y"], rtol=1e-5, atol=1e-6)


def test_a_graph_file_is_the_same_bytes_again_and_says_its_nodes() -> None:
    found = file_of("network")
    assert v1.GraphDef.FromString(found.SerializeToString()) == found
    assert {"Conv2D", "Mean", "Softmax"} <= {node.op for node in found.node}
    assert found.node[0].name == "x"
    assert found.versions.producer > 20


def test_a_tensor_stands_in_for_one_of_a_graph_file() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.constant(KEPT["gelu.x"])
        (y,) = tf.import_graph_def(file_of("gelu"), {"x": x}, ["out:0"], name="")
        with v1.Session(graph=graph) as session:
            np.testing.assert_allclose(session.run(y), KEPT["gelu.y"], rtol=1e-5, atol=1e-6)
    with tf.Graph().as_default(), pytest.raises(ValueError, match="not found in graph_def"):
        tf.import_graph_def(file_of("gelu"), {"nothing": 1.0})


def changed(name: str, node: str, change: Any) -> Any:
    """Return a recorded file of which one node is another one."""
    made = file_of(name)
    change(next(n for n in made.foreign.node if n.op == node))
    return made


REFUSED = (
    *(tf.errors.UnimplementedError, tf.errors.NotFoundError, ValueError, NotImplementedError),
)
TEXT = """
node { name: 'A' op: 'Placeholder' device: '/device:CPU:0'
       attr { key: 'dtype' value { type: DT_FLOAT } }
       attr { key: 'shape' value { shape { dim { size: 2 } } } } }
node { name: 'B' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } }
       attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 2 } }
                                            float_val: 3 float_val: 4 } } } }
node { name: 'C' op: 'AddV2' attr { key: 'T' value { type: DT_FLOAT } } input: 'A' input: 'B' }
node { name: 'D' op: 'Sub' attr { key: 'T' value { type: DT_FLOAT } }
       attr { key: '_class' value { list { s: 'loc:@C' } } } input: 'C' input: 'B:0' input: '^A' }
"""


def of_text(text: str) -> Any:
    """Return a graph that is written as text."""
    return text_format.Parse(text, v1.GraphDef())


def test_text_becomes_a_graph_as_in_tensorflow() -> None:
    with tf.Graph().as_default() as graph, v1.Session() as session:
        a, c, d = tf.graph_util.import_graph_def(of_text(TEXT), return_elements=["A", "C:0", "D"])
        assert [a.name, c.name, d.type] == ["import/A", "import/C:0", "Sub"]
        assert a.device == "/device:CPU:0"
        assert d.colocation_groups() == [b"loc:@import/C"]
        assert [x.name for x in d.control_inputs] == ["import/A"]
        assert session.run(d.outputs[0], {"import/A:0": [1.0, 2.0]}).tolist() == [1.0, 2.0]
        given = {"A:0": tf.constant([5.0, 6.0])}
        [c] = tf.import_graph_def(of_text(TEXT), given, ["C:0"], name="again")
        assert (c.name, session.run(c).tolist()) == ("again/C:0", [8.0, 10.0])
        assert graph.get_operation_by_name("again/D").type == "Sub"


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("node { name: 'B' op: 'Identity' input: 'A' }", ValueError, "'A'"),
        ("node { name: 'B' op: 'NoOp' } node { name: 'B' op: 'NoOp' }", ValueError, "not unique"),
        (TEXT.replace("input: 'B' }", "}"), ValueError, "expected 2 inputs"),
        ("node { name: 'A' op: 'Placeholder' }", ValueError, "missing attr 'dtype'"),
        ("node { name: 'A' op: 'Nothing' }", tf.errors.NotFoundError, "'Nothing'"),
    ],
)
def test_texts_that_are_no_graphs_are_refused(text: str, error: Any, words: str) -> None:
    with tf.Graph().as_default(), pytest.raises(error, match=words):
        tf.import_graph_def(of_text(text))


def test_graphs_are_put_together_by_hand() -> None:
    made = v1.GraphDef()
    made.versions.producer = 1000
    node = made.node.add(name="x", op="Placeholder")
    node.attr["dtype"].type = 1
    made.node.add(name="y", op="Sqrt", input=["x"]).attr["T"].type = 1
    renamed = v1.GraphDef()
    for node in made.node:
        renamed.node.add().CopyFrom(node)
    renamed.MergeFrom(of_text("node { name: 'z' op: 'NoOp' }"))
    with tf.Graph().as_default(), v1.Session() as session:
        [y] = tf.import_graph_def(renamed, return_elements=["y:0"], name="")
        assert session.run(y, {"x:0": [4.0, 9.0]}).tolist() == [2.0, 3.0]
    part = v1.graph_util.extract_sub_graph(renamed, ["y"])
    assert [n.name for n in part.node] == ["x", "y"]
    assert part == made or part.node == made.node
    assert v1.GraphDef.FromString(made.SerializeToString()) == made


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda n: setattr(n, "op", "Fancy"), "Op type not registered 'Fancy'"),
        (lambda n: setattr(n, "op", "VarHandleOp"), "expected a frozen graph"),
        (lambda n: n.attr["fancy"].__setattr__("i", 1), "has no attribute 'fancy'"),
        (lambda n: n.attr["explicit_paddings"].list.i.extend([1]), "explicit_paddings is"),
    ],
)
def test_what_has_no_form_here_is_refused_by_name(change: Any, words: str) -> None:
    bad = changed("network", "Conv2D", change)
    with (
        tf.Graph().as_default(),
        pytest.raises(REFUSED, match=words),
    ):
        tf.import_graph_def(bad)


def test_damaged_graph_files_are_refused() -> None:
    data = KEPT["network.pb"].tobytes()
    for bad in (data[:-7], b"\xff" * 40, b"x"):
        with pytest.raises(tf.errors.InvalidArgumentError, match="not those of a graph"):
            v1.GraphDef().ParseFromString(bad)
    for other in (b"{}", b'{"version": 9, "nodes": []}', b'{"version": 1}'):
        with pytest.raises(GraphTextError, match="this is no graph of version 1"):
            v1.GraphDef().ParseFromString(other)
    lost = file_of("gelu")
    del lost.foreign.node[0]
    with tf.Graph().as_default(), pytest.raises(ValueError, match="Unknown input node 'x'"):
        tf.import_graph_def(lost)
    circle = file_of("gelu")
    next(n for n in circle.foreign.node if n.name != "x" and n.input).input[0] = "out"
    with tf.Graph().as_default(), pytest.raises(tf.errors.UnimplementedError, match="a circle"):
        tf.import_graph_def(circle)


def test_a4_an_operation_says_what_it_is() -> None:
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [None, 8], name="x")
        with tf.control_dependencies([x]):
            tf.reduce_sum(x, 1, keepdims=True, name="sum")
        tf.cast(tf.concat([x, x], 1), tf.int32, name="whole")
    op = graph.get_operation_by_name("sum")
    assert isinstance(op, tf.Operation)
    assert op.get_attr("keep_dims") is True
    node = op.node_def
    assert (node.name, node.op, list(node.input)) == ("sum", "Sum", ["x"])
    assert node.attr["keep_dims"].b
    assert node.attr["T"].type == 1
    known = op.op_def
    assert [a.name for a in known.input_arg] == ["input", "reduction_indices"]
    assert {a.name: a.type for a in known.attr}["keep_dims"] == "bool"
    assert op.traceback[-1].filename == __file__
    assert "reduce_sum" in str(op.traceback[-1].line)
    assert op.values() == tuple(op.outputs)
    assert op.colocation_groups() == [b"loc:@sum"]
    whole = graph.get_operation_by_name("whole")
    assert [whole.get_attr("SrcT"), whole.get_attr("DstT")] == [tf.float32, tf.int32]
    assert graph.get_operation_by_name("concat").get_attr("N") == 2


def test_each_node_that_is_read_has_a_signature() -> None:
    foreign = import_module("gravure.frontend.tf.names.foreign")
    raw = import_module("gravure.frontend.tf.names.raw")
    known = import_module("gravure.frontend.tf.core.signatures").signatures()
    assert {*foreign.OWN, *raw.RENAMED, *raw.SAME} <= known.keys()


def test_nodes_of_a_graph_are_messages_whose_devices_may_be_changed_and_nothing_else() -> None:
    with tf.Graph().as_default() as graph:
        v1.get_variable("v", [2], initializer=v1.zeros_initializer())
        with graph.container("box"):
            queue = v1.FIFOQueue(2, [tf.float32], shared_name="kept", name="q")
            v1.ConditionalAccumulator(tf.float32, [2], name="sum")
        queue.dequeue(name="d")
    data = graph.as_graph_def()
    nodes = {node.name: node for node in data.node}
    shared = [(nodes[n].attr["container"].s, nodes[n].attr["shared_name"].s) for n in ("v", "q")]
    assert shared == [(b"", b"v"), (b"box", b"kept")]
    assert (nodes["q"].op, nodes["sum"].op) == ("FIFOQueueV2", "ConditionalAccumulator")
    for node in data.node:
        node.device = "/device:CPU:0"
    read = v1.GraphDef.FromString(data.SerializeToString())
    assert read == data
    assert {node.device for node in read.node} == {"/device:CPU:0"}
    assert [n.attr["container"].s for n in read.node if n.name == "q"] == [b"box"]
    nodes["d"].op = "Other"
    with pytest.raises(NotImplementedError, match="node 'd' was changed in more than its device"):
        data.SerializeToString()


def test_variables_of_a_graph_become_constants(tmp_path: Path) -> None:
    v1, util = tf.compat.v1, tf.compat.v1.graph_util
    with tf.Graph().as_default() as graph, v1.Session() as session:
        x = v1.placeholder(tf.float32, [None, 2], name="x")
        w = v1.get_variable("w", [2, 2], initializer=v1.ones_initializer())
        tf.identity(tf.matmul(x, w * 2.0), name="hidden")
        kept = v1.get_variable("kept", [], initializer=v1.zeros_initializer())
        tf.add(graph.get_tensor_by_name("hidden:0"), kept, name="out")
        tf.identity(tf.cond(x[0, 0] > 0.0, lambda: w + 1.0, lambda: w * 1.0), name="branch")
        session.run([v1.global_variables_initializer(), w.assign([[1.0, 2.0], [3.0, 4.0]]).op])
        whole = graph.as_graph_def()
        frozen = util.convert_variables_to_constants(session, whole, ["out"])
        part = util.convert_variables_to_constants(session, whole, ["out"], None, ["kept"])
        with pytest.raises(AssertionError, match="nothing is not in graph"):
            util.convert_variables_to_constants(session, whole, ["nothing"])
        with pytest.raises(NotImplementedError, match=r"ReadVariableOp .* uses 'w'"):
            util.convert_variables_to_constants(session, whole, ["branch"])
    assert {"VariableV2", "ReadVariableOp"} & {n.op for n in part.node}
    tf.io.write_graph(frozen, str(tmp_path), "frozen.pb", as_text=False)
    again = v1.GraphDef.FromString((tmp_path / "frozen.pb").read_bytes())
    assert {n.name: n.op for n in again.node}["w"] == "Const"
    inner = util.extract_sub_graph(again, ["hidden"])
    assert [n.name for n in inner.node][-1] == "hidden"
    assert "out" not in [n.name for n in inner.node]
    with pytest.raises(TypeError, match="must be an iterable of strings"):
        util.extract_sub_graph(again, "hidden")
    with tf.Graph().as_default(), v1.Session() as session:
        [out] = tf.import_graph_def(again, return_elements=["out:0"], name="")
        found = session.run(out, {"x:0": [[1.0, 1.0]]})
    np.testing.assert_array_equal(found, [[8.0, 12.0]])
