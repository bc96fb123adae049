"""Single operations on many elements, compiled for eager code, against their `evaluate`."""

from typing import Any

import numpy as np
import pytest

import gravure.tf as tf
from gravure.codegen import single
from gravure.codegen.llvm.entry import functions
from gravure.frontend.eager import kernels
from gravure.ir import REGISTRY, Op, Sample, TensorSpec, spec_of_array
from gravure.ir.types.dims import parse
from gravure.ir.types.dtypes import DType, bf16, bool_, f16, f32, f64

ALONE = [op for _, op in sorted(REGISTRY.items()) if op.COMPILED_ALONE or op.COMPILED_FIXED]
TOLERANCE = {f64: 1e-12, f32: 1e-5, f16: 2e-3, bf16: 1.6e-2}


def operands(sample: Sample, dtype: DType) -> list[Any]:
    random = np.random.default_rng(len(sample.shapes))
    ranges = dict(enumerate(sample.ranges))
    made = []
    for i, shape in enumerate(sample.shapes):
        given = sample.operand_dtypes[i] if i < len(sample.operand_dtypes) else None
        low, high = ranges.get(i) or (sample.low, sample.high)
        values = random.uniform(low, high, shape)
        row = given or dtype
        made.append((values > 0 if row.kind == "b" else values).astype(row.numpy))
    return made


CASES = [
    pytest.param(op, sample, dtype, id=f"{op.name}-{i}-{dtype}")
    for op in ALONE
    for i, sample in enumerate(op.SAMPLES)
    for dtype in sample.dtypes
    if dtype.kind != "c" and all(0 not in shape for shape in sample.shapes)
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("op", "sample", "dtype"), CASES)
def test_it_is_the_numpy_result(
    op: type[Op], sample: Sample, dtype: DType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "MANY", 1)
    monkeypatch.setattr(kernels, "MUCH", 0)
    monkeypatch.setattr(kernels, "SOME", 1)
    runner = kernels.Runner(op)
    arrays = operands(sample, dtype)
    kernel = runner.check_once(arrays, sample.attributes)
    specs = [spec_of_array(x) for x in arrays]
    results = op.inferred(specs, op.complete(sample.attributes))
    is_complex = any(spec.dtype.kind == "c" for spec in results)
    is_one = len(results) == 1 or op.COMPILED_FIXED
    if not is_one or is_complex or 0 in (spec.size for spec in results):
        assert kernel is None
        return
    if dtype in (f32, f64) and "f" not in op.COMPILED_KINDS and op.name != "gv.pow":
        assert kernel is None
        return
    assert kernel is not None
    made = kernel(*arrays)
    wanted = op.evaluate(*arrays, **op.complete(sample.attributes))
    found_ones = made if isinstance(made, tuple) else (made,)
    for found, expected in zip(found_ones, map(np.asarray, wanted), strict=True):
        assert_alike(found, expected, dtype)


def assert_alike(found: Any, expected: Any, dtype: DType) -> None:
    """Compare what a kernel gives with what numpy does."""
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    if dtype in TOLERANCE and expected.dtype.kind not in "biu":
        wide = expected.astype(np.float64)
        most = float(np.max(np.abs(wide), initial=1.0, where=np.isfinite(wide)))
        near = TOLERANCE.get(dtype, 1e-5)
        np.testing.assert_allclose(found.astype(np.float64), wide, rtol=near, atol=near * most)
    else:
        np.testing.assert_array_equal(found, expected)


def test_shapes_that_differ_in_sizes_have_one_kernel() -> None:
    softmax = REGISTRY["gv.softmax"]
    first = single.whole(softmax, [TensorSpec(f32, (600, 500))], {"axis": 1})
    assert single.whole(softmax, [TensorSpec(f32, (900, 300))], {"axis": 1}) is first
    assert single.whole(softmax, [TensorSpec(f32, (1, 300))], {"axis": 1}) is not first


def test_sizes_that_are_compared_are_numbers() -> None:
    select = REGISTRY["gv.select"]
    specs = [TensorSpec(bool_, (3, 5)), TensorSpec(f32, (3, 1)), TensorSpec(f32, (5,))]
    made = single.whole(select, specs, {})
    condition = np.arange(15).reshape(3, 5) % 2 == 0
    x, y = np.ones((3, 1), np.float32), np.arange(5, dtype=np.float32)
    np.testing.assert_array_equal(made(condition, x, y), np.where(condition, x, y))


def test_sizes_are_bounded_by_powers_of_two() -> None:
    (opened,), ranges = single._opened([TensorSpec(f32, (1000, 1, 1024, 3))])
    assert [str(dim) for dim in opened.dims] == ["N2", "1", "N1", "N0"]
    assert dict(ranges) == {"N0": (1, 16), "N1": (1, 1024), "N2": (1, 1024)}


def test_many_elements_of_any_layout_are_compiled() -> None:
    x = np.random.default_rng(0).standard_normal((600, 500)).astype(np.float32)
    for array in (x, x.T, x[::-1], x[:, ::2]):
        wide = array.astype(np.float64)
        expected = np.exp(wide - wide.max(1, keepdims=True))
        expected /= expected.sum(1, keepdims=True)
        found = tf.nn.softmax(array, axis=1).numpy()
        np.testing.assert_allclose(found, expected, rtol=1e-5)
        np.testing.assert_array_equal(tf.reduce_max(array, axis=0).numpy(), array.max(0))


def test_convolutions_are_compiled_for_their_sizes_where_there_is_much_to_multiply() -> None:
    conv = REGISTRY["gv.conv"]
    attributes = {
        "strides": (1, 1), "pads": ((1, 1), (1, 1)), "dilations": (1, 1), "groups": 1,
        "channels_last": True,
    }  # fmt: skip
    runner = kernels.Runner(conv)
    w = np.ones((8, 8, 3, 3), np.float32)
    little, much = (np.ones((1, side, side, 8), np.float32) for side in (8, 40))
    assert runner.check_once([little, w], attributes) is None
    kernel = runner.check_once([much, w], attributes)
    assert kernel is not None
    np.testing.assert_array_equal(kernel(much, w), conv.evaluate(much, w, **attributes)[0])
    assert runner.check_once([much[:, 1:], w], attributes) is not kernel


def test_all_single_operations_share_what_does_not_depend_on_them(monkeypatch, tmp_path):
    texts, emit = [], functions.emit_support

    def noted(model):
        texts.append(emit(model))
        return texts[-1]

    monkeypatch.setattr(functions, "emit_support", noted)
    monkeypatch.setenv("GRAVURE_CACHE", str(tmp_path))
    x = np.ones(3, np.float32)
    single._compiled.cache_clear()
    single.near(REGISTRY["gv.exp"], f32, {})(x)
    single.in_a_row(
        lambda emit, y: emit(REGISTRY["gv.log"], y), [TensorSpec(f32, (parse("N"),))], 64
    )(x)
    assert len(texts) == 2
    assert len({*texts}) == 1


def test_channels_that_are_last_keep_their_number():
    """Vectors lie along channels: with an open number of them, each pixel is one by itself."""
    spec = TensorSpec(f32, (4, 6, 6, 8))
    (opened,), ranges = single._opened([spec], 1)
    assert opened.dims[3] == 8
    assert {name for name, _ in ranges} == {str(n) for n in opened.dims[:3]}
