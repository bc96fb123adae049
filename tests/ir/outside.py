"""Operations that are not gravure's own: one of each way to say how an operation is computed.

A plugin. Nothing in gravure knows their names; all that is known of them stands in their classes.
"""

GRAVURE_API = 1

from collections.abc import Sequence  # noqa: E402
from math import prod  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402
from xdsl.ir import SSAValue  # noqa: E402

from gravure.extend import (  # noqa: E402
    Affine,
    Array,
    Binary,
    Call,
    Indices,
    Iteration,
    Maker,
    Op,
    Reading,
    Sample,
    Scaling,
    TensorSpec,
    Term,
    Unary,
    Work,
    dim,
    number,
    register_operation,
    spec_of,
)


@register_operation
class Length(Binary):
    """The length of the vector of two numbers, by a formula."""

    name = "outside.length"
    COMMUTATIVE = True
    SCALES = Scaling.POSITIVE
    SAMPLES = tuple(
        Sample(pair, low=0.5)
        for pair in (((3, 17), (3, 17)), ((2, 1, 5), (3, 1)), ((), (4,)), ((0, 2), (1, 2)))
    )

    @classmethod
    def formula(cls, a: Term, b: Term) -> Term:
        """Take the root of the squares."""
        return (a * a + b * b).apply("sqrt")

    @classmethod
    def backward(cls, grad: Term, y: Term, a: Term, b: Term) -> Sequence[Term | None]:
        """Give each its part of the length."""
        return (grad * a / y, grad * b / y)


@register_operation
class Held(Unary):
    """What lies between -1 and 1, by a formula that changes nothing the second time."""

    name = "outside.held"
    IDEMPOTENT = True
    SAMPLES = (Sample(((2, 19),), low=-0.9, high=0.9), Sample(((),), low=-0.9, high=0.9))

    @classmethod
    def formula(cls, x: Term) -> Term:
        """Cut at both ends."""
        return x.apply("maximum", -1.0).apply("minimum", 1.0)

    @classmethod
    def backward(cls, grad: Term, y: Term, x: Term) -> Sequence[Term | None]:
        """Give the gradient where nothing was cut."""
        return (y.equals(x).where(grad, 0.0),)


@register_operation
class Swapped(Op):
    """The last two axes in the other order, by the index that an element comes from."""

    name = "outside.swapped"
    BIJECTIVE = True
    SAMPLES = (Sample(((3, 17),)), Sample(((2, 5, 3),)), Sample(((0, 3),)))

    @classmethod
    def infer(cls, x: TensorSpec) -> Sequence[TensorSpec]:
        """Return the shape with two axes turned."""
        if x.rank < 2:
            raise TypeError(f"rank {x.rank}, expected at least 2")
        *rest, rows, columns = x.dims
        return (x.with_shape((*rest, columns, rows)),)

    @classmethod
    def evaluate(cls, x: Array) -> Sequence[Array]:
        """Swap."""
        return (np.ascontiguousarray(np.swapaxes(x, -1, -2)),)

    @classmethod
    def source_index(
        cls, index: Indices, source: TensorSpec, result: TensorSpec, **attributes: Any
    ) -> Indices:
        """Swap the index."""
        return (*index[:-2], index[-1], index[-2])

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Swap back."""
        return (call.emit(Swapped, grads[0]),)


@register_operation
class Mirrored(Op):
    """Each element and the one on the other side added, by what an element reads."""

    name = "outside.mirrored"
    SAMPLES = (Sample(((3, 18),)), Sample(((7,),)), Sample(((2, 0),)))

    @classmethod
    def infer(cls, x: TensorSpec) -> Sequence[TensorSpec]:
        """Return the operand's spec."""
        if not x.rank:
            raise TypeError("rank 0, expected an axis")
        return (x,)

    @classmethod
    def evaluate(cls, x: Array) -> Sequence[Array]:
        """Add."""
        return (x + x[..., ::-1],)

    @classmethod
    def element_at(
        cls, reading: Reading, index: Indices, *operands: SSAValue, **attributes: Any
    ) -> Any:
        """Read both."""
        (x,) = operands
        last = spec_of(x.type).dims[-1] - 1
        across = (*index[:-1], number(last) + index[-1] * -1)
        return reading.math.add(reading.element(x, index), reading.element(x, across))

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Do the same."""
        return (call.emit(Mirrored, grads[0]),)


@register_operation
class Energy(Op):
    """The root of the sum of the squares along the last axis, by a loop nest."""

    name = "outside.energy"
    SAMPLES = (Sample(((3, 17),), low=0.5), Sample(((2, 5, 3),), low=0.5), Sample(((0, 3),)))

    @classmethod
    def infer(cls, x: TensorSpec) -> Sequence[TensorSpec]:
        """Return the shape without the last axis."""
        if not x.rank or not x.dtype.is_float:
            raise TypeError(f"operand {x}, expected floats along an axis")
        return (x.with_shape(x.dims[:-1]),)

    @classmethod
    def evaluate(cls, x: Array) -> Sequence[Array]:
        """Add in f64."""
        made = np.sqrt(np.square(x.astype(np.float64)).sum(-1))
        return (np.asarray(made.astype(x.dtype)),)

    @classmethod
    def iteration(cls, x: TensorSpec) -> Iteration:
        """Loop over the rows, and inside over their elements."""
        return Iteration(
            parallel=x.dims[:-1],
            reduce=x.dims[-1:],
            reads=(tuple(map(dim, range(x.rank))),),
            write=tuple(Affine(((axis, 1),)) for axis in range(x.rank - 1)),
            combiner="add",
            body=lambda math, element: math.mul(element, element),
            finish=lambda math, total: math.sqrt(total),
        )

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Give each element its share."""
        (x,), make = call.specs, Maker(call.emit)
        column = (*x.dims[:-1], 1)
        share = make.reshape(make.div(grads[0], call.results[0]), shape=column)
        return (make.mul(call.operands[0], share),)


@register_operation
class Spread(Op):
    """How far elements are from the mean along the last axis, by other operations."""

    name = "outside.spread"
    SAMPLES = (Sample(((3, 17),)), Sample(((2, 5, 3),)))

    @classmethod
    def infer(cls, x: TensorSpec) -> Sequence[TensorSpec]:
        """Return the operand's spec."""
        if not x.rank or not x.dtype.is_float:
            raise TypeError(f"operand {x}, expected floats along an axis")
        return (x,)

    @classmethod
    def decompose(cls, call: Call) -> Any:
        """Take the mean away."""
        make, axes = Maker(call.emit), (call.specs[0].rank - 1,)
        x = call.operands[0]
        return make.sub(x, make.mean(x, axes=axes, keepdims=True))

    @classmethod
    def work(
        cls, operands: Sequence[TensorSpec], results: Sequence[TensorSpec], **attributes: Any
    ) -> Work:
        """Count a sum and a difference."""
        return Work(flops=2 * prod(results[0].static_shape))

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Do the same."""
        return (call.emit(Spread, grads[0]),)
