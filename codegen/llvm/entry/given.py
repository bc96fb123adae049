"""Take in the weights that `prepare` is given, and copy what is not computed: loops over tables.

    TAG.take     looks at the address of each raw weight, and writes it down in the frame
    TAG.copies   copies weights that are used as they are, and constants
    TAG.places   tells where a library has each weight as it was given

A model of a thousand layers has ten thousand weights, and code for each would take LLVM longer than
all kernels. So the code is the same for any number, and a table has a row for each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple, replace

from ....runtime.artifact import DTYPES, Description
from .status import POINTER, argument_number, status

MAY_BE_NULL = 128
"""What is said of a weight without elements, above the bits of an address that must be zero."""


def emit_given(model: Description, frame: int, fixed: Iterable[bytes]) -> str:
    """Return the functions that `prepare` calls, and their tables.

    `frame` is the offset of the first address in the frame; `fixed` are the constants that nobody
    gives, where they are not among the library's own weights.
    """
    blob = b"".join(fixed)
    rows = [astuple(each) for each in model.copies]
    for each in model.fixed:
        first, step = (each.first, each.step) if blob else (each.offset, each.distance)
        rows.append(astuple(replace(each, first=first, step=step)))
    own = f"@{model.tag}.constants = private constant {bytes_constant(blob)}" if blob else ""
    text = TAKE + COPIES + COPY
    for name, value in (
        ("COUNT", len(model.raw_names)),
        ("FIRST", status(POINTER, argument_number(model, "raw"))),
        ("SLOTS", frame),
        ("GIVEN", len(model.copies)),
        ("ROWS", len(rows)),
        ("TAG", model.tag),
    ):
        text = text.replace(name, str(value))
    kinds = bytes_constant(_kinds(model))
    return "\n".join(
        [
            own,
            f"@{model.tag}.kinds = private constant {kinds}",
            f"@{model.tag}.copied = private constant {numbers_constant(rows)}",
            text,
        ]
    )


def _kinds(model: Description) -> bytes:
    """Return what the address of each raw weight must be, a byte each."""
    found = bytearray()
    for each in model.raw:
        # Raw weights lie in files, at any address; x86 reads them all the same.
        aligned = 1 if model.triple.startswith("x86_64") else min(DTYPES[each.dtype], 8)
        found += bytes([aligned - 1 | (MAY_BE_NULL if 0 in each.shape else 0)]) * len(each.names)
    return bytes(found)


def emit_places(tag: str, offsets: Sequence[int]) -> str:
    """Return the function that writes down where a library has weights as they were given."""
    table = numbers_constant([[offset] for offset in offsets])
    code = PLACES.replace("COUNT", str(len(offsets))).replace("TAG", tag)
    return f"@{tag}.offsets = private constant {table}\n{code}"


def bytes_constant(data: bytes) -> str:
    r"""Return bytes as a constant of LLVM.

    >>> print(bytes_constant(b"a\xff"))
    [2 x i8] c"\61\FF"
    """
    text = "\\" + data.hex("\\").upper() if data else ""
    return f'[{len(data)} x i8] c"{text}"'


def numbers_constant(rows: Sequence[Sequence[int]]) -> str:
    """Return rows of numbers, one behind the other, as a constant of LLVM.

    >>> numbers_constant([(1, 2), (3, 4)])
    '[4 x i64] [i64 1, i64 2, i64 3, i64 4]'
    """
    numbers = ", ".join([f"i64 {number}" for row in rows for number in row])
    return f"[{sum(map(len, rows))} x i64] [{numbers}]"


TAKE = """
define internal i32 @TAG.take(ptr %raw, ptr %frame) nounwind {
entry:
  %slots = getelementptr i8, ptr %frame, i64 SLOTS
  br label %test
test:
  %number = phi i64 [ 0, %entry ], [ %following, %keep ]
  %more = icmp ult i64 %number, COUNT
  br i1 %more, label %look, label %done
look:
  %given = getelementptr ptr, ptr %raw, i64 %number
  %data = load ptr, ptr %given
  %kind.at = getelementptr i8, ptr @TAG.kinds, i64 %number
  %kind = load i8, ptr %kind.at
  %address = ptrtoint ptr %data to i64
  %none = icmp eq i64 %address, 0
  %needed = icmp sge i8 %kind, 0
  %missing = and i1 %none, %needed
  %mask = and i8 %kind, 127
  %low = trunc i64 %address to i8
  %rest = and i8 %low, %mask
  %odd = icmp ne i8 %rest, 0
  %wrong = or i1 %missing, %odd
  br i1 %wrong, label %refuse, label %keep
keep:
  %slot = getelementptr ptr, ptr %slots, i64 %number
  store ptr %data, ptr %slot
  %following = add i64 %number, 1
  br label %test
refuse:
  %argument = trunc i64 %number to i32
  %above = shl i32 %argument, 8
  %status = add i32 %above, FIRST
  ret i32 %status
done:
  ret i32 0
}
"""
"""Looks at the address of each raw weight, and writes it down."""

COPIES = """
define internal void @TAG.copies(ptr %raw, ptr %constants, ptr %weights) nounwind {
entry:
  br label %test
test:
  %number = phi i64 [ 0, %entry ], [ %following, %next ]
  %more = icmp ult i64 %number, ROWS
  br i1 %more, label %look, label %done
look:
  %at = mul i64 %number, 48
  %row = getelementptr i8, ptr @TAG.copied, i64 %at
  %first = load i64, ptr %row
  %offset.at = getelementptr i8, ptr %row, i64 8
  %offset = load i64, ptr %offset.at
  %size.at = getelementptr i8, ptr %row, i64 16
  %size = load i64, ptr %size.at
  %count.at = getelementptr i8, ptr %row, i64 24
  %count = load i64, ptr %count.at
  %step.at = getelementptr i8, ptr %row, i64 32
  %step = load i64, ptr %step.at
  %distance.at = getelementptr i8, ptr %row, i64 40
  %distance = load i64, ptr %distance.at
  br label %piece
piece:
  %done.of = phi i64 [ 0, %look ], [ %one.more, %copy ]
  %from = phi i64 [ %first, %look ], [ %from.next, %copy ]
  %to = phi i64 [ %offset, %look ], [ %to.next, %copy ]
  %some = icmp ult i64 %done.of, %count
  br i1 %some, label %choose, label %next
choose:
  %target = getelementptr i8, ptr %weights, i64 %to
  %given = icmp ult i64 %number, GIVEN
  br i1 %given, label %one, label %constant
one:
  %place = getelementptr ptr, ptr %raw, i64 %from
  %weight = load ptr, ptr %place
  br label %copy
constant:
  %known = getelementptr i8, ptr %constants, i64 %from
  br label %copy
copy:
  %source = phi ptr [ %weight, %one ], [ %known, %constant ]
  call void @TAG.copy(ptr %source, ptr %target, i64 %size)
  %one.more = add i64 %done.of, 1
  %from.next = add i64 %from, %step
  %to.next = add i64 %to, %distance
  br label %piece
next:
  %following = add i64 %number, 1
  br label %test
done:
  ret void
}
"""
"""Copies what is not computed: the rows are `Copies`."""

COPY = """
define internal void @TAG.copy(ptr %from, ptr %to, i64 %size) nounwind {
entry:
  %end = and i64 %size, -64
  br label %lines
lines:
  %line = phi i64 [ 0, %entry ], [ %next, %more ]
  %some = icmp ult i64 %line, %end
  br i1 %some, label %more, label %bytes
more:
  %source = getelementptr i8, ptr %from, i64 %line
  %target = getelementptr i8, ptr %to, i64 %line
  %read = load <64 x i8>, ptr %source, align 1
  store <64 x i8> %read, ptr %target, align 1
  %next = add i64 %line, 64
  br label %lines
bytes:
  %place = phi i64 [ %end, %lines ], [ %after, %rest ]
  %left = icmp ult i64 %place, %size
  br i1 %left, label %rest, label %done
rest:
  %one = getelementptr i8, ptr %from, i64 %place
  %other = getelementptr i8, ptr %to, i64 %place
  %byte = load i8, ptr %one
  store i8 %byte, ptr %other
  %after = add i64 %place, 1
  br label %bytes
done:
  ret void
}
"""
"""Copies bytes from any address: libraries have no C library."""

PLACES = """
define internal void @TAG.places(ptr %stored, ptr %raw) nounwind {
entry:
  br label %test
test:
  %number = phi i64 [ 0, %entry ], [ %following, %body ]
  %more = icmp ult i64 %number, COUNT
  br i1 %more, label %body, label %done
body:
  %offset.at = getelementptr i64, ptr @TAG.offsets, i64 %number
  %offset = load i64, ptr %offset.at
  %place = getelementptr i8, ptr %stored, i64 %offset
  %slot = getelementptr ptr, ptr %raw, i64 %number
  store ptr %place, ptr %slot
  %following = add i64 %number, 1
  br label %test
done:
  ret void
}
"""
"""Writes down where each weight lies as it was given."""
