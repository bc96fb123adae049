"""`RowPartition`: how values are cut into rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ....ir.op import Array
from ....ir.types import dtypes as kinds
from ...values.context import STATE
from ...values.dtypes import DataType, DTypeLike
from ...values.run_errors import InvalidArgumentError
from ..core.bridge import EagerTensor, TfTensor, row_of
from ..core.element_types import as_dtype
from ..core.host_ops import Specs, host, unknown
from ..core.values import InGraph, convert, graph_of, is_typed, static
from ..ops import array_ops as a
from ..ops import math_ops as m
from ..ops.creation import range_
from .rows import ranges, splits_of

WIDE = kinds.i64


def computed(
    type_: str,
    compute: Callable[..., Sequence[object]],
    tensors: Sequence[TfTensor],
    specs: Specs,
    name: str | None = None,
) -> list[TfTensor]:
    """Return what the host makes of tensors; of constants, while a graph is made: constants."""
    if graph_of(tensors) is None:
        return host(type_, compute, tensors, specs, name=name)
    known = [static(x) for x in tensors]
    if any(isinstance(k, TfTensor) for k in known):
        return host(type_, compute, tensors, specs, name=name)
    arrays = [np.asarray(k, x.spec.dtype.numpy) for k, x in zip(known, tensors, strict=True)]
    with InGraph(graph_of(tensors)):
        return [convert(x) for x in compute(*arrays)]


def whole_numbers(
    value: object, dtype: DTypeLike | None, name: str, hint: DTypeLike = "int64"
) -> TfTensor:
    """Return a value as a tensor of int32 or int64; numbers of Python are of the type `hint`."""
    typed = is_typed(value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "iu":
        found = convert(value.astype(np.int32 if value.dtype.itemsize < 8 else np.int64))
    else:
        found = convert(value, None if typed else dtype or hint, name)
    if found.spec.dtype not in (kinds.i32, kinds.i64):
        raise ValueError(f"{name} must have dtype int32 or int64, got {found.dtype.name}")
    return found if dtype is None else m.cast(found, dtype)


def _known(tensor: TfTensor) -> Array | None:
    """Return the elements of a tensor if they are known while a graph is made."""
    if tensor.__class__ is EagerTensor:
        return tensor._array
    found = static(tensor)
    return None if isinstance(found, TfTensor) else np.asarray(found)


def agreed(
    mine: TfTensor, theirs: TfTensor, wrong: str, passed: TfTensor | None = None
) -> TfTensor:
    """Return the splits that two values have, or what is passed on; raise if they differ."""
    found = mine if passed is None else passed
    if mine is theirs:
        return found

    def compute(one: Array, two: Array, *rest: Array) -> Sequence[Array]:
        if len(one) != len(two) or (one != two).any():
            raise InvalidArgumentError(f"{wrong}: {one.tolist()} against {two.tolist()}")
        return rest or (one,)

    more = [] if passed is None else [passed]
    return computed("SameSplits", compute, [mine, theirs, *more], [found.spec])[0]


def size_of(tensor: TfTensor) -> int | None:
    """Return how many rows a tensor has, None if that is not known."""
    dims = tensor.shape._dims
    return None if not dims else dims[0]


def checked(
    form: str, test: Callable[..., str | None], tensor: TfTensor, more: Sequence[TfTensor] = ()
) -> TfTensor:
    """Return a tensor of numbers if a test says nothing against it."""

    def compute(numbers: Array, *others: Array) -> Sequence[Array]:
        wrong = test(numbers, *others)
        if wrong:
            raise InvalidArgumentError(
                f"Arguments to {form} do not form a valid RaggedTensor:{wrong}"
            )
        return (numbers,)

    spec = tensor.spec
    return computed("CheckRows", compute, [tensor, *more], [spec])[0]


def _against_splits(splits: Array) -> str | None:
    if splits[0] != 0:
        return "zero"
    return "monotonic" if (np.diff(splits) < 0).any() else None


class RowPartition:
    """How values are cut into rows: by the places where rows begin and end."""

    __slots__ = ("_lengths", "_nrows", "_rowids", "_splits", "_uniform")

    def __init__(
        self,
        row_splits: TfTensor,
        *,
        lengths: TfTensor | None = None,
        rowids: TfTensor | None = None,
        nrows: TfTensor | None = None,
        uniform: TfTensor | None = None,
    ) -> None:
        self._splits, self._lengths, self._rowids = row_splits, lengths, rowids
        self._nrows, self._uniform = nrows, uniform

    @classmethod
    def from_row_splits(
        cls,
        row_splits: object,
        validate: bool = True,
        dtype: DTypeLike | None = None,
        dtype_hint: DTypeLike = "int64",
    ) -> RowPartition:
        """Return rows that begin and end at these places."""
        _refuse_no_flag(validate)
        if isinstance(row_splits, list | tuple) and not row_splits:
            raise ValueError("row_splits tensor may not be empty.")
        with InGraph(graph_of([row_splits])):
            splits = whole_numbers(row_splits, dtype, "row_splits", dtype_hint)
            splits.shape.assert_has_rank(1)
            if size_of(splits) == 0:
                raise ValueError("row_splits tensor may not be empty.")
            if validate:
                splits = checked("from_row_splits", _against_splits, splits)
            return cls(splits)

    @classmethod
    def from_row_lengths(
        cls,
        row_lengths: object,
        validate: bool = True,
        dtype: DTypeLike | None = None,
        dtype_hint: DTypeLike = "int64",
    ) -> RowPartition:
        """Return rows of these lengths."""
        _refuse_no_flag(validate)
        with InGraph(graph_of([row_lengths])):
            lengths = whole_numbers(row_lengths, dtype, "row_lengths", dtype_hint)
            lengths.shape.assert_has_rank(1)
            if validate:
                lengths = checked(
                    "from_row_lengths", lambda n: "negative" if (n < 0).any() else None, lengths
                )
            return cls(_behind_zero(m.cumsum(lengths)), lengths=lengths)

    @classmethod
    def from_row_starts(
        cls,
        row_starts: object,
        nvals: object,
        validate: bool = True,
        dtype: DTypeLike | None = None,
        dtype_hint: DTypeLike = "int64",
    ) -> RowPartition:
        """Return rows that begin at these places."""
        _refuse_no_flag(validate)
        with InGraph(graph_of([row_starts, nvals])):
            starts = whole_numbers(row_starts, dtype, "row_starts", dtype_hint)
            starts.shape.assert_has_rank(1)
            end = m.cast(whole_numbers(nvals, dtype, "nvals"), starts.dtype)
            splits = a.concat([starts, a.reshape(end, [1])], 0)
            if validate:
                splits = checked("from_row_starts", _against_splits, splits)
            return cls(splits)

    @classmethod
    def from_row_limits(
        cls,
        row_limits: object,
        validate: bool = True,
        dtype: DTypeLike | None = None,
        dtype_hint: DTypeLike = "int64",
    ) -> RowPartition:
        """Return rows that end at these places."""
        _refuse_no_flag(validate)
        with InGraph(graph_of([row_limits])):
            limits = whole_numbers(row_limits, dtype, "row_limits", dtype_hint)
            limits.shape.assert_has_rank(1)
            splits = _behind_zero(limits)
            if validate:
                splits = checked("from_row_limits", _against_splits, splits)
            return cls(splits)

    @classmethod
    def from_value_rowids(
        cls,
        value_rowids: object,
        nrows: object = None,
        validate: bool = True,
        dtype: DTypeLike | None = None,
        dtype_hint: DTypeLike = "int64",
    ) -> RowPartition:
        """Return rows of which each value names its own; they are in order."""
        _refuse_no_flag(validate)
        with InGraph(graph_of([value_rowids, nrows])):
            rowids = whole_numbers(value_rowids, dtype, "value_rowids", dtype_hint)
            rowids.shape.assert_has_rank(1)
            more: list[TfTensor] = []
            if nrows is not None:
                more = [m.cast(whole_numbers(nrows, dtype, "nrows"), rowids.dtype)]
                more[0].shape.assert_has_rank(0)
                _refuse_too_few(more[0], rowids)
            row = rowids.spec.dtype
            number = row.numpy

            def compute(ids: Array, *count: Array) -> Sequence[Array]:
                if validate and (np.diff(ids) < 0).any():
                    raise InvalidArgumentError(
                        "Arguments to from_value_rowids do not form a valid RaggedTensor:sorted"
                    )
                found = int(ids.max(initial=-1)) + 1
                total = int(count[0]) if count else found
                if validate and (total < found or (len(ids) and ids.min() < 0)):
                    raise InvalidArgumentError(
                        "Arguments to from_value_rowids do not form a valid RaggedTensor: a row "
                        f"id is {ids.max()}, expected one in [0, {total})"
                    )
                return (splits_of(np.bincount(ids, minlength=total)[:total]).astype(number),)

            known = None if not more else _known(more[0])
            extent = None if known is None else int(known) + 1
            splits = computed("RowIds", compute, [rowids, *more], [unknown(row, extent)])[0]
            return cls(splits, rowids=rowids, nrows=more[0] if more else None)

    @classmethod
    def from_uniform_row_length(
        cls,
        uniform_row_length: object,
        nvals: object = None,
        nrows: object = None,
        validate: bool = True,
        dtype: DTypeLike | None = None,
        dtype_hint: DTypeLike = "int64",
    ) -> RowPartition:
        """Return rows of one length."""
        _refuse_no_flag(validate)
        if nvals is None and nrows is None:
            raise ValueError("Either (or both) of nvals and nrows must be specified")
        with InGraph(graph_of([uniform_row_length, nvals, nrows])):
            given = [x for x in (uniform_row_length, nvals, nrows) if is_typed(x)]
            row = dtype or (whole_numbers(given[0], None, "nvals").dtype if given else dtype_hint)
            length = m.cast(whole_numbers(uniform_row_length, row, "uniform_row_length"), row)
            length.shape.assert_has_rank(0)
            have = None if nvals is None else m.cast(whole_numbers(nvals, row, "nvals"), row)
            count = None if nrows is None else m.cast(whole_numbers(nrows, row, "nrows"), row)
            if count is None:
                assert have is not None, "one of both was given"
                count = _quotient(have, length)
            if validate:
                count = _fitting(length, have, count)
            number = _known(count)
            size = _known(length)
            if number is not None and size is not None:
                splits = convert(np.arange(int(number) + 1) * int(size), row)
            else:
                splits = m.FUNCTIONS["multiply"](range_(count + 1), length)
            return cls(splits, nrows=count, uniform=length)

    @property
    def dtype(self) -> DataType:
        """Return the type of the numbers."""
        return self._splits.dtype

    def row_splits(self) -> TfTensor:
        """Return where rows begin and end."""
        return self._splits

    def row_starts(self) -> TfTensor:
        """Return where rows begin."""
        return self._splits[:-1]

    def row_limits(self) -> TfTensor:
        """Return where rows end."""
        return self._splits[1:]

    def row_lengths(self) -> TfTensor:
        """Return the lengths of the rows."""
        if self._lengths is not None:
            return self._lengths
        made = self._splits[1:] - self._splits[:-1]
        if not STATE.busy and made.__class__ is EagerTensor:
            self._lengths = made
        return made

    def nrows(self, out_type: DTypeLike | None = None) -> TfTensor:
        """Return how many rows there are."""
        count = self.static_nrows
        dtype = out_type or self.dtype
        if count is not None:
            with InGraph(graph_of([self._splits])):
                return convert(count, dtype)
        return m.cast(a.shape(self._splits, "int64")[0] - 1, dtype)

    def nvals(self, out_type: DTypeLike | None = None) -> TfTensor:
        """Return how many values there are."""
        return m.cast(self._splits[-1], out_type or self.dtype)

    def value_rowids(self) -> TfTensor:
        """Return the row of each value."""
        if self._rowids is not None:
            return self._rowids
        number = self._splits.spec.dtype.numpy

        def compute(splits: Array) -> Sequence[Array]:
            return (np.repeat(np.arange(len(splits) - 1), np.diff(splits)).astype(number),)

        spec = unknown(self._splits.spec.dtype, None)
        return computed("ValueRowids", compute, [self._splits], [spec])[0]

    def offsets_in_rows(self) -> TfTensor:
        """Return the place of each value in its row."""
        number = self._splits.spec.dtype.numpy

        def compute(splits: Array) -> Sequence[Array]:
            counts = np.diff(splits).astype(np.int64)
            return (ranges(np.zeros(len(counts), np.int64), counts).astype(number),)

        spec = unknown(self._splits.spec.dtype, None)
        return computed("OffsetsInRows", compute, [self._splits], [spec])[0]

    def uniform_row_length(self) -> TfTensor | None:
        """Return the length of all rows, None if rows may differ."""
        return self._uniform

    def is_uniform(self) -> bool:
        """Say whether rows have one length by the way they were made."""
        return self._uniform is not None

    @property
    def static_nrows(self) -> int | None:
        """Return how many rows there are, if that is known."""
        size = size_of(self._splits)
        if size is not None:
            return size - 1
        if self._lengths is not None and size_of(self._lengths) is not None:
            return size_of(self._lengths)
        return None if self._nrows is None else _number(self._nrows)

    @property
    def static_nvals(self) -> int | None:
        """Return how many values there are, if that is known."""
        if self._rowids is not None and size_of(self._rowids) is not None:
            return size_of(self._rowids)
        known = _known(self._splits)
        if known is not None:
            return int(known[-1])
        each, count = self.static_uniform_row_length, self.static_nrows
        return None if each is None or count is None else each * count

    @property
    def static_uniform_row_length(self) -> int | None:
        """Return the length of all rows, if that is known."""
        return None if self._uniform is None else _number(self._uniform)

    def with_dtype(self, dtype: DTypeLike) -> RowPartition:
        """Return the same rows by numbers of another type."""
        row = row_of(as_dtype(dtype))
        if row not in (kinds.i32, kinds.i64):
            raise ValueError(f"dtype must be int32 or int64, got {dtype}")
        if row == self._splits.spec.dtype:
            return self

        def wide(x: TfTensor | None) -> TfTensor | None:
            return None if x is None else m.cast(x, row)

        return RowPartition(
            m.cast(self._splits, row),
            lengths=wide(self._lengths),
            rowids=wide(self._rowids),
            nrows=wide(self._nrows),
            uniform=wide(self._uniform),
        )

    def is_like(self, other: RowPartition) -> bool:
        """Say whether rows are the same ones, as far as that is known without looking."""
        return self._splits is other._splits

    def __repr__(self) -> str:
        if self._uniform is not None:
            return (
                f"tf.RowPartition(nrows={_shown(self.nrows())}, "
                f"uniform_row_length={_shown(self._uniform)})"
            )
        return f"tf.RowPartition(row_splits={_shown(self._splits)})"


def _shown(tensor: TfTensor) -> str:
    known = _known(tensor)
    return str(tensor) if known is None else str(known)


def _number(tensor: TfTensor) -> int | None:
    known = _known(tensor)
    return None if known is None else int(known)


def _behind_zero(limits: TfTensor) -> TfTensor:
    """Return places where rows end with the first beginning before them."""
    return a.concat([convert([0], limits.dtype), limits], 0)


def _refuse_no_flag(validate: object) -> None:
    if not isinstance(validate, bool):
        raise TypeError(f"validate must have type bool, got {validate!r}")


def _refuse_too_few(nrows: TfTensor, rowids: TfTensor) -> None:
    """Raise where a number of rows is known not to fit."""
    count, ids = _number(nrows), _known(rowids)
    if count is not None and count < 0:
        raise ValueError(f"Expected nrows >= 0; got {count}")
    if count is not None and ids is not None and len(ids) and ids[-1] >= count:
        raise ValueError(f"Expected nrows >= value_rowids[-1] + 1; got nrows={count}, {ids[-1]}")


def _quotient(nvals: TfTensor, length: TfTensor) -> TfTensor:
    """Return how many rows of a length there are, 0 of rows without values."""
    least = m.FUNCTIONS["maximum"](length, 1)
    return m.FUNCTIONS["floordiv"](nvals, least)


def _fitting(length: TfTensor, nvals: TfTensor | None, nrows: TfTensor) -> TfTensor:
    """Return the number of rows if so many of a length hold the values."""
    size, count = _number(length), _number(nrows)
    if size is not None and size < 0:
        raise ValueError(f"uniform_row_length must be greater than or equal to 0, got {size}")
    have = None if nvals is None else _number(nvals)
    if None not in (size, count, have):
        if (size or 0) * (count or 0) != have:
            raise ValueError(
                f"Inconsistent values: uniform_row_length={size}, nrows={count}, nvals={have}"
            )
        return nrows

    def against(number: Array, each: Array, *total: Array) -> str | None:
        if each < 0:
            return "uniform_row_length must be nonnegative"
        return "nvals" if total and int(number) * int(each) != int(total[0]) else None

    more = [length] if nvals is None else [length, nvals]
    return checked("from_uniform_row_length", against, nrows, more)
