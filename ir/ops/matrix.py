"""Products of matrices, and sums of products in general."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from ..compose.maker import Emit, Maker
from ..facts import KernelForm
from ..families import REAL, expect, expect_same, spec_of_value, unbroadcast
from ..gradient.tape import Composite
from ..iteration import Affine, Iteration, dim
from ..op import Array, Call, Op, register
from ..samples import Sample
from ..types.dims import Dim, product
from ..types.dtypes import bf16, f16, f32, f64, i8, i32, i64, of_numpy
from ..types.numerics import round_to, widen
from ..types.shapes import BroadcastError, UnequalError, broadcast
from ..types.tensor import TensorSpec


def _apart(x: Array, other: Array) -> Array:
    """Return an array with memory of its own: numpy adds a matrix by itself, turned, up otherwise.

    So values do not depend on where they lie.
    """
    return x.copy() if np.may_share_memory(x, other) else x


@register
class Matmul(Op):
    """The products of matrices, which are the last two axes; the axes before broadcast.

    Floats narrower than f32 are multiplied and added in f32; integers wrap.
    """

    name = "gv.matmul"
    CONTRACTS: ClassVar = True
    WIDENS: ClassVar = True
    NODE: ClassVar = "MatMul"
    KERNEL: ClassVar = KernelForm("gemm", slow="contract", strides=2)
    SAMPLES: ClassVar = (
        Sample(((3, 5), (5, 4)), {}, (f32, f64, f16, bf16, i32, i64, i8)),
        Sample(((5, 3), (4, 5)), {"transpose_lhs": True, "transpose_rhs": True}, (f32, bf16)),
        Sample(((5, 3), (5, 4)), {"transpose_lhs": True}),
        Sample(((3, 5), (4, 5)), {"transpose_rhs": True}),
        Sample(((2, 3, 5), (5, 4))),
        Sample(((3, 5), (2, 4, 5)), {"transpose_rhs": True}),
        Sample(((2, 1, 3, 2), (4, 2, 3)), {}, (f32, f16)),
        Sample(((1, 2, 3, 2), (2, 1, 3, 2)), {"transpose_lhs": True}),
        Sample(((1, 7), (7, 1))),
        Sample(((7, 6), (7, 1)), {"transpose_lhs": True}),
        Sample(((2, 1, 7), (6, 7)), {"transpose_rhs": True}),
        Sample(((0, 3), (3, 2))),
        Sample(((2, 0), (0, 3))),
        Sample(((0, 2, 3), (1, 3, 2))),
        Sample(((33, 40), (40, 37)), {}, (f32, bf16), differentiable=False),
    )

    @classmethod
    def infer(
        cls,
        lhs: TensorSpec,
        rhs: TensorSpec,
        *,
        transpose_lhs: bool = False,
        transpose_rhs: bool = False,
    ) -> Sequence[TensorSpec]:
        """Return rows of the left and columns of the right operand."""
        expect(lhs, REAL)
        expect_same(lhs, rhs)
        if lhs.rank < 2 or rhs.rank < 2:
            raise TypeError(f"ranks {lhs.rank} and {rhs.rank}, expected at least 2")
        m, k = _matrix(lhs, transpose_lhs)
        rows, n = _matrix(rhs, transpose_rhs)
        if k != rows:
            message = f"{k} columns on the left, expected {rows} as the rows on the right"
            raise UnequalError(message, k, rows)
        stack = broadcast(lhs.dims[:-2], rhs.dims[:-2], behind=2)
        return (lhs.with_shape((*stack, m, n)),)

    @classmethod
    def evaluate(
        cls, lhs: Array, rhs: Array, *, transpose_lhs: bool, transpose_rhs: bool
    ) -> Sequence[Array]:
        """Multiply; a matrix is not turned for a single vector, which is turned instead.

        Of many small matrices, the turned ones are read as they lie.
        """
        left = np.swapaxes(lhs, -1, -2) if transpose_lhs else lhs
        right = np.swapaxes(rhs, -1, -2) if transpose_rhs else rhs
        if (transpose_lhs and right.shape[-1] == 1) or (transpose_rhs and left.shape[-2] == 1):
            turned = (np.swapaxes(each, -1, -2) for each in (right, left))
            made = np.swapaxes(np.matmul(*map(widen, turned)), -1, -2)
        elif transpose_rhs and not transpose_lhs and lhs.ndim == rhs.ndim > 2:
            made = np.matmul(widen(lhs), np.swapaxes(_apart(widen(rhs), lhs), -1, -2))
        else:
            made = np.matmul(widen(left), widen(right))
        return (_rounded(made, lhs),)

    @classmethod
    def iteration(
        cls, lhs: TensorSpec, rhs: TensorSpec, *, transpose_lhs: bool, transpose_rhs: bool
    ) -> Iteration:
        """Loop over batch, m and n, and inside over k."""
        batch = broadcast(lhs.dims[:-2], rhs.dims[:-2])
        m, k = _matrix(lhs, transpose_lhs)
        _, n = _matrix(rhs, transpose_rhs)
        rank = len(batch)
        row, column, inner = dim(rank), dim(rank + 1), dim(rank + 2)
        left = (inner, row) if transpose_lhs else (row, inner)
        right = (column, inner) if transpose_rhs else (inner, column)
        return Iteration(
            parallel=(*batch, m, n),
            reduce=(k,),
            reads=(
                (*_batch_index(lhs.dims[:-2], batch), *left),
                (*_batch_index(rhs.dims[:-2], batch), *right),
            ),
            write=tuple(dim(i) for i in range(rank + 2)),
            combiner="add",
            body=lambda math, a, b: math.mul(a, b),
        )

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Multiply the gradient by the other operand, transposed."""
        (lhs, rhs), grad = call.operands, grads[0]
        left, right = call.attributes["transpose_lhs"], call.attributes["transpose_rhs"]
        if left:
            for_lhs = call.emit(Matmul, rhs, grad, transpose_lhs=right, transpose_rhs=True)
        else:
            for_lhs = call.emit(Matmul, grad, rhs, transpose_rhs=not right)
        if right:
            for_rhs = call.emit(Matmul, grad, lhs, transpose_lhs=True, transpose_rhs=left)
        else:
            for_rhs = call.emit(Matmul, lhs, grad, transpose_lhs=not left)
        return (
            unbroadcast(call, for_lhs, call.specs[0]),
            unbroadcast(call, for_rhs, call.specs[1]),
        )


