"""Where keys stand among those of a table: many are looked up by one loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ....ir.op import Array
from ...values.dtypes import DataType
from ...values.text_loops import enter, enter_numbers, look_numbers_up, look_up
from ...values.texts import Text, Texts, behind_each_other, made_text
from ..core.element_types import string


def filled(values: Sequence[object], dtype: DataType, dims: tuple[int, ...]) -> Array:
    """Return values, each of some shape, as an array."""
    if dtype == string:
        made = np.empty((len(values), *dims), object)
        if not dims:
            made[:] = values
            return made
        for place, value in enumerate(values):
            made[place] = value
        return made
    return np.array(values, dtype.row.numpy).reshape(len(values), *dims)


class KeyIndex:
    """The keys and values of a table that does not change any more; keys are texts or integers."""

    def __init__(
        self, content: Mapping[object, object], key_dtype: DataType, value_dtype: DataType
    ) -> None:
        self.content = content
        keys = filled([*content], key_dtype, ())
        values = filled([*content.values()], value_dtype, ())
        self.values = Text(values).row if value_dtype == string else values
        self._with_rest: tuple[bytes, Texts] | None = None
        self.are_texts = key_dtype == string
        self.table = np.full(1 << (2 * len(keys)).bit_length(), -1, np.int32)
        if self.are_texts:
            row = Text(keys).row
            self.every, self.entries = row.every, np.empty(2 * len(keys) + 1, np.uint64)
            enter(self.every, row.sizes, self.entries, self.table)
        else:
            self.numbers = keys.astype(np.int64)
            enter_numbers(self.numbers, self.table)

    def places(self, keys: Array | Text) -> tuple[Array, int]:
        """Return which key of the table each key is, one more than there are if it is none.

        Beside it, how many are none.
        """
        if not self.are_texts:
            numbers = np.ascontiguousarray(keys, np.int64).ravel()
            made = np.empty(len(numbers), np.int64)
            return made, look_numbers_up(self.numbers, self.table, numbers, made)
        row = made_text(keys).row
        made = np.empty(len(row), np.int64)
        known = self.every, self.entries, self.table
        return made, look_up(*known, row.every, row.sizes, made)

    def found(self, keys: Array | Text, rest: object) -> Array | Text:
        """Return the values of keys, another one for those that there are not."""
        places, missing = self.places(keys)
        if isinstance(self.values, Texts):
            assert isinstance(rest, bytes), "values are texts"
            return Text(self._texts(self.values, rest).taken(places), keys.shape)
        if missing == len(places):
            return np.full(keys.shape, rest, self.values.dtype)
        each = self.values.take(places, mode="clip")
        if missing:
            each[places == len(self.values)] = rest
        return each.reshape(keys.shape)

    def _texts(self, values: Texts, rest: bytes) -> Texts:
        """Return the values, and behind them the text of keys that there are not."""
        known = self._with_rest  # which another thread may change
        if known is None or known[0] != rest:
            known = self._with_rest = rest, behind_each_other([values, Texts.of([rest])])
        return known[1]
