"""Checks of ranks and shapes: at once where they are known, else when a node runs."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ....ir.types.tensor import Array
from ...graph.graph import GraphTensor
from ..core.bridge import TfTensor
from ..core.element_types import as_dtype
from ..core.shapes import TensorShape
from ..core.values import InGraph, convert, graph_of
from ..ops.array_ops import concat, shape, size
from .assertions import (
    Described,
    Sparse,
    described,
    node,
    of_either_kind,
    passed,
    prefixed,
    require_type,
)
from .state import control_dependencies, group


@dataclass(frozen=True)
class Saying:
    """What a check says beside what it found: the caller's words, and how many elements."""

    message: str | None = None
    data: Sequence[object] | None = None
    summarize: int | None = None
    name: str | None = None

    @property
    def start(self) -> str:
        """Return how a message begins."""
        return f"{self.message}.  " if self.message else ""


def _sizes(x: Described) -> TfTensor:
    """Return the extents of a dense or sparse tensor as a tensor."""
    return x.dense_shape if isinstance(x, Sparse) else shape(x)


def _name(x: object) -> str:
    """Return what messages call a tensor, nothing where operations run at once."""
    return str(x.name) if isinstance(x, GraphTensor) else ""


def _known(rank: object) -> int | None:
    """Return a rank that is asked for, None if only the run knows it."""
    tensor = convert(rank)
    require_type(tensor, as_dtype("int32"))
    if isinstance(tensor, GraphTensor) and tensor.op.type != "Const":
        return None
    value = tensor.op.attributes["value"] if isinstance(tensor, GraphTensor) else tensor.numpy()
    if np.ndim(value):
        raise ValueError("Rank must be a scalar.")
    return int(value)


def _of_rank(
    x: object, ranks: Sequence[object], text: str, holds: Callable[[int, Sequence[int]], bool],
    saying: Saying,
) -> object:  # fmt: skip
    """Raise unless the rank of a tensor is as stated, at once or when a node runs."""
    graph = graph_of([x, *ranks])
    with InGraph(graph):
        tensor, known = of_either_kind(x), [_known(rank) for rank in ranks]
        found: TensorShape = tensor.shape
        if found.rank is not None and None not in known:
            if not holds(found.rank, [k for k in known if k is not None]):
                wanted = f"({', '.join(map(str, known))})" if text.endswith(" in") else known[0]
                raise ValueError(
                    f"{saying.start}Tensor {_name(tensor)} must have rank{text} {wanted}.  "
                    f"Received rank {found.rank}, shape {found}"
                )
            return passed(graph)

        def right(sizes: Array, *given: Array) -> bool:
            return holds(len(sizes), [int(g) for g in given])

        scalars = [
            node(lambda rank: not np.ndim(rank), [rank],
                 ["Rank must be a scalar. Received rank: ", rank])
            for rank, value in zip(ranks, known, strict=True) if value is None
        ]  # fmt: skip
        with control_dependencies(scalars):
            sizes = _sizes(tensor)
            parts = saying.data if saying.data is not None else [
                saying.start, f"Tensor {_name(tensor)} must have rank{text}", *ranks,
                "Received shape: ", sizes,
            ]  # fmt: skip
            return node(right, [sizes, *ranks], parts, most=saying.summarize, name=saying.name)


def assert_rank(
    x: object,
    rank: object,
    message: str | None = None,
    name: str | None = None,
    summarize: int | None = None,
    data: Sequence[object] | None = None,
) -> object:
    """Raise unless a tensor has so many axes."""
    saying = Saying(message, data, summarize, name)
    return _of_rank(x, [rank], "", lambda found, known: found == known[0], saying)


def assert_rank_at_least(
    x: object,
    rank: object,
    message: str | None = None,
    name: str | None = None,
    summarize: int | None = None,
    data: Sequence[object] | None = None,
) -> object:
    """Raise if a tensor has fewer axes."""
    saying = Saying(message, data, summarize, name)
    return _of_rank(x, [rank], " at least", lambda found, known: found >= known[0], saying)


def assert_rank_in(
    x: object,
    ranks: Iterable[object],
    message: str | None = None,
    name: str | None = None,
    summarize: int | None = None,
    data: Sequence[object] | None = None,
) -> object:
    """Raise unless a tensor has one of several numbers of axes."""
    saying = Saying(message, data, summarize, name)
    return _of_rank(x, [*ranks], " in", lambda found, known: found in known, saying)


def assert_scalar(tensor: object, message: str | None = None, name: str | None = None) -> TfTensor:
    """Return a tensor, which must have no axes."""
    value = convert(tensor)
    if value.shape.rank != 0:
        place = f" for {_name(value)}" if _name(value) else ""
        raise ValueError(
            f"{prefixed(message)}Expected scalar shape{place}, saw shape: {value.shape}."
        )
    return value


