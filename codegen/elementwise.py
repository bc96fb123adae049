"""Element-wise functions of arrays as compiled code computes them, to the last bit.

    near(Exp, f32, {})(x)

Each is a program of one operation on an axis of any length, compiled when it is first called, and
kept in the cache. So a value is the same wherever it is computed: at once, in a program, in a
library. Neither LLVM nor the passes are imported for what is in the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from ..ir.build import GraphEmit, take_apart
from ..ir.families import Elementwise
from ..ir.op import Array
from ..ir.program import Program, finish, new_function, set_level, set_ranges
from ..ir.text import print_module
from ..ir.types.dims import parse
from ..ir.types.dtypes import DType
from ..ir.types.tensor import TensorSpec
from ..runtime.model import Model
from ..target import Target
from .compiled import Compiled, Options
from .store import find, keep, program_key

Kernel = Callable[..., Array]

LONGEST = 1 << 40
"""The most elements that an array may have."""


def near(op: type[Elementwise], dtype: DType, attributes: Mapping[str, Any]) -> Kernel:
    """Return an element-wise operation as a function of arrays of one type that broadcast.

    It raises a `ValueError` where their shapes do not.
    """
    made: list[Kernel] = []
    given = tuple(attributes.items())

    def call(*arrays: Array) -> Array:
        """Carry the operation out on all elements in a row."""
        if not made:
            made.append(_compiled(op, dtype, given))
        shape = arrays[0].shape
        for x in arrays[1:]:
            if x.shape != shape:
                shape = np.broadcast_shapes(*[x.shape for x in arrays])
                arrays = tuple([np.broadcast_to(x, shape) for x in arrays])
                break
        if 0 in shape:
            return np.empty(shape, dtype.numpy)
        result: Array = made[0](*[x.ravel() for x in arrays])
        return result if len(shape) == 1 else result.reshape(shape)

    return call


@lru_cache(maxsize=512)
def _compiled(op: type[Elementwise], dtype: DType, attributes: Sequence[tuple[str, Any]]) -> Kernel:
    """Return the function of arrays with one axis."""
    options = Options(tag="elementwise", numerics="exact", slots=1, jobs=1)
    target = Target.parse(options.target, options.mattr)
    program = _program(op, dtype, dict(attributes))
    key = program_key(f"element-wise\n{print_module(program.module)}", options, target)
    found = find(key, options, target, [])
    if found is None:
        found = _lowered(program, options)
        keep(key, found, [])
    take_apart(program.module.regions)  # it is compiled once: its memory goes
    kernel: Kernel = Model.load(found.code()).call
    return kernel


def _lowered(program: Program, options: Options) -> Compiled:
    from .compile import compile_program  # noqa: PLC0415  (LLVM, not for what is in the cache)

    return compile_program(program, options)


def _program(op: type[Elementwise], dtype: DType, attributes: dict[str, Any]) -> Program:
    """Return the program of one operation on an axis of any length."""
    spec = TensorSpec(dtype, (parse("N"),))
    names = [f"x{i}" for i in range(len(op.signature().operands))]
    main = new_function("main", [(name, spec) for name in names])
    block = main.body.block
    made = GraphEmit.at_end(block)(op, *block.args, **attributes)
    finish(main, [made], ["y"])
    module = ModuleOp([main])
    set_level(module, "graph")
    set_ranges(module, {"N": (1, LONGEST)})
    return Program(module, {})
