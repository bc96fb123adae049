"""What libraries of others build on: values that become tensors, modules and functions."""

import functools
import pickle
from types import FunctionType
from typing import Any

import numpy as np
import pytest
from llvmlite import binding as llvm

import gravure.tf as tf
from gravure.frontend.eager.conversions import CONVERSIONS


class Length:
    """A value of a user's class."""

    def __init__(self, metres: float) -> None:
        self.metres = metres


@pytest.fixture
def registered() -> Any:
    before = list(CONVERSIONS)

    @functools.partial(tf.register_tensor_conversion_function, Length)
    def _made(value: Any, dtype: Any = None, name: Any = None, as_ref: bool = False) -> Any:
        del name, as_ref
        return tf.constant(value.metres, dtype or tf.float64)

    yield Length
    CONVERSIONS[:] = before


class Protocol:
    """A value that says itself how it becomes a tensor."""

    def __tf_tensor__(self, dtype: Any = None, name: Any = None) -> Any:
        del name
        return tf.constant([1.0, 2.0], dtype or tf.float64)


def test_a_registered_function_makes_tensors_of_a_class(registered: Any) -> None:
    made = tf.convert_to_tensor(registered(2.5))
    assert (made.dtype, made.numpy()) == (tf.float64, 2.5)
    assert tf.convert_to_tensor(registered(2.5), tf.float32).dtype == tf.float32
    assert (tf.constant(3.0) * registered(2.0)).dtype == tf.float32
    stacked = tf.stack([registered(1.0), registered(2.0)])
    np.testing.assert_array_equal(stacked, np.array([1.0, 2.0]))
    assert tf.function(lambda: tf.sqrt(registered(4.0)))().numpy() == 2.0


def test_values_with_a_method_for_it_become_tensors() -> None:
    np.testing.assert_array_equal(tf.square(Protocol()), np.array([1.0, 4.0]))
    assert tf.convert_to_tensor(Protocol(), tf.float32).dtype == tf.float32
    assert (tf.constant([1.0, 1.0]) + Protocol()).dtype == tf.float32


def test_functions_that_give_no_tensor_are_refused() -> None:
    before = list(CONVERSIONS)
    tf.register_tensor_conversion_function(Length, lambda *_, **__: 1.0, priority=1)
    try:
        with pytest.raises(RuntimeError, match="returned non-Tensor"):
            tf.convert_to_tensor(Length(1.0))
    finally:
        CONVERSIONS[:] = before
    for kind, function in ((int, tf.constant), (3, tf.constant), (Length, 3)):
        with pytest.raises(TypeError):
            tf.register_tensor_conversion_function(kind, function)


class Inner(tf.Module):  # type: ignore[misc]
    """A module with variables in lists, and one that is not looked at."""

    _TF_MODULE_IGNORED_PROPERTIES = frozenset({"hidden"}) | tf.Module._TF_MODULE_IGNORED_PROPERTIES

    def __init__(self) -> None:
        super().__init__(name="inner")
        self.w = tf.Variable(1.0)
        self.more = [tf.Variable(2.0), {"a": tf.Variable(3.0, trainable=False)}]
        self.hidden = tf.Variable(4.0)


def test_modules_are_walked_by_path_and_predicate() -> None:
    outer = tf.Module()
    outer.inner, outer.again = Inner(), None
    outer.again = outer.inner.w
    is_variable = functools.partial(lambda kind, x: isinstance(x, kind), tf.Variable)
    found = dict(outer._flatten(predicate=is_variable, with_path=True))
    assert {path: float(v) for path, v in found.items()} == {
        ("again",): 1.0,
        ("inner", "w"): 1.0,
        ("inner", "more", 0): 2.0,
        ("inner", "more", 1, "a"): 3.0,
    }
    assert [float(v) for v in outer.variables] == [1.0, 2.0, 3.0]
    assert len(list(outer._flatten(recursive=False, predicate=is_variable))) == 1
    names = [p for p, _ in outer.inner._flatten(attribute_traversal_key=len, with_path=True)]
    assert names[0] == ("w",)


def test_functions_are_decorated_before_they_are_traced() -> None:
    f = tf.function(lambda x: x + 1.0)
    f._decorate(lambda inner: lambda x: inner(x) * 2.0)
    assert f(tf.constant(1.0)).numpy() == 4.0
    with pytest.raises(ValueError, match="after they have been traced"):
        f._decorate(lambda inner: inner)