def _matrix(spec: TensorSpec, transposed: bool) -> tuple[Dim, Dim]:
    """Return rows and columns."""
    rows, columns = spec.dims[-2:]
    return (columns, rows) if transposed else (rows, columns)


def _batch_index(shape: tuple[Dim, ...], batch: tuple[Dim, ...]) -> tuple[Affine, ...]:
    """Return the index into an operand's batch axes: 0 where it is broadcast."""
    skipped = len(batch) - len(shape)
    return tuple(
        Affine(()) if d == 1 and batch[skipped + i] != 1 else dim(skipped + i)
        for i, d in enumerate(shape)
    )


def _rounded(made: Array, like: Array) -> Array:
    if made.dtype == like.dtype:
        return made
    dtype = of_numpy(like.dtype)
    return round_to(made, dtype) if dtype.is_float else made


@register
class Einsum(Composite):
    """The sum of products that an equation like `bij,bjk->bik` states, by numpy's rules.

    Axes that share a letter are walked together; letters that the result lacks are summed
    over. `...` stands for leading axes that broadcast.
    """

    name = "gv.einsum"
    ONNX: ClassVar = "Einsum"
    SAMPLES: ClassVar = (
        Sample(((2, 3), (3, 4)), {"equation": "ij,jk->ik"}, (f32, f64, bf16, i32)),
        Sample(((2, 3), (3, 4)), {"equation": "ij , jk"}),
        Sample(((2, 3, 4), (2, 5, 4)), {"equation": "bqd,bkd->bqk"}),
        Sample(((2, 3, 2, 4), (2, 5, 2, 4)), {"equation": "bqhd,bkhd->bhqk"}),
        Sample(((2, 1, 3, 4), (5, 4, 3)), {"equation": "...ij,...ji->...i"}),
        Sample(((3, 4),), {"equation": "ij->ji"}),
        Sample(((3, 4),), {"equation": "ij->"}),
        Sample(((3, 3),), {"equation": "ii->i"}),
        Sample(((3, 2, 3),), {"equation": "iji"}),
        Sample(((2, 3), (2, 3)), {"equation": "ij,ij->i"}),
        Sample(((2, 3), (2, 3)), {"equation": "ij,ij->ij"}),
        Sample(((2,), (3,)), {"equation": "i,j->ji"}),
        Sample(((2, 3), (4,)), {"equation": "ij,k->ik"}),
        Sample(((2, 3), (3, 4), (4, 2)), {"equation": "ij,jk,kl->li"}),
        Sample(((2, 3), (3, 4), (2, 4)), {"equation": "ij,jk,ik->k"}),
        Sample(((), (3,)), {"equation": ",i->i"}),
        Sample(((0, 3), (3, 2)), {"equation": "ij,jk->ik"}),
    )

    @classmethod
    def infer(cls, *xs: TensorSpec, equation: str) -> Sequence[TensorSpec]:
        """Return the extents of the result's letters."""
        expect_same(*xs)
        for x in xs:
            expect(x, REAL)
        parsed = _parse(equation, [x.rank for x in xs])
        extents = _extents(parsed, [x.dims for x in xs])
        return (xs[0].with_shape([extents[letter] for letter in parsed.result]),)

    @classmethod
    def evaluate(cls, *xs: Array, equation: str) -> Sequence[Array]:
        """Sum the products."""
        parsed = _parse(equation, [x.ndim for x in xs])
        subscripts = [list(map(ord, labels)) for labels in parsed.operands]
        numbers = {c: i for i, c in enumerate(sorted({c for s in subscripts for c in s}))}
        arguments: list[Any] = []
        for x, labels in zip(xs, subscripts, strict=True):
            arguments += [widen(x), [numbers[c] for c in labels]]
        result = [numbers[ord(c)] for c in parsed.result]
        is_large = len(xs) > 2 or max(x.size for x in xs) > LARGE
        made = np.einsum(*arguments, result, optimize=is_large and len(xs) > 1)
        return (_rounded(np.asarray(made), xs[0]),)

    @classmethod
    def decompose(cls, call: Call) -> Any:
        """Contract the operands from left to right, two at a time, by `gv.matmul`."""
        parsed = _parse(call.attributes["equation"], [spec.rank for spec in call.specs])
        extents = _extents(parsed, [spec.dims for spec in call.specs])
        factors = [
            _Factor.of(call.emit, x, labels, extents)
            for x, labels in zip(call.operands, parsed.operands, strict=True)
        ]
        total = factors[0]
        for position, factor in enumerate(factors[1:], 1):
            needed = {c for later in factors[position + 1 :] for c in later.labels}
            total = total.times(factor, needed | set(parsed.result))
        total = total.summed(set(parsed.result))
        return total.ordered(parsed.result, insert=True).value


