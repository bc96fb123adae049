"""Texts cut into pieces, and pieces in groups: rows of texts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ....ir.op import Array
from ....ir.types import dtypes as kinds
from ....ir.types.dtypes import DType
from ...data.stored import StoredStep, stored
from ...eager.tensor import Tensor
from ...values.texts import TEXT, Text, Texts, made_text
from ..core.bridge import TfTensor
from ..core.host_ops import host, unknown
from ..core.values import require_text, static
from ..nondense.sparse_tensor import SparseTensor
from ..ops import array_ops as a
from ..ragged.partition import RowPartition
from ..ragged.planning import with_levels
from ..ragged.rows import splits_of
from ..ragged.tensor import Ragged, RaggedTensor, ragged_or_tensor, same_graph
from .grouping import group

Lists = Sequence[Sequence[object]]
"""What a function makes of a text: lists of one length."""


def array(values: Sequence[object], row: DType) -> Array:
    """Return values as an array of a type."""
    if row is not TEXT:
        return np.array(values, row.numpy)
    made = np.empty(len(values), object)
    made[:] = values
    return made


Parts = tuple[Sequence[Array | Text], Array]
"""Parts of many texts, one behind the other, and how many each text has."""


class OfMany(ABC):
    """A function of a text that may do the same to many of them in far fewer steps."""

    @abstractmethod
    def __call__(self, text: bytes) -> Lists:
        """Return the parts of a text."""

    @abstractmethod
    def many(self, texts: Texts) -> Parts | None:
        """Return the parts of texts; None: each has to be looked at."""


class Bytes(OfMany):
    """Cuts a text into its bytes."""

    def __call__(self, text: bytes) -> Lists:
        """Return the bytes, each as a text."""
        return [[text[i : i + 1] for i in range(len(text))]]

    def many(self, texts: Texts) -> Parts:
        """Return those of many texts."""
        return [Text(Texts(texts.every, np.ones(len(texts.every), np.int64)))], texts.sizes


@dataclass(frozen=True)
class Cutter(OfMany):
    """Cuts a text at a separator, at white space if there is none."""

    sign: bytes | None
    most: int

    def __call__(self, text: bytes) -> Lists:
        """Return the pieces.

        At white space what is left behind so many pieces is one more, if nothing is left too.
        """
        if self.sign is None and self.most == 0:
            return [[text]]
        pieces = text.split(self.sign, self.most)
        if self.sign is None and len(pieces) == self.most > 0:
            pieces.append(b"")
        return [pieces]

    def many(self, texts: Texts) -> Parts | None:
        """Return those of many texts, if they are cut everywhere, and by one byte."""
        if self.most >= 0 or (self.sign is not None and len(self.sign) > 1):
            return None
        found, counts = texts.words() if self.sign is None else texts.between(self.sign[0])
        return [Text(found)], counts


@dataclass(frozen=True)
class TextRows:
    """A step that makes rows of texts by a function of each; it is stored if that one is."""

    function: Callable[[bytes], Lists]
    rows: Sequence[DType]
    has_splits: bool

    def __call__(self, texts: Array | Text) -> Sequence[object]:
        """Return the parts of all rows, one behind the other, and where rows begin."""
        given = made_text(texts)
        function, found = self.function, None
        if isinstance(function, OfMany) and given.is_long:
            found = function.many(given.row)
        parts, counts = self.one_by_one(given.array.ravel().tolist()) if found is None else found
        if given is not texts:  # of a graph, whose values are arrays
            parts = [np.asarray(x) for x in parts]
        return [*parts, splits_of(counts)] if self.has_splits else parts

    def one_by_one(self, every: Sequence[bytes]) -> Parts:
        """Return the parts, and how many each text has."""
        values: list[list[object]] = [[] for _ in self.rows]
        counts = []
        for text in every:
            found = self.function(text)
            counts.append(len(found[0]))
            for i, more in enumerate(found):
                values[i] += more
        parts = [array(x, row) for x, row in zip(values, self.rows, strict=True)]
        return parts, np.array(counts, np.int64)

    @property
    def as_stored(self) -> Callable[[], StoredStep] | None:
        """Return what gives the step's form, None if the function has none."""
        if not isinstance(self.function, Cutter):
            return None
        held = {"sign": self.function.sign, "most": self.function.most}
        return lambda: StoredStep("texts cut", {**held, "has_splits": self.has_splits})


@stored("texts cut")
def _cut(sign: bytes | None, most: int, has_splits: bool) -> TextRows:
    """Return what cuts texts, and says where the pieces of each begin."""
    return TextRows(Cutter(sign, most), [TEXT], has_splits)


