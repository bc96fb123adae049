"""`HostOp`: an operation that is carried out between compiled code, by its own `evaluate`.

It is for what compiled code cannot do: results whose size depends on data, sequences,
optionals, texts. Such an operation is a class as any other; that it derives from `HostOp` is
all that it takes to become a host step (`passes/cut_host.py`).

    %places = gv.non_zero %x {sizes = #gv.dims<"u">} :
        (tensor<2x3xf32>) -> tensor<2x?xi64, #gv.dims<"2, u">>

A dimension that only the data tells is a symbol of its own, given in the attribute `sizes`. It
gets its value when the operation is run; from there on it is a symbol like those of inputs. The
same symbol may stand in several results; its value must then be the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import CallOp
from xdsl.ir import Attribute, Operation

from ..errors import Advice, CompileError, RuntimeInputError
from .build import DEVICE
from .op import Op
from .program import Program, by_name
from .types import dims
from .types.dims import Dim
from .types.tensor import TensorSpec
from .types.values import ANY, Spec, is_compilable, is_complex, value_spec

BESIDE = "beside"
"""The attribute of a step that goes on beside what follows."""
WHOLE = "whole"
"""The attribute of a step whose regions are not cut: they are compiled as they are."""


REFUSALS = (ValueError, TypeError, LookupError, ArithmeticError)
"""What an evaluation raises for operands that it does not take."""


class HostOp(Op):
    """Base of the operations that are host steps."""

    HOST: ClassVar = "numpy"
    HOLDS: ClassVar[bool] = True
    """Whether operands may still be looked at behind it, by its results or by somebody else."""
    GOES_ON: ClassVar[bool] = False
    """Whether it can go on in another thread beside what follows and does not need it."""
    COUNTS: ClassVar[bool] = False
    """Whether the sizes of results are counts of what is found: any number may be, 1 too."""
    MOVES: ClassVar[bool] = False
    """Whether elements are moved and compared only, of which numpy never warns."""
    queue: ClassVar[Any] = None
    """Where it waits for its turn in that case, if it is to."""
    pace: ClassVar[Any] = None
    """How long it takes, if whoever runs it keeps that."""

    def interpret(self, machine: Any, operands: Sequence[Any], values: Any) -> Sequence[Any]:
        """Evaluate, and bind the dimensions of the results."""
        return self.bound(machine, self.evaluated(operands))

    def evaluated(
        self, operands: Sequence[Any], attributes: Mapping[str, Any] | None = None
    ) -> Sequence[Any]:
        """Return the results of operands; whoever asks often keeps the attributes."""
        given = self.plain_attributes() if attributes is None else attributes
        with np.errstate(all="ignore"):
            return self.computed(partial(self.evaluate, **given), operands)

    def computed(
        self, compute: Callable[..., Sequence[Any]], operands: Sequence[Any]
    ) -> Sequence[Any]:
        """Return what its evaluation gives of operands; what that raises is said with its place."""
        try:
            return list(compute(*operands))
        except REFUSALS as error:
            raise refused(self, error) from error

    @property
    def goes_on(self) -> bool:
        """Say whether it goes on beside what follows: something does, that does not need it."""
        return BESIDE in self.attributes

    def prepared(self, operands: Sequence[Any]) -> Callable[[], Sequence[Any]]:
        """Return what gives the results of operands, in whatever thread."""
        return lambda: self.evaluated(operands)

    def bound(self, machine: Any, results: Sequence[Any]) -> Sequence[Any]:
        """Return the results; bind their dimensions."""
        for spec, result in zip(self.result_specs, results, strict=True):
            machine.bind(spec, result, self.label, self)
        return results

    def label(self) -> str:
        """Return what errors call it."""
        return label(self)


def refused(op: Operation, error: Exception) -> RuntimeInputError:
    """Return what an operation's evaluation raised, with its place."""
    return RuntimeInputError(str(error), location=label(op))


def label(op: Operation) -> str:
    """Return what errors call an operation: where it comes from, and its name."""
    source = getattr(op.attributes.get("source"), "data", None)
    if isinstance(source, tuple):  # of a kernel, where several come from
        source = ", ".join(each.data for each in source if isinstance(each, StringAttr))
    return f"node {source!r} ({op.name})" if source else op.name


def is_host(op: Operation) -> bool:
    """Say whether an operation is carried out by the host.

    Its class says so, or it has a value that no compiled code can have, or something inside it
    is a host step, or it calls a part that runs on another device.
    """
    if isinstance(op, HostOp | CallOp):
        return True
    if not is_in_parts(op):
        return True
    return any(is_host(inner) for r in op.regions for b in r.blocks for inner in b.ops)


def is_in_parts(op: Operation) -> bool:
    """Say whether compiled code can have an operation's values, complex ones by their parts."""
    types = [value.type for value in (*op.operands, *op.results)]
    if all(map(is_compilable, types)):
        return True
    if not all(map(may_be_told, types)):
        return False
    if not isinstance(op, Op):
        return True
    return bool(op.regions) or op.takes_parts(len(op.operands), op.plain_attributes())


