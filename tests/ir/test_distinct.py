"""Distinct elements and slices are numbered as numpy does it."""

from typing import Any

import numpy as np
import pytest

from gravure.ir.ops.selecting import numbered, numbered_rows

RANDOM = np.random.default_rng(0)
TYPES = ["int64", "float32", "uint8", "bool", "complex64", "object"]


def drawn(shape: tuple[int, ...], kind: str, most: int) -> Any:
    """Return few different elements, some of them no numbers."""
    x = RANDOM.integers(0, most, shape)
    if kind == "object":
        return np.array([str(each) for each in x.ravel()], object).reshape(shape)
    made = x.astype(kind)
    if made.dtype.kind in "fc":
        made.ravel()[::5] = np.nan
    return made


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("count", [0, 1, 2, 50])
def test_elements_are_numbered_in_order(kind: str, count: int) -> None:
    x = drawn((count,), kind, 9)
    wanted = np.unique(x, return_index=True, return_inverse=True, return_counts=True)[1:]
    for found, each in zip(numbered(x), wanted, strict=True):
        np.testing.assert_array_equal(found, each)


@pytest.mark.parametrize("kind", ["int64", "float32", "bool"])
@pytest.mark.parametrize("shape", [(0, 2), (1, 3), (40, 2), (40, 1, 2), (5, 0), (7, 3)])
def test_slices_are_numbered_in_order(kind: str, shape: tuple[int, ...]) -> None:
    x = drawn(shape, kind, 3)
    wanted = np.unique(x, axis=0, return_index=True, return_inverse=True, return_counts=True)[1:]
    for found, each in zip(numbered_rows(x), wanted, strict=True):
        np.testing.assert_array_equal(found, each.ravel())


@pytest.mark.parametrize("kind", ["f4", "f8", "i4", "?"])
@pytest.mark.parametrize("values", [1, 5, 30, 2000])
@pytest.mark.parametrize("size", [7, 300, 3000])
def test_distinct_elements_are_numbered_as_numpy_does(size: int, values: int, kind: str) -> None:
    """Of many elements of few values the first ones are looked at, which may lack some."""
    random = np.random.default_rng(size + values)
    x = np.floor(random.standard_normal(size) * values).astype(kind)
    if kind.startswith("f"):
        x[random.random(size) < 0.01] = np.nan
        x[random.random(size) < 0.1] = -0.0
    wanted = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
    first, inverse, counts = numbered(x)
    np.testing.assert_array_equal(x[first], wanted[0])
    for found, each in zip((first, inverse, counts), wanted[1:], strict=True):
        np.testing.assert_array_equal(found, each)
