"""What the classes of operations say of themselves as plain data: which kernel, how much work.

Passes ask these instead of names, so that an operation from elsewhere is asked like any other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from ..capabilities import Capabilities


def anywhere(can: Capabilities) -> bool:
    """Say that every back end has a kernel."""
    return True


@dataclass(frozen=True)
class KernelForm:
    """The kernel that computes an operation, where its formula or iteration do not say it."""

    kind: str
    """The kind of kernel (`passes/analysis/kernels/kinds.py`)."""
    slow: str | None = None
    """The kind for elements that are neither f32 nor f64, where that is another."""
    rows: str | None = None
    """The kind where the axes that are reduced are the last ones, where that is another."""
    needs: Callable[[Capabilities], bool] = anywhere
    """What a back end must be able to do; with others the operation decomposes."""
    slow_needs: Callable[[Capabilities], bool] = anywhere
    """The same for elements that are neither f32 nor f64."""
    strides: int = 0
    """How many operands are walked in strides, through the moves before them."""
    walked: int | None = None
    """How many operands are walked in memory, where those behind them are read as elements."""
    converts: bool = False
    """Whether the result may become another element type before it is stored."""


class Scaling(Enum):
    """For which numbers s an operation on s times each operand is s times the operation."""

    NONE = "none"
    POSITIVE = "positive"
    ALL = "all"


@dataclass(frozen=True)
class Work:
    """What an operation computes; bytes are those of its operands and results."""

    macs: int = 0
    """Multiplications whose product is added to a sum."""
    flops: int = 0
    """Arithmetic on elements; each of `macs` is two of these."""
    functions: int = 0
    """Calls of functions such as exp, not counted as flops."""

    def __add__(self, other: Work) -> Work:
        sums = (self.macs + other.macs, self.flops + other.flops)
        return Work(*sums, self.functions + other.functions)

    @classmethod
    def products(cls, macs: int) -> Work:
        """Return the work of so many products that are added up."""
        return cls(macs=macs, flops=2 * macs)
