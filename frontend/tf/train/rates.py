"""Learning rates that change with the steps: Keras' schedules, and the same as functions of v1."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import TypeAlias

from ...values.context import STATE
from ..core.bridge import TfTensor
from ..core.values import InGraph, convert, graph_of
from ..ops.array_ops import where
from ..ops.math_ops import FUNCTIONS, cast
from ..ops.random_ops import normal

floor, power, minimum = FUNCTIONS["floor"], FUNCTIONS["pow"], FUNCTIONS["minimum"]


Number: TypeAlias = float | TfTensor
Rate: TypeAlias = TfTensor | Callable[[], TfTensor]
"""The rate at a step, eagerly what gives it anew at each call."""


class Schedule:
    """A learning rate as a function of the number of the step."""

    def __call__(self, step: object) -> TfTensor:
        """Return the rate at a step, a float32."""
        with InGraph(graph_of([step])):
            return self.at(cast(convert(step), "float32"))

    def at(self, step: TfTensor) -> TfTensor:
        """Return the rate at a step that is a float32."""
        raise NotImplementedError


class ExponentialDecay(Schedule):
    """The rate times a factor to the power of the steps."""

    def __init__(
        self,
        initial_learning_rate: Number,
        decay_steps: Number,
        decay_rate: Number,
        staircase: bool = False,
        name: str | None = None,
    ) -> None:
        self.first, self.steps, self.factor = initial_learning_rate, decay_steps, decay_rate
        self.staircase = staircase

    def part(self, step: TfTensor) -> TfTensor:
        """Return how often the decay has been gone through."""
        passed = step / self.steps
        return floor(passed) if self.staircase else passed

    def at(self, step: TfTensor) -> TfTensor:
        """Return the rate."""
        return power(convert(self.factor, "float32"), self.part(step)) * self.first


class NaturalExpDecay(ExponentialDecay):
    """The rate times e to the power of minus the steps times a factor."""

    def at(self, step: TfTensor) -> TfTensor:
        """Return the rate."""
        return FUNCTIONS["exp"](self.part(step) * -self.factor) * self.first


class InverseTimeDecay(ExponentialDecay):
    """The rate divided by one plus the steps times a factor."""

    def at(self, step: TfTensor) -> TfTensor:
        """Return the rate."""
        return self.first / (self.part(step) * self.factor + 1.0)


class PiecewiseConstantDecay(Schedule):
    """One rate up to each boundary, and one behind the last."""

    def __init__(
        self, boundaries: Sequence[Number], values: Sequence[Number], name: str | None = None
    ) -> None:
        if len(boundaries) != len(values) - 1:
            raise ValueError(
                "The length of boundaries should be 1 less than the length of values, found "
                f"{len(boundaries)} and {len(values)}"
            )
        self.boundaries, self.values = list(boundaries), list(values)

    def at(self, step: TfTensor) -> TfTensor:
        """Return the rate."""
        rate = convert(self.values[-1], "float32")
        pairs = list(zip(self.boundaries, self.values, strict=False))
        for boundary, value in reversed(pairs):
            rate = where(step <= float(boundary), convert(value, "float32"), rate)
        return rate


class PolynomialDecay(Schedule):
    """A polynomial from the first rate to the last."""

    def __init__(
        self,
        initial_learning_rate: Number,
        decay_steps: Number,
        end_learning_rate: Number = 0.0001,
        power: Number = 1.0,
        cycle: bool = False,
        name: str | None = None,
    ) -> None:
        self.first, self.steps, self.last = initial_learning_rate, decay_steps, end_learning_rate
        self.power, self.cycle = power, cycle

    def at(self, step: TfTensor) -> TfTensor:
        """Return the rate."""
        span = convert(self.steps, "float32")
        if self.cycle:
            rounds = FUNCTIONS["ceil"](step / span)
            span = span * where(FUNCTIONS["equal"](step, 0.0), 1.0, rounds)
        else:
            step = minimum(step, span)
        left = power(1.0 - step / span, convert(self.power, "float32"))
        return left * (self.first - self.last) + self.last


class CosineDecay(Schedule):
    """Half a wave of a cosine from the first rate to a part of it."""

    def __init__(
        self,
        initial_learning_rate: Number,
        decay_steps: Number,
        alpha: Number = 0.0,
        name: str | None = None,
        warmup_target: Number | None = None,
        warmup_steps: Number = 0,
    ) -> None:
        self.first, self.steps, self.alpha = initial_learning_rate, decay_steps, alpha
        self.target, self.warmup = warmup_target, warmup_steps

    def at(self, step: TfTensor) -> TfTensor:
        """Return the rate."""
        if self.target is None:
            return self._wave(step, self.first)
        rising = self.first + step / float(self.warmup) * (self.target - self.first)
        falling = self._wave(step - float(self.warmup), self.target)
        return where(step < float(self.warmup), rising, falling)

    def _wave(self, step: TfTensor, first: Number) -> TfTensor:
        passed = minimum(step, float(self.steps)) / self.steps
        wave = (FUNCTIONS["cos"](passed * math.pi) + 1.0) * 0.5
        return (wave * (1.0 - self.alpha) + self.alpha) * first


class CosineDecayRestarts(Schedule):
    """Half waves of a cosine, one after the other, each longer and lower than the one before."""

    def __init__(
        self,
        initial_learning_rate: Number,
        first_decay_steps: Number,
        t_mul: float = 2.0,
        m_mul: float = 1.0,
        alpha: Number = 0.0,
        name: str | None = None,
    ) -> None:
        self.first, self.steps, self.alpha = initial_learning_rate, first_decay_steps, alpha
        self.longer, self.lower = t_mul, m_mul

    def at(self, step: TfTensor) -> TfTensor:
        """Return the rate."""
        passed, floor = step / float(self.steps), FUNCTIONS["floor"]
        if self.longer == 1.0:
            number = floor(passed)
            passed = passed - number
        else:
            grown = 1.0 - passed * (1.0 - self.longer)
            number = floor(FUNCTIONS["log"](grown) / math.log(self.longer))
            scale = power(convert(self.longer, "float32"), number)
            passed = (passed - (1.0 - scale) / (1.0 - self.longer)) / scale
        height = power(convert(self.lower, "float32"), number) * 0.5
        wave = (FUNCTIONS["cos"](passed * math.pi) + 1.0) * height
        return (wave * (1.0 - self.alpha) + self.alpha) * self.first


class LinearCosineDecay(Schedule):
    """Waves of a cosine under a line that falls; `noise`: its variance at first, and its decay."""

    def __init__(
        self,
        initial_learning_rate: Number,
        decay_steps: Number,
        num_periods: float = 0.5,
        alpha: float = 0.0,
        beta: float = 0.001,
        name: str | None = None,
        noise: tuple[float, float] | None = None,
    ) -> None:
        self.first, self.steps, self.periods = initial_learning_rate, decay_steps, num_periods
        self.alpha, self.beta, self.noise = alpha, beta, noise

    def at(self, step: TfTensor) -> TfTensor:
        """Return the rate."""
        steps = cast(convert(self.steps), "float32")
        step = minimum(step, steps)
        line, passed = (steps - step) / steps, step / steps
        if self.noise is not None:
            first, decay = self.noise
            spread = FUNCTIONS["sqrt"](first / power(step + 1.0, convert(decay, "float32")))
            line = line + normal([], stddev=spread)
        angle = passed * (2.0 * self.periods) * math.pi
        wave = (FUNCTIONS["cos"](angle) + 1.0) * 0.5
        return ((line + self.alpha) * wave + self.beta) * self.first


def noisy_linear_cosine_decay(
    learning_rate: object,
    global_step: object,
    decay_steps: Number,
    initial_variance: float = 1.0,
    variance_decay: float = 0.55,
    num_periods: float = 0.5,
    alpha: float = 0.0,
    beta: float = 0.001,
    name: str | None = None,
) -> Rate:
    """Return the rate at a step: waves under a line that falls, with noise that fades."""
    noise = initial_variance, variance_decay
    first: Number = learning_rate  # type: ignore[assignment]
    made = LinearCosineDecay(first, decay_steps, num_periods, alpha, beta, noise=noise)
    return _at(made, global_step)


def _v1(schedule: Callable[..., Schedule]) -> Callable[..., Rate]:
    def decay(learning_rate: object, global_step: object, *args: object, **options: object) -> Rate:
        """Return the rate at a step; eagerly a function that gives it anew at each call."""
        return _at(schedule(learning_rate, *args, **options), global_step)

    return decay


def _at(made: Schedule, step: object) -> Rate:
    return (lambda: made(step)) if STATE.context is None else made(step)


def piecewise_constant(
    x: Sequence[object],
    boundaries: Sequence[Number],
    values: Sequence[Number],
    name: str | None = None,
) -> Rate:
    """Return the rate of the stretch that a step is in."""
    return _at(PiecewiseConstantDecay(boundaries, values), x)


V1 = {
    "exponential_decay": _v1(ExponentialDecay),
    "natural_exp_decay": _v1(NaturalExpDecay),
    "inverse_time_decay": _v1(InverseTimeDecay),
    "polynomial_decay": _v1(PolynomialDecay),
    "cosine_decay": _v1(CosineDecay),
    "cosine_decay_restarts": _v1(CosineDecayRestarts),
    "linear_cosine_decay": _v1(LinearCosineDecay),
    "noisy_linear_cosine_decay": noisy_linear_cosine_decay,
    "piecewise_constant": piecewise_constant,
    "piecewise_constant_decay": piecewise_constant,
}
SCHEDULES = SimpleNamespace(
    LearningRateSchedule=Schedule,
    ExponentialDecay=ExponentialDecay,
    InverseTimeDecay=InverseTimeDecay,
    PiecewiseConstantDecay=PiecewiseConstantDecay,
    PolynomialDecay=PolynomialDecay,
    CosineDecay=CosineDecay,
    CosineDecayRestarts=CosineDecayRestarts,
)
