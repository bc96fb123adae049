"""What there is: passes, operations, targets, and what is known of each."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from ...errors import did_you_mean
from ...plugins import Plugin, installed, load_file, load_installed, load_possible
from ...target import Target
from ..console import in_bytes, table
from ..errors import UsageError


class Row(Protocol):
    """What is known of one thing in a list."""

    SCHEMA: ClassVar[str]
    KEY: ClassVar[str]
    RIGHT: ClassVar[str]
    HEAD: ClassVar[tuple[str, ...]]

    @property
    def name(self) -> str:
        """What it is called."""

    def lines(self) -> list[list[str]]:
        """Return it as rows of a table."""

    def page(self) -> str:
        """Return all that is known of it."""


RowT = TypeVar("RowT", bound=Row)


@dataclass(frozen=True)
class Listing(Generic[RowT]):
    """Things in their order, as a table; or the pages of those that were asked for."""

    kind: type[RowT]
    rows: tuple[RowT, ...]
    as_pages: bool = False

    def __iter__(self) -> Iterator[RowT]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        if self.as_pages:
            return "\n\n".join(row.page() for row in self.rows)
        head = [[*self.kind.HEAD]] if self.kind.HEAD else []
        return table([*head, *(line for row in self.rows for line in row.lines())],
                     right=self.kind.RIGHT)  # fmt: skip

    def as_json(self) -> dict[str, Any]:
        """Return all rows as plain data."""
        rows = [asdict(row) for row in self.rows]  # type: ignore[call-overload]
        return {"schema": self.kind.SCHEMA, self.kind.KEY: rows}


@dataclass(frozen=True)
class PassRow:
    """What is known of a pass."""

    SCHEMA: ClassVar[str] = "gravure.passlist/1"
    KEY: ClassVar[str] = "passes"
    RIGHT: ClassVar[str] = ""
    HEAD: ClassVar[tuple[str, ...]] = ("pass", "level", "results", "what it does")
    name: str
    summary: str
    doc: str
    options: dict[str, Any]
    """Defaults by name."""
    level: str
    """Where it can be run: `graph`, `fused`, `planned`, `any`."""
    numerics: str
    """What may become of results."""

    @classmethod
    def of(cls, name: str) -> PassRow:
        """Return what is known of the pass of a name."""
        from ...passes.manager import OUTSIDE, load

        found = load(name)
        module = found if name in OUTSIDE else inspect.getmodule(found)
        doc = inspect.cleandoc((module.__doc__ if module else None) or "")
        options = {key: _plain(value) for key, value in found.option_defaults().items()}
        first, level = doc.partition("\n")[0], found.LEVEL or "any"
        return cls(found.name, first, doc, options, level, found.NUMERICS)

    def lines(self) -> list[list[str]]:
        """Return it, and its options below it."""
        options = [["", "", "", f"  {name}={_spelled(v)}"] for name, v in self.options.items()]
        return [[self.name, self.level, self.numerics, self.summary], *options]

    def page(self) -> str:
        """Return all that is to be said about it."""
        from ...passes.base import meaning_of

        options = ", ".join(f"{name}={_spelled(v)}" for name, v in self.options.items()) or "none"
        results = f"{self.numerics}, {meaning_of(self.numerics)}"
        facts = f"level: {self.level}\nresults: {results}\noptions: {options}"
        return f"{self.name}\n\n{self.doc}\n\n{facts}"


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def _spelled(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) or '""' if isinstance(value, list) else str(value)


def list_passes(names: Sequence[str] = ()) -> Listing[PassRow]:
    """Return all passes with their options, or the pages of some.

    - `names`: which; all without it.

    >>> import gravure as gv
    >>> [(row.name, row.options) for row in gv.list_passes(["constant-fold"])]
    [('constant-fold', {'limit': 4096, 'exact': False})]
    """
    from ...passes.manager import available

    rows = tuple(PassRow.of(name) for name in names or available())
    return Listing(PassRow, rows, bool(names))


@dataclass(frozen=True)
class PipelineRow:
    """The passes of a level, in order."""

    level: str
    passes: tuple[str, ...]

    def __str__(self) -> str:
        return ",".join(self.passes)

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"schema": "gravure.pipeline/1", "level": self.level, "passes": [*self.passes]}


def list_pipeline(level: str) -> PipelineRow:
    """Return the passes of a level, in order.

    - `level`: `O0`, `O1`, `O2`, `O3`, or `portable` for what leaves a model to other runtimes.

    >>> import gravure as gv
    >>> gv.list_pipeline("O2").passes[:3]
    ('inline-functions', 'note-requirements', 'split-complex')
    """
    from ...passes.pipelines import LEVELS, PORTABLE

    known = {**LEVELS, "portable": PORTABLE}
    name = level.removeprefix("-")
    name = f"O{name}" if name.isdecimal() else name
    name = name if name in known else name.upper()
    if name not in known:
        raise UsageError(f"level {level!r} is unknown", hint=f"levels are {', '.join(known)}")
    return PipelineRow(name, tuple(known[name]))


RULES = ("evaluate", "gradient", "scalar", "iteration", "decompose")


@dataclass(frozen=True)
class OperationRow:
    """What is known of an operation."""

    SCHEMA: ClassVar[str] = "gravure.ops/1"
    KEY: ClassVar[str] = "operations"
    RIGHT: ClassVar[str] = ""
    HEAD: ClassVar[tuple[str, ...]] = ()
    name: str
    doc: str
    operands: list[str]
    attributes: list[str]
    """Those that have to be given."""
    defaults: dict[str, str]
    """The others."""
    onnx: str | None
    """The operator of the same form."""
    level: str
    host: bool
    """Whether the host carries it out, instead of compiled code."""
    rules: list[str]

    @classmethod
    def of(cls, name: str) -> OperationRow:
        """Return what is known of the operation of a name."""
        from ...ir import REGISTRY

        op = REGISTRY[name if name in REGISTRY else f"gv.{name}"]
        signature = op.signature()
        operands = list(signature.operands)
        if signature.variadic:
            operands.append(f"*{signature.variadic}")
        return cls(
            name, inspect.cleandoc(op.__doc__ or ""), operands, list(signature.required),
            {key: str(value) for key, value in signature.defaults.items()}, op.ONNX, op.LEVEL,
            op.HOST is not None, [rule for rule in RULES if op.has(rule)],
        )  # fmt: skip

    def __str__(self) -> str:
        defaults = [f"{key}={value}" for key, value in self.defaults.items()]
        return f"{self.name}({', '.join([*self.operands, *self.attributes, *defaults])})"

    def lines(self) -> list[list[str]]:
        """Return it as it is called, and what it does."""
        return [[str(self), self.doc.partition("\n")[0]]]

    def page(self) -> str:
        """Return all that is known of it."""
        facts = [
            f"rules: {', '.join(self.rules)}",
            f"ONNX: {self.onnx or 'no operator of the same form'}",
            f"from level: {self.level}",
            f"carried out by: {'the host' if self.host else 'compiled code'}",
        ]
        return "\n".join([str(self), "", self.doc, "", *facts])


def list_operations(names: Sequence[str] = ()) -> Listing[OperationRow]:
    """Return all operations that graphs are made of, or the pages of some.

    - `names`: which, with or without `gv.` before it; all without it.

    >>> import gravure as gv
    >>> print(*gv.list_operations(["gv.exp"]).rows)
    exp(x)
    """
    from ...ir import REGISTRY

    load_installed()
    known = sorted(name.removeprefix("gv.") for name in REGISTRY)
    chosen = [name.removeprefix("gv.") for name in names]
    for name in chosen:
        if name not in known:
            raise UsageError(f"there is no operation {name!r}", hint=did_you_mean(name, known))
    rows = tuple(OperationRow.of(name) for name in chosen or known)
    return Listing(OperationRow, rows, bool(names))


@dataclass(frozen=True)
class TargetRow:
    """What is known of a machine that code can be made for."""

    SCHEMA: ClassVar[str] = "gravure.targets/1"
    KEY: ClassVar[str] = "targets"
    RIGHT: ClassVar[str] = "2"
    HEAD: ClassVar[tuple[str, ...]] = ("target", "machine", "f32 lanes", "runs here", "what it is")
    name: str
    what: str
    triple: str
    cpu: str
    """The processor that code is scheduled for."""
    features: list[str]
    lanes: int
    """Elements of f32 in a vector."""
    registers: int
    """Of vectors."""
    caches: list[int]
    """Bytes of the three levels."""
    missing_here: list[str] | None
    """Features that this machine lacks; None for another architecture."""
    runs_here: bool

    @classmethod
    def of(cls, target: Target) -> TargetRow:
        """Return what is known of a target."""
        host = Target.parse("native")
        same = target.architecture is host.architecture
        missing = sorted({*target.features} - {*host.features}) if same else None
        return cls(
            target.name, Target.known().get(target.name, "a triple"), target.triple, target.cpu,
            list(target.features), target.lanes, target.registers,
            [target.l1, target.l2, target.l3], missing,
            missing == [] or target.can.run_anywhere,
        )  # fmt: skip

    def lines(self) -> list[list[str]]:
        """Return it in one row."""
        here, machine = "yes" if self.runs_here else "", self.triple.partition("-")[0]
        return [[self.name, machine, str(self.lanes), here, self.what]]

    def page(self) -> str:
        """Return all that is known of it."""
        here = "yes" if self.runs_here else f"no: this machine lacks {', '.join(self._missing)}"
        if self.missing_here is None and not self.runs_here:
            here = "no: another architecture"
        return table(
            [
                ["target", f"{self.name}: {self.what}"],
                ["triple", self.triple],
                ["scheduled for", self.cpu],
                ["vectors", f"{self.registers} registers of {self.lanes} f32"],
                ["caches", ", ".join(in_bytes(size) for size in self.caches)],
                ["features", ", ".join(self.features) or "none beyond the plain architecture"],
                ["runs here", here],
            ]
        )

    @property
    def _missing(self) -> list[str]:
        return self.missing_here or []


def list_targets(names: Sequence[str] = (), *, mattr: str = "") -> Listing[TargetRow]:
    """Return all machines that code can be made for, or the pages of some.

    - `names`: processors or triples, `native` for this machine; all without it.
    - `mattr`: features to add and remove: `"+avx2,-fma"`.

    >>> import gravure as gv
    >>> [row.triple for row in gv.list_targets(["neoverse-n1"])]
    ['aarch64-unknown-linux-gnu']
    """
    targets = [Target.parse(name, mattr) for name in names or Target.known()]
    return Listing(TargetRow, tuple(map(TargetRow.of, targets)), bool(names))


@dataclass(frozen=True)
class PluginRow:
    """What is known of a plugin."""

    SCHEMA: ClassVar[str] = "gravure.plugins/1"
    KEY: ClassVar[str] = "plugins"
    RIGHT: ClassVar[str] = ""
    HEAD: ClassVar[tuple[str, ...]] = ("plugin", "package or file", "state", "registers")
    name: str
    package: str
    """Name and version of its package; empty for a file."""
    path: str
    """Its file or folder; empty as long as nobody looked."""
    state: str
    """`loaded`, `not loaded`, or `fault`."""
    fault: str
    """Why it cannot be loaded."""
    registers: dict[str, list[str]]
    """Names of operations, passes, ONNX rules and back ends."""

    @classmethod
    def of(cls, plugin: Plugin) -> PluginRow:
        """Return what is known of a plugin."""
        found: dict[str, list[str]] = {}
        for row in plugin.registered:
            found.setdefault(row.kind, []).append(row.name)
        state = "loaded" if plugin.is_loaded else "fault" if plugin.fault else "not loaded"
        fault = str(plugin.fault or "")
        return cls(plugin.name, plugin.package, plugin.path, state, fault, found)

    def lines(self) -> list[list[str]]:
        """Return it in a row, and what it registers or what is wrong below it."""
        words = [f"{kind} {name}" for kind, names in self.registers.items() for name in names]
        first = [self.name, self.package or self.path, self.state, words[0] if words else ""]
        more = [["", "", "", word] for word in words[1:]]
        return [first, *more, *([["", "", "", line] for line in self.fault.splitlines()])]

    def page(self) -> str:
        """Return all that is known of it."""
        return table(self.lines())


def list_plugins() -> Listing[PluginRow]:
    """Return all plugins: those that are installed, and the files that were loaded.

    They are loaded for it; one that cannot be loaded is in the list with its fault.

    >>> import gravure as gv
    >>> [row.name for row in gv.list_plugins() if row.fault]
    []
    """
    load_possible()
    return Listing(PluginRow, tuple(map(PluginRow.of, installed())))


def load_plugin(path: str | os.PathLike[str]) -> PluginRow:
    """Load a plugin that is not installed: a file of Python, or a folder that is a package.

    - `path`: the file or folder; its module says `GRAVURE_API = 1`, and registers what it has.

    >>> import gravure as gv
    >>> gv.load_plugin("/nowhere/shrink.py")
    Traceback (most recent call last):
    gravure.plugins.PluginError: /nowhere/shrink.py: no such plugin, expected a file of Python
    """
    return PluginRow.of(load_file(Path(path)))
