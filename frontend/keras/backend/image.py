"""Images: colours, sizes, and pictures seen through a map of coordinates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product as _product
from typing import TypeAlias

import numpy as _np
from keras.src.backend.common.variables import is_float_dtype as _is_float
from keras.src.backend.config import standardize_data_format as _format

from ...eager.tensor import Tensor
from ...tf.graph.loops import map_fn as _map
from ...tf.image.projected import image_projective_transform as _projected
from ...tf.image.resizing import resize as _resized
from ...tf.ops import array_ops as _a
from ...tf.ops import creation as _made
from ...tf.ops import gathering as _g
from ...tf.ops import linear_ops as _la
from ...tf.ops import math_ops as _m
from ...values.given import TensorLike
from . import convolutions as _conv
from . import random as _random
from .numbers import clip as _clip
from .tensors import cast, convert_to_tensor, float_for, name_of, rank

_F, _R = _m.FUNCTIONS, _m.REDUCTIONS
_Size: TypeAlias = int | Tensor
"""A size, which is a tensor if it is known in the run only."""
RESIZE_INTERPOLATIONS = ("bilinear", "nearest", "lanczos3", "lanczos5", "bicubic", "area")
AFFINE_TRANSFORM_INTERPOLATIONS = {"nearest": 0, "bilinear": 1}
AFFINE_TRANSFORM_FILL_MODES = {"constant", "nearest", "wrap", "reflect"}
MAP_COORDINATES_FILL_MODES = {*AFFINE_TRANSFORM_FILL_MODES, "mirror"}
SCALE_AND_TRANSLATE_METHODS = {
    *("linear", "bilinear", "trilinear", "cubic", "bicubic", "tricubic", "lanczos3", "lanczos5")
}


def _images(images: TensorLike, data_format: str | None) -> tuple[Tensor, str]:
    """Return images of three or four axes, and where their channels are."""
    x = convert_to_tensor(images)
    if rank(x) not in (3, 4):
        raise ValueError(
            "Invalid images rank: expected rank 3 (single image) or rank 4 (batch of images). "
            f"Received input with shape: images.shape={tuple(x.shape)}"
        )
    return x, _format(data_format)


def _channels(order: str) -> int:
    return -1 if order == "channels_last" else -3


def _need_floats(x: Tensor) -> None:
    if not _is_float(name_of(x)):
        raise ValueError(
            f"Invalid images dtype: expected float dtype. Received: images.dtype={name_of(x)}"
        )


def rgb_to_grayscale(images: TensorLike, data_format: str | None = None) -> Tensor:
    """Return the brightness of colours."""
    x, order = _images(images, data_format)
    axis = _channels(order)
    if x.shape[axis] not in (1, 3, None):
        raise ValueError(
            "Invalid channel size: expected 3 (RGB) or 1 (Grayscale). "
            f"Received input with shape: images.shape={tuple(x.shape)}"
        )
    if x.shape[axis] == 1:
        return _m.identity(x)
    wide = cast(x, float_for(name_of(x)))
    shape = [1] * rank(x)
    shape[axis] = 3
    weights = _np.array([0.2989, 0.5870, 0.1140]).reshape(shape)
    return cast(_R["reduce_sum"](wide * cast(weights, name_of(wide)), axis, True), name_of(x))


def rgb_to_hsv(images: TensorLike, data_format: str | None = None) -> Tensor:
    """Return hue, saturation and value of colours."""
    x, order = _images(images, data_format)
    _need_floats(x)
    axis = _channels(order)
    tiny = 0.0078125 if name_of(x) == "bfloat16" else float(_np.finfo(name_of(x)).eps)
    x = _a.where(_F["less"](_F["abs"](x), tiny), _made.zeros_like(x), x)
    r, g, b = _a.unstack(x, axis=axis)
    zeros, ones = _made.zeros_like(r), _made.ones_like(r)
    value = _F["maximum"](_F["maximum"](r, g), b)
    span = value - _F["minimum"](_F["minimum"](r, g), b)
    lit = _F["greater"](value, zeros)
    saturation = _a.where(lit, span / _a.where(lit, value, ones), zeros)
    norm = 1.0 / (6.0 * _a.where(_F["greater"](span, zeros), span, ones))
    hue = _a.where(_F["equal"](value, g), norm * (b - r) + 2.0 / 6.0, norm * (r - g) + 4.0 / 6.0)
    hue = _a.where(_F["equal"](value, r), norm * (g - b), hue)
    hue = _a.where(_F["greater"](span, zeros), hue, zeros)
    hue = hue + cast(_F["less"](hue, zeros), name_of(hue))
    return _a.stack([hue, saturation, value], axis)


def hsv_to_rgb(images: TensorLike, data_format: str | None = None) -> Tensor:
    """Return the colours of hue, saturation and value."""
    x, order = _images(images, data_format)
    _need_floats(x)
    axis = _channels(order)
    hue, saturation, value = _a.unstack(x, axis=axis)
    sixth = _F["floormod"](hue, _made.ones_like(hue)) * 6.0
    red = _clip(_F["abs"](sixth - 3.0) - 1.0, 0.0, 1.0)
    green = _clip(2.0 - _F["abs"](sixth - 2.0), 0.0, 1.0)
    blue = _clip(2.0 - _F["abs"](sixth - 4.0), 0.0, 1.0)
    grey = 1.0 - saturation
    return _a.stack([value * (grey + saturation * each) for each in (red, green, blue)], axis)


def resize(
    images: TensorLike,
    size: Sequence[int],
    interpolation: str = "bilinear",
    antialias: bool = False,
    crop_to_aspect_ratio: bool = False,
    pad_to_aspect_ratio: bool = False,
    fill_mode: str = "constant",
    fill_value: float = 0.0,
    data_format: str | None = None,
) -> Tensor:
    """Return images of another size; pixels are areas, of which the centres are sampled."""
    if interpolation not in RESIZE_INTERPOLATIONS:
        raise ValueError(
            "Invalid value for argument `interpolation`. Expected of one "
            f"{RESIZE_INTERPOLATIONS}. Received: interpolation={interpolation}"
        )
    if fill_mode != "constant":
        raise ValueError(
            "Invalid value for argument `fill_mode`. Only `'constant'` is supported. "
            f"Received: fill_mode={fill_mode}"
        )
    if pad_to_aspect_ratio and crop_to_aspect_ratio:
        raise ValueError(
            "Only one of `pad_to_aspect_ratio` & `crop_to_aspect_ratio` can be `True`."
        )
    if len(size) != 2:
        raise ValueError(
            "Argument `size` must be a tuple of two elements (height, width). "
            f"Received: size={size}"
        )
    x, order = _images(images, data_format)
    rows = rank(x) - (3 if order == "channels_last" else 2)
    wanted = (int(size[0]), int(size[1]))
    if crop_to_aspect_ratio:
        x = _cropped(x, rows, wanted)
    elif pad_to_aspect_ratio:
        x = _padded(x, rows, wanted, fill_value)
    x = x if order == "channels_last" else _moved(x, rows - 1, rank(x) - 1)
    found = _resized(x, wanted, method=interpolation, antialias=antialias)
    return found if order == "channels_last" else _moved(found, rank(x) - 1, rows - 1)


def _moved(x: Tensor, axis: int, to: int) -> Tensor:
    """Return a tensor one axis of which stands elsewhere."""
    order = [i for i in range(rank(x)) if i != axis]
    order.insert(to, axis)
    return _a.transpose(x, order)


def _as_pixels(x: Tensor, kind: str) -> Tensor:
    """Return values in the element type of an image, rounded and cut where that is whole."""
    if _is_float(kind):
        return cast(x, kind)
    limits = _np.iinfo(kind)
    return cast(_clip(_F["round"](x), float(limits.min), float(limits.max)), kind)


def _extent(x: Tensor, axis: int) -> _Size:
    """Return a size, as a tensor if it is known in the run only."""
    length = x.shape[axis]
    return _a.shape(x)[axis] if length is None else int(length)


def _known(x: Tensor, axis: int) -> int:
    length = x.shape[axis]
    if length is None:
        raise ValueError(f"height and width must be known before the run, got {tuple(x.shape)}")
    return int(length)


def _share(a: _Size, b: float) -> _Size:
    """Return a size divided by a number, without what is behind the point."""
    if isinstance(a, int):
        return int(float(a) / b)
    return cast(cast(a, "float32") / b, "int32")


def _times(a: _Size, b: int, c: int) -> _Size:
    """Return a size times the proportion of two others."""
    if isinstance(a, int):
        return int(float(a * b) / c)
    return cast(cast(a * b, "float32") / float(c), "int32")


def _least(a: _Size, b: _Size) -> _Size:
    return min(a, b) if isinstance(a, int) and isinstance(b, int) else _F["minimum"](a, b)


def _most(a: _Size, b: _Size) -> _Size:
    return max(a, b) if isinstance(a, int) and isinstance(b, int) else _F["maximum"](a, b)


def _cropped(x: Tensor, rows: int, size: tuple[int, int]) -> Tensor:
    """Return the middle part that has the proportions of a size."""
    height, width = _extent(x, rows), _extent(x, rows + 1)
    tall = _most(_least(height, _times(width, size[0], size[1])), 1)
    wide = _most(_least(width, _times(height, size[1], size[0])), 1)
    top, left = _share(height - tall, 2.0), _share(width - wide, 2.0)
    along = (slice(None),) * rows
    return x[(*along, slice(top, top + tall), slice(left, left + wide))]


def _padded(x: Tensor, rows: int, size: tuple[int, int], fill: float) -> Tensor:
    """Return an image with borders, so that it has the proportions of a size."""
    height, width = _extent(x, rows), _extent(x, rows + 1)
    tall = _most(height, _times(width, size[0], size[1]))
    wide = _most(width, _times(height, size[1], size[0]))
    top, left = _share(tall - height, 2.0), _share(wide - width, 2.0)
    widths: list[tuple[_Size, _Size]] = [(0, 0)] * rank(x)
    # As much behind as before.
    widths[rows], widths[rows + 1] = (top, top), (left, left)
    return _a.pad(x, widths, constant_values=cast(fill, name_of(x)))


def _triangle(x: Tensor) -> Tensor:
    return _F["maximum"](1.0 - x, _made.zeros_like(x))


def _cubic(x: Tensor) -> Tensor:
    """Return Keys' cubic of a half (Keys, 1981)."""
    near = ((1.5 * x - 2.5) * x) * x + 1.0
    far = ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0
    found = _a.where(_F["greater_equal"](x, 1.0), far, near)
    return _a.where(_F["greater_equal"](x, 2.0), _made.zeros_like(x), found)


