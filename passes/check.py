"""Compare what a program computes before and after each pass, on the reference interpreter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from xdsl.dialects.func import FuncOp

from ..errors import Advice, CompileError
from ..ir import SOURCE, Array, Program, interpret
from ..ir.program import (
    argument_names,
    argument_specs,
    functions,
    optional_function,
    result_names,
    returned,
)
from .analysis.arguments import KINDS, make_arguments
from .base import Observer, Step

TOLERANCE: dict[int, float] = {2: 2e-2, 4: 1e-4, 8: 1e-11}
"""What a pass that is not exact may change, relative to the largest magnitude of the result,
by the size of an element."""

Key = tuple[str, str]
"""Name of the function, kind of the arguments."""


@dataclass
class Check(Observer):
    """Runs the program after each pass and raises an error that names the pass at fault."""

    arguments: Mapping[str, Sequence[Array]] = field(default_factory=dict)
    """Arguments by function; made up where none are given."""
    seed: int = 0
    last: dict[Key, list[Array]] = field(default_factory=dict)
    """The results after the last pass."""

    def start(self, program: Program) -> None:
        """Run the program as it is given."""
        self.last = self.results(program)

    def after(self, step: Step, program: Program) -> None:
        """Run the program again and compare with what it computed before the pass."""
        found = self.results(program)
        for key, wants in self.last.items():
            exact = step.rewrite.numerics == "exact"
            if key in found and (exact or key[1] != "special"):
                self.compare(step, program, key, wants, found[key])
        self.last = found

    def results(self, program: Program) -> dict[Key, list[Array]]:
        """Return the results of every function that takes and gives tensors."""
        whole = Program(program.module, with_prepared(program), program.source)
        found: dict[Key, list[Array]] = {}
        for function in functions(program.module):
            name = function.sym_name.data
            if name == "prepare" or not _is_entry(function):
                continue  # @prepare may come to prepare other weights: what uses them must not
            for kind in ("given",) if name in self.arguments else KINDS:
                arguments = self.arguments.get(name) or make_arguments(
                    function, program.ranges, kind=kind, seed=self.seed
                )
                copies = [np.array(x) for x in arguments]
                found[name, kind] = interpret(whole, copies, function=name)
        return found

    def compare(
        self, step: Step, program: Program, key: Key, wants: list[Array], founds: list[Array]
    ) -> None:
        """Raise `CompileError` at the first result that differs more than the pass may."""
        function = optional_function(program.module, key[0])
        assert function is not None, f"@{key[0]} has results but is gone"
        rows = zip(result_names(function), wants, founds, returned(function), strict=True)
        for name, want, found, value in rows:
            if (reason := difference(want, found, step.rewrite.numerics)) is None:
                continue
            owner = value.owner
            source = getattr(owner, "attributes", {}).get(SOURCE)
            made_by = getattr(owner, "name", "an argument")
            raise CompileError(
                f"pass {step.rewrite} changed result {name!r} of @{key[0]} on {key[1]} "
                f"arguments: {reason}; it is made by {made_by}",
                location=source.data if source is not None else program.source,
                hint=Advice(
                    f'this is a mistake in gravure; disable=("{step.rewrite.name}",) leaves it out',
                    f"this is a mistake in gravure; --disable-pass {step.rewrite.name}"
                    " leaves it out",
                ),
            )


def difference(want: Array, found: Array, contract: str) -> str | None:
    """Return how two results differ, None if they do not beyond the contract."""
    if want.dtype != found.dtype or want.shape != found.shape:
        return f"{found.dtype}{list(found.shape)}, expected {want.dtype}{list(want.shape)}"
    if want.dtype.itemsize == 1:  # of floats that narrow, the bits
        want, found = want.view(np.uint8), found.view(np.uint8)
    if want.dtype.kind in "biuO" or want.size == 0:
        wrong = int(np.count_nonzero(want != found))
        return f"{wrong} of {want.size} elements differ" if wrong else None
    size = want.dtype.itemsize // (2 if want.dtype.kind == "c" else 1)
    if want.dtype.kind == "V":  # bfloat16
        want, found = want.astype(np.float32), found.astype(np.float32)
    with np.errstate(all="ignore"):
        same = (want == found) | (np.isnan(want) & np.isnan(found))
        errors = np.where(same, 0.0, np.abs(found - want))
        finite = np.abs(want[np.isfinite(want)])
        scale = float(finite.max()) if finite.size else 0.0
    worst = float(np.max(errors)) if not np.isnan(errors).any() else float("nan")
    allowed = 0.0 if contract == "exact" else TOLERANCE[size] * scale
    if worst <= allowed:
        return None
    place = int(np.argmax(np.where(np.isnan(errors), np.inf, errors)))
    pair = f"{found.flat[place]} instead of {want.flat[place]}"
    return f"error {worst:.3g}, allowed {allowed:.3g} ({pair})"


def with_prepared(program: Program) -> Mapping[str, Array]:
    """Return the weights together with what `@prepare` makes of them."""
    prepare = optional_function(program.module, "prepare")
    if prepare is None or not _is_entry(prepare):
        return program.weights
    arguments = [program.weights[name] for name in argument_names(prepare)]
    made = interpret(program, arguments, function="prepare")
    return {**program.weights, **dict(zip(result_names(prepare), made, strict=True))}


def _is_entry(function: FuncOp) -> bool:
    """Say whether the function can be run: public, with a body, on tensors."""
    if function.sym_visibility is not None or function.is_declaration:
        return False
    try:
        argument_specs(function)
    except TypeError:
        return False
    return all(str(t).startswith("tensor") for t in function.function_type.inputs)
