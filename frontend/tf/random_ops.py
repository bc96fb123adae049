"""Random numbers: new ones in each run, the same for equal seeds."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from math import prod
from typing import Any, ClassVar

import numpy as np

from ...ir import dtypes as rows
from ...ir.compositions import Maker
from ...ir.ops.families import spec_of_value
from ...ir.ops.random import drawn_key, key_of
from ...ir.ops.random import normal as ir_normal
from ...ir.ops.random import uniform as ir_uniform
from ...ir.tensor import Array, TensorSpec
from ..abstract import Abstract, is_unknown
from ..context import STATE, entered
from ..execute import Frame
from ..function import ACTIVE
from ..graph import Graph, Operation, spec_with_unknowns
from ..kinds import RULES, Kind
from ..recorded import EMIT
from ..tensor import Tensor
from . import philox
from .calls import perform, rule
from .core import dressed, row_of, wrap
from .creation import ints
from .shapes import TensorShape
from .values import InGraph, InvalidShapesError, convert, graph_of, static


class Seeds:
    """The seed of the process, and the eager draws since it was set."""

    value: int | None = None
    draws: ClassVar[dict[Any, int]] = {}
    """How often was drawn with each seed of an operation, and without one (None)."""

    @classmethod
    def key(cls, seed: Any) -> Array:
        """Return the key of the next draw: with a seed, that of the same draw in a function."""
        if (cls.value, seed) == (None, None):
            return key_of(secrets.token_hex(8))
        count = cls.draws[seed] = cls.draws.get(seed, -1) + 1
        return drawn_key(key_of((cls.value, seed, 0)), count)


def set_seed(seed: int | None) -> None:
    """Set the seed; draws begin anew."""
    graph = STATE.context
    if isinstance(graph, Graph):
        graph.seed = seed
        return
    Seeds.value = seed
    Seeds.draws.clear()
    ACTIVE[-1].draws.clear()


Drawing = Any
DRAWS: dict[str, Drawing] = {}
"""By type: a function of a `Maker`, a key, a shape, an element type and options."""


class Draw(Kind):
    """Numbers that differ in each run; the operation's seed and the count of runs are the key."""

    stateful = draws = True

    def __init__(self, type_: str, row: rows.DType, seed: Any, options: dict[str, Any]) -> None:
        self.type, self.row, self.seed, self.options = type_, row, seed, options

    def infer(
        self, specs: Sequence[TensorSpec], attributes: dict[str, Any]
    ) -> Sequence[TensorSpec]:
        """Return the shape, as far as it is known."""
        dims = attributes.get("shape")
        return (spec_with_unknowns(self.row, dims),)

    def run(self, frame: Frame, op: Operation, inputs: Sequence[Any]) -> Sequence[Any]:
        """Draw."""
        shape, key = tuple(ints(inputs[0])), frame.key(op, self.seed)
        return (DRAWS[self.type](Maker(frame.emit), key, shape, self.row, **self.options),)

    def gradient(self, op: Operation, grads: Sequence[Any], emit: Any) -> Sequence[Any]:
        """Return nothing."""
        return (None,) * len(op.inputs)


def draw(type_: str, shape: Any, row: rows.DType, seed: Any, name: Any, **options: Any) -> Any:
    """Draw numbers now, or add the operation to a graph."""
    graph = STATE.context
    if isinstance(graph, Graph):
        return _draw_in(graph, Draw(type_, row, _seed_in(graph, seed), options), shape, name)
    key = Seeds.key(seed)
    dims = tuple(TensorShape(static(shape)).as_list())
    return dressed(wrap(np.asarray(DRAWS[type_](Maker(EMIT), key, dims, row, **options))))


def _seed_in(graph: Graph, seed: Any) -> Any:
    base = graph.seed if graph.seed is not None else Seeds.value
    if (base, seed) == (None, None):
        return secrets.token_hex(8)
    return (base, seed, len(graph.operations) if seed is None else 0)


def _draw_in(graph: Graph, kind: Draw, shape: Any, name: Any) -> Any:
    known = static(shape)
    dims = None
    if isinstance(known, list | tuple):
        dims = tuple(d if isinstance(d, int) else None for d in known)
    given = convert(shape, "int32") if dims != () else graph.constant(np.zeros(0, np.int32))
    op = graph.add(kind, [graph.owned(given)], {"shape": dims}, name=name)
    return op.outputs[0]


