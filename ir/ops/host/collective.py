"""What several ranks compute together: each runs the same program, and waits for the others here.

The operations are host steps. Who they talk to is set by the runtime's owner (`TALK`), for the IR
knows no processes; without, there is one rank, and they give what they get.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ...compose.maker import Maker
from ...host import HostOp
from ...op import Array, Call, register
from ...types.tensor import TensorSpec
from ..layout import Slice

WAYS = ("sum", "prod", "min", "max")


class Talk:
    """How the arrays of all ranks are reduced (several of one type), collected and sent."""

    reduce: Callable[[Sequence[Array], str], Sequence[Array]] = staticmethod(
        lambda arrays, how: arrays
    )
    may_go_on: Callable[[], bool] = staticmethod(lambda: False)
    """Says whether other threads may talk."""
    apart: Callable[[Callable[[], Any]], Callable[[], Any]] = staticmethod(lambda call: call)
    """Makes a call one for another thread, which talks as this one does."""
    queue: Callable[[], Any] = staticmethod(lambda: None)
    """Gives where reductions of other threads wait for their turn: all ranks have one order."""
    gather: Callable[[Array], Sequence[Array]] = staticmethod(lambda array: [array])
    send: Callable[[Array, int], Array] = staticmethod(lambda array, root: array)


TALK = Talk()


def numbers(name: str, x: TensorSpec) -> None:
    """Refuse what ranks cannot reduce."""
    if x.dtype.kind not in "iuf":
        raise TypeError(f"{name}: {x}, expected numbers")


@register
class AllReduce(HostOp):
    """Each operand reduced over all ranks; those of one element type go in one message."""

    name = "gv.all_reduce"
    PURE: ClassVar = False
    HOLDS: ClassVar = False
    GOES_ON: ClassVar = True

    @classmethod
    def infer(cls, *xs: TensorSpec, how: str = "sum") -> Sequence[TensorSpec]:
        """Return the operands' specs."""
        if how not in WAYS:
            raise TypeError(f"{cls.name}: how is {how!r}, expected one of {', '.join(WAYS)}")
        for x in xs:
            numbers(cls.name, x)
        return xs

    @classmethod
    def evaluate(cls, *xs: Array, how: str = "sum") -> Sequence[Array]:
        """Reduce operands of one type together."""
        found: list[Any] = [None] * len(xs)
        rows: dict[object, list[int]] = {}
        for place, x in enumerate(xs):
            rows.setdefault(x.dtype, []).append(place)
        for places in rows.values():
            made = TALK.reduce([xs[place] for place in places], how)
            for place, each in zip(places, made, strict=True):
                found[place] = np.asarray(each).reshape(xs[place].shape)
        return found

    @property
    def goes_on(self) -> bool:
        """Say whether there is work meanwhile, and other threads may talk."""
        return super().goes_on and TALK.may_go_on()

    @property
    def queue(self) -> Any:
        """Return where all reductions wait for their turn."""
        return TALK.queue()

    def prepared(self, operands: Sequence[Any]) -> Callable[[], Sequence[Any]]:
        """Return what reduces operands, in whatever thread."""
        return TALK.apart(partial(self.evaluated, operands))

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Each rank's result depends on all operands: the gradients are summed too."""
        if call.attributes["how"] != "sum":
            raise NotImplementedError(f"the gradient of {cls.name} by {call.attributes['how']}")
        return [None if g is None else call.emit(AllReduce, g, how="sum") for g in grads]


@register
class AllGather(HostOp):
    """The operands of all ranks behind each other, on the first axis; each has the same shape."""

    name = "gv.all_gather"
    PURE: ClassVar = False

    @classmethod
    def infer(cls, x: TensorSpec, *, ranks: int, rank: int) -> Sequence[TensorSpec]:
        """Return the spec with so many times as many rows."""
        if x.rank == 0:
            raise TypeError(f"{cls.name}: {x}, expected at least one axis")
        return (x.with_shape((x.dims[0] * ranks, *x.dims[1:])),)

    @classmethod
    def evaluate(cls, x: Array, *, ranks: int, rank: int) -> Sequence[Array]:
        """Collect."""
        found = TALK.gather(x)
        if any(part.shape != x.shape for part in found):
            shapes = ", ".join(str(part.shape) for part in found)
            raise ValueError(f"all_gather of {shapes}, expected one shape")
        return (np.concatenate(found, axis=0),)

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Each rank's part of the sum of all gradients."""
        total = call.emit(AllReduce, grads[0], how="sum")
        rows = call.specs[0].dims[0]
        rank, count = call.attributes["rank"], call.specs[0].rank
        begin = (rank * rows, *(0 for _ in range(count - 1)))
        end = ((rank + 1) * rows, *call.specs[0].dims[1:])
        part = call.emit(Slice, total, starts=begin, stops=end, steps=(1,) * count)
        return (part,)


@register
class Broadcast(HostOp):
    """The operand of one rank, on all."""

    name = "gv.broadcast"
    PURE: ClassVar = False

    @classmethod
    def infer(cls, x: TensorSpec, *, root: int = 0, rank: int = 0) -> Sequence[TensorSpec]:
        """Return the operand's spec."""
        return (x,)

    @classmethod
    def evaluate(cls, x: Array, *, root: int = 0, rank: int = 0) -> Sequence[Array]:
        """Send or receive."""
        found = np.asarray(TALK.send(x, root))
        if found.shape != x.shape or found.dtype != x.dtype:
            raise ValueError(
                f"broadcast of {found.dtype}{list(found.shape)} from rank {root}, this rank has "
                f"{x.dtype}{list(x.shape)}"
            )
        return (found,)

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Give the gradients of all results to the operand that was sent."""
        total = call.emit(AllReduce, grads[0], how="sum")
        if call.attributes["rank"] == call.attributes["root"]:
            return (total,)
        spec = call.specs[0]
        return (Maker(call.emit).filled(0, spec.dtype, spec.dims),)
