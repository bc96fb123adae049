"""Compare what a program computes before and after each pass, on the reference interpreter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from ..errors import Advice, CompileError, GravureError
from ..ir import SOURCE, Array, Program, TensorSpec, canonical_hash, interpret, spec_of
from ..ir.interpret.planned import interpret_planned
from ..ir.placement import roles
from ..ir.program import (
    argument_names,
    argument_specs,
    functions,
    optional_function,
    requirements_of,
    result_names,
    returned,
)
from ..requirements import check
from .analysis.arguments import FOR_EXACT, KINDS, choose_sizes, make_array
from .analysis.memory.chart import nodes_of
from .base import Observer, Step, ulps_of
from .note_requirements import within

TOLERANCE: dict[int, float] = {2: 2e-2, 4: 1e-4, 8: 1e-11}
"""What a pass that is not exact may change, relative to the largest magnitude of the result,
by the size of an element."""

NARROWED = 5e-2
"""The same of a pass that keeps numbers in fewer bits."""

ALL = "all"
"""Stands for the result where there is none."""

Key = tuple[str, str]
"""Name of the function; kind of the arguments, and of the sizes if these are not the usual."""

REFUSED = (GravureError, ValueError, ArithmeticError, LookupError)
"""What operations raise for arguments that they do not take."""


@dataclass(frozen=True)
class NotTaken:
    """Stands for the results where the arguments were not taken."""

    why: str


Results: TypeAlias = list[Array] | NotTaken


@dataclass(frozen=True)
class Finding:
    """A pass that changed a result by more than its contract allows."""

    number: int
    """The pass's place in the pipeline, from 1."""
    name: str
    rewrite: str
    """The pass with its options."""
    contract: str
    function: str
    arguments: str
    """The kind of the arguments, one of `ALL_KINDS` or `given`, and of sizes."""
    result: str
    reason: str
    operation: str
    """What makes the result."""
    source: str
    """The node of the model, or the line, that this comes from."""

    def __str__(self) -> str:
        if self.result == ALL:
            return self.reason
        return (
            f"pass {self.rewrite} changed result {self.result!r} of @{self.function} on "
            f"{self.arguments} arguments: {self.reason}; it is made by {self.operation}"
        )


