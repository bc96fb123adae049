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
        self.values = filled([*content.values()], value_dtype, ())
        self.are_texts = key_dtype == string
        self.table = np.full(1 << (2 * len(keys)).bit_length(), -1, np.int32)
        self.value_texts = Text(self.values).row if value_dtype == string else None
        if self.are_texts:
            row = Text(keys).row
            self.every, self.borders = row.every, np.append(row.begins, len(row.every))
            enter(self.every, self.borders, self.table)
        else:
            self.numbers = keys.astype(np.int64)
            enter_numbers(self.numbers, self.table)

    def places(self, keys: Array | Text) -> Array:
        """Return which key of the table each key is, one more than there are if it is none."""
        if not self.are_texts:
            numbers = np.ascontiguousarray(keys, np.int64).ravel()
            made = np.empty(len(numbers), np.int32)
            look_numbers_up(self.numbers, self.table, numbers, made)
            return made
        row = made_text(keys).row
        made = np.empty(len(row), np.int32)
        look_up(self.every, self.borders, self.table, row.every, row.sizes, made)
        return made

    def found(self, keys: Array | Text, rest: object) -> Array | Text:
        """Return the values of keys, another one for those that there are not."""
        places = self.places(keys)
        known = places < len(self.content)
        if self.value_texts is None:
            each = np.full(len(places), rest, self.values.dtype)
            each[known] = self.values[places[known]]
            return each.reshape(keys.shape)
        assert isinstance(rest, bytes), "values are texts"
        last = Texts(np.frombuffer(rest, np.uint8), np.array([len(rest)], np.int64))
        every = behind_each_other([self.value_texts.taken(places[known]), last])
        order = np.where(known, np.cumsum(known) - 1, len(every) - 1)
        return Text(every.taken(order), keys.shape)
