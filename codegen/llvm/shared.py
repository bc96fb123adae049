"""Functions that many kernels call, as objects of their own: each is compiled once.

A register tile takes LLVM ten milliseconds, a transposed block twenty, a function for far
arguments up to forty, and a model has dozens of kernels but only a few of these. So a kernel's
module only declares them, and the linker joins what it needs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ...target import Target

SHARED = ("gv_gemm_", "gv_transpose_", "gv_sin_", "gv_cos_", "gv_tan_")
"""What the names of such functions begin with: each name says all that the function is."""

_HEAD = re.compile(r"define internal ([^@]+) @(\w+)\(([^)]*)\) noinline ([^{]*)\{")
_DECLARED = re.compile(r"declare .*?(@[\w.]+)\(")
_CONSTANT = re.compile(r"(@[\w.]+) = ")


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
        kinds = re.sub(r" %\w+", "", head[3])
        inside.append(f"declare hidden {head[1]} @{name}({kinds})")
        modules[name] = _module(text, declarations, target)
    return inside, modules


def needed(declarations: Iterable[str], text: str) -> list[str]:
    """Return the declarations of what a text calls, and the constants that it reads."""
    found = ((d, _CONSTANT.match(d) or _DECLARED.match(d)) for d in declarations)
    return [d for d, f in found if f and re.search(rf"{re.escape(f[1])}\b", text)]


def _module(text: str, declarations: list[str], target: Target) -> str:
    """Return the module of one function, with the declarations that it needs."""
    return "\n".join(
        [
            f'target triple = "{target.triple}"',
            *needed(declarations, text),
            text.replace("define internal", "define hidden", 1),
            f"attributes #0 = {{ {target.llvm_attributes} }}",
            "!0 = !{i32 1}",
            "",
        ]
    )
