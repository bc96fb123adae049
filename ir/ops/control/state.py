"""Effects: variables named by a symbol, guards, and calls back into the host.

A variable is a resource of the whole program: its value lies in the store that the runner was
given under the variable's name. Effects happen in program order. Frontends that compile thread
the values through as arguments and results instead, so that kernels see pure functions only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ....requirements import Requirement
from ...build import SOURCE
from ...families import FLOAT, expect
from ...op import Array, Call, Op, register
from ...types.attributes import Symbol
from ...types.dims import Dim
from ...types.dtypes import DType, bool_, i64
from ...types.tensor import TensorSpec


@register
class Read(Op):
    """The value that a variable has now."""

    name = "gv.read"
    PURE: ClassVar = False

    @classmethod
    def infer(
        cls, *, variable: Symbol, dtype: DType, shape: tuple[Dim, ...]
    ) -> Sequence[TensorSpec]:
        """Return the declared spec."""
        return (TensorSpec(dtype, shape),)

    def interpret(self, machine: Any, operands: Sequence[Any], values: Any) -> Sequence[Array]:
        """Return the stored array."""
        return (np.asarray(machine.weights[str(self.plain_attributes()["variable"])]),)


class Write(Op):
    """Change a variable; the result is its new value."""

    PURE: ClassVar = False

    @classmethod
    def infer(cls, x: TensorSpec, *, variable: Symbol) -> Sequence[TensorSpec]:
        """Return the spec of the new value."""
        return (x,)

    @classmethod
    def change(cls, store: Any, name: str, x: Array) -> Array:
        """Return the new value."""
        return x

    def interpret(self, machine: Any, operands: Sequence[Any], values: Any) -> Sequence[Array]:
        """Replace the stored array; the old one stays as it is for those who hold it."""
        name = str(self.plain_attributes()["variable"])
        made = self.change(machine.weights, name, operands[0])
        machine.weights[name] = np.asarray(made)
        return (machine.weights[name],)


@register
class Assign(Write):
    """Give a variable a value."""

    name = "gv.assign"


@register
class AssignAdd(Write):
    """Add to a variable."""

    name = "gv.assign_add"

    @classmethod
    def change(cls, store: Any, name: str, x: Array) -> Array:
        """Add."""
        return np.asarray(np.add(store[name], x))


@register
class AssignSub(Write):
    """Subtract from a variable."""

    name = "gv.assign_sub"

    @classmethod
    def change(cls, store: Any, name: str, x: Array) -> Array:
        """Subtract."""
        return np.asarray(np.subtract(store[name], x))


@register
class CheckNumerics(Op):
    """The operand itself; running it fails where an element is NaN or infinite."""

    name = "gv.check_numerics"
    PURE: ClassVar = False

    @classmethod
    def infer(cls, x: TensorSpec, *, message: str = "") -> Sequence[TensorSpec]:
        """Return the operand's spec."""
        expect(x, FLOAT)
        return (x,)

    @classmethod
    def evaluate(cls, x: Array, *, message: str) -> Sequence[Array]:
        """Return the operand, or raise `FloatingPointError` with the message."""
        wide = np.asarray(x).astype(np.float64)
        for what, found in (("nan", np.isnan(wide)), ("inf", np.isinf(wide))):
            if found.any():
                place = [str(int(i)) for i in np.argwhere(found)[0]]
                at = f" at element [{','.join(place)}]" if place else ""
                raise FloatingPointError(f"{message}: tensor had {what} values{at}")
        return (x,)

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Check the gradient too."""
        return (call.emit(CheckNumerics, grads[0], **call.attributes),)


@register
class Require(Op):
    """The truth value itself; running it fails with the message where it is false.

    Code that is compiled goes on: what calls it takes note of the value, and raises afterwards. It
    may say more then by `told`: `found` are the place in a value of a shape of the first element
    that is wrong, and what it is.
    """

    name = "gv.require"
    PURE: ClassVar = False

    @classmethod
    def infer(
        cls,
        holds: TensorSpec,
        *found: TensorSpec,
        message: str = "",
        told: str = "",
        shape: tuple[Dim, ...] = (),
        argument: int = -1,
        within: tuple[Dim, ...] = (0, 0),
    ) -> Sequence[TensorSpec]:
        """Return the operand's spec."""
        if holds.dtype != bool_ or holds.shape != ():
            raise TypeError(f"what is required is {holds}, expected bool[]")
        for each in found:
            if each != TensorSpec(i64, ()):
                raise TypeError(f"what is told of it is {each}, expected i64[]")
        return (holds,)

    @classmethod
    def evaluate(cls, holds: Array, *found: Array, message: str, **more: Any) -> Sequence[Array]:
        """Return the operand, or raise `ValueError` with the message."""
        if not holds:
            raise ValueError(message)
        return (holds,)

    @property
    def requirement(self) -> Requirement:
        """Return what is required, with the node that it comes from."""
        rules, source = self.plain_attributes(), getattr(self.attributes.get(SOURCE), "data", "")
        low, high = (x if isinstance(x, int) else str(x) for x in rules["within"])
        return Requirement(
            rules["message"], rules["told"], rules["shape"],
            source=f"node {source!r}" if source else "",
            argument=rules["argument"], within=(low, high),
        )  # fmt: skip

    def interpret(self, machine: Any, operands: Sequence[Any], values: Any) -> Sequence[Any]:
        """Return the operand, or raise `RequirementError` with what was found."""
        holds, *found = operands
        if not holds:
            place, value = map(int, found or (0, 0))
            raise self.requirement.error(place, value)
        return (holds,)

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Return nothing: a truth value has no gradient."""
        return (None,) * len(call.operands)


HOST_FUNCTIONS: dict[str, Callable[..., Sequence[Array]]] = {}
"""The Python functions that `gv.py_function` names, in this process only."""


@register
class PyFunction(Op):
    """What a Python function of this process gives; it has no form outside of the process."""

    name = "gv.py_function"
    PURE: ClassVar = False
    HOST: ClassVar = "py_function"

    @classmethod
    def infer(
        cls, *xs: TensorSpec, function: str, dtypes: tuple[DType, ...]
    ) -> Sequence[TensorSpec]:
        """Return results of unknown shape."""
        return tuple(TensorSpec(dtype, None) for dtype in dtypes)

    @classmethod
    def evaluate(cls, *xs: Array, function: str, dtypes: tuple[DType, ...]) -> Sequence[Array]:
        """Call the function."""
        made = HOST_FUNCTIONS[function](*xs)
        return tuple(np.asarray(r, d.numpy) for r, d in zip(made, dtypes, strict=True))
