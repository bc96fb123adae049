"""What programs that were tried again found: values, gradients and refusals, as TensorFlow's."""

import pickle
import sys
from typing import Any

import numpy as np
import pytest

import gravure.tf as tf


def test_a_complex_number_alone_stays_without_axes() -> None:
    number = tf.constant(1.5 + 2j, tf.complex64)

    @tf.function
    def real(z: Any) -> Any:
        return tf.cast(z, tf.float32)

    for made in (tf.cast(number, tf.float32), real(number), real(number)):
        assert made.shape == ()
        assert made.numpy() == 1.5


FUNCTIONS = {
    "cast": lambda x: tf.math.real(tf.cast(x, tf.complex64) * (2 + 1j)),
    "abs": lambda x: tf.abs(tf.cast(tf.cos(x), tf.complex64) * (1 + 2j)) ** 2,
    "parts": lambda x: tf.math.imag(tf.complex(x, x * x) * tf.complex(x, 1.0)),
    "waves": lambda x: tf.abs(tf.signal.fft(tf.cast(tf.stack([x, x * x, 1.0]), tf.complex64))),
}


@pytest.mark.filterwarnings("ignore::gravure.PerformanceWarning")  # numpy does these
@pytest.mark.parametrize("name", FUNCTIONS)
def test_tapes_go_through_functions_on_complex_numbers(name: str) -> None:
    at_once = FUNCTIONS[name]
    function = tf.function(at_once)
    slopes = []
    for each in (at_once, function, function, function, function):
        x = tf.constant(0.7)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = each(x)
        slopes.append(tape.gradient(y, x))
    assert all(slope.shape == () for slope in slopes)
    assert abs(slopes[0]) > 0.05
    np.testing.assert_allclose([s.numpy() for s in slopes[1:]], slopes[0].numpy(), rtol=1e-5)


def test_ones_of_sizes_of_a_run_may_be_of_any_type() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None])])
    def made(x: Any) -> Any:
        count = tf.shape(x)[0]
        types = (tf.bool, tf.int8, tf.complex64, tf.float16)
        return [f([count], t) for f in (tf.ones, tf.zeros) for t in types], tf.zeros(
            [count], "string"
        )

    numbers, texts = made(tf.zeros(2))
    assert [x.numpy().tolist() for x in numbers] == [
        *([True, True], [1, 1], [1, 1], [1, 1]),
        *([False, False], [0, 0], [0, 0], [0, 0]),
    ]
    assert texts.numpy().tolist() == [b"", b""]


def test_averages_are_kept_of_the_variables_of_layers() -> None:
    layer = tf.keras.layers.Dense(1, kernel_initializer="ones")
    layer.build((None, 2))
    weights = [v.value for v in layer.trainable_variables]
    average = tf.train.ExponentialMovingAverage(0.5)

    @tf.function
    def step() -> None:
        for weight in weights:
            weight.assign_add(tf.ones_like(weight))
        average.apply(weights)

    average.apply(weights)
    for _ in range(3):
        step()
    kept = [average.average(weight).numpy().tolist() for weight in weights]
    assert kept == [[[3.125], [3.125]], [2.125]]


def doubled_by_python(grad: Any) -> Any:
    return tf.numpy_function(lambda g: g * 2, [grad], tf.float32)


def limited(grad: Any) -> Any:
    below = tf.debugging.assert_less(tf.abs(grad), 100.0, message="too large")
    with tf.control_dependencies([below]):
        return tf.identity(grad)


@pytest.mark.filterwarnings("ignore::gravure.PerformanceWarning")
@pytest.mark.parametrize("place", ["plain", "choice", "loop"])
def test_gradients_of_ones_own_may_call_python_and_check(place: str) -> None:
    def gradient(rule: Any) -> Any:
        own = tf.custom_gradient(lambda x: (x * 1.0, rule))

        @tf.function
        def slope(x: Any, factor: Any) -> Any:
            with tf.GradientTape() as tape:
                tape.watch(x)
                if place == "choice":
                    y = tf.cond(x > 0.0, lambda: own(x), lambda: x)
                elif place == "loop":
                    y = tf.while_loop(
                        lambda i, _: i < 1, lambda i, v: (i + 1, own(v)), (tf.constant(0), x)
                    )[1]
                else:
                    y = own(x)
                y = y * factor
            return tape.gradient(y, x)

        return slope

    one, far = tf.constant(1.0), tf.constant(1000.0)
    by_python, checked = gradient(doubled_by_python), gradient(limited)
    for _ in range(4):
        assert by_python(one, one).numpy() == 2.0
        assert checked(one, one).numpy() == 1.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="too large"):
            checked(one, far)


