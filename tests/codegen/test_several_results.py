"""Contractions make several results at a time, which share what is read."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from xdsl.dialects import scf

from gravure.codegen.kernels import lower
from gravure.ir import parse
from gravure.ir.program import functions
from gravure.target import Target

sys.path.insert(0, str(Path(__file__).parent))
from kernel_cases import check_kernel


def filters_gradient(window: tuple[int, int], channels: int, dtype: str = "f32") -> str:
    """Return a kernel of rows of the gradient of filters, one for each channel."""
    high, wide = window
    x, grad = f"2x{high + 2}x{wide + 7}x{channels}x{dtype}", f"2x3x8x{channels}x{dtype}"
    made = f"2x3x{high}x{wide}x{channels}x{dtype}"
    return f"""
func.func private @k(%x: tensor<{x}>, %g: tensor<{grad}>) -> tensor<{made}>
    attributes {{gv.kind = "contract"}} {{
  %y = gv.conv_weights_rows %x, %g {{
    window = array<i64: {high}, {wide}>, strides = array<i64: 1, 1>,
    dilations = array<i64: 1, 1>, pads = [array<i64: 0, 0>, array<i64: 0, 0>]
  }} : (tensor<{x}>, tensor<{grad}>) -> tensor<{made}>
  func.return %y : tensor<{made}>
}}"""


@pytest.mark.parametrize("target", ["x86-64-v3", "x86-64-v4"])
@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("window", [(3, 3), (2, 5), (7, 2)])
@pytest.mark.parametrize("channels", [1, 3, 8, 24, 40])
def test_gradients_of_filters(
    window: tuple[int, int], channels: int, dtype: str, target: str
) -> None:
    check_kernel(filters_gradient(window, channels, dtype), target=target)


@pytest.mark.parametrize(
    ("window", "channels", "target", "count"),
    [
        ((3, 3), 8, "x86-64-v4", 9),
        ((3, 3), 32, "x86-64-v4", 18),
        ((3, 3), 8, "x86-64-v3", 9),
        ((5, 5), 8, "x86-64-v4", 25),
        ((3, 3), 7, "x86-64-v4", 1),  # masks: what several results need is read for each
    ],
)
def test_taps_whose_results_fit_the_registers_are_added_up_at_a_time(
    window: tuple[int, int], channels: int, target: str, count: int
) -> None:
    (function,) = functions(parse(filters_gradient(window, channels)))
    loops = lower(function, Target.parse(target))
    carried = [len(op.iter_args) for op in loops.walk() if isinstance(op, scf.ForOp)]
    assert max(carried) == count