def _row(dtype: Any) -> rows.DType:
    row = row_of(dtype)
    assert row is not None, "a type was given"
    return row


def _uniform(
    m: Maker, key: Any, dims: tuple[int, ...], row: rows.DType, low: Any, high: Any
) -> Any:
    wide = row if row.is_float else rows.f64
    unit = ir_uniform(m.emit, key, dims, wide)
    made = m.add(m.mul(unit, m.number(high - low, wide)), m.number(low, wide))
    return made if row.is_float else m.cast(m.floor(made), dtype=row)


def _normal(
    m: Maker, key: Any, dims: tuple[int, ...], row: rows.DType, mean: float, stddev: float
) -> Any:
    made = ir_normal(m.emit, key, dims, row)
    return m.add(m.mul(made, m.number(stddev, row)), m.number(mean, row))


def _truncated(
    m: Maker, key: Any, dims: tuple[int, ...], row: rows.DType, mean: float, stddev: float
) -> Any:
    made = np.asarray(ir_normal(EMIT, np.asarray(key, np.uint32), (8, *dims), rows.f64))
    inside = np.abs(made) < 2.0
    first = np.argmax(inside, axis=0)
    chosen = np.clip(np.take_along_axis(made, first[None], 0)[0], -2.0, 2.0)
    return (chosen * stddev + mean).astype(row.numpy)


DRAWS.update(RandomUniform=_uniform, RandomStandardNormal=_normal, TruncatedNormal=_truncated)


def uniform(
    shape: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = "float32",
    seed: Any = None,
    name: str = "random_uniform",
) -> Any:
    """Draw evenly between two bounds."""
    row, low = _row(dtype), static(minval)
    if maxval is None and not row.is_float:
        raise ValueError(f"Must specify maxval for integer dtype {row}")
    high = 1 if maxval is None else static(maxval)
    if not all(isinstance(x, int | float) for x in (low, high)):
        unit = draw("RandomUniform", shape, row, seed, name, low=0, high=1)
        return unit * (convert(high, dtype) - convert(low, dtype)) + convert(low, dtype)
    _refuse_empty(row, low, high)
    return draw("RandomUniform", shape, row, seed, name, low=low, high=high)


def _refuse_empty(row: rows.DType, low: Any, high: Any) -> None:
    if row.is_integer and low >= high:
        raise InvalidShapesError(f"Need minval < maxval, got {low} >= {high}")


def normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = "float32",
    seed: Any = None,
    name: str = "random_normal",
) -> Any:
    """Draw from the normal distribution."""
    given = {"mean": static(mean), "stddev": static(stddev)}
    return draw("RandomStandardNormal", shape, _row(dtype), seed, name, **given)


def truncated_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = "float32",
    seed: Any = None,
    name: str = "truncated_normal",
) -> Any:
    """Draw from the normal distribution, within two deviations."""
    given = {"mean": static(mean), "stddev": static(stddev)}
    return draw("TruncatedNormal", shape, _row(dtype), seed, name, **given)


def eager_normal(shape: Sequence[int], seed: Any) -> Array:
    """Return numbers of the normal distribution as an array, at once."""
    with entered(None):
        made: Array = normal(list(shape), dtype="float64", seed=seed).numpy()
    return made


def shuffle(value: Any, seed: Any = None, name: str = "shuffle") -> Any:
    """Put the slices of a tensor in a random order."""
    from .array_ops import shape  # noqa: PLC0415
    from .gathering import gather  # noqa: PLC0415
    from .sorting import argsort  # noqa: PLC0415

    x = convert(value)
    count = shape(x)[0] if x.shape._dims is None or x.shape[0] is None else x.shape[0]
    return gather(x, argsort(uniform([count], seed=seed)), name=name)


def _seeded(type_: str, shape: Any, seed: Any, row: rows.DType, **options: Any) -> Any:
    """Compute what a seed says: now if shape and seed are known, else when it is run."""
    with InGraph(graph_of([shape, seed])):
        if not any(isinstance(static(x), Tensor) for x in (shape, seed)):
            values = np.asarray(static(shape), np.int64), np.asarray(static(seed))
            return convert(RULES[type_].function(None, *values, row=row, **options))
        return perform(type_, [convert(shape, "int32"), convert(seed)], row=row, **options)


