"""What the status of a run can be, and the function that puts it into words.

A status is a code and, above its low 8 bits, the number of an argument: inputs, then outputs,
then the workspace, the weights, and (in `prepare`) the raw weights; of code 1 it is the number
of the processor's feature that is missing, of `SIZES` that of what is demanded of the dimensions.
"""

from __future__ import annotations

from collections.abc import Mapping

from ....requirements import Requirement
from ....runtime.artifact import ALIGNMENT, DTYPES, OUTSIDE, Description, RawWeights
from .cpu import messages as cpu_messages
from .routine import c_string

OK, CPU, DTYPE, RANK, SHAPE, RANGE, POINTER, WEIGHTS, NO_GPU, NOT_CREATED, CUDA, SIZES = range(12)
"""The codes of a status; above that of `CUDA` is the number that CUDA gave."""


REACHED = 65
"""The code of a status that says which kernel would have gone outside of a buffer."""
REQUIREMENT = 64
"""The code of a status that says which requirement of values did not hold: see `required`."""


def status(code: int, argument: int) -> int:
    """Return the status that names an argument."""
    return code | argument << 8


def argument_number(model: Description, kind: str, index: int = 0) -> int:
    """Return the number of an argument in a status."""
    outputs, workspace = len(model.inputs), len(model.inputs) + len(model.outputs)
    first = {"input": 0, "output": outputs, "workspace": workspace}
    first |= {"weights": workspace + 1, "raw": workspace + 2}
    return first[kind] + index


def messages(model: Description) -> dict[int, str]:
    """Return what every status of a model means."""
    found = {OK: "ok"}
    found |= {status(CPU, number): text for number, text in enumerate(cpu_messages(model))}
    ranges = ", ".join(f"{dim.name} = {dim.low} to {dim.high}" for dim in model.dims)
    for kind, tensors in (("input", model.inputs), ("output", model.outputs)):
        for index, tensor in enumerate(tensors):
            number = argument_number(model, kind, index)
            name = f"{kind} {printable(tensor.name)}"
            alignment = f"null or not aligned to {DTYPES[tensor.dtype]} bytes"
            found |= {
                status(DTYPE, number): f"{name}: another element type than {tensor.dtype}",
                status(RANK, number): f"{name}: another rank than that of {tensor}",
                status(SHAPE, number): f"{name}: another shape than {tensor}",
                status(POINTER, number): f"{name}: an address is {alignment}",
            }
            if kind == "input" and not tensor.is_static:
                found[status(RANGE, number)] = (
                    f"{name}: a dimension of {tensor} is out of range: expected {ranges}"
                )
    number = argument_number(model, "workspace")
    found[status(POINTER, number)] = f"workspace: null or not aligned to {ALIGNMENT} bytes"
    number = argument_number(model, "weights")
    found[status(POINTER, number)] = f"weights: null or not aligned to {ALIGNMENT} bytes"
    found[status(WEIGHTS, number)] = "weights: neither in the library nor given in the context"
    number = argument_number(model, "raw")
    for each in model.raw:
        found[status(POINTER, number)] = f"{called(each)}: null or not aligned to its elements"
        number += len(each.names)
    for index, demand in enumerate(model.demanded):
        found[status(SIZES, index)] = f"{demand.text}: expected {demand.small} <= {demand.large}"
    for index, row in enumerate(model.required, 1):
        found[status(REQUIREMENT, index)] = Requirement.of(row).plain()
    for index, name in enumerate(model.extras.get(OUTSIDE, {}).get("rows", ()), 1):
        found[status(REACHED, index)] = f"kernel {name}: an access outside of its buffer"
    return found


def called(weights: RawWeights) -> str:
    """Return what weights of one type are called."""
    first, last = printable(weights.names[0]), printable(weights.names[-1])
    return f"raw weight {first}" if first == last else f"a raw weight of {first} ... {last}"


def several(model: Description) -> dict[int, int]:
    """Return of how many raw weights a status speaks, of those that speak of several."""
    found, number = {}, argument_number(model, "raw")
    for each in model.raw:
        found[status(POINTER, number)] = len(each.names)
        number += len(each.names)
    return found


def printable(name: str) -> str:
    """Return a name in quotes, with whatever a terminal would act on written as an escape."""
    return ascii(name)


def status_function(tag: str, known: Mapping[int, str], arguments: Mapping[int, int]) -> str:
    """Return the function that gives the text of a status, and its tables.

    `arguments` are the statuses whose text is also that of some behind it, of arguments further on.
    """
    table, at = [], 0
    for number, text in sorted(known.items()):
        table.append(f"i32 {number}, i32 {arguments.get(number, 1)}, i32 {at}")
        at += len(text.encode()) + 1
    size, texts = c_string("\0".join([*(text for _, text in sorted(known.items())), UNKNOWN]))
    return _STATUS.format(
        tag=tag, count=len(table), numbers=3 * len(table), table=", ".join(table), size=size,
        texts=texts, unknown=at,
    )  # fmt: skip


UNKNOWN = "unknown status"

_STATUS = """
@{tag}.statuses = internal constant [{numbers} x i32] [{table}]
@{tag}.texts = internal constant [{size} x i8] {texts}
define ptr @{tag}_status(i32 %status) nounwind {{
entry:
  br label %next
next:
  %number = phi i64 [ 0, %entry ], [ %after, %other ]
  %row = getelementptr [3 x i32], ptr @{tag}.statuses, i64 %number
  %known = load i32, ptr %row
  %count.at = getelementptr i8, ptr %row, i64 4
  %count = load i32, ptr %count.at
  %above = sub i32 %status, %known
  %behind = lshr i32 %above, 8
  %code = and i32 %above, 255
  %alike = icmp eq i32 %code, 0
  %near = icmp ult i32 %behind, %count
  %same = and i1 %alike, %near
  br i1 %same, label %found, label %other
other:
  %after = add i64 %number, 1
  %more = icmp ult i64 %after, {count}
  br i1 %more, label %next, label %unknown
unknown:
  ret ptr getelementptr (i8, ptr @{tag}.texts, i64 {unknown})
found:
  %field = getelementptr i8, ptr %row, i64 8
  %offset = load i32, ptr %field
  %far = zext i32 %offset to i64
  %text = getelementptr i8, ptr @{tag}.texts, i64 %far
  ret ptr %text
}}
"""
