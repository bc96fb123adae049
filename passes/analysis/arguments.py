"""Make arguments for the functions of a program, the same for the same seed.

Integers are small and not negative, so that they serve as indices; symbols get a size from
their range.
"""

from __future__ import annotations

from collections.abc import Mapping
from zlib import crc32

import numpy as np
from xdsl.dialects.func import FuncOp

from ...ir import Array, TensorSpec
from ...ir.program import argument_names, argument_specs
from ...ir.types import dims
from ...ir.types.dims import Range

KINDS = ("random", "special")
_SPECIAL = (0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-40, 1e20, 0.5, -2.0)


def make_arguments(
    function: FuncOp, ranges: Mapping[str, Range], *, kind: str = "random", seed: int = 0
) -> list[Array]:
    """Return one array for each argument; `special` ones hold infinities and the like."""
    specs = argument_specs(function)
    sizes = choose_sizes(specs, ranges)
    rows = zip(argument_names(function), specs, strict=True)
    return [make_array(spec, sizes, name, kind=kind, seed=seed) for name, spec in rows]


def choose_sizes(specs: list[TensorSpec], ranges: Mapping[str, Range]) -> dict[str, int]:
    """Return a small size for each symbol, within its range."""
    names = sorted({s for spec in specs for dim in spec.shape or () for s in dims.symbols(dim)})
    sizes = {}
    for number, name in enumerate(names):
        low, high = ranges.get(name, (1, None))
        wanted = max(low, 3 + number)
        sizes[name] = wanted if high is None else min(wanted, high)
    return sizes


def make_array(
    spec: TensorSpec, sizes: Mapping[str, int], name: str, *, kind: str = "random", seed: int = 0
) -> Array:
    """Return an array of this spec, made from its name and the seed."""
    shape = tuple(dims.evaluate(dim, sizes) for dim in spec.dims)
    random = np.random.default_rng([seed, crc32(name.encode())])
    count = int(np.prod(shape, dtype=np.int64))
    values: Array
    if spec.dtype.kind == "b" or spec.dtype.is_integer:
        values = random.integers(0, 2 if spec.dtype.kind == "b" else 4, count)
    elif kind == "special":
        values = np.roll(np.resize(_SPECIAL, count), int(random.integers(len(_SPECIAL))))
    else:
        values = random.standard_normal(count)
    with np.errstate(over="ignore", invalid="ignore"):
        return values.astype(spec.dtype.numpy).reshape(shape)
