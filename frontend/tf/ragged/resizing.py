"""Images of different heights and widths, all made one height and width."""

from __future__ import annotations

from collections.abc import Callable

from ...values.dispatch import handles
from ..core.bridge import TfTensor
from ..core.shapes import TensorShape
from ..core.specs import TensorSpec
from ..core.values import convert, static
from ..graph.flow import cond
from ..image.resizing import resize
from ..ops import array_ops as a
from ..ops.creation import zeros
from .mapping import map_fn
from .tensor import RaggedTensor, same_graph


def resized(images: RaggedTensor, size: object, function: Callable[..., object]) -> TfTensor:
    """Return what a function of an image and the size makes of each of several images."""
    if images.shape.rank != 4:
        raise ValueError("tf.image.resize: images.shape.rank must be 4 if images is ragged.")
    with same_graph(images, size):
        extents = convert(size, "int32")
        known = static(extents)
        wanted = [None, None] if isinstance(known, TfTensor) else list(known)
        spec = TensorSpec(TensorShape([*wanted, images.shape[-1]]), "float32")

        def one(image: object) -> object:
            dense = image.to_tensor() if isinstance(image, RaggedTensor) else image
            return function(dense, size)

        def none() -> TfTensor:
            channels = a.shape(images.flat_values)[-1:]
            return zeros(a.concat([[0], extents, channels], 0))

        def every() -> object:
            return map_fn(one, images, fn_output_signature=spec)

        if images.shape[0] == 0:
            return none()
        made = every() if images.shape[0] is not None else cond(images.nrows() == 0, none, every)
        assert isinstance(made, TfTensor), "images of one size are a tensor"
        return made


@handles(RaggedTensor, resize)
def _resize(images: RaggedTensor, size: object, *args: object, **options: object) -> TfTensor:
    return resized(images, size, lambda image, size: resize(image, size, *args, **options))
