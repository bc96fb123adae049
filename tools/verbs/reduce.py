"""Cut a model that fails down to the few operations that make it fail."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from ...codegen.compiled import OptionFields, Options
from ...counting import tell
from ...frontend.files.ir_text import save_ir
from ...frontend.programs.compile import options_with
from ...frontend.programs.load import load_program
from ...frontend.programs.reduce import FREE, Trial, apart, cut_out, reduce_program
from ...ir import print_module
from ..talk import Progress, Source, silent

if TYPE_CHECKING:
    from xdsl.ir import Operation

    from ...frontend.dims.symbols import DimOption, ShapeOption
    from ...ir import Program

Judge = Callable[["Program"], str]
"""Says what goes wrong with a program, the empty text if nothing does."""


@dataclass(frozen=True)
class ReducedModel:
    """What is left of a model that fails; false if it does not fail."""

    failure: str
    """What goes wrong, without names and numbers; empty if nothing does."""
    program: Program | None = None
    """The part that fails in the same way."""
    before: int = 0
    """Operations of the model; constants do not count."""
    left: int = 0
    """Operations of the part."""
    tries: int = 0
    files: tuple[Path, ...] = ()
    """Where the part was written."""

    def __bool__(self) -> bool:
        return bool(self.failure)

    def save(self, path: str | os.PathLike[str]) -> ReducedModel:
        """Write the part as IR text, its weights beside it; return the same with the files."""
        assert self.program is not None, "what does not fail has no part that fails"
        return replace(self, files=tuple(save_ir(self.program, Path(path))))

    def text(self) -> str:
        """Return the part as IR."""
        assert self.program is not None, "what does not fail has no part that fails"
        return print_module(self.program.module)

    def __str__(self) -> str:
        if not self.failure:
            return "the model does not fail"
        counts = f"{self.left} of {self.before} operations are left after {self.tries} tries"
        where = f": {', '.join(map(str, self.files))}" if self.files else ""
        return f"{self.failure}\n{counts}{where}"

    def as_json(self) -> dict[str, Any]:
        """Return what fails, and how much is left, as plain data."""
        head = {"schema": "gravure.reduce/1", "failure": self.failure or None}
        if not self.failure:
            return head
        files = {"files": [str(path) for path in self.files]} if self.files else {}
        return {**head, "operations": self.left, "tries": self.tries, **files}


def reduce(  # noqa: PLR0913  (each option is its own)
    source: Source,
    *,
    test: Judge | None = None,
    run: bool = True,
    threads: int = 1,
    shapes: Mapping[str, ShapeOption] | None = None,
    dims: Mapping[str, DimOption] | None = None,
    options: Options | None = None,
    progress: Progress = silent,
    **more: Unpack[OptionFields],
) -> ReducedModel:
    """Return the smallest part of a model that fails as the whole does.

    - `source`: the model: ONNX, graph text, IR text of the graph level, or their bytes.
    - `test`: says what goes wrong with a program, as text, and nothing if all is well; without
      it, the program is compiled, and its results are compared with the reference interpreter's.
    - `run`: whether results count, too, or only what compiling raises.
    - `threads`, `shapes`, `dims`, `options` and further keywords: as for `gravure.compile`.
    - `progress`: is told what goes on.

    Every try happens in a process of its own, so that it may end by a signal, too.

    >>> import gravure as gv
    >>> text = b"model m(x: f32[2]) -> (y) { y = exp(relu(tanh(x))) }"
    >>> found = gv.reduce(text, test=lambda p: "has relu" if "gv.relu" in str(p.module) else "")
    >>> print(found)
    has relu
    1 of 3 operations are left after 3 tries
    """
    own = ("test", "run", "shapes", "dims", "threads", "options", "progress")
    made = options_with("reduce", options, more, threads=threads, own=own)
    program = load_program(source, shapes=shapes, dims=dims)
    every = counted(program)
    whole = cut_out(program, every)
    judge = test or Trial(made, run=run).failure
    with progress("trying the whole model"):
        wanted = apart(judge, whole)
    if not wanted:
        return ReducedModel("", before=len(every))
    tries = 0

    def fails(candidate: Program) -> bool:
        nonlocal tries
        tries += 1
        tell("try", tries)
        return apart(judge, candidate) == wanted

    with progress("reducing"):
        small = reduce_program(program, fails)
    return ReducedModel(wanted, small, len(every), len(counted(small)), tries)


def counted(program: Program) -> list[Operation]:
    """Return the operations of a program but for constants and weights."""
    free = (*FREE, "func.return")
    return [op for op in program.main.body.block.ops if op.name not in free]
