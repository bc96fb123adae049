"""Random numbers: new ones in each run, the same for equal seeds."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ir import dtypes as rows
from ...ir.compositions import Maker
from ...ir.ops.random import normal as ir_normal
from ...ir.ops.random import uniform as ir_uniform
from ...ir.tensor import TensorSpec
from ..context import STATE
from ..execute import Frame, key_of
from ..function import ACTIVE
from ..graph import Graph, Operation
from ..kinds import Kind
from ..recorded import EMIT
from .array_ops import ints
from .core import convert, dressed, row_of, static, wrap
from .shapes import TensorShape


class Seeds:
    """The seed of the process, and how many eager draws there were since it was set."""

    value: int | None = None
    draws = 0


def set_seed(seed: int | None) -> None:
    """Set the seed; draws begin anew."""
    graph = STATE.context
    if isinstance(graph, Graph):
        graph.seed = seed
        return
    Seeds.value, Seeds.draws = seed, 0
    ACTIVE[-1].draws.clear()


class Draw(Kind):
    """Numbers that differ in each run; the operation's seed and the count of runs are the key."""

    stateful = True

    def __init__(self, type_: str, rule: Any, row: rows.DType, seed: Any) -> None:
        self.type, self.rule, self.row, self.seed = type_, rule, row, seed

    def infer(
        self, specs: Sequence[TensorSpec], attributes: dict[str, Any]
    ) -> Sequence[TensorSpec]:
        """Return the shape, if it is known."""
        return (TensorSpec(self.row, attributes.get("shape")),)

    def run(self, frame: Frame, op: Operation, inputs: Sequence[Any]) -> Sequence[Any]:
        """Draw."""
        shape = tuple(ints(inputs[0]))
        return (self.rule(Maker(frame.emit), frame.key(op, self.seed), shape),)

    def gradient(self, op: Operation, grads: Sequence[Any], emit: Any) -> Sequence[Any]:
        """Return nothing."""
        return (None,) * len(op.inputs)


def draw(type_: str, shape: Any, row: rows.DType, seed: Any, rule: Any, name: Any) -> Any:
    """Draw numbers now, or add the operation to a graph."""
    graph = STATE.context
    if isinstance(graph, Graph):
        base = graph.seed if graph.seed is not None else Seeds.value
        number = len(graph.operations)
        full = (
            (base, seed, number if seed is None else 0)
            if (base, seed) != (None, None)
            else secrets.token_hex(8)
        )
        known = static(shape)
        dims = (
            tuple(known)
            if isinstance(known, list | tuple) and all(isinstance(d, int) for d in known)
            else None
        )
        kind = Draw(type_, rule, row, full)
        op = graph.add(
            kind,
            [
                graph.owned(
                    convert(shape, "int32") if dims != () else graph.constant(np.zeros(0, np.int32))
                )
            ],
            {"shape": dims},
            name=name,
        )
        return op.outputs[0]
    Seeds.draws += 1
    pair = (Seeds.value, seed)
    key = key_of(*pair, Seeds.draws) if pair != (None, None) else key_of(secrets.token_hex(8))
    made = rule(Maker(EMIT), key, tuple(TensorShape(static(shape)).as_list()))
    return dressed(wrap(np.asarray(made)))


def uniform(
    shape: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = "float32",
    seed: Any = None,
    name: str = "random_uniform",
) -> Any:
    """Draw evenly between two bounds."""
    row = row_of(dtype)
    assert row is not None, "a type was given"
    low, high = static(minval), 1 if maxval is None else static(maxval)

    def rule(m: Maker, key: Any, dims: tuple[int, ...]) -> Any:
        wide = row if row.is_float else rows.f64
        unit = ir_uniform(m.emit, key, dims, wide)
        made = m.add(m.mul(unit, m.number(high - low, wide)), m.number(low, wide))
        return made if row.is_float else m.cast(m.floor(made), dtype=row)

    return draw("RandomUniform", shape, row, seed, rule, name)


def normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = "float32",
    seed: Any = None,
    name: str = "random_normal",
) -> Any:
    """Draw from the normal distribution."""
    row = row_of(dtype)
    assert row is not None, "a type was given"
    centre, width = static(mean), static(stddev)

    def rule(m: Maker, key: Any, dims: tuple[int, ...]) -> Any:
        made = ir_normal(m.emit, key, dims, row)
        return m.add(m.mul(made, m.number(width, row)), m.number(centre, row))

    return draw("RandomStandardNormal", shape, row, seed, rule, name)


def truncated_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = "float32",
    seed: Any = None,
    name: str = "truncated_normal",
) -> Any:
    """Draw from the normal distribution, within two deviations."""
    row = row_of(dtype)
    assert row is not None, "a type was given"

    def rule(m: Maker, key: Any, dims: tuple[int, ...]) -> Any:
        made = np.asarray(ir_normal(EMIT, np.asarray(key, np.uint32), (8, *dims), rows.f64))
        inside = np.abs(made) < 2.0
        first = np.argmax(inside, axis=0)
        chosen = np.clip(np.take_along_axis(made, first[None], 0)[0], -2.0, 2.0)
        return (chosen * stddev + mean).astype(row.numpy)

    return draw("TruncatedNormal", shape, row, seed, rule, name)


def shuffle(value: Any, seed: Any = None, name: str = "shuffle") -> Any:
    """Put the slices of a tensor in a random order."""
    from .array_ops import gather  # noqa: PLC0415
    from .sorting import argsort  # noqa: PLC0415

    x = convert(value)
    count = x.shape[0]
    return gather(x, argsort(uniform([count], seed=seed)))


def stateless_uniform(
    shape: Any, seed: Any, minval: Any = 0, maxval: Any = None, dtype: Any = "float32", **_: Any
) -> Any:
    """Draw what the seed says."""
    row = row_of(dtype)
    assert row is not None, "a type was given"
    key = key_of(*np.asarray(static(seed)).tolist())
    unit = np.asarray(
        ir_uniform(EMIT, key, tuple(static(shape)), row if row.is_float else rows.f64)
    )
    made = unit * ((1 if maxval is None else maxval) - minval) + minval
    return convert(np.asarray(made).astype(row.numpy))
