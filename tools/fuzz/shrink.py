"""Make the part of a grown graph that fails as small as it can be, as a file that replays.

The first lines say how: as a text test, whose passes are compared with the interpreter one by one,
and by a command.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from xdsl.dialects.func import ReturnOp

from ...errors import GravureError
from ...frontend.files.ir_text import save_ir
from ...frontend.programs.load import load_program
from ...frontend.programs.reduce import FREE, apart, cut_out, reduce_program
from ...ir import Program, interpret
from ...ir.program import argument_names, argument_specs
from ...ir.types import dims
from ...passes.analysis.arguments import choose_sizes, make_array
from ...passes.pipelines import LEVELS
from ...runtime.compare import Tolerance, compare
from .making.grown import Grown
from .ways import WAYS, Computing, compiled, ran

TOLERANCE = Tolerance(1e-3, 1e-4)


@dataclass(frozen=True)
class Retry:
    """How a part of a graph is tried: one way, in one world."""

    way: Computing
    sizes: Mapping[str, int]

    def failure(self, program: Program) -> str:
        """Return what goes wrong with a program; nothing if it is right, or has no right result."""
        specs = argument_specs(program.main)
        sizes = choose_sizes(specs, program.ranges) | dict(self.sizes)
        rows = zip(argument_names(program.main), specs, strict=True)
        given = [make_array(spec, sizes, name) for name, spec in rows]
        try:
            wanted = interpret(program, [np.array(array) for array in given])
        except (GravureError, ValueError, IndexError):
            return ""
        try:
            models = compiled(program, self.way)
        except GravureError as error:
            return f"refused to compile: {type(error).__name__}"
        for _, model in models:
            found = ran(model, given)
            if isinstance(found, Exception):
                return f"refused: {type(found).__name__}"
            for one, other in zip(found, wanted, strict=True):
                if not compare(np.asarray(one), np.asarray(other), TOLERANCE).is_close:
                    return "results differ from the interpreter's"
        return ""


def shrunk(graph: Grown, retry: Retry) -> tuple[str, Program | None]:
    """Return what goes wrong with a graph, and the smallest part of it that fails so.

    Nothing where it does not fail on the numbers that are made up here.
    """
    program = load_program(graph.model, dims=graph.ranges)
    ops = program.main.body.block.ops
    every = [op for op in ops if op.name not in FREE and not isinstance(op, ReturnOp)]
    wanted = apart(retry.failure, cut_out(program, every))
    if not wanted:
        return "", None
    return wanted, reduce_program(program, lambda part: apart(retry.failure, part) == wanted)


def _given(program: Program, sizes: Mapping[str, int]) -> str:
    """Return the inputs of a program as options of a command: its sizes follow from them."""
    specs = argument_specs(program.main)
    every = choose_sizes(specs, program.ranges) | dict(sizes)
    words = []
    for name, spec in zip(argument_names(program.main), specs, strict=True):
        shape = [str(dims.evaluate(dim, every)) for dim in spec.dims]
        words.append(f" -i {name}={'x'.join([*shape, str(spec.dtype)])}")
    return "".join(words)


FOUND = re.compile(r"(.+?)(?: on \d+ threads)?, world (\d+): ")
"""How a finding begins: which way was wrong, and where."""


def write_shrunk(graph: Grown, text: str, path: Path) -> bool:
    """Write the smallest part of a graph that fails as IR text; say whether there is one."""
    found = FOUND.match(text)
    way = next((each for each in WAYS if found and found[1] == each.name), None)
    if way is None or found is None:
        return False
    sizes = graph.worlds[int(found[2])]
    why, small = shrunk(graph, Retry(way, sizes))
    if small is None:
        return False
    save_ir(small, path)
    passes = ",".join(LEVELS[way.options.level])
    command = f"gravure run {path.name} -{way.options.level} --vs interp{_given(small, sizes)}"
    path.write_text(f"// test: {passes}\n// {why}: {command}\n{path.read_text()}")
    return True