def in_rows(
    type_: str,
    x: Ragged,
    function: Callable[[bytes], Lists],
    rows: Sequence[DType],
    name: str | None = None,
) -> list[Ragged]:
    """Return what a function makes of each text, as rows: one more axis than the texts have."""
    if isinstance(x, RaggedTensor):
        return [x.with_flat_values(y) for y in in_rows(type_, x.flat_values, function, rows, name)]
    dims = x.shape._dims
    if dims is None:
        raise ValueError("Rank of `input` must be statically known.")
    if len(dims) > 1:
        return in_rows(type_, with_levels(x, len(dims) - 1), function, rows, name)

    compute = TextRows(function, rows, has_splits=bool(dims))
    specs = [unknown(row, None) for row in rows]
    if not dims:
        return [*host(type_, compute, [x], specs, reads_text=True, name=name)]
    size = None if dims[0] is None else dims[0] + 1
    specs.append(unknown(kinds.i64, size))
    *parts, splits = host(type_, compute, [x], specs, reads_text=True, name=name)
    return [RaggedTensor.cut(part, RowPartition(splits)) for part in parts]


def texts_of(value: object, name: str = "input", type_: str = "") -> Ragged:
    """Return texts as a tensor or a ragged one.

    Where an operation of a type takes a tensor as it is, it is the operation that refuses others.
    """
    if type_ and isinstance(value, Tensor):
        require_text(value.spec.dtype, type_)
    made = ragged_or_tensor(value, "string", name)
    if made.dtype.name != "string":
        raise TypeError(f"{name} must be of type string, found {made.dtype.name}")
    return made


def cutter(sep: object, maxsplit: int) -> Cutter:
    """Return what cuts a text at a separator, at white space if none is given."""
    sign = sep.encode() if isinstance(sep, str) else sep
    sign = sign or None
    assert sign is None or isinstance(sign, bytes), "a separator is text"
    return Cutter(sign, maxsplit)


def split(input: object, sep: object = None, maxsplit: int = -1, name: str | None = None) -> Ragged:
    """Cut texts at a separator, at white space if none is given."""
    sep = static(sep)
    with same_graph(input):
        return in_rows("StringSplitV2", texts_of(input), cutter(sep, maxsplit), [TEXT], name)[0]


def bytes_split(input: object, name: str | None = None) -> Ragged:
    """Return the bytes of texts, each as a text."""
    with same_graph(input):
        return in_rows("StringBytesSplit", texts_of(input), Bytes(), [TEXT], name)[0]


def first_split(
    input: object = None,
    sep: object = None,
    maxsplit: int = -1,
    result_type: str = "SparseTensor",
    source: object = None,
    name: str | None = None,
) -> SparseTensor | Ragged:
    """Cut texts as the first version does: into a sparse tensor, or rows."""
    found = source if input is None else input
    with same_graph(found):
        x = texts_of(found)
        if x.shape.rank == 0:
            x = a.expand_dims(x, 0) if isinstance(x, TfTensor) else x
        made = split(x, sep, maxsplit, name)
        return as_asked(made, result_type)


def as_asked(made: Ragged, result_type: str) -> SparseTensor | Ragged:
    """Return rows, as a sparse tensor if that is asked for."""
    if result_type not in ("SparseTensor", "RaggedTensor"):
        raise ValueError(f"result_type must be 'RaggedTensor' or 'SparseTensor', {result_type!r}")
    if result_type == "RaggedTensor":
        return made
    assert isinstance(made, RaggedTensor), "there are rows"
    found = made.to_sparse()
    assert isinstance(found, SparseTensor), "rows have such a form"
    return found


def string_split(
    source: object = None,
    sep: object = None,
    skip_empty: bool = True,
    delimiter: object = None,
    result_type: str = "SparseTensor",
    name: str | None = None,
) -> SparseTensor | Ragged:
    """Cut texts at any of several characters; without any, into bytes."""
    signs = static(sep if sep is not None else delimiter)
    signs = " " if signs is None else signs
    every = signs.encode() if isinstance(signs, str) else signs

    def function(text: bytes) -> Lists:
        found = [b""]
        for i in range(len(text)):
            if text[i] in every:
                found.append(b"")
            else:
                found[-1] += text[i : i + 1]
        return [[x for x in found if x or not skip_empty] if text or not skip_empty else []]

    with same_graph(source):
        x = texts_of(source)
        if x.shape.rank == 0 and isinstance(x, TfTensor):
            x = a.expand_dims(x, 0)
        if x.shape.rank not in (1, None):
            raise ValueError(f"Shape must be rank 1 but is rank {x.shape.rank}")
        cut = function if every else Bytes()
        return as_asked(in_rows("StringSplit", x, cut, [TEXT], name)[0], result_type)


