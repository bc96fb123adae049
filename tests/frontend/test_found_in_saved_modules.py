"""What TensorFlow's own tests of saved modules found."""

import logging
from collections import namedtuple

import pytest

import gravure.tf as tf

v1 = tf.compat.v1


class Scaled(tf.Module):
    """Has a variable, and gives two results by name."""

    def __init__(self):
        super().__init__()
        self.v = tf.Variable([2.0])

    @tf.function(input_signature=[tf.TensorSpec(None, tf.float32, "Input-X")])
    def scaled(self, x):
        return {"y": x * self.v, "x": x}


@pytest.mark.parametrize("scope", [None, "inner"])
def test_a_session_loads_a_module_of_the_second_version(tmp_path, scope):
    module = Scaled()
    module.v.assign([4.0])
    tf.saved_model.save(module, str(tmp_path))
    with tf.Graph().as_default() as graph, v1.Session() as session:
        form = v1.saved_model.load(session, ["serve"], str(tmp_path), import_scope=scope)
        signature = form.signature_def["serving_default"]
        assert signature.method_name == "tensorflow/serving/predict"
        given, made = signature.inputs["Input_X"].name, signature.outputs["y"].name
        assert given.startswith("inner/") == (scope is not None)
        found = session.run(graph.get_tensor_by_name(made), {given: [1.0, 2.0]})
        assert found.tolist() == [4.0, 8.0]
        assert len(v1.global_variables()) == 1
        with pytest.raises(RuntimeError, match="'train' could not be found"):
            v1.saved_model.load(session, ["train"], str(tmp_path))


def test_arguments_of_signatures_have_plain_names(tmp_path, caplog):
    with caplog.at_level(logging.INFO, "absl"):
        tf.saved_model.save(Scaled(), str(tmp_path))
    assert "contains input name(s) Input-X with unsupported characters" in caplog.text
    assert "renamed to input_x" in caplog.text
    signature = tf.saved_model.load(str(tmp_path)).signatures["serving_default"]
    assert [x.name for x in signature.inputs] == ["input_x:0"]
    assert list(signature.structured_input_signature[1]) == ["Input_X"]
    assert signature(Input_X=tf.constant([3.0]))["y"].numpy() == 6.0


def test_functions_without_traces_are_told_and_refused(tmp_path, caplog):
    module = tf.Module()
    module.f = tf.function(lambda x: x)
    with caplog.at_level(logging.INFO, "absl"):
        tf.saved_model.save(module, str(tmp_path))
    assert "(showing 1 of 1). These functions will not be directly callable" in caplog.text
    with pytest.raises(ValueError, match="Found zero restored functions for caller function"):
        tf.saved_model.load(str(tmp_path)).f(1)


def test_modules_are_not_saved_within_functions_or_with_signatures_of_their_own(tmp_path):
    with pytest.raises(AssertionError, match=r"inside of a tf\.function"):
        tf.function(lambda: tf.saved_model.save(tf.Module(), str(tmp_path)))()
    root = tf.train.Checkpoint(signatures=tf.Variable(1.0))
    with pytest.raises(ValueError, match=r"del obj\.signatures"):
        tf.saved_model.save(root, str(tmp_path))
    del root.signatures
    tf.saved_model.save(root, str(tmp_path))


def test_traces_that_were_loaded_say_what_they_give_and_take(tmp_path):
    module = Scaled()
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    trace = loaded.scaled.get_concrete_function()
    assert "TensorSpec(shape=<unknown>, dtype=tf.float32" in trace.pretty_printed_signature()
    assert any(loaded.v.handle is each for each in trace.graph.external_captures)


class Summing(tf.Module):
    """Goes through datasets of its own, and through those of its arguments."""

    def __init__(self):
        super().__init__()
        self.factor, bias = tf.Variable(2), tf.constant([1, 2])
        self.bias = tf.constant(3, tf.int64)
        texts = tf.data.Dataset.from_tensor_slices((tf.range(6), list("abcdef")))
        shuffled = texts.shuffle(3, seed=1).map(lambda a, b: (a * self.factor + bias[1], b))
        self.pairs = shuffled.batch(2).cache().prefetch(1)
        self.nested = tf.data.Dataset.range(3).flat_map(
            lambda n: tf.data.Dataset.range(n).map(lambda m: 10 * n + m)
        )

    @tf.function(input_signature=[tf.TensorSpec([], tf.int64)])
    def all(self, n):
        """Return the sum of numbers, the texts, and what another dataset has."""
        text, total = tf.constant(""), tf.zeros([], tf.int64)
        for numbers, texts in self.pairs.take(n):
            text = tf.strings.join([text, tf.strings.reduce_join(texts)])
            total += tf.cast(tf.reduce_sum(numbers), tf.int64)
        for number in self.nested:
            total += 1000 * number
        for number in tf.data.Dataset.range(n).map(lambda x: x + n):
            total += 100000 * number
        only = tf.data.Dataset.from_tensors(n).get_single_element()
        return total, text, self.nested.reduce(n, lambda a, b: a + b * self.bias + only)


