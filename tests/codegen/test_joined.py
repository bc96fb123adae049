"""Concatenations along the first axis, whose positions are the units: in vectors all the same."""

import sys
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ArrayAttr, StringAttr

sys.path.insert(0, str(Path(__file__).parent))
from kernel_cases import check_kernel

from gravure.codegen.kernels import lower
from gravure.ir import GraphEmit, TensorSpec, print_module
from gravure.ir.compose.functions import flip
from gravure.ir.compose.maker import Maker
from gravure.ir.program import finish, functions, new_function
from gravure.ir.text import parse
from gravure.ir.types import dims
from gravure.ir.types.dtypes import f32
from gravure.target import Target

SHAPES = [((37,), 0), (("N",), 0), ((40, 3), 0), (("N", 4), 0), ((1, 33), 1), ((5,), 0)]


def joined(shape: tuple[int | str, ...], axis: int) -> str:
    """Return a kernel that joins what is tiled, what is plain, and what is turned round."""
    sizes = tuple(dims.parse(str(size)) for size in shape)
    function = new_function("k", [("x", TensorSpec(f32, sizes))])
    emit = GraphEmit.at_end(function.body.block, "here")
    make, (x,) = Maker(emit), function.body.block.args
    before, size, behind = sizes[:axis], sizes[axis], sizes[axis + 1 :]
    many = make.broadcast_to(
        make.reshape(x, shape=(*before, 1, size, *behind)), shape=(*before, 3, size, *behind)
    )
    tiled = make.reshape(many, shape=(*before, 3 * size, *behind))
    finish(function, [make.concat(tiled, x, flip(emit, x, (axis,)), axis=axis)], ["y"])
    function.attributes["gv.kind"] = StringAttr("concat")
    names = [StringAttr(name) for name in shape if isinstance(name, str)]
    function.attributes["gv.symbols"] = ArrayAttr(names)
    return print_module(function)


@pytest.mark.parametrize(("shape", "axis"), SHAPES)
def test_each_operand_takes_its_part_of_the_positions(
    shape: tuple[int | str, ...], axis: int
) -> None:
    text = joined(shape, axis)
    for size in (1, 15, 35) if "N" in shape else (0,):
        check_kernel(text, symbols={"N": size} if "N" in shape else {})
    (function,) = functions(parse(text))
    loops = print_module(lower(function, Target.parse("x86-64-v4")))
    assert "memref.store" not in loops
