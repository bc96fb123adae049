"""Print how far Winograd's tiles are from the exact convolution, beside the direct kernel.

    python -m gravure.tools.accuracy.winograd_errors [CHANNELS ...]

A 3x3 convolution of normal numbers, with weights of variance 1 / (9 channels), is compiled by the
direct kernel and by tiles of 2x2 and of 4x4 results, for windows that move by 1 and by 2. Errors
are against the same in double: the greatest over the greatest result, and the mean over the mean;
`-` where the tiles do not pay and are not taken.
"""

from __future__ import annotations

import sys

import numpy as np

from ...codegen.compiled import Options
from ...frontend.programs.compile import compile as compile_model
from ...ir import Array, Program
from ...ir.op import REGISTRY
from ...ir.text import parse
from ...passes.pipelines import pipeline_of
from ..console import table

CHANNELS = (16, 32, 64, 128, 256, 512, 1024, 2048)
SIZE = 56
"""Pixels along an axis: so many that tiles pay with any number of channels."""
FILTERS = 64
FORMS = {"direct": 0, "F(2x2,3x3)": 2, "F(4x4,3x3)": 4}
"""The largest tiles that are allowed; 0: none."""


def main() -> int:
    """Print the table."""
    rows = [
        ["stride", "channels", *(f"{form} {kind}" for form in FORMS for kind in ("max", "mean"))]
    ]
    for stride in (1, 2):
        for channels in [int(word) for word in sys.argv[1:]] or CHANNELS:
            row = [str(stride), str(channels)]
            for found in errors(channels, stride).values():
                row += [f"{error:.1e}" for error in found] if found else ["-", "-"]
            rows.append(row)
    print(table(rows, right="01234567"))
    return 0


def errors(channels: int, stride: int) -> dict[str, tuple[float, float] | None]:
    """Return the greatest and the mean error of each form."""
    random = np.random.default_rng(0)
    x = random.standard_normal((1, SIZE, SIZE, channels)).astype(np.float32)
    w = random.standard_normal((FILTERS, channels, 3, 3)) / np.sqrt(9 * channels)
    w = w.astype(np.float32)
    flags = {"pads": ((1, 1), (1, 1)), "dilations": (1, 1), "groups": 1, "channels_last": True}
    wide = (x.astype(np.float64), w.astype(np.float64))
    (exact,) = REGISTRY["gv.conv"].evaluate(*wide, strides=(stride, stride), **flags)
    made: dict[str, tuple[float, float] | None] = dict.fromkeys(FORMS)
    for form, largest in FORMS.items():
        found = convolved(x, w, stride, largest)
        if found is not None:
            apart = abs(found - exact)
            made[form] = apart.max() / abs(exact).max(), apart.mean() / abs(exact).mean()
    return made


def convolved(x: Array, w: Array, stride: int, largest: int) -> Array | None:
    """Return the convolution by the compiled kernel with such tiles, if it has them."""
    result = (1, *(-(-size // stride) for size in x.shape[1:3]), FILTERS)
    image, weight, out = (
        f"tensor<{'x'.join(map(str, shape))}xf32>" for shape in (x.shape, w.shape, result)
    )
    shape = ", ".join(map(str, w.shape))
    text = (
        f"func.func @main(%x: {image}) -> {out} {{\n  %w = gv.weight {{dtype = #gv.dtype<f32>,"
        f" shape = array<i64: {shape}>, weight = @w}} : () -> {weight}\n"
        "  %y = gv.conv %x, %w {channels_last = true, dilations = array<i64: 1, 1>, pads ="
        f" [array<i64: 1, 1>, array<i64: 1, 1>], strides = array<i64: {stride}, {stride}>}} :"
        f" ({image}, {weight}) -> {out}\n  func.return %y : {out}\n}}\n"
    )
    passes = pipeline_of("O2").replace("winograd", f"winograd{{channels=16 largest={largest}}}")
    model = compile_model(
        Program(parse(text), {"w": w}), options=Options(passes=passes, cache=False)
    )
    program = model.compiled.program
    assert program is not None, "what is compiled now has its program"
    tile = f"tile = {largest} " if largest else "gv.conv_packed"
    if tile not in str(program.module):
        return None
    found: Array = model.run([x])[0]
    return found


if __name__ == "__main__":
    sys.exit(main())
