"""Rules of optimiser steps, and of dropout while training."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from ....ir.gradient.program import gradients_in_block
from ....ir.types import dtypes as d
from ..node import Node, Value
from ..registry import rule

TRAINING = "ai.onnx.preview.training"


class UpdateRule:
    """What the steps of all optimisers share: rate, count of updates, and arithmetic."""

    def __init__(self, node: Node, rate: Value, count: Value) -> None:
        self.node, self.make = node, node.make
        self.rate, self.count = rate, count

    def number(self, value: float, like: Value) -> Value:
        """Return a number of the type of a value."""
        return self.make.number(value, self.node.dtype(like))

    def scaled(self, factor: float, x: Value) -> Value:
        """Return a value times a number."""
        return self.make.mul(self.number(factor, x), x)

    def scalar(self, x: Value, like: Value) -> Value:
        """Return a number without axes, of the type of a value."""
        return self.make.reshape(self.make.to(x, self.node.dtype(like)), shape=())

    def regular(self, x: Value, grad: Value, name: str = "norm_coefficient") -> Value:
        """Return the gradient with that of a 2-norm of the values."""
        factor = self.node.number(name, 0.0)
        return grad if factor == 0 else self.make.add(self.scaled(factor, x), grad)

    def is_first(self) -> Value:
        """Say whether no update was done before."""
        return self.make.reshape(
            self.make.less_equal(self.count, self.make.number(0, d.i64)), shape=()
        )


def _columns(node: Node, values: Sequence[Value], count: int) -> list[Sequence[Value]]:
    """Return the operands of each kind: values, gradients, then states."""
    if len(values) % count:
        node.fail(f"{len(values)} operands behind the first two, expected a multiple of {count}")
    each = len(values) // count
    return [values[i * each : (i + 1) * each] for i in range(count)]


@rule("Adagrad", domain=TRAINING)
def adagrad(node: Node, rate: Value, count: Value, *values: Value) -> Sequence[Value]:
    """Divide each gradient by the root of the sum of its squares so far."""
    step, make = UpdateRule(node, rate, count), node.make
    epsilon, decay = node.number("epsilon", 1e-6), node.number("decay_factor", 0.0)
    updated, sums = [], []
    for x, given, before in zip(*_columns(node, values, 3), strict=True):
        passed = step.scaled(decay, step.scalar(count, x))
        now = make.div(step.scalar(rate, x), make.add(passed, step.number(1, x)))
        grad = step.regular(x, given)
        total = make.add(before, make.mul(grad, grad))
        root = make.add(make.sqrt(total), step.number(epsilon, x))
        updated.append(make.sub(x, make.div(make.mul(now, grad), root)))
        sums.append(total)
    return [*updated, *sums]


@rule("Adam", domain=TRAINING)
def adam(node: Node, rate: Value, count: Value, *values: Value) -> Sequence[Value]:
    """Divide the running mean of each gradient by the root of that of its square."""
    step, make = UpdateRule(node, rate, count), node.make
    alpha, beta = node.number("alpha", 0.9), node.number("beta", 0.999)
    epsilon, after = node.number("epsilon", 1e-6), node.number("norm_coefficient_post", 0.0)
    updated, means, squares = [], [], []
    for x, given, last_mean, last_square in zip(*_columns(node, values, 4), strict=True):
        grad = step.regular(x, given)
        mean = make.add(step.scaled(alpha, last_mean), step.scaled(1 - alpha, grad))
        part = step.scaled(1 - beta, make.mul(grad, grad))
        square = make.add(step.scaled(beta, last_square), part)
        now = _corrected(step, x, alpha, beta)
        root = make.add(make.sqrt(square), step.number(epsilon, x))
        made = make.sub(x, make.div(make.mul(now, mean), root))
        updated.append(made if after == 0 else step.scaled(1 - after, made))
        means.append(mean)
        squares.append(square)
    return [*updated, *means, *squares]


def _corrected(step: UpdateRule, x: Value, alpha: float, beta: float) -> Value:
    """Return the rate with the means' start from zero made up for, after the first update."""
    make, one = step.make, step.number(1, x)
    count, rate = step.scalar(step.count, x), step.scalar(step.rate, x)
    left = [make.sub(one, make.pow(step.number(f, x), count)) for f in (beta, alpha)]
    later = make.div(make.mul(rate, make.sqrt(left[0])), left[1])
    return make.select(step.is_first(), rate, later)


@rule("Momentum", domain=TRAINING)
def momentum(node: Node, rate: Value, count: Value, *values: Value) -> Sequence[Value]:
    """Go along a running sum of the gradients, or a bit ahead of it (Nesterov)."""
    step, make = UpdateRule(node, rate, count), node.make
    alpha, beta = node.number("alpha"), node.number("beta")
    mode = node.text("mode")
    if mode not in ("standard", "nesterov"):
        node.fail(f"mode {mode!r}, expected standard or nesterov")
    updated, sums = [], []
    for x, given, before in zip(*_columns(node, values, 3), strict=True):
        grad = step.regular(x, given)
        share = make.select(step.is_first(), step.number(1, x), step.number(beta, x))
        total = make.add(step.scaled(alpha, before), make.mul(share, grad))
        way = total if mode == "standard" else make.add(grad, step.scaled(alpha, total))
        updated.append(make.sub(x, make.mul(step.scalar(rate, x), way)))
        sums.append(total)
    return [*updated, *sums]


@rule("Gradient", domain=TRAINING)
def gradient(node: Node, *inputs: Value) -> Sequence[Value]:
    """Return the derivatives of a sum with respect to some of the values it is made of."""
    names = node.texts("xs") or ()
    node.texts("zs")
    goal = node.find(node.text("y"))
    if goal is None:
        node.fail(f"there is no value {node.text('y')!r} before")
    if not isinstance(goal, SSAValue):
        node.refuse(f"the derivative of {node.text('y')!r}, which is no tensor")
    sources = list(inputs[: len(names)])
    if node.spec(goal).size != 1:
        node.refuse(f"the derivative of {node.spec(goal)}, expected one element")
    seed = node.make.filled(1, node.dtype(goal), node.shape(goal))
    try:
        found = gradients_in_block(goal, seed, sources, node.emit)
    except NotImplementedError as error:
        node.refuse(str(error))
    return [
        node.make.filled(0, node.dtype(x), node.shape(x)) if grad is None else grad
        for x, grad in zip(sources, found, strict=True)
    ]


def dropped(node: Node, x: Value, ratio: float) -> Sequence[Value]:
    """Return the operand with elements set to 0, and which are kept: the same in every run.

    The numbers are those that numpy's `RandomState` draws from the seed, as in the standard's
    own cases.
    """
    make = node.make
    shape = node.static_shape(x, "to draw which elements are dropped")
    draw = np.random.RandomState(node.integer("seed")).uniform(0, 1.0, shape)
    kept = node.constant(draw >= ratio)
    scale = make.number(1.0 / (1.0 - ratio), node.dtype(x))
    made = make.select(kept, make.mul(x, scale), make.number(0, node.dtype(x)))
    return [made, kept]
