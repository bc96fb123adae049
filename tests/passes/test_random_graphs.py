"""Random graphs: whatever is put together, passes keep to their contract."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from gravure.ir import REGISTRY, DType, GraphEmit, Program, Symbol, TensorSpec, spec_of
from gravure.ir.program import finish, new_function
from gravure.ir.types import dtypes
from gravure.passes import run
from gravure.passes.check import Check
from gravure.passes.pipelines import GRAPH

UNARY = ("neg", "abs", "relu", "floor", "sign", "sigmoid", "tanh")
BINARY = ("add", "sub", "mul", "div", "maximum", "minimum")
NUMBERS = (0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 3.0, 8.0, float("inf"), float("nan"))


@dataclass
class Maker:
    """Makes a graph by appending random operations on random values."""

    random: np.random.Generator
    emit: GraphEmit
    values: list[SSAValue]
    weights: dict[str, np.ndarray[Any, Any]]

    def pick(self) -> SSAValue:
        return self.values[int(self.random.integers(len(self.values)))]

    def choose(self, options: Any) -> Any:
        return options[int(self.random.integers(len(options)))]

    def op(self, name: str, *operands: SSAValue, **attributes: Any) -> SSAValue:
        made: SSAValue = self.emit(REGISTRY[f"gv.{name}"], *operands, **attributes)
        return made

    def constant(self, dtype: DType, shape: tuple[int, ...]) -> SSAValue:
        numbers = NUMBERS if dtype.is_float else (0, 1, -1, 2, 3)
        value = np.array(self.choose(numbers)).astype(dtype.numpy)
        if self.random.random() < 0.3 and dtype.is_float:
            array = self.random.standard_normal(shape).astype(dtype.numpy)
        else:
            array = np.broadcast_to(value, shape)
        return self.op("constant", value=array)

    def weight(self, dtype: DType, shape: tuple[int, ...]) -> SSAValue:
        name = f"w{len(self.weights)}"
        self.weights[name] = self.random.standard_normal(shape).astype(dtype.numpy)
        return self.op("weight", weight=Symbol(name), dtype=dtype, shape=shape)

    def partner(self, value: SSAValue) -> SSAValue:
        """Return another operand that broadcasts with a value."""
        spec = spec_of(value.type)
        shape = [d if self.random.random() < 0.7 else 1 for d in spec.static_shape]
        shape = shape[int(self.random.integers(len(shape) + 1)) :]
        same = [v for v in self.values if v.type == value.type] or [value]
        kind = self.random.random()
        if kind < 0.3:
            return self.choose(same)
        make = self.constant if kind < 0.8 or not spec.dtype.is_float else self.weight
        return make(spec.dtype, tuple(shape))

    def grow(self) -> None:
        rules: tuple[Callable[[SSAValue], SSAValue], ...] = (
            self.unary, self.binary, self.binary, self.binary, self.select, self.cast,
            self.reshape, self.transpose, self.broadcast, self.slice, self.reduce, self.concat,
            self.matmul, self.conv, self.pad,
        )  # fmt: skip
        self.values.append(self.choose(rules)(self.pick()))

    def unary(self, x: SSAValue) -> SSAValue:
        names = UNARY if spec_of(x.type).dtype.is_float else ("neg", "abs")
        return self.op(self.choose(names), x)

    def binary(self, x: SSAValue) -> SSAValue:
        names = BINARY if spec_of(x.type).dtype.is_float else BINARY[:3]
        operands = [x, self.partner(x)]
        self.random.shuffle(operands)  # type: ignore[arg-type]
        return self.op(self.choose(names), *operands)

    def select(self, x: SSAValue) -> SSAValue:
        y = self.partner(x)
        condition = self.op(self.choose(("less", "equal")), x, self.partner(x))
        if self.random.random() < 0.5:
            condition = self.op("logical_not", condition)
        return self.op("select", condition, x, y)

    def cast(self, x: SSAValue) -> SSAValue:
        if spec_of(x.type).dtype.is_float:
            wide = self.op("cast", x, dtype=dtypes.f64)
            return self.op("cast", wide, dtype=spec_of(x.type).dtype)
        return self.op("cast", x, dtype=self.choose((dtypes.f32, dtypes.i32, dtypes.i64)))

    def reshape(self, x: SSAValue) -> SSAValue:
        shape = list(spec_of(x.type).static_shape)
        if self.random.random() < 0.5:
            shape.insert(int(self.random.integers(len(shape) + 1)), 1)
        elif len(shape) > 1:
            at = int(self.random.integers(len(shape) - 1))
            shape[at : at + 2] = [shape[at] * shape[at + 1]]
        return self.op("reshape", x, shape=tuple(shape))

    def transpose(self, x: SSAValue) -> SSAValue:
        order = self.random.permutation(spec_of(x.type).rank)
        return self.op("transpose", x, order=tuple(map(int, order)))

    def broadcast(self, x: SSAValue) -> SSAValue:
        shape = tuple(self.choose((2, 3)) if d == 1 else d for d in spec_of(x.type).static_shape)
        return self.op("broadcast_to", x, shape=shape)

    def slice(self, x: SSAValue) -> SSAValue:
        shape = spec_of(x.type).static_shape
        starts = tuple(int(self.random.integers(min(d, 1) + 1)) for d in shape)
        steps = tuple(self.choose((1, 1, 2)) for _ in shape)
        return self.op("slice", x, starts=starts, stops=shape, steps=steps)

    def reduce(self, x: SSAValue) -> SSAValue:
        rank = spec_of(x.type).rank
        axes = tuple(axis for axis in range(rank) if self.random.random() < 0.4)
        keepdims = bool(self.random.random() < 0.5)
        return self.op("sum", x, axes=axes, keepdims=keepdims)

    def concat(self, x: SSAValue) -> SSAValue:
        rank = spec_of(x.type).rank
        same = [v for v in self.values if v.type == x.type]
        return self.op("concat", x, self.choose(same), axis=self.choose(range(rank))) if rank else x

    def matmul(self, x: SSAValue) -> SSAValue:
        spec = spec_of(x.type)
        if spec.rank < 2 or not spec.dtype.is_float:
            return x
        made = self.op("matmul", x, self.weight(spec.dtype, (spec.static_shape[-1], 3)))
        return self.op(self.choose(("add", "mul")), made, self.partner(made))

    def conv(self, x: SSAValue) -> SSAValue:
        spec = spec_of(x.type)
        if spec.rank < 3 or not spec.dtype.is_float or 0 in spec.static_shape:
            return x
        n = spec.rank - 2
        w = self.weight(spec.dtype, (3, spec.static_shape[1], *(1 for _ in range(n))))
        moves = {"strides": (1,) * n, "pads": ((0, 1),) * n, "dilations": (1,) * n}
        made = self.op("conv", x, w, **moves)
        return self.op(self.choose(("add", "mul")), made, self.partner(made))

    def pad(self, x: SSAValue) -> SSAValue:
        pads = tuple((self.choose((0, 0, 1)), 0) for _ in spec_of(x.type).static_shape)
        return self.op("pad", x, pads=pads)


def graph(seed: int) -> Program:
    random = np.random.default_rng(seed)
    dtype = dtypes.f32 if seed % 5 else dtypes.i32
    shapes = [tuple(int(random.choice((1, 2, 3, 4))) for _ in range(int(random.integers(5))))
              for _ in range(2)]  # fmt: skip
    inputs = [(f"x{i}", TensorSpec(dtype, shape)) for i, shape in enumerate(shapes)]
    function = new_function("main", inputs)
    block = function.body.block
    maker = Maker(random, GraphEmit.at_end(block), list(block.args), {})
    for _ in range(int(random.integers(3, 16))):
        maker.grow()
    results = maker.values[-2:]
    finish(function, results, [f"y{i}" for i in range(len(results))])
    return Program(ModuleOp([function]), maker.weights, f"seed {seed}")


@pytest.mark.parametrize("start", range(0, 60, 10))
def test_passes_keep_what_random_graphs_compute(start: int) -> None:
    pipeline = (*GRAPH, "merge-matmuls", "hoist-prepare", "cse", "dce")
    for seed in range(start, start + 10):
        with np.errstate(all="ignore"):
            run(pipeline, graph(seed), observers=[Check(seed=seed)])
