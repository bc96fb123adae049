"""Compiled code as a model of this process: programs to code, kept in the cache, and loaded.

What is in the cache starts without the compiler: no xDSL, no LLVM is imported then.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ... import knobs
from ...codegen.compiled import Compiled, Options
from ...codegen.digests import digest_of
from ...codegen.prepare import runs_here
from ...codegen.store import find, keep, program_key
from ...errors import RuntimeInputError
from ...runtime.arguments import Inputs, in_order
from ...runtime.artifact import Work, launches
from ...runtime.buffer import Array
from ...runtime.library import Library
from ...runtime.model import Model, WeightsSource
from ...runtime.traces.recorder import RECORD, Recorder
from ...runtime.tracing import span
from ...target import Target
from .otherwise import Otherwise

if TYPE_CHECKING:
    from ...ir import Program
    from ...passes.base import Observer


class CompiledModel(Model):
    """A model that was compiled in this process."""

    compiled: Compiled
    otherwise: Otherwise | None = None
    """What is run where sizes are not what was assumed."""

    def _slow_call(self, *values: object, update: bool = False) -> object:
        """Do what `call` does for arguments that need a second look."""
        try:
            return super()._slow_call(*values, update=update)
        except RuntimeInputError as error:
            if self.otherwise is None or update:
                raise
            found = self.otherwise.run(self._taken(values), self.inputs, error)
            return found[0] if len(found) == 1 else tuple(found)

    def bind(
        self, inputs: Inputs, outputs: Inputs | None = None, *, release: bool | None = None
    ) -> Callable[[], list[Array]]:
        """Return a function that runs the model on these very arrays: see `Model.bind`."""
        try:
            return super().bind(inputs, outputs, release=release)
        except RuntimeInputError as error:
            if self.otherwise is None:
                raise
            values = in_order(inputs, self.inputs)
            return self.otherwise.bind(values, outputs, self.inputs, error, release=release)

    def set_weights(self, weights: WeightsSource) -> None:
        """Use other weights from the next run on: see `Model.set_weights`."""
        super().set_weights(weights)
        if self.otherwise is not None:
            self.otherwise.set_weights(weights)

    @property
    def recorder(self) -> Recorder | None:
        """Return what runs the model so that it notes its launches, made when first needed."""
        if self._recorder is None:
            self._recorder = recorder_of(self.compiled)
        return self._recorder

    _recorder: Recorder | None = None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write what the suffix of `path` asks for: a library, or `.o`, `.a`, `.h` for C."""
        from ...codegen.export import export  # noqa: PLC0415  (loads LLVM)

        export(self.compiled, path)


def compile_program(
    program: Program, options: Options, observers: Sequence[Observer] = ()
) -> Compiled:
    """Return the code of a program; refuse one with host steps."""
    from ...codegen.compile import compile_program as lower  # noqa: PLC0415  (xDSL and LLVM)

    with span("compile", options.tag):
        return lower(program, options, observers)


def compile_if_whole(
    program: Program, options: Options, observers: Sequence[Observer] = ()
) -> Compiled | Program:
    """Return the code of a program; the program itself where it has host steps.

    Little that is selected is found in compiled code, where all sizes have bounds.
    Equal steps are one: a size that each of several tells is the host's to compare.
    """
    from ...ir.host import has_host_steps  # noqa: PLC0415  (not for what is in the cache)

    if has_host_steps(program):
        from ...codegen.compile import takes_loops_of_hosts  # noqa: PLC0415  (as above)
        from ...passes.manager import run as run_passes  # noqa: PLC0415  (as above)

        run_passes("cse", program, observers=(), verify_each=False)
        if not takes_loops_of_hosts(program, options):
            return program
    return compile_program(program, options, observers)


def compile_piece(program: Program, options: Options) -> Compiled:
    """Return a compiled program, which the cache of whole programs may have."""
    if not is_kept(options):
        return compile_program(program, options)
    files = [
        np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        for _, array in sorted(program.weights.items())
    ]
    target = Target.parse(options.target, options.mattr)
    key = program_key(_text_of(program, files), options, target)
    found = find(key, options, target, files)
    if found is None:
        from .threads import effort_of  # noqa: PLC0415  (not for what is in the cache)

        found = compile_program(program, options)
        effort_of(found)
        keep(key, found, files)
    return found


def _text_of(program: Program, files: Sequence[Array]) -> str:
    """Return what tells a program and its weights from all others."""
    from ...ir import print_module  # noqa: PLC0415  (not for what is in the cache)

    rows = [
        (name, array.dtype.str, array.shape, digest_of(data))
        for (name, array), data in zip(sorted(program.weights.items()), files, strict=True)
    ]
    return f"piece {rows}\n{print_module(program.module)}"


def is_kept(options: Options) -> bool:
    """Say whether whole programs are kept.

    Not for other machines, as code prepares weights, nor where passes are to be looked at.
    """
    watched = knobs.checks_passes() or knobs.TIME.is_on() or knobs.VERIFY.is_on()
    if not options.cache or watched or knobs.DUMP.text():
        return False
    return runs_here(Target.parse(options.target, options.mattr))


def load_compiled(compiled: Compiled, threads: int) -> CompiledModel:
    """Load compiled code into this process."""
    compiled.threads = threads
    weights = compiled.blob if compiled.description.weights else None
    model = CompiledModel.load(compiled.code(), threads=threads, weights=weights)
    assert isinstance(model, CompiledModel), "load gives what it is called on"
    model.compiled = compiled
    return model


def recorder_of(compiled: Compiled) -> Recorder:
    """Return a second entry to compiled code, which notes when each launch began and ended."""
    from ...codegen.profile import recorded  # noqa: PLC0415  (loads LLVM)

    made = recorded(compiled)
    with span("compile", f"notes of {made.description.tag}"):
        library = Library.load(made.code())
    return Recorder(
        run=library.function("run", "ipppp"),
        ticks=library.function("ticks", "l"),
        offset=made.description.extras[RECORD]["offset"],
        room=made.description.workspace_bytes,
        model=made.description.tag,
        works=works_of(compiled),
    )


def works_of(compiled: Compiled) -> Callable[[Mapping[str, int]], Sequence[Work | None]]:
    """Return what says for some sizes what launches are there for, and what they cost."""
    known = [launch.work for launch in launches(compiled.description.steps)]
    program = compiled.program

    @cache
    def works(sizes: tuple[tuple[str, int], ...]) -> Sequence[Work | None]:
        from ...codegen.work import launches_of  # noqa: PLC0415  (loads xDSL)

        infos = launches_of(program, dict(sizes)) if program is not None else []
        costs = [tuple(info.cost.as_json().values()) for info in infos]
        return [
            None if work is None else replace(work, numbers=numbers)
            for work, numbers in zip(known, costs, strict=True)
        ]

    def found(sizes: Mapping[str, int]) -> Sequence[Work | None]:
        if program is None or all(work is not None and work.numbers for work in known):
            return known
        most = {name: high for name, (_, high) in program.ranges.items() if high is not None}
        return works(tuple({**most, **sizes}.items()))  # what only a run tells counts at its most

    return found


def tag_of(path: str | os.PathLike[str]) -> str:
    """Return a C identifier made from a file's name."""
    stem = Path(path).stem
    plain = "".join(c if c.isascii() and c.isalnum() else "_" for c in stem)
    return plain if plain[:1].isalpha() else f"model_{plain}"
