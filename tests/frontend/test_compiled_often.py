"""What numpy's steps compute until it was called often has the same bits from then on."""

import tracemalloc

import numpy as np
import pytest

import gravure.tf as tf
from gravure.codegen import single
from gravure.frontend.eager import kernels
from gravure.frontend.eager.remembered import remembered
from gravure.frontend.tf.ops import creation, gathering, sorting
from gravure.ir.op import REGISTRY
from gravure.ir.ops.selecting import places
from gravure.ir.types import dtypes as rows
from gravure.ir.types.dims import parse
from gravure.ir.types.tensor import TensorSpec, spec_of_array
from gravure.runtime.buffer import VAST_ROOMS

SEGMENTS = {
    "sum": tf.math.segment_sum,
    "mean": tf.math.segment_mean,
    "max": tf.math.segment_max,
    "min": tf.math.segment_min,
    "prod": tf.math.segment_prod,
}


@pytest.fixture
def seldom(monkeypatch):
    """Compile at the third call."""
    monkeypatch.setattr(kernels, "OFTEN", 2)
    for made in (gathering._combining, creation._counting, sorting._counting):
        made.cache_clear()
    yield
    for made in (gathering._combining, creation._counting, sorting._counting):
        made.cache_clear()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize("how", SEGMENTS)
def test_segments_are_combined_alike_from_the_first_call_on(seldom, how, dtype):
    random = np.random.default_rng(0)
    data = (8 * random.standard_normal((7, 2, 3))).astype(dtype)
    ids = np.array([0, 0, 1, 3, 3, 3, 5], np.int32)  # 2 and 4 have no rows
    found = [SEGMENTS[how](data, ids).numpy() for _ in range(8)]
    assert len({x.tobytes() for x in found}) == 1
    assert not found[0][[2, 4]].any() or how == "prod"
    if dtype != "int32":
        every = {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min, "prod": np.prod}
        np.testing.assert_allclose(found[0][3], every[how](data[3:6], axis=0), rtol=1e-5)


def test_a_compiled_call_says_what_is_wrong_with_segments(seldom):
    data, ids = np.ones((3, 2), np.float32), np.array([0, 1, 1], np.int32)
    for _ in range(6):
        tf.math.segment_sum(data, ids)
    with pytest.raises(tf.errors.InvalidArgumentError, match="not increasing"):
        tf.math.segment_sum(data, ids[::-1])


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_images_are_resized_alike(mode, dtype):
    x = np.random.default_rng(0).standard_normal((2, 5, 7, 3)).astype(dtype)
    op = REGISTRY["gv.resize"]
    for shape, coordinate in (((2, 9, 4, 3), "half_pixel"), ((2, 3, 11, 3), "align_corners")):
        given = op.complete({"shape": shape, "mode": mode, "coordinate": coordinate})
        [one] = op.evaluate(x, **given)
        assert one.tobytes() == single.whole(op, [spec_of_array(x)], given)(x).tobytes()


@pytest.mark.parametrize("shape", [(), (7,), (0, 3), (5, 4), (3, 1, 4), (2, 3, 2, 2)])
@pytest.mark.parametrize("dtype", ["bool", "float32", "complex64", "int8", "object"])
def test_places_are_those_of_numpy(shape, dtype):
    random = np.random.default_rng(0)
    x = np.asarray(random.integers(0, 2, shape)).astype(dtype)
    np.testing.assert_array_equal(places(x), np.argwhere(x))
    assert places(x).dtype == np.int64
    assert places(x.T).tolist() == np.argwhere(x.T).tolist()


def test_what_is_not_a_number_is_somewhere():
    x = tf.constant([[0.0, np.nan, -0.0], [np.inf, 0.0, 1.0]])
    assert tf.where(x).numpy().tolist() == [[0, 1], [1, 0], [1, 2]]


