"""Go backward through a list of uses: gradients of tapes and of graphs.

The rules are those of the operations (`Op.gradient`), carried out by `apply`: at once on
computed values, into the present graph on symbolic ones. What a recorder outside sees of that
can be differentiated again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np

from ...errors import GraphError
from ...ir.compose.maker import Maker
from ...ir.families import Elementwise
from ...ir.gradient.tape import Composite
from ...ir.gradient.walk import walk_back
from ...ir.op import REGISTRY, Call, Op
from ..values.context import STATE, AsReceived, Rule, Use, record
from .remembered import remembered
from .tensor import Tensor, apply

_KINDS = "fc"
"""The kinds of element types that have gradients."""


class GradientError(GraphError, LookupError):
    """An operation between a target and a source has no gradient.

    Give it one by `gravure.custom_gradient` or `gravure.gradient_override`, or take it off the
    path by `gravure.stop_gradient`.
    """

    code = "GV2400"


def key_of(value: Any) -> object:
    """Return what a tensor or a variable is known by; assigning to elements changes it."""
    try:
        return value._key
    except AttributeError:
        value._key = object()
        return value._key


def is_smooth(value: Any) -> bool:
    """Say whether a value is of a type that has gradients."""
    return bool(value.dtype.kind in _KINDS)


def frozen(use: Use) -> Use:
    """Return a use whose tensors stay as they are when the user's are assigned to."""
    return Use(
        tuple(map(_frozen, use.operands)),
        tuple(map(_frozen, use.results)),
        use.op,
        use.attributes,
        use.backward,
        use.rule,
        use.name,
        use.way,
    )


def _frozen(value: object) -> object:
    if value.__class__ is not Tensor:
        key_of(value)
        return value
    made = Tensor(value._array)
    made._key = key_of(value)
    return made


class Slices(ABC):
    """A gradient that is zero but in some rows: these, with their indices."""

    @abstractmethod
    def to_dense(self) -> Tensor:
        """Return the whole tensor."""

    @abstractmethod
    def joined(self, other: Self) -> Self:
        """Return the rows of both."""


Sparse = Callable[[Use, Sequence[object]], Sequence[object] | None]
"""Gives the gradients of a use of which some are slices with indices, or None."""


def backward(
    uses: Sequence[Use],
    targets: Iterable[tuple[object, object]],
    sources: Sequence[object],
    sparse: Sparse | None = None,
) -> list[object]:
    """Return the gradient of each source, None where the targets do not depend on it.

    `targets` gives the gradient of each target by its key.
    """
    return walk_back(Uses(sparse), uses, targets, [key_of(x) for x in sources])


@dataclass(frozen=True)
class Uses:
    """Uses as nodes of the walk back."""

    SUMS_AT_ONCE: ClassVar[bool] = True
    sparse: Sparse | None = None

    def operands(self, use: Use) -> Sequence[object]:
        """Return the keys of the operands."""
        return [key_of(x) for x in use.operands]

    def results(self, use: Use) -> Sequence[object]:
        """Return the keys of the results."""
        return [key_of(r) for r in use.results]

    def smooth(self, use: Use) -> Sequence[object]:
        """Return the keys of the results that have gradients."""
        return [key_of(r) for r in use.results if is_smooth(r)]

    def gradients(
        self, use: Use, received: Sequence[object], wanted: Sequence[bool]
    ) -> Sequence[object]:
        """Return the gradient of each operand by the rule of the use."""
        return _gradients(use, received, self.sparse, wanted)

    def added(self, a: object, b: object) -> object:
        """Return the sum of two gradients."""
        return added(a, b)


def dense(grad: object) -> Any:
    """Return a gradient as one tensor, if it is slices with indices."""
    return grad.to_dense() if isinstance(grad, Slices) else grad


def added(a: object, b: object) -> object:
    """Return the sum of two gradients; slices with indices are joined."""
    if isinstance(a, Slices) and isinstance(b, Slices):
        return a.joined(b)
    return dense(a) + dense(b)


def _gradients(
    use: Use, received: Sequence[object], sparse: Sparse | None, wanted: Sequence[bool]
) -> Sequence[object]:
    """Return the gradient of each operand of a use, at least of those that are wanted."""
    if use.name != "ReadVariableOp":
        received = list(map(dense, received))
    found = None if sparse is None else sparse(use, received)
    if found is not None:
        return found
    if isinstance(use.backward, AsReceived):
        return use.backward(*received)
    if use.way is not None:
        return _along(use, received, wanted)
    grads = [
        filled_like(r, 0) if g is None and is_smooth(r) else g
        for r, g in zip(use.results, received, strict=True)
    ]
    if use.backward is not None:
        return use.backward(*grads)
    if use.op is None:
        raise GradientError(f"{use.name} has no gradient")
    try:
        if (known := _remembered_way(use, wanted, grads)) is not None:
            found = known(use.operands, use.results, grads)
        else:
            call = call_of(use)
            rule = use.op.gradient if use.rule is None else use.rule
            found = rule(call, *grads)
    except NotImplementedError as error:
        raise GradientError(str(error)) from None
    if use.op.STEPS and STATE.recorders and STATE.context is None:
        of = use.operands if use.op.STEPS == "operands" else use.results
        return [_in_steps(grad, of[0]) for grad in found]
    return found