def _lanczos(radius: float) -> Callable[[Tensor], Tensor]:
    def kernel(x: Tensor) -> Tensor:
        small = _F["less"](x, 1e-3)
        safe = _a.where(small, _made.ones_like(x), x)
        waves = _F["sin"](_np.pi * safe) * _F["sin"](_np.pi * safe / radius)
        found = radius * waves / (_np.pi**2 * safe * safe)
        found = _a.where(small, _made.ones_like(x), found)
        return _a.where(_F["greater"](x, radius), _made.zeros_like(x), found)

    return kernel


KERNELS: dict[str, Callable[[Tensor], Tensor]] = {
    **dict.fromkeys(("linear", "bilinear", "trilinear"), _triangle),
    **dict.fromkeys(("cubic", "bicubic", "tricubic"), _cubic),
    "lanczos3": _lanczos(3.0),
    "lanczos5": _lanczos(5.0),
}


def _weights(
    have: _Size,
    length: int,
    scale: TensorLike,
    shift: TensorLike,
    kernel: Callable[[Tensor], Tensor],
    antialias: bool,
) -> Tensor:
    """Return how much each pixel of an axis is of each pixel of the result, [have, length]."""
    factor = 1.0 / cast(scale, "float32")
    stretch = _F["maximum"](factor, _made.ones_like(factor)) if antialias else 1.0
    centres = cast(_made.range_(length), "float32") + 0.5
    places = centres * factor - cast(shift, "float32") * factor - 0.5
    pixels = _a.expand_dims(cast(_made.range_(have), "float32"), 1)
    weights = kernel(_F["abs"](_a.expand_dims(places, 0) - pixels) / stretch)
    total = _R["reduce_sum"](weights, 0, keepdims=True)
    enough = _F["greater"](_F["abs"](total), 1000.0 * float(_np.finfo("float32").eps))
    weights = _a.where(enough, weights / _a.where(enough, total, _made.ones_like(total)), 0.0)
    inside = _F["logical_and"](
        _F["greater_equal"](places, -0.5), _F["less_equal"](places, cast(have, "float32") - 0.5)
    )
    return _a.where(_a.expand_dims(inside, 0), weights, _made.zeros_like(weights))


