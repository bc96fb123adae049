"""Names and calls that only the first version has."""

import numpy as np
import pytest

import gravure.tf as tf

v1 = tf.compat.v1
RNG = np.random.default_rng(3)
X = RNG.normal(size=(2, 6, 5, 3)).astype(np.float32)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("spectral.rfft", "signal.rfft"), ("spectral.dct", "signal.dct"),
        ("manip.roll", "roll"), ("manip.gather_nd", "gather_nd"), ("manip.tile", "tile"),
        ("debugging.is_nan", "math.is_nan"), ("debugging.is_finite", "math.is_finite"),
        ("image.resize_image_with_crop_or_pad", "image.resize_with_crop_or_pad"),
        ("fake_quant_with_min_max_args", "quantization.fake_quant_with_min_max_args"),
        ("nn.avg_pool_v2", "nn.avg_pool"), ("io.PriorityQueue", "queue.PriorityQueue"),
        ("dtypes.as_string", "strings.as_string"), ("decode_compressed", "io.decode_compressed"),
        ("saved_model.SERVING", "saved_model.SERVING"), ("io.QueueBase", "queue.QueueBase"),
        ("train.queue_runner.QueueRunner", "compat.v1.train.QueueRunner"),
        ("initializers.global_variables", "compat.v1.global_variables_initializer"),
    ],
)  # fmt: skip
def test_names_that_stand_elsewhere_since(first: str, second: str) -> None:
    def found(space: object, path: str) -> object:
        for name in path.split("."):
            space = getattr(space, name)
        return getattr(space, "__wrapped__", space)

    assert found(v1, first) is found(tf, second)


@pytest.mark.parametrize("size", [(9, 4), (3, 8), (6, 5), (2, 2)])
@pytest.mark.parametrize("method", [0, 1, 2])
def test_images_are_resized_in_proportion(size: tuple[int, int], method: int) -> None:
    found = v1.image.resize_image_with_pad(X, *size, method).numpy()
    assert found.shape == (2, *size, 3)
    scale = min(size[0] / 6, size[1] / 5)
    exact = np.float32([6 * scale, 5 * scale])
    inner = exact.astype(int).tolist()
    wanted = v1.image.resize_images(X, inner, method).numpy()
    up, left = (int((s - e) / 2) for s, e in zip(size, exact, strict=True))
    np.testing.assert_array_equal(found[:, up : up + inner[0], left : left + inner[1]], wanted)
    assert np.count_nonzero(found) == np.count_nonzero(wanted)


def test_scopes_in_their_oldest_order() -> None:
    with v1.Graph().as_default():
        with v1.op_scope([], None, "outer") as scope:
            made = tf.identity(1.0, name="x")
        with v1.variable_op_scope([], "net", None, tf.ones_initializer()):
            w = v1.get_variable("w", [2])
    assert scope == "outer/"
    assert made.name == "outer/x:0"
    assert w.name == "net/w:0"


def test_data_of_checks_stands_before_the_message() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="told"):
        v1.debugging.assert_equal(1, 2, ["told", 5])
    with pytest.raises(tf.errors.InvalidArgumentError, match="why"):
        v1.assert_equal(1, 2, None, None, "why")


def test_constants_have_their_type_behind_the_value() -> None:
    made = v1.constant_initializer(3, tf.float64)
    assert made([2]).dtype == tf.float64
    assert v1.constant_initializer([1.0, 2.0], tf.float32, True)([2]).numpy().tolist() == [1.0, 2.0]
    with pytest.raises(TypeError, match="Expected Tensor's shape"):
        v1.constant_initializer([1.0, 2.0], tf.float32, verify_shape=True)([2, 1])


def test_optimisers_have_locks_before_their_names() -> None:
    with v1.Graph().as_default():
        w = v1.get_variable("w", initializer=1.0)
        step = v1.train.GradientDescentOptimizer(0.5, True, "down").minimize(w * w)
        assert step.name == "down"
        assert v1.train.AdagradOptimizer(0.5, 0.1, True, "ada").minimize(w * w).name == "ada"


def test_files_by_their_old_words(tmp_path) -> None:
    folder = str(tmp_path / "a")
    v1.gfile.MakeDirs(dirname=folder)
    with v1.gfile.Open(f"{folder}/x", "w") as file:
        file.write("text")
    v1.gfile.Copy(oldpath=f"{folder}/x", newpath=f"{folder}/y")
    assert v1.gfile.Exists(filename=f"{folder}/y")
    assert sorted(v1.gfile.ListDirectory(dirname=folder)) == ["x", "y"]
    assert [names for _, _, names in v1.gfile.Walk(folder, in_order=False)] == [["x", "y"]]
    v1.gfile.DeleteRecursively(dirname=folder)
    assert not v1.gfile.IsDirectory(dirname=folder)


@pytest.mark.parametrize("kind", ["add", "sub", "max", "min"])
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_slices_outside_are_ignored_where_that_is_asked(kind: str, dtype: type) -> None:
    x, rows = (RNG.integers(-9, 9, (4, 3)).astype(dtype) for _ in range(2))
    places = np.array([[1], [7], [0], [-1]])
    call = getattr(tf, f"tensor_scatter_nd_{kind}")
    wanted = call(x, places[[0, 2]], rows[[0, 2]]).numpy()
    for function in (call, tf.function(call)):
        found = function(x, places, rows, bad_indices_policy="IGNORE")
        np.testing.assert_array_equal(found.numpy(), wanted)
    with pytest.raises(tf.errors.InvalidArgumentError):
        call(x, places, rows)


def test_files_beside_a_program() -> None:
    here = v1.resource_loader.get_path_to_datafile("test_only_there.py")
    assert here == __file__
    assert v1.resource_loader.load_resource("test_only_there.py").startswith(b'"""Names')


def test_the_first_values_of_all_state() -> None:
    with v1.Graph().as_default(), v1.Session() as session:
        w = v1.get_variable("w", initializer=2.0)
        session.run(v1.saved_model.main_op.main_op())
        assert session.run(w) == 2.0


@pytest.mark.parametrize(
    ("indices", "found", "grads"),
    [
        ([[0], [3]], [[1.0, 2.0], [0.0, 0.0]], [[1.0, 1.0], [0.0, 0.0]]),
        ([[0, -1]], [0.0], [[0.0, 0.0], [0.0, 0.0]]),
        ([[1, 1], [2, 0]], [4.0, 0.0], [[0.0, 0.0], [0.0, 1.0]]),
    ],
)
def test_indices_of_open_length_that_are_outside_are_ignored(indices, found, grads) -> None:
    specs = [tf.TensorSpec([None, None]), tf.TensorSpec([None, None], "int64")]

    @tf.function(input_signature=specs)
    def taken(table, places):
        return tf.gather_nd(table, places, bad_indices_policy="IGNORE")

    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = taken(x, tf.constant(indices, "int64"))
    assert y.numpy().tolist() == found
    assert tf.convert_to_tensor(tape.gradient(y, x)).numpy().tolist() == grads


def test_numbers_of_texts_without_a_type_are_floats() -> None:
    assert v1.string_to_number(["1.5"], None).numpy().tolist() == [1.5]
    assert v1.string_to_number(["1.5"], None).dtype == tf.float32
