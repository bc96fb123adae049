"""The kernel of Fourier transforms of rows, and what eager code does with it."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from kernel_cases import check_kernel

from gravure.frontend.eager.fourier import is_compiled, transformed, transformed_half
from gravure.ir import interpret, parse
from gravure.ir.ops.fourier import turns
from gravure.ir.program import functions
from gravure.ir.types.dtypes import DType, f32, f64

RANDOM = np.random.default_rng(11)


def kernel(rows: int | str, count: int, how: str = "", dtype: DType = f32) -> str:
    """Return the kernel function of so many rows."""
    named = isinstance(rows, str)
    shown = "?" if named else rows
    half = "half" in how
    x, made = (f"tensor<{shown}x{count + more}x2x{dtype}" for more in (0, half))
    if named:
        x, made = (
            f'{each}, #gv.dims<"{rows}, {count + more}, 2">'
            for each, more in ((x, 0), (made, half))
        )
    x, made = x + ">", made + ">"
    table = f"tensor<{len(turns(count, half=half))}x2x{dtype}>"
    known = f'gv.symbols = ["{rows}"], ' if named else ""
    words = [f"{word} = true" if "=" not in word else word for word in how.split(", ") if how]
    flags = f" {{{', '.join(words)}}}" if words else ""
    return (
        f"func.func @k(%x: {x}, %t: {table}) -> {made}"
        f' attributes {{{known}gv.kind = "fourier"}} {{\n'
        f"  %r = gv.fourier %x, %t{flags} : ({x}, {table}) -> {made}\n"
        f"  func.return %r : {made}\n}}"
    )


@pytest.mark.parametrize("how", ["", "inverse", "half"])
@pytest.mark.parametrize("count", [2, 5, 12, 30])
def test_rows_are_transformed_a_lane_each(count: int, how: str) -> None:
    for dtype, rtol in ((f32, 2e-6), (f64, 1e-14)):
        for rows in (1, 21):
            x = RANDOM.standard_normal((rows, count, 2)).astype(dtype.numpy)
            table = turns(count, inverse=how == "inverse", half=how == "half")
            text, table = kernel(rows, count, how, dtype), table.astype(dtype.numpy)
            check_kernel(text, [x, table], rtol=rtol * count)


@pytest.mark.parametrize("how", ["parts = 12 : i64", "inverse, parts = 7 : i64"])
@pytest.mark.parametrize("count", [2, 12])
def test_what_comes_out_is_divided(count: int, how: str) -> None:
    x = RANDOM.standard_normal((21, count, 2)).astype(np.float32)
    table = turns(count, inverse="inverse" in how).astype(np.float32)
    check_kernel(kernel(21, count, how), [x, table], rtol=2e-6 * count)
    (function,) = functions(parse(kernel(21, count, how)))
    (found,) = interpret(function, [x, table])
    transform = np.fft.ifft if "inverse" in how else np.fft.fft
    wanted = transform(x @ [1, 1j]) * (count / 7 if "inverse" in how else 1 / 12)
    np.testing.assert_allclose(found @ [1, 1j], wanted, atol=1e-5)


@pytest.mark.parametrize("rows", [7, 40])
def test_how_many_rows_there_are_may_be_known_in_the_run_only(rows: int) -> None:
    x = RANDOM.standard_normal((rows, 20, 2)).astype(np.float32)
    for how in ("", "half"):
        table = turns(20, half=how == "half").astype(np.float32)
        check_kernel(kernel("N", 20, how), [x, table], symbols={"N": rows}, rtol=2e-5)


@pytest.mark.parametrize("shape", [(2, 33, 360), (100, 250), (20, 1024), (17, 482), (1, 8192)])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_many_rows_have_numpys_transform(shape: tuple[int, ...], kind: type) -> None:
    x, y = (RANDOM.standard_normal(shape).astype(kind) for _ in range(2))
    bound = 2e-6 if kind is np.float32 else 1e-14
    scale = bound * np.sqrt(shape[-1]) * 4
    both = x + 1j * y
    for found, wanted in (
        (transformed(both), np.fft.fft(both)),
        (transformed(both, inverse=True) * shape[-1], np.fft.ifft(both) * shape[-1]),
        (transformed_half(x), np.fft.rfft(x)),
    ):
        assert found.dtype == both.dtype
        np.testing.assert_allclose(found, wanted, atol=scale, rtol=0)
    assert is_compiled(shape, shape[-1]) == (shape not in ((17, 482), (1, 8192)))
