"""Tables of buckets: what changes, with keys that stand for places that are empty or were emptied.

How many buckets there are, what is in them and when there come more is TensorFlow's; their order
is that in which keys came.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....ir.op import Array
from ...function.graph_data import RESOURCES
from ...graph.graph import GraphTensor
from ...values.dtypes import DTypeLike
from ...values.run_errors import InvalidArgumentError, UnimplementedError
from ...values.texts import Text
from ..core.bridge import TfTensor
from ..core.element_types import string
from ..core.values import convert
from .index import filled
from .tables import Key, MutableHashTable, shape_text

USUAL_BUCKETS = 1 << 17
MOST_FULL = 0.8
"""More than this share of the buckets is never taken."""


class DenseHashTable(MutableHashTable):
    """A table that changes, of which two keys stand for places that are empty or were emptied."""

    def __init__(
        self,
        key_dtype: DTypeLike,
        value_dtype: DTypeLike,
        default_value: object,
        empty_key: object,
        deleted_key: object,
        initial_num_buckets: int | None = None,
        name: str = "MutableDenseHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        super().__init__(key_dtype, value_dtype, default_value, name, checkpoint)
        marks = [_known(convert(each, key_dtype)) for each in (empty_key, deleted_key)]
        if marks[0].shape != marks[1].shape:
            raise InvalidArgumentError("Empty and deleted keys must have same shape")
        self._key_dims = marks[0].shape
        if self._key_dims and len(self._key_dims) > 1:
            raise InvalidArgumentError(
                f"Empty key must be a scalar or a vector, got shape {shape_text(self._key_dims)}"
            )
        self._marks = [self._names(each)[0] for each in marks]
        if self._marks[0] == self._marks[1]:
            raise InvalidArgumentError("Empty and deleted keys cannot be equal")
        self._buckets = USUAL_BUCKETS if initial_num_buckets is None else initial_num_buckets
        if self._buckets < 4 or self._buckets & (self._buckets - 1):
            raise InvalidArgumentError(
                f"Number of buckets must be at least 4 and a power of 2, got: {self._buckets}"
            )
        self._emptied: list[object] = []
        """The values whose keys were removed since there came more buckets."""

    def _check_keys(self, keys: Array, values: tuple[int, ...] | None) -> None:
        count = keys.shape[0] if keys.ndim else 1
        expected = (count, *self._key_dims)
        if keys.size != np.prod(expected, dtype=int):
            raise InvalidArgumentError(
                f"Expected key shape {shape_text(expected)} got {shape_text(keys.shape)}"
            )
        super()._check_keys(keys, values)

    kind = "table of buckets"

    def form(self) -> dict[str, object]:
        """Return what makes a table that has what this one has now."""
        marks = filled(self._marks, self.key_dtype, self._key_dims)
        empty, deleted = {"empty_key": marks[0]}, {"deleted_key": marks[1]}
        return {**super().form(), **empty, **deleted, "initial_num_buckets": self._buckets}

    erase = MutableHashTable.remove
    insert_or_assign = MutableHashTable.insert

    def _put_all(self, keys: Sequence[Key], values: Array) -> None:
        for key in keys:
            self._refuse(key)
        self._make_room(len(self._content) + len(keys))
        super()._put_all(keys, values)

    def _make_room(self, count: int) -> None:
        """Let there be buckets for so many keys; what was emptied is forgotten by then."""
        if count <= self._buckets * MOST_FULL and count + len(self._emptied) <= self._buckets:
            return
        self._emptied.clear()
        while count > self._buckets * MOST_FULL:
            self._buckets *= 2

    def _drop(self, key: Key) -> None:
        self._refuse(key)
        if key in self._content:
            self._emptied.append(self._content.pop(key))

    def _fill(self, keys: Array, values: Array) -> None:
        self._emptied.clear()
        self._buckets = len(keys)
        names = self._names(keys)
        there = [place for place, key in enumerate(names) if key not in self._marks]
        super()._fill(keys[there], values[there])

    def _found(self, keys: Array, default: Array) -> Sequence[Array | Text]:
        self._check_keys(keys, None)
        for key in self._names(keys):
            self._refuse(key)
        return super()._found(keys, default)

    def _refuse(self, key: Key) -> None:
        if key in self._marks:
            kind = "empty_key" if key == self._marks[0] else "deleted_key"
            raise InvalidArgumentError(f"Using the {kind} as a table key is not allowed")

    def _pairs(self) -> tuple[Array, Array]:
        """Return the keys and values of all buckets: also of empty ones, and emptied ones."""
        zeros = filled([b""] if self.value_dtype == string else [0], self.value_dtype, ())
        nothing = np.broadcast_to(zeros[0], self._dims)
        left = self._buckets - len(self._content) - len(self._emptied)
        keys = [*self._content, *[self._marks[1]] * len(self._emptied), *[self._marks[0]] * left]
        values = [*self._content.values(), *self._emptied, *[nothing] * left]
        return (
            filled(keys, self.key_dtype, self._key_dims),
            filled(values, self.value_dtype, self._dims),
        )


def _known(mark: TfTensor) -> Array:
    """Return the elements of a key, which must be known when the table is made."""
    if not isinstance(mark, GraphTensor):
        return mark._array
    if mark.op.type != "Const":
        raise UnimplementedError(
            f"{mark.name} is computed in the run, expected constants as empty and deleted key"
        )
    return np.asarray(mark.op.attributes["value"])


RESOURCES[DenseHashTable.kind] = DenseHashTable.of_form
