"""Few floats of 16 bits are put together by loops of wider ones, and rounded as evaluated."""

import numpy as np
import pytest

from gravure import tf
from gravure.frontend.eager import compiled_notes
from gravure.frontend.eager.kernels import OFTEN
from gravure.frontend.eager.remembered import remembered
from gravure.frontend.tf.ops import gathering
from gravure.ir.ops import sort
from gravure.ir.ops.pool import AvgPool, SumPool
from gravure.ir.ops.scatter import Scatter, ScatterNd
from gravure.ir.ops.sort import TopK
from gravure.ir.types.numerics import round_to
from gravure.ir.types.tensor import spec_of_array

HALVES = ["float16", "bfloat16"]
ENOUGH = OFTEN + 30
"""So many calls have what is compiled for few elements compiled."""


def numbers(dtype, *shape):
    """Return numbers of a type, some of which are none, without end, or zeros of both signs."""
    x = np.random.default_rng(3).standard_normal(shape) * 40
    x.ravel()[[0, 5, 9, 20]] = np.nan, np.inf, -0.0, 60000.0
    return np.asarray(tf.constant(x, dtype))


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "prod"])
def test_segments_in_order(dtype, name, monkeypatch):
    x, ids = numbers(dtype, 40, 7), np.sort(np.random.default_rng(0).integers(0, 12, 40))
    how = {"sum": "add", "mean": "add", "prod": "mul"}.get(name, name)
    least = {"add": 0.0, "mul": 1.0, "max": -np.inf, "min": np.inf}[how]
    count = int(ids[-1]) + 1
    start = np.full((count, 7), least).astype(x.dtype)
    sizes = np.bincount(ids)[:, None]
    if name in ("max", "min"):
        start[sizes[:, 0] == 0] = 0
    with np.errstate(all="ignore"):
        (wanted,) = ScatterNd.evaluate(start, ids[:, None], x, reduction=how)
        if name == "mean":
            shares = wanted.astype(np.float32) / np.maximum(sizes, 1).astype(np.float32)
            wanted = round_to(shares, spec_of_array(x).dtype)
    function, given = getattr(tf.math, f"segment_{name}"), (tf.constant(x), tf.constant(ids))
    made = [function(*given).numpy().tobytes() for _ in range(ENOUGH)]
    assert {*made} == {wanted.tobytes()}
    monkeypatch.setattr(gathering, "_in_order_at_once", None)
    function(*given)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("name", ["sum", "max", "min", "prod"])
def test_segments_in_any_order(dtype, name, monkeypatch):
    x, ids = numbers(dtype, 40, 7), np.random.default_rng(0).integers(0, 9, 40)
    ids[:9] = range(9)
    how = {"sum": "add", "prod": "mul"}.get(name, name)
    least = {"add": 0.0, "mul": 1.0, "max": -np.inf, "min": np.inf}[how]
    start = np.full((9, 7), least).astype(x.dtype)
    with np.errstate(all="ignore"):
        (wanted,) = ScatterNd.evaluate(start, ids[:, None], x, reduction=how)
    function = getattr(tf.math, f"unsorted_segment_{name}")
    given = tf.constant(x), tf.constant(ids), 9
    made = [function(*given).numpy().tobytes() for _ in range(ENOUGH)]
    assert {*made} == {wanted.tobytes()}
    monkeypatch.setattr(Scatter, "write", None)
    assert function(*given).numpy().tobytes() == wanted.tobytes()


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_means_of_windows(dtype, padding, monkeypatch):
    x = numbers(dtype, 2, 7, 9, 3)
    pads = ((0, 1), (0, 0)) if padding == "SAME" else ((0, 0), (0, 0))
    with np.errstate(all="ignore"):
        (wanted,) = AvgPool.evaluate(
            x, window=(2, 3), strides=(2, 3), pads=pads, dilations=(1, 1), channels_last=True,
            count_padding=False,
        )  # fmt: skip
    monkeypatch.setattr(SumPool, "evaluate", None)
    for _ in range(4):
        found = tf.nn.avg_pool2d(x, (2, 3), (2, 3), padding).numpy()
        assert (found.dtype, found.tobytes()) == (x.dtype, wanted.tobytes())


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("shape", [(1,), (3, 5), (4, 100), (2, 3, 33)])
@pytest.mark.parametrize("k", [0, 1, 4])
def test_the_best_of_few(dtype, shape, k, monkeypatch):
    x = np.array(tf.constant(np.random.default_rng(0).integers(-9, 9, shape) / 4, dtype))
    if shape[-1] > 20:
        x[..., [3, 7]], x[..., 9], x[..., 5] = np.nan, -np.inf, -0.0
    k, y = min(k, shape[-1]), tf.constant(x)
    wanted = TopK.evaluate(x, k=k, axis=len(shape) - 1, largest=True, sorted=True)
    bits = tuple(each.tobytes() for each in (wanted[0], wanted[1].astype(np.int32)))
    made = {tuple(z.numpy().tobytes() for z in tf.math.top_k(y, k)) for _ in range(ENOUGH)}
    assert made == {bits}
    if k:
        monkeypatch.setattr(sort, "first_of", None)
        tf.math.top_k(y, k)


COMPOSED = {
    "lgamma": tf.math.lgamma,
    "digamma": tf.math.digamma,
    "summed": lambda x: tf.sin(x) * x + tf.exp(x) / 3.0,
    "rounded between": lambda x: (x * 3.0 + 0.1) / 7.0 - x,
    "chosen": lambda x: tf.where(x > 1, tf.exp(x), tf.cast(tf.cast(x, "float32") / 3, x.dtype)),
}


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("function", COMPOSED.values(), ids=COMPOSED)
def test_steps_that_are_computed_often_are_one_kernel_of_the_same_bits(
    dtype, function, monkeypatch
):
    kernels = []
    whole = compiled_notes._kernel

    def counted(noted):
        kernels.append(noted)
        return whole(noted)

    monkeypatch.setattr(compiled_notes, "_kernel", counted)
    monkeypatch.setattr(compiled_notes, "ROWS", {})
    step = remembered(function)
    every = np.arange(1 << 16, dtype=np.uint16).view(numbers(dtype, 30).dtype)
    few = [tf.constant(every[start::4096]) for start in (0, 5, 4000)]
    before = [step(x).numpy() for x in few]
    for _ in range(compiled_notes.OFTEN):
        step(few[0])
    assert kernels
    for x, wanted in zip(few, before, strict=True):
        found = step(x).numpy()
        is_none = np.isnan(wanted.astype("float32"))
        np.testing.assert_array_equal(np.isnan(found.astype("float32")), is_none)
        bits = [y[~is_none].view(np.uint16).tolist() for y in (found, wanted)]
        assert bits[0] == bits[1]