LARGE = 4096
"""Elements of an operand from which it pays that numpy looks for products of matrices."""


@dataclass(frozen=True)
class Equation:
    """The letters of each operand and of the result; private ones stand for `...`."""

    operands: tuple[str, ...]
    result: str


_ELLIPSIS = 0xE000
"""The first of the code points that name axes under an ellipsis."""


def _parse(equation: str, ranks: Sequence[int]) -> Equation:
    """Read an equation, or raise `TypeError`."""
    return _parsed(equation, tuple(ranks))


@lru_cache(maxsize=512)
def _parsed(equation: str, ranks: tuple[int, ...]) -> Equation:
    text = equation.replace(" ", "")
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(ranks):
        raise TypeError(f"equation {equation!r} has {len(terms)} operands, expected {len(ranks)}")
    pairs = [*zip(terms, ranks, strict=True)]
    hidden = max((rank - len(t) + 3 for t, rank in pairs if "..." in t), default=0)
    operands = tuple(_labels(equation, term, rank) for term, rank in pairs)
    dots = "".join(chr(_ELLIPSIS + i) for i in reversed(range(max(hidden, 0))))
    if arrow:
        result = right.replace("...", dots)
    else:
        every = "".join(operands)
        result = dots + "".join(sorted(c for c in {*every} if c.isalpha() and every.count(c) == 1))
    wrong = [
        c for c in result if result.count(c) > 1 or not any(c in labels for labels in operands)
    ]
    if wrong:
        raise TypeError(f"equation {equation!r}: {wrong[0]!r} in the result is repeated or unknown")
    return Equation(operands, result)


