"""Have compiled code find out how many elements are selected, and tell it.

    %0 = gv.non_zero %x {sizes = "u"}      %1, %2 = ... (all places, and how many there are)
    %3 = gv.neg %0                   =>    %0 = gv.told %1, %2 {sizes = "u"}
    func.return %3                         %3 = gv.neg %0
                                           func.return (%3 up to the most, behind it zeros), u

What selects (`gv.non_zero`, `gv.leading`, `gv.non_max_suppression`) is a host step elsewhere; here
it is computed at its most, and `gv.told` cuts off what is too much: from there on the run knows the
size, and all that follows is computed for as many elements as there are. A choice of branches that
differ in size (`gv.host_if`) gives the most that either gives, and how much of it counts; numbers
that are read as sizes (`gv.read_sizes`) are told too, and required to be in their range. A result
of such a size becomes one of the most elements, and one more result tells each extent. It is for
libraries, which have no host: nothing is done where there are other host steps as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.ir import Block, Operation, SSAValue

from ..errors import unbounded
from ..ir import Op, Program, TensorSpec, block_for, erase, operations, replace, spec_of
from ..ir.build import DEVICE, GraphEmit
from ..ir.compose.functions import cut, stack
from ..ir.compose.maker import Maker
from ..ir.host import HostOp, defined, is_host, symbols_in
from ..ir.ops.control.control import If, While
from ..ir.ops.host.host_control import HostIf
from ..ir.ops.host.late import ReadSizes
from ..ir.ops.selecting import Leading, NonMaxSuppression, NonZero, Told
from ..ir.ops.structure import Yield
from ..ir.program import (
    argument_specs,
    finish,
    requirements_of,
    result_names,
    returned,
    set_ranges,
)
from ..ir.types import dims, dtypes
from ..ir.types.dims import Dim, Range
from ..ir.types.values import value_spec
from .analysis.constants import scalar_of
from .base import Pass

LOWEST = float("-inf")


@dataclass(frozen=True)
class TellSizes(Pass):
    """Have compiled code find out how many elements are selected, and tell it."""

    LEVEL = "graph"

    def apply(self, program: Program) -> None:
        """Rewrite the entry, if nothing else in it is a host's."""
        self.count("told", len(tell_sizes(program)))


def tell_sizes(program: Program) -> list[dict[str, Any]]:
    """Rewrite a program; return by which result the extent of which axis of another is told."""
    block = program.main.body.block
    hosts = [op for op in operations(block) if is_host(op)]
    if not hosts or not all(map(can_be_told, hosts)):
        return []
    if any(DEVICE in op.attributes for op in program.module.walk()) or not tells_new_sizes(program):
        return []
    selecting = Selecting(program)
    selecting.rewrite_all(block)
    set_ranges(program.module, selecting.ranges)
    return selecting.tell()


def loops_can_be_told(program: Program) -> bool:
    """Say whether compiled code is better at what a program's host steps do, and can tell all.

    It is where all that they select or choose is little.
    """
    every = [op for op in program.module.walk() if isinstance(op, HostOp)]
    if not is_little(program, every):
        return False
    read = [size for op in every if isinstance(op, ReadSizes) for size in _read(op)]
    given = [size for spec in argument_specs(program.main) for size in spec.dims]
    if any(dims.bounds(size, program.ranges)[1] is None for size in (*given, *read)):
        return False
    hosts = [op for op in operations(program.main.body.block) if is_host(op)]
    if any(DEVICE in op.attributes for op in every):
        return False
    return all(map(can_be_told, hosts)) and tells_new_sizes(program)


def tells_new_sizes(program: Program) -> bool:
    """Say whether each size that is told is one that nothing else tells.

    A size that is an argument's too, or another step's, has to be compared with it in the run,
    which is the host's to do: code would take one of them for both, and read behind the other.
    """
    known = {n for x in program.main.body.block.args for n in symbols_in(x.type)}
    for op in program.module.walk():
        for size in told_by(op):
            if not str(size).isidentifier() or str(size) in known:
                return False
            known.add(str(size))
    return True


def told_by(op: Operation) -> Iterator[Dim]:
    """Give the sizes that compiled code would tell in place of a host step."""
    if isinstance(op, HostIf):
        for values in zip(op.results, op.yielded(0), op.yielded(1), strict=True):
            specs = [value_spec(x.type) for x in values]
            shapes = [x.shape for x in specs if isinstance(x, TensorSpec) and x.shape is not None]
            if len({*map(len, shapes)}) != 1 or len(shapes) < len(specs):
                yield 0  # no size alone says what differs
                continue
            for size, *others in zip(*shapes, strict=True):
                if any(other != size for other in others):
                    yield size
    elif isinstance(op, ReadSizes):
        sizes: Sequence[Dim] = op.plain_attributes()["sizes"]
        yield from (size for size in sizes if str(size) in dims.symbols(size))
    elif isinstance(op, HostOp) and isinstance(op, tuple(SELECTING)):
        yield from op.plain_attributes()["sizes"]


