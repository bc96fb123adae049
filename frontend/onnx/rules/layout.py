"""Rules of operators that move elements or make tensors of shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....ir import Dim, DimExpr
from ....ir.compose import functions as c
from ....ir.host import symbols_in
from ....ir.ops.reduce import kept_shape
from ....ir.types import dims as dim_rules
from ....ir.types import dtypes as d
from ....ir.types.shapes import UnequalError, broadcast, normalize_axis
from ...dims.assume import Assumption, NeedsAssumptionError
from ...dims.slices import Knowledge
from ..node import Node, Value
from ..registry import rule
from ..spread import with_larger
from ..within import require_within

UNEVEN = 18
"""The version since which parts need not be equal."""


def axes_of(node: Node, value: Value | None, rank: int) -> tuple[int, ...] | None:
    """Return axes from an input or, before version 13, an attribute; None if not given."""
    given = node.integers("axes")
    if value is not None:
        given = node.integers_of(value, "axes")
    if given is None:
        return None
    return tuple(normalize_axis(axis, rank) for axis in given)


@rule("Constant")
def constant(node: Node) -> Value:
    """Return the value of whichever attribute is given."""
    name = node.proto.output[0]
    tensor = node.tensor("value")
    if tensor is not None:
        return node.stored(name, tensor)
    sparse = node.sparse("sparse_value")
    if sparse is not None:
        return node.stored(name, sparse)
    if node.has("value_float") or node.has("value_floats"):
        found: object = node.floats("value_floats")
        return node.constant(node.number("value_float") if found is None else found, d.f32)
    if node.has("value_int") or node.has("value_ints"):
        found = node.integers("value_ints")
        array = np.array(node.integer("value_int") if found is None else found, np.int64)
        return node.stored(name, array)
    if node.has("value_string") or node.has("value_strings"):
        texts = node.texts("value_strings")
        given = node.text("value_string") if texts is None else texts
        return node.stored(name, np.array(given, object))
    return node.refuse("only numbers and texts are supported as values")


@rule("Shape")
def shape_of(node: Node, x: Value) -> Value:
    """Return the dimensions from `start` to `end` as a vector."""
    dims = node.shape(x)
    end = node.integer("end") if node.has("end") else None
    return node.make.extent(values=dims[node.integer("start", 0) : end])


@rule("Size")
def size_of(node: Node, x: Value) -> Value:
    """Return the number of elements."""
    size = node.make.extent(values=(node.spec(x).size,))
    return node.make.reshape(size, shape=())


@rule("Reshape")
def reshape(node: Node, x: Value, shape: Value | None = None) -> Value:
    """Give another shape, in which 0 keeps a dimension and -1 takes what is left."""
    given, keeps = node.integers("shape") or (), not node.integer("allowzero", 0)
    source = node.spec(x)
    if shape is not None and node.is_data(shape):
        known = node.partly(shape, "shape")
        if keeps:
            known = [source.dims[i] if dim == 0 else dim for i, dim in enumerate(known)]
        sizes = node.fill_in(known, source.size)
        return node.make.reshape_to(x, node.vector(shape), sizes=sizes, zero=not keeps)
    wanted = list(node.dims(shape, "shape") if shape is not None else given)
    others = _may_keep_others(node, source.dims, wanted) if keeps else []
    if keeps:
        for axis, dim in enumerate(wanted):
            if isinstance(dim, int) and dim == 0:
                if axis >= source.rank:
                    node.fail(f"shape {wanted} keeps axis {axis} of rank {source.rank}")
                wanted[axis] = source.dims[axis]
    made: Value = node.make.reshape(x, shape=_with_rest(node, wanted, source.size))
    for axis in others:
        made = _with_elements(node, made, axis)
    return made


def _may_keep_others(node: Node, source: Sequence[Dim], wanted: Sequence[Dim]) -> list[int]:
    """Return where a size in a shape may be 0 in a run, which would keep another size there.

    What would keep a size that is 0 then itself is the same.
    """
    known, found = Knowledge(node.emitter.ranges, [*node.emitter.sure]), []
    for axis, (dim, kept) in enumerate(zip(wanted, source, strict=False)):
        if isinstance(dim, int) or known.at_least(dim, 1):
            continue
        if dim_rules.floor_divide(kept, dim) * dim == kept:
            continue  # as of a row that becomes an image, which has its sides as factors
        if isinstance(kept, int) or not isinstance(dim_rules.floor_divide(dim, kept), int):
            found.append(axis)
    return found


def _with_elements(node: Node, x: Value, axis: int) -> Value:
    """Return the tensor; a run in which an axis has no elements is made for its own sizes."""
    parts = [c.cut(node.emit, x, axis, 0, 1), c.cut(node.emit, x, axis, 1, node.shape(x)[axis])]
    made: Value = node.make.concat(*parts, axis=axis)  # what they take is looked at in each run
    return made


def _with_rest(node: Node, shape: list[Dim], size: Dim) -> tuple[Dim, ...]:
    """Return the shape with -1 replaced by what is left of `size`."""
    rest = [axis for axis, dim in enumerate(shape) if isinstance(dim, int) and dim == -1]
    if not rest:
        return tuple(shape)
    if len(rest) > 1:
        node.fail(f"shape {shape} has -1 twice")
    known = dim_rules.product([dim for axis, dim in enumerate(shape) if axis != rest[0]])
    if isinstance(known, int) and (known == 0 or (isinstance(size, int) and size % known)):
        node.fail(f"{size} elements do not fill shape {shape}")
    shape[rest[0]] = dim_rules.floor_divide(size, known)
    return tuple(shape)


@rule("Flatten")
def flatten(node: Node, x: Value) -> Value:
    """Make a matrix whose rows are the axes before `axis`."""
    axis, rank = node.integer("axis", 1), node.rank(x)
    if not -rank <= axis <= rank:
        node.fail(f"axis {axis} is out of range for rank {rank}")
    return c.flatten(node.emit, x, axis + rank if axis < 0 else axis)


@rule("Squeeze")
def squeeze(node: Node, x: Value, axes: Value | None = None) -> Value:
    """Drop axes of extent 1: those named, or all there are."""
    if axes is not None and node.is_data(axes):
        left = node.rank(x) - node.count(axes, "axes")
        return node.make.squeeze_along(x, node.vector(axes), sizes=node.unknown(left))
    found = axes_of(node, axes, node.rank(x))
    if found is None:
        found = tuple(axis for axis, dim in enumerate(node.shape(x)) if dim == 1)
        _assume_several(node, x)
    if any(_may_be_more(node, node.shape(x)[axis]) for axis in found):
        sizes = kept_shape(node.shape(x), found, keepdims=False)
        return node.make.squeeze_along(x, node.constant(found, d.i64), sizes=sizes)
    if node.block.parent is None:  # of a branch: what does not fit is not asked for elsewhere
        for axis in found:
            x = _alone(node, x, axis)
    return c.squeeze(node.emit, x, found)


def _may_be_more(node: Node, dim: Dim) -> bool:
    """Say whether a size of the arguments may be another than 1, as its range says."""
    if isinstance(dim, int) or not dim_rules.symbols(dim) <= _given_sizes(node):
        return False
    low, high = dim_rules.bounds(dim, node.emitter.ranges)
    return high is not None and low <= 1 < high


def _given_sizes(node: Node) -> set[str]:
    """Return the sizes that the arguments have."""
    return {name for argument in node.given.args for name in symbols_in(argument.type)}


def _assume_several(node: Node, x: Value) -> None:
    """Take it that an axis that is to stay has not one element: a run with one would drop it.

    Sizes that data tells stay as they are.
    """
    given = _given_sizes(node)
    for axis, dim in enumerate(node.shape(x)):
        low, high = node.emitter.ranges.get(str(dim), (0, None))
        if str(dim) in given and low <= 1 and high != 0:
            reason = f"node {node.label!r}: axes of one element are dropped, and axis {axis} stays"
            raise NeedsAssumptionError(Assumption(2, dim, are_equal=False, reason=reason))


def _alone(node: Node, x: Value, axis: int) -> Value:
    """Return the only slice of an axis that has one in each run that comes here."""
    dims = node.shape(x)
    extent = dims[axis]
    if isinstance(extent, int):
        return x
    # What is demanded of a slice, 0 <= 1 - extent and 2 - extent <= extent, is that it is 1.
    starts: list[Dim] = [0] * len(dims)
    stops = [*dims]
    starts[axis], stops[axis] = 1 - extent, 2 - extent
    made: Value = node.make.slice(
        x, starts=tuple(starts), stops=tuple(stops), steps=(1,) * len(dims)
    )
    return made


@rule("Unsqueeze")
def unsqueeze(node: Node, x: Value, axes: Value | None = None) -> Value:
    """Insert axes of extent 1."""
    count = len(node.integers("axes") or ())
    if axes is not None and node.is_data(axes):
        rank = node.rank(x) + node.count(axes, "axes")
        return node.make.unsqueeze_along(x, node.vector(axes), sizes=node.unknown(rank))
    if axes is not None:
        count = len(node.integers_of(axes, "axes"))
    found = axes_of(node, axes, node.rank(x) + count)
    return c.unsqueeze(node.emit, x, found or ())


@rule("Transpose")
def transpose(node: Node, x: Value) -> Value:
    """Reorder axes, by default from the last to the first."""
    order = node.integers("perm")
    if order is None:
        order = tuple(range(node.rank(x)))[::-1]
    return node.make.transpose(x, order=order)


@rule("Concat")
def concat(node: Node, *xs: Value) -> Value:
    """Join along an axis."""
    axis = node.integer("axis", 1 if node.version < 4 else None)
    return node.make.concat(*xs, axis=normalize_axis(axis, node.rank(xs[0])))


@rule("Split")
def split(node: Node, x: Value, sizes: Value | None = None) -> Sequence[Value]:
    """Cut an axis into parts: of given sizes, or as equal as they can be."""
    axis = normalize_axis(node.integer("axis", 0), node.rank(x))
    extent = node.shape(x)[axis]
    given: Sequence[Dim] | None = node.integers("split")
    if sizes is not None and node.is_data(sizes):
        return _split_by(node, x, sizes, axis)
    if sizes is not None:
        given = node.dims(sizes, "split")
    if given is None:
        count = node.integer("num_outputs", len(node.proto.output))
        if count != len(node.proto.output):
            node.fail(f"num_outputs is {count}, expected {len(node.proto.output)}")
        given = _parts(node, extent, count)
    return c.split(node.emit, x, axis, given)


def _parts(node: Node, extent: Dim, count: int) -> Sequence[Dim]:
    """Return the sizes of parts of an axis: the last ones may be smaller since version 18."""
    part = dim_rules.floor_divide(extent, count)
    if dim_rules.remainder(extent, count) == 0:
        return [part] * count
    if node.version < UNEVEN:
        message = f"{extent} elements are not known to be {count} equal parts"
        raise UnequalError(message, part * count, extent)
    part = dim_rules.ceil_divide(extent, count)
    found, left = [part], extent - part
    for _ in range(count - 2):
        found.append(dim_rules.minimum(part, left))
        left = left - found[-1]
    return [*found, left]


def _split_by(node: Node, x: Value, sizes: Value, axis: int) -> Sequence[Value]:
    """Cut an axis into parts whose sizes are data."""
    extent = node.shape(x)[axis]
    found = [*node.fill_in(node.partly(sizes, "split")[:-1], extent)]
    rest = extent
    for size in found:
        rest = rest - size
    found.append(rest)  # the sum of all parts is the whole: each run checks it
    node.make.read_sizes(node.vector(sizes), sizes=tuple(found), most=(extent,) * len(found))
    return c.split(node.emit, x, axis, found)


@rule("Expand")
def expand(node: Node, x: Value, shape: Value) -> Value:
    """Broadcast against a shape, in both directions."""
    if node.is_data(shape):
        known = node.partly(shape, "shape")
        rank = max(node.rank(x), len(known))
        own = [*(1,) * (rank - node.rank(x)), *node.shape(x)]
        wanted = [*(1,) * (rank - len(known)), *known]
        sizes = node.fill_in([_spread(a, b) for a, b in zip(own, wanted, strict=True)])
        return node.make.expand_to(x, node.vector(shape), sizes=sizes)
    given = with_larger(node, node.shape(x), node.dims(shape, "shape"))
    return node.make.broadcast_to(x, shape=broadcast(node.shape(x), given))


def _spread(own: Dim, wanted: Dim | None) -> Dim | None:
    """Return what a dimension becomes that is broadcast, None where only a run tells."""
    if wanted == 1 or (isinstance(own, int) and own > 1):
        return own
    is_known = own == 1 or (isinstance(wanted, int) and wanted > 1)
    return wanted if is_known else None


@rule("Tile", until=5)
def tile_axis(node: Node, x: Value, count: Value, axis: Value) -> Value:
    """Repeat the tensor along one axis."""
    (times,), (along,) = node.sizes(count, "tiles"), node.integers_of(axis, "axis")
    repeats: list[Dim] = [1] * node.rank(x)
    repeats[along] = times
    return c.tile(node.emit, x, repeats)


@rule("Tile", since=6)
def tile(node: Node, x: Value, repeats: Value) -> Value:
    """Repeat the tensor along each axis."""
    given = node.sizes(repeats, "repeats")
    if len(given) != node.rank(x):
        node.fail(f"{len(given)} repeats, expected {node.rank(x)}")
    return c.tile(node.emit, x, given)


@rule("Pad")
def pad(
    node: Node, x: Value, pads: Value | None = None, value: Value | None = None,
    axes: Value | None = None,
) -> Value:  # fmt: skip
    """Put elements around, or take them away where a pad is negative."""
    mode = node.text("mode", "constant")
    rank = node.rank(x)
    if axes is not None and node.is_data(axes):
        return _pad_along(node, x, pads, value, axes)
    given: Sequence[Dim] = node.integers("pads") or node.integers("paddings") or ()
    along = range(rank) if axes is None else node.integers_of(axes, "axes")
    if pads is not None and node.is_data(pads):
        return _pad_by(node, x, pads, value, [normalize_axis(a, rank) for a in along])
    if pads is not None:
        given = node.dims(pads, "pads")
    if len(given) != 2 * len(along):
        node.fail(f"{len(given)} pads, expected {2 * len(along)}")
    rows: list[tuple[Dim, Dim]] = [(0, 0)] * rank
    for i, axis in enumerate(along):
        rows[normalize_axis(axis, rank)] = given[i], given[i + len(along)]
    fill = node.number("value", 0.0)
    if value is not None and mode == "constant":
        known = node.known(value)
        number = None if known is None or known.dtype == object else known.flat[0].item()
        if number is None or (isinstance(number, int) and float(number) != number):
            return _pad_with(node, x, rows, value)
        fill = float(number)
    if mode == "wrap":  # what is taken away does not come again from the other side
        taken = [(dim_rules.minimum(low, 0), dim_rules.minimum(high, 0)) for low, high in rows]
        x = c.resize_edges(node.emit, x, taken)
        rows = [(a - b, e - f) for (a, e), (b, f) in zip(rows, taken, strict=True)]
    return node.make.pad(x, pads=tuple(rows), mode=mode, value=fill)


def _pad_by(node: Node, x: Value, pads: Value, value: Value | None, axes: Sequence[int]) -> Value:
    """Pad by numbers that are data."""
    make, dtype = node.make, node.dtype(x)
    fill = make.number(0, dtype) if value is None else make.reshape(value, shape=())
    known, mode = node.partly(pads, "pads"), node.text("mode", "constant")
    ends = list(zip(known, known[len(axes) :], axes, strict=False))
    sizes = node.fill_in([
        None if low is None or high is None else node.shape(x)[axis] + low + high
        for low, high, axis in ends
    ])  # fmt: skip
    return make.pad_by(x, node.vector(pads), fill, axes=tuple(axes), sizes=sizes, mode=mode)


def _pad_along(node: Node, x: Value, pads: Value | None, value: Value | None, axes: Value) -> Value:
    """Pad axes that are data."""
    make, dtype = node.make, node.dtype(x)
    if pads is None:
        node.fail("pads are missing")
    fill = make.number(0, dtype) if value is None else make.reshape(value, shape=())
    given, sizes = (node.vector(each) for each in (pads, axes)), node.unknown(node.rank(x))
    first, along = given
    mode = node.text("mode", "constant")
    return make.pad_along(x, first, fill, along, sizes=sizes, mode=mode)


def _pad_with(node: Node, x: Value, pads: list[tuple[Dim, Dim]], value: Value) -> Value:
    """Pad with a number that is computed: take it where a padded mask is false."""
    inside = node.make.filled(1, d.bool_, node.shape(x))
    mask = node.make.pad(inside, pads=tuple(pads))
    number = node.make.reshape(value, shape=())
    return node.make.select(mask, node.make.pad(x, pads=tuple(pads)), number)


@rule("ConstantOfShape")
def constant_of_shape(node: Node, shape: Value) -> Value:
    """Return a tensor of one number."""
    number = node.tensor("value")
    value = node.constant(np.zeros((), np.float32) if number is None else number.reshape(()))
    return node.make.broadcast_to(value, shape=node.sizes(shape, "shape"))


@rule("Range")
def range_(node: Node, start: Value, limit: Value, delta: Value) -> Value:
    """Return start, start + delta, ... before the limit."""
    dtype, stash = node.dtype(start), node.element_type("stash_type", d.f32)
    found = [node.known(v) for v in (start, limit, delta)]
    if any(value is None for value in found):
        return node.make.range_of(start, limit, delta, sizes=node.unknown())
    first, last, step = (value.reshape(()).item() for value in found if value is not None)
    if step == 0:
        node.refuse(f"delta is {step}, expected a number other than 0")
    count: Dim
    if isinstance(step, DimExpr):
        count = _steps_of(node, whole(node, last) - whole(node, first), step)
    elif isinstance(first, DimExpr) or isinstance(last, DimExpr):
        first, last, step = (whole(node, each) for each in (first, last, step))
        span = last - first if step > 0 else first - last
        count = dim_rules.ceil_divide(span, abs(step))
    else:
        count = max(int(np.ceil((last - first) / step)), 0)
    make = node.make
    wide = stash if dtype in (d.f16, d.bf16) else dtype
    by, at = (make.reshape(make.to(v, wide), shape=()) for v in (delta, start))
    steps = make.mul(make.iota(shape=(count,), axis=0, dtype=wide), by)
    return make.to(make.add(steps, at), dtype)


def _steps_of(node: Node, span: Dim, step: DimExpr) -> Dim:
    """Return how many steps of an open size a multiple of it is: where each row's bag begins."""
    count, rest = dim_rules.divide_terms(span, step)
    if rest != 0 or (dim_rules.bounds(step, node.emitter.ranges)[0] or 0) < 1:
        node.refuse(f"delta is {step}, expected a number other than 0, or one that divides {span}")
    return count