def _labels(equation: str, term: str, rank: int) -> str:
    """Return one letter for each axis of an operand."""
    head, dots, tail = term.partition("...")
    hidden = rank - len(head) - len(tail)
    if hidden < 0 or (hidden and not dots) or not (head + tail + "a").isalpha():
        raise TypeError(f"equation {equation!r}: {term!r} does not name the axes of rank {rank}")
    return head + "".join(chr(_ELLIPSIS + i) for i in reversed(range(hidden))) + tail


def _extents(parsed: Equation, shapes: Sequence[tuple[Dim, ...]]) -> dict[str, Dim]:
    """Return the extent of each letter; an extent of 1 broadcasts."""
    extents: dict[str, Dim] = {}
    for labels, shape in zip(parsed.operands, shapes, strict=True):
        for letter, extent in zip(labels, shape, strict=True):
            known = extents.setdefault(letter, extent)
            if known == 1:
                extents[letter] = extent
            elif extent not in (1, known):
                raise _unequal(parsed, shapes, letter, (known, extent))
    return extents


def _unequal(
    parsed: Equation, shapes: Sequence[tuple[Dim, ...]], letter: str, sizes: tuple[Dim, Dim]
) -> UnequalError:
    """Return the error about two extents of a letter.

    It is one of broadcasting where a column counted from the end has those extents for that letter
    alone, as that of `...` before as many letters: whoever repeats a row finds it by that.
    """
    name = letter if letter.isalpha() else "..."
    text = f"axes {name!r} have {sizes[0]} and {sizes[1]} elements"
    rows = [*zip(parsed.operands, shapes, strict=True)]
    places = {len(labels) - at for labels, _ in rows for at, c in enumerate(labels) if c == letter}
    place = min(places)
    column = [(labels[-place], shape[-place]) for labels, shape in rows if len(labels) >= place]
    if len(places) > 1 or any(c != letter and extent in sizes for c, extent in column):
        return UnequalError(text, *sizes)
    return BroadcastError(text, *sizes, place - 1)


