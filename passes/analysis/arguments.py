"""Make arguments for the functions of a program, the same for the same seed.

Integers are small and not negative, so that they serve as indices; symbols get a size from
their range. Masks (booleans) are random, so that of the other arguments every kind of number also
stands where a mask hides it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from zlib import crc32

import ml_dtypes
import numpy as np
from xdsl.dialects.func import FuncOp

from ...ir import Array, DType, TensorSpec
from ...ir.program import argument_names, argument_specs
from ...ir.types import dims
from ...ir.types.dims import Range
from ...requirements import Within

KINDS = ("random", "special")
"""What arguments are made of where that is done for every pass and test."""

ALL_KINDS = (*KINDS, "edge", "nan", "infinite", "zeros")
"""Normal numbers; few of all sorts; all edges of the type, among them the largest and the smallest
numbers; normal ones with a few NaN, or infinities; zeros of both signs with denormal numbers."""

FOR_EXACT = frozenset(("special", "edge", "infinite", "zeros"))
"""Those whose sums leave the finite numbers in one order and not in another, or whose results have
no size that an error could be relative to."""

SIZES = ("usual", "least", "odd")
"""How large dimensions are that are open: a few, the fewest, and more than vectors have lanes."""

_SPECIAL = (0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-40, 1e20, 0.5, -2.0)
_SPARSE: dict[str, tuple[float, ...]] = {"nan": (np.nan,), "infinite": (np.inf, -np.inf)}


def make_arguments(
    function: FuncOp,
    ranges: Mapping[str, Range],
    *,
    kind: str = "random",
    seed: int = 0,
    sizes: Mapping[str, int] | None = None,
    within: Mapping[int, Within] | None = None,
) -> list[Array]:
    """Return one array for each argument, of one of `ALL_KINDS`, with integers in these ranges."""
    specs = argument_specs(function)
    sizes = choose_sizes(specs, ranges) if sizes is None else sizes
    rows, known = zip(argument_names(function), specs, strict=True), within or {}
    return [
        make_array(spec, sizes, name, kind=kind, seed=seed, within=known.get(at, ()))
        for at, (name, spec) in enumerate(rows)
    ]


def choose_sizes(
    specs: list[TensorSpec], ranges: Mapping[str, Range], how: str = "usual"
) -> dict[str, int]:
    """Return a size for each symbol, within its range: one of `SIZES`."""
    names = sorted({s for spec in specs for dim in spec.shape or () for s in dims.symbols(dim)})
    sizes = {}
    for number, name in enumerate(names):
        low, high = ranges.get(name, (1, None))
        wanted = max(low, {"usual": 3 + number, "least": low, "odd": 17 + 2 * number}[how])
        sizes[name] = wanted if high is None else min(wanted, high)
    return sizes


def make_array(
    spec: TensorSpec,
    sizes: Mapping[str, int],
    name: str,
    *,
    kind: str = "random",
    seed: int = 0,
    within: Within = (),
) -> Array:
    """Return an array of this spec, made from its name and the seed.

    Integers are in all ranges that are given.
    """
    shape = tuple(dims.evaluate(dim, sizes) for dim in spec.dims)
    random = np.random.default_rng([seed, crc32(name.encode())])
    count = int(np.prod(shape, dtype=np.int64))
    values: Array
    if spec.dtype.kind == "b" or spec.dtype.is_integer:
        ranges = [[dims.evaluate(dims.parse(str(x)), sizes) for x in each] for each in within]
        low = max([0, *(each[0] for each in ranges)])
        high = min([2 if spec.dtype.kind == "b" else 4, *(each[1] for each in ranges)])
        values = random.integers(low, max(high, low + 1), count)
    else:
        values = _floats(spec.dtype, count, kind, random)
    with np.errstate(over="ignore", invalid="ignore"):
        return values.astype(spec.dtype.numpy).reshape(shape)


def _floats(dtype: DType, count: int, kind: str, random: np.random.Generator) -> Array:
    """Return numbers of a kind."""
    if kind == "random":
        return random.standard_normal(count)
    if kind in _SPARSE:
        values = random.standard_normal(count)
        for number in _SPARSE[kind]:
            values[random.integers(0, max(count, 1), min(count, 1 + count // 16))] = number
        return values
    row = _SPECIAL if kind == "special" else edges(dtype)
    if kind == "zeros":
        row = tuple(x for x in row if abs(x) < SMALL)
    return np.roll(np.resize(row, count), int(random.integers(len(row))))


_INFO: Any = ml_dtypes.finfo
SMALL = 1e-30
"""What is below it are the edges around zero."""


def edges(dtype: DType) -> tuple[float, ...]:
    """Return the numbers at which functions of this type have their edges."""
    if dtype.name not in ("f16", "f32", "f64", "bf16"):
        return _SPECIAL
    info: Any = _INFO(dtype.numpy)
    tiny, least, most = (
        float(x) for x in (info.smallest_normal, info.smallest_subnormal, info.max)
    )
    plain = (0.0, 1.0, 1.0 + float(info.eps), 0.5, 2.0, 3.0, most, tiny, least, 5 * least, np.inf)
    return (*plain, *(-x for x in plain), np.nan)
