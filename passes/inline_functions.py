"""Put the operations of functions in place of the calls of them.

    func.func private @twice(%x) { %y = gv.add %x, %x  func.return %y }
    %a = func.call @twice(%b)              =>              %a = gv.add %b, %b

Each call gets a copy. Private functions that nobody calls any more are erased. Needs nothing;
refused are a function that calls itself, and calls that make more than `most` operations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp

from ..errors import GraphError
from ..ir import Program, erase
from ..ir.program import by_name
from ..ir.verify import place
from .base import Pass


@dataclass(frozen=True)
class InlineFunctions(Pass):
    """Put functions in place of their calls."""

    LEVEL = "graph"

    most: int = 1 << 20

    def apply(self, program: Program) -> None:
        """Inline into each function those that it calls, which have none left by then."""
        known = by_name(program.module)
        calls = {name: list(calls_in(function)) for name, function in known.items()}
        if not any(calls.values()):
            return
        order = callees_first(calls)
        self.check_size(order, calls, known)
        for name in order:
            for call in calls[name]:
                inline(call, known[called(call)])
                self.count("inlined")
        self.drop(program.module, {called(call) for each in calls.values() for call in each})

    def check_size(
        self, order: list[str], calls: Mapping[str, list[CallOp]], known: Mapping[str, FuncOp]
    ) -> None:
        """Refuse calls that make too many operations, before any is made."""
        sizes: dict[str, int] = {}
        for name in order:
            own = sum(1 for _ in known[name].body.walk())
            sizes[name] = own + sum(sizes[called(call)] for call in calls[name])
            if sizes[name] > self.most:
                raise GraphError(
                    f"function {name!r} has {sizes[name]} operations with those that it calls, "
                    f"expected at most {self.most}",
                    location=place(known[name]),
                )

    def drop(self, module: ModuleOp, names: set[str]) -> None:
        """Erase those of some functions that are private: nothing calls them now."""
        for name, function in by_name(module).items():
            if name in names and function.sym_visibility is not None:
                module.body.block.erase_op(function)
                self.count("functions erased")


def calls_in(function: FuncOp) -> Iterator[CallOp]:
    """Give the calls that a function makes, those in regions too."""
    return (op for op in function.body.walk() if isinstance(op, CallOp))


def called(call: CallOp) -> str:
    """Return the name of the function that is called."""
    return str(call.callee.root_reference.data)


def callees_first(calls: Mapping[str, list[CallOp]]) -> list[str]:
    """Return the names of all functions so that each stands behind those that it calls."""
    order: dict[str, None] = {}
    for start in calls:
        way: dict[str, Iterator[CallOp]] = {} if start in order else {start: iter(calls[start])}
        while way:
            name = next(reversed(way))
            call = next(way[name], None)
            if call is None:
                order[name] = None
                way.popitem()
                continue
            callee = called(call)
            if callee in way:
                raise GraphError(f"function {callee!r} calls itself", location=place(call))
            if callee not in order:
                way[callee] = iter(calls[callee])
    return [*order]


def inline(call: CallOp, function: FuncOp) -> None:
    """Put a copy of a function's operations in place of a call."""
    block, parent = function.body.clone().block, call.parent_block()
    assert parent is not None, "a call stands in a function"
    for argument, value in zip(block.args, call.operands, strict=True):
        argument.replace_all_uses_with(value)
    for op in list(block.ops):
        if isinstance(op, ReturnOp):
            for result, value in zip(call.results, op.operands, strict=True):
                result.replace_all_uses_with(value)
            erase(op)  # the copy's return would still use what it returns
        else:
            block.detach_op(op)
            parent.insert_op_before(op, call)
    erase(call)