LITTLE = 1 << 11
"""So few elements cost less where all are computed than a host's step beside compiled code."""
FEW = 1 << 14
"""So few comparisons of boxes: compiled code compares all with the best one in each round."""


def is_little(program: Program, every: Sequence[HostOp]) -> bool:
    """Say whether all that host steps select or choose, and the results made of it, are little."""
    told = set[str]()
    given = {n for x in program.main.body.block.args for n in symbols_in(x.type)}
    ranges = {n: program.ranges.get(n, (0, None)) for n in given}
    choices = [op for op in every if isinstance(op, HostIf)]
    for op in (*(op for op in every if not isinstance(op, HostIf)), *reversed(choices)):
        if not isinstance(op, HostIf | NonZero | Leading | NonMaxSuppression):
            return False
        if isinstance(op, NonMaxSuppression) and not _compares_few(op, ranges):
            return False
        if isinstance(op, HostIf):
            values = [x for index in (0, 1) for x in op.yielded(index)]
        else:
            values = [op.operands[isinstance(op, NonMaxSuppression)]]
        most = _most_of(values, ranges)
        if most is None or most > LITTLE:
            return False
        new = {n for x in op.results for n in symbols_in(x.type)} - ranges.keys() | defined(op)
        told |= new
        ranges |= dict.fromkeys(new, (0, most))
    made = [x for x in returned(program.main) if told & {*symbols_in(x.type)}]
    most = _most_of(made, ranges)
    return bool(every) and most is not None and most <= LITTLE


def _compares_few(op: NonMaxSuppression, ranges: Mapping[str, Range]) -> bool:
    """Say whether few boxes are compared where each of them stands out."""
    boxes, scores, *_ = op.specs
    high = dims.bounds(scores.size * boxes.dims[1], ranges)[1]
    return high is not None and high <= FEW


def _most_of(values: Sequence[SSAValue], ranges: Mapping[str, Range]) -> int | None:
    """Return how many elements the largest of some tensors can have; None: that is not known."""
    found = 0
    for value in values:
        spec = value_spec(value.type)
        if not isinstance(spec, TensorSpec) or spec.shape is None:
            return None
        high = dims.bounds(spec.size, ranges)[1]
        if high is None:
            return None
        found = max(found, high)
    return found


def _read(op: ReadSizes) -> Sequence[Dim]:
    """Return what is known of the highest values of the sizes that are read."""
    rules = op.plain_attributes()
    sizes: Sequence[Dim] = rules["most"] or rules["sizes"]
    return sizes


def can_be_told(op: Operation) -> bool:
    """Say whether compiled code can compute what a host step selects or chooses."""
    if isinstance(op, HostIf):
        inner = [each for region in op.regions for each in operations(region.block)]
        specs = op.result_specs
        numbers = all(isinstance(each, TensorSpec) and not each.dtype.is_text for each in specs)
        return numbers and all(can_be_told(each) for each in inner if is_host(each))
    return isinstance(op, (*SELECTING, *TELLING))


