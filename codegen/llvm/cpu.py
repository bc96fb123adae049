"""LLVM's machines for our targets, made once each."""

from __future__ import annotations

from functools import cache
from typing import Any

import llvmlite.binding as llvm

from ...errors import CompileError
from ...target import Target


@cache
def _initialise() -> None:
    """Make LLVM know all machines it was built for."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    llvm.initialize_native_asmparser()  # without it LLVM aborts on inline assembly


def target_machine(target: Target, optimisation: int = 1) -> Any:
    """Return LLVM's machine for position-independent code.

    It is shared: an execution engine, which would own and free it, must be given another.
    """
    plain = target.architecture.plain if target.can.tune_any else target.cpu
    return _machine(target.triple, plain, target.llvm_features, optimisation)


@cache
def _machine(triple: str, cpu: str, features: str, optimisation: int) -> Any:
    _initialise()
    try:
        found = llvm.Target.from_triple(triple)
    except RuntimeError as error:
        raise CompileError(f"triple {triple!r}: {error}") from error
    return found.create_target_machine(
        cpu=cpu, features=features, opt=optimisation, reloc="pic", codemodel="default"
    )
