"""Whose mistake an error is that comes out of a program: its own, or gravure's.

What Python raises in the innermost frame is gravure's mistake where that frame is gravure's: a
division by zero, a name that is missing, an `assert`. It is the program's where gravure says so by
`raise`, where a call is only handed on with arguments that it does not take, and where gravure is
asked for an element or an attribute that is not there.
"""

from __future__ import annotations

import dis
from pathlib import Path
from types import TracebackType

from ...errors import GravureError

PACKAGE = f"{Path(__file__).parents[2]}/"
ASKED = ("__getattr__", "__getattribute__", "__getitem__")
"""Methods that say by Python's own errors that something is not there."""


def is_ours(error: BaseException, file: str) -> bool:
    """Say whether an error that a program's file raised is a mistake in gravure."""
    last, is_within = None, False
    step = error.__traceback__
    while step is not None:
        is_within |= step.tb_frame.f_code.co_filename == file
        last, step = step, step.tb_next
    if isinstance(error, GravureError) or last is None or not is_within:
        return False
    code = last.tb_frame.f_code
    if not code.co_filename.startswith(PACKAGE):
        return False
    if isinstance(error, AttributeError | LookupError) and code.co_name in ASKED:
        return False
    return not _is_said(error, last)


def _is_said(error: BaseException, step: TracebackType) -> bool:
    """Say whether what failed is a `raise`, or a call with arguments that came from elsewhere."""
    done = [each for each in dis.get_instructions(step.tb_frame.f_code)
            if each.offset <= step.tb_lasti]  # fmt: skip
    match done[-1].opname:
        case "RAISE_VARARGS":
            begun = next((e for e in done[::-1] if e.opname == "LOAD_ASSERTION_ERROR"), None)
            return begun is None or not _is_together(begun, done[-1])
        case "CALL_FUNCTION_EX":
            return isinstance(error, TypeError)
    return False


def _is_together(begun: dis.Instruction, raised: dis.Instruction) -> bool:
    """Say whether two instructions are of one statement."""
    one, other = begun.positions, raised.positions
    return one is not None and other is not None and one.lineno == other.lineno
