"""`Pass`: the base of all rewrites, its options as text, and what is recorded of a run.

A pass is a frozen dataclass; its fields are its options. In text, options stand in braces as
in MLIR, parted by blanks, underscores written as dashes:

| field            | text                        |
|------------------|-----------------------------|
| bool             | `merge=true`, or `merge`    |
| int, float       | `limit=8`, `share=0.5`      |
| str              | `kind=row`, `"two words"`   |
| tuple of str     | `keep=softmax,gelu`         |
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, get_type_hints

from xdsl.dialects.builtin import ModuleOp

from ..errors import CompileError, GravureError
from ..ir import Op, Program


class PipelineError(GravureError, ValueError):
    """A pipeline of passes that cannot be read: a name, an option, a bracket.

    `gravure passes` lists the passes and their options. A pipeline is a list of names parted
    by commas, each with its options in braces: `canonicalize,constant-fold{limit=8}`.
    """

    code = "GV4200"
    exit_status = 2


class PassError(CompileError):
    """A pass of gravure failed on a valid program: a mistake of ours.

    The file that the message names holds the program before the pass and the rest of the
    pipeline; `gravure opt --run-reproducer FILE` fails in the same way. `--disable-pass` may be
    a way around it.
    """

    code = "GV4300"
    exit_status = 70
    reproducer: Path | None = None
    """The file that replays the failure."""


@dataclass(frozen=True)
class Pass:
    """Base of all passes: `apply` rewrites a program in place."""

    name: ClassVar[str] = ""
    """The file's name with dashes; set for each subclass that does not say it."""

    LEVEL: ClassVar[str] = ""
    """The level that the program must be on; any if empty."""

    FOR: ClassVar[tuple[type[Op], ...]] = ()
    """Classes of operations of which one must be there, or the pass is left out; none: it stays."""

    NUMERICS: ClassVar[str] = "exact"
    """What the pass may do to results, one of `CONTRACTS`."""

    UNTIL: ClassVar[str] = ""
    """The pass up to which the program computes something else; left out where that is."""

    KEEPS: ClassVar[frozenset[str]] = frozenset()
    """Passes for which this one leaves nothing to do where there was nothing before; its own name:
    it leaves nothing for itself."""

    counts: dict[str, int] = field(default_factory=dict, init=False, repr=False, compare=False)
    """What `count` counted, by name of the statistic: something if anything was changed."""

    def __init_subclass__(cls, **rest: Any) -> None:
        """Name the pass after its file, unless it says its name."""
        super().__init_subclass__(**rest)
        if "name" not in vars(cls):
            cls.name = cls.__module__.rsplit(".", maxsplit=1)[-1].replace("_", "-")

    def apply(self, program: Program) -> None:
        """Rewrite the program's module in place; its weights may be replaced."""
        raise NotImplementedError(f"{self.name} does not say what it does")

    @property
    def numerics(self) -> str:
        """Return the contract that holds with these options."""
        return self.NUMERICS

    def count(self, statistic: str, number: int = 1) -> None:
        """Add to a statistic of this run, such as `merged`."""
        self.counts[statistic] = self.counts.get(statistic, 0) + number

    @property
    def changed(self) -> bool:
        """Say whether the program was changed when the pass was run last."""
        return any(self.counts.values())

    def __str__(self) -> str:
        """Return the pass as it stands in a pipeline, options that have their default left out."""
        given = [f for f in _options(type(self)) if getattr(self, f.name) != _default(f)]
        if not given:
            return self.name
        options = " ".join(f"{_dashed(f.name)}={_text(getattr(self, f.name))}" for f in given)
        return f"{self.name}{{{options}}}"

    @classmethod
    def from_options(cls, options: dict[str, str]) -> Pass:
        """Create the pass from options as text, or raise `PipelineError`."""
        if not options:
            return cls()
        types = get_type_hints(cls)
        known = {_dashed(f.name): f for f in _options(cls)}
        values: dict[str, Any] = {}
        for name, text in options.items():
            option = known.get(_dashed(name))
            if option is None:
                raise PipelineError(
                    f"pass {cls.name} has no option {name!r}, expected {', '.join(known) or 'none'}"
                )
            values[option.name] = _value(cls.name, name, text, types[option.name])
        return cls(**values)

    @classmethod
    def option_defaults(cls) -> dict[str, Any]:
        """Return the options, as they are written, with their defaults."""
        return {_dashed(f.name): _default(f) for f in _options(cls)}


CONTRACTS: dict[str, str] = {
    "exact": "each result element has the same bits; a NaN is like any other",
    "ulp:N": "each result element is at most N representable numbers away",
    "reassociating": "sums and products may be formed in another order",
    "approximate": "sums and products may be rounded otherwise, and functions computed otherwise",
    "spreading": "like approximate, and what is not finite may spread to neighbours",
    "narrowing": "numbers are kept in fewer bits on the way",
}
"""What a pass may do to results: `Pass.NUMERICS`, from strict to loose."""


