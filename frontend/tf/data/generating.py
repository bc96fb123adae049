"""Datasets of what generators of Python's give."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ....ir.op import Array
from ...data.sources import Generated
from ...data.stages import Element, Given, Stage, part
from ...values.context import entered
from ...values.run_errors import InvalidArgumentError, OpError, UnimplementedError, UnknownError
from ..core.bridge import EagerTensor, row_of
from ..core.nested import flatten, pack_sequence_as
from ..core.shapes import TensorShape
from ..core.specs import TensorSpec
from ..core.structures import PartSpec, normal, tensor_of
from ..core.values import array_of, convert

ERRORS: tuple[tuple[type[Exception], type[OpError]], ...] = (
    (NotImplementedError, UnimplementedError),
    (TypeError, InvalidArgumentError),
    (ValueError, InvalidArgumentError),
)
"""What a generator raises, and what that becomes where its elements are asked for."""


def spec_from_types(output_types: object, output_shapes: object = None) -> object:
    """Return the specs of types and shapes, which have the same structure or are left out."""
    types = flatten(output_types)
    if output_shapes is None:
        shapes: list[Any] = [None] * len(types)
    else:
        shapes = _shapes_like(output_types, output_shapes)
    leaves = [TensorSpec(TensorShape(s), t) for t, s in zip(types, shapes, strict=True)]
    return pack_sequence_as(output_types, leaves)


def _shapes_like(types: object, shapes: Any) -> list[object]:
    """Return the shapes of the parts; a shape may be a tuple or list of numbers itself."""
    if isinstance(types, dict):
        return [s for key in sorted(types) for s in _shapes_like(types[key], shapes[key])]
    if isinstance(types, tuple | list):
        if len(types) != len(shapes):
            raise ValueError(f"{len(types)} types and {len(shapes)} shapes")
        return [s for t, each in zip(types, shapes, strict=True) for s in _shapes_like(t, each)]
    return [shapes]


def generated(
    generator: Callable[..., object], types: object, shapes: object, args: Any, signature: object
) -> tuple[Stage, object]:
    """Return the stage of a generator, and what its elements are like."""
    if not callable(generator):
        raise TypeError("`generator` must be a Python callable.")
    if signature is None and types is None:
        raise TypeError(
            "Either `output_signature` or `output_types` must be specified: what elements are "
            "like is not known before they come"
        )
    if signature is not None and (types is not None or shapes is not None):
        raise TypeError(
            "Either `output_signature` or `output_types` and `output_shapes` are given, not both"
        )
    spec = spec_from_types(types, shapes) if signature is None else signature
    for leaf in flatten(spec):
        if not isinstance(leaf, TensorSpec | PartSpec):
            raise TypeError(
                "`output_signature` must contain objects that are subclass of `tf.TypeSpec` but "
                f"found {type(leaf)} which is not."
            )
    given = {f"x{i}": Given(convert(a)) for i, a in enumerate(args or ())}
    start = Starting(generator, spec)
    return Stage(Generated, (), {"start": start, **given}), spec


class Starting:
    """Begins a generator, and makes arrays of what it gives."""

    def __init__(self, generator: Callable[..., Any], spec: object) -> None:
        self.generator, self.spec, self.leaves = generator, spec, flatten(spec)

    def __call__(self, *arguments: Any) -> Iterator[Element]:
        """Return an iterator over elements; what Python raises becomes an error of a run."""
        given = [x.item() if x.dtype.kind == "O" and not x.ndim else x[()] for x in arguments]
        with entered(None):
            source = iter(self.generator(*given))
        return Guarded(source, self)

    def element(self, value: object) -> Element:
        """Return what the generator gave as arrays of the declared types and shapes."""
        parts = self.parts(self.spec, value)
        return tuple([self.array(s, v) for s, v in zip(self.leaves, parts, strict=True)])

    def parts(self, spec: object, value: object) -> list[object]:
        """Return the parts of a value by the structure that is declared."""
        if isinstance(spec, dict):
            if not isinstance(value, dict) or value.keys() != spec.keys():
                raise self.unlike(value)
            return [p for key in sorted(spec) for p in self.parts(spec[key], value[key])]
        if isinstance(spec, tuple | list):
            if not isinstance(value, tuple | list) or len(value) != len(spec):
                raise self.unlike(value)
            pairs: Sequence[Any] = list(zip(spec, value, strict=True))
            return [p for s, v in pairs for p in self.parts(s, v)]
        return [value]

    def unlike(self, value: object) -> TypeError:
        """Return the error of a value of another structure."""
        return TypeError(
            "`generator` yielded an element that did not match the expected structure. The "
            f"expected structure was {self.spec}, but the yielded element was {value!r}."
        )

    def array(self, spec: Any, value: Any) -> Array:
        """Return a part as an array of the declared type and shape."""
        if isinstance(spec, PartSpec):
            made = tensor_of(flatten(normal(value))[0]).numpy()
            return made if isinstance(made, np.ndarray) else part(made)
        row = row_of(spec.dtype)
        if isinstance(value, EagerTensor):
            value = value._array
        try:
            array = array_of(value, row)
        except (TypeError, ValueError):
            raise TypeError(
                "`generator` yielded an element that could not be converted to the expected type. "
                f"The expected type was {spec.dtype.name}, but the yielded element was {value!r}."
            ) from None
        if not spec.shape.is_compatible_with(array.shape):
            raise TypeError(
                f"`generator` yielded an element of shape {array.shape} where an element of shape "
                f"{spec.shape} was expected."
            )
        return array


class Guarded:
    """The elements of a generator; what it raises is an error by TensorFlow's name."""

    def __init__(self, source: Iterator[object], starting: Starting) -> None:
        self.source, self.starting = source, starting

    def __iter__(self) -> Guarded:
        return self

    def __next__(self) -> Element:
        with entered(None):
            try:
                return self.starting.element(next(self.source))
            except (StopIteration, OpError):
                raise
            except Exception as error:
                known = (made for raised, made in ERRORS if isinstance(error, raised))
                kind = next(known, UnknownError)
                raise kind(f"{type(error).__name__}: {error}") from error


__all__ = ["generated", "spec_from_types"]