def may_be_told(type_: Attribute) -> bool:
    """Say whether a compiled function can be given such a value, or give one."""
    return is_compilable(type_) or is_complex(type_)


def has_host_steps(program: Program) -> bool:
    """Say whether a program has host steps, or a function that it calls; none below `graph`."""
    known = by_name(program.module)
    if program.level != "graph" or "main" not in known:
        return False
    reached = ["main"]
    fine: set[int] = set()
    """Types that compiled code can have, by identity: most values share one."""
    for name in reached:
        inputs = known[name].function_type.inputs
        if not all(map(may_be_told, inputs)):
            return True
        has_complex = any(map(is_complex, inputs))
        for op in known[name].body.walk():
            if isinstance(op, HostOp) or DEVICE in op.attributes:
                return True
            if isinstance(op, CallOp):
                callee = op.callee.root_reference.data
                reached += [callee] if callee not in reached else []
            new = [x.type for x in op.results if id(x.type) not in fine]
            has_complex = has_complex or any(map(is_complex, new))
            if (new or has_complex) and not is_in_parts(op):
                return True
            fine.update(map(id, new))
    return False


def defined(op: Operation) -> set[str]:
    """Return the symbols that get their values when a host step is run."""
    if not isinstance(op, HostOp):
        return set()
    names = {name for size in op.plain_attributes().get("sizes", ()) for name in dims.symbols(size)}
    if op.regions:
        names |= {name for result in op.results for name in symbols_in(result.type)}
    return names


def symbols_of(op: Operation) -> list[str]:
    """Return the symbols in an operation's types and attributes, inside of it too, in order."""
    found: dict[str, None] = {}
    for each in op.walk():
        inner = [a.type for r in each.regions for b in r.blocks for a in b.args]
        for type_ in (*(value.type for value in (*each.operands, *each.results)), *inner):
            found.update(dict.fromkeys(symbols_in(type_)))
        if isinstance(each, Op):
            values = each.plain_attributes().values()
            found.update(dict.fromkeys(name for v in values for name in symbols_inside(v)))
    return list(found)


def symbols_in(type_: Attribute) -> Iterator[str]:
    """Give the symbols in the type of a tensor."""
    spec = value_spec(type_)
    if isinstance(spec, TensorSpec):
        yield from symbols_inside(spec.shape or ())


def symbols_inside(value: Any) -> Iterator[str]:
    """Give the symbols in an attribute, or in a tuple of such."""
    if isinstance(value, dims.DimExpr):
        yield from sorted(dims.symbols(value))
    elif isinstance(value, tuple):
        for part in value:
            yield from symbols_inside(part)


QUIET = ("builtin.module", "func.func", "gv.room", "func.return", "gv.yield", "gv.constant")
"""What is not worth naming as a host step."""


@dataclass(frozen=True)
class HostStep:
    """One host step, for people."""

    operation: str
    """The operation's name."""
    source: str
    """The node that it comes from."""

    def __str__(self) -> str:
        name = self.operation.removeprefix("gv.")
        return f"{self.source} ({name})" if self.source else name


def host_steps(program: Program) -> list[HostStep]:
    """Return the host steps of a program, those in regions too, in order.

    What is to run on a device of its own is one as well: no library holds code for several.
    """
    found = [
        op
        for op in program.module.walk()
        if DEVICE in op.attributes or (op.name not in QUIET and is_host(op))
    ]
    return [HostStep(op.name, getattr(op.attributes.get("source"), "data", "")) for op in found]


def refuse_host_steps(program: Program) -> None:
    """Raise where a program cannot be compiled as one piece, with the names of its host steps."""
    if has_host_steps(program):
        names = ", ".join(map(str, host_steps(program))) or "values that are no tensors of numbers"
        raise CompileError(
            f"the program has host steps, which no compiled code can hold: {names}",
            location=program.source,
            hint=Advice(
                "gravure.compile runs it from Python; or cut the model around these nodes",
                "gravure run runs it as it is; gravure extract cuts the model around these nodes",
            ),
        )


def sized(spec: Spec, sizes: Sequence[Dim]) -> Spec:
    """Return a tensor's spec with its open dimensions called as given, in order."""
    if not isinstance(spec, TensorSpec) or spec.shape is None:
        if sizes:
            raise TypeError(f"{len(sizes)} sizes for {spec}, expected none")
        return spec
    count = spec.shape.count(ANY)
    if count != len(sizes):
        raise TypeError(f"{len(sizes)} sizes for {spec}, expected {count}")
    given = iter(sizes)
    return spec.with_shape([next(given) if dim == ANY else dim for dim in spec.shape])


def one_of(sizes: Sequence[Dim]) -> Dim:
    """Return the only size that an operation has, or raise `TypeError`."""
    if len(sizes) != 1:
        raise TypeError(f"{len(sizes)} sizes, expected 1")
    return sizes[0]
