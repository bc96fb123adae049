"""What can go wrong around a command, rather than in a model."""

from __future__ import annotations

from ..errors import GravureError


class UsageError(GravureError):
    """The command was called with arguments that it does not have, or that do not fit together.

    `gravure VERB --help` shows the arguments of a verb, with examples.
    """

    code = "GV9000"
    exit_status = 2


class DataError(GravureError):
    """A file of arrays or of earlier results is not what its name says."""

    code = "GV9150"
    exit_status = 65


class NotInstalledError(GravureError):
    """Something that a command was asked to use is not on this machine."""

    code = "GV9200"
    exit_status = 69
