"""Infer what a function of an `emit` returns, by running it on specs instead of on values.

Where sizes are not known, and a rule needs them, the function is tried with a few sizes: what
comes out alike is known, the rest stays open. A function that fails with all of them is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain, count, islice, product, zip_longest
from typing import Any

import numpy as np

from ...ir.compose.maker import Maker
from ...ir.op import Array, Op
from ...ir.types.dims import Dim, DimExpr, evaluate, substitute, symbol, symbols
from ...ir.types.dtypes import i32
from ...ir.types.shapes import BroadcastError, UnequalError
from ...ir.types.tensor import TensorSpec, spec_of_array
from ..dims.unknown import unknown_dim
from ..eager.text_arrays import check_on_text
from ..values.texts import TEXT

FOLDED = 64
"""Values of up to so many elements are followed through operations."""


class UnknownValueError(TypeError):
    """A rule needs a value that is known only when it is run."""


class Abstract:
    """A value of which only the spec is known, and of small constants the elements."""

    __slots__ = ("spec", "value")

    def __init__(self, spec: TensorSpec, value: Array | None = None) -> None:
        self.spec, self.value = spec, value

    def __array__(
        self, dtype: np.dtype[np.generic] | None = None, copy: bool | None = None
    ) -> Array:
        """Return the elements, or fail."""
        if self.value is None:
            raise UnknownValueError("the value is not known before it is run")
        return np.asarray(self.value, dtype)


def is_unknown(value: object) -> bool:
    """Say whether only the spec of a value is known."""
    return isinstance(value, Abstract) and value.value is None


def emit_abstract(
    op: type[Op], *operands: object, **attributes: object
) -> Abstract | tuple[Abstract, ...]:
    """Infer one operation; return its result, or the tuple of several."""
    made = [
        x if isinstance(x, Abstract) else Abstract(spec_of(np.asarray(x)), np.asarray(x))
        for x in operands
    ]
    if any(x.spec.dtype.kind == "s" for x in made):
        return _infer_text(op, made, attributes)
    specs = op.inferred([x.spec for x in made], attributes)
    values: Sequence[object] = (None,) * len(specs)
    if all(x.value is not None for x in made) and all(is_small(s) for s in specs):
        with np.errstate(all="ignore"), suppress(np.linalg.LinAlgError, ArithmeticError):
            # What has no value fails in a run of the graph, which may never ask for it.
            values = op.evaluate(*[x.value for x in made], **op.complete(attributes))
    results = tuple(
        Abstract(s, None if v is None else np.asarray(v))
        for s, v in zip(specs, values, strict=True)
    )
    return results[0] if len(results) == 1 else results


def spec_of(array: Array) -> TensorSpec:
    """Return the spec of an array, which may be one of text."""
    return TensorSpec(TEXT, array.shape) if array.dtype.kind == "O" else spec_of_array(array)


def _infer_text(
    op: type[Op], operands: Sequence[Abstract], attributes: dict[str, object]
) -> Abstract | tuple[Abstract, ...]:
    """Infer an operation on text as one on numbers; numbers come out where text does."""
    check_on_text(op, [x.spec for x in operands], op.complete(attributes))
    specs = [x.spec.with_dtype(i32) if x.spec.dtype.kind == "s" else x.spec for x in operands]
    made = op.inferred(specs, attributes)
    found = [Abstract(s.with_dtype(TEXT) if s.dtype == i32 else s) for s in made]
    return found[0] if len(found) == 1 else tuple(found)


def is_small(spec: TensorSpec) -> bool:
    """Say whether a value is followed through operations."""
    return spec.is_static and int(np.prod(spec.static_shape, dtype=np.int64)) <= FOLDED


def abstracts(made: object) -> list[Abstract]:
    """Return what an operation gives as values of which the specs are known."""
    listed = made if isinstance(made, tuple | list) else (made,)
    return [x if isinstance(x, Abstract) else Abstract(spec_of(np.asarray(x)), np.asarray(x))
            for x in listed]  # fmt: skip


def infer_primitive(
    op: type[Op], specs: Sequence[TensorSpec], attributes: dict[str, object]
) -> Sequence[TensorSpec]:
    """Return the results' specs of one operation of the IR."""

    def function(make: Maker, *values: object) -> object:
        return make.emit(op, *values, **attributes)

    try:
        return infer_function(function, specs, {})
    except (TypeError, ValueError):
        found = None if all(spec.is_static for spec in specs) else _possible(op, specs, attributes)
        if found is None:
            raise
        return found


