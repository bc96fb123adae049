"""What a task does eagerly for others: single operations, variables, functions.

Results stay here under numbers, until who asked for them lets them go or wants their elements.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...ir.op import REGISTRY, Array
from ...ir.types.tensor import TensorSpec, spec_of_array
from ..eager.kernels import evaluate
from ..eager.recorded import EMIT
from ..function.graph_data import (
    SINGLE,
    NodeReader,
    Plain,
    SpecData,
    VariableData,
    Writer,
    empty_data,
)
from ..graph.frame import Store
from ..graph.variables import AssignVariable, Held, VariableState
from ..values.run_errors import InvalidArgumentError, NotFoundError
from ..values.texts import TEXT

Operand = tuple[str, int | Array]
"""`("kept", number)`, or `("value", array)`."""
Told = tuple[int, SpecData]
"""The number of a result, its element type and its shape."""


REFUSED = (ValueError, FloatingPointError, LookupError)
"""What operations say of elements that they are not for. Whether types and shapes fit has been seen
by who asked (`explain`), so that anything else is a fault of ours, and is told as one."""


class KeptValues:
    """The values that a task keeps, and what it can do with them."""

    def __init__(
        self,
        store: Store,
        bind: Callable[[str, VariableData], VariableState],
        call: Callable[
            [tuple[int, int, int] | None, tuple[int, int], Mapping[str, Array]],
            Mapping[str, object],
        ],
    ) -> None:
        self.store, self.bind, self.run_part = store, bind, call
        self.values: dict[int, Array] = {}
        self.numbers = itertools.count(1)
        self.lock = threading.Lock()

    def do(self, what: str, *given: Any) -> object:
        """Do what another task asks for; return what it is told."""
        ways: dict[str, Callable[..., object]] = {
            "apply": self.do_apply, "keep": self.do_keep, "fetch": self.do_fetch,
            "read": self.do_read, "change": self.do_change, "call": self.do_call,
        }  # fmt: skip
        return ways[what](*given)

    def do_apply(self, name: str, attributes: Plain, operands: Sequence[Operand]) -> list[Told]:
        """Carry an operation out."""
        options = NodeReader(empty_data(), self.bind).options(attributes)
        arrays = [self.value(x) for x in operands]
        try:
            found = evaluate(REGISTRY[name], arrays, options)
        except REFUSED as error:
            raise InvalidArgumentError(str(error)) from error
        return self.kept(found)

    def do_keep(self, array: Array) -> list[Told]:
        """Keep an array."""
        return self.kept([array])

    def do_fetch(self, number: int) -> Array:
        """Give a value."""
        return self.value(("kept", number))

    def do_read(self, name: str, entry: VariableData) -> list[Told]:
        """Read a variable."""
        return self.kept([np.array(self.bind(name, entry).value_in(self.store))])

    def do_change(
        self, name: str, entry: VariableData, kind: str, operands: Sequence[Operand]
    ) -> None:
        """Change a variable by the kind of operation of a name."""
        found, state = SINGLE[kind], self.bind(name, entry)
        assert isinstance(found, AssignVariable), f"{kind} changes no variable"
        arrays = [self.value(x) for x in operands]
        with Held([state]):
            if found.change is None:
                made = np.array(arrays[0])
            else:
                made = np.asarray(found.change(EMIT, state.value_in(self.store), *arrays))
            state.put_in(self.store, made)

    def do_call(
        self,
        key: tuple[int, int, int] | None,
        step: tuple[int, int],
        given: Mapping[str, Operand],
        names: Sequence[str],
    ) -> list[Told]:
        """Run a function that was registered; keep its results."""
        values = {name: self.value(x) for name, x in given.items()}
        found = self.run_part(key, step, values)
        return self.kept([np.asarray({**values, **found}[name]) for name in names])

    def drop(self, gone: Sequence[int | str]) -> None:
        """Let values go by their numbers, and variables by their containers."""
        with self.lock:
            for each in gone:
                if isinstance(each, str):
                    self.store.containers.pop(each, None)
                else:
                    self.values.pop(each, None)

    def value(self, operand: Operand) -> Array:
        """Return an operand."""
        _, what = operand
        if not isinstance(what, int):
            return np.asarray(what)
        if what not in self.values:
            raise NotFoundError(f"value {what} is not kept here any more")
        return self.values[what]

    def kept(self, arrays: Sequence[Array]) -> list[Told]:
        """Keep results; return what is told of them."""
        with self.lock:
            numbers = [next(self.numbers) for _ in arrays]
            self.values.update(zip(numbers, arrays, strict=True))
        both = zip(numbers, arrays, strict=True)
        return [(number, Writer().spec(spec_of(array))) for number, array in both]


def spec_of(array: Array) -> TensorSpec:
    """Return the type of an array, which may be text."""
    return TensorSpec(TEXT, array.shape) if array.dtype.kind == "O" else spec_of_array(array)