REQUIRED = {
    "gather": (lambda g: tf.gather(g, tf.cast(g[:1], tf.int32)) * tf.ones(2), 5.0),
    "division": (lambda g: tf.cast(10 // tf.cast(g, tf.int32), tf.float32), 0.0),
    "numbers": (lambda g: tf.debugging.check_numerics(g, "slope"), np.inf),
}


@pytest.mark.filterwarnings("ignore::gravure.PerformanceWarning")
@pytest.mark.parametrize("place", ["choice", "loop"])
@pytest.mark.parametrize("name", REQUIRED)
def test_what_gradients_of_ones_own_require_is_looked_at_in_every_call(
    name: str, place: str
) -> None:
    rule, wrong = REQUIRED[name]
    own = tf.custom_gradient(lambda x: (x * 1.0, rule))

    @tf.function
    def slope(x: Any, factor: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            if place == "choice":
                y = tf.cond(x[0] > 0.0, lambda: own(x), lambda: x)
            else:
                y = tf.while_loop(
                    lambda i, _: i < 1, lambda i, v: (i + 1, own(v)), (tf.constant(0), x)
                )[1]
            y = y * factor
        return tape.gradient(y, x)

    fine = tf.constant([1.0, 1.0])
    for _ in range(6):
        assert np.isfinite(slope(fine, fine).numpy()).all()
        with pytest.raises(tf.errors.InvalidArgumentError):
            slope(fine, tf.constant([wrong, 1.0]))


class Named(tf.Module):
    """Numbers words and names the numbers: by tables that are filled for good."""

    def __init__(self, vocabulary: str) -> None:
        super().__init__()
        lines = tf.lookup.TextFileIndex.WHOLE_LINE, tf.lookup.TextFileIndex.LINE_NUMBER
        file = tf.lookup.TextFileInitializer(vocabulary, tf.string, lines[0], tf.int64, lines[1])
        self.numbers = tf.lookup.StaticVocabularyTable(file, 2)
        pairs = tf.lookup.KeyValueTensorInitializer([0, 1], ["none", "one"], tf.int64, tf.string)
        self.names = tf.lookup.StaticHashTable(pairs, "more")

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="lines")])
    def __call__(self, lines: Any) -> dict[str, Any]:
        words = tf.strings.split(tf.strings.regex_replace(lines, "[.,!]", ""))
        numbers = tf.ragged.map_flat_values(self.numbers.lookup, words)
        counts = words.row_lengths()
        return {"numbers": numbers.to_tensor(-1), "counts": self.names.lookup(counts)}


def test_tables_and_cut_texts_are_saved_with_what_they_hold(tmp_path: Any) -> None:
    vocabulary = tmp_path / "words.txt"
    vocabulary.write_text("cat\ndog\n")
    module = Named(str(vocabulary))
    lines = tf.constant(["dog, cat!", "", "zebra", "cat dog cat"])
    expected = module(lines)
    tf.saved_model.save(module, str(tmp_path / "saved"), signatures=module.__call__)
    vocabulary.unlink()
    loaded = tf.saved_model.load(str(tmp_path / "saved"))
    serve = loaded.signatures["serving_default"]
    assert list(serve.structured_input_signature[1]) == ["lines"]
    assert serve.structured_input_signature[1]["lines"].dtype == tf.string
    for found in (loaded(lines), serve(lines=lines), serve(lines=lines), serve(lines=lines)):
        assert found["counts"].numpy().tolist() == [b"more", b"none", b"one", b"more"]
        numbers = found["numbers"].numpy().tolist()
        assert numbers == expected["numbers"].numpy().tolist()
        assert [numbers[0], numbers[1], numbers[3]] == [[1, 0, -1], [-1, -1, -1], [0, 1, 0]]
        assert 2 <= numbers[2][0] < 4


