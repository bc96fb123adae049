"""Elements with parts: tuples, dictionaries and named tuples of tensors and of datasets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from ....ir.types.tensor import Array
from ....ir.types.tensor import TensorSpec as CoreSpec
from ...data.stages import Stage, Stream
from ...values.nest import pack_level
from ...values.texts import TEXT
from .bridge import EagerTensor, TfTensor, wrap
from .nested import flatten, pack_sequence_as
from .shapes import TensorShape
from .specs import TensorSpec
from .values import convert


class Part:
    """A value that is one part of an element although it is no tensor."""

    @property
    def part_spec(self) -> PartSpec:
        """Return what it is like."""
        raise NotImplementedError

    def part_tensor(self) -> TfTensor:
        """Return the tensor that stands for it."""
        raise NotImplementedError


class Pipeline(Part):
    """A dataset, as far as files need to know it that datasets are made of."""

    _stage: Stage
    element_spec: Any

    def made(self, stage: Stage, spec: object) -> Pipeline:
        """Return the dataset of a stage."""
        raise NotImplementedError

    def policy(self) -> object:
        """Return what is told about state outside of the pipeline, None if nothing is."""
        raise NotImplementedError

    def step(self, kind: type[Stream], spec: object = None, **options: object) -> Pipeline:
        """Return a dataset of what is done to this one."""
        raise NotImplementedError

    def map(self, *args: Any, **kwargs: Any) -> Pipeline:
        """Return a dataset of what a function gives for each element."""
        raise NotImplementedError

    def scan(self, *args: Any, **kwargs: Any) -> Pipeline:
        """Return a dataset of what a function gives for a state and each element."""
        raise NotImplementedError

    def batch(self, *args: Any, **kwargs: Any) -> Pipeline:
        """Return a dataset of elements stacked."""
        raise NotImplementedError

    def padded_batch(self, *args: Any, **kwargs: Any) -> Pipeline:
        """Return a dataset of elements filled up to one shape and stacked."""
        raise NotImplementedError

    def take(self, *args: Any, **kwargs: Any) -> Pipeline:
        """Return a dataset of the first elements."""
        raise NotImplementedError

    def interleave(self, map_func: Callable[..., object], cycle_length: object = None) -> Pipeline:
        """Return a dataset of the elements of several datasets in turns."""
        raise NotImplementedError

    @staticmethod
    def zip(*args: Any, **kwargs: Any) -> Pipeline:
        """Return a dataset of elements side by side."""
        raise NotImplementedError

    @staticmethod
    def random(*args: Any, **kwargs: Any) -> Pipeline:
        """Return a dataset of random numbers without end."""
        raise NotImplementedError


class PartSpec:
    """What a part is like that is no tensor."""

    def part_of(self, tensor: TfTensor) -> Part:
        """Return the value that a tensor stands for."""
        raise NotImplementedError

    def stacked(self, extent: int | None) -> PartSpec:
        """Return what several of them are like in a batch."""
        raise TypeError(f"a {type(self).__name__} cannot be put into a batch")

    def unstacked(self) -> PartSpec:
        """Return what one row of it is like."""
        raise TypeError(f"a {type(self).__name__} has no rows")

    def is_compatible_with(self, spec_or_value: object) -> bool:
        """Say whether a value or a spec is of this kind."""
        return bool(getattr(spec_or_value, "part_spec", spec_or_value) == self)


LeafSpec: TypeAlias = TensorSpec | PartSpec
"""What one part of an element is like."""


def normal(value: object) -> object:
    """Return a value as an element: lists become tensors, and so does all that is no structure."""
    if isinstance(value, Mapping):
        made = {key: normal(each) for key, each in value.items()}
        return made if type(value) is dict else type(value)(made)  # type: ignore[call-arg]
    if isinstance(value, tuple):
        return pack_level(value, [normal(each) for each in value])
    return value if isinstance(value, Part) else convert(value)


def spec_of(element: object) -> object:
    """Return what an element is like, in its structure."""
    return pack_sequence_as(element, [leaf_spec(leaf) for leaf in flatten(element)])


def leaf_spec(leaf: Part | TfTensor) -> LeafSpec:
    """Return what one part is like."""
    return leaf.part_spec if isinstance(leaf, Part) else TensorSpec(leaf.shape, leaf.dtype)


def tensor_of(leaf: Part | TfTensor) -> TfTensor:
    """Return the tensor that stands for a part."""
    return leaf.part_tensor() if isinstance(leaf, Part) else leaf


def core_spec(spec: LeafSpec) -> CoreSpec:
    """Return element type and shape of the tensor that stands for a part."""
    if isinstance(spec, PartSpec):
        return CoreSpec(TEXT, ())
    return spec.traced_spec()


def leaf_of(spec: LeafSpec, tensor: object) -> object:
    """Return the part that a tensor stands for."""
    return spec.part_of(convert(tensor)) if isinstance(spec, PartSpec) else tensor


def packed(spec: object, tensors: Sequence[object]) -> object:
    """Return an element of tensors."""
    leaves = flatten(spec)
    return pack_sequence_as(spec, [leaf_of(s, t) for s, t in zip(leaves, tensors, strict=True)])


def packer(spec: object) -> Callable[[Sequence[Array]], object]:
    """Return what makes an element of computed arrays."""
    leaves = flatten(spec)
    if any(isinstance(leaf, PartSpec) for leaf in leaves):
        return lambda arrays: packed(spec, [wrap(x) for x in arrays])
    if not isinstance(spec, Mapping | tuple):
        return lambda arrays: EagerTensor(arrays[0])
    if type(spec) is tuple and all(x is y for x, y in zip(spec, leaves, strict=False)):
        return lambda arrays: tuple([EagerTensor(x) for x in arrays])
    return lambda arrays: pack_sequence_as(spec, [EagerTensor(x) for x in arrays])


def numpy_packer(spec: object) -> Callable[[Sequence[Array]], object]:
    """Return what makes an element of numpy's arrays and numbers."""
    leaves = flatten(spec)

    def value(leaf: LeafSpec, array: Array) -> Part | Array:
        if isinstance(leaf, PartSpec):
            return leaf.part_of(wrap(array))
        array = np.asarray(array)
        return array if array.ndim else array[()]

    return lambda arrays: pack_sequence_as(spec, list(map(value, leaves, arrays)))