TRIED = (1, 2, 4, 7)
"""Sizes that are put in, another for each operand, where equal ones are refused: groups of two."""
MOST_APART = 16
"""Open sizes that are tried apart from the others."""
MOST_SOLVED = 32
"""Combinations of values of symbols that make computed sizes known ones."""
MOST_TRIED = 3
"""Operands whose sizes are tried in all combinations."""


def _possible(
    op: type[Op], specs: Sequence[TensorSpec], attributes: dict[str, object]
) -> list[TensorSpec] | None:
    """Return the results' element types if there are ranks and sizes that an operation takes.

    The samples of its class have some, and other sizes are tried at their ranks; which there are,
    a run tells.
    """
    for sample in op.SAMPLES:
        pairs = list(zip(specs, sample.shapes, strict=False))
        if len(specs) != len(sample.shapes) or any(s.shape and s.rank != len(n) for s, n in pairs):
            continue
        alone = 1 if len(specs) > MOST_TRIED else len(specs)
        few = [row if alone > 1 else row * len(specs) for row in product(TRIED, repeat=alone)]
        ranks = [len(shape) for shape in sample.shapes]
        shapes = [[(size,) * n for size, n in zip(row, ranks, strict=True)] for row in few]
        for each in (sample.shapes, *shapes):
            tried = [_put_in(spec, shape) for spec, shape in zip(specs, each, strict=True)]
            try:
                made = op.inferred(tried, attributes)
            except (TypeError, ValueError, IndexError, ArithmeticError):
                continue
            return [TensorSpec(spec.dtype, None) for spec in made]
    return None


def _put_in(spec: TensorSpec, shape: Sequence[int]) -> TensorSpec:
    """Return a spec with these sizes for those that are not known."""
    if spec.shape is None:
        return spec.with_shape(tuple(shape))
    known = zip(spec.dims, shape, strict=True)
    return spec.with_shape(tuple(d if isinstance(d, int) else n for d, n in known))


@dataclass(frozen=True)
class Given:
    """What a rule for shapes is told: operands, those that are constants, and options."""

    specs: Sequence[TensorSpec]
    known: Mapping[int, Array]
    options: Mapping[str, Any]


def on_specs(
    function: Callable[..., object], specs: Sequence[TensorSpec], known: Mapping[int, Array]
) -> list[TensorSpec]:
    """Return the results' specs of a function of specs, or raise what it raises.

    That is an `UnknownValueError` where it looks at elements that are not `known`.
    """
    values = [Abstract(spec, known.get(i)) for i, spec in enumerate(specs)]
    made = function(Maker(emit_abstract), *values)
    listed = made if isinstance(made, tuple | list) else (made,)
    return [x.spec if isinstance(x, Abstract) else spec_of(np.asarray(x)) for x in listed]


def is_of_operations(
    function: Callable[..., object], specs: Sequence[TensorSpec], known: Mapping[int, Array]
) -> bool:
    """Say whether operations make what a function gives, and of shapes that follow from theirs.

    Else it has stated what comes of elements that are not `known`. Raises as `on_specs` does.
    """
    values = [Abstract(spec, known.get(i)) for i, spec in enumerate(specs)]
    met = [*values]

    def emit(
        op: type[Op], *operands: object, **attributes: object
    ) -> Abstract | tuple[Abstract, ...]:
        made = emit_abstract(op, *operands, **attributes)
        met.extend(made if isinstance(made, tuple) else (made,))
        return made

    made = function(Maker(emit), *values)
    listed = made if isinstance(made, tuple | list) else (made,)
    return all(
        any(x is one for one in met) and x.spec.is_static for x in listed if isinstance(x, Abstract)
    )


def infer_function(
    function: Callable[..., object],
    specs: Sequence[TensorSpec],
    known: Mapping[int, Array],
    stated: Callable[[], Sequence[TensorSpec]] | None = None,
) -> Sequence[TensorSpec]:
    """Return the results' specs of a function; `known` are the inputs that are constants.

    `stated` says what is known where ranks or values are open.
    """

    def attempt(given: Sequence[TensorSpec]) -> list[TensorSpec]:
        return on_specs(function, given, known)

    try:
        return attempt(specs)
    except UnknownValueError:
        return of_first(specs) if stated is None else stated()
    except (TypeError, ValueError):
        if all(spec.is_static for spec in specs):
            raise
        if stated is not None and any(spec.shape is None for spec in specs):
            return stated()
        tried = _attempts(attempt, specs, known)
        if tried is None:
            raise
        forced = _forced(attempt, specs)
        tried = tried if forced is None else together(tried, forced)
        return tried if stated is None else together(tried, stated())


