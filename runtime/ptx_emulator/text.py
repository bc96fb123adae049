"""PTX text as data: kernels, their parameters and instructions, and the variables of a module.

Statements end in `;`, so no grammar is needed: comments go, the text is cut into statements with
their lines, and each is a declaration, a label or an instruction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from .faults import UnsupportedPtx

WIDTHS: Mapping[str, int] = {
    **{"b8": 1, "u8": 1, "s8": 1, "b16": 2, "u16": 2, "s16": 2, "f16": 2, "bf16": 2},
    **{"b32": 4, "u32": 4, "s32": 4, "f32": 4, "f16x2": 4, "bf16x2": 4, "tf32": 4},
    **{"u16x2": 4, "s16x2": 4},
    **{"b64": 8, "u64": 8, "s64": 8, "f64": 8, "b128": 16, "pred": 1},
}
"""Bytes of each type."""

_PARAMETER = re.compile(
    r"\.param\s+(?:\.align\s+(\d+)\s+)?\.(\w+)\s+"
    r"(?:\.ptr\s+(?:\.(?:global|shared|const|local)\s+)?(?:\.align\s+\d+\s+)?)?([\w$]+)(?:\[(\d+)\])?"
)
_VARIABLE = re.compile(
    r"(?:\.(?:visible|extern|weak)\s+)*\.(shared|global|const|local)\s+(?:\.align\s+(\d+)\s+)?"
    r"\.(\w+)\s+([\w$]+)((?:\[\d*\])*)\s*(?:=\s*(.*))?$",
    re.DOTALL,
)
_REGISTERS = re.compile(r"\.reg\s+\.(\w+)\s+(.*)$", re.DOTALL)
_GUARDED = re.compile(r"@(!?)(%[\w$]+)\s+(.*)$", re.DOTALL)
_LABEL = re.compile(r"^\s*([$\w%]+)\s*:(?!:)")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel and where it lies among the packed arguments."""

    name: str
    offset: int
    size: int


@dataclass(frozen=True)
class DeclaredVariable:
    """A variable of a module or kernel; `data` is what it begins as."""

    name: str
    space: str
    size: int
    alignment: int
    data: bytes = b""
    is_dynamic: bool = False
    """Whether its size is given with the launch: `extern .shared x[]`."""


@dataclass(frozen=True)
class Instruction:
    """One instruction, `op.modifiers operands`, that runs where its guard holds."""

    op: str
    modifiers: tuple[str, ...]
    operands: tuple[str, ...]
    guard: str
    """The predicate register, or nothing."""
    is_negated: bool
    line: int

    def __str__(self) -> str:
        name = ".".join((self.op, *self.modifiers))
        return f"{name} {', '.join(self.operands)}".strip()

    @property
    def type(self) -> str:
        """Return the last modifier, which names the type of most instructions."""
        return self.modifiers[-1] if self.modifiers else ""


@dataclass(frozen=True)
class Kernel:
    """An entry of a module."""

    name: str
    parameters: tuple[Parameter, ...]
    registers: Mapping[str, str]
    """For each register its type."""
    variables: tuple[DeclaredVariable, ...]
    code: tuple[Instruction, ...]
    labels: Mapping[str, int]
    tables: Mapping[str, tuple[str, ...]]
    """For each label of `.branchtargets` the labels in it."""
    block: tuple[int, ...]
    """The threads a block must have (`.reqntid`); empty if any number will do."""
    most_registers: int = 0
    """Of each thread (`.maxnreg`); 0 if it is not said."""
    cluster: int = 1
    """The blocks of a cluster (`.reqnctapercluster`), along x."""

    @property
    def argument_bytes(self) -> int:
        """Return the bytes of the packed arguments."""
        return max((each.offset + each.size for each in self.parameters), default=0)

    def packed(self, arguments: Sequence[bytes]) -> bytes:
        """Return the arguments of a launch as they lie in memory; what is not given is left out."""
        data = b""
        for parameter, argument in zip(self.parameters, arguments, strict=False):
            data = data.ljust(parameter.offset, b"\0") + argument[: parameter.size]
        return data


