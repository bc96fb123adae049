"""Functions that many kernels call, as objects of their own: each is compiled once.

A register tile takes LLVM ten milliseconds, and a model has dozens of kernels but only a few
tiles. So a kernel's module only declares them, and the linker joins what it needs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ...target import Target

SHARED = "gv_gemm_"
"""What the names of such functions begin with."""

_HEAD = re.compile(r"define internal void @(\w+)\(([^)]*)\) noinline #0 \{")
_DECLARED = re.compile(r"declare .*?(@[\w.]+)\(")


def part(
    functions: Mapping[str, str], declarations: list[str], target: Target
) -> tuple[list[str], dict[str, str]]:
    """Return what a kernel's module says of its functions, and the modules of shared ones."""
    inside: list[str] = []
    modules: dict[str, str] = {}
    for name, text in functions.items():
        if not name.startswith(SHARED):
            inside.append(text)
            continue
        head = _HEAD.match(text)
        assert head is not None, f"{name} is not written as shared functions are"
        kinds = re.sub(r" %\w+", "", head[2])
        inside.append(f"declare hidden void @{name}({kinds})")
        modules[name] = _module(text, declarations, target)
    return inside, modules


def _module(text: str, declarations: list[str], target: Target) -> str:
    """Return the module of one function, with the declarations that it needs."""
    needed = [d for d in declarations if (f := _DECLARED.match(d)) and f"{f[1]}(" in text]
    return "\n".join(
        [
            f'target triple = "{target.triple}"',
            *needed,
            text.replace("define internal void", "define hidden void", 1),
            f"attributes #0 = {{ {target.llvm_attributes} }}",
            "!0 = !{i32 1}",
            "",
        ]
    )
