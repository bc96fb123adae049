"""The model that runs a program: of code, of code for a GPU, or of pieces with host steps between.

The floor above all kinds of models: which kind it becomes is decided here alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...codegen.compiled import Compiled, Options
from ...runtime.gpu.driver import Driver
from ...target import Target
from .compiled import CompiledModel, compile_if_whole, compile_program, load_compiled

if TYPE_CHECKING:
    from ...ir import Program


def is_for_device(options: Options, device: Driver | str | None) -> bool:
    """Say whether code by these options runs on a GPU."""
    return device is not None or Target.parse(options.target, options.mattr).is_gpu


def model_of(
    program: Program, options: Options, threads: int = 1, *, device: Driver | str | None = None
) -> CompiledModel:
    """Return a model that runs a program in this process; it may have host steps."""
    if is_for_device(options, device):
        return made_of(compile_program(program, options), options, threads, device)
    return made_of(compile_if_whole(program, options), options, threads)


def made_of(
    made: Compiled | Program,
    options: Options,
    threads: int = 1,
    device: Driver | str | None = None,
) -> CompiledModel:
    """Return the model of code, or of a program with host steps."""
    if not isinstance(made, Compiled):
        from .pieces import SteppedModel  # noqa: PLC0415  (loads xDSL)

        return SteppedModel(made, options, threads)
    if is_for_device(options, device):
        from .gpu import load_on_gpu  # noqa: PLC0415  (not for processors)

        return load_on_gpu(made, device)
    return load_compiled(made, threads)