def _along(x: Tensor, axis: int, weights: Tensor) -> Tensor:
    """Return products with weights along an axis."""
    order = [i for i in range(rank(x)) if i != axis] + [axis]
    found = _m.matmul(_a.transpose(x, order), weights)
    return _a.transpose(found, [order.index(i) for i in range(rank(x))])


def scale_and_translate(
    images: TensorLike,
    output_shape: Sequence[int],
    scale: TensorLike,
    translation: TensorLike,
    spatial_dims: Sequence[int],
    method: str,
    antialias: bool = True,
) -> Tensor:
    """Return images scaled and moved along some axes."""
    if method not in SCALE_AND_TRANSLATE_METHODS:
        raise ValueError(
            "Invalid value for argument `method`. Expected of one "
            f"{SCALE_AND_TRANSLATE_METHODS}. Received: method={method}"
        )
    x = convert_to_tensor(images)
    kind = name_of(x)
    wide = cast(x, float_for(kind))
    factors, shifts = convert_to_tensor(scale, "float32"), convert_to_tensor(translation, "float32")
    for i, axis in enumerate(spatial_dims):
        place = axis % rank(x)
        weights = _weights(
            _extent(wide, place), output_shape[axis], factors[i], shifts[i], KERNELS[method],
            antialias,
        )  # fmt: skip
        wide = _along(wide, place, cast(weights, name_of(wide)))
    return _as_pixels(wide, kind)


