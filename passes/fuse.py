"""Group operations into kernels.

    %m = gv.matmul_packed %x, %w                %k = gv.kernel %x, %w, %b ({
    %s = gv.add %m, %b                =>            matmul_packed, add, relu
    %r = gv.relu %s                             }) {kind = "gemm"}

From the last operation to the first, each one joins the kernel of its users when they are
all in one kernel that can compute it in place: element-wise operations and data movements
as expressions that are read, reductions over whole rows as further passes over the row,
and one product, convolution, window or other loop nest as the kernel's anchor, behind which
the rest is an epilogue. Cheap operations are computed again in each kernel that needs them.
A kernel has one result, so that no cycle can arise. A reshape between kernels stays
outside: it is a view. What lies over an argument (`gv.over`) is no epilogue: it is computed in
place by a kernel of its own.

Needs `decompose`. Leaves every function on the level `fused`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue, Use

from ..capabilities import Capabilities
from ..errors import UnsupportedOp
from ..ir import (
    SOURCE,
    GraphEmit,
    Op,
    Program,
    block_for,
    erase,
    operands_of,
    operations,
    set_operands,
    uses_of,
)
from ..ir.ops.complex import Memory, OfPairs, Pairs
from ..ir.ops.control.control import Control
from ..ir.ops.selecting import Told
from ..ir.ops.structure import Constant, Kernel, Weight, Yield
from ..ir.program import functions, laid_over, set_level
from ..ir.types.indices import NeedSplit, Token, of
from ..ir.types.shapes import normalize_axes
from ..ir.types.tensor import TensorSpec, spec_of
from ..ir.types.values import is_complex
from .analysis.blocks import blocks_of
from .analysis.kernels.kinds import (
    KINDS,
    Behind,
    Reads,
    converts,
    kind_of,
    strides_of,
    takes_any,
    takes_formulas,
)
from .analysis.kernels.reads import (
    is_cheap,
    is_elementwise,
    is_indexed,
    is_large,
    is_readable,
    is_repeated,
    is_slow,
    is_smaller,
    is_splat,
    turns,
)
from .analysis.orders import segments
from .analysis.rewrite import is_unused
from .analysis.targets import target_of
from .analysis.walks import Walks, divides_rows, is_move, source_index
from .base import Pass

MAX_MEMBERS = 96
"""A kernel with more operations would spill registers and take long to compile."""

MAX_ROWS = 8
"""Reductions of rows that one kernel adds up: more would be seldom alike, and share nothing."""

STRAIGHT: frozenset[object] = frozenset((None,))
"""The path to what is read where it is used, by no moves."""

Row: TypeAlias = "tuple[tuple[object, ...], tuple[int, ...]]"
"""The sizes of what is reduced by rows, and the axes of it that are."""
ROWS_ANYHOW = Capabilities(reduce_columns=True)
MAX_PATHS = 8
"""Data movements that are read in more ways than this are stored."""


@dataclass(frozen=True)
class Fuse(Pass):
    """Group operations into kernels."""

    NUMERICS = "reassociating"
    LEVEL = "graph"
    epilogues: bool = True
    rows: bool = True
    maps: bool = True

    def apply(self, program: Program) -> None:
        """Fuse every function."""
        for function in functions(program.module):
            self.count("functions")
            for block in blocks_of(function):
                grouping = Grouping(self, block, target_of(program).can)
                grouping.decide()
                grouping.rewrite()
        set_level(program.module, "fused")


@dataclass(eq=False)
class Group:
    """Operations that will be one kernel."""

    root: Op
    kind: str
    members: set[Operation] = field(default_factory=set)
    anchor: Op | None = None
    paths: dict[Operation, frozenset[object]] = field(default_factory=dict)
    """The chains of moves through which the root reads each member."""
    repeated: set[Operation] = field(default_factory=set)
    """Members that are computed again for each row of another one."""
    feeding: dict[Operation, bool] = field(default_factory=dict)
    """Of members, whether they lie on the side of the operands that the anchor walks."""
    row: Row | None = None
    """Shape and reduced axes of a row kernel."""
    rows: int = 0
    """How many reductions there are in a row kernel."""
    awaited: Op | None = None
    """The product that is finished by what has joined: no second one can."""


class Grouping:
    """Decides the groups of one block, then builds them."""

    def __init__(self, options: Fuse, block: Block, can: Capabilities) -> None:
        self.options, self.block, self.can = options, block, can
        self.groups: list[Group] = []
        self.of: dict[Operation, list[Group]] = {}
        self.faults: list[str] = []
        self.updates = laid_over_values(block)

    # -- deciding -------------------------------------------------------------------------

    def decide(self) -> None:
        """Visit the operations from the last to the first."""
        for op in reversed(operations(self.block)):
            if isinstance(op, Op) and op.results and not _outside(op):
                self.place(op)
        if self.faults:
            raise UnsupportedOp("\n".join(reversed(self.faults)))

    def place(self, op: Op) -> None:
        """Put one operation into a group of its users or into its own."""
        users = {use._operation for use in uses_of(op)}
        groups = {id(g): g for user in users for g in self.of.get(user, ())}
        escapes = any(user not in self.of for user in users)
        if groups and not escapes and self.joins(op, list(groups.values())):
            return
        if is_splat(op):
            return
        kind = self.kind(op)
        group = Group(op, kind, {op})
        if kind == "view":
            return
        if not is_readable(op):
            group.anchor = op
            if kind == "row":
                group.row, group.rows = _row(op), 1
        self.groups.append(group)
        self.of[op] = [group]

    def kind(self, op: Op) -> str:
        """Return the kind of kernel that the operation would be alone."""
        if op.IS_VIEW:
            return "view"
        if is_readable(op):
            return "map"
        kind = kind_of(op, self.can)
        if kind is None:
            whole = type(op).decompose.__func__ is Op.decompose.__func__  # type: ignore[attr-defined]
            why = "and does not decompose" if whole else "of its own: decompose comes before fuse"
            self.faults.append(f"{_source(op)}: {op.name} has no kernel {why}")
            return "map"
        return kind

    def joins(self, op: Op, groups: Sequence[Group]) -> bool:
        """Add the operation to its users' groups if all of them can take it."""
        if any(len(g.members) >= MAX_MEMBERS or adds_enough(g, op) for g in groups):
            return False
        if (len(groups) > 1 and not is_cheap(op)) or self.stands_apart(op, groups):
            return False
        again = self.repeating(op, groups)
        stored = narrows(op) and (len(groups) > 1 or not self.awaits(groups[0], op))
        if stored or (again and is_slow(op)):
            return False
        if is_readable(op):
            uses = self.uses_by_group(op)
            if not all(self.reads(group, op, uses[id(group)]) for group in groups):
                return False
        elif not self.anchors(groups[0], op):
            return False
        for group in again:
            group.repeated.add(op)
        for group in groups:
            group.members.add(op)
        self.of[op] = list(groups)
        return True

    def stands_apart(self, op: Op, groups: Sequence[Group]) -> bool:
        """Say whether a move across memory, or what it moves, is better a kernel of its own.

        Alone it is turned in registers, block by block; within others each vector is gathered. So
        it is where rows that were cut are found by dividing.
        """
        if not self.can.walk_vectors:
            return False
        if not turns(op):
            if op.name == "gv.reshape":
                return is_large(op) and any(self.divides(group, op) for group in groups)
            return any(group.kind == "map" and turns(group.root) for group in groups)
        if any(all(map(is_move, group.members)) for group in groups):
            return False
        if any(KINDS[group.kind].reads is not Reads.ELEMENTS for group in groups):
            return False
        return not any(is_smaller(use._operation, op) for use in uses_of(op))

    def divides(self, group: Group, reshape: Op) -> bool:
        """Say whether a map would find each of its vectors in a reshape by dividing."""
        behind: list[Op] = []
        op: Operation = reshape
        while group.kind == "map" and op is not group.root:
            users = {use._operation for use in uses_of(op)} & group.members
            if len(users) != 1:
                return False
            op = users.pop()
            if not isinstance(op, Op) or not (
                is_move(op) or is_elementwise(op) or op.name == "gv.pad"
            ):
                return False
            behind.insert(0, op)
        return bool(behind) and divides_rows(reshape, behind)

    def repeating(self, op: Op, groups: Sequence[Group]) -> Sequence[Group]:
        """Return the groups that compute an operation again for each row of another one."""
        if not self.can.walk_vectors or not is_readable(op):
            return ()
        if is_repeated(op):
            return groups
        users = {use._operation for use in uses_of(op)}
        return [group for group in groups if not users.isdisjoint(group.repeated)]

    def awaits(self, group: Group, op: Op) -> bool:
        """Say whether the product that a narrowed value comes from can be the group's anchor.

        If not, the narrowed value is what is stored: it takes less memory than the product.
        """
        found = finished_product(op)
        if found is None:
            return True
        if group.kind != "map" or group.awaited not in (None, found):
            return False
        group.awaited = found
        return True

    def uses_by_group(self, op: Op) -> dict[int, list[Use]]:
        """Return the uses of an operation by the identity of the group they are in."""
        found: dict[int, list[Use]] = {}
        for use in uses_of(op):
            for group in self.of[use._operation]:
                found.setdefault(id(group), []).append(use)
        return found

    def reads(self, group: Group, op: Op, uses: Sequence[Use]) -> bool:
        """Say whether the group, in which the uses are, can compute an operation in place."""
        if not self.options.maps and not is_splat(op):
            return False
        paths = self.paths(group, uses)
        if len(paths) > (MAX_PATHS if is_cheap(op) else 1):
            return False
        group.paths[op] = paths
        if KINDS[group.kind].reads is Reads.ELEMENTS:
            return group.kind == "map" or not self.ends_rows(op, group.row)
        anchor = group.anchor
        if not any(is_walked(anchor, use) or self.feeds(group, use.operation) for use in uses):
            if self.finishes(op):
                return False
            return KINDS[group.kind].behind is not Behind.MOVES or is_cheap(op) or not is_row(op)
        users = [use.operation for use in uses]
        taken = all(self._takes_moves(group, user, op) or is_move(user) for user in users)
        return is_move(op) and taken and (anchor is None or self.walks(group, anchor, op))

    def finishes(self, op: Op) -> bool:
        """Say whether an operation stands behind a product of its own: it is its epilogue."""
        like, value = op.result_specs[0], op
        while is_elementwise(value):
            inner = [v.owner for v, s in zip(value.operands, value.specs, strict=True) if s == like]
            if len(inner) != 1 or not isinstance(inner[0], Op):
                return False
            value = inner[0]
            if not value.results[0].has_one_use():
                return False
        return takes_formulas(kind_of(value, self.can))

    def ends_rows(self, op: Op, row: object) -> bool:
        """Say whether an operation combines rows that were reduced with what they are of.

        Apart from it their reductions, of other rows than a group's, would be kernels of their own.
        """
        full = op.result_specs[0].dims
        stack = [value for value in op.operands if spec_of(value.type).dims != full]
        seen: set[object] = set()
        while stack and len(seen) < MAX_MEMBERS:  # what is farther away is another kernel
            one = stack.pop().owner
            if not isinstance(one, Op) or not one.results or one in seen:
                continue
            seen.add(one)
            if kind_of(one, self.can) == "row" and one.specs[0].dims == full:
                return _row(one) != row
            if is_elementwise(one):
                stack += [v for v in one.operands if spec_of(v.type).dims != full]
        return False

    def _takes_moves(self, group: Group, user: Operation, op: Op) -> bool:
        """Say whether a user is a product that walks an operand through moves: not panels."""
        strides = strides_of(user)
        if user is not group.anchor or strides != 1:
            return user is group.anchor and strides > 1
        return group.kind == "gemm" and user.operands[1].owner is not op

    def paths(self, group: Group, uses: Sequence[Use]) -> frozenset[object]:
        """Return the distinct ways in which the root reads what is used: one per chain of moves.

        What is read at several places is computed that often: a stencil of a stencil would
        grow without bound.
        """
        found: set[frozenset[object]] = set()
        for user in {use._operation for use in uses}:
            above = group.paths.get(user, STRAIGHT)
            if is_indexed(user):
                above = frozenset((user, path) for path in above)
            found.add(above)
        return found.pop() if len(found) == 1 else frozenset().union(*found)

    def feeds(self, group: Group, op: Operation) -> bool:
        """Say whether a member lies on the side of the operands that the anchor walks.

        What joins later makes what is here: it changes no answer once there is an anchor.
        """
        if op not in group.feeding:
            group.feeding[op] = any(
                is_walked(group.anchor, use)
                if use._operation is group.anchor
                else use._operation in group.members and self.feeds(group, use._operation)
                for use in uses_of(op)
            )
        return group.feeding[op]

    def anchors(self, group: Group, op: Op) -> bool:
        """Say whether an operation with its own loop nest can join, as anchor or as row."""
        kind = kind_of(op, self.can)
        if kind == "row":
            return self.options.rows and self.joins_row(group, op)
        if kind is None or not takes_any(kind) or not self.options.epilogues:
            return False
        if group.root.results[0] in self.updates:
            return False  # a tile is stored before it is finished: not where its operand lies
        if group.kind != "map" or len(op.results) != 1 or not self.on_path(group, op, kind):
            return False
        same = group.root.result_specs[0].dtype == op.result_specs[0].dtype
        if not (same or converts(op)) or not self.walks(group, op):
            return False
        group.kind, group.anchor = kind, op
        return True

    def walks(self, group: Group, anchor: Op, *more: Op) -> bool:
        """Say whether an anchor's kernel can walk what it has to, in the group and `more` moves."""
        inside = {*group.members, anchor, *more}
        return not strides_of(anchor) or Walks(group.root, anchor, inside).fit()

    def on_path(self, group: Group, op: Op, kind: str) -> bool:
        """Say whether every element of the operation is used once, by one element of the root."""
        like = op.result_specs[0]
        moves = KINDS[kind].behind is Behind.BOTH
        only_moves = KINDS[kind].behind is Behind.MOVES
        value: Operation = op
        while value is not group.root:
            users = {use._operation for use in uses_of(value)}
            if any(user not in group.members for user in users):
                return False
            if len(users) == 1:
                value = next(iter(users))
                kept = is_laid_out(value) if only_moves else self._keeps(value, like, moves=moves)
                if not kept:
                    return False
                continue
            return not only_moves and self._all_aligned(group, value, like)
        return True

    def _keeps(self, op: Operation, like: TensorSpec, *, moves: bool = False) -> bool:
        if not isinstance(op, Op):
            return False
        if not is_elementwise(op) and not (moves and op.BIJECTIVE and keeps_columns(op)):
            return False
        result = op.result_specs[0]
        return result.size == like.size if moves else result.dims == like.dims

    def _all_aligned(self, group: Group, start: Operation, like: TensorSpec) -> bool:
        """Say whether everything between an operation and the root is element-wise, of one size."""
        seen, stack = {start}, [start]
        while stack:
            one = stack.pop()
            if one is group.root:
                continue
            for user in {use._operation for use in uses_of(one)}:
                if user not in group.members or not self._keeps(user, like):
                    return False
                if user not in seen:
                    seen.add(user)
                    stack.append(user)
        return True

    def joins_row(self, group: Group, op: Op) -> bool:
        """Say whether a reduction walks the rows that the group walks."""
        row = _row(op)
        if group.kind not in ("map", "row") or (group.row is not None and group.row != row):
            return False
        root = group.root.result_specs[0]
        full = op.specs[0]
        if len(group.root.results) != 1 or not (
            root.dims == full.dims or _squeezed(root) == _squeezed(op.result_specs[0])
        ):
            return False
        if not self._row_aligned(group, op):
            return False
        group.kind, group.row, group.rows = "row", row, group.rows + 1
        group.anchor = group.anchor or op
        return True

    def _row_aligned(self, group: Group, start: Op) -> bool:
        """Say whether members between a reduction and the root stay in their row."""
        seen: set[Operation] = {start}
        stack: list[Operation] = [start]
        row = _row(start)
        while stack:
            one = stack.pop()
            if one is group.root:
                continue
            for use in uses_of(one):
                user = use._operation
                if user not in group.members or not _stays(user, use.index, row):
                    return False
                if user not in seen:
                    seen.add(user)
                    stack.append(user)
        return True

    # -- building -------------------------------------------------------------------------

    def rewrite(self) -> None:
        """Replace each group by a `gv.kernel` at the place of its root."""
        order = {op: i for i, op in enumerate(operations(self.block))}
        last, given = self.block.last_op, dict[SSAValue, SSAValue]()
        assert last is not None, "a block ends in a return or a yield"
        for group in sorted(self.groups, key=lambda g: order[g.root]):
            given |= self.build(group, sorted(group.members, key=order.__getitem__))
            self.options.count(f"kernels of kind {group.kind}")
        set_operands(last, [given.get(v, v) for v in operands_of(last)])  # (it may have thousands)
        for op in reversed(operations(self.block)):
            if isinstance(op, Op) and op.PURE and op.results and is_unused(op):
                erase(op)
        self.copy_returned()

    def copy_returned(self) -> None:
        """Copy what is returned but is no kernel's own result, or is returned twice."""
        last = self.block.last_op
        if not isinstance(last, ReturnOp):
            return  # what a region yields is copied where it has to be by `bufferise`
        taken: set[SSAValue] = set()
        function = self.block.parent_op()
        assert isinstance(function, FuncOp), "a function returns"
        over = laid_over(function.res_attrs)
        for index, value in enumerate(last.operands):
            if index in over:
                continue  # `bufferise` copies it
            base = value
            while isinstance(base.owner, Op) and base.owner.IS_VIEW:
                base = base.owner.operands[0]
            if isinstance(base.owner, Kernel | Control) and base not in taken:
                taken.add(base)
                continue
            emit = GraphEmit.before(last)
            is_whole = is_complex(value.type)
            source = emit(Pairs, value) if is_whole else value
            body = Block(arg_types=[source.type])
            body.add_op(Yield.make(body.args[0]))
            (copy,) = emit.insert(Kernel.make_from([source], body, "map"))
            last.operands[index] = emit(OfPairs, copy) if is_whole else copy
            self.options.count("copies of results")

    def needs_buffer(self, group: Group, op: Operation) -> bool:
        """Say whether a member's operands must lie in memory, even if they are one number."""
        if KINDS[group.kind].reads is not Reads.MEMORY:
            return False
        return op is group.anchor or self.feeds(group, op)

    def read_outside(self, group: Group, members: list[Operation]) -> list[SSAValue]:
        """Return what the members of a group read that others make; splats are copied in."""
        found: dict[SSAValue, None] = {}
        for op in members:
            for operand in operands_of(op):
                owner = operand.owner
                if owner in group.members or operand in found:
                    continue
                if not _copied(owner) or self.needs_buffer(group, op):
                    found[operand] = None
        return list(found)

    def build(self, group: Group, members: list[Operation]) -> dict[SSAValue, SSAValue]:
        """Create the kernel of one group; return what the block's last operation is to take."""
        operands = self.read_outside(group, members)
        body = block_for(operands)
        values: dict[SSAValue, SSAValue] = dict(zip(operands, body.args, strict=True))
        uses, behind = uses_of(group.root), group.root.next_op
        assert behind is not None, "a block ends in a return or a yield"
        for op in members:
            _copy_splats(op, values, body)
            if len(self.of[op]) > 1:  # each of its kernels computes it
                body.add_op(op.clone(values))
                continue
            self.block.detach_op(op)
            set_operands(op, [values.get(v, v) for v in operands_of(op)])
            values |= zip(op.results, op.results, strict=True)
            body.add_op(op)
        body.add_op(Yield.create(operands=group.root.results))
        kernel = Kernel.make_from(operands, body, group.kind)
        if sources := _sources(members):
            kernel.attributes[SOURCE] = ArrayAttr(sources)
        self.block.insert_op_before(kernel, behind)
        for old, new in zip(group.root.results, kernel.results, strict=True):
            new.name_hint = old.name_hint
        behind_it: dict[SSAValue, SSAValue] = dict(
            zip(group.root.results, kernel.results, strict=True)
        )
        for op in dict.fromkeys(use._operation for use in uses):
            if op is not self.block.last_op:
                set_operands(op, [behind_it.get(v, v) for v in operands_of(op)])
        return behind_it


