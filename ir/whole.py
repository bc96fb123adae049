"""Check that a module is a whole program: what a text must have beyond its operations' own rules.

The text of a test may hold any function; a program has `@main`, functions that return, kernels
for its launches, and arguments that say what they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp

from .interpret.launch import SYMBOLS, kernel_symbols
from .levels import KIND, fault_of_level
from .op import Op
from .ops.structure import Launch
from .placement import ROLE
from .program import LEVEL, functions
from .types.dims import symbols
from .types.tensor import check_size, spec_of
from .types.values import value_spec
from .verify import Fault, InvalidModuleError

ROLES = frozenset({"input", "output", "raw", "workspace", "weights", "host"})


def verify_whole(module: ModuleOp) -> None:
    """Raise `InvalidModuleError` with everything that a program lacks."""
    faults = list(_faults(module))
    if faults:
        raise InvalidModuleError(faults)


def _faults(module: ModuleOp) -> Iterator[Fault]:
    found = {function.sym_name.data: function for function in functions(module)}
    if "main" not in found:
        yield Fault(module, "there is no function @main")
    level = module.attributes.get(LEVEL)
    several = [each for each in found.values() if len(each.body.blocks) > 1]
    if several:
        for each in several:
            text = f"@{each.sym_name.data} has {len(each.body.blocks)} blocks, expected one"
            yield Fault(each, text)
        return
    if level is None:
        yield from _of_graph(module)
    for function in found.values():
        yield from _sizes(function)
    is_planned = isinstance(level, StringAttr) and level.data in ("planned", "loops")
    for function in found.values():
        if not function.body.blocks or not isinstance(function.body.block.last_op, ReturnOp):
            yield Fault(function, f"@{function.sym_name.data} does not end in func.return")
        elif KIND in function.attributes:
            yield from _symbols(function)
        elif is_planned:
            yield from _places(function)
    yield from _launches(module, found)


def _launches(module: ModuleOp, found: Mapping[str, FuncOp]) -> Iterator[Fault]:
    """Find launches of what is no kernel."""
    for op in module.walk():
        if isinstance(op, Launch):
            kernel = str(op.plain_attributes().get("kernel"))
            if kernel not in found or KIND not in found[kernel].attributes:
                yield Fault(op, f"there is no kernel @{kernel}")


def _of_graph(module: ModuleOp) -> Iterator[Fault]:
    """Find operations that a program which does not say its level cannot have."""
    for op in module.walk():
        if (reason := fault_of_level(op, "graph")) is not None:
            yield Fault(op, reason)
    for function in functions(module):
        for value in function.body.block.args if function.body.blocks else ():
            try:
                value_spec(value.type)
            except TypeError as error:
                yield Fault(function, f"argument {value.index}: {error}")


def _sizes(function: FuncOp) -> Iterator[Fault]:
    """Find arguments whose bytes cannot be counted."""
    for value in function.body.block.args if function.body.blocks else ():
        try:
            if isinstance(value.type, TensorType):
                check_size(spec_of(value.type))
        except TypeError as error:
            yield Fault(function, f"argument {value.index}: {error}")


def _symbols(kernel: FuncOp) -> Iterator[Fault]:
    """Find dimensions of a kernel that it does not name among its symbols."""
    known = set(kernel_symbols(kernel))
    specs = [spec_of(a.type) for a in kernel.body.block.args if isinstance(a.type, TensorType)]
    for op in kernel.body.block.ops:
        specs += op.result_specs if isinstance(op, Op) else ()
    used = {name for spec in specs for size in spec.dims for name in symbols(size)}
    for name in sorted(used - known):
        yield Fault(kernel, f"dimension {name} of @{kernel.sym_name.data} is not in {SYMBOLS}")


def _places(function: FuncOp) -> Iterator[Fault]:
    """Find arguments of a planned function that do not say what they are."""
    rows = function.arg_attrs.data if isinstance(function.arg_attrs, ArrayAttr) else ()
    for number in range(len(function.body.block.args)):
        role = rows[number].data.get(ROLE) if number < len(rows) else None
        if not isinstance(role, StringAttr) or role.data not in ROLES:
            what = f"expected one of {', '.join(sorted(ROLES))}"
            yield Fault(function, f"argument {number} has the {ROLE} {role}, {what}")
