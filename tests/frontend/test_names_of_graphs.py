"""Names of graphs as data, and what shapes and specs say of others, as TensorFlow says it."""

import pytest
from google.protobuf import text_format

import gravure.tf as tf

v1 = tf.compat.v1
A = "node{name:'A' op:'Placeholder' attr{key:'dtype' value{type:DT_FLOAT}}}"
B = "node{name:'B' op:'Neg' input:'%s' attr{key:'T' value{type:DT_FLOAT}}}"


def imported(text, **options):
    with tf.Graph().as_default():
        return tf.import_graph_def(text_format.Parse(text, v1.GraphDef()), **options)


@pytest.mark.parametrize(
    ("text", "options", "error", "said"),
    [
        (B % "A:0", {}, ValueError, "Node 'B': Unknown input node 'A:0'"),
        (B % "^A", {}, ValueError, r"Node 'B': Unknown input node '\^A'"),
        (A + B % "A:B", {}, ValueError, "Node 'B': Unknown input node 'A:B'"),
        (A + B % "A:1", {}, ValueError, "invalid output 1 of source node A which has 1 outputs"),
        (A, {"return_elements": ["B"]}, ValueError, "return node 'B' not found"),
        (A, {"return_elements": ["A:1"]}, ValueError, r"Invalid return output 1 of node 'A'"),
        (A, {"return_elements": ["a:b:c"]}, ValueError, "Cannot convert 'a:b:c' to a tensor name"),
        (A, {"return_elements": [7]}, TypeError, r"must be a list of strings. Obtained \[7\]"),
        (A, {"input_map": {"A": 1.0}, "name": ""}, ValueError, "requires a non-empty `name`"),
        (A, {"input_map": [1]}, TypeError, "`input_map` must be a dictionary. Obtained list"),
    ],
)
def test_what_is_wrong_with_a_graph_as_data_is_named(text, options, error, said):
    with pytest.raises(error, match=said):
        imported(text, **options)


def test_names_may_be_bytes_and_what_stands_in_may_be_no_node_of_the_data() -> None:
    assert imported(A, return_elements=[b"A"])[0].name == "import/A"
    with tf.Graph().as_default(), v1.Session() as session:
        data = text_format.Parse(B % "A:0", v1.GraphDef())
        [out] = tf.import_graph_def(data, {b"A": tf.constant(2.0)}, ["B:0"])
        assert session.run(out) == -2.0


def test_only_names_are_looked_up() -> None:
    graph = tf.Graph()
    with pytest.raises(TypeError, match=r"Operation names are strings \(or similar\), not int"):
        graph.get_operation_by_name(3)
    with pytest.raises(TypeError, match=r"Tensor names are strings \(or similar\), not int"):
        graph.get_tensor_by_name(3)


def test_a_shape_is_found_that_others_fit() -> None:
    shape = tf.TensorShape([1, 2])
    others = [tf.TensorShape([1, 2]), tf.TensorShape([1, 3])]
    assert shape.most_specific_common_supertype(others).as_list() == [1, None]
    assert shape.most_specific_common_supertype([tf.TensorShape([1])]).rank is None
    assert shape.most_specific_common_supertype([]) == shape
    assert shape.most_specific_common_supertype([3]) is None
    with pytest.raises(ValueError, match="length of shape with unknown rank"):
        len(tf.TensorShape(None))
    with pytest.raises(ValueError, match="iterate over a shape with unknown rank"):
        list(tf.TensorShape(None))


def test_scopes_have_names_where_operations_run_at_once_too() -> None:
    found = [tf.get_current_name_scope()]
    with tf.name_scope("a"), tf.name_scope("b"):
        found.append(tf.get_current_name_scope())
        with tf.Graph().as_default():
            found.append(tf.get_current_name_scope())
    assert found == ["", "a/b", ""]


def test_extents_are_asked_as_in_tensorflow() -> None:
    known, unknown = v1.Dimension(8), v1.Dimension(None)
    assert [bool(unknown), bool(v1.Dimension(0)), bool(known)] == [False, False, True]
    for ask in (known.is_compatible_with, known.merge_with):
        with pytest.raises(ValueError, match="Dimension -1 must be >= 0"):
            ask(-1)
    with pytest.raises(TypeError, match="for /: 'Dimension' and 'Dimension', please use //"):
        known / v1.Dimension(2)
    with pytest.raises(TypeError, match="for /: 'int' and 'Dimension', please use //"):
        8 / known


def test_specs_have_the_names_of_tensors_of_graphs() -> None:
    named = tf.TensorSpec([1], name="a")
    assert not named.is_subtype_of(tf.TensorSpec([1], name="b"))
    assert not named.is_subtype_of(tf.TensorSpec([1]))
    assert tf.TensorSpec([1]).is_subtype_of(named)
    with tf.Graph().as_default():
        given = v1.placeholder(tf.float32, [2], name="n")
        assert tf.TensorSpec.from_tensor(given).name == "n"
        assert tf.type_spec_from_value(given).name is None
    assert tf.TensorSpec.from_tensor(tf.constant(1.0)).name is None