@dataclass(frozen=True)
class _Factor:
    """A value with a letter for each axis, all distinct and of full extent."""

    emit: Emit
    value: Any
    labels: str

    @classmethod
    def of(cls, emit: Emit, value: Any, labels: str, extents: dict[str, Dim]) -> _Factor:
        """Return an operand without its axes that broadcast, and with repeated axes merged."""
        dims = spec_of_value(value).dims
        wide = [i for i, c in enumerate(labels) if dims[i] == extents[c]]
        if len(wide) < len(labels):
            value = Maker(emit).reshape(value, shape=tuple(dims[i] for i in wide))
        factor = cls(emit, value, "".join(labels[i] for i in wide))
        while len({*factor.labels}) < len(factor.labels):
            factor = factor._diagonal()
        return factor

    def _diagonal(self) -> _Factor:
        """Merge the last axis that repeats a letter into the first one of that letter."""
        make, spec = Maker(self.emit), spec_of_value(self.value)
        last = max(i for i, c in enumerate(self.labels) if self.labels.index(c) < i)
        first = self.labels.index(self.labels[last])
        rest = [axis for axis in range(spec.rank) if axis != last]
        rest.insert(first + 1, last)
        value = self.value
        if rest != sorted(rest):
            value = make.transpose(value, order=tuple(rest))
        dims = spec_of_value(value).dims
        count, others = dims[first], (dims[:first], dims[first + 2 :])
        flat = make.reshape(value, shape=(*others[0], count * dims[first + 1], *others[1]))
        places = make.iota(shape=(count,), axis=0, dtype=i64)
        places = make.mul(places, make.extent_of(dims[first + 1] + 1))
        labels = self.labels[:last] + self.labels[last + 1 :]
        return _Factor(self.emit, make.gather(flat, places, axis=first), labels)

    def summed(self, needed: set[str]) -> _Factor:
        """Sum over the letters that nothing needs."""
        axes = tuple(i for i, c in enumerate(self.labels) if c not in needed)
        if not axes:
            return self
        kept = "".join(c for c in self.labels if c in needed)
        return _Factor(self.emit, Maker(self.emit).sum(self.value, axes=axes), kept)

    def ordered(self, labels: str, *, insert: bool = False) -> _Factor:
        """Bring the axes into this order; with `insert`, letters that lack become axes of 1."""
        kept = [c for c in labels if c in self.labels]
        order = tuple(self.labels.index(c) for c in kept)
        make, value = Maker(self.emit), self.value
        if order != tuple(range(len(order))):
            value = make.transpose(value, order=order)
        if insert and len(kept) < len(labels):
            dims = iter(spec_of_value(value).dims)
            value = make.reshape(value, shape=tuple(next(dims) if c in kept else 1 for c in labels))
        return _Factor(self.emit, value, labels if insert else "".join(kept))

    def times(self, other: _Factor, needed: set[str]) -> _Factor:
        """Multiply, and sum over the letters that nothing else needs."""
        one, two = self.summed(needed | {*other.labels}), other.summed(needed | {*self.labels})
        shared = [c for c in one.labels if c in two.labels]
        inner = "".join(c for c in shared if c not in needed)
        batch = "".join(c for c in shared if c in needed)
        rows = "".join(c for c in one.labels if c not in shared)
        columns = "".join(c for c in two.labels if c not in shared)
        labels = batch + rows + columns
        make = Maker(self.emit)
        if inner and not rows and not columns:  # products of single rows and columns
            left, right = (f.ordered(batch + inner).value for f in (one, two))
            return _Factor(self.emit, make.mul(left, right), batch + inner).summed({*batch})
        if not inner:
            left, right = (f.ordered(labels, insert=True).value for f in (one, two))
            return _Factor(self.emit, make.mul(left, right), labels)
        left = one.ordered(batch + rows + inner)._grouped(len(batch), len(rows))
        right = two.ordered(batch + inner + columns)._grouped(len(batch), len(inner))
        extents = {**one._extents(), **two._extents()}
        made = make.matmul(left, right)
        made = make.reshape(made, shape=tuple(extents[c] for c in labels))
        return _Factor(self.emit, made, labels)

    def _extents(self) -> dict[str, Dim]:
        return dict(zip(self.labels, spec_of_value(self.value).dims, strict=True))

    def _grouped(self, batch: int, rows: int) -> Any:
        """Return matrices: axes after the batch joined into rows and columns."""
        dims = spec_of_value(self.value).dims
        row, column = dims[batch : batch + rows], dims[batch + rows :]
        shape = (*dims[:batch], product(row), product(column))
        return Maker(self.emit).reshape(self.value, shape=shape)
