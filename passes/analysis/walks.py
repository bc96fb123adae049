"""How data movements are walked: the index into an operand for an index into the result.

Templates follow reads by these rules, and fusion asks by the same ones whether what an anchor
walks in memory stays linear through the moves before it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from xdsl.ir import Operation

from ...ir import Op
from ...ir.ops.attention import Attention, AttentionParts
from ...ir.types.dims import Dim, floor_divide, product
from ...ir.types.indices import (
    Indices,
    Linear,
    NeedSplit,
    Token,
    broadcast_index,
    flatten,
    is_walked_as_one,
    merged,
    of,
    tokens_of,
    unflatten,
)
from ...ir.types.tensor import spec_of
from .kernels.kinds import strides_of
from .orders import runs_of_axes


def is_move(op: Operation) -> bool:
    """Say whether each element of a result is an element of the one operand, at another index."""
    return isinstance(op, Op) and op.has("source_index")


def source_index(op: Op, index: Indices) -> Indices | None:
    """Return the index that a move reads its one operand at; None where that is not linear."""
    spec, result = op.specs[0], op.result_specs[0]
    return type(op).source_index(index, spec, result, **op.plain_attributes())


@dataclass
class Axis:
    """One dim of an iteration space, as the tokens it is split into (outermost first)."""

    tokens: list[Token]

    @property
    def index(self) -> Linear:
        """Return the position along the axis."""
        total = Linear()
        for position, token in enumerate(self.tokens):
            place = product(tuple(t.extent for t in self.tokens[position + 1 :]))
            total = total + of(token) * place
        return total

    def split(self, token: Token, inner: Dim) -> bool:
        """Split a token of this axis; say whether it was here."""
        if token not in self.tokens:
            return False
        at = self.tokens.index(token)
        outer = Token(floor_divide(token.extent, inner))
        self.tokens[at : at + 1] = [outer, Token(inner)]
        return True


MOST_SPLITS = 64
"""How often axes are split until every reshape is linear: more would be an endless loop."""
Found = TypeVar("Found")


def split_until_linear(axes: list[Axis], visit: Callable[[Indices], Found]) -> Found:
    """Return what `visit` finds along the axes, splitting them until every reshape is linear."""
    for _ in range(MOST_SPLITS):
        try:
            return visit(tuple(axis.index for axis in axes))
        except NeedSplit as request:
            split(axes, request)
    raise AssertionError("splitting the loop dims does not end")


def split(axes: list[Axis], request: NeedSplit) -> None:
    """Split the token that a reshape cuts."""
    done = [axis.split(request.token, request.inner) for axis in axes]
    assert any(done), f"{request.token} is of no axis"


def divides_rows(reshape: Op, behind: Sequence[Op]) -> bool:
    """Say whether rows of a reshape are found by dividing, for all that is behind it.

    `behind` are the operations that follow it, the last one first: moves, element-wise ones, pads.
    """
    last = behind[0] if behind else reshape
    source, result = reshape.specs[0].dims, reshape.result_specs[0].dims
    axes = [Axis([Token(d)]) for d in last.result_specs[0].dims]
    makers = [*behind[1:], reshape]

    def visit(index: Indices) -> bool:
        for one, maker in zip(behind, makers, strict=True):
            found = source_index(one, index) if is_move(one) else _read_at(one, maker, index)
            if found is None:
                return False
            index = found
        row = next((axis for axis in reversed(axes) if axis.tokens[-1].extent != 1), axes[-1])
        for before, behind_ in runs_of_axes(source, result):
            walked = {token for part in index[behind_] for token in tokens_of(part)}
            if not walked.isdisjoint(row.tokens):
                flat = flatten(index[behind_], result[behind_])
                if unflatten(flat, source[before]) is None:
                    return True
        return False

    return split_until_linear(axes, visit)


def _read_at(op: Op, maker: Op, index: Indices) -> Indices:
    """Return where a pad or an element-wise operation reads what `maker` gives."""
    if op.name != "gv.pad":
        return broadcast_index(index, maker.result_specs[0], op.result_specs[0])
    pads = op.plain_attributes()["pads"]
    return tuple(part + -low for part, (low, _) in zip(index, pads, strict=True))


# -- what anchors walk --------------------------------------------------------------------


def index_of_product(op: Op, position: int, index: Indices, depth: Linear) -> Indices:
    """Return the index into an operand of a product, for one of its result and of the depth."""
    source, result = op.specs[position], op.result_specs[0]
    wide = result.with_shape(result.dims[:-2])
    flags = op.plain_attributes()
    pair = (index[-2], depth) if position == 0 else (depth, index[-1])
    flip = flags.get(("transpose_lhs", "transpose_rhs")[position])
    at = broadcast_index(index[:-2], source.with_shape(source.dims[:-2]), wide)
    return (*at, *(pair[::-1] if flip else pair))


def index_of_attention(
    op: Op, position: int, index: Indices, inner: tuple[Linear, Linear]
) -> Indices:
    """Return the index into queries, keys, values or bias, for one of a result, key and depth."""
    *batch, row, column = index
    key, depth = inner
    tail = ((row, depth), (key, depth), (key, column), (row, key))[position]
    spec, result = op.specs[position], op.result_specs[0]
    scores = (*result.dims[:-1], op.specs[1].dims[-2])
    like = (*scores[:-2], *(spec.dims if position < OPERANDS_OF_ATTENTION else scores)[-2:])
    return broadcast_index((*batch, *tail), spec, result.with_shape(like))


OPERANDS_OF_ATTENTION = 3
"""Queries, keys and values: a bias is read as elements."""


@dataclass(frozen=True)
class Walks:
    """What an anchor walks in memory, through the moves of a kernel before and behind it."""

    root: Op
    anchor: Op
    inside: Collection[Operation]
    """The operations of the kernel."""

    def fit(self) -> bool:
        """Say whether the template can walk everything: linearly, in as many strides as it has."""
        behind = self.behind()
        dims = [*self.root.result_specs[0].dims, *self.inner()]
        axes = [Axis([Token(d)]) for d in dims]
        return split_until_linear(axes, lambda index: self._fits(axes, index, behind))

    def inner(self) -> tuple[Dim, ...]:
        """Return the sizes that the result has not: the depth of a product, keys and depth."""
        left = self.anchor.specs[0].dims
        if self.is_attention:
            return (self.anchor.specs[1].dims[-2], left[-1])
        return (left[-2 if self.anchor.plain_attributes().get("transpose_lhs") else -1],)

    @property
    def is_attention(self) -> bool:
        """Say whether the anchor is one, or a part of one."""
        return isinstance(self.anchor, Attention | AttentionParts)

    def behind(self) -> list[tuple[Op, Op]]:
        """Return the operations from the root back to the anchor, each with what it reads there."""
        found: list[tuple[Op, Op]] = []
        op = self.root
        while op is not self.anchor:
            maker = next(one for one in self.made_inside(op) if self.reaches(one))
            found.append((op, maker))
            op = maker
        return found

    def made_inside(self, op: Op) -> list[Op]:
        """Return what makes the operands of an operation, of what is in the kernel."""
        owners = [value.owner for value in op.operands]
        return [one for one in owners if isinstance(one, Op) and one in self.inside]

    def reaches(self, op: Op) -> bool:
        """Say whether an operation is computed from what the anchor gives."""
        return op is self.anchor or any(self.reaches(one) for one in self.made_inside(op))

    def _fits(self, axes: list[Axis], index: Indices, behind: list[tuple[Op, Op]]) -> bool:
        count = len(self.inner())
        inner, at = index[-count:], self.source(behind, index[:-count])
        if at is None:
            return False
        read = [self.offset(position, at, inner) for position in self.walked()]
        if None in read:
            return False
        written = flatten(index[:-count], self.root.result_specs[0].dims)
        operands = [each for each in read if each is not None]
        if self.is_attention:
            return self._fits_attention(axes, at, [*operands, written])
        return self._fits_product(axes[-1], at, operands, written)

    def walked(self) -> range:
        """Return the operands that are walked in memory; panels are where they are."""
        return range(strides_of(self.anchor))

    def source(self, behind: Sequence[tuple[Op, Op]], index: Indices) -> Indices | None:
        """Return the index before operations, the last first; None where that is not linear."""
        for op, maker in behind:
            found = source_index(op, index) if is_move(op) else _read_at(op, maker, index)
            if found is None:
                return None
            index = found
        return index

    def offset(self, position: int, at: Indices, inner: Indices) -> Linear | None:
        """Return the offset in what an operand is moved from; None where that is not linear."""
        index = (
            index_of_attention(self.anchor, position, at, (inner[0], inner[1]))
            if self.is_attention
            else index_of_product(self.anchor, position, at, inner[0])
        )
        moves: list[tuple[Op, Op]] = []
        value = self.anchor.operands[position]
        while isinstance(op := value.owner, Op) and op in self.inside and is_move(op):
            moves.append((op, op))  # a move says by itself what it reads
            value = op.operands[0]
        found = self.source(moves, index)
        return None if found is None else flatten(found, spec_of(value.type).dims)

    def _fits_product(
        self, depth: Axis, at: Indices, operands: list[Linear], written: Linear
    ) -> bool:
        """Say whether the depth has two strides at most, and a result one along the columns."""
        most = 2 if isinstance(self.inner()[0], int) else 1
        columns = tokens_of(at[-1])
        return (
            len(merged(depth.tokens, operands)) <= most
            and (
                len(merged(columns, [*operands, written])) <= 1
                or is_walked_as_one(columns, written)
            )
        )  # fmt: skip

    def _fits_attention(self, axes: list[Axis], at: Indices, offsets: list[Linear]) -> bool:
        """Say whether everything walks rows, keys, depth and width in one stride."""
        q, k, v, written = offsets
        walked = (
            (tokens_of(at[-2]), (q, written)), (tokens_of(at[-1]), (v, written)),
            (axes[-2].tokens, (k, v)), (axes[-1].tokens, (q, k)),
        )  # fmt: skip
        return all(is_walked_as_one(t, each) for t, both in walked for each in both)


def ready(op: Operation, places: Mapping[Operation, int]) -> int:
    """Return behind which of the places of a block's operations all operands are there."""
    owners = [value.owner for value in op.operands if isinstance(value.owner, Operation)]
    return max((places[owner] for owner in owners), default=0)