def test_text_that_becomes_numbers_is_exported_with_its_layer(tmp_path: Any) -> None:
    layers = tf.keras.layers
    numbered = layers.TextVectorization(output_mode="int", output_sequence_length=3)
    numbered.adapt(np.array(["good film", "bad bad film"]))
    text = tf.keras.Input((1,), dtype="string", name="text")
    embedded = layers.Embedding(8, 2, embeddings_initializer="ones")(numbered(text))
    model = tf.keras.Model(text, layers.Flatten()(embedded))
    lines = tf.constant([["bad, film"], ["unknown"]])
    expected = model(lines)
    model.export(str(tmp_path / "model"), verbose=False)
    loaded = tf.saved_model.load(str(tmp_path / "model"))
    np.testing.assert_allclose(loaded.serve(lines), expected)
    serve = loaded.signatures["serving_default"]
    assert list(serve.structured_input_signature[1]) == ["text"]
    np.testing.assert_allclose(next(iter(serve(text=lines).values())), expected)


def test_options_of_saving_are_taken_or_refused_by_name(tmp_path):
    @tf.custom_gradient
    def halved(y):
        return y, lambda dy: tf.clip_by_norm(dy, 0.5)

    module = tf.Module()
    module.call = tf.function(lambda x: halved(x) * 3, input_signature=[tf.TensorSpec(None)])
    options = tf.saved_model.SaveOptions(experimental_custom_gradients=True)
    tf.saved_model.save(module, str(tmp_path), options=options)
    again = tf.saved_model.load(str(tmp_path), options=tf.saved_model.LoadOptions())
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = again.call(x)
    assert tape.gradient(y, x).numpy() == 0.5
    tf.saved_model.SaveOptions(experimental_io_device="/job:localhost")
    with pytest.raises(tf.errors.UnimplementedError, match="experimental_skip_checkpoint"):
        tf.saved_model.LoadOptions(experimental_skip_checkpoint=True)
    with pytest.raises(TypeError, match="SaveOptions"):
        tf.saved_model.save(module, str(tmp_path), options={"experimental_custom_gradients": True})


def test_rows_of_different_lengths_are_no_tensor():
    with pytest.raises(ValueError, match="non-rectangular Python sequence"):
        tf.constant([[1, 2], [3]])
    with pytest.raises(ValueError, match="mixed types"):
        tf.constant([1, [2]])
    with pytest.raises(ValueError, match="non-rectangular Python sequence"):
        tf.function(lambda: tf.constant([[1.0, 2.0], [3.0]]) + 1)()


class Late(tf.Module):
    """Makes its weight at its first call, of a shape that it is told then."""

    made = False

    @tf.function
    def __call__(self, x, of_argument=False):
        if not self.made:
            limit = tf.sqrt(6.0) / tf.sqrt(tf.cast(x.shape[1], tf.float32))
            start = tf.random.uniform([x.shape[1], 3], -limit, limit, seed=2)
            self.weight = tf.Variable(x if of_argument else start)
            self.made = True
        return x @ self.weight


def test_a_variable_is_made_while_arguments_are_not_known():
    late = Late()

    @tf.function(input_signature=[tf.TensorSpec([None, 2, None], tf.uint8)])
    def outer(x):
        return late(tf.cast(tf.reshape(x, [-1, 4]), tf.float32))

    outer.get_concrete_function()
    x = np.ones((1, 2, 2), np.uint8)
    np.testing.assert_allclose(outer(x), np.ones((1, 4)) @ late.weight.numpy(), rtol=1e-6)
    again = Late()
    with pytest.raises(ValueError, match="of which only the type is known"):
        again.__call__.get_concrete_function(tf.TensorSpec([2, 2]), of_argument=True)


def test_rows_that_a_nested_function_takes_keep_their_indices():
    table, weight = tf.Variable(tf.reshape(tf.range(12.0), [6, 2])), tf.Variable([[1.0], [2.0]])

    def looked_up(ids, scale=1.0):
        return tf.gather(table, ids) @ weight * scale

    inner = tf.function(looked_up)

    def slopes(function):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(function([[1, 2], [1, 3]]) ** 2) + tf.reduce_sum(function([4]))
        return tape.gradient(loss, [table, weight])

    wanted = slopes(looked_up)
    for found in (tf.function(lambda: slopes(inner))(), slopes(inner)):
        assert isinstance(found[0], tf.IndexedSlices)
        np.testing.assert_array_equal(found[0].indices, wanted[0].indices)
        np.testing.assert_allclose(found[0].values, wanted[0].values)
        np.testing.assert_allclose(found[1], wanted[1])