@dataclass(frozen=True)
class Module:
    """A whole PTX text."""

    version: tuple[int, int]
    target: str
    variables: tuple[DeclaredVariable, ...]
    kernels: Mapping[str, Kernel]


def read_module(text: str) -> Module:
    """Return what a PTX text says."""
    text = _without_comments(text)
    version = re.search(r"\.version\s+(\d+)\.(\d+)", text)
    target = re.search(r"\.target\s+(\w+)", text)
    if version is None or target is None:
        raise UnsupportedPtx("not a PTX text: no .version or no .target")
    if called := re.search(r"^\s*(?:\.\w+\s+)*\.func\b", text, re.MULTILINE):
        line = text.count("\n", 0, called.end()) + 1
        raise UnsupportedPtx("functions that are not inlined", location=f"line {line}")
    kernels, outside, end = {}, [], 0
    for entry in re.finditer(r"(?:\.visible\s+|\.weak\s+)?\.entry\s+([\w$]+)\s*\(", text):
        outside.append((end, text[end : entry.start()]))
        close = text.index(")", entry.end())
        start = text.index("{", close)
        end = _closing(text, start) + 1
        kernels[entry[1]] = _read_kernel(
            entry[1], text[entry.end() : close], text[close + 1 : start], text, start + 1, end - 1
        )
    outside.append((end, text[end:]))
    variables = [
        found
        for at, piece in outside
        for statement, line in _statements(piece, text.count("\n", 0, at) + 1)
        if (found := _read_variable(statement, line)) is not None
    ]
    numbers = int(version[1]), int(version[2])
    return Module(numbers, target[1], tuple(variables), kernels)


def _without_comments(text: str) -> str:
    """Return the text with comments blanked out, so that lines keep their numbers."""
    text = re.sub(r"/\*.*?\*/", lambda found: "\n" * found[0].count("\n"), text, flags=re.DOTALL)
    return re.sub(r"//[^\n]*", "", text)


def _closing(text: str, start: int) -> int:
    """Return where the brace that opens at `start` is closed."""
    depth = 0
    for found in re.finditer(r"[{}]", text[start:]):
        depth += 1 if found[0] == "{" else -1
        if depth == 0:
            return start + found.start()
    raise UnsupportedPtx("a brace that is never closed")


def _statements(text: str, line: int) -> Iterator[tuple[str, int]]:
    """Give each statement of a text, its label first, with its line."""
    for piece in text.split(";"):
        rest = piece
        while found := _LABEL.match(rest):
            yield f"{found[1]}:", line + piece[: -len(rest) or None].count("\n")
            rest = rest[found.end() :]
        stripped = " ".join(rest.split())
        lead = len(rest) - len(rest.lstrip())
        if stripped:
            before = piece[: len(piece) - len(rest) + lead]
            yield stripped, line + before.count("\n")
        line += piece.count("\n")


def _read_kernel(
    name: str, parameters: str, directives: str, text: str, start: int, end: int
) -> Kernel:
    registers: dict[str, str] = {}
    variables: list[DeclaredVariable] = []
    code: list[Instruction] = []
    labels: dict[str, int] = {}
    tables: dict[str, tuple[str, ...]] = {}
    waiting = ""
    for statement, line in _statements(_flat(text[start:end]), text.count("\n", 0, start) + 1):
        if statement.endswith(":"):
            waiting = statement[:-1]
            labels[waiting] = len(code)
        elif statement.startswith(".branchtargets"):
            names = statement.removeprefix(".branchtargets").split(",")
            tables[waiting] = tuple(each.strip() for each in names)
        elif found := _REGISTERS.match(statement):
            registers |= _read_registers(found[1], found[2])
        elif statement.startswith("."):
            variable = _read_variable(statement, line)
            variables += [variable] if variable is not None else []
        else:
            code.append(_read_instruction(statement, line))
    block = re.search(r"\.reqntid\s+([\d,\s]+)", directives)
    sizes = tuple(int(size) for size in block[1].split(",")) if block else ()
    registers_most = re.search(r"\.maxnreg\s+(\d+)", directives)
    return Kernel(
        name,
        tuple(_read_parameters(parameters)),
        registers,
        tuple(variables),
        tuple(code),
        labels,
        tables,
        sizes,
        int(registers_most[1]) if registers_most else 0,
        _read_cluster(name, directives),
    )