def ulps_of(contract: str) -> int | None:
    """Return how far `exact` and `ulp:N` let results go; None where their size counts.

    Raises `PipelineError` for what is no contract.

    >>> ulps_of("exact"), ulps_of("ulp:2"), ulps_of("approximate")
    (0, 2, None)
    """
    name, _, number = contract.partition(":")
    if name == "ulp" and number.isdecimal() and int(number):
        return int(number)
    if contract not in CONTRACTS or name == "ulp":
        known = ", ".join(CONTRACTS)
        raise PipelineError(f"numerics {contract!r} are unknown, expected one of {known}")
    return 0 if contract == "exact" else None


def meaning_of(contract: str) -> str:
    """Return what a contract says, in words."""
    ulps = ulps_of(contract)
    return CONTRACTS[contract] if not ulps else CONTRACTS["ulp:N"].replace("N", str(ulps))


@dataclass
class Step:
    """One pass of a pipeline that is run, and what was measured."""

    index: int
    """Its place in the pipeline, from 1."""
    rewrite: Pass
    seconds: float = 0.0
    """Time in the pass itself."""
    verify_seconds: float = 0.0
    ops_before: int = 0
    ops_after: int = 0
    memory: int = 0
    """Bytes by which the process's peak of memory grew."""

    @property
    def name(self) -> str:
        """Return the pass's name."""
        return self.rewrite.name

    def as_json(self) -> dict[str, Any]:
        """Return the record as plain data."""
        return {
            "index": self.index,
            "pass": str(self.rewrite),
            "seconds": self.seconds,
            "verify_seconds": self.verify_seconds,
            "ops_before": self.ops_before,
            "ops_after": self.ops_after,
            "memory_bytes": self.memory,
            "numerics": self.rewrite.numerics,
            "statistics": dict(self.rewrite.counts),
        }


@dataclass
class Report:
    """What was recorded of the run of a pipeline."""

    steps: list[Step] = field(default_factory=list)
    seconds: float = 0.0
    """From the start of the first pass to the end of the last, everything included."""

    def as_json(self) -> dict[str, Any]:
        """Return the report as plain data."""
        inside = sum(step.seconds + step.verify_seconds for step in self.steps)
        return {
            "schema": "gravure.passes/1",
            "seconds": self.seconds,
            "other_seconds": max(0.0, self.seconds - inside),
            "passes": [step.as_json() for step in self.steps],
        }

    def as_table(self) -> str:
        """Return a table: time, share of the whole, operations, pass, statistics."""
        lines = ["      ms  share  operations      pass"]
        for step in self.steps:
            share = step.seconds / self.seconds if self.seconds else 0.0
            sizes = f"{step.ops_before} -> {step.ops_after}"
            counts = ", ".join(f"{n} {name}" for name, n in step.rewrite.counts.items())
            lines.append(
                f"{step.seconds * 1e3:8.2f} {share:6.1%}  {sizes:14}  {step.rewrite}"
                + (f"  ({counts})" if counts else "")
            )
        lines.append(f"{self.seconds * 1e3:8.2f}  in all")
        return "\n".join(lines)


class Observer:
    """Something that looks at a program while passes run; this one does nothing."""

    def start(self, program: Program) -> None:
        """See the program before the first pass."""

    def before(self, step: Step, program: Program) -> None:
        """See the program before a pass."""

    def after(self, step: Step, program: Program) -> None:
        """See the program after a pass, once it is verified."""

    def finish(self, report: Report) -> None:
        """See what was recorded, after the last pass."""


def count_operations(module: ModuleOp) -> Counter[str]:
    """Return how many operations of each name there are at all depths, the module left out."""
    names, blocks = list[str](), [block for region in module.regions for block in region.blocks]
    for block in blocks:
        op = block._first_op
        while op is not None:
            names.append(op.name)
            if op.regions:
                blocks += [inner for region in op.regions for inner in region.blocks]
            op = op._next_op
    return Counter(names)


def _options(cls: type[Pass]) -> list[Any]:
    return [f for f in fields(cls) if f.init]


def _default(option: Any) -> Any:
    return option.default


def _dashed(name: str) -> str:
    return name.replace("_", "-")


_BARE = re.compile(r"[\w.+*/@:-]+")


def _text(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case tuple():
            return ",".join(map(_text, value)) if value else '""'
        case str():
            return value if _BARE.fullmatch(value) else json.dumps(value)
        case _:
            return repr(value)


def _value(owner: str, name: str, text: str, kind: Any) -> Any:
    try:
        if kind is bool:
            return {"true": True, "false": False, "": True}[text]
        if kind is int:
            return int(text)
        if kind is float:
            return float(text)
        if kind is str:
            return json.loads(text) if text.startswith('"') else text
    except (ValueError, KeyError) as error:
        wanted = "true or false" if kind is bool else f"a value of type {kind.__name__}"
        raise PipelineError(f"option {name} of {owner} is {text!r}, expected {wanted}") from error
    parts = [part.strip() for part in text.split(",")] if text not in ("", '""') else []
    return tuple(json.loads(part) if part.startswith('"') else part for part in parts)