def together(tried: Sequence[TensorSpec], stated: Sequence[TensorSpec]) -> list[TensorSpec]:
    """Return what trying and a rule say together."""
    made = []
    for a, b in zip(tried, stated, strict=True):
        if a.shape is None or b.shape is None or a.rank != b.rank:
            made.append(b if a.shape is None else a)
        else:
            pairs = zip(a.dims, b.dims, strict=True)
            made.append(a.with_shape(tuple(x if isinstance(x, int) else y for x, y in pairs)))
    return made


def _forced(
    attempt: Callable[[Sequence[TensorSpec]], list[TensorSpec]], specs: Sequence[TensorSpec]
) -> list[TensorSpec] | None:
    """Return the results with those sizes put in that have to be numbers, as the faults say.

    A product of (n, k) and (3, 4) has 4 columns, as k is 3. What is spread to 3 may be 1 as well:
    then only what comes out of both is known.
    """
    if any(spec.shape is None for spec in specs):
        return None
    found = []
    for alone in (False, True):
        put: dict[str, int] = {}
        is_spread = False
        for _ in range(MOST_FORCED):
            try:
                found.append(attempt([_put(spec, put) for spec in specs]))
                break
            except UnknownValueError:
                return None
            except (TypeError, ValueError, IndexError) as error:
                cause = _unequal(error)
                name, number = (None, 0) if cause is None else _needed(*cause.sizes)
                if name is None or name in put:
                    return None
                spread = isinstance(cause, BroadcastError)
                put[name] = 1 if alone and spread else number
                is_spread |= spread
        else:
            return None
        if not is_spread:
            break
    if len(found) == 1:
        return found[0]
    return [agreed([*each], False) for each in zip(*found, strict=True)]


MOST_FORCED = 8
"""Sizes that are put in one after the other."""