def test_many_numbers_are_counted_alike(seldom):
    many = np.random.default_rng(0).integers(0, 9, kernels.MANY).astype(np.int32)
    for _ in range(4):
        assert tf.math.bincount(many).numpy().tolist() == np.bincount(many).tolist()
        assert tf.math.bincount(many, minlength=12).shape == (12,)
        bins = tf.histogram_fixed_width(many, [0, 8], 4).numpy()
        assert bins.tolist() == np.bincount(np.minimum(many // 2, 3)).tolist()
    with pytest.raises(tf.errors.InvalidArgumentError, match="non-negative"):
        tf.math.bincount(many - 1)


@pytest.mark.parametrize("ends", [(0, 1 << 17, 1), (-5, 1 << 19, 3), (1 << 18, -9, -2)])
def test_many_numbers_are_made_alike(seldom, ends):
    for _ in range(4):
        made = tf.range(*ends)
        assert made.dtype == tf.int32
        np.testing.assert_array_equal(made, np.arange(*ends))


def test_no_target_is_among_the_largest_beside_what_is_not_finite():
    rows = tf.constant([[1.0, 2.0, 3.0], [1.0, np.inf, 0.0], [np.nan, 2.0, 1.0]])
    for k, expected in ((2, [True, False, False]), (3, [True, False, False]), (0, [False] * 3)):
        assert tf.math.in_top_k([1, 0, 1], rows, k).numpy().tolist() == expected
    assert not tf.math.in_top_k([0, 0, 0], rows, -1).numpy().any()


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,ij->i", [(3, 5), (3, 5)]),
        ("ij,ji->j", [(3, 5), (5, 3)]),
        ("i,i->", [(4,), (4,)]),
        ("bij,ibj->b", [(2, 3, 4), (3, 2, 4)]),
        ("ij,ij,i->i", [(3, 5), (3, 5), (3,)]),
    ],
)
def test_single_rows_are_multiplied_by_columns(equation, shapes):
    random = np.random.default_rng(0)
    xs = [random.standard_normal(shape).astype(np.float32) for shape in shapes]
    expected = np.einsum(equation, *xs)
    once, staged = tf.einsum(equation, *xs), tf.function(lambda *x: tf.einsum(equation, *x))(*xs)
    np.testing.assert_allclose(once, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(staged, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("count", [0, 1, 1 << 15, (1 << 15) + 7])
def test_long_chains_work_in_little_memory_whatever_their_length(count):
    """They are several kernels: what lies between was as long as an array may be at most."""
    steps = 250

    def chain(emit, x, y):
        for i in range(steps):
            x = emit(REGISTRY["gv.add"], emit(REGISTRY["gv.mul"], x, y if i % 3 else x), y)
        return x, emit(REGISTRY["gv.sub"], x, y)

    row = TensorSpec(rows.f32, (parse("N"),))
    there = set(VAST_ROOMS)  # (those of models that other tests have made)
    kernel = single.of_any_length(chain, [row, TensorSpec(rows.f32, ())])
    x, y = np.linspace(-0.3, 0.3, count, dtype=np.float32), np.array(0.25, np.float32)
    found, wanted = kernel(x, y), x
    for i in range(steps):
        wanted = wanted * (y if i % 3 else wanted) + y
    assert [a.tobytes() for a in found] == [wanted.tobytes(), (wanted - y).tobytes()]
    assert set(VAST_ROOMS) <= there


def test_noting_a_long_chain_keeps_no_elements():
    """The first calls of a function of many steps held the elements of all of them."""
    count, steps = 1 << 18, 60

    @remembered
    def chain(x):
        for _ in range(steps):
            x = tf.add(tf.multiply(x, 0.5), 1.0)
        return x

    x = tf.constant(np.ones(count, np.float32))
    chain(x)
    tracemalloc.start()
    second = chain(x)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 20 * 4 * count
    assert second.numpy().tobytes() == chain(x).numpy().tobytes()


@pytest.mark.parametrize("dtype", [rows.f16, rows.bf16], ids=str)
@pytest.mark.parametrize("name", ["relu", "reciprocal", "thresholded_relu", "isinf"])
def test_formulas_of_few_halves_have_the_same_bits_when_they_come_often(name, dtype):
    op = REGISTRY[f"gv.{name}"]
    assert op.is_by_formula()
    with np.errstate(all="ignore"):
        x = np.arange(1 << 16, dtype=np.uint16)[::37].view(dtype.numpy)
        x = x[~np.isnan(x)]
        found = [kernels.evaluate(op, [x], {})[0] for _ in range(kernels.OFTEN + 2)]
        (expected,) = op.evaluate(x, **op.complete({}))
    assert {y.tobytes() for y in found} == {expected.tobytes()}
