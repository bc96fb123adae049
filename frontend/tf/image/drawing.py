"""Boxes that are drawn onto images, and parts of images that are chosen by chance for training."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ....codegen.serial.function import F32s, F64s, I64s, serial
from ....ir.op import Array
from ....ir.types import dtypes as rows
from ...graph.graph import spec_with_unknowns
from ...values.run_errors import InvalidArgumentError
from ..core.bridge import TfTensor
from ..core.host_ops import host, like_input
from ..core.values import InGraph, convert, graph_of
from ..ops.random_ops import key_of_seed, seeded_key
from ..special.words import WordsInTurn

COLOURS = np.array([
    [1, 1, 0, 1], [0, 0, 1, 1], [1, 0, 0, 1], [0, 1, 0, 1], [0.5, 0, 0.5, 1],
    [0.5, 0.5, 0, 1], [0.5, 0, 0, 1], [0, 0, 0.5, 1], [0, 1, 1, 1], [1, 0, 1, 1],
], np.float32)  # fmt: skip
"""Those of boxes where none are given, one after the other."""


def draw_bounding_boxes(
    images: object, boxes: object, colors: object, name: str | None = None
) -> TfTensor:
    """Draw the edges of boxes [image, box, (y1, x1, y2, x2)] onto images; None: ten own colours.

    What lies outside of an image is left out, and so are boxes whose ends are turned.
    """
    with InGraph(graph_of([images, boxes, colors])):
        canvas, edges = convert(images), convert(boxes, "float32")
        for x, what, rank in ((canvas, "images", 4), (edges, "boxes", 3)):
            if x.shape.rank not in (None, rank):
                raise ValueError(f"{what} has shape {x.shape}: Shape must be rank {rank}")
        more = [] if colors is None else [convert(colors, "float32")]
        row = canvas.spec.dtype
        type_ = "DrawBoundingBoxesV2" if more else "DrawBoundingBoxes"
        return host(type_, _drawn, [canvas, edges, *more], like_input(row),
                    name=name)[0]  # fmt: skip


def _drawn(images: Array, boxes: Array, *given: Array) -> Sequence[Array]:
    """Return images with the edges of boxes."""
    depth = images.shape[3]
    if depth not in (1, 3, 4):
        raise InvalidArgumentError("Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)")
    if boxes.shape[0] != images.shape[0] or boxes.shape[2] != 4:
        raise InvalidArgumentError(f"boxes have shape {boxes.shape} for images {images.shape}")
    table = given[0] if given and len(given[0]) else COLOURS.copy()
    if table.ndim != 2 or table.shape[1] < depth:
        raise InvalidArgumentError(
            "colors must have equal or more channels than the image provided: "
            f"{table.shape} vs. {depth}"
        )
    if table.base is None and not given and depth == 1:
        table[:, 0] = 1
    if not images.size or not boxes.size:
        return (images.copy(),)
    is_narrow = images.dtype.itemsize <= np.float32().itemsize and images.dtype.kind not in "iu"
    made = np.array(images, np.float32 if is_narrow else np.float64, order="C")
    colours = np.ascontiguousarray(table[:, :depth], np.float32)
    draw = _draw_narrow if is_narrow else _draw_wide
    draw(made, _ends(boxes, *images.shape[1:3]), colours, *images.shape[1:], boxes.shape[1])
    return (made.astype(images.dtype, copy=False),)


def _ends(boxes: Array, height: int, width: int) -> Array:
    """Return the rows and columns of the edges of boxes."""
    found = boxes.astype(np.float32) * np.array([height - 1, width - 1] * 2, np.float32)
    limits = np.iinfo(np.int32)
    ends: Array = np.clip(np.nan_to_num(np.trunc(found)), limits.min, limits.max)
    return ends.astype(np.int64)


def _draw(
    made: Array, ends: I64s, colours: F32s, height: int, width: int, depth: int, each: int
) -> int:
    """Draw the edges of boxes onto images, one after the other."""
    size, kinds, boxes = height * width * depth, len(colours) // depth, len(ends) // 4
    for box in range(boxes):
        first, colour = box // each * size, box % each % kinds * depth
        top, left, bottom, right = (
            ends[4 * box], ends[4 * box + 1], ends[4 * box + 2], ends[4 * box + 3],
        )  # fmt: skip
        is_none = top > bottom or left > right
        if is_none or top >= height or bottom < 0 or left >= width or right < 0:
            continue
        for side in range(2):
            row = bottom if side == 1 else top
            if 0 <= row < height:
                start = first + (row * width + max(left, 0)) * depth
                _dash(made, start, min(right, width - 1) - max(left, 0), depth, colours, colour,
                      depth)  # fmt: skip
            column = right if side == 1 else left
            if 0 <= column < width:
                start = first + (max(top, 0) * width + column) * depth
                _dash(made, start, min(bottom, height - 1) - max(top, 0), width * depth, colours,
                      colour, depth)  # fmt: skip
    return boxes


def _dash(
    made: Array, start: int, more: int, step: int, colours: F32s, colour: int, depth: int
) -> int:
    """Give a pixel and some behind it a colour."""
    for number in range(more + 1):
        for k in range(depth):
            made[start + number * step + k] = colours[colour + k]
    return more


@serial
def _draw_narrow(
    made: F32s, ends: I64s, colours: F32s, height: int, width: int, depth: int, each: int
) -> int:
    return _draw(made, ends, colours, height, width, depth, each)


@serial
def _draw_wide(
    made: F64s, ends: I64s, colours: F32s, height: int, width: int, depth: int, each: int
) -> int:
    return _draw(made, ends, colours, height, width, depth, each)


class PartOfImage(NamedTuple):
    """What a part of an image has to be."""

    covered: float
    """So much of one box at least has to lie in it."""
    ratios: tuple[float, float]
    areas: tuple[float, float]
    attempts: int
    whole: bool
    """Whether an image without boxes is a box."""


def _rounded(value: float | np.float32) -> int:
    return int(np.rint(np.float32(value)))


def _part(
    height: int, width: int, wanted: PartOfImage, ratio: np.float32, words: WordsInTurn
) -> tuple[int, int, int, int] | None:
    """Return a part (top, left, bottom, right) of a ratio of width to height, if there is one."""
    f32 = np.float32
    if wanted.areas[1] <= 0 or ratio <= 0 or not height or not width:
        return None
    if wanted.areas[0] > wanted.areas[1]:
        return None
    least, most = (f32(f32(f32(share) * f32(width)) * f32(height)) for share in wanted.areas)
    tall, tallest = (_rounded(np.sqrt(f32(area / ratio))) for area in (least, most))
    if _rounded(tallest * ratio) > width:
        tallest = int(f32(f32(width + 0.5 - 1e-7) / ratio))
        tallest -= _rounded(tallest * ratio) > width
    tallest = min(tallest, height)
    tall = min(tall, tallest)
    if tall < tallest:
        tall += words.below(tallest - tall + 1)
    wide = _rounded(tall * ratio)
    area = f32(wide * tall)
    if area < least or area > most:  # rounding may have left the bounds
        tall += 1 if area < least else -1
        wide = _rounded(tall * ratio)
    area = f32(wide * tall)
    if area < least or area > most or wide > width or tall > height or wide <= 0 or tall <= 0:
        return None
    top = words.below(height - tall) if tall < height else 0
    left = words.below(width - wide) if wide < width else 0
    return top, left, top + tall, left + wide


def _area(box: Sequence[int]) -> float:
    return float(max(box[2] - box[0], 0) * max(box[3] - box[1], 0))


def _covers(part: Sequence[int], boxes: Sequence[Sequence[int]], least: float) -> bool:
    """Say whether enough of one box lies in a part."""
    if _area(part) < 1:
        return False
    for box in boxes:
        ends = [max(*x) if i < 2 else min(*x) for i, x in enumerate(zip(part, box, strict=True))]
        if _area(box) >= 1 and np.float32(_area(ends)) / np.float32(_area(box)) >= least:
            return True
    return False


def _sampled(wanted: PartOfImage) -> Callable[..., Sequence[Array]]:
    """Return what chooses a part of an image by a key."""

    def compute(key: Array, size: Array, boxes: Array) -> Sequence[Array]:
        height, width = (int(n) for n in size[:2])
        scale = np.array([height, width, height, width], np.float32)
        found = [tuple(map(int, box * scale)) for box in boxes.reshape(-1, 4).astype(np.float32)]
        if not found:
            if not wanted.whole:
                raise InvalidArgumentError(
                    "No bounding boxes provided as input. One must enable "
                    "use_image_if_no_bounding_boxes if you wish to not provide any bounding boxes."
                )
            found = [(0, 0, height, width)]
        words, chosen = WordsInTurn(key), None
        low, high = map(np.float32, wanted.ratios)
        for _ in range(wanted.attempts):
            ratio = np.float32(words.single() * (high - low) + low)
            part = _part(height, width, wanted, ratio, words)
            if part is not None and _covers(part, found, wanted.covered):
                chosen = part
                break
        top, left, bottom, right = chosen or (0, 0, height, width)
        begin = np.array([top, left, 0], size.dtype)
        extent = np.array([bottom - top, right - left, -1], size.dtype)
        box = np.array([top, left, bottom, right], np.float32) / scale
        return begin, extent, box.reshape(1, 1, 4)

    return compute


def _chosen(
    type_: str, image_size: object, boxes: object, key: TfTensor, wanted: PartOfImage,
    name: str | None,
) -> tuple[TfTensor, TfTensor, TfTensor]:  # fmt: skip
    size = convert(image_size)
    row = size.spec.dtype
    three = spec_with_unknowns(row, (3,))
    begin, extent, box = host(
        type_, _sampled(wanted), [key, size, convert(boxes, "float32")],
        [three, three, spec_with_unknowns(rows.f32, (1, 1, 4))], name=name,
    )  # fmt: skip
    return begin, extent, box


def _wanted(
    covered: float, ratios: Sequence[float] | None, areas: Sequence[float] | None,
    attempts: int | None, whole: bool | None,
) -> PartOfImage:  # fmt: skip
    """Return what is asked for of a part; raise where it is nothing."""
    low, high = (0.75, 1.33) if ratios is None else ratios
    least, most = (0.05, 1.0) if areas is None else areas
    share, tries = float(covered), 100 if attempts is None else attempts
    if not 0 <= share <= 1:
        raise InvalidArgumentError(f"Min object covered must be in [0.0, 1.0], got: {share}")
    if low <= 0 or high <= 0 or low > high:
        raise InvalidArgumentError(f"aspect_ratio_range must be positive and rising: {low}, {high}")
    if least <= 0 or most > 1 or least > most or not math.isfinite(most):
        raise InvalidArgumentError(f"area_range must lie in (0.0, 1.0] and rise: {least}, {most}")
    if tries <= 0:
        raise InvalidArgumentError(f"Max attempts must be non-negative: {tries}")
    return PartOfImage(share, (low, high), (least, most), tries, bool(whole))


def sample_distorted_bounding_box(
    image_size: object,
    bounding_boxes: object,
    seed: int | None = 0,
    min_object_covered: float = 0.1,
    aspect_ratio_range: Sequence[float] | None = None,
    area_range: Sequence[float] | None = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> tuple[TfTensor, TfTensor, TfTensor]:
    """Choose a part of an image by chance that holds enough of a box.

    Returns where it begins, its size, and the part as a box.
    """
    wanted = _wanted(min_object_covered, aspect_ratio_range, area_range, max_attempts,
                     use_image_if_no_bounding_boxes)  # fmt: skip
    with InGraph(graph_of([image_size, bounding_boxes])):
        type_ = "SampleDistortedBoundingBoxV2"
        key = seeded_key(type_, wanted.attempts, seed or None)
        return _chosen(type_, image_size, bounding_boxes, key, wanted, name)


def stateless_sample_distorted_bounding_box(
    image_size: object,
    bounding_boxes: object,
    seed: object,
    min_object_covered: float = 0.1,
    aspect_ratio_range: Sequence[float] | None = None,
    area_range: Sequence[float] | None = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> tuple[TfTensor, TfTensor, TfTensor]:
    """Choose the part of an image that the seed says, so that it holds enough of a box."""
    wanted = _wanted(min_object_covered, aspect_ratio_range, area_range, max_attempts,
                     use_image_if_no_bounding_boxes)  # fmt: skip
    with InGraph(graph_of([image_size, bounding_boxes, seed])):
        type_, key = "StatelessSampleDistortedBoundingBox", key_of_seed(seed)
        return _chosen(type_, image_size, bounding_boxes, key, wanted, name)


def first_draw_bounding_boxes(
    images: object, boxes: object, name: str | None = None, colors: object = None
) -> TfTensor:
    """Draw the edges of boxes, by the first version's order of arguments."""
    return draw_bounding_boxes(images, boxes, colors, name)


def first_sample_distorted_bounding_box(
    image_size: object, bounding_boxes: object, seed: int | None = None,
    seed2: int | None = None, min_object_covered: float = 0.1,
    aspect_ratio_range: Sequence[float] | None = None,
    area_range: Sequence[float] | None = None, max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None, name: str | None = None,
) -> tuple[TfTensor, TfTensor, TfTensor]:  # fmt: skip
    """Choose a part of an image by chance, by the first version's order of arguments."""
    if seed2:
        raise NotImplementedError(
            "sample_distorted_bounding_box: seed2 is made of the seeds of graph and operation"
        )
    return sample_distorted_bounding_box(
        image_size, bounding_boxes, seed, min_object_covered, aspect_ratio_range, area_range,
        max_attempts, use_image_if_no_bounding_boxes, name,
    )  # fmt: skip


FIRST: dict[str, object] = {
    "draw_bounding_boxes": first_draw_bounding_boxes,
    "sample_distorted_bounding_box": first_sample_distorted_bounding_box,
}
"""By the names of the first version: what it has in another order."""