def test_creators_may_make_variables_of_a_derived_class() -> None:
    class Plain(tf.Variable):  # type: ignore[misc]
        """A variable that holds a tensor."""

        def __init__(self, value: Any, name: str) -> None:
            self.held, self.called = value, name

    def make(following: Any, **given: Any) -> Any:
        del following
        return Plain(tf.convert_to_tensor(given["initial_value"]), given["name"])

    before = list(CONVERSIONS)
    tf.register_tensor_conversion_function(Plain, lambda v, *_, **__: v.held)
    try:
        with tf.variable_creator_scope(make):
            made = tf.Variable([1.0, 2.0], name="a")
        assert (type(made), made.called) == (Plain, "a")
        np.testing.assert_array_equal(tf.square(made), [1.0, 4.0])
        np.testing.assert_array_equal(tf.concat([made, made], 0), [1.0, 2.0, 1.0, 2.0])
    finally:
        CONVERSIONS[:] = before


def test_references_have_an_order_as_keys_of_dictionaries_need() -> None:
    a, b = tf.Variable(1.0).ref(), tf.Variable(1.0).ref()
    assert (a < b) != (b < a)
    assert (a < b) == (b > a)
    assert sorted([a, b]) == sorted([b, a])


@pytest.mark.parametrize("space", ["math", "nn", "random"])
def test_functions_can_be_pickled(space: str) -> None:
    names = [n for n, f in vars(getattr(tf, space)).items() if isinstance(f, FunctionType)]
    assert len(names) > 10
    for name in names:
        function = getattr(getattr(tf, space), name)
        assert pickle.loads(pickle.dumps(function)) is function, name


def test_what_is_sparse_or_given_by_rows_stays_so_where_both_are_taken() -> None:
    v1 = tf.compat.v1
    x = tf.SparseTensor([[0, 1]], [1.0], [2, 2])
    assert v1.convert_to_tensor_or_sparse_tensor(x) is x
    value = v1.SparseTensorValue([[0, 1]], [1.0], [2, 2])
    assert isinstance(v1.convert_to_tensor_or_sparse_tensor(value), tf.SparseTensor)
    assert v1.convert_to_tensor_or_sparse_tensor([1, 2], tf.float64).dtype == tf.float64
    rows = tf.IndexedSlices(tf.ones([1, 2]), tf.constant([0]))
    assert v1.convert_to_tensor_or_indexed_slices(rows) is rows
    with pytest.raises(RuntimeError, match="Sparse dtype mismatch"):
        v1.convert_to_tensor_or_sparse_tensor(x, tf.float64)


def test_operations_are_entered_as_without_gradient() -> None:
    tf.no_gradient("OfALibrary")
    with pytest.raises(KeyError, match="Registering two gradient with name 'OfALibrary'"):
        tf.compat.v1.NotDifferentiable("OfALibrary")
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [])
        with graph.gradient_override_map({"Square": "OfALibrary"}):
            y = tf.square(x)
        assert tf.gradients(y, x) == [None]


def test_sizes_of_windows_are_cut_to_whole_numbers() -> None:
    x = tf.ones([1, 4, 4, 1])
    assert tf.nn.avg_pool2d(x, (1, np.float64(3.0), 3.0, 1), 1.0, "VALID").shape == [1, 2, 2, 1]
    filters = tf.ones([2, 2, 1, 1])
    assert tf.nn.conv2d(x, filters, [1, 2.0, 2.0, 1], "VALID").shape == [1, 2, 2, 1]
    assert tf.ones(np.array([2.5, 1.0])).shape == [2, 1]
    with pytest.raises(
        TypeError, match=r"Cannot convert \[3.0, 1.0\] to EagerTensor of dtype int32"
    ):
        tf.zeros([3.0, 1.0])
    assert tf.linspace(0.0, 1.0, tf.constant(3, tf.int64)).shape == [3]