class Selecting:
    """The rewriting of one program."""

    def __init__(self, program: Program) -> None:
        self.program, self.ranges = program, dict(program.ranges)
        self.told: set[str] = set()

    def rewrite_all(self, block: Block) -> None:
        """Rewrite the host steps of a block."""
        for op in operations(block):
            if type(op) in TELLING:
                TELLING[type(op)](self, op)
            elif type(op) in SELECTING:
                assert isinstance(op, Op), "a host step is an operation of ours"
                self.rewrite(op)

    def rewrite(self, op: Op) -> None:
        """Compute what an operation selects, and cut off what is too much."""
        make, (size,) = Maker(GraphEmit.before(op)), op.plain_attributes()["sizes"]
        self.told |= dims.symbols(size)
        replace(op, SELECTING[type(op)](self, make, op, size))

    def read(self, op: ReadSizes) -> None:
        """Tell the numbers of a vector as sizes; they must be in their range."""
        make, rules = Maker(GraphEmit.before(op)), op.plain_attributes()
        own = {str(size) for size in rules["sizes"] if str(size) in dims.symbols(size)}
        for place, size in enumerate(rules["sizes"]):
            is_rest = str(size) not in own and bool(dims.symbols(size) & own)
            if str(size) not in own and not is_rest:
                continue  # known: the number was computed of it
            part = cut(make.emit, op.operands[0], 0, place, place + 1)
            number = make.to(make.reshape(part, shape=()), dtypes.i64)
            most = self.most(rules["most"][place] if rules["most"] else size)
            above = make.number(most + 1, dtypes.i64)
            none = make.less(number, make.number(0, dtypes.i64))
            number = make.select(none, above, number)
            room = make.filled(0, dtypes.i8, (most + 1,))
            name = dims.parse(f"told{len(self.told)}") if is_rest else size
            self.limit(name, most + 1)
            self.told.add(str(name))
            found = make.emit(Told, room, number, sizes=(name,), most=most)
            if is_rest:  # the size of the last of some parts, which is what others leave
                make.fitted(found, shape=(size,))
        erase(op)

    def choose(self, op: HostIf) -> None:
        """Take what one of two branches gives: as much as either may give, and how much counts."""
        yields = [op.yielded(index) for index in (0, 1)]
        cuts = [
            [
                axis for axis, extent in enumerate(spec_of(result.type).dims)
                if any(spec_of(row[number].type).dims[axis] != extent for row in yields)
            ]
            for number, result in enumerate(op.results)
        ]  # fmt: skip
        for block in [region.block for region in op.regions]:
            self.rewrite_all(block)
        yields = [op.yielded(index) for index in (0, 1)]
        most = [
            [max(self.most(spec_of(row[n].type).dims[axis]) for row in yields) for axis in axes]
            for n, axes in enumerate(cuts)
        ]
        for index, block in enumerate([region.block for region in op.regions]):
            self.widen(block, op.yielded(index), cuts, most)
        blocks = [region.detach_block(0) for region in op.regions]
        made = If.make_from(op.operands[0], op.operands[1:], *blocks)
        make = Maker(GraphEmit.before(op))
        make.emit.append(made)  # type: ignore[attr-defined]
        counts = list(made.results[len(op.results) :])
        values: list[SSAValue] = list(made.results[: len(op.results)])
        for number, (result, axes) in enumerate(zip(op.results, cuts, strict=True)):
            for axis, limit in zip(axes, most[number], strict=True):
                size = spec_of(result.type).dims[axis]
                self.limit(size, limit)
                self.told |= dims.symbols(size)
                values[number] = first(make, values[number], axis, counts.pop(0), size)
        replace(op, *values)

    def widen(
        self, block: Block, values: Sequence[SSAValue], cuts: Sequence[Sequence[int]],
        most: Sequence[Sequence[int]],
    ) -> None:  # fmt: skip
        """Have a branch give the most elements along some axes, and behind all how many count."""
        last = block.last_op
        assert last is not None, "a branch yields"
        make, counts, wide = Maker(GraphEmit.before(last)), list[SSAValue](), list[SSAValue]()
        for value, axes, limits in zip(values, cuts, most, strict=True):
            shape = spec_of(value.type).dims
            ends = dict(zip(axes, limits, strict=True))
            counts += [make.extent_of(shape[axis]) for axis in axes]
            pads = [(0, ends.get(axis, size) - size) for axis, size in enumerate(shape)]
            is_whole = all(pad == (0, 0) for pad in pads)
            wide.append(value if is_whole else make.pad(value, pads=tuple(pads)))
        make.emit(Yield, *wide, *counts)
        erase(last)

    def most(self, size: Dim) -> int:
        """Return the highest value of a size."""
        high = dims.bounds(size, self.ranges)[1]
        if high is None:
            raise unbounded(*sorted(dims.symbols(size)))
        return high

    def limit(self, size: Dim, most: int) -> None:
        """Note that a size is at most so much."""
        self.ranges[str(size)] = (0, most)

    def leading(self, make: Maker, op: Op, size: Dim) -> SSAValue:
        """Return the first slices."""
        x, count = op.operands
        self.limit(size, self.most(op.specs[0].dims[0]))
        return make.emit(Told, x, make.to(count, dtypes.i64), sizes=(size,))  # type: ignore[no-any-return]

    def places(self, make: Maker, flags: SSAValue, size: Dim) -> list[SSAValue]:
        """Return where flags hold, in row-major order: a vector for each axis."""
        shape = spec_of(flags.type).dims
        count = dims.product(shape)
        self.limit(size, self.most(count))
        flat = make.reshape(flags, shape=(count,))
        ones = make.cast(flat, dtype=dtypes.i64)
        before = make.cumsum(ones, axis=0, exclusive=True)
        target = make.select(flat, before, make.extent_of(count))
        every = make.iota(shape=(count,), axis=0, dtype=dtypes.i64)
        padded = make.filled(0, dtypes.i64, (count + 1,))
        padded = make.scatter_elements(padded, target, every, axis=0)
        total = make.sum(ones, axes=(0,), keepdims=False)
        rest = make.emit(Told, padded, total, sizes=(size,))
        found = []
        for extent in reversed(shape):
            whole = make.extent_of(extent)
            found.append(make.mod(rest, whole))
            rest = make.floor_divide(rest, whole)
        return found[::-1]

    def non_zero(self, make: Maker, op: Op, size: Dim) -> SSAValue:
        """Return a row of places for each axis."""
        x = op.operands[0]
        if not op.specs[0].rank:
            x = make.reshape(x, shape=(1,))
        return stack(make.emit, self.places(make, make.to(x, dtypes.bool_), size), 0)  # type: ignore[no-any-return]

    def suppressed(self, make: Maker, op: Op, size: Dim) -> SSAValue:
        """Return batch, class and box of the boxes that stand out."""
        picked = picks(make, op, self.rounds(op))
        zero = make.number(0, dtypes.i64)
        places = self.places(make, make.greater_equal(picked, zero), size)
        box = make.gather_nd(picked, stack(make.emit, places, 1))
        return stack(make.emit, [*places[:2], box], 1)  # type: ignore[no-any-return]

    def rounds(self, op: Op) -> Dim:
        """Return how many boxes of a class can stand out: as many as there are, not as may be."""
        boxes, most = op.specs[0].dims[1], scalar_of(op.operands[2])
        self.most(boxes)  # there has to be one
        if most is None or self.most(boxes) <= most:
            return boxes
        least, _ = dims.bounds(boxes, self.ranges)
        wanted = max(int(most), 0)
        return wanted if least is not None and least >= wanted else dims.minimum(boxes, wanted)

    def tell(self) -> list[dict[str, Any]]:
        """Have results be of fixed sizes, and return the extents too; say which those are."""
        main = self.program.main
        values, names = list(returned(main)), result_names(main)
        kept = len(values) - bool(requirements_of(self.program.module))
        faults = values[kept:], names[kept:]  # what tells of requirements stays the last
        del values[kept:], names[kept:]
        last = main.body.block.last_op
        assert last is not None, "a function returns"
        make, told = Maker(GraphEmit.before(last)), dict[Dim, int]()
        rows: list[dict[str, Any]] = []
        for number, value in enumerate(tuple(values)):
            shape = spec_of(value.type).dims
            pads: list[tuple[int, Dim]] = []
            for axis, extent in enumerate(shape):
                if not self.told & dims.symbols(extent):
                    pads.append((0, 0))
                    continue
                if extent not in told:
                    told[extent] = len(values)
                    values.append(make.extent_of(extent))
                    names.append(new_name(extent, names))
                row = {"output": number, "axis": axis, "by": told[extent], "size": str(extent)}
                rows.append(row)
                pads.append((0, self.most(extent) - extent))
            if any(pad != (0, 0) for pad in pads):
                values[number] = make.pad(value, pads=tuple(pads))
        erase(last)
        finish(main, [*values, *faults[0]], [*names, *faults[1]])
        return rows


