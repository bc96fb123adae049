"""Models compiled for GPUs, run by the emulator of PTX against what is evaluated."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from gravure import knobs
from gravure.codegen.compile import Compiled, Options
from gravure.codegen.ptx.assemble import assemble, find_ptxas
from gravure.frontend.models.gpu import load_on_gpu
from gravure.frontend.programs.compile import compile_source
from gravure.ir import REGISTRY, GraphEmit, Program, interpret, parse, print_module, spec_of_array
from gravure.ir.program import finish, new_function
from gravure.runtime.gpu.driver import Driver
from gravure.runtime.gpu.emulated import EmulatedDriver
from gravure.runtime.gpu.plan import GpuPlan

sys.path.insert(0, str(Path(__file__).parents[1] / "runtime"))
from chosen_device import chosen_driver

Array = np.ndarray[Any, Any]
TARGET = "cuda:sm_80"


def compiled_text(text: str, target: str = TARGET, **options: Any) -> Compiled:
    """Compile IR text, without the cache, which would hide a change of the compiler."""
    made = compile_source(Program(parse(text)), Options(target=target, cache=False, **options))
    assert knobs.checks_bounds() or looked_at(made) == [], "accesses that are not shown"
    return made


def looked_at(compiled: Compiled) -> list[str]:
    """Return the modules in which accesses are looked at in the run."""
    return [module.name for module in plan_of(compiled).modules if "trap;" in module.ptx]


def module_of(name: str, arrays: Sequence[Array], **attributes: Any) -> str:
    """Return the text of a module whose `main` is one operation."""
    specs = [(f"x{number}", spec_of_array(array)) for number, array in enumerate(arrays)]
    function = new_function("main", specs)
    block = function.body.block
    made = GraphEmit.at_end(block)(REGISTRY[name], *block.args, **attributes)
    results = list(made) if isinstance(made, tuple) else [made]
    finish(function, results, [f"y{number}" for number in range(len(results))])
    return print_module(ModuleOp([function]))


def plan_of(compiled: Compiled) -> GpuPlan:
    """Return the plan of what was compiled for a GPU."""
    assert compiled.plan is not None
    return compiled.plan


def run_plan(
    compiled: Compiled,
    inputs: Sequence[Array],
    *,
    seed: int | None = None,
    driver: Driver | None = None,
) -> list[Array]:
    """Run on the emulator (every access is checked, and whether a barrier orders it), or a GPU."""
    driver = driver or chosen_driver(compiled.target.cpu, seed=seed)
    return [np.asarray(array) for array in load_on_gpu(compiled, driver).run(list(inputs))]


def run_wrong(
    compiled: Compiled, inputs: Sequence[Array], *, seed: int | None = None
) -> list[Array]:
    """Run a kernel that does not wait for what it should: on the emulator, for a GPU may hang."""
    driver = EmulatedDriver(compiled.target.cpu, seed=seed, races=True)
    return run_plan(compiled, inputs, driver=driver)


def check_text(
    text: str,
    inputs: Sequence[Array],
    *,
    rtol: float = 2e-5,
    target: str = TARGET,
    seed: int | None = None,
    mattr: str = "",
) -> GpuPlan:
    """Compare what a module computes on the emulator with its evaluation; assemble it too."""
    compiled = compiled_text(text, target, mattr=mattr)
    wanted = interpret(parse(text), inputs)
    for got, want in zip(run_plan(compiled, inputs, seed=seed), wanted, strict=True):
        wide = want.astype(np.float64)
        scale = float(np.max(np.abs(wide), initial=1.0))
        np.testing.assert_allclose(got.astype(np.float64), wide, rtol=rtol, atol=rtol * scale)
    check_assembled(plan_of(compiled))
    return plan_of(compiled)


def check_assembled(plan: GpuPlan) -> None:
    """Assemble all modules where there is an assembler: nothing is spilled, nothing warned of."""
    ptxas = find_ptxas()
    for module in plan.modules if ptxas is not None else ():
        assert ptxas is not None
        made = assemble(module.ptx, module.architecture, ptxas)
        assert (made.spilled, made.stack, made.warnings) == (0, 0, ()), module.name
