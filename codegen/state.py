"""Several functions over one state, as one library for C: a training step saved ahead of time.

    int32_t TAG_init(TAG_state *state)
    int32_t TAG_NAME(TAG_state *state, inputs, outputs, workspace, context)     for each function
    void    TAG_save(const TAG_state *state, void *data)
    int32_t TAG_load(TAG_state *state, const void *data, size_t size)
    int32_t TAG_check_cpu(void)

The state is a struct with an array for each variable. A function is a compiled model of its own,
whose name nobody sees: what is here completes the tables of its arguments by the variables that it
reads and writes, in place where the plan has it so. What is saved is a safetensors file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import CompileError
from ..lazy import cached_property
from ..requirements import NUMBERS
from ..runtime.artifact import ALIGNMENT, DTYPE_CODES, DTYPES, TensorInfo
from ..runtime.files import replacing
from .aot.header import C_TYPES, SHARED
from .aot.library import link
from .aot.static import archive, merge
from .compiled import Compiled
from .export import object_of
from .llvm.compile import assemble
from .llvm.entry.functions import entry_target
from .llvm.entry.routine import c_string
from .llvm.entry.status import POINTER, REQUIREMENT, SHAPE, status

FAULT_OF = (
    "  %number = load i32, ptr %fault",
    "  %wrong = icmp ne i32 %number, 0",
    "  %above = shl i32 %number, 8",
    f"  %told = or i32 %above, {REQUIREMENT}",
    "  %faulty = select i1 %wrong, i32 %told, i32 0",
    "  %ran = icmp eq i32 %status, 0",
    "  %own = select i1 %ran, i32 %faulty, i32 %status",
)
"""Takes the status of a run, and gives that of its fault where it went well."""
STATE_STATUS, DATA_STATUS = 127 << 24 | status(POINTER, 0), 127 << 24 | status(SHAPE, 0)
"""What is wrong with the state, and with data that is to be loaded."""
RESERVED = frozenset({"init", "save", "load", "state", "status", "manifest", "check_cpu"})
"""Names that functions cannot have."""

COPY = """
define internal void @copy(ptr %to, ptr %from, i64 %count) nounwind {
entry:
  br label %look
look:
  %i = phi i64 [ 0, %entry ], [ %next, %move ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %move, label %done
move:
  %from.at = getelementptr i8, ptr %from, i64 %i
  %to.at = getelementptr i8, ptr %to, i64 %i
  %byte = load i8, ptr %from.at
  store i8 %byte, ptr %to.at
  %next = add i64 %i, 1
  br label %look
done:
  ret void
}
define internal i1 @is_state(ptr %state) nounwind {
  %number = ptrtoint ptr %state to i64
  %low = and i64 %number, 63
  %aligned = icmp eq i64 %low, 0
  %there = icmp ne ptr %state, null
  %good = and i1 %aligned, %there
  ret i1 %good
}
"""

LOAD = """
define i32 @TAG_load(ptr %state, ptr %data, i64 %size) nounwind {
entry:
  %good = call i1 @is_state(ptr %state)
  br i1 %good, label %measure, label %no.state
measure:
  %whole = icmp eq i64 %size, SIZE
  br i1 %whole, label %look, label %no.data
look:
  %i = phi i64 [ 0, %measure ], [ %next, %compare ]
  %more = icmp ult i64 %i, HEAD
  br i1 %more, label %compare, label %take
compare:
  %expected.at = getelementptr i8, ptr @head, i64 %i
  %found.at = getelementptr i8, ptr %data, i64 %i
  %expected = load i8, ptr %expected.at
  %found = load i8, ptr %found.at
  %next = add i64 %i, 1
  %same = icmp eq i8 %expected, %found
  br i1 %same, label %look, label %no.data
take:
TAKE
  ret i32 0
no.state:
  ret i32 NO_STATE
no.data:
  ret i32 NO_DATA
}
"""


@dataclass(frozen=True)
class Field:
    """A variable in the state."""

    name: str
    """An identifier of C."""
    info: TensorInfo
    offset: int
    """Where it is in the state."""
    saved: int
    """Where it is behind the head of what is saved."""

    @property
    def bytes(self) -> int:
        """Return how many bytes it takes."""
        size = DTYPES[self.info.dtype]
        for each in self.info.shape_for({}):
            size *= each
        return size


def layout(infos: Iterable[tuple[str, TensorInfo, int]]) -> list[Field]:
    """Return the fields of a state for names, tensors and places in what is saved."""
    made: list[Field] = []
    for name, info, saved in infos:
        end = made[-1].offset + max(made[-1].bytes, 1) if made else 0
        made.append(Field(name, info, -(-end // ALIGNMENT) * ALIGNMENT, saved))
    return made


@dataclass(frozen=True)
class Member:
    """A function over the state."""

    name: str
    compiled: Compiled
    inputs: Sequence[str]
    """The names of the inputs that callers give; behind them come those from the state."""
    read: Sequence[int]
    """The fields that are inputs."""
    outputs: int
    """How many outputs callers get; the others are fields."""
    written: Sequence[int]
    faults: Sequence[str] = ()
    """What each requirement says that a run may find not to hold; the last output, behind those
    that are written, is then the number of the first one, from 1."""

    @property
    def tag(self) -> str:
        """Return the name of the model that it calls."""
        return self.compiled.description.tag

    def described(self) -> dict[str, Any]:
        """Return what callers give and get, as JSON."""
        model = self.compiled.description
        return {
            "name": self.name,
            "inputs": [described(*each) for each in zip(self.inputs, model.inputs, strict=False)],
            "outputs": [described(each.name, each) for each in model.outputs[: self.outputs]],
        }


def described(name: str, info: TensorInfo) -> dict[str, Any]:
    """Return a tensor as JSON."""
    return {"name": name, "dtype": info.dtype, "shape": info.shape}


@dataclass(frozen=True)
class StateLibrary:
    """Functions over one state; `init` is the first."""

    tag: str
    fields: Sequence[Field]
    members: Sequence[Member]
    head: bytes
    """What stands before the tensors in a file."""

    @property
    def size(self) -> int:
        """Return the bytes of the state."""
        last = self.fields[-1]
        return -(-(last.offset + max(last.bytes, 1)) // ALIGNMENT) * ALIGNMENT

    @property
    def saved(self) -> int:
        """Return the bytes of what is saved."""
        return len(self.head) + sum(field.bytes for field in self.fields)

    @property
    def workspace(self) -> int:
        """Return the bytes that the largest function works in."""
        return max(member.compiled.description.workspace_bytes for member in self.members)

    @cached_property
    def object(self) -> bytes:
        """Return one object with all functions, of whose names only the declared ones are seen."""
        target = entry_target(self.members[0].compiled.target)
        parts = [object_of(member.compiled) for member in self.members]
        return merge([assemble(self.text(), target, optimisation=0), *parts], self.tag)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write what the suffix asks for: `.so`, `.o`, `.a` or `.h`."""
        suffix = Path(path).suffix
        if suffix not in ("", ".so", ".o", ".a", ".h"):
            raise CompileError(f"a file {suffix} of functions: expected .so, .o, .a or .h")
        if suffix in ("", ".so"):
            link([self.object], self.tag).save(path)
            return
        with replacing(path) as file:
            if suffix == ".h":
                file.write(self.header().encode())
            else:
                file.write(self.object if suffix == ".o" else archive("state.o", self.object))

    # -- code ----------------------------------------------------------------------------------

    def text(self) -> str:
        """Return the LLVM text of the functions that callers see."""
        tag, (length, head) = self.tag, _data(self.head)
        manifest_length, manifest = c_string(self.manifest())
        pieces = [(f.offset, len(self.head) + f.saved, f.bytes) for f in self.fields]
        take = [_copy(n, piece, state="to", data="from") for n, piece in enumerate(pieces)]
        put = [_copy(n, piece, state="from", data="to") for n, piece in enumerate(pieces)]
        load = LOAD.replace("TAKE", "\n".join(take))
        for word, value in (("NO_STATE", STATE_STATUS), ("NO_DATA", DATA_STATUS)):
            load = load.replace(word, str(value))
        load = load.replace("TAG", tag).replace("SIZE", str(self.saved))
        return "\n".join([
            f"@{tag}_manifest = constant [{manifest_length} x i8] {manifest}",
            f"@head = internal constant [{length} x i8] {head}",
            COPY,
            *(self.caller(number) for number in range(len(self.members))),
            load.replace("HEAD", str(length)),
            f"define void @{tag}_save(ptr %state, ptr %data) nounwind {{",
            f"  call void @copy(ptr %data, ptr @head, i64 {length})",
            *put,
            "  ret void",
            "}",
            *self.check_cpu(),
            *self.statuses(),
        ])  # fmt: skip

    def check_cpu(self) -> list[str]:
        """Return the function that asks the processor whether it can run all functions."""
        count = len(self.members)
        lines = [f"declare i32 @{member.tag}_check_cpu()" for member in self.members]
        lines += [f"define i32 @{self.tag}_check_cpu() nounwind {{", "  br label %ask0"]
        for number, member in enumerate(self.members):
            after = f"ask{number + 1}" if number + 1 < count else "fine"
            lines += [
                f"ask{number}:",
                f"  %status{number} = call i32 @{member.tag}_check_cpu()",
                f"  %is.fine{number} = icmp eq i32 %status{number}, 0",
                f"  br i1 %is.fine{number}, label %{after}, label %lacks{number}",
                f"lacks{number}:",
                f"  %named{number} = or i32 %status{number}, {number << 24}",
                f"  ret i32 %named{number}",
            ]
        return [*lines, "fine:", "  ret i32 0", "}"]

    def caller(self, number: int) -> str:
        """Return the function that calls one model with the state."""
        member, tag = self.members[number], self.tag
        rest = "" if member.name == "init" else ", ptr %in, ptr %out, ptr %workspace, ptr %context"
        lines = [
            f"declare i32 @{member.tag}_run(ptr, ptr, ptr, ptr)",
            f"define i32 @{tag}_{member.name}(ptr %state{rest}) nounwind {{",
            "  %good = call i1 @is_state(ptr %state)",
            "  br i1 %good, label %begin, label %no.state",
            "no.state:",
            f"  ret i32 {STATE_STATUS}",
            "begin:",
        ]
        lines += self.table("in", len(member.inputs), member.read)
        lines += self.table("out", member.outputs, member.written, faults=bool(member.faults))
        more = "ptr null, ptr null" if member.name == "init" else "ptr %workspace, ptr %context"
        return "\n".join([
            *lines,
            f"  %status = call i32 @{member.tag}_run(ptr %in.all, ptr %out.all, {more})",
            *(FAULT_OF if member.faults else ("  %own = add i32 %status, 0",)),
            f"  %named = or i32 %own, {number << 24}",
            "  %fine = icmp eq i32 %own, 0",
            "  %result = select i1 %fine, i32 0, i32 %named",
            "  ret i32 %result",
            "}",
        ])  # fmt: skip

    def table(
        self, name: str, given: int, fields: Sequence[int], *, faults: bool = False
    ) -> list[str]:
        """Return the lines that make a table: of tensors that are given, of fields, of a fault."""
        count = max(given + len(fields) + faults, 1)
        lines = [f"  %{name}.all = alloca [{count} x [3 x i64]], align 8"]
        if faults:
            lines.append(f"  %fault = alloca [{NUMBERS} x i64], align 64")
            row = ("ptr %fault", "i64 0", f"i64 {DTYPE_CODES['i64'] << 32 | 1}")
            for word, value in enumerate(row):
                at = f"%{name}.fault.{word}"
                lines += _store(at, f"%{name}.all", 3 * (count - 1) + word, value)
        for word in range(3 * given):
            at = f"%{name}.{word}"
            lines += [
                f"  {at}.from = getelementptr i64, ptr %{name}, i64 {word}",
                f"  {at} = load i64, ptr {at}.from",
                *_store(f"{at}.to", f"%{name}.all", word, f"i64 {at}"),
            ]
        for number, index in enumerate(fields):
            field, first = self.fields[index], 3 * (given + number)
            code = DTYPE_CODES[field.info.dtype] << 32 | len(field.info.shape)
            at = f"%{name}.field{number}"
            lines.append(f"  {at} = getelementptr i8, ptr %state, i64 {field.offset}")
            for word, value in enumerate((f"ptr {at}", "i64 0", f"i64 {code}")):
                lines += _store(f"{at}.{word}", f"%{name}.all", first + word, value)
        return lines

    def statuses(self) -> list[str]:
        """Return the function that puts a status into words."""
        texts = {
            STATE_STATUS: f"the state: null or not aligned to {ALIGNMENT} bytes",
            DATA_STATUS: "the data: not what was saved of such a state",
        }
        lines = []
        for value, text in texts.items():
            length, data = c_string(text)
            lines.append(f"@status.{value} = internal constant [{length} x i8] {data}")
        faults = {
            number << 24 | status(REQUIREMENT, place): text
            for number, member in enumerate(self.members)
            for place, text in enumerate(member.faults, 1)
        }
        for value, text in faults.items():
            length, data = c_string(text)
            lines.append(f"@status.{value} = internal constant [{length} x i8] {data}")
        lines += [f"declare ptr @{member.tag}_status(i32)" for member in self.members]
        lines += [
            f"define ptr @{self.tag}_status(i32 %status) nounwind {{",
            "  switch i32 %status, label %no.fault [",
            *(f"    i32 {value}, label %fault{value}" for value in faults),
            "  ]",
            *(f"fault{value}:\n  ret ptr @status.{value}" for value in faults),
            "no.fault:",
            "  %own = and i32 %status, 16777215",
            "  %number = lshr i32 %status, 24",
            "  switch i32 %number, label %here [",
            *(f"    i32 {number}, label %m{number}" for number in range(len(self.members))),
            "  ]",
            "here:",
            f"  %is.state = icmp eq i32 %status, {STATE_STATUS}",
            f"  %text = select i1 %is.state, ptr @status.{STATE_STATUS}, ptr @status.{DATA_STATUS}",
            "  ret ptr %text",
        ]
        for number, member in enumerate(self.members):
            lines += [
                f"m{number}:",
                f"  %text{number} = call ptr @{member.tag}_status(i32 %own)",
                f"  ret ptr %text{number}",
            ]
        return [*lines, "}"]

    # -- what it is ----------------------------------------------------------------------------

    def manifest(self) -> str:
        """Return what the library is, as JSON."""
        import json  # noqa: PLC0415  (only here)

        return json.dumps({
            "tag": self.tag,
            "functions": [member.described() for member in self.members[1:]],
            "state": [{**described(f.name, f.info), "offset": f.offset} for f in self.fields],
            "state_bytes": self.size,
            "saved_bytes": self.saved,
            "workspace_bytes": self.workspace,
        })  # fmt: skip

    def header(self) -> str:
        """Return the text of a C header that needs no other file."""
        tag, big = self.tag, self.tag.upper()
        state = [
            f"    GRAVURE_ALIGNED {C_TYPES[f.info.dtype]} {f.name}{_dimensions(f.info)};"
            for f in self.fields
        ]
        return "\n".join([
            f"/* Functions over one state, which has to be aligned to {ALIGNMENT} bytes.",
            " *",
            f" *     static {tag}_state state;",
            f" *     {tag}_init(&state);",
            " *",
            " * The workspace is aligned to 64 bytes. The context may be null; then each call asks",
            " * the processor what it can, which takes microseconds: ask once, and say so.",
            " *",
            f" *     if ({tag}_check_cpu() != 0) return 1;",
            " *     gravure_context context = {0};",
            " *     context.cpu = GRAVURE_CPU_CHECKED; */",
            f"#ifndef GRAVURE_STATE_{big}_H",
            f"#define GRAVURE_STATE_{big}_H",
            "",
            SHARED.read_text(encoding="utf-8"),
            "#ifdef __cplusplus",
            'extern "C" {',
            f"#define GRAVURE_ALIGNED alignas({ALIGNMENT})",
            "#else",
            f"#define GRAVURE_ALIGNED _Alignas({ALIGNMENT})",
            "#endif",
            "",
            f"#define {big}_WORKSPACE_BYTES {self.workspace}u",
            f"#define {big}_SAVED_BYTES {self.saved}u",
            "",
            "/* Every variable. */",
            "typedef struct {",
            *state,
            f"}} {tag}_state;",
            "",
            "/* Give every variable its first value. */",
            f"int32_t {tag}_init({tag}_state *state);",
            *(line for member in self.members[1:] for line in self.declaration(member)),
            "",
            f"/* Write {big}_SAVED_BYTES bytes, those of a safetensors file; and read them. */",
            f"void {tag}_save(const {tag}_state *state, void *data);",
            f"int32_t {tag}_load({tag}_state *state, const void *data, size_t size);",
            "",
            "/* Say whether this processor can run the functions: 0 if so. */",
            f"int32_t {tag}_check_cpu(void);",
            f"const char *{tag}_status(int32_t status);",
            f"extern const char {tag}_manifest[];",
            "",
            "#undef GRAVURE_ALIGNED",
            "#ifdef __cplusplus",
            "}",
            "#endif",
            "",
            f"#endif /* GRAVURE_STATE_{big}_H */",
            "",
        ])  # fmt: skip

    def declaration(self, member: Member) -> list[str]:
        """Return the lines that declare a function."""
        model = member.compiled.description
        inputs = [
            f" *     inputs[{i}]  {model.inputs[i]}  {name}" for i, name in enumerate(member.inputs)
        ]
        outputs = [f" *     outputs[{i}]  {model.outputs[i]}" for i in range(member.outputs)]
        changes = "changes" if member.written else "reads"
        indent = " " * len(f"int32_t {self.tag}_{member.name}(")
        return [
            "",
            f"/* It {changes} the state.",
            *inputs,
            *outputs,
            " */",
            f"int32_t {self.tag}_{member.name}({self.tag}_state *state,",
            f"{indent}const gravure_tensor *inputs, const gravure_tensor *outputs,",
            f"{indent}void *workspace, const gravure_context *context);",
        ]


def _dimensions(info: TensorInfo) -> str:
    pair = [2] if info.dtype in ("c64", "c128") else []
    return "".join(f"[{max(size, 1)}]" for size in (*info.shape_for({}), *pair))


def _store(at: str, table: str, word: int, value: str) -> list[str]:
    """Return the lines that write a word of a table."""
    return [f"  {at} = getelementptr i64, ptr {table}, i64 {word}", f"  store {value}, ptr {at}"]


def _copy(number: int, piece: tuple[int, int, int], *, state: str, data: str) -> str:
    """Return the lines that copy a field: one side is called `from`, the other one `to`."""
    offset, saved, size = piece
    return (
        f"  %{state}{number} = getelementptr i8, ptr %state, i64 {offset}\n"
        f"  %{data}{number} = getelementptr i8, ptr %data, i64 {saved}\n"
        f"  call void @copy(ptr %to{number}, ptr %from{number}, i64 {size})"
    )


def _data(data: bytes) -> tuple[int, str]:
    """Return bytes as LLVM writes them, and how many."""
    return len(data), 'c"' + "".join(f"\\{byte:02X}" for byte in data) + '"'