@dataclass
class Check(Observer):
    """Runs the program after each pass and raises an error that names the pass at fault.

    On the levels of tensors all functions are run, on those of memory the entry alone.
    """

    arguments: Mapping[str, Sequence[Array]] = field(default_factory=dict)
    """Arguments by function; made up where none are given."""
    seed: int = 0
    kinds: Sequence[str] = KINDS
    sizes: Sequence[str] = ("usual",)
    last: dict[Key, Results] = field(default_factory=dict)
    """The results after the last pass."""
    seen: object = None
    """The program that gave them."""
    whole: dict[str, dict[Key, Results]] = field(default_factory=dict)
    """The results before passes that take something away, by the pass that puts it back."""

    def start(self, program: Program) -> None:
        """Run the program as it is given; what fails on arguments like all others is an error."""
        self.seen = _state(program)
        self.whole.clear()
        self.last = self.results(program)
        for (name, kind), found in self.last.items():
            if isinstance(found, NotTaken) and kind in ("random", "given"):
                raise CompileError(
                    f"@{name} cannot be run on {kind} arguments: {found.why}",
                    location=program.source,
                    hint=Advice("give arguments that it takes", "give inputs that it takes: -i"),
                )

    def after(self, step: Step, program: Program) -> None:
        """Run the program again, if it changed, and compare with what it computed before."""
        state = _state(program)
        if state == self.seen:
            return
        found, self.seen = self.results(program), state
        if step.rewrite.UNTIL:
            self.whole[step.rewrite.UNTIL], self.last = self.last, found
            return
        self.last = self.whole.pop(step.name, self.last)
        contract = step.rewrite.numerics
        kept = {} if ulps_of(contract) is not None else FOR_EXACT
        for key, wants in self.last.items():
            kind = key[1].partition(",")[0]
            if key in found and kind not in kept and not isinstance(wants, NotTaken):
                self.compare(step, program, key, wants, found[key])
        self.last = found

    def results(self, program: Program) -> dict[Key, Results]:
        """Return the results of every function that takes and gives tensors."""
        if program.level in ("planned", "loops"):
            return self.of_function(program, program.main)
        whole = Program(program.module, with_prepared(program), program.source)
        found: dict[Key, Results] = {}
        for function in functions(program.module):
            # @prepare may come to prepare other weights: what uses them must not
            if function.sym_name.data != "prepare" and _is_entry(function):
                found |= self.of_function(whole, function)
        return found

    def of_function(self, program: Program, function: FuncOp) -> dict[Key, Results]:
        """Return the results of a function for each kind of arguments."""
        name = function.sym_name.data
        if name in self.arguments:
            return {(name, "given"): run(program, name, self.arguments[name])}
        inputs = inputs_of(function, program)
        made: dict[Key, Results] = {}
        tried: list[Mapping[str, int]] = []
        known = within(program) if name == "main" else {}
        for how in self.sizes:
            sizes = choose_sizes([spec for _, spec in inputs], program.ranges, how)
            if sizes in tried:
                continue
            tried.append(sizes)
            for kind in self.kinds:
                rows = [
                    make_array(
                        spec, sizes, each, kind=kind, seed=self.seed, within=known.get(at, ())
                    )
                    for at, (each, spec) in enumerate(inputs)
                ]
                label = kind if how == "usual" else f"{kind}, {how} sizes"
                made[name, label] = run(program, name, rows)
        return made

    def compare(
        self, step: Step, program: Program, key: Key, wants: list[Array], founds: Results
    ) -> None:
        """Report the first result that differs more than the pass may change it."""
        function = optional_function(program.module, key[0])
        assert function is not None, f"@{key[0]} has results but is gone"
        makers = makers_of(program, function)
        if isinstance(founds, NotTaken):
            self.report(finding(step, program, key, ALL, f"it raises {founds.why}", None))
            return
        for (name, maker), want, found in zip(makers[: len(wants)], wants, founds, strict=True):
            if (reason := difference(want, found, step.rewrite.numerics)) is not None:
                self.report(finding(step, program, key, name, reason, maker))
                return

    def report(self, found: Finding) -> None:
        """Raise `CompileError`."""
        raise CompileError(
            str(found),
            location=found.source,
            hint=Advice(
                f'this is a mistake in gravure; disable=("{found.name}",) leaves it out',
                f"this is a mistake in gravure; --disable-pass {found.name} leaves it out",
            ),
        )


def finding(
    step: Step, program: Program, key: Key, result: str, reason: str, maker: Operation | None
) -> Finding:
    """Return what is known of a result that a pass changed."""
    return Finding(
        step.index, step.name, str(step.rewrite), step.rewrite.numerics, *key, result, reason,
        maker.name if maker is not None else "an argument",
        source_of(maker) or program.source,
    )  # fmt: skip


def source_of(op: Operation | None) -> str:
    """Return the node, or the line, that an operation comes from; empty if it is not known."""
    return ", ".join(nodes_of(op.attributes.get(SOURCE))) if op is not None else ""


def run(program: Program, name: str, arguments: Sequence[Array]) -> Results:
    """Return the results of a function of any level for copies of the arguments."""
    copies = [np.array(x) for x in arguments]
    try:
        if program.level not in ("planned", "loops"):
            return interpret(program, copies, function=name)
        found, rows = interpret_planned(program, copies), requirements_of(program.module)
        if rows:
            check(rows, found.pop())
        return found
    except REFUSED as error:
        return NotTaken(f"{type(error).__name__}: {error}")


