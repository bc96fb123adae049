"""What values that are made of several tensors have in common, and what describes them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import ClassVar, NoReturn, Self

import numpy as np

from ....ir.op import Array
from ....ir.types.tensor import TensorSpec as CoreSpec
from ...data.batches import Pile
from ...data.stages import part
from ...eager.tensor import Tensor
from ...values import nest
from ...values.dispatch import NotDenseError
from ...values.dtypes import DataType
from ...values.texts import TEXT
from ..core.bridge import SymbolicTfTensor, TfTensor, dressed, wrap
from ..core.host_ops import host
from ..core.specs import Specified, TensorSpec, TypeSpec
from ..core.structures import Part, PartSpec


class CompositeTensor(nest.TensorGroup, Part, Specified):
    """A value that is made of several tensors.

    Where a tensor is wanted in its place, it says so (`NotDenseError`): the function that was
    called may have a meaning for it.
    """

    pile: ClassVar[type[Pile]]
    """What its arrays are in elements of datasets."""

    def __gv_tensor__(self) -> NoReturn:
        raise NotDenseError(self)

    def type_spec(self) -> CompositeSpec:
        """Return what it is like."""
        raise NotImplementedError

    def components(self) -> list[TfTensor]:
        """Return the tensors."""
        raise NotImplementedError

    @property
    def _type_spec(self) -> CompositeSpec:
        return self.type_spec()

    def described(self) -> CompositeSpec:
        """Return what it is like."""
        return self.type_spec()

    def form(self) -> Hashable:
        """Return what there is of its description besides specs of tensors."""
        return self.type_spec().form()

    def differentiated(self) -> int:
        """Return the place of the component that has a gradient."""
        raise NotImplementedError

    def with_components(self, parts: Sequence[object]) -> object:
        """Return such a value of other tensors; of anything else, what it is like."""
        return self.type_spec().with_components(parts)

    def with_gradients(self, parts: Sequence[object]) -> object:
        """Return the gradient: a value of this form, None if there is none."""
        place = self.differentiated()
        if parts[place] is None:
            return None
        mine = self.components()
        return self.with_components([*mine[:place], parts[place], *mine[place + 1 :]])

    def gradients_of_parts(self, gradient: object) -> list[object]:
        """Return the gradient of each tensor, given that of the value or of its elements."""
        place, found = self.differentiated(), gradient
        if isinstance(gradient, CompositeTensor):
            found = gradient.components()[gradient.differentiated()]
        return [found if i == place else None for i, _ in enumerate(self.components())]

    def staged_parts(self) -> list[object] | None:
        """Return the tensors that a choice gives and a loop carries."""
        return [*self.components()]

    def with_staged_parts(self, parts: Sequence[object]) -> object:
        """Return such a value of other tensors."""
        return self.type_spec().relaxed().with_components(parts)

    def staged_copy(self) -> object:
        """Return the value: it does not change."""
        return self

    def staged_like(self, other: object) -> object:
        """Return what the other value is like."""
        return other

    def staged_shapes(self) -> list[object]:
        """Return the shapes of the tensors, which may have other sizes in each turn of a loop."""
        return [each.shape for each in self.type_spec().relaxed().components()]

    def consumers(self) -> list[object]:
        """Return the operations of its graph that take one of its tensors."""
        return [
            op for x in self.components() if isinstance(x, SymbolicTfTensor) for op in x.consumers()
        ]

    @property
    def fetched_parts(self) -> list[object]:
        """Return the tensors that a session fetches for it."""
        return [*self.components()]

    def fetched(self, values: Sequence[object]) -> object:
        """Return what a session gives for it."""
        raise NotImplementedError

    @property
    def part_spec(self) -> CompositeSpec:
        """Return what it is like as a part of an element."""
        return self.type_spec()

    def part_tensor(self) -> TfTensor:
        """Return the tensor that stands for it in an element."""
        pile = self.pile

        def compute(*arrays: Array) -> Sequence[Array]:
            return (part(pile(*arrays)),)

        return host("Serialize", compute, self.components(), [CoreSpec(TEXT, ())])[0]


class CompositeSpec(TypeSpec, nest.TensorGroup, PartSpec):
    """What a value is like that is made of several tensors."""

    value_type: ClassVar[type[CompositeTensor]]
    dtype: DataType

    def made(self, parts: Sequence[TfTensor]) -> CompositeTensor:
        """Return a value of tensors."""
        raise NotImplementedError

    def specs_of_parts(self) -> list[TensorSpec]:
        """Return new specs of the tensors."""
        raise NotImplementedError

    @cached_property
    def _specs(self) -> list[TensorSpec]:
        return self.specs_of_parts()

    def components(self) -> list[TensorSpec]:
        """Return the specs of the tensors; a signature is asked for them at each call."""
        return [*self._specs]

    def without_rows(self) -> list[Array]:
        """Return the tensors of a value that has no rows."""
        made = []
        for each in self.components():
            dims = [0] if each.shape.rank is None else [n or 0 for n in each.shape.as_list()]
            text = each.dtype.name == "string"
            made.append(
                np.full(dims, b"", object)
                if text
                else np.zeros(dims, each.traced_spec().dtype.numpy)
            )
        return made

    def relaxed(self) -> CompositeSpec:
        """Return the description of values of this rank and any size."""
        raise NotImplementedError

    def with_components(self, parts: Sequence[object]) -> object:
        """Return a value of tensors; of anything else, the description."""
        tensors = [dressed(x) for x in parts if isinstance(x, Tensor)]
        return self.made(tensors) if len(tensors) == len(parts) else self

    def described(self) -> Self:
        """Return the description: it is one."""
        return self

    @classmethod
    def from_value(cls, value: CompositeTensor) -> CompositeSpec:
        """Return what a value is like."""
        return value.type_spec()

    def part_of(self, tensor: TfTensor) -> CompositeTensor:
        """Return the value that a tensor of an element stands for."""

        def compute(value: Array) -> Sequence[Array]:
            pile: Pile | bytes = value.item()
            if isinstance(pile, bytes):  # where a loop's data has come to its end
                return self.without_rows()
            made: Sequence[Array] = pile.arrays()
            return made

        specs = [each.traced_spec() for each in self.components()]
        return self.made(host("Deserialize", compute, [tensor], specs))

    def numpy_value(self, array: Array) -> object:
        """Return what numpy's iterator gives: an array where there is one of all elements."""
        value = self.part_of(wrap(array))
        return value.numpy() if hasattr(value, "numpy") else value

    def is_compatible_with(self, spec_or_value: object) -> bool:
        """Say whether a value or a description is of this kind."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.form() == other.form()

    def __hash__(self) -> int:
        return hash(self.form())
