"""Operations that give their operands back, and say something about gradients.

None of them is left in compiled code: they decompose into their operands, or are dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from ..families import FLOATS
from ..op import Array, Call, Op, register
from ..samples import Sample
from ..types.dtypes import bool_, c64, i32
from ..types.tensor import TensorSpec

GRADIENTS: dict[str, Callable[..., Sequence[Any]]] = {}
"""The rules that `gv.with_gradient` names, in this process only."""


class Same(Op):
    """The operand itself."""

    INDICES: ClassVar = 0

    SAMPLES: ClassVar[tuple[Sample, ...]] = (
        Sample(((2, 3),), {}, (*FLOATS, i32, bool_, c64)),
        Sample(((),)),
        Sample(((0, 3),)),
    )

    @classmethod
    def infer(cls, x: TensorSpec) -> Sequence[TensorSpec]:
        """Return the operand's spec."""
        return (x,)

    @classmethod
    def evaluate(cls, x: Array) -> Sequence[Array]:
        """Return the same memory."""
        return (x[...],)

    @classmethod
    def decompose(cls, call: Call) -> Any:
        """Return the operand."""
        return call.operands[0]


@register
class Identity(Same):
    """The operand itself, under another name."""

    name = "gv.identity"
    OF_SIZES: ClassVar = True

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Pass the gradient on."""
        return (grads[0],)


@register
class StopGradient(Same):
    """The operand itself, through which no gradient passes."""

    name = "gv.stop_gradient"
    SAMPLES: ClassVar[tuple[Sample, ...]] = tuple(
        Sample(s.shapes, s.attributes, s.dtypes, differentiable=False) for s in Same.SAMPLES
    )

    @classmethod
    def smooth(cls, count: int, attributes: Mapping[str, Any]) -> Sequence[int]:
        """Return none."""
        return ()

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Give nothing."""
        return (None,)


@register
class Instead(Op):
    """The second operand, whose gradient is that of the first: what a variable has come to be.

    What reads a variable behind a change depends on the variable, and not on what it was given.
    """

    name = "gv.instead"
    INDICES: ClassVar = 0
    SAMPLES: ClassVar[tuple[Sample, ...]] = (
        Sample(((2, 3), (2, 3)), {}, (*FLOATS, i32, bool_, c64), differentiable=False),
        Sample(((), ()), differentiable=False),
        Sample(((0, 3), (0, 3)), differentiable=False),
    )

    @classmethod
    def infer(cls, old: TensorSpec, value: TensorSpec) -> Sequence[TensorSpec]:
        """Return the spec of both."""
        if old != value:
            raise TypeError(f"a value of {value} instead of one of {old}")
        return (value,)

    @classmethod
    def evaluate(cls, old: Array, value: Array) -> Sequence[Array]:
        """Return the same memory as the second operand."""
        return (value[...],)

    @classmethod
    def decompose(cls, call: Call) -> Any:
        """Return the second operand."""
        return call.operands[1]

    @classmethod
    def smooth(cls, count: int, attributes: Mapping[str, Any]) -> Sequence[int]:
        """Return the first operand."""
        return (0,)

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Pass the gradient on to the first operand."""
        return (grads[0], None)


@register
class Again(Op):
    """The first operand itself, for what is to be computed again once the second one is there.

    So what is computed from it stays apart from what was computed from the operand before, and
    this need not be kept. It lasts till equal operations are merged no more (`forget-order`).
    """

    name = "gv.again"
    INDICES: ClassVar = 0
    SAMPLES: ClassVar[tuple[Sample, ...]] = (
        Sample(((2, 3), (4,)), {}, (*FLOATS, i32, bool_, c64)),
        Sample(((), ())),
        Sample(((0, 3), (2,))),
    )

    @classmethod
    def infer(cls, x: TensorSpec, behind: TensorSpec) -> Sequence[TensorSpec]:
        """Return the first operand's spec."""
        return (x,)

    @classmethod
    def evaluate(cls, x: Array, behind: Array) -> Sequence[Array]:
        """Return the same memory."""
        return (x[...],)

    @classmethod
    def smooth(cls, count: int, attributes: Mapping[str, Any]) -> Sequence[int]:
        """Return the first operand."""
        return (0,)

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Pass the gradient on to the first operand."""
        return (grads[0], None)


@register
class WithGradient(Op):
    """The first operands, as many as `results`; a rule of this process gives all gradients.

    The rule gets the `Call` and the gradients of the results, as `Op.gradient` does.
    """

    name = "gv.with_gradient"
    PARTWISE: ClassVar = True
    SAMPLES: ClassVar = (
        Sample(
            ((2, 3), (4,), ()),
            {"results": 2, "rule": "f"},
            (*FLOATS, i32),
            differentiable=False,
        ),
    )

    @classmethod
    def infer(cls, *xs: TensorSpec, results: int, rule: str) -> Sequence[TensorSpec]:
        """Return the specs of the first operands."""
        if not 0 < results <= len(xs):
            raise TypeError(f"{results} results of {len(xs)} operands, expected 1 to {len(xs)}")
        return xs[:results]

    @classmethod
    def evaluate(cls, *xs: Array, results: int, rule: str) -> Sequence[Array]:
        """Return the same memory."""
        return tuple(x[...] for x in xs[:results])

    @classmethod
    def decompose(cls, call: Call) -> Any:
        """Return the operands."""
        return tuple(call.operands[: call.attributes["results"]])

    @classmethod
    def smooth(cls, count: int, attributes: Mapping[str, Any]) -> Sequence[int]:
        """Return the operands behind the results, which the rule is of."""
        return range(attributes["results"], count)

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Ask the rule."""
        name = call.attributes["rule"]
        if name not in GRADIENTS:
            raise NotImplementedError(f"{cls.name}: rule {name!r} is not of this process")
        return GRADIENTS[name](call, *grads)