def first(make: Maker, x: SSAValue, axis: int, count: SSAValue, size: Dim) -> SSAValue:
    """Return the first slices along an axis, as many as a number says."""
    order = [axis, *(each for each in range(spec_of(x.type).rank) if each != axis)]
    turned = make.transpose(x, order=tuple(order)) if axis else x
    made = make.emit(Told, turned, count, sizes=(size,))
    back = tuple(order.index(each) for each in range(len(order)))
    return make.transpose(made, order=back) if axis else made  # type: ignore[no-any-return]


def new_name(extent: Dim, names: Sequence[str]) -> str:
    """Return what the result is called that tells an extent."""
    stem = "".join(c if c.isalnum() else "_" for c in str(extent))
    every: Iterator[str] = (f"{stem}_count{n or ''}" for n in range(len(names) + 1))
    return next(name for name in every if name not in names)


SELECTING: dict[type[Operation], Any] = {
    NonZero: Selecting.non_zero,
    Leading: Selecting.leading,
    NonMaxSuppression: Selecting.suppressed,
}
"""What computes what an operation selects."""
TELLING: dict[type[Operation], Any] = {HostIf: Selecting.choose, ReadSizes: Selecting.read}
"""What rewrites others that tell sizes."""


def picks(make: Maker, op: Op, rounds: Dim) -> SSAValue:
    """Return the boxes of each batch and class that stand out, the best first, -1 behind them.

    In each round the best box that is left is taken, and those that it overlaps are left out. One
    box more than there are has no score: it is the best where none is left.
    """
    boxes, scores, most, overlap, threshold = op.operands
    batches, classes, count = op.specs[1].dims
    box = corners(
        make, make.pad(boxes, pads=((0, 0), (0, 1), (0, 0))), bool(op.plain_attributes()["center"])
    )
    lowest = make.number(LOWEST, dtypes.f32)
    threshold = make.reshape(threshold, shape=())
    left = make.select(make.greater(scores, threshold), scores, lowest)
    left = make.pad(left, pads=((0, 0), (0, 0), (0, 1)), value=LOWEST)
    none = make.filled(-1, dtypes.i64, (batches, classes, rounds))
    limit = make.minimum(make.to(make.reshape(most, shape=()), dtypes.i64), make.extent_of(rounds))
    carried = [left, none, make.number(0, dtypes.i64), best_of(make, left)]
    fixed = [*box, make.reshape(overlap, shape=()), limit]
    test, body = block_for([*carried, *fixed]), block_for([*carried, *fixed])
    goes_on(Maker(GraphEmit.at_end(test)), test)
    take_best(Maker(GraphEmit.at_end(body)), body, count + 1)
    loop = While.make_from(carried, fixed, test, body)
    make.emit.append(loop)  # type: ignore[attr-defined]
    return loop.results[1]


