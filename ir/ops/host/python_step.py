"""Python functions of this process between compiled code: what a frontend lets programs call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, ClassVar
from weakref import WeakValueDictionary

import numpy as np
from xdsl.dialects.builtin import StringAttr

from ...host import HostOp
from ...op import Array, Call, register
from ...types.dims import Dim
from ...types.tensor import TensorSpec

Backward = Callable[[int, Sequence[int], Sequence[bool]], Callable[..., Any]]
"""What makes a function of operands and gradients that gives gradients: how many operands there
are, of which of them gradients are wanted, and of which results there are gradients."""

_NUMBERS = count(1)


class PythonCall:
    """A function of arrays, which lives as long as somebody holds this object."""

    def __init__(
        self,
        function: Callable[..., Any],
        specs: Sequence[TensorSpec],
        backward: Backward | None = None,
    ) -> None:
        self.function, self.specs, self.backward = function, list(specs), backward
        self.name = f"python{next(_NUMBERS)}"
        self.ways_back: dict[Any, PythonCall] = {}
        self.is_apart = False
        """Whether it may go on beside others: it waits for its operands only."""
        self.queue: Any = None
        """Where it waits for its turn beside others of its device, if it is to."""
        self.pace: Any = None
        """How long it takes where it may go on beside others, as who runs it keeps that."""
        CALLS[self.name] = self

    def __call__(self, *arrays: Array) -> Sequence[Array]:
        """Return the results."""
        made = self.function(*arrays)
        listed = made if isinstance(made, tuple | list) else (made,)
        return [np.asarray(x) for x in listed][: len(self.specs)]

    @property
    def has_effects(self) -> bool:
        """Say whether calling it twice differs from calling it once."""
        return False

    def prepared(self, *arrays: Array) -> Callable[[], Sequence[Array]]:
        """Return what calls it with arrays, in whatever thread."""
        return lambda: self(*arrays)

    def way_back(self, call: Call, grads: Sequence[Any]) -> Sequence[Any]:
        """Return the gradients of operands, by another call."""
        places = [i for i, spec in enumerate(call.specs) if spec.dtype.kind in "fc"]
        found: list[Any] = [None] * len(call.operands)
        if self.backward is None or not places:
            return found
        has = tuple(g is not None for g in grads)
        specs = [call.specs[place] for place in places]
        key = (has, *specs)
        if key not in self.ways_back:
            function = self.backward(len(call.operands), places, has)
            self.ways_back[key] = PythonCall(function, specs)
        given = [*call.operands, *(g for g in grads if g is not None)]
        made = call.emit(PythonStep, *given, function=self.ways_back[key].name, sizes=())
        for place, grad in zip(places, made if len(places) > 1 else (made,), strict=True):
            found[place] = grad
        return found


CALLS: WeakValueDictionary[str, PythonCall] = WeakValueDictionary()
"""What programs name, by its name."""


@register
class PythonStep(HostOp):
    """What a Python function of this process gives; `sizes` are those that only it tells."""

    name = "gv.python_step"
    PURE: ClassVar = False

    @classmethod
    def infer(cls, *xs: TensorSpec, function: str, sizes: tuple[Dim, ...]) -> Sequence[TensorSpec]:
        """Return what the function says of its results."""
        if function not in CALLS:
            raise TypeError(f"{cls.name}: function {function!r} is not of this process")
        return CALLS[function].specs

    @classmethod
    def evaluate(cls, *xs: Array, function: str, sizes: tuple[Dim, ...]) -> Sequence[Array]:
        """Call the function."""
        return CALLS[function](*xs)

    @classmethod
    def gradient(cls, call: Call, *grads: Any) -> Sequence[Any]:
        """Call what the function has for that."""
        return CALLS[call.attributes["function"]].way_back(call, grads)

    @property
    def call(self) -> PythonCall:
        """Return what is called."""
        function = self.properties["function"]  # (asked in each run, for which all are too many)
        assert isinstance(function, StringAttr)
        return CALLS[function.data]

    def interpret(self, machine: Any, operands: Sequence[Any], values: Any) -> Sequence[Any]:
        """Call the function, whose errors are its own; bind the sizes."""
        return self.bound(machine, self.call(*operands))

    @property
    def goes_on(self) -> bool:
        """Say whether it waits for its operands only."""
        return self.call.is_apart

    @property
    def queue(self) -> Any:
        """Return where it waits for its turn."""
        return self.call.queue

    @property
    def pace(self) -> Any:
        """Return how long it takes, if that is kept."""
        return self.call.pace

    def prepared(self, operands: Sequence[Any]) -> Callable[[], Sequence[Any]]:
        """Return what calls the function, in whatever thread."""
        return self.call.prepared(*operands)
