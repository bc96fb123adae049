"""Compiled code as a model of this process: programs to code, kept in the cache, and loaded.

What is in the cache starts without the compiler: no xDSL, no LLVM is imported then.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ... import knobs
from ...codegen.compiled import Compiled, Options
from ...codegen.digests import digest_of
from ...codegen.prepare import runs_here
from ...codegen.store import find, keep, program_key
from ...runtime.model import Model
from ...target import Target

if TYPE_CHECKING:
    from ...ir import Array, Program
    from ...passes.base import Observer


class CompiledModel(Model):
    """A model that was compiled in this process."""

    compiled: Compiled

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write what the suffix of `path` asks for: a library, or `.o`, `.a`, `.h` for C."""
        from ...codegen.export import export  # noqa: PLC0415  (loads LLVM)

        export(self.compiled, path)


def compile_program(
    program: Program, options: Options, observers: Sequence[Observer] = ()
) -> Compiled:
    """Return the code of a program; refuse one with host steps."""
    from ...codegen.compile import compile_program as lower  # noqa: PLC0415  (xDSL and LLVM)

    return lower(program, options, observers)


def compile_if_whole(
    program: Program, options: Options, observers: Sequence[Observer] = ()
) -> Compiled | Program:
    """Return the code of a program; the program itself where it has host steps."""
    from ...ir.host import has_host_steps  # noqa: PLC0415  (not for what is in the cache)

    if has_host_steps(program):
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
        found = compile_program(program, options)
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
    watched = knobs.CHECK.is_on() or knobs.TIME.is_on() or knobs.VERIFY.is_on()
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


def tag_of(path: str | os.PathLike[str]) -> str:
    """Return a C identifier made from a file's name."""
    stem = Path(path).stem
    plain = "".join(c if c.isascii() and c.isalnum() else "_" for c in stem)
    return plain if plain[:1].isalpha() else f"model_{plain}"
