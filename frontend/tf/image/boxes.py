"""Boxes of images: [y1, x1, y2, x2] from 0 to 1. Which of many to keep, and what lies in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ....ir.compose.maker import Maker
from ....ir.types import dtypes as rows
from ....ir.types.tensor import Array, TensorSpec
from ...eager.remembered import remember_all
from ...graph.inference import Given
from ..core import shape_rules as shapes_of
from ..core.bridge import TfTensor
from ..core.calls import perform, perform_all, rule
from ..core.values import InGraph, at_once, convert, graph_of, static
from ..ops.array_ops import reshape, unstack, where
from ..ops.creation import linspace, range_
from ..ops.gathering import gather
from ..ops.math_ops import FUNCTIONS, cast
from ..ops.nn_ops import clip_by_value
from .sizes import Size, extent
from .suppression import Suppression, kept


def _chosen(given: Given) -> Sequence[TensorSpec]:
    row = given.specs[1].dtype
    return [shapes_of.made(rows.i32, (None,)), shapes_of.made(row, (None,))]


@rule("NonMaxSuppressionV5", differentiable=None, shapes=_chosen)
def _kept(
    m: Maker, boxes: object, scores: object, count: object, overlap: object, score: object,
    sigma: object,
) -> object:  # fmt: skip
    return at_once(_best, boxes, scores, count, overlap, score, sigma, is_open=True)


def _best(
    box: Array, values: Array, count: Array, overlap: Array, score: Array, sigma: Array
) -> tuple[Array, Array]:
    """Return the boxes that are kept, and their scores."""
    if box.ndim != 2 or box.shape[1:] != (4,):
        raise TypeError(f"boxes have shape {box.shape}, expected (boxes, 4)")
    if values.shape != box.shape[:1]:
        raise TypeError(f"scores has incompatible shape {values.shape} for {len(box)} boxes")
    share = float(overlap)
    if not 0 <= share <= 1:
        raise TypeError(f"iou_threshold must be in [0, 1], not {share}")
    limits = Suppression(int(count), share, float(score), float(sigma))
    found, best = kept(box, values, limits)
    return found.astype(np.int32), best.astype(values.dtype)


def non_max_suppression_with_scores(
    boxes: object,
    scores: object,
    max_output_size: object,
    iou_threshold: object = 0.5,
    score_threshold: object = float("-inf"),
    soft_nms_sigma: object = 0.0,
    name: str | None = None,
) -> list[TfTensor]:
    """Return the places of the boxes that stand out, best first, and their scores."""
    with InGraph(graph_of([boxes, scores, max_output_size])):
        numbers = [convert(v, "float32") for v in (iou_threshold, score_threshold, soft_nms_sigma)]
        values = [convert(boxes), convert(scores), convert(max_output_size, "int32"), *numbers]
        return perform_all("NonMaxSuppressionV5", values, name=name)


def non_max_suppression(
    boxes: object,
    scores: object,
    max_output_size: object,
    iou_threshold: object = 0.5,
    score_threshold: object = float("-inf"),
    name: str | None = None,
) -> TfTensor:
    """Return the places of the boxes that stand out, best first."""
    given = boxes, scores, max_output_size, iou_threshold, score_threshold
    return non_max_suppression_with_scores(*given, name=name)[0]


def _padded(given: Given) -> Sequence[TensorSpec]:
    batch = shapes_of.dims_of(given.specs[1])
    lead = None if batch is None else batch[:-1]
    width = given.options["count"] if given.options["fills"] else None
    places = None if lead is None else [*lead, width]
    return [shapes_of.made(rows.i32, places), shapes_of.made(rows.i32, lead)]


@rule("NonMaxSuppressionPadded", differentiable=False, shapes=_padded)
def _filled(
    m: Maker, boxes: object, scores: object, count: int, overlap: float, score: float, fills: bool
) -> object:
    values = np.asarray(scores)
    lead = values.shape[:-1]
    box = np.asarray(boxes).reshape(-1, values.shape[-1], 4)
    pairs = zip(box, values.reshape(-1, values.shape[-1]), strict=True)
    every = [kept(b, s, Suppression(count, overlap, score))[0] for b, s in pairs]
    width = count if fills else max(map(len, every), default=0)
    places = np.zeros((len(every), width), np.int32)
    for row, found in zip(places, every, strict=True):
        row[: len(found)] = found
    counts = np.array([len(found) for found in every], np.int32)
    return places.reshape(*lead, width), counts.reshape(lead)


def non_max_suppression_padded(
    boxes: object,
    scores: object,
    max_output_size: object,
    iou_threshold: float = 0.5,
    score_threshold: float = float("-inf"),
    pad_to_max_output_size: bool = False,
    name: str | None = None,
    sorted_input: bool = False,
    canonicalized_coordinates: bool = False,
    tile_size: int = 512,
) -> tuple[TfTensor, TfTensor]:
    """Return the places of the boxes that stand out, filled up with 0, and how many there are."""
    with InGraph(graph_of([boxes, scores])):
        found = perform_all(
            "NonMaxSuppressionPadded", [convert(boxes), convert(scores)], name=name,
            count=int(static(max_output_size)), overlap=float(static(iou_threshold)),
            score=float(static(score_threshold)), fills=bool(pad_to_max_output_size),
        )  # fmt: skip
        return found[0], found[1]


def _combined_specs(given: Given) -> Sequence[TensorSpec]:
    dims = shapes_of.dims_of(given.specs[0])
    batch, row = None if dims is None else dims[0], given.specs[0].dtype
    count = given.options["total"] if not given.options["by_class"] else None
    row3 = [(batch, count, 4), (batch, count), (batch, count)]
    return [*(shapes_of.made(row, d) for d in row3), shapes_of.made(rows.i32, (batch,))]


@rule("CombinedNonMaxSuppression", differentiable=None, shapes=_combined_specs)
def _combined(
    m: Maker, boxes: object, scores: object, each: int, total: int, overlap: float, score: float,
    by_class: bool, clips: bool,
) -> object:  # fmt: skip
    every, values = np.asarray(boxes), np.asarray(scores)
    classes = values.shape[2]
    most = min(total, each * classes) if by_class else total
    made = [np.zeros((len(every), most, *n), np.float32) for n in ((4,), (), ())]
    counts = np.zeros(len(every), np.int32)
    for batch in range(len(every)):
        box, value = every[batch], values[batch]
        limits = Suppression(each, overlap, score)
        shared = box.shape[1] == 1
        found = [
            kept(box[:, 0 if shared else kind], value[:, kind], limits) for kind in range(classes)
        ]
        kinds = np.repeat(np.arange(classes), [len(places) for places, _ in found])
        places, best = (np.concatenate([*parts]) for parts in zip(*found, strict=True))
        order = np.argsort(-best, kind="stable")[:most]
        here, kind = places[order], kinds[order]
        chosen = box[here, 0 if shared else kind]
        parts = np.clip(chosen, 0, 1) if clips else chosen, best[order], kind
        for whole, part in zip(made, parts, strict=True):
            whole[batch, : len(order)] = part
        counts[batch] = len(order)
    return (*made, counts)


class CombinedNonMaxSuppression(NamedTuple):
    """The boxes that stand out in each image, of all classes together."""

    nmsed_boxes: TfTensor
    nmsed_scores: TfTensor
    nmsed_classes: TfTensor
    valid_detections: TfTensor


def combined_non_max_suppression(
    boxes: object,
    scores: object,
    max_output_size_per_class: object,
    max_total_size: object,
    iou_threshold: float = 0.5,
    score_threshold: float = float("-inf"),
    pad_per_class: bool = False,
    clip_boxes: bool = True,
    name: str | None = None,
) -> CombinedNonMaxSuppression:
    """Return the boxes, scores and classes that stand out in each image, and how many there are."""
    with InGraph(graph_of([boxes, scores])):
        found = perform_all(
            "CombinedNonMaxSuppression", [convert(boxes), convert(scores)], name=name,
            each=int(static(max_output_size_per_class)), total=int(static(max_total_size)),
            overlap=float(static(iou_threshold)), score=float(static(score_threshold)),
            by_class=bool(pad_per_class), clips=bool(clip_boxes),
        )  # fmt: skip
        return CombinedNonMaxSuppression(*found)


@rule("NonMaxSuppressionWithOverlaps", differentiable=False, shapes=shapes_of.counted(1))
def _by_overlaps(
    m: Maker, shares: object, scores: object, count: int, most: float, score: float
) -> object:
    table, values = np.asarray(shares), np.asarray(scores)
    found: list[int] = []
    for place in np.argsort(-values, kind="stable").tolist():
        if len(found) == count or values[place] <= score:
            break
        if not (table[place, found] > most).any():
            found.append(place)
    return np.array(found, np.int32)


def non_max_suppression_overlaps(
    overlaps: object,
    scores: object,
    max_output_size: object,
    overlap_threshold: float = 0.5,
    score_threshold: float = float("-inf"),
    name: str | None = None,
) -> TfTensor:
    """Return the places of the boxes that stand out; how much each two overlap is given."""
    with InGraph(graph_of([overlaps, scores])):
        return perform(
            "NonMaxSuppressionWithOverlaps", [convert(overlaps), convert(scores)], name=name,
            count=int(static(max_output_size)), most=float(static(overlap_threshold)),
            score=float(static(score_threshold)),
        )  # fmt: skip


def crop_and_resize(
    image: object,
    boxes: object,
    box_indices: object,
    crop_size: object,
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
    name: str | None = None,
) -> TfTensor:
    """Return what lies in boxes of images, all of one size: float32.

    A side of a box that is greater than the other mirrors. Places outside of the image get the
    value that is given.
    """
    if method not in ("bilinear", "nearest"):
        raise ValueError(f"method is {method!r}, expected 'bilinear' or 'nearest'")
    with InGraph(graph_of([image, boxes, box_indices])):
        x, box = cast(image, "float32"), convert(boxes, "float32")
        wanted = static(crop_size)
        listed = wanted if isinstance(wanted, list | tuple) else unstack(wanted, 2)
        height, width = (int(v) if isinstance(v, int) else v for v in listed)
        sizes = extent(x, 1), extent(x, 2)
        down = _places(box[:, 0], box[:, 2], sizes[0], height)[:, :, None]
        across = _places(box[:, 1], box[:, 3], sizes[1], width)[:, None, :]
        batch = range_(cast(extent(x, 0), "int64"))  # (a number that no image has is refused)
        of_image = gather(batch, convert(box_indices))[:, None, None]
        made = _taken(x, of_image, (down, across), sizes, method)
        inside = FUNCTIONS["logical_and"](_inside(down, sizes[0]), _inside(across, sizes[1]))
        return where(inside[..., None], made, extrapolation_value + 0.0 * made)


def _places(start: TfTensor, end: TfTensor, size: Size, count: Size) -> TfTensor:
    """Return where the pixels of each box lie along an axis: [boxes, count]."""
    last = cast(size, "float32") - 1.0
    if not isinstance(count, int):
        most = cast(count, "float32") - 1.0
        step = (end - start) * last / FUNCTIONS["maximum"](most, 1.0)
        single = cast(FUNCTIONS["equal"](count, 1), "float32") * 0.5 * (end - start) * last
        return (start * last + single)[:, None] + cast(range_(count), "float32") * step[:, None]
    if count == 1:
        return reshape(0.5 * (start + end) * last, [-1, 1])
    step = (end - start) * last / float(count - 1)
    return start[:, None] * last + linspace(0.0, float(count - 1), count) * step[:, None]


def _inside(place: TfTensor, size: Size) -> TfTensor:
    last = cast(size, "float32") - 1.0
    return FUNCTIONS["logical_and"](place >= 0.0, place <= last)


def _taken(
    x: TfTensor,
    of_image: TfTensor,
    places: tuple[TfTensor, TfTensor],
    sizes: tuple[Size, Size],
    method: str,
) -> TfTensor:
    """Return pixels of images at places of rows and columns: only those are looked at."""
    pixels = reshape(x, [-1, extent(x, 3)])
    height, width = (cast(size, "int64") for size in sizes)

    def at(*found: TfTensor) -> TfTensor:
        row, column = (
            cast(clip_by_value(place, 0.0, cast(size, "float32") - 1.0), "int64")
            for place, size in zip(found, sizes, strict=True)
        )
        return gather(pixels, (of_image * height + row) * width + column)

    floor, ceil = FUNCTIONS["floor"], FUNCTIONS["ceil"]
    if method == "nearest":
        return at(*(floor(place + 0.5) for place in places))
    (above, left), (below, right) = ([way(place) for place in places] for way in (floor, ceil))
    down, across = ((place - floor(place))[..., None] for place in places)

    def between(row: TfTensor) -> TfTensor:
        first = at(row, left)
        return first + (at(row, right) - first) * across

    first = between(above)
    return first + (between(below) - first) * down


remember_all(globals())