@pytest.mark.parametrize("cycles", [1, 2])
def test_datasets_that_functions_go_through_are_saved_with_them(tmp_path, cycles):
    module = Summing()
    for n in range(cycles):
        tf.saved_model.save(module, str(tmp_path / str(n)))
        module = tf.saved_model.load(str(tmp_path / str(n)))
    for n, wanted in ((1, 151012), (3, 1251042)):
        total, text, reduced = module.all(n)
        assert (total.numpy(), reduced.numpy()) == (wanted, 153 + 4 * n)
        assert text.numpy() == b"bdafec"[: 2 * n]


def test_graphs_are_written_with_iterators_that_begin_by_themselves():
    with tf.Graph().as_default():
        v1.data.make_one_shot_iterator(tf.data.Dataset.range(3).map(lambda x: x * x)).get_next("n")
        written = v1.train.export_meta_graph()
    with tf.Graph().as_default() as graph, v1.Session() as session:
        v1.train.import_meta_graph(written)
        tensor = graph.get_tensor_by_name("n:0")
        assert [session.run(tensor) for _ in range(3)] == [0, 1, 4]


ONE = tf.data.Dataset.from_tensors(1)
MADE = {
    "Generated": lambda folder: tf.data.Dataset.from_generator(lambda: iter([1]), tf.int32),
    "Lines": lambda folder: tf.data.TextLineDataset(f"{folder}/a").map(tf.strings.length),
    "it holds a Stage": lambda folder: tf.data.Dataset.range(2).flat_map(lambda _: ONE),
}


@pytest.mark.parametrize("name", MADE)
def test_datasets_that_only_a_process_has_are_refused_by_name(tmp_path, name):
    module, dataset = tf.Module(), MADE[name](tmp_path)
    module.f = tf.function(dataset.get_single_element, input_signature=[])
    with pytest.raises(ValueError, match=name):
        tf.saved_model.save(module, str(tmp_path))


def cycled(module, folder, **options):
    """Return a module that was saved and loaded."""
    tf.saved_model.save(module, str(folder), **options)
    return tf.saved_model.load(str(folder))


def test_numbers_of_python_are_converted_where_no_trace_has_them(tmp_path):
    module = tf.Module()
    module.f = tf.function(lambda a: a if isinstance(a, int) else a + 1, autograph=False)
    module.g = tf.function(lambda x: x["a"] + 1.0)
    module.f(2), module.f(tf.constant(2)), module.g({"a": tf.constant(2.0)})
    loaded = cycled(module, tmp_path)
    assert [loaded.f(x).numpy() for x in (2, 3, tf.constant(2))] == [2, 4, 3]
    assert loaded.g({"a": 3}).numpy() == 4.0
    with pytest.raises(ValueError, match="Could not find matching concrete function"):
        loaded.f(2.5)
    with pytest.raises(ValueError, match="Could not find matching concrete function"):
        loaded.g({"a": 3.0, "b": 1.0})


Pair = namedtuple("Pair", ["b", "a"])


def test_tuples_keep_the_names_of_their_fields(tmp_path):
    module = tf.Module()
    module.f = tf.function(lambda x: Pair(a=x.a + x.b, b=x.a * x.b))
    module.f(Pair(tf.constant(2), tf.constant(3)))
    found = cycled(module, tmp_path).f(Pair(a=tf.constant(4), b=tf.constant(5)))
    assert (found._fields, found.a.numpy(), found.b.numpy()) == (("b", "a"), 9, 20)


def test_only_what_was_saved_with_a_call_is_callable(tmp_path):
    module, module.inner = tf.Module(), tf.Module()
    module.inner.__call__ = tf.function(lambda x: x * 3.0, input_signature=[tf.TensorSpec([])])
    loaded = cycled(module, tmp_path)
    assert not callable(loaded)
    assert loaded.inner(2.0).numpy() == 6.0


def test_signatures_stay_as_they_were_loaded(tmp_path):
    module = tf.Module()
    module.f = tf.function(lambda x, y: x + y, input_signature=[tf.TensorSpec([])] * 2)
    loaded = cycled(module, tmp_path / "a", signatures={"key": module.f})
    with pytest.raises(TypeError):
        loaded.signatures["other"] = 3
    with pytest.raises(TypeError, match="takes its arguments by name"):
        loaded.signatures["key"](tf.constant(1.0), y=tf.constant(2.0))
    again = cycled(loaded, tmp_path / "b", signatures=loaded.signatures)
    assert (
        again.signatures["key"](x=tf.constant(1.0), y=tf.constant(2.0))["output_0"].numpy() == 3.0
    )
    again.signatures = {"key": again.signatures["key"]}
    with pytest.raises(ValueError, match=r"del obj\.signatures"):
        tf.saved_model.save(again, str(tmp_path / "c"))


