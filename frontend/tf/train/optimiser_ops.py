"""Optimisers as ordinary code on variables: they run eagerly, in functions and in graphs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, TypedDict, Unpack

from ...graph.graph import Graph
from ..core.bridge import TfTensor
from ..core.values import convert
from ..graph.state import Variable
from ..ops.creation import zeros_like
from ..ops.math_ops import FUNCTIONS, cast, square
from ..ops.nn_ops import clip_by_global_norm, clip_by_norm, clip_by_value
from .optimiser import Gradient, Optimizer, Pair, Step, apart

sqrt = FUNCTIONS["sqrt"]


class KerasOptions(TypedDict, total=False):
    """The options that all optimisers of Keras have."""

    weight_decay: float | None
    clipnorm: float | None
    clipvalue: float | None
    global_clipnorm: float | None
    name: str | None


class GradientDescentOptimizer(Optimizer):
    """Against the gradient."""

    def __init__(
        self, learning_rate: object = 0.0, use_locking: bool = False, name: str = ""
    ) -> None:
        super().__init__(learning_rate, name, use_locking)

    def rule(self, grad: TfTensor, variable: Variable, rate: TfTensor, step: Step) -> object:
        """Subtract."""
        return variable.assign_sub(grad * rate)


class KerasRules(Optimizer):
    """What is common to Keras: gradients are clipped, weights decay before they change.

    Of slices with indices, squares are of each slice, and all rows change.
    """

    def configure(
        self,
        weight_decay: float | None = None,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        global_clipnorm: float | None = None,
        name: str | None = None,
    ) -> None:
        """Take the options that all have."""
        if sum(x is not None for x in (clipnorm, clipvalue, global_clipnorm)) > 1:
            raise ValueError("Only one of `clipnorm`, `clipvalue` and `global_clipnorm` can be set")
        self.decay_of_weights = weight_decay or 0.0
        self.clipnorm, self.clipvalue, self.global_clipnorm = clipnorm, clipvalue, global_clipnorm
        self.name = name or self.name

    def rest(self, factor: float | TfTensor, variable: Variable) -> float | TfTensor:
        """Return what a factor leaves of one: Keras takes it away before either is rounded."""
        return 1.0 - factor

    # Keras makes a property of what the graph API has as a method.
    @property
    def variables(self) -> list[Variable]:  # type: ignore[override]
        """Return what the optimiser keeps: steps, learning rate, and what is kept for variables."""
        number = isinstance(self._rate, int | float)
        rate = [self._own_rate()] if number else []
        return [self.iterations, *rate, *self.kept_variables()]

    def build(self, variables: Sequence[Variable]) -> None:
        """Make what is kept for variables."""
        for variable in variables:
            for name in self.slots:
                if self.keeps(name):
                    self.slot(variable, name)

    def minimize(self, loss: Any, var_list: Any, tape: Any = None) -> Any:  # type: ignore[override]
        """Make one step downhill."""
        if not callable(loss) and tape is not None:
            grads = tape.gradient(loss, var_list)
            return self.apply_gradients(zip(grads, var_list, strict=True))
        return self.apply_gradients(self.compute_gradients(loss, var_list))

    def apply(self, grads: Sequence[Gradient], trainable_variables: Sequence[Variable]) -> object:
        """Change variables by their gradients."""
        return self.apply_gradients(zip(grads, trainable_variables, strict=True))

    def apply_gradients(
        self,
        grads_and_vars: Iterable[Pair],
        global_step: Variable | None = None,
        name: str | None = None,
        **_: object,
    ) -> object:
        """Clip, let weights decay, then change variables by their gradients."""
        pairs = [(g, v) for g, v in grads_and_vars if g is not None]
        clipped = self.clipped([g for g, _ in pairs])
        variables = [v for _, v in pairs]
        return super().apply_gradients(zip(clipped, variables, strict=True), global_step, name)

    def applied(
        self,
        pairs: Sequence[Pair],
        global_step: Variable | None = None,
        name: str | None = None,
    ) -> object:
        """Let weights decay, then change variables by gradients."""
        if self.decay_of_weights:
            for _, variable in pairs:
                rate = self.rate(variable) * self.decay_of_weights
                variable.assign_sub(variable.read_value() * rate)
        return super().applied(pairs, global_step, name)

    def clipped(self, grads: list[Gradient]) -> list[Gradient]:
        """Return gradients limited as the options say."""
        if self.clipnorm is not None:
            return [clip_by_norm(convert(g), self.clipnorm) for g in grads]
        if self.global_clipnorm is not None:
            return list(clip_by_global_norm(list(map(convert, grads)), self.global_clipnorm)[0])
        if self.clipvalue is not None:
            low, high = -self.clipvalue, self.clipvalue
            return [clip_by_value(convert(g), low, high) for g in grads]
        return grads

    def squared(self, grad: TfTensor) -> TfTensor:
        """Return the squares of a gradient; of equal indices they add up."""
        if self.rows is None:
            return square(grad)
        return self.rows.with_values(square(self.rows.values)).to_dense()

    def touched(self, new: TfTensor, old: TfTensor) -> TfTensor:
        """Return the new values."""
        return new


class MomentumOptimizer(Optimizer):
    """With momentum, as in the graph API."""

    slots: ClassVar[dict[str, float]] = {"momentum": 0.0}

    def __init__(
        self,
        learning_rate: object,
        momentum: float = 0.9,
        use_locking: bool = False,
        name: str = "",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(learning_rate, name)
        self.momentum, self.nesterov = momentum, use_nesterov

    def rule(self, grad: TfTensor, variable: Variable, rate: TfTensor, step: Step) -> object:
        """Keep a running sum."""
        kept = self.slot(variable, "momentum")
        old, momentum = kept.read_value(), self.factor(self.momentum, variable)
        total = convert(kept.assign(self.touched(old * momentum + grad, old)))
        change = grad * rate + total * (rate * momentum) if self.nesterov else total * rate
        return variable.assign_sub(self.touched(change, zeros_like(change)))


class AdamOptimizer(Optimizer):
    """Adam, as in the graph API."""

    slots: ClassVar[dict[str, float]] = {"m": 0.0, "v": 0.0, "largest_v": 0.0}

    def __init__(
        self,
        learning_rate: object = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        use_locking: bool = False,
        name: str = "",
        amsgrad: bool = False,
    ) -> None:
        super().__init__(learning_rate, name)
        self.beta1, self.beta2 = beta1, beta2
        self.epsilon, self.amsgrad = epsilon, amsgrad
        self._powers: dict[Graph, list[Variable]] = {}

    def powers(self, first: Variable) -> list[Variable]:
        """Return the powers of both factors."""
        graph = first.graph
        assert graph is not None, "powers are those of graphs"
        if graph not in self._powers:
            with apart(graph, first):
                self._powers[graph] = [
                    Variable(
                        self.factor(beta, first),
                        trainable=False,
                        name=f"beta{i}_power",
                        dtype=first.dtype,
                    )
                    for i, beta in ((1, self.beta1), (2, self.beta2))
                ]
        return self._powers[graph]

    def rule(self, grad: TfTensor, variable: Variable, rate: TfTensor, step: Step) -> object:
        """Keep running means of the gradient and of its square."""
        m, v = self.slot(variable, "m"), self.slot(variable, "v")
        beta1, beta2 = (self.factor(beta, variable) for beta in (self.beta1, self.beta2))
        if isinstance(step, list):  # in a graph: the powers themselves
            first_power, second_power = (cast(p, variable.dtype) for p in step)
        else:
            first_power, second_power = (FUNCTIONS["pow"](beta, step) for beta in (beta1, beta2))
        scale = rate * sqrt(1.0 - second_power) / (1.0 - first_power)
        rest1, rest2 = self.rest(beta1, variable), self.rest(beta2, variable)
        first = convert(m.assign(m.read_value() * beta1 + grad * rest1))
        second = convert(v.assign(v.read_value() * beta2 + self.squared(grad) * rest2))
        if self.amsgrad:
            kept = self.slot(variable, "largest_v")
            second = convert(kept.assign(FUNCTIONS["maximum"](kept.read_value(), second)))
        epsilon = self.factor(self.epsilon, variable)
        return variable.assign_sub(first * scale / (sqrt(second) + epsilon))


class KerasAdam(KerasRules, AdamOptimizer):
    """Adam, as in Keras."""

    def __init__(
        self,
        learning_rate: object = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        amsgrad: bool = False,
        **more: Unpack[KerasOptions],
    ) -> None:
        AdamOptimizer.__init__(self, learning_rate, beta_1, beta_2, epsilon, amsgrad=amsgrad)
        self.configure(**more)

    def keeps(self, name: str) -> bool:
        """Say whether something is kept for variables under a name."""
        return name != "largest_v" or self.amsgrad


class KerasAdamW(KerasAdam):
    """Adam whose weights decay on their own."""

    def __init__(
        self, learning_rate: object = 0.001, weight_decay: float = 0.004, **more: Any
    ) -> None:
        super().__init__(learning_rate, weight_decay=weight_decay, **more)


class KerasAdamax(KerasRules):
    """Adam whose second mean is the largest size so far, which fades."""

    slots: ClassVar[dict[str, float]] = {"m": 0.0, "u": 0.0}

    def __init__(
        self,
        learning_rate: object = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        **more: Unpack[KerasOptions],
    ) -> None:
        super().__init__(learning_rate)
        self.beta1, self.beta2, self.epsilon = beta_1, beta_2, epsilon
        self.configure(**more)

    def rule(self, grad: TfTensor, variable: Variable, rate: TfTensor, step: Step) -> object:
        """Divide a running mean by the largest size."""
        m, u = self.slot(variable, "m"), self.slot(variable, "u")
        first = convert(
            m.assign(m.read_value() * self.beta1 + grad * self.rest(self.beta1, variable))
        )
        size = FUNCTIONS["maximum"](u.read_value() * self.beta2, FUNCTIONS["abs"](grad))
        largest = convert(u.assign(size))
        if isinstance(step, list):
            raise NotImplementedError("Adamax in a graph is not supported")
        scale = rate / (1.0 - FUNCTIONS["pow"](self.beta1, step))
        return variable.assign_sub(first * scale / (largest + self.epsilon))


class AdadeltaOptimizer(Optimizer):
    """Adadelta, as in the graph API."""

    slots: ClassVar[dict[str, float]] = {"accum": 0.0, "accum_update": 0.0}

    def __init__(
        self,
        learning_rate: object = 0.001,
        rho: float = 0.95,
        epsilon: float = 1e-8,
        use_locking: bool = False,
        name: str = "",
    ) -> None:
        super().__init__(learning_rate, name)
        self.rho, self.epsilon = rho, epsilon

    def rule(self, grad: TfTensor, variable: Variable, rate: TfTensor, step: Step) -> object:
        """Scale by the root of the ratio of the running means of squares."""
        squares, steps = self.slot(variable, "accum"), self.slot(variable, "accum_update")
        before, rest = steps.read_value(), self.rest(self.rho, variable)
        seen = convert(squares.assign(squares.read_value() * self.rho + self.squared(grad) * rest))
        change = sqrt(before + self.epsilon) / sqrt(seen + self.epsilon) * grad
        made = convert(steps.assign(before * self.rho + square(change) * rest))
        return variable.assign_sub(change * rate + made * 0.0)


class KerasAdadelta(KerasRules, AdadeltaOptimizer):
    """Adadelta, as in Keras."""

    def __init__(
        self,
        learning_rate: object = 0.001,
        rho: float = 0.95,
        epsilon: float = 1e-7,
        **more: Unpack[KerasOptions],
    ) -> None:
        AdadeltaOptimizer.__init__(self, learning_rate, rho, epsilon)
        self.configure(**more)


class AdagradOptimizer(Optimizer):
    """Adagrad, as in the graph API."""

    slots: ClassVar[dict[str, float]] = {"accumulator": 0.1}
    epsilon = 0.0

    def __init__(
        self,
        learning_rate: object = 0.001,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "",
        epsilon: float | None = None,
    ) -> None:
        super().__init__(learning_rate, name)
        self._start = initial_accumulator_value
        if epsilon is not None:
            self.epsilon = epsilon

    def start(self, name: str) -> float:
        """Return what the sum starts with."""
        return self._start

    def rule(self, grad: TfTensor, variable: Variable, rate: TfTensor, step: Step) -> object:
        """Divide by the root of the sum of squares."""
        kept = self.slot(variable, "accumulator")
        total = convert(kept.assign_add(self.squared(grad)))
        return variable.assign_sub(grad * rate / sqrt(total + self.epsilon))


class KerasAdagrad(KerasRules, AdagradOptimizer):
    """Adagrad, as in Keras."""

    epsilon = 1e-7

    def __init__(
        self,
        learning_rate: object = 0.001,
        initial_accumulator_value: float = 0.1,
        epsilon: float = 1e-7,
        **more: Unpack[KerasOptions],
    ) -> None:
        AdagradOptimizer.__init__(self, learning_rate, initial_accumulator_value, epsilon=epsilon)
        self.configure(**more)


class RMSPropOptimizer(Optimizer):
    """RMSProp, as in the graph API."""

    slots: ClassVar[dict[str, float]] = {"rms": 1.0, "momentum": 0.0, "mg": 0.0}
    keeps_changes: ClassVar[bool] = True
    """Whether the change is kept as momentum also where that is zero."""

    def __init__(
        self,
        learning_rate: object,
        decay: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        name: str = "",
    ) -> None:
        super().__init__(learning_rate, name)
        self.decay, self.momentum, self.epsilon = decay, momentum, epsilon
        self.centered = centered

    def keeps(self, name: str) -> bool:
        """Say whether something is kept for variables under a name."""
        return name != "mg" or self.centered

    def rule(self, grad: TfTensor, variable: Variable, rate: TfTensor, step: Step) -> object:
        """Divide by the root of the running mean of squares."""
        for name in ("rms", "mg", "momentum"):
            if self.keeps(name):
                self.slot(variable, name)
        rms = self.slot(variable, "rms")
        decay, momentum, epsilon = (
            self.factor(x, variable) for x in (self.decay, self.momentum, self.epsilon)
        )
        old = rms.read_value()
        rest = self.rest(decay, variable)
        new = old * decay + self.squared(grad) * rest
        mean = convert(rms.assign(self.touched(new, old)))
        if self.centered:
            kept = self.slot(variable, "mg")
            before = kept.read_value()
            now = before * decay + grad * rest
            mean = mean - square(convert(kept.assign(self.touched(now, before))))
        change = grad * rate / sqrt(mean + epsilon)
        if self.momentum or self.keeps_changes:
            kept = self.slot(variable, "momentum")
            before = kept.read_value()
            change = convert(kept.assign(self.touched(before * momentum + change, before)))
        return variable.assign_sub(self.touched(change, zeros_like(change)))


class KerasRMSprop(KerasRules, RMSPropOptimizer):
    """RMSProp, as in Keras."""

    slots: ClassVar[dict[str, float]] = {"rms": 0.0, "momentum": 0.0, "mg": 0.0}
    keeps_changes = False

    def __init__(
        self,
        learning_rate: object = 0.001,
        rho: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-7,
        centered: bool = False,
        **more: Unpack[KerasOptions],
    ) -> None:
        RMSPropOptimizer.__init__(self, learning_rate, rho, momentum, epsilon, centered=centered)
        self.configure(**more)

    def keeps(self, name: str) -> bool:
        """Say whether something is kept for variables under a name."""
        return bool({"momentum": self.momentum, "mg": self.centered}.get(name, True))


class KerasSGD(KerasRules):
    """Gradient descent with momentum, as in Keras."""

    slots: ClassVar[dict[str, float]] = {"momentum": 0.0}

    def __init__(
        self,
        learning_rate: object = 0.01,
        momentum: float = 0.0,
        nesterov: bool = False,
        **more: Unpack[KerasOptions],
    ) -> None:
        super().__init__(learning_rate)
        self.momentum, self.nesterov = momentum, nesterov
        self.configure(**more)

    def keeps(self, name: str) -> bool:
        """Say whether something is kept for variables under a name."""
        return bool(self.momentum)

    def rule(self, grad: TfTensor, variable: Variable, rate: TfTensor, step: Step) -> object:
        """Keep a running step."""
        if not self.momentum:
            return variable.assign_sub(grad * rate)
        kept = self.slot(variable, "momentum")
        total = convert(kept.assign(kept.read_value() * self.momentum - grad * rate))
        return variable.assign_add(total * self.momentum - grad * rate if self.nesterov else total)