def corners(make: Maker, boxes: SSAValue, center: bool) -> list[SSAValue]:
    """Return the lower corner of boxes, the upper one and the area, a matrix each."""
    batches, count, _ = spec_of(boxes.type).dims
    a, b, c, d = (
        make.reshape(cut(make.emit, boxes, 2, at, at + 1), shape=(batches, count))
        for at in range(4)
    )
    if center:
        two = make.number(2, dtypes.f32)
        across, down = make.div(c, two), make.div(d, two)
        low, high = (
            (make.sub(b, down), make.sub(a, across)),
            (make.add(b, down), make.add(a, across)),
        )
    else:
        low, high = (
            (make.minimum(a, c), make.minimum(b, d)),
            (make.maximum(a, c), make.maximum(b, d)),
        )
    area = make.mul(make.sub(high[0], low[0]), make.sub(high[1], low[1]))
    return [*low, *high, area]


def best_of(make: Maker, left: SSAValue) -> SSAValue:
    """Return the place of the best box of each batch and class."""
    batches, classes, _ = spec_of(left.type).dims
    return make.reshape(make.argmax(left, axis=2), shape=(batches, classes, 1))  # type: ignore[no-any-return]


def goes_on(make: Maker, block: Block) -> None:
    """Say whether a box is left, and another round is allowed: the best ones are known by then."""
    left, _, turn, best, *_, limit = block.args
    score = make.gather_elements(left, best, axis=2)
    some = make.any(
        make.greater(score, make.number(LOWEST, dtypes.f32)), axes=(0, 1, 2), keepdims=False
    )
    make.emit(Yield, make.logical_and(some, make.less(turn, limit)))


def take_best(make: Maker, block: Block, count: Dim) -> None:
    """Take the best box of each class, and leave out those that it overlaps."""
    left, picked, turn, best, *box, overlap, _ = block.args
    batches, classes, rounds = spec_of(picked.type).dims
    lowest, zero = make.number(LOWEST, dtypes.f32), make.number(0, dtypes.f32)
    score = make.gather_elements(left, best, axis=2)
    places = make.reshape(best, shape=(batches, classes))
    mine = [
        make.reshape(make.gather_elements(part, places, axis=1), shape=(batches, classes, 1))
        for part in box
    ]
    others = [make.reshape(part, shape=(batches, 1, count)) for part in box]
    sides = [
        make.maximum(
            make.sub(make.minimum(mine[i + 2], others[i + 2]), make.maximum(mine[i], others[i])),
            zero,
        )
        for i in (0, 1)
    ]
    common = make.mul(*sides)
    union = make.sub(make.add(mine[4], others[4]), common)
    share = make.select(make.greater(union, zero), make.div(common, union), zero)
    place = make.iota(shape=(1, 1, count), axis=2, dtype=dtypes.i64)
    stays = make.logical_and(make.less_equal(share, overlap), make.not_equal(place, best))
    here = make.equal(make.iota(shape=(1, 1, rounds), axis=2, dtype=dtypes.i64), turn)
    some = make.logical_and(here, make.greater(score, lowest))
    rest = make.select(stays, left, lowest)
    make.emit(
        Yield,
        rest,
        make.select(some, best, picked),
        make.add(turn, make.number(1, dtypes.i64)),
        best_of(make, rest),
    )