def test_closeness_is_asked_for_by_arrays_and_in_classes_that_ask_for_less() -> None:
    class Loose(tf.test.TestCase):
        def assertAllClose(self, a: Any, b: Any) -> None:  # noqa: N802  (TensorFlow's name)
            super().assertAllClose(a, b, rtol=1e-3)

    Loose().assertAllClose({"a": [1.0, 2.0]}, {"a": [1.0, 2.0001]})
    case = tf.test.TestCase()
    case.assertAllClose([1.0, 2.0], [1.0, 2.2], atol=np.array([0.0, 0.3]))
    with pytest.raises(AssertionError, match="not close"):
        case.assertAllClose([1.0, 2.0], [1.1, 2.2], atol=np.array([0.0, 0.3]))


def test_what_is_not_dense_comes_first_by_its_name() -> None:
    x = tf.SparseTensor([[0, 1]], [-1.0], [2, 2])
    assert tf.shape(input=x).numpy().tolist() == [2, 2]
    assert (int(tf.size(input=x)), int(tf.rank(input=x))) == (4, 2)
    assert tf.identity(input=x, name="same").values.numpy().tolist() == [-1.0]
    assert tf.abs(x=x).values.numpy().tolist() == [1.0]


def test_tables_of_embeddings_are_described_without_a_tpu() -> None:
    embedding = tf.tpu.experimental.embedding
    table = embedding.TableConfig(10, 4, optimizer=embedding.SGD(0.1, clipvalue=2.0))
    assert table.initializer([3, 4]).shape == [3, 4]
    assert (table.optimizer.clip_gradient_min, table.optimizer.clip_gradient_max) == (-2.0, 2.0)
    assert embedding.Adam() == embedding.Adam() != embedding.Adam(0.1)
    assert embedding.FeatureConfig(table).output_shape.rank is None
    with pytest.raises(ValueError, match="`vocabulary_size` must be an int and must be >= 1"):
        embedding.TableConfig(0, 4)
    with pytest.raises(tf.errors.UnimplementedError, match="there are no TPUs here"):
        embedding.TPUEmbedding(embedding.FeatureConfig(table), table.optimizer)


def test_variables_are_cut_by_objects() -> None:
    given = {"shape": tf.TensorShape([10, 3]), "dtype": tf.float32}
    partitioners = tf.distribute.experimental.partitioners
    assert partitioners.FixedShardsPartitioner(3)(**given) == [3, 1]
    assert partitioners.MinSizePartitioner(4, 3)(**given, axis=1) == [1, 3]
    assert partitioners.MaxSizePartitioner(40)(**given) == [4, 1]
    with pytest.raises(ValueError, match="`max_shards` must be positive"):
        partitioners.MinSizePartitioner(max_shards=0)


def test_tensors_in_lists_take_the_type_that_is_asked_for() -> None:
    whole = tf.constant(2, tf.int64)
    assert tf.convert_to_tensor([whole, whole], tf.float32).numpy().tolist() == [2.0, 2.0]
    found = tf.function(lambda i: tf.convert_to_tensor([[i, 1.5]], tf.float32))(whole)
    assert found.numpy().tolist() == [[2.0, 1.5]]
    assert tf.convert_to_tensor([tf.constant(1.5), 2], tf.int32).numpy().tolist() == [1, 2]
    times = tf.function(lambda x, i: x * [i, 3])
    assert times(tf.constant([1.0, 2.0]), whole).numpy().tolist() == [2.0, 6.0]
    with pytest.raises(ValueError, match="requested dtype float32 for Tensor with dtype int64"):
        tf.convert_to_tensor(whole, tf.float32)


def test_files_of_operations_are_not_found_or_refused(tmp_path: Any) -> None:
    other = tmp_path / "text.so"
    other.write_text("no library")
    for load in (tf.load_op_library, tf.load_library):
        with pytest.raises(tf.errors.NotFoundError, match="invalid ELF header"):
            load(str(other))
        with pytest.raises(tf.errors.UnimplementedError, match="added by plugins"):
            load(llvm.ffi.lib._name)
    with pytest.raises(tf.errors.NotFoundError, match="cannot open shared object file"):
        tf.load_op_library(str(tmp_path / "missing.so"))
    with pytest.raises(FileNotFoundError):
        tf.load_library(str(tmp_path / "missing.so"))


