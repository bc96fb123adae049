"""Erase operations whose results nobody uses.

    %0 = gv.exp %x          // unused
    %1 = gv.neg %x     =>   %1 = gv.neg %x
    func.return %1          func.return %1

Operations with an effect stay. Needs nothing; one sweep from the last operation to the first
finds whole chains. Private functions that nothing names are erased too.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
from xdsl.ir import Attribute, Block

from ..ir import Program, erase
from ..ir.program import functions
from ..ir.types.attributes import to_python
from .analysis.effects import is_pure
from .analysis.rewrite import is_unused
from .base import Pass


@dataclass(frozen=True)
class DCE(Pass):
    """Erase what is not used."""

    KEEPS = frozenset({"cse", "dce"})

    def apply(self, program: Program) -> None:
        """Sweep each function, then drop the private functions that are left alone."""
        for function in functions(program.module):
            for block in function.body.blocks:
                self.sweep(block)
        self.drop_functions(program.module)

    def sweep(self, block: Block) -> None:
        """Erase the unused operations of a block and of the regions in it."""
        op = block.last_op
        while op is not None:
            before = op.prev_op
            if op.results and is_unused(op) and is_pure(op):
                erase(op)
                self.count("erased")
            else:
                for region in op.regions:
                    for inner in region.blocks:
                        self.sweep(inner)
            op = before

    def drop_functions(self, module: ModuleOp) -> None:
        """Erase private functions that no operation names, and again while any goes."""
        private = {f.sym_name.data: f for f in functions(module) if f.sym_visibility is not None}
        if not private:
            return
        named = {name: _names_in(f) for f in functions(module) for name in (f.sym_name.data,)}
        while unused := [n for n in private if not any(n in s for k, s in named.items() if k != n)]:
            for name in unused:
                module.body.block.erase_op(private.pop(name))
                del named[name]
                self.count("functions erased")


def _names_in(function: object) -> set[str]:
    """Return the symbols that the operations of a function name."""
    found: set[str] = set()
    for op in function.walk():  # type: ignore[attr-defined]
        for attribute in (*op.properties.values(), *op.attributes.values()):
            _collect(attribute, found)
    return found


def _collect(attribute: Attribute, found: set[str]) -> None:
    if isinstance(attribute, SymbolRefAttr):
        found.add(str(to_python(attribute)))
