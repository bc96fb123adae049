"""Floats of 32 bits are rounded to bf16 alike by the processor's instruction and by integers."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from gravure.codegen.llvm.text.build import Shape, Text
from gravure.codegen.llvm.text.narrow_floats import float_to_bfloat
from gravure.codegen.single import in_a_row
from gravure.ir import REGISTRY
from gravure.ir.types.dims import parse
from gravure.ir.types.dtypes import bf16, f32
from gravure.ir.types.tensor import TensorSpec
from gravure.target import Target


def bits() -> np.ndarray:
    """Return floats of all upper halves, each with lower ones around what decides."""
    upper = np.arange(1 << 16, dtype=np.uint32) << 16
    lower = np.array([0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF], np.uint32)
    return (upper[:, None] | lower).view(np.float32)


@pytest.mark.parametrize("mixed", [False, True])
def test_all_kinds_of_floats_are_rounded(mixed: bool) -> None:
    """Subnormals, which the instruction takes for 0, lie side by side, or among others."""
    cast = in_a_row(
        lambda emit, x: emit(REGISTRY["gv.cast"], x, dtype=bf16),
        [TensorSpec(f32, (parse("N"),))],
        1 << 20,
    )
    x = bits().T.ravel() if mixed else bits().ravel()
    if mixed:
        x = np.random.default_rng(0).permutation(x)
    found = cast(x)
    missing = np.isnan(x)
    assert np.isnan(found[missing]).all()
    wanted = x[~missing].astype(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(found.view("u2")[~missing], wanted.view("u2"))


@pytest.mark.parametrize(
    ("target", "lanes", "there"),
    [("znver4", 16, True), ("znver4", 8, False), ("x86-64-v4", 16, False)],
)
def test_the_instruction_is_taken_where_there_is_one(target: str, lanes: int, there: bool) -> None:
    text = Text()
    float_to_bfloat(text, Target.parse(target), Shape("float", lanes), "%x")
    assert ("cvtneps2bf16" in text.body()) == there