def whole(node: Node, value: Dim | float) -> Any:
    """Return a bound or step of a range over symbols as an integer, or refuse it."""
    if isinstance(value, float) and not value.is_integer():
        node.refuse(f"{value} in a range over symbols, expected an integer")
    return int(value) if isinstance(value, float) else value


@rule("EyeLike")
def eye_like(node: Node, x: Value) -> Value:
    """Return a matrix of the operand's shape with ones on a diagonal."""
    make, matrix = node.make, node.shape(x)
    dtype = node.element_type("dtype", node.dtype(x))
    row = make.iota(shape=matrix, axis=0, dtype=d.i64)
    column = make.iota(shape=matrix, axis=1, dtype=d.i64)
    diagonal = make.add(row, make.number(node.integer("k", 0), d.i64))
    return make.to(make.equal(column, diagonal), dtype)


@rule("Trilu")
def triangle(node: Node, x: Value, offset: Value | None = None) -> Value:
    """Keep the upper or the lower triangle."""
    diagonal: Value | int = 0
    if offset is not None:
        diagonal = node.make.to(node.make.reshape(offset, shape=()), d.i64)
    return c.triangle(node.emit, x, diagonal, upper=bool(node.integer("upper", 1)))


@rule("DepthToSpace")
def depth_to_space(node: Node, x: Value) -> Value:
    """Spread channels over blocks of the image."""
    mode, block = node.text("mode", "DCR"), node.integer("blocksize")
    channels = node.shape(x)[1]
    if isinstance(channels, int) and (block < 1 or channels % (block * block)):
        node.fail(f"{channels} channels do not fill blocks of {block} by {block}")
    return c.depth_to_space(node.emit, x, block, columns_first=mode == "CRD")


