"""Random numbers: new ones in each run, the same for equal seeds."""

from __future__ import annotations

import hashlib
import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from math import prod
from typing import Any

import numpy as np

from ....codegen import single
from ....ir.build import GraphEmit
from ....ir.compose.maker import Maker
from ....ir.families import spec_of_value
from ....ir.ops import random as ir
from ....ir.ops.random import STRIDE, drawn_key, further
from ....ir.types import dtypes as rows
from ....ir.types.dims import Dim, parse
from ....ir.types.tensor import Array, TensorSpec
from ...eager.kernels import MANY
from ...eager.remembered import depends_on_state, remembered
from ...eager.tensor import Tensor, apply
from ...graph.frame import EVEN, Frame
from ...graph.graph import Graph, GraphTensor, Kind, Operation, spec_with_unknowns
from ...graph.inference import Abstract
from ...values.context import STATE
from ...values.dtypes import DTypeLike
from ...values.sums import places_above
from ..core import shape_rules as shapes_of
from ..core.bridge import OPERATORS, EagerTensor, TfTensor, dressed, row_of
from ..core.calls import perform, rule
from ..core.extents import read_extent, read_extents
from ..core.required import require
from ..core.shapes import ShapeLike, TensorShape
from ..core.sizes import counters_of, known_counters, sizes_of
from ..core.values import InGraph, InvalidShapesError, at_once, convert, elements, graph_of, static
from ..runs.seeds import Seeds, counted_as, own_seeds, running, seeds_of, used_up
from ..runs.turns import ALONE, AllAtOnce, Turn, seeds_in_turn, turns_now
from .array_ops import concat, ensure_shape, shape, stack, where

Drawing = Callable[..., Any]
DRAWS: dict[str, Drawing] = {}
"""By type: a function of a `Maker`, a key, a shape, an element type and options."""


class Draw(Kind):
    """Numbers that differ in each run; the seeds and what was drawn before are the key."""

    stateful = draws = True

    def __init__(
        self,
        type_: str,
        row: rows.DType,
        seeds: tuple[int, int],
        options: dict[str, object],
        turn: Turn = ALONE,
    ) -> None:
        self.type, self.row, self.seeds, self.options = type_, row, (seeds[0], seeds[1]), options
        self.turn = turn

    def infer(
        self, specs: Sequence[TensorSpec], attributes: dict[str, Any]
    ) -> Sequence[TensorSpec]:
        """Return the shape, as far as it is known."""
        dims = attributes.get("shape")
        return (spec_with_unknowns(self.row, dims),)

    def run(self, frame: Frame, op: Operation, inputs: Sequence[object]) -> Sequence[object]:
        """Draw."""
        make = Maker(frame.emit)
        shape = tuple(read_extents(make, inputs[0]))
        key = self.key(frame, op, shape)
        return (DRAWS[self.type](make, key, shape, self.row, **self.options),)

    def key(self, frame: Frame, op: Operation, shape: tuple[Dim, ...]) -> object:
        """Take counters for numbers of a shape."""
        each, (place, count) = used_up(op, counters_of(self.type, shape)), self.turn
        if count == 1:
            return frame.key(op, self.seeds, each)
        return frame.key(op, self.seeds, each * count, each * place)

    def gradient(self, op: Operation, grads: Sequence[object], emit: object) -> tuple[None, ...]:
        """Return nothing."""
        return (None,) * len(op.inputs)


def draw(
    type_: str,
    shape: object,
    row: rows.DType,
    seed: int | None,
    name: str | None,
    variant: str = "",
    **options: object,
) -> TfTensor:
    """Draw numbers now, or add the operation to a graph; `variant` tells those apart by a count."""
    graph, turns = STATE.context, turns_now(STATE.context)
    if isinstance(turns, AllAtOnce):
        return turns.row(lambda: _of_all(turns, type_, shape, row, seed, options))
    if isinstance(graph, Graph):
        seeds, turn = seeds_in_turn(seed, graph)
        return _draw_in(graph, Draw(type_, row, seeds, options, turn), shape, name)
    dims = tuple(TensorShape(static(shape)).known())
    key = Tensor(_key_now(type_, f"{row.name}{variant}", known_counters(type_, dims), seed))
    return drawn_now(type_, key, dims, row, **options)


