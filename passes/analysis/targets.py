"""What a program is compiled for."""

from __future__ import annotations

from typing import Any

from ...ir import Program
from ...target import Target


def target_of(program: Program) -> Target:
    """Return the target that the module is compiled for."""
    row: Any = program.module.attributes.get("gv.target")
    return Target.parse(row.data if row is not None else "native")