def adds_enough(group: Group, op: Op) -> bool:
    """Say whether a group has reduced enough rows, and an operation only brings more of them.

    A long sum of sums would else be cut by the number of operations, each time in another way.
    """
    if group.row is None or group.rows < MAX_ROWS:
        return False
    root = group.root.result_specs[0]
    return root.dims != group.row[0] and _squeezed(op.result_specs[0]) == _squeezed(root)


def laid_over_values(block: Block) -> set[SSAValue]:
    """Return the values of a function that are to lie over its arguments."""
    function, last = block.parent_op(), block.last_op
    if not isinstance(function, FuncOp) or last is None:
        return set()
    return {last.operands[i] for i in laid_over(function.res_attrs)}


def is_walked(anchor: Op | None, use: Use) -> bool:
    """Say whether a use is that of an operand that the anchor walks in memory."""
    if anchor is None or use.operation is not anchor:
        return False
    return anchor.KERNEL is None or anchor.KERNEL.walked is None or use.index < anchor.KERNEL.walked


def is_laid_out(op: Operation) -> bool:
    """Say whether an operation moves elements so that those of a row stay neighbours."""
    if not isinstance(op, Op) or not op.BIJECTIVE:
        return False
    if op.name == "gv.reshape":
        return segments(op.specs[0].dims, op.result_specs[0].dims) is not None
    return keeps_columns(op)