def test_rows_that_a_nested_function_takes_for_ragged_ones_keep_their_indices():
    table = tf.Variable(tf.reshape(tf.range(12.0), [6, 2]))
    lists = tf.ragged.constant([[1, 1, 3], [2], [4, 1]])

    @tf.function
    def inner(ids):
        return tf.math.segment_sum(tf.gather(table, ids.flat_values), ids.value_rowids())

    @tf.function
    def slope(ids):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(inner(ids) * [1.0, 2.0])
        return tape.gradient(loss, table)

    found = slope(lists)
    assert isinstance(found, tf.IndexedSlices)
    np.testing.assert_array_equal(found.indices, [1, 1, 3, 2, 4, 1])
    np.testing.assert_array_equal(found.values, [[1.0, 2.0]] * 6)


def test_slices_know_the_shape_of_the_whole():
    table = tf.Variable([[1.0, 2], [3, 4], [5, 6]])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.gather(table, [0, 0]))
    assert tape.gradient(loss, table).shape == (3, 2)
    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.float32, [5, 2])
        assert tf.compat.v1.gradients(tf.gather(x, [0]), x)[0].shape == (5, 2)


def test_frames_have_a_gradient_that_is_a_tensor():
    x = tf.Variable(tf.range(8.0))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.signal.frame(x, 4, 2) ** 2)
    np.testing.assert_allclose(tape.gradient(loss, x)[2:4], [8.0, 12.0])


def test_text_is_saved_in_checkpoints_and_models(tmp_path):
    words, name = tf.Variable(["a", "bcd", ""]), tf.Variable("n")
    saver = tf.train.Checkpoint(words=words, name=name, number=tf.Variable([1.5]))
    path = saver.save(tmp_path / "saved")
    words.assign(["x", "y", "z"])
    name.assign("other")
    saver.restore(path).assert_consumed()
    assert words.numpy().tolist() == [b"a", b"bcd", b""]
    assert name.numpy() == b"n"
    module = tf.Module()
    module.words = words
    module.run = tf.function(
        lambda x: tf.strings.join([module.words, x]), input_signature=[tf.TensorSpec([], "string")]
    )
    assert not tf.saved_model.contains_saved_model(tmp_path)
    tf.saved_model.save(module, tmp_path / "model")
    assert tf.saved_model.contains_saved_model(tmp_path / "model")
    again = tf.saved_model.load(tmp_path / "model")
    assert again.run("!").numpy().tolist() == [b"a!", b"bcd!", b"!"]


def test_penalties_are_named_after_their_variables():
    v1 = tf.compat.v1
    with (
        tf.Graph().as_default(),
        v1.name_scope("tower"),
        v1.variable_scope("layer", regularizer=lambda v: 0.1 * tf.reduce_sum(v * v)),
    ):
        v1.get_variable("w", [2, 2])
        (loss,) = v1.losses.get_regularization_losses()
    assert loss.name.startswith("layer/w/Regularizer/")


def test_sizes_that_are_known_are_numbers_of_shapes():
    @tf.function
    def made(x, at):
        rows = tf.zeros([5, tf.size(x)])
        assert rows.shape == (5, 3)
        for _ in tf.range(2):
            rows = tf.tensor_scatter_nd_update(rows, [[at % 5]], [x])
        return rows

    np.testing.assert_array_equal(made(tf.constant([1.0, 2, 3]), 2)[2], [1, 2, 3])

    @tf.function(input_signature=[tf.TensorSpec([5, None])])
    def changed(x):
        found = tf.tensor_scatter_nd_add(x, [[1]], [x[0]])
        assert found.shape.as_list() == [5, None]
        return found

    np.testing.assert_array_equal(changed(np.ones((5, 2), "f4"))[1], [2, 2])


def test_draws_of_a_seed_keep_what_is_known_of_their_shape():
    @tf.function(input_signature=[tf.TensorSpec([None, 4, 3])])
    def drawn(x):
        sizes = tf.shape(x)
        found = tf.random.stateless_uniform(sizes, [1, 2])
        assert found.shape.as_list() == [None, 4, 3]
        assert tf.random.stateless_normal([sizes[0], 5], [1, 2]).shape.as_list() == [None, 5]
        return found

    wanted = tf.random.stateless_uniform([2, 4, 3], [1, 2])
    np.testing.assert_array_equal(drawn(np.zeros((2, 4, 3), "f4")), wanted)


def test_a_tape_that_was_not_entered_gives_no_gradients():
    with pytest.raises(RuntimeError, match="non-persistent"):
        tf.GradientTape().gradient(tf.constant(1.0), tf.constant(2.0))