# Pictures through a map of coordinates.


def _mirrored(index: Tensor, size: int) -> Tensor:
    """Return places turned back at the centres of the last pixels."""
    span = max(size - 1, 1) * 2
    turned = _F["floormod"](index, _made.zeros_like(index) + span)
    return _F["minimum"](turned, span - turned) if size > 1 else _made.zeros_like(index)


def _reflected(index: Tensor, size: int) -> Tensor:
    """Return places turned back at the edges of the last pixels."""
    turned = _F["floormod"](index, _made.zeros_like(index) + 2 * size)
    return _F["minimum"](turned, 2 * size - 1 - turned)


FIXES: dict[str, Callable[[Tensor, int], Tensor]] = {
    "constant": lambda index, size: index,
    "nearest": lambda index, size: _clip(index, 0, size - 1),
    "wrap": lambda index, size: _F["floormod"](index, _made.zeros_like(index) + size),
    "mirror": _mirrored,
    "reflect": _reflected,
}


def map_coordinates(
    inputs: TensorLike,
    coordinates: TensorLike,
    order: int,
    fill_mode: str = "constant",
    fill_value: TensorLike = 0.0,
) -> Tensor:
    """Return the values of a tensor at coordinates [rank, ...], between elements for order 1."""
    x, places = convert_to_tensor(inputs), convert_to_tensor(coordinates)
    if places.shape[0] != rank(x):
        raise ValueError(
            "First dim of `coordinates` must be the same as the rank of `inputs`. "
            f"Received inputs with shape: {tuple(x.shape)} and coordinate leading dim of "
            f"{places.shape[0]}"
        )
    if rank(places) < 2:
        raise ValueError(
            f"Invalid coordinates rank: expected at least rank 2. Received input with shape: "
            f"{tuple(places.shape)}"
        )
    if fill_mode not in FIXES:
        raise ValueError(
            f"Invalid value for argument `fill_mode`. Expected one of {sorted(FIXES)}. "
            f"Received: fill_mode={fill_mode}"
        )
    if order not in (0, 1):
        raise ValueError(
            f"Invalid value for argument `order`. Expected one of {[0, 1]}. Received: order={order}"
        )
    kind = name_of(x)
    wide = cast(x, float_for(kind))
    places = places if _is_float(name_of(places)) else cast(places, "float32")
    return _as_pixels(_sampled(wide, places, order, fill_mode, fill_value), kind)


