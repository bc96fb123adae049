"""Elements with parts: tuples, dictionaries and named tuples of tensors and of datasets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from ....ir.types.tensor import Array
from ....ir.types.tensor import TensorSpec as CoreSpec
from ...data.batches import Pile
from ...data.stages import Stage, Stream, part
from ...values import nest
from ...values.nest import pack_level
from ...values.texts import TEXT
from .bridge import EagerTensor, TfTensor, wrap
from .nested import flatten, pack_sequence_as
from .shapes import TensorShape
from .specs import TensorSpec, TypeSpec
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


@runtime_checkable
class OfParts(Protocol):
    """A value of arrays that stands for a part of an element."""

    def as_part(self) -> Part:
        """Return the part."""


class NothingPile(Pile):
    """What stands for None in an element, and in a batch of such elements."""

    @classmethod
    def piled(cls, piles: Sequence[object]) -> NothingPile:
        """Return what stands for a batch."""
        return cls()

    def rows(self) -> None:
        """Say that each row is None, too."""

    def arrays(self) -> Sequence[Array]:
        """Return none."""
        return ()

    @classmethod
    def of(cls, arrays: Sequence[Array]) -> NothingPile:
        """Return what stands for None."""
        return cls()


class Pipeline(Part):
    """A dataset, as far as files need to know it that datasets are made of."""

    _stage: Stage
    element_spec: Any

    def __init__(self, stage: Stage, spec: object) -> None:
        raise NotImplementedError

    def made(self, stage: Stage, spec: object) -> Pipeline:
        """Return the dataset of a stage."""
        raise NotImplementedError

    def in_rows(self, tree: list[object]) -> Part:
        """Return the part that stands for datasets in lists, of which this is the first."""
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

    def part_of(self, tensor: TfTensor) -> Part | None:
        """Return the value that a tensor stands for."""
        raise NotImplementedError

    def stacked(self, extent: int | None) -> PartSpec:
        """Return what several of them are like in a batch."""
        raise TypeError(f"a {type(self).__name__} cannot be put into a batch")

    def unstacked(self) -> PartSpec:
        """Return what one row of it is like."""
        raise TypeError(f"a {type(self).__name__} has no rows")

    def numpy_value(self, array: Array) -> object:
        """Return what numpy's iterator gives for the array of an element, or raise `TypeError`."""
        raise TypeError(
            "`tf.data.Dataset.as_numpy_iterator()` is not supported for datasets that produce "
            f"values of type {getattr(self, 'value_type', type(self))}"
        )

    @classmethod
    def has_numpy_value(cls) -> bool:
        """Say whether numpy's iterator gives such parts."""
        return cls.numpy_value is not PartSpec.numpy_value

    def is_compatible_with(self, spec_or_value: object) -> bool:
        """Say whether a value or a spec is of this kind."""
        return bool(getattr(spec_or_value, "part_spec", spec_or_value) == self)


class NoneTensorSpec(TypeSpec, PartSpec):
    """What None is like as a part of an element."""

    value_type = type(None)

    def part_of(self, tensor: TfTensor) -> None:
        """Return None."""

    def numpy_value(self, array: Array) -> None:
        """Return None."""

    def stacked(self, extent: int | None) -> NoneTensorSpec:
        """Return what None is like in a batch: None."""
        return self

    def unstacked(self) -> NoneTensorSpec:
        """Return what a row of it is like."""
        return self

    def is_compatible_with(self, spec_or_value: object) -> bool:
        """Say whether a value is None, or a spec is one of it."""
        return spec_or_value is None or self == spec_or_value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NoneTensorSpec)

    def __hash__(self) -> int:
        return hash(NoneTensorSpec)

    def __repr__(self) -> str:
        return "NoneTensorSpec()"


LeafSpec: TypeAlias = TensorSpec | PartSpec
"""What one part of an element is like."""


def normal(value: object) -> object:
    """Return a value as an element: lists become tensors, and so does all that is no structure."""
    if isinstance(value, Mapping):
        made = {key: normal(each) for key, each in value.items()}
        return made if type(value) is dict else type(value)(made)  # type: ignore[call-arg]
    if isinstance(value, OfParts):
        return value.as_part()
    if isinstance(value, tuple):
        return pack_level(value, [normal(each) for each in value])
    if nest.is_own(value):
        return nest.with_own_parts(value, map(normal, nest.own_parts(value)))
    if value is None or isinstance(value, Part):
        return value
    leaves = flatten(value) if isinstance(value, list) else []
    if leaves and all(isinstance(leaf, Pipeline) for leaf in leaves):
        return leaves[0].in_rows(value)
    return convert(value)


def spec_of(element: object) -> object:
    """Return what an element is like, in its structure."""
    return pack_sequence_as(element, [leaf_spec(leaf) for leaf in flatten(element)])


def leaf_spec(leaf: Part | TfTensor | None) -> LeafSpec:
    """Return what one part is like."""
    if leaf is None:
        return NoneTensorSpec()
    return leaf.part_spec if isinstance(leaf, Part) else TensorSpec(leaf.shape, leaf.dtype)


def tensor_of(leaf: Part | TfTensor | None) -> TfTensor:
    """Return the tensor that stands for a part."""
    if leaf is None:
        return wrap(part(NothingPile()))
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
    if isinstance(spec, TensorSpec):
        return lambda arrays: EagerTensor(arrays[0])
    if type(spec) is tuple and all(x is y for x, y in zip(spec, leaves, strict=False)):
        return lambda arrays: tuple([EagerTensor(x) for x in arrays])
    return lambda arrays: pack_sequence_as(spec, [EagerTensor(x) for x in arrays])


def numpy_packer(spec: object) -> Callable[[Sequence[Array]], object]:
    """Return what makes an element of numpy's arrays and numbers."""
    leaves = flatten(spec)

    def value(leaf: LeafSpec, array: Array) -> object:
        if isinstance(leaf, PartSpec):
            return leaf.numpy_value(array)
        array = np.asarray(array)
        if not array.ndim:
            return array[()]
        array = array[...]
        array.setflags(write=False)  # it may be part of the dataset
        return array

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
    if len(one) != len(two) or not alike(a, b):
        raise TypeError(f"Incompatible dataset elements: {a} and {b} have different structures")
    return pack_sequence_as(a, [_joined(x, y) for x, y in zip(one, two, strict=True)])


def is_below(a: object, b: object) -> bool:
    """Say whether all that one spec describes is described by another one."""
    if isinstance(a, TensorSpec) and isinstance(b, TensorSpec):
        return a.is_subtype_of(b)
    return a == b


def alike(a: object, b: object) -> bool:
    """Say whether two structures have the same form."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(alike(a[k], b[k]) for k in a)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(alike, a, b))
    return not isinstance(a, Mapping | tuple) and not isinstance(b, Mapping | tuple)


def _joined(a: LeafSpec | None, b: LeafSpec | None) -> LeafSpec | None:
    if not isinstance(a, TensorSpec) or not isinstance(b, TensorSpec):
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
