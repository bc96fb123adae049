"""Rewrites of the IR: one pass a file, found by the file's name.

A pass reads and writes IR; it never names LLVM, a driver or a frontend. Imports `ir`.

- `base`: what a pass is; `manager`: finds passes and runs pipelines; `pipelines`: the lists.
- `instruments`, `check`, `reproduce`: print, dump, time, check, and replay failures.
- `analysis/`: what passes ask about a program; `analysis/rewrite` applies rules by a worklist.
- `rules/`: the equations of `canonicalize`, and how operations follow another order of axes.
- `patterns/`: what `recognize` looks for.
- every other file: one pass, with its text test in tests/passes.
"""

from .base import CONTRACTS, Observer, Pass, PipelineError, Report, Step
from .manager import available, load, parse_pipeline, print_pipeline, run

__all__ = [
    "CONTRACTS",
    "Observer",
    "Pass",
    "PipelineError",
    "Report",
    "Step",
    "available",
    "load",
    "parse_pipeline",
    "print_pipeline",
    "run",
]