def test_placeholders_are_of_graphs():
    for made in (tf.compat.v1.placeholder, tf.compat.v1.sparse_placeholder):
        with pytest.raises(RuntimeError, match="not compatible with eager execution"):
            made(tf.float32, [2])


def test_layers_turn_batches_of_any_size():
    layer = tf.keras.layers.RandomRotation(0.1, seed=2)
    images = np.random.default_rng(0).random((5, 6, 6, 1), np.float32)
    data = tf.data.Dataset.from_tensor_slices(images).batch(3)
    turned = data.map(lambda x: layer(x, training=True))
    assert turned.element_spec.shape.as_list() == [None, 6, 6, 1]
    assert [x.shape[0] for x in turned] == [3, 2]


def test_loops_carry_elements_that_may_not_be_there():
    data = tf.data.Dataset.range(10).batch(4)

    @tf.function
    def counted(iterator):
        found, count = iterator.get_next_as_optional(), 0
        while found.has_value():
            count += tf.size(found.get_value())
            found = iterator.get_next_as_optional()
        return count

    assert [int(counted(iter(data))) for _ in range(2)] == [10, 10]

    @tf.function
    def chosen(first):
        found = tf.experimental.Optional.from_value(tf.constant(3))
        if first:
            found = tf.experimental.Optional.from_value(tf.constant(5))
        return found.get_value()

    assert [int(chosen(tf.constant(x))) for x in (True, False)] == [5, 3]


def test_errors_are_called_as_tensorflows_are_here():
    def called(function):
        with pytest.raises(Exception) as caught:  # noqa: PT011  (which one is asked below)
            function()
        return type(caught.value).__name__, pickle.loads(pickle.dumps(caught.value)).args

    def shapes():
        return tf.reshape([1, 2, 3], [2, 2])

    def types():
        return tf.constant([1]) + tf.constant([1.0])

    names = [called(f)[0] for f in (shapes, tf.function(shapes), types, tf.function(types))]
    assert names == ["InvalidArgumentError", "ValueError", "InvalidArgumentError", "TypeError"]
    assert "3 values" in called(shapes)[1][0]
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        shapes()
    assert "3 values" in caught.value.message
    with pytest.raises(ValueError, match="must be either 'xy' or 'ij'"):
        tf.meshgrid([1], [2], indexing="zz")


def test_arrays_whose_elements_differ_are_joined():
    array = tf.TensorArray(tf.float32, 2, infer_shape=False)
    array = array.write(0, [1.0, 2.0]).write(1, [3.0])
    assert array.concat().numpy().tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match="Incompatible shape for value"):
        tf.TensorArray(tf.float32, 2).write(0, [1.0, 2.0]).write(1, [3.0])


def test_keys_of_dense_tables_are_erased():
    table = tf.lookup.experimental.DenseHashTable(tf.int64, tf.float32, -1.0, -1, -2)
    table.insert_or_assign(tf.constant([5, 6], tf.int64), [1.0, 2.0])
    table.erase(tf.constant([6], tf.int64))
    assert table.lookup(tf.constant([5, 6], tf.int64)).numpy().tolist() == [1, -1]


def test_signatures_come_in_the_order_they_were_given_in(tmp_path):
    module = tf.Module()
    module.f = tf.function(lambda x: x + 1, input_signature=[tf.TensorSpec([])])
    names = ["serving_default", "look", "again"]
    tf.saved_model.save(module, str(tmp_path), dict.fromkeys(names, module.f))
    assert list(tf.saved_model.load(str(tmp_path)).signatures) == names


def test_what_a_layer_of_the_first_version_makes_is_in_its_scope():
    with tf.Graph().as_default() as graph, graph.name_scope("mlp"):
        x = tf.compat.v1.placeholder(tf.float32, [None, 3])
        made = tf.compat.v1.nn.xw_plus_b(x, tf.ones([3, 2]), tf.zeros([2]), name="logits")
        over = tf.compat.v1.nn.relu_layer(x, tf.ones([3, 2]), tf.zeros([2]))
        assert graph.get_name_scope() == "mlp"
        assert graph.as_graph_element("mlp/logits/MatMul").type == "MatMul"
        assert [made.name, over.name] == ["mlp/logits:0", "mlp/relu_layer:0"]
    assert graph.get_name_scope() == ""


