"""Show that every access of every kernel lies inside of its buffer, for all sizes.

    func.func @k(%x: memref<?xf32>, ...) attributes {gv.kind = "map", gv.sizes = ["N", ...], ...}
      scf.for %i = %lo to %hi ... { memref.load %x[%i] }          =>   nothing changes

`gv.sizes` says how many elements each buffer has, `gv.units` how far `hi` goes, and `gv.demands`
what holds of the symbols. An access that is data must be clamped, or stand behind a comparison.
What is not shown is an error of the pass that made the kernel, or of this one: at each access, with
the inequality that is missing.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..ir import Program
from ..ir.levels import KIND
from ..ir.program import functions
from ..ir.verify import Fault, InvalidModuleError
from .base import Pass
from .bounds.accesses import Accesses


@dataclass(frozen=True)
class CheckBounds(Pass):
    """Show that every access of every kernel lies inside of its buffer, for all sizes."""

    LEVEL = "loops"

    def apply(self, program: Program) -> None:
        """Look at each kernel; report all accesses of which it is not shown."""
        faults: list[Fault] = []
        for function in functions(program.module):
            if KIND not in function.attributes:
                continue
            walked = Accesses(function)
            name = function.sym_name.data
            faults += [
                Fault(each.op, f"kernel @{name}: {each.what} is not shown")
                for each in walked.prove()
            ]
            self.count("accesses", walked.count)
        if faults:
            raise InvalidModuleError(faults)