@rule("SpaceToDepth")
def space_to_depth(node: Node, x: Value) -> Value:
    """Gather blocks of the image into channels, which come last in the order, or first."""
    block = node.integer("blocksize")
    if node.text("mode", "DCR") != "CRD":
        return c.space_to_depth(node.emit, x, block)
    n, channels, h, w = node.shape(x)
    rows, columns = h // block, w // block
    parts = node.make.reshape(x, shape=(n, channels, rows, block, columns, block))
    parts = node.make.transpose(parts, order=(0, 1, 3, 5, 2, 4))
    return node.make.reshape(parts, shape=(n, channels * block * block, rows, columns))


@rule("ReverseSequence")
def reverse_sequence(node: Node, x: Value, lengths: Value) -> Value:
    """Reverse the first elements of each sequence, as many as its length says."""
    make = node.make
    time, batch = node.integer("time_axis", 0), node.integer("batch_axis", 1)
    shape = node.shape(x)
    place = make.iota(shape=shape[:2], axis=time, dtype=d.i64)
    if {time, batch} != {0, 1}:
        node.fail(f"time_axis {time} and batch_axis {batch}, expected 0 and 1 or 1 and 0")
    require_within(node, lengths, 0, shape[time] + 1, "length")
    length = c.unsqueeze(node.emit, lengths, (time,))
    mirrored = make.sub(make.sub(length, make.number(1, d.i64)), place)
    index = make.select(make.less(place, length), mirrored, place)
    index = make.reshape(index, shape=(*shape[:2], *(1,) * (len(shape) - 2)))
    return make.gather_elements(x, make.broadcast_to(index, shape=shape), axis=time)