@dataclass(frozen=True)
class Stated:
    """A tensor, and the sizes that are stated of its last axes or of all."""

    tensor: Described
    symbols: tuple[object, ...]
    ends: bool
    """Other axes may come before these."""

    @classmethod
    def of(cls, tensor: Described, symbols: object, start: str) -> Stated:
        """Return what is stated, or raise if that says nothing of shapes."""
        if not hasattr(symbols, "__iter__"):
            raise ValueError(
                f"{start}Tensor {described(tensor)}.  Specified shape must be an iterable.  An "
                "iterable has the attribute `__iter__` or `__getitem__`.  Received specified "
                f"shape: {symbols}"
            )
        entries = tuple(symbols)
        for i, entry in enumerate(entries):
            if i and (entry is Ellipsis or _is_text(entry, "*")):
                raise ValueError(
                    f"{start}Tensor {described(tensor)} specified shape index {i}.  Symbol `...` "
                    "or `*` for a variable number of unspecified dimensions is only allowed as "
                    "the first entry"
                )
        ends = bool(entries) and (entries[0] is Ellipsis or _is_text(entries[0], "*"))
        entries = entries[ends:]
        return cls(tensor, entries if entries or ends else (1,), ends)

    @property
    def is_single(self) -> bool:
        """Say whether a tensor without axes will do."""
        return len(self.symbols) <= 1

    def rank(self, saying: Saying) -> list[object]:
        """Return the check of how many axes there are."""
        if self.is_single:
            return [] if self.ends else [_of_rank(
                self.tensor, [0, 1], " in", lambda found, known: found in known, saying
            )]  # fmt: skip
        check = operator.ge if self.ends else operator.eq
        text = " at least" if self.ends else ""
        wanted = [len(self.symbols)]
        return [_of_rank(self.tensor, wanted, text, lambda n, known: check(n, known[0]), saying)]

    def places(self) -> Iterator[tuple[int, object]]:
        """Give the axes whose sizes are stated, and what is."""
        for i, symbol in enumerate(self.symbols):
            if symbol is not None and not _is_text(symbol, "."):
                yield i - len(self.symbols) if self.ends else i, symbol

    def extent(self, axis: int) -> int | TfTensor:
        """Return a size, a tensor if only the run knows it; a tensor without axes has one of 1."""
        found = self.tensor.shape
        if found.rank == 0:
            return 1
        known = None if found.rank is None else found.as_list()[axis]
        if known is not None:
            return int(known)
        if self.is_single and not self.ends and not isinstance(self.tensor, Sparse):
            return size(self.tensor)
        sizes = _sizes(self.tensor)
        made: TfTensor = (concat([np.ones(1, sizes.dtype.as_numpy_dtype), sizes], 0)
                          if self.is_single else sizes)[axis]  # fmt: skip
        return made


def _is_text(symbol: object, text: str) -> bool:
    return isinstance(symbol, str) and symbol == text


def _number(symbol: object) -> int | None:
    """Return the size that a symbol states, None of one that is a name."""
    if isinstance(symbol, int | np.integer) or (isinstance(symbol, str) and symbol.isdigit()):
        return int(symbol)
    return None


def assert_shapes(
    shapes: Mapping[object, object] | Iterable[tuple[object, object]],
    data: Sequence[object] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> object:
    """Raise unless tensors have the shapes stated, of which letters stand for equal sizes."""
    pairs = [(x, s) for x, s in (shapes.items() if isinstance(shapes, Mapping) else shapes)
             if s is not None]  # fmt: skip
    saying = Saying(message, data, summarize, name)
    graph = graph_of([x for x, _ in pairs])
    with InGraph(graph):
        stated = [Stated.of(of_either_kind(x), symbols, saying.start) for x, symbols in pairs]
        ranks = [check for one in stated for check in one.rank(saying) if check is not None]
        seen: dict[object, tuple[int | TfTensor, Described, int]] = {}
        sizes = list[object]()
        with control_dependencies(ranks):
            for one in stated:
                for axis, symbol in one.places():
                    number, extent = _number(symbol), one.extent(axis)
                    if number is None and symbol not in seen:
                        seen[symbol] = extent, one.tensor, axis
                        continue
                    where = "Specified explicitly"
                    wanted: int | TfTensor | None = number
                    if number is None:
                        wanted, other, at = seen[symbol]
                        where = f"Specified by tensor {described(other)} dimension {at}"
                    sizes += _of_size(one.tensor, axis, extent, wanted, where, saying)
        return None if graph is None else group(*ranks, *sizes)


def _of_size(
    tensor: Described, axis: int, extent: object, wanted: object, where: str, saying: Saying
) -> list[object]:
    """Raise unless a size is as stated; return the node that looks where only the run knows it."""
    called = described(tensor)
    if isinstance(extent, int) and isinstance(wanted, int):
        if extent != wanted:
            raise ValueError(
                f"{saying.start}{where}.  Tensor {called} dimension {axis} must have size "
                f"{wanted}.  Received size {extent}, shape {tensor.shape}"
            )
        return []
    parts = saying.data if saying.data is not None else [
        saying.start, where, f"Tensor {called} dimension", axis, "must have size", wanted,
        "Received shape: ", _sizes(tensor),
    ]  # fmt: skip
    return [node("equal", [extent, wanted], parts, most=saying.summarize)]
