"""Graphs with their variables as folders: what was saved is called by its signatures."""

import json
from pathlib import Path

import numpy as np
import pytest

import gravure.tf as tf

v1 = tf.compat.v1
saved = v1.saved_model


def model():
    x = v1.placeholder(tf.float32, [None, 3], name="input")
    weights = v1.get_variable("weights", initializer=tf.ones([3, 2]) * 0.5)
    return x, tf.identity(x @ weights, name="output")


def test_a_session_is_saved_and_loaded_by_tags(tmp_path):
    folder = str(tmp_path / "saved")
    with tf.Graph().as_default(), v1.Session() as session:
        x, y = model()
        session.run(v1.global_variables_initializer())
        session.run(v1.trainable_variables()[0].assign(tf.ones([3, 2]) * 2))
        saved.simple_save(session, folder, {"x": x}, {"y": y})
        with pytest.raises(AssertionError, match="already exists"):
            saved.Builder(folder)
    with tf.Graph().as_default(), v1.Session() as session:
        meta = saved.loader.load(session, [saved.tag_constants.SERVING], folder)
        signature = meta.signature_def[saved.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY]
        assert saved.is_valid_signature(signature)
        given, made = signature.inputs["x"].name, signature.outputs["y"].name
        assert [given, made] == ["input:0", "output:0"]
        assert session.run(made, {given: np.ones((1, 3))}).tolist() == [[6, 6]]
        assert [d.size for d in signature.inputs["x"].tensor_shape.dim] == [-1, 3]
        tensor = saved.utils.get_tensor_from_tensor_info(signature.outputs["y"], session.graph)
        assert tensor is session.graph.get_tensor_by_name("output:0")
        assert saved.utils.get_tensor_from_tensor_info(signature.outputs["y"]) is tensor
        assert tensor.dtype.as_datatype_enum == signature.outputs["y"].dtype
    assert saved.contains_saved_model(folder)
    assert not saved.contains_saved_model(str(tmp_path))


def test_what_is_to_run_first_runs_and_scopes_are_put_before_names(tmp_path):
    folder = str(tmp_path / "saved")
    with tf.Graph().as_default(), v1.Session() as session:
        count = v1.get_variable("count", [], tf.int32, v1.zeros_initializer())
        total = v1.sparse_placeholder(tf.float32, name="sparse")
        begin = tf.group(count.assign(7))
        session.run(v1.global_variables_initializer())
        builder = saved.builder.SavedModelBuilder(folder)
        signature = saved.build_signature_def(
            {"sparse": saved.build_tensor_info(total)},
            {"count": saved.build_tensor_info(count + 0)},
        )
        with pytest.raises(AssertionError, match="has not been saved yet"):
            builder.add_meta_graph(["train"])
        builder.add_meta_graph_and_variables(session, ["serve"], {"f": signature}, main_op=begin)
        builder.add_meta_graph(["serve", "gpu"], {"f": signature}, clear_devices=True)
        assert builder.save() == str(Path(folder) / "saved_model.pb").encode()
    with tf.Graph().as_default() as graph, v1.Session() as session:
        meta = saved.load(session, ["serve"], folder, import_scope="in")
        info = meta.signature_def["f"].outputs["count"]
        assert session.run(saved.get_tensor_from_tensor_info(info, graph, "in")) == 7
        parts = meta.signature_def["f"].inputs["sparse"]
        found = saved.get_tensor_from_tensor_info(parts, graph, "in")
        assert found.values.name.startswith("in/sparse")
        with pytest.raises(RuntimeError, match="could not be found in SavedModel"):
            saved.load(session, ["train"], folder)
        with pytest.raises(OSError, match="does not exist"):
            saved.load(session, ["serve"], str(tmp_path))


@pytest.mark.parametrize("data", [b"", b"{", b"[]", json.dumps({"kind": "other"}).encode()])
def test_other_files_are_refused(tmp_path, data):
    (tmp_path / "saved_model.pb").write_bytes(data)
    refused = pytest.raises(ValueError, match=r"is no gravure\.SavedModel")
    with tf.Graph().as_default(), v1.Session() as session, refused:
        saved.load(session, ["serve"], str(tmp_path))


