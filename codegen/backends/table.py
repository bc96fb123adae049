"""The table of back ends: gravure's own, and those that are registered from outside."""

from __future__ import annotations

from ... import extensions
from ...errors import CompileError
from ...target import Target, enter_processors
from .backend import Backend
from .cuda import Cuda
from .processors import Processors

BACKENDS: dict[str, Backend] = {row.name: row for row in (Processors(), Cuda())}
"""Back ends by name."""


class BackendError(CompileError, ValueError):
    """A back end that cannot be registered: its name, or one of its targets, is taken or wrong.

    A back end has a name of its own, and brings processors whose architecture names it.
    """

    code = "GV4130"


def register_backend(backend: Backend) -> None:
    """Enter a back end and its processors into the tables; refuse names that are taken."""
    name = backend.name
    if not name.isidentifier():
        raise BackendError(f"back end {name!r}: the name is no identifier")
    if name in BACKENDS:
        raise extensions.taken("back end", name)
    for row in backend.processors:
        if row.architecture.backend != name:
            raise BackendError(
                f"back end {name!r}: target {row.name!r} is of the architecture"
                f" {row.architecture.name!r}, whose back end is {row.architecture.backend!r}"
            )
    forget = enter_processors(backend.processors)
    BACKENDS[name] = backend

    def undo() -> None:
        forget()
        del BACKENDS[name]

    extensions.note("back end", name, type(backend), undo)


def backend_of(target: Target) -> Backend:
    """Return the back end that makes code for a target."""
    return BACKENDS[target.architecture.backend]
