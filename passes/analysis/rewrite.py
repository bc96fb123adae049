"""Rewrite by rules until none applies: a worklist, and rules found by the operation's name.

A rule is a function of an operation and the `Rewriter`. It refuses by returning None, or
returns the value that stands for the operation's result, or as many as it has; its docstring is
its equation:

    @reads("constant")
    def add_zero(op: Op, rewriter: Rewriter) -> SSAValue | None:
        \"\"\"x + 0 -> x.\"\"\"

Operations that a rewrite leaves unused are erased on the spot, so that a rule may rely on the
number of uses.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Generic, TypeAlias, TypeVar

from xdsl.ir import Block, Operation, OpResult, SSAValue

from ...ir import (
    REGISTRY,
    SOURCE,
    Array,
    Op,
    Program,
    TensorSpec,
    erase,
    operands_of,
    operations,
    replace_uses,
    spec_of,
)
from ...ir.program import functions

RuleT = TypeVar("RuleT", bound=Callable[..., Any])


class RuleBook(Generic[RuleT]):
    """Rules that say themselves for which operations they are.

    RULES = RuleBook[Rule]()

    @RULES.on("add")                         for these operations `gv.<name>`
    @RULES.where(lambda op: op.IDEMPOTENT)   for all whose class says so
    """

    def __init__(self) -> None:
        self.rules: list[tuple[Callable[[type[Op]], bool], RuleT]] = []
        self.known: tuple[list[type[Op]], dict[str, tuple[RuleT, ...]]] = ([], {})
        """The table as it was found last, and of which operations."""

    def on(self, *names: str) -> Callable[[RuleT], RuleT]:
        """Enter a rule for the operations of these names."""
        full = frozenset(f"gv.{name}" for name in names)
        return self.where(lambda op: op.name in full)

    def where(self, fits: Callable[[type[Op]], bool]) -> Callable[[RuleT], RuleT]:
        """Enter a rule for the operations whose class fits."""

        def enter(rule: RuleT) -> RuleT:
            self.rules.append((fits, rule))
            self.known = ([], {})
            return rule

        return enter

    def table(self) -> dict[str, tuple[RuleT, ...]]:
        """Return the rules of each operation that has any, in the order of the file."""
        ops = [*REGISTRY.values()]
        if self.known[0] != ops:
            found = {name: self.of(op) for name, op in REGISTRY.items()}
            self.known = ops, {name: rules for name, rules in found.items() if rules}
        return self.known[1].copy()

    def of(self, op: type[Op]) -> tuple[RuleT, ...]:
        """Return the rules of one operation."""
        return tuple(rule for fits, rule in self.rules if fits(op))


Rule: TypeAlias = "Callable[[Op, Rewriter], SSAValue | Sequence[SSAValue] | None]"
Rules: TypeAlias = Mapping[str, Sequence[Rule]]
"""The rules of each operation by its name, tried in order."""


FIRST_USE = attrgetter("first_use")

READS: dict[Rule, frozenset[str]] = {}
"""Of which operations a rule must read one, where it says so by `reads`."""


def reads(*names: str) -> Callable[[Rule], Rule]:
    """Say that a rule refuses where no operand is made by one of these operations `gv.<name>`."""

    def mark(rule: Rule) -> Rule:
        READS[rule] = frozenset(f"gv.{name}" for name in names)
        return rule

    return mark


class Rewriter:
    """Applies rules to the operations of a program, and makes the operations they ask for."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.worklist: deque[Op] = deque()
        self.waiting: set[Op] = set()
        self.current: Op | None = None
        self.hits: dict[str, int] = {}
        """How often each rule applied, by its name."""
        self.reads = {
            name: frozenset().union(*(READS[rule] for rule in each))
            for name, each in rules.items()
            if each and all(rule in READS for rule in each)
        }
        """Of operations whose rules all say what they read: one of which must be there."""

    def run(self, program: Program) -> None:
        """Apply the rules everywhere until none applies."""
        for function in functions(program.module):
            for block in function.body.blocks:
                self.collect(block)
        budget = 20 * len(self.worklist) + 1000
        while self.worklist:
            op = self.worklist.popleft()
            self.waiting.discard(op)
            if op.parent is not None:
                self.visit(op)
                budget -= 1
                assert budget, f"rules never come to an end, the last one met {op.name}"

    def collect(self, block: Block) -> None:
        """Put the operations that have rules on the worklist, those in regions included."""
        for op in operations(block):
            if op.name in self.rules and isinstance(op, Op):
                self.later(op)
            if op.regions:
                for inner in [b for region in op.regions for b in region.blocks]:
                    self.collect(inner)

    def later(self, op: Op) -> None:
        """Put an operation on the worklist."""
        if op not in self.waiting:
            self.waiting.add(op)
            self.worklist.append(op)

    def visit(self, op: Op) -> None:
        """Try the rules of one operation."""
        if op.PURE and is_unused(op):
            self.erase(op)
            return
        needed = self.reads.get(op.name)
        if needed is not None and not reads_any(op, needed):
            return
        self.current = op
        for rule in self.rules.get(op.name, ()):
            value = rule(op, self)
            if value is not None:
                name = rule.__name__.replace("_", " ")
                self.hits[name] = self.hits.get(name, 0) + 1
                self.replace(op, value)
                return

    def __call__(self, name: str, *operands: SSAValue, **attributes: Any) -> SSAValue:
        """Make an operation `gv.<name>` before the one at hand; return its result."""
        return self.make(REGISTRY[f"gv.{name}"], *operands, **attributes)

    def again(self, op: Op, *operands: SSAValue) -> SSAValue:
        """Make an operation like another one, on other operands; return its result."""
        return self.make(type(op), *operands, **op.plain_attributes())

    def make(self, kind: type[Op], *operands: SSAValue, **attributes: Any) -> SSAValue:
        """Make an operation before the one at hand; return its result."""
        return self.insert(kind.make(*operands, **attributes))[0]

    def insert(self, made: Op) -> Sequence[SSAValue]:
        """Put an operation before the one at hand; return its results."""
        assert self.current is not None, "a rule makes operations only while it is tried"
        source = self.current.attributes.get(SOURCE)
        if source is not None:
            made.attributes[SOURCE] = source
        block = self.current.parent
        assert block is not None, f"{self.current.name} has been erased by a rule"
        block.insert_op_before(made, self.current)
        if made.name in self.rules:
            self.later(made)
        return made.results

    def constant(self, array: Array) -> SSAValue:
        """Make a `gv.constant` of these elements."""
        return self("constant", value=array)

    def replace(self, op: Op, made: SSAValue | Sequence[SSAValue]) -> None:
        """Let values stand for the results of `op`, and look at its users again."""
        values = [made] if isinstance(made, SSAValue) else made
        for result, value in zip(op.results, values, strict=True):
            self.replace_result(op, result, value)
        if is_unused(op):
            self.erase(op)

    def replace_result(self, op: Op, result: OpResult, value: SSAValue) -> None:
        """Let a value stand for one result."""
        if value is not result:
            assert value.type == result.type, (
                f"{op.name} of type {result.type} became a value of type {value.type}"
            )
            for use in result.uses:
                if use.operation.name in self.rules and isinstance(use.operation, Op):
                    self.later(use.operation)
            replace_uses(result, value)
            if isinstance(value.owner, Op) and value.owner.name in self.rules:
                self.later(value.owner)

    def erase(self, op: Operation) -> None:
        """Erase an unused operation, and what only it used."""
        dead = [op]
        while dead:
            gone = dead.pop()
            if gone.parent is None:
                continue
            operands = operands_of(gone)
            erase(gone)
            for operand in operands:
                owner = operand.owner
                if not isinstance(owner, Op):
                    continue
                if owner.PURE and is_unused(owner):
                    dead.append(owner)
                elif owner.name in self.rules:
                    self.later(owner)  # it may have one use now


def is_unused(op: Operation) -> bool:
    """Say whether nothing uses a result."""
    return not any(map(FIRST_USE, op.results))


def reads_any(op: Operation, names: frozenset[str]) -> bool:
    """Say whether an operation with one of these names makes an operand."""
    made = [value.op.name for value in operands_of(op) if isinstance(value, OpResult)]
    return not names.isdisjoint(made)


def spec(value: SSAValue) -> TensorSpec:
    """Return the spec of a value."""
    return spec_of(value.type)


def producer(value: SSAValue, name: str) -> Op | None:
    """Return the operation `gv.<name>` that makes a value, None if another does."""
    owner = value.owner
    return owner if isinstance(owner, Op) and owner.name == f"gv.{name}" else None