def keeps_columns(op: Op) -> bool:
    """Say whether a move leaves each element in its place along the last axis."""
    source, result = op.specs[0].dims, op.result_specs[0].dims
    if not source or not result or source[-1] != result[-1]:
        return False
    if op.name == "gv.reshape":
        return True
    index = tuple(of(Token(dim)) for dim in result)
    try:
        found = source_index(op, index)
    except NeedSplit:
        return False
    return found is not None and found[-1] == index[-1]


def is_row(op: Op) -> bool:
    """Say whether all rows of a result are one: better computed once than for each row."""
    return op.result_specs[0].dims[-2:-1] in ((), (1,))


def narrows(op: Op) -> bool:
    """Say whether an operation makes elements of fewer bytes."""
    return op.name == "gv.cast" and op.result_specs[0].dtype.size < op.specs[0].dtype.size


def finished_product(op: Op) -> Op | None:
    """Return the product that element-wise operations before a narrowing one finish, if one is."""
    stack, seen = [op.operands[0]], 0
    while stack and seen < MAX_MEMBERS:
        owner = stack.pop().owner
        if not isinstance(owner, Op) or narrows(owner) or not owner.results[0].has_one_use():
            continue
        seen += 1
        if converts(owner):
            return owner
        if is_elementwise(owner):
            stack += [v for v, s in zip(owner.operands, owner.specs, strict=True) if s.rank > 1]
    return None


