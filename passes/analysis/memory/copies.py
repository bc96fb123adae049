"""Kernels that copy: a function for each type, made when it is first needed."""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from ....ir.interpret.launch import SYMBOLS
from ....ir.levels import KIND
from ....ir.ops.structure import Launch
from ....ir.program import argument_specs, functions
from ....ir.types import dims
from ....ir.types.attributes import Symbol
from ....ir.types.tensor import TensorSpec, spec_of


class Copies:
    """Makes launches that copy one buffer to another of the same type."""

    def __init__(self, module: ModuleOp) -> None:
        self.module = module
        kernels = [each for each in functions(module) if KIND in each.attributes and is_copy(each)]
        self.names = {argument_specs(each)[0]: each.sym_name.data for each in kernels}
        """The kernels that there are."""

    def launch(self, source: SSAValue, target: SSAValue) -> Launch:
        """Return a launch that copies."""
        spec = spec_of(source.type)
        assert spec == spec_of(target.type), f"a copy of {spec} cannot be {spec_of(target.type)}"
        symbols = symbols_of(spec)
        attributes = {"kernel": Symbol(self.kernel(spec)), "inputs": 1}
        if symbols:
            attributes["dims"] = tuple(dims.symbol(name) for name in symbols)
        return Launch.build_unchecked([source, target], [], attributes)

    def kernel(self, spec: TensorSpec) -> str:
        """Return the name of the kernel that copies such a tensor."""
        if spec not in self.names:
            name = self.names[spec] = self.fresh()
            block = Block(arg_types=[spec.type])
            block.add_op(ReturnOp(block.args[0]))
            made = FuncOp(name, ([spec.type], [spec.type]), Region(block), visibility="private")
            made.attributes[KIND] = StringAttr("map")
            if symbols := symbols_of(spec):
                made.attributes[SYMBOLS] = ArrayAttr([StringAttr(each) for each in symbols])
            self.module.body.block.add_op(made)
        return self.names[spec]

    def fresh(self) -> str:
        """Return a name that no function has."""
        taken = {function.sym_name.data for function in functions(self.module)}
        return next(name for i in range(len(taken) + 1) if (name := f"copy{i}") not in taken)


def is_copy(kernel: FuncOp) -> bool:
    """Say whether a kernel function does nothing but give its only argument."""
    block = kernel.body.block
    last = block.first_op
    return (
        isinstance(last, ReturnOp)
        and len(block.args) == 1
        and list(last.operands) == [block.args[0]]
    )


def symbols_of(spec: TensorSpec) -> list[str]:
    """Return the symbols of a shape, sorted."""
    return sorted({name for dim in spec.dims for name in dims.symbols(dim)})