@pytest.mark.parametrize(
    ("most", "wanted"),
    [
        (0, [["x y  z "], ["q"], [" "], [" a "]]),
        (1, [["x", "y  z "], ["q", ""], [], ["a", ""]]),
        (3, [["x", "y", "z", ""], ["q"], [], ["a"]]),
        (-1, [["x", "y", "z"], ["q"], [], ["a"]]),
    ],
)
def test_what_is_left_behind_the_last_piece_is_one_more(most, wanted):
    found = tf.strings.split(["x y  z ", "q", " ", " a "], maxsplit=most)
    assert [[x.decode() for x in row] for row in found.to_list()] == wanted


@pytest.mark.parametrize(
    "make",
    [
        tf.linalg.inv,
        lambda x: tf.linalg.solve(x, x),
        lambda x: tf.debugging.check_numerics(x / 0.0, "not finite"),
    ],
)
def test_constants_without_a_result_fail_in_the_run_that_asks_for_it(make):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.zeros([2, 2])
        made = make(x)
        assert session.run(x).tolist() == [[0, 0], [0, 0]]
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            session.run(made)
        assert type(caught.value).__name__ == "InvalidArgumentError"
        assert pickle.loads(pickle.dumps(caught.value)).message == caught.value.message


def test_axes_of_a_rank_that_is_open_are_counted_in_the_run():
    @tf.function(input_signature=[tf.TensorSpec(None, tf.float32)])
    def sums(x):
        rank = tf.rank(x)
        rows = tf.reduce_mean(x, tf.range(1, rank), keepdims=True)
        return tf.reduce_sum(x, axis=tf.range(rank)), rows, x - rows

    for _ in range(4):
        for shape in ((2, 3), (4,), (2, 2, 2)):
            x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
            whole, rows, rest = sums(x)
            mean = x.mean(tuple(range(1, x.ndim)), keepdims=True)
            assert float(whole) == x.sum()
            np.testing.assert_allclose(rows, mean)
            np.testing.assert_allclose(rest, x - mean)


def test_lengths_with_fractions_are_cut_where_the_width_is_of_integers():
    made = tf.sequence_mask([2.7, 1.0], 4, tf.int32)
    assert made.numpy().tolist() == [[1, 1, 0, 0], [1, 0, 0, 0]]
    with tf.Graph().as_default():
        lengths = tf.compat.v1.placeholder(tf.float32, [8])
        assert tf.sequence_mask(lengths, 4).shape == [8, 4]


def test_tracing_without_a_folder_is_without_a_profile(caplog):
    tf.summary.trace_on(graph=True, profiler=True)
    assert "Profiler won't be enabled" in caplog.text
    tf.summary.trace_off()


class Talking(tf.Module):
    """Prints, and asks whether what it is given is right."""

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def said(self, x):
        tf.debugging.assert_positive(x, "none below")
        tf.debugging.assert_equal(tf.shape(x)[0], 2)
        tf.debugging.assert_near(x, x)
        tf.Assert(tf.reduce_all(x < 5.0), [x, "too large"])
        tf.print("x:", x, [x, 3, "a"], {"k": (x[0],)}, sep="|", output_stream=sys.stdout)
        tf.print(x[0], output_stream=sys.stdout)
        tf.print([tf.constant("s")], output_stream=sys.stdout)
        return tf.strings.regex_replace(tf.strings.as_string(x), r"[^\d]", "é")


def test_saved_functions_print_and_check(tmp_path, capfd):
    module = Talking()
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    printed = []
    for each in (module, loaded):
        assert each.said([1.0, 2.0]).numpy()[0].decode() == "1é000000"
        printed.append(capfd.readouterr().out)
        for wrong, text in (([-1.0, 1.0], "none below"), ([1.0], "=="), ([6.0, 1.0], "too large")):
            with pytest.raises(tf.errors.InvalidArgumentError, match=text):
                each.said(tf.constant(wrong))
    assert printed == ["x:|[1 2]|[[1 2], 3, 'a']|{'k': (1,)}\n1\n[\"s\"]\n"] * 2


def test_slices_of_lists_are_masked():
    slices = tf.IndexedSlices(tf.constant([[1.0], [2.0], [3.0]]), [4, 5, 6])
    assert tf.sparse.mask(slices, [5]).indices.numpy().tolist() == [4, 6]