def ngrams(
    data: object,
    ngram_width: object,
    separator: str | bytes = " ",
    pad_values: object = None,
    padding_width: int | None = None,
    preserve_short_sequences: bool = False,
    name: str | None = None,
) -> Ragged:
    """Return groups of so many texts that follow one another in a row, joined."""
    with same_graph(data):
        x = texts_of(data, "data")
        dense = isinstance(x, TfTensor)
        rank = x.shape.rank
        if rank is None:
            raise ValueError("the rank of data must be known")
        if rank == 0:
            raise ValueError("Data must have rank>0")
        groups = Groups(ngram_width, separator, pad_values, padding_width)
        groups.keeps_short = preserve_short_sequences
        if isinstance(x, TfTensor) and rank == 1:
            return groups.joined(x, a.pad(a.shape(x, "int64"), [[1, 0]]), 2, name)[0]
        row = with_levels(x, rank - 1) if isinstance(x, TfTensor) else x
        assert isinstance(row, RaggedTensor), "there are rows"
        inner = row
        while isinstance(inner.values, RaggedTensor):
            inner = inner.values
        texts, ends = groups.joined(inner.flat_values, inner.row_splits, _more(inner), name)
        made = _replaced(row, RaggedTensor.cut(texts, RowPartition(ends)))
        return made.to_tensor() if dense else made


def _more(x: RaggedTensor) -> int | None:
    count = x.shape.as_list()[0]
    return None if count is None else count + 1


def _replaced(x: RaggedTensor, last: RaggedTensor) -> RaggedTensor:
    """Return rows with the last level of them replaced."""
    if not isinstance(x.values, RaggedTensor):
        return last
    return RaggedTensor.cut(_replaced(x.values, last), x.row_partition)


class Groups:
    """How many texts make a group, what is put between them and at the ends of rows."""

    keeps_short = False
    """Whether a row that is too short for a group is one."""

    def __init__(
        self,
        ngram_width: object,
        separator: str | bytes,
        pad_values: object,
        padding_width: int | None,
    ) -> None:
        widths = ngram_width if isinstance(ngram_width, list | tuple) else [ngram_width]
        if not widths or not all(isinstance(n, int) for n in widths):
            raise TypeError(
                f"ngram_width must be an integer or a tuple of them, got {ngram_width!r}"
            )
        self.widths: list[int] = [n for n in widths if isinstance(n, int)]
        if any(n < 1 for n in self.widths):
            raise ValueError(f"All ngram_widths must be greater than 0. Got {ngram_width}")
        self.separator = separator.encode() if isinstance(separator, str) else separator
        self.pads = _pads(pad_values)
        if padding_width is not None and padding_width < 1:
            raise ValueError(f"padding_width must be greater than 0. Got {padding_width}")
        if padding_width is not None and self.pads is None:
            raise ValueError("pad_values must be provided if padding_width is set.")
        self.padding = padding_width

    def joined(
        self, texts: TfTensor, splits: TfTensor, count: int | None, name: str | None
    ) -> list[TfTensor]:
        """Return the groups of texts in rows between so many ends, and where their rows end."""
        specs = [unknown(TEXT, None), unknown(kinds.i64, count)]
        given = [texts, splits]
        return host("StringNGrams", self.made, given, specs, reads_text=True, name=name)

    def made(self, given: Array | Text, ends: Array | Text) -> Sequence[object]:
        """Return the groups of all rows, those of the first width first, and where rows end."""
        texts = made_text(given).row
        splits = np.ascontiguousarray(ends.array if isinstance(ends, Text) else ends, np.int64)
        if not len(texts):  # then TensorFlow fills nothing up, too
            none = splits_of(np.zeros(max(len(splits) - 1, 0), np.int64))
            return given if isinstance(given, Text) else given.ravel(), none
        left, right = self.pads or (b"", b"")
        most = None if self.pads is None else self.padding
        pads = np.array([0 if self.pads is None else n - 1 for n in self.widths])
        short = int(pads[0]) if most is None else most
        if most is not None:
            pads = np.minimum(pads, most)
        widths, sizes = np.array(self.widths), np.diff(splits)
        counts = np.maximum(sizes[:, None] + 2 * pads - widths + 1, 0).sum(axis=1)
        if self.keeps_short:
            counts += (counts == 0) & (sizes > 0)
        parts = self.separator, left, right
        lengths = np.array([len(x) for x in parts])
        signs = np.stack([len(texts.every) + np.cumsum(lengths) - lengths, lengths], 1)
        every = np.concatenate([texts.every, np.frombuffer(b"".join(parts), np.uint8)])
        plan = every, texts.begins, texts.sizes, splits, signs, widths, pads
        groups = np.empty(counts.sum(), np.int64)
        wanted = *plan, short if self.keeps_short else -1
        room = np.empty(group(*wanted, every[:0], groups), np.uint8)
        if len(room):
            group(*wanted, room, groups)
        made = Text(Texts(room, groups))
        return made if isinstance(given, Text) else made.array, splits_of(counts)


def _pads(values: object) -> tuple[bytes, bytes] | None:
    """Return what stands before and behind a row."""
    if values is None:
        return None
    if isinstance(values, str | bytes):
        values = (values, values)
    if not isinstance(values, list | tuple) or len(values) != 2:
        raise TypeError(f"pad_values must be a string, a pair of strings or None, got {values!r}")
    if not all(isinstance(x, str | bytes) for x in values):
        raise TypeError(f"pad_values must be texts, got {values!r}")
    left, right = (x.encode() if isinstance(x, str) else bytes(x) for x in values)
    return left, right