def test_variables_are_shared_among_replicas_as_before(tmp_path):
    how = {
        "synchronization": tf.VariableSynchronization.NONE,
        "aggregation": tf.VariableAggregation.ONLY_FIRST_REPLICA,
    }
    module = tf.Module()
    module.v = tf.Variable(1.0, trainable=False, **how)
    v = cycled(module, tmp_path).v
    assert {name: getattr(v, name) for name in how} == how
    assert not v.trainable


def test_traces_by_themselves_take_arguments_by_position(tmp_path):
    module = tf.Module()
    given = [6, {"a": tf.constant(10)}]
    module.f = tf.function(lambda x, y=True: 2 * x[1]["a"] if y else 7).get_concrete_function(given)
    loaded = cycled(module, tmp_path)
    assert loaded.f([6, {"a": tf.constant(11)}], True).numpy() == 22
    with pytest.raises(TypeError):
        loaded.f([7, {"a": tf.constant(11)}])


def test_modules_are_saved_and_loaded_in_sessions(tmp_path):
    with tf.Graph().as_default(), v1.Session() as session:
        module, two = tf.Module(), tf.constant(2.0)
        module.v = tf.Variable(3.0)
        session.run(module.v.initializer)
        module.f = tf.function(lambda x: module.v * x * two, input_signature=[tf.TensorSpec([])])
        session.run(module.v.assign(4.0))
        loaded = cycled(module, tmp_path)
        session.run(loaded.v.initializer)
        assert session.run(loaded.f(5.0)) == 40.0
        assert v1.trainable_variables() == [module.v]


def test_defaults_may_be_structures_of_tensors(tmp_path):
    module = tf.Module()
    given = {"a": tf.constant(2.0)}
    module.f = tf.function(lambda x=given: x["a"] * 2)
    module.f()
    assert cycled(module, tmp_path).f().numpy() == 4.0


def test_functions_have_other_names_where_that_is_asked_for(tmp_path):
    module = tf.Module()
    module.f = tf.function(lambda x: 2 * x, input_signature=[tf.TensorSpec([])])
    hidden = tf.function(lambda x: 3 * x)
    hidden(1), hidden(tf.constant(1.0))
    options = tf.saved_model.SaveOptions(function_aliases={"known": module.f, "hidden": hidden})
    tf.saved_model.save(module, str(tmp_path), options=options)
    with_names = tf.saved_model.LoadOptions(experimental_load_function_aliases=True)
    found = tf.saved_model.load(str(tmp_path), options=with_names).function_aliases
    assert found["known"](1.0).numpy() == 2.0
    assert len(found["hidden"]) == 2
    assert not hasattr(tf.saved_model.load(str(tmp_path)), "function_aliases")
    module.function_aliases = tf.Variable(1.0)
    tf.saved_model.save(module, str(tmp_path), options=options)
    with pytest.raises(ValueError, match="Could not load with experimental_load_function_aliases"):
        tf.saved_model.load(str(tmp_path), options=with_names)
    wrong = tf.saved_model.SaveOptions(function_aliases={"known": print})
    with pytest.raises(TypeError, match="Unsupported type"):
        tf.saved_model.save(module, str(tmp_path), options=wrong)


def test_files_are_tensors_and_are_taken_along_from_graphs(tmp_path):
    (tmp_path / "a").write_text("first")
    module = tf.Module()
    module.file = tf.saved_model.Asset(str(tmp_path / "a"))
    module.f = tf.function(lambda: tf.io.read_file(module.file), input_signature=[])
    assert cycled(module, tmp_path / "m").f().numpy() == b"first"
    with tf.Graph().as_default(), v1.Session() as session:
        module = tf.Module()
        module.file = tf.saved_model.Asset(str(tmp_path / "a"))
        path = session.run(cycled(module, tmp_path / "n").file.asset_path)
        assert path.decode() == str(tmp_path / "n/assets/a")


def test_graphs_of_the_first_version_begin_with_one_operation(tmp_path):
    with tf.Graph().as_default(), v1.Session() as session:
        v1.add_to_collection("legacy_init_op", tf.no_op())
        builder = v1.saved_model.Builder(str(tmp_path))
        with pytest.raises(ValueError, match="Graph already contains"):
            builder.add_meta_graph_and_variables(session, ["a"], main_op=tf.no_op())


@pytest.mark.parametrize("name", ["saved_model.pb", "saved_model.pbtxt"])
def test_files_that_hold_no_graph_are_refused_by_their_names(tmp_path, name):
    (tmp_path / name).write_text("invalid content")
    with v1.Session() as session, pytest.raises(OSError, match=f"Cannot parse file .*/{name}:"):
        v1.saved_model.load(session, ["a"], str(tmp_path))


def test_what_is_said_of_tensors_is_of_graphs():
    with pytest.raises(RuntimeError, match="`build_tensor_info` is not supported"):
        v1.saved_model.build_tensor_info(tf.constant(1.0))
    info = v1.TensorInfo(name="x:0", dtype=tf.string.as_datatype_enum)
    signature = v1.saved_model.build_signature_def({"x": info}, {"y": info})
    assert signature.inputs["x"].name == "x:0"
