"""The errors a user can cause: one family, and of each member a code and an exit status.

An error of ours is an assertion, never one of these. The docstring of a class is its page:
`gravure explain CODE` prints it. A message is lower case, has no full stop, and names what was
found and what was expected; advice goes into `hint`.

    >>> print(GraphError("gv.add: shapes (2,) and (3,) do not broadcast", location="m.onnx: 'add'"))
    m.onnx: 'add': gv.add: shapes (2,) and (3,) do not broadcast
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar, TypeVar

Kind = TypeVar("Kind", bound=Exception)


class Advice(str):
    """A hint that Python and the shell spell differently; as text it is Python's.

    >>> advice = Advice('give one: dims={"N": (1, 64)}', shell="give one: --dim N=1..64")
    >>> error = CompileError("dimension N has no upper bound", hint=advice)
    >>> print(error.hint_for_shell)
    give one: --dim N=1..64
    """

    shell: str
    """What a user of the command reads."""

    def __new__(cls, python: str, shell: str) -> Advice:
        """Make the text, with its other form beside it."""
        made = super().__new__(cls, python)
        made.shell = shell
        return made

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        """Return what a copy in another process is made of."""
        return str(self), self.shell


class GravureError(Exception):
    """Something gravure was given is wrong, or gravure cannot do what was asked.

    All of gravure's errors derive from this class; a program that wants to go on after any of
    them catches it. Anything else that comes out of gravure is a mistake in gravure.
    """

    code: ClassVar[str] = "GV0000"
    """The name of the page about the error."""
    exit_status: ClassVar[int] = 65
    """What a command that ends by this error exits with (see sysexits.h)."""

    def __init__(self, message: str, *, location: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.location = location
        """A place `file:line:column`, a node's name, or a line of Python; empty if unknown."""
        self.hint = hint
        """What the user can do about it, in Python; empty if there is nothing to say."""

    @property
    def hint_for_shell(self) -> str:
        """Return what a user of the command can do about it."""
        return self.hint.shell if isinstance(self.hint, Advice) else self.hint

    def __str__(self) -> str:
        text = f"{self.location}: {self.message}" if self.location else self.message
        return f"{text}\n  help: {self.hint}" if self.hint else text


def printed_as(named: type[Exception]) -> Callable[[type[Kind]], type[Kind]]:
    """Return what gives a class of errors the name of that which TensorFlow raises there.

    Programs print `type(error).__name__`, or decide by it. The class goes by its own name in
    Python's tracebacks, in pickles and in the pages about errors.
    """

    def name(kind: type[Kind]) -> type[Kind]:
        kind.__name__ = named.__name__
        return kind

    return name


class ParseError(GravureError):
    """A file of text or bytes is not what its format says.

    The location is the first byte or line that cannot be read. Nothing of the file was used.
    """

    code = "GV1000"


class InputError(GravureError):
    """A file that is to be read is missing, a folder, or may not be read."""

    code = "GV9100"
    exit_status = 66


class OutputError(GravureError, OSError):
    """A result cannot be written where it was to go. What was there before is as it was."""

    code = "GV9300"
    exit_status = 73


class GraphError(GravureError):
    """The operations of a program do not fit together: a shape, a type, a name, a cycle.

    The location is the node or the line that made the operation. Shapes are checked when an
    operation is made, so the fault is there or in one of its operands.
    """

    code = "GV2000"


@dataclass(frozen=True)
class DecidingSize:
    """A size of arguments that has to be a number before a model can be read."""

    name: str
    places: tuple[tuple[int, int], ...]
    """Where it stands: the number of an argument, and an axis."""
    low: int
    high: int | None


class UnsupportedOp(GravureError):  # noqa: N818
    """An operation, or a form of it, that gravure does not have.

    `gravure ops` lists the operations there are. Operations of your own can be registered.
    """

    code = "GV2100"
    size: DecidingSize | None = None
    """What it would have to know the number of, if that is all that is missing."""

    is_needless: bool = False
    """Whether it is only that what was asked for would change nothing of a model."""

    def about(self, size: DecidingSize | None) -> UnsupportedOp:
        """Return the error; a number of this size would mend it."""
        self.size = size
        return self


class VerifyError(GravureError):
    """IR that breaks the rules of its level.

    Every rule that is broken is reported, not the first one only. In IR written by hand the
    location is the line to mend; after a pass it is a mistake of that pass.
    """

    code = "GV3000"


class CompileError(GravureError):
    """A valid program could not be made into code for the target.

    Most often a limit was reached: of memory, of time, or of what the target can do.
    """

    code = "GV4000"
    exit_status = 69


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint with the nearest known name, if one is near."""
    from difflib import get_close_matches  # noqa: PLC0415  (for those who went wrong)

    close = get_close_matches(name, sorted(known), 1)
    return f"did you mean {close[0]!r}?" if close else ""


def unbounded(*names: str) -> CompileError:
    """Return the error about dimensions that memory cannot be planned for."""
    first = names[0] if names else "N"
    return CompileError(
        f"dimension {', '.join(names)} has no upper bound, expected a range",
        hint=Advice(f'give one: dims={{"{first}": (1, 64)}}', f"give one: --dim {first}=1..64"),
    )


class ArtifactError(GravureError):
    """A compiled model cannot be loaded, or does not belong to what it is used with.

    The file is cut short or changed, made for another machine or by another version, or the
    weights are not those it was compiled with. An artefact is checked before any of its code
    runs. Compile the model again, on or for this machine.
    """

    code = "GV5000"


class PerformanceWarning(UserWarning):
    """Something runs far slower than it could: what, where, and what it costs.

    A function is run operation by operation, for one of them has no form in compiled code.
    `explain()` of the function says the same.
    """


class StagingWarning(UserWarning):
    """A function with `check` does something once a trace that its Python would do in each call.

    The message says what, at which line, and how to mend it; `effects` of the function lists them.
    """


class CheckpointError(GravureError):
    """Saved values do not fit the model they are restored into.

    All that differs is listed at once; the model is left as it was.
    """

    code = "GV5500"


class RuntimeInputError(GravureError, TypeError, ValueError):
    """A compiled program was called with arguments it was not compiled for.

    The message names the argument, what it was compiled with, and what it was called with.
    Arrays in another layout or byte order are copied; another dtype or shape is an error.
    """

    code = "GV6000"


class RequirementError(GravureError, ValueError):
    """A value in a run is not as an operation needs it: an index out of range, for one.

    The message names the node, and the first element that is wrong where that is known. The
    location is the line of the user's program, or the node of a model, that asked for it.
    """

    code = "GV6100"


class OutOfMemoryError(GravureError, MemoryError):
    """A model, or a run of it, needs more memory than there is.

    The message says how many bytes. Smaller dimensions or bounds of them need less.
    """

    code = "GV6500"
    exit_status = 69
