"""gravure: compile tensor programs to native code.

A graph becomes a program in one IR, is rewritten by named passes down a ladder of levels, and
leaves as native code that needs nothing else to run.

    graph -> fused -> planned -> loops -> LLVM -> object or shared library

Each level prints to text, reads back, is verified, and can be run by the reference interpreter.
Read in this order; the docstring of each folder's `__init__.py` is its chapter:

- `ir`: the operations, the levels, text, verifier, reference interpreter. Imports nothing of ours.
- `passes`: one rewrite a file, and the pipelines made of them.
- `codegen`: kernel templates, the LLVM emitter, the writer of libraries.
- `runtime`: loads and runs what was compiled; needs nothing of the compiler.
- `frontend`: how programs come in: Python, ONNX, text.
- `tools`: the `gravure` command.

The public names below are imported when they are first used, so that `import gravure` is fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .errors import GravureError
    from .frontend.compile import compile, load  # noqa: A004  (users write gravure.compile)

__version__ = "0.1.0"

PUBLIC: dict[str, str] = {
    "GravureError": "errors",
    "compile": "frontend.compile",
    "load": "frontend.compile",
}
"""Public name -> module of this package that defines it."""

__all__ = ["GravureError", "__version__", "compile", "load"]


def __getattr__(name: str) -> object:
    """Import a public name on first use (PEP 562)."""
    if name not in PUBLIC:
        raise AttributeError(f"module 'gravure' has no attribute {name!r}")
    value = getattr(import_module(f".{PUBLIC[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted({*globals(), *PUBLIC})