def _of_all(
    turns: AllAtOnce, type_: str, shape: object, row: rows.DType, seed: int | None,
    options: dict[str, object],
) -> TfTensor:  # fmt: skip
    """Draw the numbers of all slices, which have the shape that the first one's have."""
    graph, (seeds, turn) = turns.graph, turns.next_seeds(seed)
    if graph is not None:
        known = static(shape)
        is_known = isinstance(known, list | tuple) and all(isinstance(d, int) for d in known)
        parts = [[turns.count], whole(shape, "int32")]
        every = [turns.count, *known] if is_known else concat(parts, 0)
        return _draw_in(graph, Draw(type_, row, seeds, options, turn), every, None)
    dims = (turns.count, *TensorShape(static(shape)).known())
    return drawn_now(type_, Tensor(drawn_key(seeds, 0)), dims, row, **options)


def _key_now(type_: str, kind: str, counters: int, seed: int | None) -> Array:
    """Return the key of an eager draw that uses so many counters; without a seed, a new one."""
    depends_on_state()
    if seed is None and Seeds.value is None:
        words = secrets.token_bytes(16)
        return np.frombuffer(bytearray(words[:8] + bytes(8) + words[8:]), np.uint32)
    return _next_key(type_, kind, seeds_of(seed, None), counters)