def _unequal(error: BaseException) -> UnequalError | None:
    """Return the fault of two sizes that is behind another, if there is one."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, UnequalError):
        cause = cause.__cause__
    return cause


def _needed(a: Dim, b: Dim) -> tuple[str | None, int]:
    """Return the symbol that one of two sizes is, and the number that the other one is."""
    for size, number in ((a, b), (b, a)):
        names = set() if isinstance(size, int) else symbols(size)
        if len(names) == 1 and isinstance(number, int) and size == symbol(name := min(names)):
            return name, number
    return None, 0


def _attempts(
    attempt: Callable[[Sequence[TensorSpec]], list[TensorSpec]],
    specs: Sequence[TensorSpec],
    known: Mapping[int, Array],
) -> list[TensorSpec] | None:
    """Return what several tries agree on, None where all of them fail."""
    found: list[list[TensorSpec]] = []
    ranks_open = any(spec.shape is None for spec in specs)
    for trials in (_trials, _solved, partial(_one_known, known=known)):
        for tried in trials(specs):
            try:
                found.append(attempt(tried))
            except UnknownValueError:
                return of_first(specs)
            except (TypeError, ValueError, IndexError):
                continue
        if found:
            break
    if not found:
        return None
    return [agreed([made[i] for made in found], ranks_open) for i in range(len(found[0]))]


def _trials(specs: Sequence[TensorSpec]) -> Iterator[list[TensorSpec]]:
    """Give specs with sizes put in for those that are not known."""
    sizes = sorted({d for s in specs if s.shape is not None for d in s.dims if isinstance(d, int)})
    low, high = islice((n for n in chain((7, 11), count(13, 2)) if n not in sizes), 2)
    shapes: list[tuple[int, ...] | None] = [None]  # (of a known one, what is put in looks known)
    if any(spec.shape is None for spec in specs):
        static = [s.static_shape for s in specs if s.is_static]
        shapes = [*static, *((size,) * rank for rank in (0, 1, 2, 3, 4) for size in (*sizes, low))]
    for shape in shapes:
        for size in dict.fromkeys((low, high, *sizes, 1)):  # (two that agree must be two)
            yield [_fill(spec, size, shape) for spec in specs]
    for size in (low, high):
        yield _aligned(specs, size)
    if shapes == [None]:
        yield from _one_apart(specs, low, high)


def _one_apart(specs: Sequence[TensorSpec], size: int, other: int) -> Iterator[list[TensorSpec]]:
    """Give specs with one size put in for all of them that are open but one.

    A window of 7 goes once into an image of 7, and one of 11 into 11: both are 1 only by chance.
    """
    names = dict.fromkeys(name for s in specs for d in s.dims for name in sorted(symbols(d)))
    for name in islice(names, MOST_APART):
        yield [_fill(_put(spec, {name: other}), size, None) for spec in specs]


def _aligned(specs: Sequence[TensorSpec], size: int) -> list[TensorSpec]:
    """Return specs with sizes put in by which what stands in one column is alike.

    `d2 - 1` is 6 where a size is 7, and so is `d3` that stands beside it.
    """
    put: dict[str, Dim] = {}
    dims = [tuple(reversed(spec.dims)) for spec in specs if spec.shape is not None]
    for column in zip_longest(*dims):
        open_ = [d for d in column if isinstance(d, DimExpr)]
        names = [name for d in open_ for name in symbols(d)]
        alone = [name for d in open_ for name in symbols(d) if d == symbol(name)]
        made = [evaluate(d, dict.fromkeys(names, size)) for d in open_ if symbols(d) - {*alone}]
        put.update(dict.fromkeys(alone, made[0] if made else size))
    return [spec if spec.shape is None else _fill(_put(spec, put), size, None) for spec in specs]


def _solved(specs: Sequence[TensorSpec]) -> Iterator[list[TensorSpec]]:
    """Give specs with such sizes put in that open ones come out as those that are known.

    `2*d` beside 4 is tried with d = 2; last, each open size as each of the known ones, and as 0.
    """
    dims = [d for s in specs if s.shape is not None for d in s.dims]
    sizes = sorted({d for d in dims if isinstance(d, int)})
    open_dims = [d for d in dims if isinstance(d, DimExpr)]
    values = {
        name: sorted({n for d in open_dims if symbols(d) == {name} for n in _roots(d, sizes)})
        for name in sorted({name for d in open_dims for name in symbols(d)})
    }
    columns = [found or [7] for found in values.values()]
    for row in islice(product(*columns), MOST_SOLVED):
        put = dict(zip(values, row, strict=True))
        yield [_put(spec, put) for spec in specs]
    for size in (*sizes, 0):  # (of nothing there are no indices, and those fit)
        yield [spec if spec.shape is None else _put_in(spec, (size,) * spec.rank) for spec in specs]


def _one_known(
    specs: Sequence[TensorSpec], known: Mapping[int, Array]
) -> Iterator[list[TensorSpec]]:
    """Give specs with a known size put in for one that is open, and more for all the others.

    Channels are as many as filters have, and images have to be larger than their windows; what is
    put into rows is as long as these, of which a constant may tell the size.
    """
    shaped = [spec for spec in specs if spec.shape is not None]
    listed = [x.ravel() for x in known.values() if x.dtype.kind == "i" and x.size <= FOLDED]
    told = {n for x in listed for n in x.tolist() if n >= 0}
    sizes = sorted(told | {d for s in shaped for d in s.dims if isinstance(d, int)})
    names = dict.fromkeys(name for s in shaped for d in s.dims for name in sorted(symbols(d)))
    more = 2 * max([7, *sizes]) + 1
    for name in islice(names, MOST_APART):
        for number in sizes:  # (what is computed of the others may say nothing against them)
            yield [_put(spec, {name: number}) for spec in specs]
        for number, size in product(sizes, (more, more + 4)):
            yield [_fill(_put(spec, {name: number}), size, None) for spec in specs]


def _roots(dim: DimExpr, sizes: Sequence[int]) -> Iterator[int]:
    """Give the values of the only symbol of a dimension, linear in it, that make it a size."""
    (name,) = symbols(dim)
    start = evaluate(dim, {name: 0})
    slope = evaluate(dim, {name: 1}) - start
    for size in sizes:
        if slope and not (size - start) % slope:
            n = (size - start) // slope
            if n >= 0 and evaluate(dim, {name: n}) == size:
                yield n


def _put(spec: TensorSpec, values: Mapping[str, Dim]) -> TensorSpec:
    if spec.shape is None:
        return spec
    return spec.with_shape(tuple(substitute(d, values) for d in spec.dims))


def _fill(spec: TensorSpec, size: int, shape: tuple[int, ...] | None) -> TensorSpec:
    if spec.shape is None:
        return spec.with_shape(shape or ())
    return _put(spec, {name: size for d in spec.dims for name in symbols(d)})


def agreed(made: Sequence[TensorSpec], ranks_open: bool) -> TensorSpec:
    """Return what several specs have in common: sizes that are alike, and of one rank."""
    dtype = made[0].dtype
    if ranks_open or len({m.rank for m in made}) > 1:
        return TensorSpec(dtype, None)
    columns = zip(*(m.dims for m in made), strict=True)
    several = len(made) > 1
    return TensorSpec(
        dtype, tuple(c[0] if several and len(set(c)) == 1 else unknown_dim() for c in columns)
    )


def of_first(specs: Sequence[TensorSpec]) -> list[TensorSpec]:
    """Return that one result has the type of the first operand, and any shape."""
    return [TensorSpec(specs[0].dtype, None)]
