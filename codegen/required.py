"""Libraries that say which requirement of values did not hold, and of which element.

What tells of it is the last result of a program, which no caller sees: it lies in the workspace.
A run looks there at its end, and ends with a status that names the requirement.

    workspace + offset        number of the requirement (0: all hold), place of the element, value
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..runtime.artifact import (
    ALIGNMENT,
    REQUIRED,
    Description,
    If,
    Launch,
    Pointer,
    Repeat,
    Step,
    While,
    round_up,
)


def hide_fault(model: Description, rows: Sequence[Any]) -> Description:
    """Return a model whose last output is in its workspace, and ends its runs if it is not 0."""
    index, offset = len(model.outputs) - 1, round_up(model.workspace, ALIGNMENT)

    def moved(pointer: Any) -> Any:
        if isinstance(pointer, Pointer) and (pointer.base, pointer.index) == ("output", index):
            assert pointer.offset == 0, "three numbers are one piece"
            return Pointer("workspace", 0, offset)
        return pointer

    def of(step: Step) -> Step:
        match step:
            case Launch():
                return replace(step, arguments=tuple(map(moved, step.arguments)))
            case If():
                then, otherwise = (tuple(map(of, part)) for part in (step.then, step.otherwise))
                return If(moved(step.condition), then, otherwise)
            case While():
                test, body = (tuple(map(of, part)) for part in (step.test, step.body))
                return While(test, moved(step.condition), body)
            case Repeat():
                return replace(step, body=tuple(map(of, step.body)))
        return step

    return replace(
        model,
        outputs=model.outputs[:-1],
        steps=tuple(map(of, model.steps)),
        workspace=offset + ALIGNMENT,
        extras={**model.extras, REQUIRED: {"offset": offset, "rows": list(rows)}},
    )