def _next_key(type_: str, kind: str, seeds: tuple[int, int], counters: int) -> Array:
    """Return the key of an eager draw that has seeds."""
    replica = running()
    counter = replica, type_, kind, own_seeds(seeds, replica)
    used = Seeds.used.get(counter, 0)
    Seeds.used[counter] = used + (counters if replica is None else -(-counters // EVEN) * EVEN)
    return drawn_key(seeds, used)


IN_BLOCKS = {
    "RandomUniform": "uniform",
    "RandomUniformInt": "integers",
    "RandomStandardNormal": "normal",
    "TruncatedNormal": "truncated",
    "Multinomial": "uniform",
}
"""The draws that eager code compiles for any size, and what they are in `ir.in_blocks`."""
OFTEN = 20
"""From so many draws on code is compiled for few numbers, too: that takes some tenths of a second,
steps at once some tenths of a millisecond."""
DRAWN: Counter[tuple[str, str]] = Counter()
"""How often few numbers were drawn of a kind and an element type."""


def _is_compiled(kind: str, row: rows.DType, count: int) -> bool:
    """Say whether compiled code draws: it does where there are many numbers, or many draws."""
    if count < MANY:
        DRAWN[kind, row.name] += 1
        return DRAWN[kind, row.name] >= OFTEN
    return True


@cache
def _many(kind: str, row: rows.DType, longest: int, *, limited: bool) -> Callable[..., Array]:
    """Return a compiled function of a key, an array with an element for each block, and limits."""
    size = parse("N")

    def build(emit: GraphEmit, key: object, _: object, *limits: object) -> object:
        return ir.in_blocks(emit, key, size, row, kind, (limits[0], limits[1]) if limits else None)

    specs = [TensorSpec(rows.u32, (6,)), TensorSpec(rows.bool_, (size,))]
    return single.in_a_row(build, specs + [TensorSpec(row, ())] * 2 * limited, longest)


def drawn_now(
    type_: str, key: Tensor, dims: Sequence[int], row: rows.DType, **options: object
) -> TfTensor:
    """Return the numbers that a key gives."""
    kind, count = IN_BLOCKS.get(type_), prod(dims)
    kind = "first" if kind == "truncated" and count >= MANY else kind
    if kind is None or not (count and key.direct and _is_compiled(kind, row, count)):
        return _drawn_by_steps(type_, key, dims, row, **options)
    blocks = -(-count // ir.per_block(row))
    limits = [options[which] for which in ("low", "high") if options.get(which) is not None]
    kernel = _many(kind, row, single.bound(max(blocks, MANY)), limited=bool(limits))
    ends = [np.array(x, row.numpy) for x in limits]
    made = kernel(key._array, np.empty(blocks, np.bool_), *ends)
    if kind == "first" and np.isnan(made.sum()):
        _draw_rest(made, key._array, row)
    return EagerTensor((made if len(made) == count else made[:count].copy()).reshape(dims))


def _draw_rest(made: Array, key: Array, row: rows.DType) -> None:
    """Draw truncated numbers where half of the tries were not enough: whole blocks of them."""
    kernel = _many("truncated", row, single.bound(MANY), limited=False)
    per = ir.per_block(row)
    for block in np.unique(np.flatnonzero(np.isnan(made)) // per).tolist():
        own = further(key, block * (STRIDE * per // 4))
        made[block * per : block * per + per] = kernel(own, np.empty(1, np.bool_))


@remembered
def _drawn_by_steps(
    type_: str, key: Tensor, dims: Sequence[int], row: rows.DType, **options: object
) -> TfTensor:
    return dressed(DRAWS[type_](Maker(apply), key, tuple(dims), row, **options))


def _draw_in(graph: Graph, kind: Draw, shape: object, name: str | None) -> TfTensor:
    known = static(shape)
    dims = None
    if isinstance(known, list | tuple):
        dims = tuple(d if isinstance(d, int) else None for d in known)
    given = whole(shape, "int32") if dims != () else graph.constant(np.zeros(0, np.int32))
    owned = graph.owned(given)
    if dims is None and (found := sizes_of(owned)) is not None:
        dims = tuple(d if isinstance(d, int) else None for d in found)
    length = owned.spec.shape  # a list of sizes says how many there are
    if dims is None and length and len(length) == 1 and isinstance(length[0], int):
        dims = (None,) * length[0]
    attributes = {"shape": dims, **counted_as(kind.type, kind.seeds, graph)}
    return dressed(graph.add(kind, [owned], attributes, name=name).outputs[0])


def row_given(dtype: DTypeLike | None) -> rows.DType:
    """Return the row of a type that must be given."""
    row = row_of(dtype)
    assert row is not None, "a type was given"
    return row


def _integers(
    m: Maker,
    key: object,
    dims: tuple[int, ...],
    row: rows.DType,
    low: float | None,
    high: float | None,
) -> object:
    limits = None if low is None or high is None else (m.number(low, row), m.number(high, row))
    return ir.integers(m.emit, key, dims, row, limits)


def _by(function: Callable[..., object]) -> Drawing:
    return lambda m, key, dims, row: function(m.emit, key, dims, row)


DRAWS.update(
    RandomUniform=_by(ir.uniform),
    RandomUniformInt=_integers,
    RandomStandardNormal=_by(ir.normal),
    TruncatedNormal=_by(ir.truncated),
    Multinomial=_by(ir.uniform),
)


UNSIGNED = {rows.i32: rows.u32, rows.i64: rows.u64}


@rule("RestOfWords", label="random_uniform", differentiable=False, refuses=True)
def _rest_of_words(m: Maker, words: object, low: object, high: object) -> object:
    """Return the integers between two bounds that words are taken for."""
    require(m, low, lambda least: m.less(least, high), "Need minval < maxval")
    row = spec_of_value(words).dtype
    rest = m.mod(*(m.to(x, UNSIGNED.get(row, row)) for x in (words, m.sub(high, low))))
    return m.add(m.to(rest, row), low)


class Source:
    """Where numbers are drawn: by seeds of operations, of arguments, or a generator's state."""

    def draw(self, type_: str, shape: object, row: rows.DType, **options: object) -> TfTensor:
        """Return numbers of a type of draw."""
        raise NotImplementedError("a source draws")

    def uniform(
        self,
        shape: object,
        minval: object = 0,
        maxval: object = None,
        dtype: DTypeLike | None = "float32",
    ) -> TfTensor:
        """Draw evenly between two bounds."""
        row, low, high = row_given(dtype), static(minval), static(maxval)
        if row.is_integer:
            if high is None:
                raise ValueError(f"Must specify maxval for integer dtype {row}")
            if isinstance(low, GraphTensor) or isinstance(high, GraphTensor):
                return self._integers(shape, row, convert(minval, dtype), convert(maxval, dtype))
            if low >= high:
                raise InvalidShapesError(f"Need minval < maxval, got {low} >= {high}")
            return self.draw("RandomUniformInt", shape, row, low=low, high=high)
        unit = self.draw("RandomUniform", shape, row)
        if high is None:
            maxval = high = 1
        if isinstance(low, int | float) and isinstance(high, int | float) and (low, high) == (0, 1):
            return unit
        low, high = convert(minval, dtype), convert(maxval, dtype)
        return unit * (high - low) + low

    def _integers(self, shape: object, row: rows.DType, low: TfTensor, high: TfTensor) -> TfTensor:
        """Draw integers between bounds that a run computes: the rest of whole words, as always."""
        words = self.draw("RandomUniformInt", shape, row, low=None, high=None)
        return perform("RestOfWords", [words, low, high])

    def normal(
        self,
        shape: object,
        mean: object = 0.0,
        stddev: object = 1.0,
        dtype: DTypeLike | None = "float32",
    ) -> TfTensor:
        """Draw from the normal distribution."""
        made = self.draw("RandomStandardNormal", shape, row_given(dtype))
        return made * convert(stddev, dtype) + convert(mean, dtype)

    def truncated_normal(
        self,
        shape: object,
        mean: object = 0.0,
        stddev: object = 1.0,
        dtype: DTypeLike | None = "float32",
    ) -> TfTensor:
        """Draw from the normal distribution, within two deviations."""
        made = self.draw("TruncatedNormal", shape, row_given(dtype))
        return made * convert(stddev, dtype) + convert(mean, dtype)


class Seeded(Source):
    """Draws of operations that may have a seed."""

    def __init__(self, seed: int | None, name: str | None, variant: str = "") -> None:
        self.seed, self.name, self.variant = seed, name, variant

    def draw(self, type_: str, shape: object, row: rows.DType, **options: object) -> TfTensor:
        """Draw numbers now, or add the operation to a graph."""
        return draw(type_, shape, row, self.seed, self.name, self.variant, **options)


def uniform(
    shape: object,
    minval: object = 0,
    maxval: object = None,
    dtype: DTypeLike | None = "float32",
    seed: int | None = None,
    name: str = "random_uniform",
) -> TfTensor:
    """Draw evenly between two bounds."""
    return Seeded(seed, name).uniform(shape, minval, maxval, dtype)


def normal(
    shape: object,
    mean: object = 0.0,
    stddev: object = 1.0,
    dtype: DTypeLike | None = "float32",
    seed: int | None = None,
    name: str = "random_normal",
) -> TfTensor:
    """Draw from the normal distribution."""
    return Seeded(seed, name).normal(shape, mean, stddev, dtype)


def truncated_normal(
    shape: object,
    mean: object = 0.0,
    stddev: object = 1.0,
    dtype: DTypeLike | None = "float32",
    seed: int | None = None,
    name: str = "truncated_normal",
) -> TfTensor:
    """Draw from the normal distribution, within two deviations."""
    return Seeded(seed, name).truncated_normal(shape, mean, stddev, dtype)


class KeyDraw(Draw):
    """The key of a draw that others make numbers of; the input is how many."""

    def infer(
        self, specs: Sequence[TensorSpec], attributes: dict[str, Any]
    ) -> Sequence[TensorSpec]:
        """Return that of a key."""
        return (TensorSpec(rows.u32, (6,)),)

    def run(self, frame: Frame, op: Operation, inputs: Sequence[object]) -> Sequence[object]:
        """Take counters."""
        count = op.attributes.get("count")
        if count is None:
            count = read_extent(Maker(frame.emit), inputs[0])
        return (self.key(frame, op, (count,)),)


def seeded_key(
    type_: str, count: TfTensor | int, seed: int | None, seeds: tuple[int, int] | None = None
) -> TfTensor:
    """Return the key of a draw of so many numbers: by the operation's seed, and what was drawn."""
    graph = STATE.context
    if seeds is None and not isinstance(graph, Graph):
        counters = known_counters(type_, (int(static(count)),))
        return EagerTensor(_key_now(type_, "key", counters, seed))
    home = graph if isinstance(graph, Graph) else None
    found, turn = seeds_in_turn(seed, home) if seeds is None else (seeds, ALONE)
    if isinstance(graph, Graph):
        known = count if isinstance(count, int) else None
        given = graph.owned(convert(count, "int64" if known is not None else None))
        kind = KeyDraw(type_, rows.u32, found, {}, turn)
        attributes = {"count": known, **counted_as(f"{type_}Key", found, graph)}
        return dressed(graph.add(kind, [given], attributes).outputs[0])
    counters = known_counters(type_, (int(static(count)),))
    return dressed(Tensor(_next_key(type_, "key", found, counters)))


def _dims_of(shape: ShapeLike) -> tuple[int, ...]:
    return tuple(int(d) for d in np.ravel(np.asarray(shape)))


@rule("Philox", differentiable=False, shapes=shapes_of.filled(0, "row"))
def _philox(
    m: Maker, shape: ShapeLike, key: object, drawn: str, row: rows.DType, **options: object
) -> object:
    """Return the numbers that a key gives."""
    if isinstance(shape, Abstract):
        sizes = np.ravel(elements(shape)).tolist()
        if not all(isinstance(d, int) for d in sizes):
            known = [d if isinstance(d, int) else None for d in sizes]
            return Abstract(spec_with_unknowns(row, known))
    return DRAWS[drawn](m, key, tuple(read_extents(m, shape)), row, **options)


SEED_KEY = (0x3EC8F720, 0x02461E29)


@rule("StatelessRandomGetKeyCounter", differentiable=False)
def _key_of_seed(m: Maker, seed: object) -> object:
    """Return the key that the two numbers of a seed are encrypted to."""
    if spec_of_value(seed).dims != (2,):
        raise TypeError(f"seed must have shape [2], not {list(spec_of_value(seed).dims)}")
    zeros = m.constant(value=np.zeros(2, np.uint32))
    start = m.concat(m.constant(value=np.array(SEED_KEY, np.uint32)), words_of(m, seed), axis=0)
    a, b, c, d = m.random_bits(start, shape=(1,))
    return m.concat(a, b, zeros, c, d, axis=0)


def words_of(m: Maker, numbers: object) -> object:
    """Return the halves of numbers of 64 bits, the low ones first."""
    make, count = ir.Draw(m.emit), spec_of_value(numbers).dims[0]
    halves = [m.reshape(x, shape=(count, 1)) for x in make.halves(m.cast(numbers, dtype=rows.u64))]
    return m.reshape(m.concat(*halves, axis=1), shape=(2 * count,))


class Stateless(Source):
    """Draws that depend on their arguments alone; the numbers are TensorFlow's."""

    def __init__(self, seed: object) -> None:
        self.seed = seed

    def draw(self, type_: str, shape: object, row: rows.DType, **options: object) -> TfTensor:
        """Draw what the seed says."""
        with InGraph(graph_of([shape, self.seed])):
            return from_key(shape, key_of_seed(self.seed), type_, row, **options)


@remembered
def key_of_seed(seed: object) -> TfTensor:
    """Return the key that the two numbers of a seed mean."""
    given = convert(seed)
    if not given.spec.is_static:  # a run tells whether there are two
        given = ensure_shape(given, [2])
    return perform("StatelessRandomGetKeyCounter", [given])


def from_key(
    shape: object, key: TfTensor, type_: str, row: rows.DType, **options: object
) -> TfTensor:
    """Return the numbers that a key gives: now if the shape is known, else when it is run."""
    dims = static(shape)
    if isinstance(key, EagerTensor) and not isinstance(dims, Tensor):
        return drawn_now(type_, key, _dims_of(TensorShape(dims).as_list()), row, **options)
    return perform(
        "Philox", [whole(shape, "int32"), key], name=None, drawn=type_, row=row, **options
    )


def whole(shape: object, dtype: DTypeLike) -> TfTensor:
    """Return sizes as integers of a type, of whichever they are computed."""
    known = static(shape)
    if isinstance(known, list | tuple) and not any(
        isinstance(d, Tensor | GraphTensor) for d in known
    ):
        return convert(shape, dtype)
    return OPERATORS["cast"](convert(shape), dtype)


def stateless_uniform(
    shape: ShapeLike,
    seed: object,
    minval: object = 0,
    maxval: object = None,
    dtype: DTypeLike | None = "float32",
    **_: object,
) -> TfTensor:
    """Draw what the seed says, evenly; the numbers are TensorFlow's."""
    row = row_given(dtype)
    if row.is_integer and (minval is None) != (maxval is None):
        raise ValueError(
            f"For integer `dtype` argument {row}, argument `minval` and `maxval` must be both None "
            "or not None."
        )
    if row.is_integer and minval is None:
        return Stateless(seed).draw("RandomUniformInt", shape, row, low=None, high=None)
    return Stateless(seed).uniform(shape, 0 if minval is None else minval, maxval, dtype)


def stateless_normal(
    shape: ShapeLike,
    seed: object,
    mean: object = 0.0,
    stddev: object = 1.0,
    dtype: DTypeLike | None = "float32",
    **_: object,
) -> TfTensor:
    """Draw what the seed says, from the normal distribution; the numbers are TensorFlow's."""
    return Stateless(seed).normal(shape, mean, stddev, dtype)


def stateless_truncated_normal(
    shape: ShapeLike,
    seed: object,
    mean: object = 0.0,
    stddev: object = 1.0,
    dtype: DTypeLike | None = "float32",
    **_: object,
) -> TfTensor:
    """Draw what the seed says, from the normal distribution within two deviations."""
    return Stateless(seed).truncated_normal(shape, mean, stddev, dtype)


def _classes(
    source: Source, logits: object, num_samples: object, dtype: DTypeLike | None
) -> TfTensor:
    """Return a class of each row, drawn by the logarithms of their chances."""
    x = convert(logits)
    found = x.shape
    if len(found) != 2:
        raise InvalidShapesError(f"logits should be a matrix, got shape {found}")
    if found.as_list()[1] == 0 and graph_of([x]) is None:
        raise InvalidShapesError("num_classes should be positive, got 0")
    rows_ = shape(x)[0] if found.as_list()[0] is None else found.as_list()[0]
    return _first_above(x, source.draw("Multinomial", [rows_, num_samples], rows.f64), dtype)


@rule("PlacesAbove", differentiable=False)
def _places_above(m: Maker, chances: object, parts: object) -> object:
    """Return where the chances of each row add up to more than each of some parts of them all."""
    return at_once(places_above, chances, parts)


@remembered
def _first_above(x: TfTensor, drawn: TfTensor, dtype: DTypeLike | None) -> TfTensor:
    """Return the first class of each row up to which the chances add up to more than a number."""
    from .math_ops import FUNCTIONS, REDUCTIONS, cast, cumsum  # noqa: PLC0415

    wide = cast(x, "float64")
    some = FUNCTIONS["is_finite"](wide)
    top = REDUCTIONS["reduce_max"](where(some, wide, -np.inf), axis=1, keepdims=True)
    chances = where(some, FUNCTIONS["exp"](wide - top), 0.0)
    if graph_of([chances, drawn]) is None:
        return cast(perform("PlacesAbove", [chances, drawn]), dtype)
    sums = cumsum(chances, axis=1)
    before = cast(sums[:, None, :] <= (drawn * sums[:, -1:])[:, :, None], dtype)
    return REDUCTIONS["reduce_sum"](before, axis=2)


def categorical(
    logits: object,
    num_samples: object,
    dtype: DTypeLike | None = "int64",
    seed: int | None = None,
    name: str | None = None,
) -> TfTensor:
    """Draw classes of each row of logarithms of their chances; the numbers are TensorFlow's."""
    with InGraph(graph_of([logits])):
        x = convert(logits)
        variant = f"{x.dtype.name}{row_given(dtype or 'int64').name}"  # each has its own count
        return _classes(Seeded(seed, name, variant), x, num_samples, dtype)


def stateless_categorical(
    logits: object,
    num_samples: object,
    seed: object,
    dtype: DTypeLike | None = "int64",
    name: str | None = None,
) -> TfTensor:
    """Draw what the seed says: classes of each row; the numbers are TensorFlow's."""
    with InGraph(graph_of([logits, seed])):
        return _classes(Stateless(seed), logits, num_samples, dtype)


def split(seed: object, num: int = 2, alg: object = "auto_select") -> TfTensor:
    """Return seeds that a seed gives."""
    kind = convert(seed).dtype
    return stateless_uniform([num, 2], seed, None, None, kind)


def fold_in(seed: object, data: object, alg: object = "auto_select") -> TfTensor:
    """Return the seed that a seed and a number give."""
    number = convert(data)
    return stack([stateless_uniform([], seed, None, None, number.dtype), number])


def other_seed(seed: int | None, salt: str) -> int | None:
    """Return a seed for another draw, made of one."""
    if seed is None:
        return None
    return int(hashlib.md5(f"{seed}{salt}".encode()).hexdigest()[:8], 16) & 0x7FFFFFFF
