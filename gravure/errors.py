"""The errors a user can cause: one family, and of each member a code and an exit status.

An error of ours is an assertion, never one of these. The docstring of a class is its page:
`gravure explain CODE` prints it. A message is lower case, has no full stop, and names what was
found and what was expected; advice goes into `hint`.

    >>> print(GraphError("gv.add: shapes (2,) and (3,) do not broadcast", location="m.onnx: 'add'"))
    m.onnx: 'add': gv.add: shapes (2,) and (3,) do not broadcast
"""

from __future__ import annotations

from typing import ClassVar


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
        """What the user can do about it; empty if there is nothing to say."""

    def __str__(self) -> str:
        text = f"{self.location}: {self.message}" if self.location else self.message
        return f"{text}\n  help: {self.hint}" if self.hint else text


class ParseError(GravureError):
    """A file of text or bytes is not what its format says.

    The location is the first byte or line that cannot be read. Nothing of the file was used.
    """

    code = "GV1000"


class GraphError(GravureError):
    """The operations of a program do not fit together: a shape, a type, a name, a cycle.

    The location is the node or the line that made the operation. Shapes are checked when an
    operation is made, so the fault is there or in one of its operands.
    """

    code = "GV2000"


class UnsupportedOp(GravureError):  # noqa: N818
    """An operation, or a form of it, that gravure does not have.

    `gravure ops` lists the operations there are. Operations of your own can be registered.
    """

    code = "GV2100"


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


class ArtifactError(GravureError):
    """A compiled model cannot be loaded, or does not belong to what it is used with.

    The file is cut short or changed, made for another machine or by another version, or the
    weights are not those it was compiled with. An artefact is checked before any of its code
    runs. Compile the model again, on or for this machine.
    """

    code = "GV5000"


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


class DistError(GravureError):
    """Processes that work together disagree, or one of them is gone.

    It may work if tried again.
    """

    code = "GV7000"
    exit_status = 75
