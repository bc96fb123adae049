"""`tf.experimental.numpy` where numpy's rules and TensorFlow's part: values recorded from it."""

from typing import Any

import numpy as np
import pytest

import gravure.tf as tf

tnp = tf.experimental.numpy
DIAGONAL = np.ones([3, 3], np.float32)
CUBE = np.arange(24.0).reshape(2, 3, 4)
RECORDED = [
    (lambda: tnp.arange(-3), "int64", []),
    (lambda: tnp.arange(0.0, -1.0), "float64", []),
    (lambda: tnp.arange(0.5, dtype=int), "int64", [0]),
    (lambda: tnp.sum(np.ones([2, 3]), tf.constant(1.0)), "float64", [3, 3]),
    (lambda: tnp.arange(3, 0, -1), "int64", [3, 2, 1]),
    (lambda: tnp.ascontiguousarray(1), "int64", [1]),
    (lambda: tnp.diag(DIAGONAL, k=-3), "float32", []),
    (lambda: tnp.diag(DIAGONAL, k=2), "float32", [1]),
    (lambda: tnp.diagonal(DIAGONAL, offset=5), "float32", []),
    (lambda: tnp.ix_([True, True])[0], "int64", [0, 1]),
    (lambda: tnp.ix_([False, True], [1, 2])[0], "int64", [[1]]),
    (lambda: tnp.amax([1, 2], out=None), "int64", 2),
    (lambda: tnp.mean([1, 2], None, None, None, True), "float64", [1.5]),
    (lambda: tnp.argmax(3, axis=-1), "int64", 0),
    (lambda: tnp.argsort(3), "int64", [0]),
    (lambda: tnp.linspace(tf.constant(0.0, tf.float64), tf.constant(2.0), 3), "float64", [0, 1, 2]),
    (lambda: tnp.linspace(0, 10, 3, dtype=np.float32), "float64", [0, 5, 10]),
    (
        lambda: tnp.linspace(np.float32([0, 2]), np.float32(4), 3),
        "float32",
        [[0, 2], [2, 3], [4, 4]],
    ),
    (lambda: tnp.linspace([0.0], np.ones([2, 1]), 0, axis=1), "float64", np.zeros([2, 0, 1])),
    (lambda: tnp.logspace(0, 2, 3, dtype=np.float32), "float64", [1, 10, 100]),
    (lambda: tnp.geomspace(1.0, 8.0, 3, endpoint=False, dtype=np.float32), "float32", [1, 2, 4]),
    (lambda: tnp.trace(CUBE), "float64", [16, 18, 20, 22]),
    (lambda: tnp.trace(CUBE, -1, 1, 2), "float64", [13, 37]),
    (lambda: tnp.trace(CUBE, 1, -2, -1, np.int32), "int32", [18, 54]),
    (lambda: tnp.trace(CUBE, 5), "float64", [0, 0, 0, 0]),
    (lambda: tnp.diag(np.ones([0]), -2), "float64", np.zeros([2, 2])),
    (lambda: tnp.diag(np.ones([0, 4]), -1), "float64", []),
    (lambda: tnp.cross([[1, 2], [3, 4]], [[5, 6], [7, 9]]), "int64", [-4, -1]),
    (lambda: tnp.cross([1.0, 2.0], [3, 4, 5]), "float64", [10, -5, -2]),
    (lambda: tnp.cross([[1], [2], [3]], [[4], [5], [7]], axis=0), "int64", [[-1], [5], [-3]]),
    (lambda: tnp.cross([[1], [2], [3]], [[4, 5, 7]], 0, 1, 0), "int64", [[-1], [5], [-3]]),
    (lambda: tnp.sum([1, 2, 0], dtype=bool), "bool", True),
    (lambda: tnp.array(tf.constant(1.5), float, ndmin=1), "float64", [1.5]),
    (lambda: tnp.cumsum(tf.constant([1, 2]), dtype=int), "int64", [1, 3]),
    (lambda: tnp.var([1, 2, 3], dtype=np.float32), "float32", 2 / 3),
    (lambda: tnp.nansum([1.0, np.nan], dtype=np.float32), "float32", 1),
    (lambda: tnp.nanprod([[2.0, np.nan]], 0, np.int32), "int32", [2, 1]),
    (lambda: tnp.max([True, False]), "bool", True),
    (lambda: tnp.amin([[True, False]], 1), "bool", [False]),
    (lambda: tnp.ptp([[1, 5], [2, 9]], 1, True), "int64", [[4], [7]]),
    (lambda: tnp.prod([1, 2, 0], dtype=bool), "bool", False),
    (lambda: tnp.sum(np.ones([2, 2]), axis=np.array(0.0)), "float64", [2, 2]),
    (lambda: tnp.nonzero(np.float32(3))[0], "int64", [0]),
    (lambda: tnp.where(0.0)[0], "int64", []),
    (lambda: tnp.flatten([[1, 2], [3, 4]], "A"), "int64", [1, 2, 3, 4]),
    (lambda: tnp.zeros([2], dtype=str), "string", [b"", b""]),
    (lambda: tnp.geomspace([1.0, 2.0], [4.0, 32.0], 3), "float64", [[1, 2], [2, 8], [4, 32]]),
    (lambda: tnp.geomspace([1.0], [4.0], 3, axis=-1), "float64", [[1, 2, 4]]),
    (lambda: tnp.zeros_like(tnp.array([b"a", "b"])), "string", [b"", b""]),
    (lambda: tnp.ravel([[1, 2], [3, 4]], order="F"), "int64", [1, 3, 2, 4]),
]


@pytest.mark.parametrize("case", RECORDED, ids=range(len(RECORDED)))
def test_recorded(case: Any) -> None:
    function, dtype, values = case
    found = function()
    assert found.dtype.name == dtype
    if found.dtype == tf.string:
        assert found.numpy().tolist() == values
    else:
        np.testing.assert_allclose(
            found.numpy(), values, rtol=1e-7 if dtype == "float32" else 1e-12
        )
        assert found.shape == np.shape(values)


@pytest.mark.parametrize(
    "name", ["amax", "amin", "max", "min", "mean", "sum", "prod", "var", "std"]
)
def test_out_is_refused_by_name(name: str) -> None:
    with pytest.raises(ValueError, match="Setting out is not supported"):
        getattr(tnp, name)([1.0, 2.0], out=np.zeros([]))


def test_refusals_in_numpys_words() -> None:
    with pytest.raises(ValueError, match="step must be non-zero"):
        tnp.arange(5, 5, 0)
    with pytest.raises(ValueError, match="Only integers are supported"):
        tnp.random.seed((3, 4))
    with pytest.raises(ValueError, match="two or three elements"):
        tnp.cross(np.ones([4]), np.ones([4]))
    assert tnp.meshgrid() == []
    assert tnp.result_type(1, 2.0) is tf.float64


def test_draws_of_poisson() -> None:
    tnp.random.seed(3)
    drawn = tnp.random.poisson(4.0, [2000])
    assert drawn.dtype == tf.int64
    assert 3.8 < np.mean(drawn.numpy()) < 4.2
    assert tnp.random.poisson(4.0).shape == ()
