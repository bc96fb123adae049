"""The way back: from the gradients of targets to those of sources, node by node.

    order      a = f(x); b = g(a, y); c = h(a, b)        sources x, y, target c
    path       f, g, h                                   what depends on a source
    back       c -> h: a, b -> g: a, y -> f: x           contributions to `a` add up: h's, then g's

Who walks says what a node is (`Nodes`). Nodes are visited from the last to the first, operands
from the left to the right, and contributions add up in that order: the sums have the same bits
each time. What nothing contributes to has no gradient, not even zeros.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence, Set
from typing import Any, ClassVar, Protocol, TypeVar

NodeT_contra = TypeVar("NodeT_contra", contravariant=True)


class Nodes(Protocol[NodeT_contra]):
    """What the walk asks of nodes of one form. Values are known by keys."""

    SUMS_AT_ONCE: ClassVar[bool]
    """Whether contributions are added as they come, so that their memory is free; otherwise when
    the sum is asked for, so that nodes of a graph stand by those that need them."""

    def operands(self, node: NodeT_contra) -> Sequence[Hashable]:
        """Return the keys of what a node depends on."""

    def results(self, node: NodeT_contra) -> Sequence[Hashable]:
        """Return the keys of what a node gives."""

    def smooth(self, node: NodeT_contra) -> Sequence[Hashable]:
        """Return the keys of those results that are of a type that has gradients."""

    def gradients(
        self, node: NodeT_contra, received: Sequence[Any], wanted: Sequence[bool]
    ) -> Sequence[Any]:
        """Return the gradient of each operand from those of the results; None: there is none.

        `wanted` says which operands lead to sources: what the others get is dropped.
        """

    def added(self, a: Any, b: Any) -> Any:
        """Return the sum of two gradients."""


class Totals:
    """What has come in for each value."""

    def __init__(self, nodes: Nodes[Any]) -> None:
        self._added, self._at_once = nodes.added, nodes.SUMS_AT_ONCE
        self._totals: dict[Hashable, Any] = {}
        self._more: dict[Hashable, list[Any]] = {}
        """What is still to be added."""

    def put(self, key: Hashable, part: Any) -> None:
        """Take a contribution in."""
        known = self._totals.get(key)
        if known is None:
            self._totals[key] = part
        elif self._at_once:
            self._totals[key] = self._added(known, part)
        else:
            self._more.setdefault(key, []).append(part)

    def sum(self, key: Hashable) -> Any:
        """Return the sum of what has come in, None of nothing."""
        total = self._totals.get(key)
        if key in self._more:
            for part in self._more.pop(key):
                total = self._added(total, part)
            self._totals[key] = total
        return total

    def take(self, key: Hashable) -> Any:
        """Return the sum, and forget it."""
        total = self.sum(key)
        self._totals.pop(key, None)
        return total


def walk_back(
    nodes: Nodes[NodeT_contra],
    order: Iterable[NodeT_contra],
    targets: Iterable[tuple[Hashable, Any]],
    sources: Sequence[Hashable],
    stopped: Set[Hashable] = frozenset(),
) -> list[Any]:
    """Return the gradient of each source, None where the targets do not depend on it.

    `order` has the nodes as they were carried out, `targets` gradients by keys. To what is
    `stopped` gradients come only if it is a source, and they go no further.
    """
    wanted = set(sources)
    active = set(wanted)
    path = [*_between(nodes, order, active, stopped)]
    totals = Totals(nodes)
    for key, grad in targets:
        if grad is not None:
            totals.put(key, grad)
    while path:
        node, operands = path.pop()
        received = [
            None if key in stopped else totals.sum(key) if key in wanted else totals.take(key)
            for key in nodes.results(node)
        ]
        if all(grad is None for grad in received):
            continue
        asked = [key in active for key in operands]
        found = nodes.gradients(node, received, asked)
        for key, part, is_asked in zip(operands, found, asked, strict=True):
            if is_asked and part is not None:
                totals.put(key, part)
    return [totals.sum(key) for key in sources]


def _between(
    nodes: Nodes[NodeT_contra],
    order: Iterable[NodeT_contra],
    active: set[Hashable],
    stopped: Set[Hashable],
) -> Iterator[tuple[NodeT_contra, Sequence[Hashable]]]:
    """Give the nodes that depend on something active, with the keys of their operands.

    Then their smooth results are active too.
    """
    for node in order:
        operands = nodes.operands(node)
        if active.isdisjoint(operands):
            continue
        made = nodes.smooth(node)
        if made:
            active.update(made if not stopped else [key for key in made if key not in stopped])
            yield node, operands
