"""Winograd's form of a convolution gives what the direct sum gives."""

from __future__ import annotations

import numpy as np
import pytest

from gravure.ir import EagerEmit, spec
from gravure.ir.facts import Work
from gravure.ir.op import REGISTRY
from gravure.ir.ops.laid_out.winograd import form_of, transform_weights
from gravure.ir.types.dtypes import f32
from gravure.ir.types.tensor import spec_of_array


@pytest.mark.parametrize("pads", [((1, 1), (1, 1)), ((0, 2), (3, 0)), ((0, 0), (0, 0))])
@pytest.mark.parametrize(("tile", "stride"), [(2, 1), (3, 1), (4, 1), (2, 2), (3, 2), (4, 2)])
@pytest.mark.parametrize("columns", [8, 5])
def test_the_tiles_are_the_convolution(
    pads: tuple[tuple[int, int], ...], tile: int, stride: int, columns: int
) -> None:
    random = np.random.default_rng(0)
    x = random.standard_normal((2, 7, 10, 3))
    w = random.standard_normal((columns, 3, 3, 3))
    form = form_of(tile, stride)
    panels = np.asarray(transform_weights(EagerEmit(), w, spec_of_array(w), 4, form))
    flags = {"dilations": (1, 1), "groups": 1, "channels_last": True}
    conv, tiled = REGISTRY["gv.conv"], REGISTRY["gv.winograd_packed"]
    (wanted,) = conv.evaluate(x, w, pads=pads, strides=(stride, stride), **flags)
    (found,) = tiled.evaluate(x, panels, columns=columns, pads=pads, tile=tile, stride=stride)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("tile", "stride"), [(1, 1), (5, 1), (6, 2), (4, 3)])
def test_other_tiles_are_refused(tile: int, stride: int) -> None:
    with pytest.raises(ValueError, match=f"tiles of {tile} .* move by {stride}"):
        form_of(tile, stride)


def test_images_of_three_axes_are_refused_and_so_are_panels_of_another_tile() -> None:
    op = REGISTRY["gv.winograd_packed"]
    kept = {"columns": 8, "pads": ((1, 1), (1, 1)), "tile": 2, "stride": 1}
    panels, image = spec(f32, 2, 16, 3, 4), spec(f32, 1, 6, 6, 3)
    assert op.infer(image, panels, **kept)[0].dims == (1, 6, 6, 8)
    for x, w in (
        (spec(f32, 6, 6, 3), panels),
        (image, spec(f32, 2, 16, 12)),
        (image, spec(f32, 2, 36, 3, 4)),
    ):
        with pytest.raises(TypeError, match=r"expected \[N, H, W, C\], \[P, 16, C, width\]"):
            op.infer(x, w, **kept)


def test_the_work_is_a_product_for_each_place_of_each_tile_channel_and_filter() -> None:
    operands = spec(f32, 2, 7, 10, 3), spec(f32, 2, 16, 3, 4)
    work = REGISTRY["gv.winograd_packed"].work(operands, [spec(f32, 2, 7, 10, 8)], tile=2, stride=1)
    assert work == Work.products(2 * 4 * 5 * 16 * 8 * 3)