def _in_steps(grad: object, x: object) -> object:
    """Return a gradient that recorders see depend on a value, with slope 0, as TensorFlow's."""
    if not isinstance(grad, Tensor):
        return grad
    made = grad.alias()
    record("InSteps", [grad, x], [made], lambda g: (g, filled_like(x, 0)))
    return made


def _along(use: Use, grads: Sequence[object], wanted: Sequence[bool]) -> Sequence[object]:
    """Return the gradients that a use's own way gives."""
    assert use.way is not None, "a use with a way"
    try:
        return use.way(use.operands, use.results, grads, wanted)
    except NotImplementedError as error:
        raise GradientError(str(error)) from None


MOST_WAYS = 256
"""Ways back through compositions, by their attributes, that are remembered."""
MUCH = 1 << 14
"""So many elements."""
Way = Callable[[Sequence[object], Sequence[object], Sequence[object]], Sequence[object]]


def _remembered_way(use: Use, wanted: Sequence[bool], grads: Sequence[object]) -> Way | None:
    """Return the way back through what is many small steps on computed tensors.

    That is a composition, or a formula of each element: of a gradient that is one number, repeated
    without being written down so often, numpy takes what it is.
    """
    op = use.op
    if use.rule is not None or op is None or not issubclass(op, Composite | Elementwise):
        return None
    rule, is_formula = op.gradient.__func__, issubclass(op, Elementwise)  # type: ignore[attr-defined]
    family = Elementwise if is_formula else Composite
    own = family.gradient.__func__  # type: ignore[attr-defined]
    has_steps = rule is own or (issubclass(op, Composite) and op.STEPS_BACK)
    if not has_steps or (is_formula and any(map(_repeats, grads))):
        return None
    attributes = tuple((use.attributes or {}).items())
    try:
        hash(attributes)
    except TypeError:  # an attribute that has no hash: each step is taken anew
        return None
    return _way_back(op, attributes, tuple(wanted))


def _repeats(grad: object) -> bool:
    """Say whether a gradient is many elements that are one in memory."""
    if not isinstance(grad, Tensor) or not grad.direct:
        return False
    array = grad._array
    return bool(array.size >= MUCH and 0 in array.strides)


@lru_cache(maxsize=MOST_WAYS)
def _way_back(
    op: type[Op], attributes: Sequence[tuple[str, object]], wanted: Sequence[bool]
) -> Way:
    """Return the way back through an operation with attributes to the operands that are wanted."""

    @remembered
    def way(
        operands: Sequence[object], results: Sequence[object], grads: Sequence[object]
    ) -> Sequence[object]:
        use = Use(tuple(operands), tuple(results), op, dict(attributes), None, None, op.name)
        found = op.gradient(call_of(use), *grads)
        return [x if asked else None for x, asked in zip(found, wanted, strict=True)]

    return way


def call_of(use: Use) -> Call:
    """Return a use as gradient rules want it."""
    assert use.op is not None, f"{use.name} is no operation"
    return Call(
        use.op,
        use.operands,
        use.results,
        use.op.complete(use.attributes or {}),
        [x.spec for x in use.operands],
        apply,
        tuple(r.spec for r in use.results),
    )


def filled_like(x: Any, value: int) -> Any:
    """Return zeros or ones of the type and shape of a tensor."""
    spec = x.spec
    if spec.is_static and STATE.context is None and x.eager:
        return Tensor(np.full(spec.static_shape, value, spec.dtype.numpy))
    if spec.shape is None or not (spec.is_static or x.eager):
        # The run knows the sizes, of which a broadcast may have made what nothing here says.
        return (STATE.context or x.graph).filled_like(x, value)
    made: Tensor = Maker(apply).filled(value, spec.dtype, spec.dims)
    return made


@contextmanager
def gradient_override(rules: Mapping[str, Rule]) -> Iterator[None]:
    """Give operations that are used inside other gradients, by name: `{"gv.exp": rule}`.

    A rule gets the `Call` and the gradients of the results, and returns the operands'.
    """
    unknown = [name for name in rules if full_name(name) not in REGISTRY]
    if unknown:
        raise GradientError(f"there is no operation {unknown[0]!r}")
    before = STATE.rules
    STATE.rules = {**(before or {}), **{full_name(n): rule for n, rule in rules.items()}}
    try:
        yield
    finally:
        STATE.rules = before


def full_name(name: str) -> str:
    """Return the name of an operation with its dialect."""
    return name if "." in name else f"gv.{name}"
