"""A plugin with passes that are wrong, each in a way that is easy to overlook."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gravure.extend import (
    GraphEmit,
    Op,
    Pass,
    Program,
    functions,
    operations_of,
    register_pass,
    replace,
    spec_of,
)
from gravure.ir import REGISTRY
from gravure.ir.types.dtypes import f32

GRAVURE_API = 1


@dataclass(frozen=True)
class Wrong(Pass):
    """Rewrites the operations of one name."""

    LEVEL = "graph"
    name = "wrong"
    OF: ClassVar[str] = ""

    def apply(self, program: Program) -> None:
        """Rewrite in every function."""
        for function in functions(program.module):
            for op in list(operations_of(function)):
                if op.name == self.OF and (made := self.made(op, Emit(op))) is not None:
                    replace(op, made)
                    self.count("rewritten")

    def made(self, op: Any, emit: Any) -> Any:
        """Return what stands in the operation's place; None for nothing."""
        raise NotImplementedError


class Emit:
    """Makes operations by their names, before another."""

    def __init__(self, op: Op) -> None:
        self.emit = GraphEmit.before(op)

    def __call__(self, name: str, *operands: Any, **attributes: Any) -> Any:
        return self.emit(REGISTRY[f"gv.{name}"], *operands, **attributes)

    def number(self, value: float, like: Any) -> Any:
        dtype = spec_of(like.type).dtype.numpy
        return self("constant", value=np.array(value, dtype))


@register_pass
@dataclass(frozen=True)
class DropsNan(Wrong):
    """relu(x) -> x > 0 ? x : 0, which makes 0 of NaN."""

    name = "drops-nan"
    OF = "gv.relu"

    def made(self, op: Any, emit: Any) -> Any:
        """Select."""
        (x,) = op.operands
        zero = emit.number(0, x)
        return emit("select", emit("greater", x, zero), x, zero)


@register_pass
@dataclass(frozen=True)
class SwapsZero(Wrong):
    """x + 0 -> x, which is 0 of -0."""

    name = "swaps-zero"
    OF = "gv.add"

    def made(self, op: Any, emit: Any) -> Any:
        """Leave the sum out."""
        lhs, rhs = op.operands
        value = getattr(rhs.owner, "properties", {}).get("value")
        return lhs if value is not None and not np.any(value.data.array) else None


@register_pass
@dataclass(frozen=True)
class LosesTheRest(Wrong):
    """sum(x) -> sum(x[: n - n % 4]) along an axis of open size: fine for 4, and for 8."""

    name = "loses-the-rest"
    NUMERICS = "reassociating"
    OF = "gv.sum"

    def made(self, op: Any, emit: Any) -> Any:
        """Cut off what does not fill four lanes, if there are sixteen."""
        (x,) = op.operands
        dims, attributes = list(spec_of(x.type).dims), op.plain_attributes()
        axis = attributes["axes"][0]
        if isinstance(dims[axis], int):
            return None
        stops = [d - d // 16 if i == axis else d for i, d in enumerate(dims)]
        zeros, ones = (0,) * len(dims), (1,) * len(dims)
        part = emit("slice", x, starts=zeros, stops=tuple(stops), steps=ones)
        return emit("sum", part, **attributes)


@register_pass
@dataclass(frozen=True)
class RoundsSingles(Wrong):
    """exp(x) -> exp(x * (1 + 2**-20)) in f32 only."""

    name = "rounds-singles"
    OF = "gv.exp"

    def made(self, op: Any, emit: Any) -> Any:
        """Scale by next to nothing."""
        (x,) = op.operands
        if spec_of(x.type).dtype.name != "f32":
            return None
        return emit("exp", emit("mul", x, emit.number(1 + 2**-20, x)))


@register_pass
@dataclass(frozen=True)
class RoundsDoubles(Wrong):
    """tanh(x) -> f64 of tanh(f32 of x): near enough for its contract in f32, not in f64."""

    name = "rounds-doubles"
    NUMERICS = "approximate"
    OF = "gv.tanh"

    def made(self, op: Any, emit: Any) -> Any:
        """Go by f32."""
        (x,) = op.operands
        dtypes = spec_of(x.type).dtype, f32
        return emit("cast", emit("tanh", emit("cast", x, dtype=f32)), dtype=dtypes[0])


@register_pass
@dataclass(frozen=True)
class MultipliesMasks(Wrong):
    """select(mask, x, 0) -> x * mask, which lets NaN through where the mask hides it."""

    name = "multiplies-masks"
    OF = "gv.select"

    def made(self, op: Any, emit: Any) -> Any:
        """Multiply by 0 and 1."""
        mask, x, _ = op.operands
        return emit("mul", x, emit("cast", mask, dtype=spec_of(x.type).dtype))


@register_pass
@dataclass(frozen=True)
class OneUlp(Wrong):
    """x / 3 -> x * (1 / 3), which is one representable number away at times."""

    name = "one-ulp"
    NUMERICS = "ulp:1"
    OF = "gv.div"
    how: str = "reciprocal"

    def made(self, op: Any, emit: Any) -> Any:
        """Multiply by the reciprocal."""
        x, divisor = op.operands
        array = np.asarray(divisor.owner.properties["value"].data.array)
        return emit("mul", x, emit("constant", value=(np.ones((), array.dtype) / array)))


@register_pass
@dataclass(frozen=True)
class TwoUlps(OneUlp):
    """The same, declared as exact."""

    name = "no-ulp"
    NUMERICS = "exact"


@register_pass
@dataclass(frozen=True)
class Crashes(Wrong):
    """Fails where it finds an atan."""

    name = "crashes"
    OF = "gv.atan"

    def made(self, op: Any, emit: Any) -> Any:
        """Fail."""
        raise ValueError("no atan today")


@register_pass
@dataclass(frozen=True)
class WrongAtOne(Wrong):
    """x * 2 -> x == 1 ? 1 : x + x, as if 1 was no number that a tanh gives."""

    name = "wrong-at-one"
    NUMERICS = "approximate"
    OF = "gv.mul"

    def made(self, op: Any, emit: Any) -> Any:
        """Select where x is 1."""
        x, _ = op.operands
        one = emit.number(1, x)
        return emit("select", emit("equal", x, one), one, emit("add", x, x))
