"""What holds for a while: facts of loops and choices, and what was found out as long as they hold.

    for i in 0..n:             n - 1 >= 0 holds inside
      if i < m: x[i]           m - 1 - i >= 0 holds inside

What follows from facts is learned once a proof needs it: most need bounds of counters alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from .bound import Bound
from .points import Points
from .polynomial import Polynomial

Learned: TypeAlias = list[tuple[list[Bound], Bound]]
"""Bounds that were added, and to what."""
Order: TypeAlias = Callable[[Polynomial], int]
"""Which atom of an expression is replaced next; -1 if it has none."""


class FoundOut(NamedTuple):
    """What was found out while the facts hold that were known then, to come back to."""

    is_dead: bool
    made: dict[object, Polynomial]
    shown: set[Polynomial]
    lessons: set[Polynomial]
    not_shown: dict[tuple[Order, Polynomial], None]
    quotients: dict[tuple[Polynomial, Polynomial, bool], Polynomial]
    sane: int


@dataclass
class Premises:
    """Facts that hold for a while, and what was known before they were learned from."""

    facts: Sequence[Polynomial]
    known: int
    """How many facts points knew."""
    before: FoundOut | None = None
    added: Learned = field(default_factory=list)


class Scopes:
    """Facts within each other, and what was found out of them."""

    def __init__(self) -> None:
        self.points = Points()
        self.facts: list[Polynomial] = []
        """What is known to be at least 0."""
        self.is_dead = False
        """Whether what is known cannot be: nothing here is reached."""
        self._scopes: list[Premises] = []
        self._unlearned: list[Premises] = []
        """The innermost scopes, if what follows from their facts was not asked for yet."""
        self._made: dict[object, Polynomial] = {}
        """What was made of what, while the facts hold that were known then."""
        self._quotients: dict[tuple[Polynomial, Polynomial, bool], Polynomial] = {}
        """What was asked for of the facts that are known now."""
        self._shown: set[Polynomial] = set()
        """What was shown, while the facts hold that were known then."""
        self._not_shown: dict[tuple[Order, Polynomial], None] = {}
        """What was not shown of the facts that are known now."""
        self._lessons: set[Polynomial] = set()
        """What was learned from, while the facts hold that were known then."""
        self._sane = 0
        """Atoms whose bounds were seen to hold while the facts hold that were known then."""

    def _learn_of(self, given: Polynomial) -> Learned:
        """Add what is given to the bounds of atoms, and what follows from it."""
        raise NotImplementedError

    @contextmanager
    def given(self, facts: Sequence[Polynomial]) -> Iterator[None]:
        """Take for granted, for a while, that these are at least 0."""
        self.enter(facts)
        yield
        self.leave()

    def enter(self, facts: Sequence[Polynomial]) -> None:
        """Take for granted, until it is left, that these are at least 0.

        What follows from them is learned once something is not shown without: most proofs need no
        more than bounds of counters.
        """
        facts = [fact for fact in facts if fact.terms or fact.constant < 0]
        scope = Premises(facts, len(self.points.known))
        self._scopes.append(scope)
        if facts:  # numbers say nothing: what is found out here holds outside, too
            self._unlearned.append(scope)
            self.facts += facts
            self.points.know(facts)

    def leave(self) -> None:
        """Know no more than before the last scope was entered."""
        scope = self._scopes.pop()
        if not scope.facts:
            return
        del self.facts[len(self.facts) - len(scope.facts) :]
        self.points.restore(scope.known)
        if scope.before is None:
            self._unlearned.pop()
            return
        self._restore(scope.before)
        for bounds, bound in reversed(scope.added):
            at = len(bounds) - 1
            while bounds[at] is not bound:  # mostly the last one
                at -= 1
            del bounds[at]

    @property
    def is_behind(self) -> bool:
        """Say whether facts are known that nothing was learned from."""
        return bool(self._unlearned)

    def learn(self) -> None:
        """Learn what follows from all that is given, outer scopes first."""
        scopes, self._unlearned = self._unlearned, []
        for scope in scopes:
            scope.before = FoundOut(
                self.is_dead, self._made, self._shown, self._lessons, self._not_shown,
                self._quotients, self._sane,
            )  # fmt: skip
            self._made, self._shown = self._made.copy(), self._shown.copy()
            self._lessons = self._lessons.copy()
            scope.added = [row for fact in scope.facts for row in self._learn_of(fact)]
            if scope.added:
                self._not_shown, self._quotients = {}, {}

    def _restore(self, memory: FoundOut) -> None:
        self.is_dead, self._made, self._shown = memory.is_dead, memory.made, memory.shown
        self._lessons, self._not_shown = memory.lessons, memory.not_shown
        self._quotients, self._sane = memory.quotients, memory.sane