def map_specs(function: Callable[..., object], spec: object) -> object:
    """Return a structure of what a function gives for each spec."""
    return pack_sequence_as(spec, [function(leaf) for leaf in flatten(spec)])


def with_front(spec: object, extent: int | None) -> object:
    """Return the specs of several elements stacked."""

    def front(leaf: LeafSpec) -> LeafSpec:
        if isinstance(leaf, PartSpec):
            return leaf.stacked(extent)
        dims = leaf.shape._dims
        return TensorSpec(None if dims is None else (extent, *dims), leaf.dtype)

    return map_specs(front, spec)


def without_front(spec: object) -> object:
    """Return the specs of one of several elements that are stacked."""

    def rest(leaf: LeafSpec) -> LeafSpec:
        if isinstance(leaf, PartSpec):
            return leaf.unstacked()
        dims = leaf.shape._dims
        if dims == ():
            raise ValueError("Cannot unbatch an input with scalar components.")
        return TensorSpec(None if dims is None else dims[1:], leaf.dtype)

    return map_specs(rest, spec)


def joined_spec(a: object, b: object) -> object:
    """Return the spec of what two specs describe, or raise `TypeError`."""
    one, two = flatten(a), flatten(b)
    if len(one) != len(two) or not _alike(a, b):
        raise TypeError(f"Incompatible dataset elements: {a} and {b} have different structures")
    return pack_sequence_as(a, [_joined(x, y) for x, y in zip(one, two, strict=True)])


def _alike(a: object, b: object) -> bool:
    """Say whether two structures have the same form."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(_alike(a[k], b[k]) for k in a)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_alike, a, b))
    return not isinstance(a, Mapping | tuple) and not isinstance(b, Mapping | tuple)


def _joined(a: LeafSpec, b: LeafSpec) -> LeafSpec:
    if isinstance(a, PartSpec) or isinstance(b, PartSpec):
        if a != b:
            raise TypeError(f"Incompatible dataset elements: {a} and {b}")
        return a
    if a.dtype != b.dtype:
        raise TypeError(
            f"Incompatible dataset elements: types {a.dtype} and {b.dtype} are different"
        )
    return TensorSpec(a.shape.most_specific_compatible_shape(b.shape), a.dtype)


def shapes_of(spec: object) -> object:
    """Return the shapes of an element."""
    return map_specs(lambda leaf: getattr(leaf, "shape", TensorShape(None)), spec)


def types_of(spec: object) -> object:
    """Return the element types of an element."""
    return map_specs(lambda leaf: leaf.dtype, spec)


def classes_of(spec: object) -> object:
    """Return the classes of the parts of an element."""
    return map_specs(lambda leaf: leaf.value_type, spec)