def test_a_writer_of_a_graph_writes_its_message_too(tmp_path):
    with tf.Graph().as_default() as graph:
        tf.constant(1.0)
        tf.compat.v1.summary.FileWriter(str(tmp_path), graph).close()
    [file] = tmp_path.iterdir()
    events = [each.WhichOneof("what") for each in tf.compat.v1.train.summary_iterator(str(file))]
    assert events == ["file_version", "graph_def", "meta_graph_def"]


def test_a_namespace_is_shown_by_its_name():
    assert repr(tf.compat.v1) == "<namespace tf.compat.v1>"
    assert repr(tf.math) == "<namespace tf.math>"


def test_variables_that_functions_make_are_named_by_the_scopes_within_them() -> None:
    class Scaled(tf.Module):
        @tf.Module.with_name_scope
        def __call__(self, x):
            if not hasattr(self, "w"):
                self.w = tf.Variable(1.0, name="w")
                with tf.name_scope("inner"):
                    self.unnamed = tf.Variable(2.0)
            return x * self.w * self.unnamed

    module = Scaled(name="scaled")
    assert float(tf.function(module.__call__)(tf.constant(3.0))) == 6.0
    assert [v.name for v in module.variables] == ["scaled/inner/Variable:0", "scaled/w:0"]


def test_a_generator_moves_on_the_variable_that_it_is_made_of() -> None:
    state = tf.Variable([5, 0, 7], dtype=tf.int64)
    one = tf.random.Generator.from_state(state, "philox")
    other = tf.random.Generator(state=state, alg="philox")
    apart = tf.random.Generator(copy_from=one)
    drawn = [float(g.normal([])) for g in (one, other, apart)]
    assert drawn[1] != drawn[0] == drawn[2]
    assert state.numpy().tolist() == [2 * 256 + 5, 0, 7]
    with pytest.raises(ValueError, match=r"\(4,\) and \[3\] are incompatible"):
        tf.random.Generator.from_state(tf.Variable([1, 2, 3, 4], dtype=tf.int64))


def test_one_element_in_a_list_is_a_constant_of_any_shape_of_one_element():
    for value, wanted in (([2.5], 2.5), ([[2.5]], 2.5), (["text"], b"text")):
        found = tf.constant(value, shape=[])
        assert (found.shape, found.numpy()) == ((), wanted)
    assert tf.constant([7], shape=[2, 2]).numpy().tolist() == [[7, 7], [7, 7]]
    with pytest.raises(TypeError, match="Expected Tensor's shape"):
        tf.constant([[5.0]], shape=[3])


@pytest.mark.parametrize("staged", [False, True])
def test_cross_entropy_has_the_gradient_of_labels_that_add_up_to_one(staged):
    x = tf.constant([[1.0, 2, 3], [1e4, 1e4 + 1, 1e4 + 2], [0, 0, 0]])
    labels = tf.constant([[0.0, 0, 0], [1, 1, 1], [0.2, 0.3, 0.5]])

    def gradients(x, labels):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape(persistent=True) as tape:
                tape.watch([x, labels])
                loss = tf.nn.softmax_cross_entropy_with_logits(labels, x)
            first = tape.gradient(loss, x)
            part = first[:, 0]
        return loss, first, tape.gradient(loss, labels), outer.gradient(part, x), slope(x, labels)

    def slope(x, labels):
        """Return how the labels' gradient for the first class changes with the logits."""
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(labels)
                loss = tf.nn.softmax_cross_entropy_with_logits(labels, x)
            part = tape.gradient(loss, labels)[:, 0]
        return outer.gradient(part, x)

    function = tf.function(gradients) if staged else gradients
    loss, first, of_labels, second, mixed = (x.numpy() for x in function(x, labels))
    shares = tf.nn.softmax(x).numpy()
    np.testing.assert_allclose(loss, [0, 4.222820, 1.098612], rtol=1e-6)
    np.testing.assert_allclose(first, shares - labels.numpy(), atol=1e-6)
    np.testing.assert_allclose(of_labels, -tf.nn.log_softmax(x).numpy(), rtol=1e-6)
    wanted = shares[:, :1] * (np.eye(3)[:1] - shares)
    np.testing.assert_allclose(second, wanted, atol=1e-6)
    np.testing.assert_allclose(mixed, shares - np.eye(3)[:1], atol=1e-6)


def test_cross_entropy_over_no_classes_is_nothing():
    found = tf.nn.softmax_cross_entropy_with_logits(tf.zeros([2, 0]), tf.zeros([2, 0]))
    np.testing.assert_array_equal(found, [0, 0])
