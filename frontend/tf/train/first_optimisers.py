"""Optimisers of the graph API that keep weights small: Ftrl, proximal ones, dual averaging."""

from __future__ import annotations

from typing import ClassVar

from ..core.bridge import TfTensor
from ..core.values import convert
from ..graph.state import Variable
from ..ops.array_ops import where
from ..ops.creation import zeros_like
from ..ops.math_ops import FUNCTIONS, cast, square
from .optimiser import Optimizer, Step

absolute, maximum, power = FUNCTIONS["abs"], FUNCTIONS["maximum"], FUNCTIONS["pow"]
sign, sqrt = FUNCTIONS["sign"], FUNCTIONS["sqrt"]


class FtrlOptimizer(Optimizer):
    """Follow the regularised leader: weights below a threshold are zero."""

    slots: ClassVar[dict[str, float]] = {"accum": 0.1, "linear": 0.0}

    def __init__(
        self,
        learning_rate: object,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "Ftrl",
        accum_name: str | None = None,
        linear_name: str | None = None,
        l2_shrinkage_regularization_strength: float = 0.0,
        beta: float | None = None,
    ) -> None:
        checks = (
            ("initial_accumulator_value", initial_accumulator_value),
            ("l1_regularization_strength", l1_regularization_strength),
            ("l2_regularization_strength", l2_regularization_strength),
            ("l2_shrinkage_regularization_strength", l2_shrinkage_regularization_strength),
        )
        for label, value in checks:
            if value < 0.0:
                raise ValueError(f"{label} {value} needs to be positive or zero")
        if learning_rate_power > 0.0:
            raise ValueError(
                f"learning_rate_power {learning_rate_power} needs to be negative or zero"
            )
        super().__init__(learning_rate, name, use_locking)
        self._power, self._first = learning_rate_power, initial_accumulator_value
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength
        self._shrinkage, self._beta = l2_shrinkage_regularization_strength, beta or 0.0
        self._labels = {"accum": accum_name or name, "linear": linear_name or name}

    def start(self, name: str) -> float:
        """Return what a slot starts with."""
        return self._first if name == "accum" else 0.0

    def label(self, name: str) -> str:
        """Return what a slot is called behind its variable."""
        return self._labels[name]

    def rule(self, grad: TfTensor, variable: Variable, rate: TfTensor, step: Step) -> object:
        """Choose the weights that the sums of gradients and their squares ask for."""
        accum, linear = self.slot(variable, "accum"), self.slot(variable, "linear")
        old, before, value = accum.read_value(), linear.read_value(), variable.read_value()
        shrunk = grad + value * (2.0 * self._shrinkage) if self._shrinkage else grad
        new = old + self.squared(grad)
        grown = power(new, -self._power)
        sigma = (grown - power(old, -self._power)) / rate
        total = before + (shrunk - sigma * value)  # (it shows in f16)
        l2 = self._l2 + self._beta / (rate * 2.0)
        quadratic = grown / rate + l2 * 2.0
        made = (sign(total) * self._l1 - total) / quadratic
        made = where(absolute(total) > self._l1, made, zeros_like(made))
        parts = [
            accum.assign(self.touched(new, old), read_value=False),
            linear.assign(self.touched(total, before), read_value=False),
        ]
        return self.together(variable, self.touched(made, value), parts)


class ProximalGradientDescentOptimizer(Optimizer):
    """Against the gradient, then towards zero as L1 and L2 ask."""

    def __init__(
        self,
        learning_rate: object,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "ProximalGradientDescent",
    ) -> None:
        super().__init__(learning_rate, name, use_locking)
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength

    def rule(self, grad: TfTensor, variable: Variable, rate: TfTensor, step: Step) -> object:
        """Step, then shrink."""
        value = variable.read_value()
        made = shrunk(value - grad * rate, rate, self._l1, self._l2)
        return variable.assign(self.touched(made, value))


def shrunk(value: TfTensor, rate: TfTensor, l1: float, l2: float) -> TfTensor:
    """Return weights nearer to zero."""
    if l1 > 0.0:
        value = sign(value) * maximum(absolute(value) - rate * l1, 0.0)
    return value / (rate * l2 + 1.0)


class ProximalAdagradOptimizer(Optimizer):
    """Adagrad, then towards zero as L1 and L2 ask."""

    slots: ClassVar[dict[str, float]] = {"accumulator": 0.1}

    def __init__(
        self,
        learning_rate: object,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "ProximalAdagrad",
    ) -> None:
        if initial_accumulator_value <= 0.0:
            raise ValueError(
                f"initial_accumulator_value must be positive: {initial_accumulator_value}"
            )
        super().__init__(learning_rate, name, use_locking)
        self._first = initial_accumulator_value
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength

    def start(self, name: str) -> float:
        """Return what the sum starts with."""
        return self._first

    def rule(self, grad: TfTensor, variable: Variable, rate: TfTensor, step: Step) -> object:
        """Step by the root of the sum of squares, then shrink."""
        kept = self.slot(variable, "accumulator")
        total = convert(kept.assign_add(self.squared(grad)))
        own = rate / sqrt(total)
        value = variable.read_value()
        made = shrunk(value - grad * own, own, self._l1, self._l2)
        return variable.assign(self.touched(made, value))


class AdagradDAOptimizer(Optimizer):
    """Adagrad by dual averaging: weights follow from sums of gradients since the start."""

    slots: ClassVar[dict[str, float]] = {
        "gradient_accumulator": 0.0,
        "gradient_squared_accumulator": 0.1,
    }

    def __init__(
        self,
        learning_rate: object,
        global_step: Variable,
        initial_gradient_squared_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "AdagradDA",
    ) -> None:
        if initial_gradient_squared_accumulator_value <= 0.0:
            raise ValueError("initial_gradient_squared_accumulator_value must be positive.")
        super().__init__(learning_rate, name, use_locking)
        self._global_step, self._first = global_step, initial_gradient_squared_accumulator_value
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength

    def start(self, name: str) -> float:
        """Return what a slot starts with."""
        return self._first if name == "gradient_squared_accumulator" else 0.0

    def rule(self, grad: TfTensor, variable: Variable, rate: TfTensor, step: Step) -> object:
        """Choose the weights that the sums ask for."""
        sums, squares = (self.slot(variable, name) for name in self.slots)
        old = sums.read_value(), squares.read_value(), variable.read_value()
        total, seen = old[0] + grad, old[1] + square(grad)
        count = cast(convert(self._global_step), variable.dtype) + 1.0
        kept = total
        if self._l1 > 0.0:
            kept = sign(total) * maximum(absolute(total) - count * self._l1, 0.0)
        made = -(rate * kept) / (count * rate * self._l2 + sqrt(seen))
        parts = [
            sums.assign(self.touched(total, old[0]), read_value=False),
            squares.assign(self.touched(seen, old[1]), read_value=False),
        ]
        return self.together(variable, self.touched(made, old[2]), parts)