def _outside(op: Op) -> bool:
    """Say whether an operation stays outside of kernels."""
    return isinstance(op, Weight | Control | Told | Memory) or (
        isinstance(op, Constant) and not is_splat(op)
    )


def _copied(owner: object) -> bool:
    return isinstance(owner, Operation) and is_splat(owner)


def _copy_splats(op: Operation, values: dict[SSAValue, SSAValue], body: Block) -> None:
    for operand in operands_of(op):
        if operand not in values and _copied(operand.owner):
            assert isinstance(operand.owner, Operation), "a splat is made by an operation"
            copy = operand.owner.clone()
            body.add_op(copy)
            values[operand] = copy.results[0]


def _row(op: Op) -> Row:
    dims = op.specs[0].dims
    axes = normalize_axes(op.plain_attributes()["axes"], len(dims))
    return dims, tuple(a for a in axes if dims[a] != 1)


def _squeezed(spec: TensorSpec) -> tuple[object, ...]:
    return tuple(d for d in spec.dims if d != 1)


def _stays(op: Operation, operand: int, row: Row) -> bool:
    """Say whether an operation reads a row of an operand only for the same row."""
    if not isinstance(op, Op):
        return False
    spec, made = op.specs[operand], op.result_specs[0]
    if is_elementwise(op):
        if spec.rank == 0:
            return True
        if spec.rank != made.rank:
            return False
    elif op.name != "gv.reshape":
        return kind_of(op, ROWS_ANYHOW) == "row" and _is_in_place(spec, row)
    return any(holds(spec, row) and holds(made, row) for holds in (_is_in_place, _is_alone))


def _is_in_place(spec: TensorSpec, row: Row) -> bool:
    """Say whether rows lie along the axes along which those lie that are reduced."""
    dims, axes = row
    pairs = enumerate(zip(spec.dims, dims, strict=False))
    return spec.rank == len(dims) and all(d == n or (a in axes and d == 1) for a, (d, n) in pairs)


def _is_alone(spec: TensorSpec, row: Row) -> bool:
    """Say whether there is one element for each row, in their order: nothing of a row is left."""
    dims, axes = row
    return _squeezed(spec) == tuple(d for a, d in enumerate(dims) if a not in axes and d != 1)


def _source(op: Operation) -> str:
    source = op.attributes.get(SOURCE)
    return source.data if isinstance(source, StringAttr) else "<unknown>"


def _sources(members: Sequence[Operation]) -> list[Attribute]:
    found = dict.fromkeys([op.attributes.get(SOURCE) for op in members])
    return [source for source in found if isinstance(source, StringAttr)]