def _sampled(
    x: Tensor, places: Tensor, order: int, fill_mode: str, fill_value: TensorLike
) -> Tensor:
    """Return the sum of the corners around each place by their weights."""
    corners: list[list[tuple[Tensor, Tensor, Tensor | None]]] = []
    for axis in range(rank(x)):
        size = _known(x, axis)
        near = _near(places[axis], order)
        corners.append([_corner(index, weight, size, fill_mode) for index, weight in near])
    total: Tensor | None = None
    fill = cast(fill_value, name_of(x))
    for chosen in _product(*corners):
        values = _g.gather_nd(x, _a.stack([index for index, _, _ in chosen], -1))
        for _, _, inside in chosen:
            if inside is not None:
                values = _a.where(inside, values, fill)
        for _, weight, _ in chosen:
            values = values * cast(weight, name_of(x))
        total = values if total is None else total + values
    assert total is not None, "a tensor has a corner"
    return total


def _near(place: Tensor, order: int) -> list[tuple[Tensor, Tensor]]:
    """Return the elements near places along an axis with their weights."""
    if order == 0:
        return [(cast(_F["round"](place), "int32"), _made.ones_like(place))]
    low = _F["floor"](place)
    share = place - low
    return [(cast(low, "int32"), 1.0 - share), (cast(low, "int32") + 1, share)]