def _read_cluster(name: str, directives: str) -> int:
    """Return the blocks of a cluster."""
    found = re.search(r"\.reqnctapercluster\s+([\d,\s]+)", directives)
    x, *others = [int(size) for size in found[1].split(",")] if found else [1]
    if any(size != 1 for size in others):
        raise UnsupportedPtx(f"{name}: clusters of {found and found[1].strip()} blocks")
    return x


def _flat(body: str) -> str:
    """Return a body without the braces of inner scopes (those of vectors stand in brackets)."""
    out, depth, previous = [], 0, ""
    for char in body:
        if char == "{" and previous in ";:{}":
            depth += 1
            out.append(" ")
        elif char == "}" and previous in ";{}" and depth:
            depth -= 1
            out.append(" ")
        else:
            out.append(char)
        previous = previous if char.isspace() else char
    return "".join(out)


def _read_parameters(text: str) -> Iterator[Parameter]:
    at = 0
    for found in _PARAMETER.finditer(text):
        width = WIDTHS[found[2]]
        size = width * int(found[4] or 1)
        alignment = int(found[1] or width)
        at = -(-at // alignment) * alignment
        yield Parameter(found[3], at, size)
        at += size


def _read_registers(kind: str, names: str) -> Iterator[tuple[str, str]]:
    for name in names.split(","):
        found = re.fullmatch(r"\s*(%?[\w$]+)(?:<(\d+)>)?\s*", name)
        if found is None:
            raise UnsupportedPtx(f"registers {name.strip()!r}")
        if found[2] is None:
            yield found[1], kind
        else:
            yield from ((f"{found[1]}{number}", kind) for number in range(int(found[2])))


def _read_variable(statement: str, line: int) -> DeclaredVariable | None:
    """Return a variable's declaration; None for a directive that says nothing to run by."""
    found = _VARIABLE.search(statement)
    if found is None:
        return None
    space, alignment, kind, name, sizes, values = found.groups()
    width = WIDTHS[kind]
    counts = [int(size) if size else 0 for size in re.findall(r"\[(\d*)\]", sizes)]
    size = width
    for count in counts:
        size *= count
    data = b"" if values is None else _read_data(values, width, line)
    is_dynamic = space == "shared" and 0 in counts
    size = max(size, len(data))
    return DeclaredVariable(name, space, size, int(alignment or width), data, is_dynamic)


def _read_data(values: str, width: int, line: int) -> bytes:
    """Return the bytes of an initialiser."""
    data = b""
    for value in values.strip("{} ").split(","):
        number = parse_number(value.strip())
        if number is None:
            raise UnsupportedPtx(f"initial value {value.strip()!r}", location=f"line {line}")
        data += (number & ((1 << 8 * width) - 1)).to_bytes(width, "little")
    return data


def parse_number(text: str) -> int | None:
    """Return the bits of a number: an integer, or `0f` or `0d` and hexadecimal digits."""
    if re.fullmatch(r"0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}", text):
        return int(text[2:], 16)
    if re.fullmatch(r"-?(0[xX][0-9a-fA-F]+|\d+)U?", text):
        return int(text.rstrip("U"), 0)
    return None


def _read_instruction(text: str, line: int) -> Instruction:
    guard, is_negated = "", False
    if found := _GUARDED.match(text):
        guard, is_negated, text = found[2], bool(found[1]), found[3]
    name, _, rest = text.partition(" ")
    op, *modifiers = re.sub(r"::", "__", name).split(".")
    names = tuple(modifier.replace("__", "::") for modifier in modifiers)
    return Instruction(op, names, tuple(split_operands(rest)), guard, is_negated, line)


def split_operands(text: str) -> list[str]:
    """Return the parts between commas, of which those in braces and brackets are none."""
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text):
        depth += (char in "{[(") - (char in "}])")
        if char == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    last = text[start:].strip()
    return [*parts, last] if last else parts