def _dims_of(shape: Any, seed: Any) -> tuple[int, ...]:
    words = np.asarray(seed)
    if words.shape != (2,):
        raise TypeError(f"seed must have shape [2], not {list(words.shape)}")
    return tuple(int(d) for d in np.ravel(np.asarray(shape)))


def _unknown_draw(shape: Any, row: rows.DType) -> Abstract:
    count = spec_of_value(shape).dims[0] if is_unknown(shape) else len(np.ravel(np.asarray(shape)))
    known = not is_unknown(shape)
    dims = np.ravel(np.asarray(shape)).tolist() if known else [None] * int(count)  # type: ignore[arg-type]
    return Abstract(spec_with_unknowns(row, tuple(dims)))


@rule("StatelessRandomUniformV2", differentiable=False)
def _uniform_of(m: Any, shape: Any, seed: Any, row: rows.DType, low: Any, high: Any) -> Any:
    if is_unknown(seed) or is_unknown(shape):
        return _unknown_draw(shape, row)
    dims = _dims_of(shape, seed)
    count, words = prod(dims), np.asarray(seed)
    if row.is_integer:
        return philox.integers(words, count, row, low, high).reshape(dims)
    made = philox.unit(words, count, row) * row.numpy.type(high - low) + row.numpy.type(low)
    return made.astype(row.numpy).reshape(dims)


@rule("StatelessRandomNormalV2", differentiable=False)
def _normal_of(m: Any, shape: Any, seed: Any, row: rows.DType, mean: Any, stddev: Any) -> Any:
    if is_unknown(seed) or is_unknown(shape):
        return _unknown_draw(shape, row)
    dims = _dims_of(shape, seed)
    made = philox.normal(np.asarray(seed), prod(dims), row)
    scaled = made * row.numpy.type(stddev) + row.numpy.type(mean)
    return scaled.astype(row.numpy).reshape(dims)


def stateless_uniform(
    shape: Any, seed: Any, minval: Any = 0, maxval: Any = None, dtype: Any = "float32", **_: Any
) -> Any:
    """Draw what the seed says, evenly; the numbers are TensorFlow's."""
    row, low = _row(dtype), static(minval)
    high = static(maxval)
    if row.is_integer and (low is None) != (high is None):
        raise ValueError(
            f"For integer `dtype` argument {row}, argument `minval` and `maxval` must be both None "
            "or not None."
        )
    if not row.is_integer:
        low, high = low or 0, 1 if high is None else high
    elif low is not None:
        _refuse_empty(row, low, high)
    return _seeded("StatelessRandomUniformV2", shape, seed, row, low=low, high=high)


def stateless_normal(
    shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = "float32", **_: Any
) -> Any:
    """Draw what the seed says, from the normal distribution; the numbers are TensorFlow's."""
    given = {"mean": static(mean), "stddev": static(stddev)}
    return _seeded("StatelessRandomNormalV2", shape, seed, _row(dtype), **given)


def stateless_truncated_normal(
    shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = "float32", **_: Any
) -> Any:
    """Draw what the seed says, from the normal distribution within two deviations."""
    words = np.asarray(static(seed))
    dims, key = _dims_of(static(shape), words), key_of(*words.tolist())
    made = _truncated(Maker(EMIT), key, dims, _row(dtype), static(mean), static(stddev))
    return convert(np.asarray(made))


def categorical(
    logits: Any, num_samples: Any, dtype: Any = "int64", seed: Any = None, name: Any = None
) -> Any:
    """Draw classes of each row of logarithms of their chances."""
    from .array_ops import expand_dims, shape  # noqa: PLC0415
    from .math_ops import FUNCTIONS, argmax  # noqa: PLC0415

    x = convert(logits)
    dims = [shape(x)[0], num_samples, shape(x)[1]]
    known = x.shape.as_list()
    if None not in known:
        dims = [known[0], num_samples, known[1]]
    drawn, log = uniform(dims, 1e-20, 1.0, x.dtype, seed), FUNCTIONS["log"]
    noise = -log(-log(drawn))
    return argmax(noise + expand_dims(x, 1), axis=2, output_type=dtype, name=name)