@pytest.mark.parametrize(
    ("fill_mode", "interpolation", "row"),
    [
        # By TensorFlow 2.21.
        ("CONSTANT", "NEAREST", [9, 9, 9, 1, 2, 3, 9]),
        ("CONSTANT", "BILINEAR", [9.0, 9.0, 7.0, 1.25, 2.25, 4.5, 9.0]),
        ("REFLECT", "NEAREST", [3, 2, 1, 1, 2, 3, 3]),
        ("WRAP", "NEAREST", [3, 2, 3, 1, 2, 1, 1]),
        ("NEAREST", "BILINEAR", [1.0, 1.0, 1.0, 1.25, 2.25, 3.0, 3.0]),
    ],
)
def test_images_are_seen_through_projective_maps(
    fill_mode: str, interpolation: str, row: list[float]
) -> None:
    found = tf.raw_ops.ImageProjectiveTransformV3(
        images=tf.reshape(tf.constant([1.0, 2.0, 3.0]), [1, 1, 3, 1]),
        transforms=[[1.0, 0.0, -2.75, 0.0, 1.0, 0.0, 0.0, 0.0]],
        output_shape=[1, 7],
        interpolation=interpolation,
        fill_mode=fill_mode,
        fill_value=9.0,
    )
    assert found.numpy()[0, 0, :, 0].tolist() == row


def test_sizes_are_known_that_ranks_say_and_other_parts_have() -> None:
    found = []

    @tf.function
    def f(any_rank: Any, three: Any, n: Any) -> Any:
        pairs = tf.ones([3, 2])
        times = tf.concat([tf.expand_dims(n, 0), tf.ones(tf.rank(pairs), tf.int32)], 0)
        rows = tf.tile(tf.expand_dims(pairs, 0), times)
        found.extend([rows.shape, tf.zeros(times).shape])
        found.extend(tf.concat([x, rows], 1).shape for x in (any_rank, three))
        return rows

    specs = [tf.TensorSpec(None), tf.TensorSpec([None] * 3), tf.TensorSpec([], tf.int32)]
    f.get_concrete_function(*specs)
    assert [x.as_list() for x in found] == [
        *([None, 3, 2], [None, 1, 1]),
        *([None, None, 2], [None, None, 2]),
    ]


@pytest.mark.parametrize("given", [3.0, [3.0, 4.0]])
def test_branches_for_other_ranks_are_not_compiled(given: Any) -> None:
    count = tf.Variable(0)

    @tf.function
    def f(x: Any) -> Any:
        if tf.rank(x) == 0:
            x = tf.stack([x, 2 * x])
            count.assign_add(1)
        return tf.switch_case(tf.size(x), [lambda: x, lambda: -x, lambda: x * x])

    @tf.function
    def slope(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(f(x))
        return tape.gradient(y, x)

    x = tf.constant(given)
    for _ in range(3):
        found, by_x = f(x), slope(x)
    whole = np.array(given) if np.ndim(given) else np.array([given, 2 * given])
    assert found.numpy().tolist() == (whole**2).tolist()
    assert np.array_equal(by_x, 2 * whole if np.ndim(given) else 10 * given)
    assert int(count) == (0 if np.ndim(given) else 6)


@pytest.mark.parametrize("name", ["int8", "uint16", "int64"])
def test_bits_of_integers_are_counted(name: str) -> None:
    x = tf.constant([0, 1, 7, np.iinfo(name).max, np.iinfo(name).min], name)
    found = tf.raw_ops.PopulationCount(x=x)
    wide = x.dtype.size * 8
    most, least = (wide - 1, 1) if "u" not in name else (wide, 0)
    assert (found.dtype, found.numpy().tolist()) == (tf.uint8, [0, 1, 3, most, least])


def test_parts_of_matrices_are_plain_tuples() -> None:
    for parts in (tf.linalg.eigh(tf.eye(2)), tf.linalg.svd(tf.eye(2))):
        assert type(parts) is tuple
    assert tf.raw_ops.Svd(input=tf.eye(2))._fields == ("s", "u", "v")
    assert tf.linalg.qr(tf.eye(2))._fields == ("q", "r")


def test_dense_times_sparse_is_sparse() -> None:
    sparse = tf.SparseTensor([[0, 1], [1, 0]], [1.0, 2.0], [2, 2])
    dense = tf.constant([[1.0, 2.0], [4.0, 8.0]])
    for times in (lambda: dense * sparse, tf.function(lambda: dense * sparse)):
        assert tf.sparse.to_dense(times()).numpy().tolist() == [[0.0, 2.0], [8.0, 0.0]]
    with pytest.raises(ValueError, match="unsupported type"):
        tf.multiply(dense, sparse)