def test_signatures_of_classes_and_numbers_have_their_methods():
    with tf.Graph().as_default():
        x, y = model()
        classes = saved.classification_signature_def(x, None, y)
        numbers = saved.regression_signature_def(x, y)
        assert [*classes.outputs] == ["scores"]
        assert classes.method_name == "tensorflow/serving/classify"
        assert [*numbers.inputs, *numbers.outputs] == ["inputs", "outputs"]
        with pytest.raises(ValueError, match="classes or scores"):
            saved.classification_signature_def(x, None, None)
        with pytest.raises(ValueError, match="cannot be None or empty"):
            saved.predict_signature_def({}, {"y": y})
    assert not saved.is_valid_signature(saved.build_signature_def())


def test_files_of_this_folder_are_named_from_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("1")
    assert [x.decode() for x in tf.data.Dataset.list_files("a.*").as_numpy_iterator()] == [
        "./a.csv"
    ]
    assert tf.io.matching_files("a.csv").numpy().tolist() == [b"a.csv"]
    assert tf.io.gfile.glob("a.*") == ["./a.csv"]


def test_whether_summaries_are_recorded_is_a_tensor(tmp_path):
    assert not tf.summary.should_record_summaries().numpy()
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        assert tf.summary.should_record_summaries().numpy()


def test_numbers_are_no_modules(tmp_path):
    with pytest.raises(ValueError, match="Expected an object of type `Trackable`"):
        tf.saved_model.save(1, str(tmp_path))


def test_an_argument_left_out_is_the_tensor_that_the_function_was_saved_with(tmp_path):
    factors = tf.constant([2.0, 3.0])

    class Scaled(tf.Module):
        @tf.function
        def call(self, x, by=factors, times=1):
            return x * by * times

    scaled = Scaled()
    scaled.call(tf.ones([2]))
    tf.saved_model.save(scaled, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    assert loaded.call(tf.ones([2])).numpy().tolist() == [2, 3]
    assert loaded.call(tf.ones([2]), tf.constant([5.0, 6.0])).numpy().tolist() == [5, 6]


def saved_in_session(folder):
    """Write a product with a variable that was changed in the session, and its sum."""
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None, 2], name="x")
        b = v1.placeholder(tf.float32, [], name="b")
        k = v1.get_variable("k", initializer=[[1.0, 2.0], [3.0, 4.0]])
        y = tf.matmul(x, k, name="y") + b
        session.run(k.initializer)
        session.run(k.assign_add(tf.ones([2, 2])))
        v1.saved_model.simple_save(
            session, folder, {"x": x, "b": b}, {"y": y, "z": tf.reduce_sum(y)}
        )


def test_the_second_version_loads_signatures_of_the_first(tmp_path):
    folder = str(tmp_path / "saved")
    saved_in_session(folder)
    assert tf.saved_model.contains_saved_model(folder)
    model = tf.saved_model.load(folder)
    serve, x = model.signatures["serving_default"], tf.constant([[1.0, 2.0]])
    found = serve(x=x, b=tf.constant(0.5))
    assert found["y"].numpy().tolist() == [[10.5, 13.5]]
    assert found["z"].numpy() == 24.0
    assert sorted(serve.structured_outputs) == ["y", "z"]
    assert serve.structured_input_signature[1]["x"].shape.as_list() == [None, 2]
    assert model.prune(["x:0"], "y:0")(x).numpy().tolist() == [[10.0, 13.0]]
    doubled = tf.function(lambda x: 2 * serve(x=x, b=tf.constant(1.0))["z"])
    assert doubled(x).numpy() == 50.0
    with tf.GradientTape() as tape:
        tape.watch(x)
        total = serve(x=x, b=tf.constant(0.0))["z"]
    assert tape.gradient(total, x).numpy().tolist() == [[5.0, 9.0]]
    model.variables[0].assign([[0.0, 0.0], [1.0, 1.0]])
    assert serve(x=x, b=tf.constant(0.0))["y"].numpy().tolist() == [[2.0, 2.0]]


def test_signatures_of_the_first_version_refuse_other_arguments(tmp_path):
    folder = str(tmp_path / "saved")
    saved_in_session(folder)
    serve, x = tf.saved_model.load(folder).signatures["serving_default"], tf.ones([1, 2])
    for args, named in (((), {"x": x}), ((x, 1.0), {}), ((), {"x": x, "q": 1.0})):
        with pytest.raises(TypeError, match="serving_default"):
            serve(*args, **named)
    with pytest.raises(RuntimeError, match="no"):
        tf.saved_model.load(folder, tags=["no"])
    with pytest.raises(OSError, match="does not exist"):
        tf.saved_model.load(folder + "x")
    (tmp_path / "saved" / "saved_model.pb").write_text("{}")
    with pytest.raises(ValueError, match="is no"):
        tf.saved_model.load(folder)