def inputs_of(function: FuncOp, program: Program) -> list[tuple[str, TensorSpec]]:
    """Return names and specs of the arguments that a caller gives."""
    if program.level not in ("planned", "loops"):
        return [*zip(argument_names(function), argument_specs(function), strict=True)]
    rows = zip(
        roles(function), argument_names(function), function.function_type.inputs, strict=True
    )
    return [(name, spec_of(kind)) for role, name, kind in rows if role == "input"]


def makers_of(program: Program, function: FuncOp) -> list[tuple[str, Operation | None]]:
    """Return name and maker of each result; where it lies in memory, what uses that last."""
    if program.level not in ("planned", "loops"):
        owners = [value.owner for value in returned(function)]
        made = [each if isinstance(each, Operation) else None for each in owners]
        return [*zip(result_names(function), made, strict=False)]
    rows = zip(roles(function), argument_names(function), function.body.block.args, strict=True)
    order = {op: number for number, op in enumerate(function.body.block.ops)}
    found: list[tuple[str, Operation | None]] = []
    for role, name, value in rows:
        if role == "output":
            users = [use.operation for use in value.uses if use.operation in order]
            found.append((name, max(users, key=order.__getitem__, default=None)))
    return found


def _state(program: Program) -> tuple[str, tuple[tuple[str, int], ...]]:
    """Return what tells whether a program is another than before."""
    weights = tuple((name, id(array)) for name, array in program.weights.items())
    return canonical_hash(program.module), weights


def difference(want: Array, found: Array, contract: str) -> str | None:
    """Return how two results differ, None if they do not beyond the contract."""
    if want.dtype != found.dtype or want.shape != found.shape:
        return f"{found.dtype}{list(found.shape)}, expected {want.dtype}{list(want.shape)}"
    if want.dtype.itemsize == 1:  # of floats that narrow, the bits
        want, found = want.view(np.uint8), found.view(np.uint8)
    if want.dtype.kind in "biuO" or want.size == 0:
        count = int(np.count_nonzero(want != found))
        return f"{count} of {want.size} elements differ" if count else None
    size = want.dtype.itemsize // (2 if want.dtype.kind == "c" else 1)
    if want.dtype.kind == "V":  # bfloat16
        want, found = want.astype(np.float32), found.astype(np.float32)
    ulps = ulps_of(contract)
    with np.errstate(all="ignore"):
        same = (want == found) | (np.isnan(want) & np.isnan(found))
        errors = np.where(same, 0.0, np.abs(found - want))
        if ulps is not None:
            allowed = ulps * np.spacing(np.maximum(np.abs(want), np.abs(found)))
            wrong = ~same & ~(errors <= (allowed if ulps else 0.0))
            wrong |= same & (_signs(want) != _signs(found))
            words = f"at most {ulps} ulp" if ulps else "the same bits"
        else:
            limit = _limit(want, contract, size)
            wrong = ~(errors <= limit)
            words = f"allowed {limit:.3g}"
    if not wrong.any():
        return None
    errors = np.where(np.isnan(errors), np.inf, errors)
    place = int(np.argmax(np.where(wrong, errors, -1.0)))
    where = ", ".join(str(int(i)) for i in np.unravel_index(place, want.shape))
    pair = f"{found.flat[place]} instead of {want.flat[place]}"
    return f"error {errors.flat[place]:.3g} at [{where}], {words} ({pair})"


def _limit(want: Array, contract: str, size: int) -> float:
    """Return what may differ by a contract that does not count representable numbers."""
    finite = np.abs(want[np.isfinite(want)])
    scale = float(finite.max()) if finite.size else 0.0
    return (NARROWED if contract == "narrowing" else TOLERANCE[size]) * scale


def _signs(x: Array) -> Array:
    """Return where numbers, or a part of them, are below zero or minus zero; NaN have no sign."""
    if x.dtype.kind == "c":
        return np.asarray(_signs(x.real) | 2 * _signs(x.imag))
    return np.asarray((np.signbit(x) & ~np.isnan(x)).astype(np.int8))


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