def _corner(
    index: Tensor, weight: Tensor, size: int, fill_mode: str
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Return an index that there is, its weight, and whether it was there (constant)."""
    if fill_mode != "constant":
        return FIXES[fill_mode](index, size), weight, None
    inside = _F["logical_and"](_F["greater_equal"](index, 0), _F["less"](index, size))
    return _clip(index, 0, size - 1), weight, inside


def affine_transform(
    images: TensorLike,
    transform: TensorLike,
    interpolation: str = "bilinear",
    fill_mode: str = "constant",
    fill_value: TensorLike = 0,
    data_format: str | None = None,
) -> Tensor:
    """Return images seen through affine maps [a0, a1, a2, b0, b1, b2, 0, 0] of the coordinates."""
    if interpolation not in AFFINE_TRANSFORM_INTERPOLATIONS:
        raise ValueError(
            "Invalid value for argument `interpolation`. Expected of one "
            f"{set(AFFINE_TRANSFORM_INTERPOLATIONS)}. Received: interpolation={interpolation}"
        )
    if fill_mode not in AFFINE_TRANSFORM_FILL_MODES:
        raise ValueError(
            "Invalid value for argument `fill_mode`. Expected of one "
            f"{AFFINE_TRANSFORM_FILL_MODES}. Received: fill_mode={fill_mode}"
        )
    x, order = _images(images, data_format)
    maps = convert_to_tensor(transform)
    if rank(maps) not in (1, 2):
        raise ValueError(
            "Invalid transform rank: expected rank 1 (single transform) or rank 2 (batch of "
            f"transforms). Received input with shape: transform.shape={tuple(maps.shape)}"
        )
    return _through(x, order, maps, interpolation, fill_mode, fill_value)


def _through(
    x: Tensor, order: str, maps: Tensor, interpolation: str, fill_mode: str, fill: TensorLike
) -> Tensor:
    """Return images whose pixel (u, v) is that at the place where eight numbers project it to."""
    maps = cast(maps if rank(maps) == 2 else _a.expand_dims(maps, 0), "float32")
    single = rank(x) == 3
    batch = _a.expand_dims(x, 0) if single else x
    batch = batch if order == "channels_last" else _moved(batch, 1, 3)
    size = _a.shape(batch)[1:3]
    how = (interpolation.upper(), fill_mode.upper())
    seen = _projected(batch, maps, size, *how, fill)
    seen = _a.ensure_shape(seen, batch.shape)
    found = seen if order == "channels_last" else _moved(seen, 3, 1)
    return found[0] if single else found


def compute_homography_matrix(start_points: TensorLike, end_points: TensorLike) -> Tensor:
    """Return the eight numbers of the projection from end points [N, 4, 2] to start points."""
    start, end = (cast(each, "float32") for each in (start_points, end_points))
    rows = []
    rights = []
    for corner in range(4):
        x, y = end[:, corner, 0], end[:, corner, 1]
        u, v = start[:, corner, 0], start[:, corner, 1]
        zeros, ones = _made.zeros_like(x), _made.ones_like(x)
        rows.append(_a.stack([x, y, ones, zeros, zeros, zeros, -x * u, -y * u], -1))
        rows.append(_a.stack([zeros, zeros, zeros, x, y, ones, -x * v, -y * v], -1))
        rights += [u, v]
    right = _a.expand_dims(_a.stack(rights, -1), -1)
    return _a.squeeze(_la.solve(_a.stack(rows, 1), right), [-1])


def perspective_transform(
    images: TensorLike,
    start_points: TensorLike,
    end_points: TensorLike,
    interpolation: str = "bilinear",
    fill_value: TensorLike = 0,
    data_format: str | None = None,
) -> Tensor:
    """Return images projected so that start points come to lie on end points."""
    start, end = convert_to_tensor(start_points), convert_to_tensor(end_points)
    if interpolation not in AFFINE_TRANSFORM_INTERPOLATIONS:
        raise ValueError(
            "Invalid value for argument `interpolation`. Expected of one "
            f"{set(AFFINE_TRANSFORM_INTERPOLATIONS)}. Received: interpolation={interpolation}"
        )
    x, order = _images(images, data_format)
    for name, each in (("start_points", start), ("end_points", end)):
        if rank(each) not in (2, 3) or tuple(each.shape)[-2:] != (4, 2):
            raise ValueError(
                f"Invalid {name} shape: expected (4,2) for a single image or (N,4,2) for a batch. "
                f"Received shape: {tuple(each.shape)}"
            )
    start = _a.expand_dims(start, 0) if rank(start) == 2 else start
    end = _a.expand_dims(end, 0) if rank(end) == 2 else end
    maps = compute_homography_matrix(start, end)
    return _through(x, order, maps, interpolation, "constant", fill_value)


def gaussian_blur(
    images: TensorLike,
    kernel_size: Sequence[int] = (3, 3),
    sigma: TensorLike = (1.0, 1.0),
    data_format: str | None = None,
) -> Tensor:
    """Return images blurred by a normal distribution."""
    x, order = _images(images, data_format)
    kind = name_of(x)
    wide = cast(x, float_for(kind))
    single = rank(wide) == 3
    wide = _a.expand_dims(wide, 0) if single else wide
    spread = cast(sigma, name_of(wide))
    middles = (_np.arange(int(n)) - (int(n) - 1) / 2 for n in kernel_size)
    across, down = (_bell(away, spread[i]) for i, away in enumerate(middles))
    window = _a.expand_dims(down, 1) * _a.expand_dims(across, 0)
    channels = wide.shape[_channels(order)]
    filters = _a.tile(_a.reshape(window, [*map(int, kernel_size), 1, 1]), [1, 1, channels, 1])
    found = _conv.depthwise_conv(wide, filters, 1, "same", order)
    return cast(found[0] if single else found, kind)


def _bell(away: TensorLike, sigma: Tensor) -> Tensor:
    """Return the shares of a window whose elements are so far from its middle."""
    found = _F["exp"](-0.5 * (cast(away, name_of(sigma)) / sigma) ** 2)
    return found / _R["reduce_sum"](found)


def elastic_transform(
    images: TensorLike,
    alpha: TensorLike = 20.0,
    sigma: TensorLike = 5.0,
    interpolation: str = "bilinear",
    fill_mode: str = "reflect",
    fill_value: TensorLike = 0.0,
    seed: int | None = None,
    data_format: str | None = None,
) -> Tensor:
    """Return images whose pixels are moved by smooth random distances."""
    if interpolation not in AFFINE_TRANSFORM_INTERPOLATIONS:
        raise ValueError(
            "Invalid value for argument `interpolation`. Expected of one "
            f"{set(AFFINE_TRANSFORM_INTERPOLATIONS)}. Received: interpolation={interpolation}"
        )
    if fill_mode not in AFFINE_TRANSFORM_FILL_MODES:
        raise ValueError(
            "Invalid value for argument `fill_mode`. Expected of one "
            f"{AFFINE_TRANSFORM_FILL_MODES}. Received: fill_mode={fill_mode}"
        )
    x, order = _images(images, data_format)
    kind = name_of(x)
    single = rank(x) == 3
    batch = _a.expand_dims(x, 0) if single else x
    batch = batch if order == "channels_last" else _moved(batch, 1, 3)
    down, across = _bent(batch, alpha, sigma, seed)
    every = cast(batch, float_for(kind))
    degree = AFFINE_TRANSFORM_INTERPOLATIONS[interpolation]

    def pictured(given: tuple[Tensor, Tensor, Tensor]) -> Tensor:
        image, *places = given
        layers = [
            map_coordinates(layer, _a.stack(places), degree, fill_mode, fill_value)
            for layer in _a.unstack(image, axis=-1)
        ]
        return _a.stack(layers, -1)

    found = _map(pictured, (every, down, across), fn_output_signature=every.dtype)
    found = _as_pixels(_a.ensure_shape(found, batch.shape), kind)
    found = found if order == "channels_last" else _moved(found, 3, 1)
    return found[0] if single else found


def _bent(
    batch: Tensor, alpha: TensorLike, sigma: TensorLike, seed: _random.Seed
) -> tuple[Tensor, Tensor]:
    """Return the rows and columns that pixels are moved to, by the same distance in both."""
    kind = float_for(name_of(batch))
    count, height, width = (_extent(batch, axis) for axis in range(3))
    spread = cast(sigma, kind)
    noise = _random.normal([count, height, width], dtype=kind, seed=seed) * spread
    blurred = _m.matmul(_m.matmul(_blurs(height, spread), noise), _blurs(width, spread))
    reach = cast(alpha, kind) * blurred
    rows, columns = (cast(_made.range_(n), kind) for n in (height, width))
    return _a.expand_dims(rows, 1) + reach, _a.expand_dims(columns, 0) + reach


def _blurs(length: _Size, sigma: Tensor) -> Tensor:
    """Return the matrix that blurs an axis; the run may say how wide the window is."""
    half = 3 * cast(sigma, "int32")
    window = _bell(_made.range_(-half, half + 1), sigma)
    places = _made.range_(length)
    away = _a.expand_dims(places, 1) - _a.expand_dims(places, 0)
    inside = _F["less_equal"](_F["abs"](away), half)
    return _a.where(inside, _g.gather(window, _clip(away + half, 0, 2 * half)), 0.0)


def sobel_edges(images: TensorLike, data_format: str | None = None) -> Tensor:
    """Return the slopes down and across, as a last axis of two."""
    x, order = _images(images, data_format)
    single = rank(x) == 3
    batch = _a.expand_dims(x, 0) if single else x
    last = batch if order == "channels_last" else _a.transpose(batch, [0, 2, 3, 1])
    channels = _known(last, 3)
    down = _np.array([[-1, -2, -1], [0, 0, 0], [1, 2, 1]], _np.float32)
    both = _np.stack([down, down.T], -1)[:, :, None, :]
    filters = _np.tile(both, [1, 1, channels, 1])
    padded = _a.pad(last, [(0, 0), (1, 1), (1, 1), (0, 0)], "REFLECT")
    found = _conv.depthwise_conv(padded, cast(filters, name_of(last)), 1, "valid", "channels_last")
    height, width = _known(last, 1), _known(last, 2)
    found = _a.reshape(found, [-1, height, width, channels, 2])
    found = found if order == "channels_last" else _a.transpose(found, [0, 3, 1, 2, 4])
    return found[0] if single else found
