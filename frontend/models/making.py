"""The model that runs a program.

It is one of code, of code for a GPU, of what another back end makes, or of pieces with host steps
between.

The floor above all kinds of models: which kind it becomes is decided here alone, by what its
back end made of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...codegen.compiled import Compiled, Options
from ...runtime.artifact import TOLD
from ...runtime.gpu.driver import Driver
from ...target import Target
from .compiled import CompiledModel, compile_if_whole, compile_program, load_compiled

if TYPE_CHECKING:
    from ...ir import Program


def is_whole(options: Options, device: Driver | str | None) -> bool:
    """Say whether a program by these options is run in one: host steps are refused."""
    target = Target.parse(options.target, options.mattr)
    return device is not None or not target.can.step_out


def model_of(
    program: Program, options: Options, threads: int = 1, *, device: Driver | str | None = None
) -> CompiledModel:
    """Return a model that runs a program in this process; it may have host steps."""
    if is_whole(options, device):
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
    if device is not None or made.plan is not None:
        from .gpu import load_on_gpu  # noqa: PLC0415  (not for processors)

        return load_on_gpu(made, device)
    if made.executable is not None:
        from .executed import ExecutedModel  # noqa: PLC0415  (only for other back ends)

        model = ExecutedModel(made)
        model.threads = threads
        return model
    loaded = load_compiled(made, threads)
    if TOLD not in made.description.extras:
        return loaded
    from .told import ToldModel  # noqa: PLC0415  (most tell nothing)

    told = ToldModel(loaded)
    told.compiled = made
    return told
