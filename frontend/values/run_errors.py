"""Errors of running graphs, by the names that TensorFlow's programs catch."""

from __future__ import annotations

from ...errors import GraphError, GravureError


class OperatorNotAllowedInGraphError(GraphError, TypeError):
    """Python asked for the elements of a tensor of a graph, which it has only when it runs."""

    code = "GV2345"


class OpError(GravureError):
    """An operation of a graph failed when it was run.

    The location is the line of Python that made the operation, where it is known.
    """

    code = "GV2300"
    error_code = 2
    """The number that TensorFlow gives errors of this kind."""

    def __init__(self, *parts: object, location: str = "", hint: str = "") -> None:
        """Take a message; TensorFlow's form (node, operation, message) is accepted too."""
        super().__init__(str(parts[-1]) if parts else "", location=location, hint=hint)
        self.op = parts[1] if len(parts) > 1 else None
        self._node = parts[0] if len(parts) > 1 else None

    @property
    def node_def(self) -> object:
        """Return the node that failed, as a message, where it is one of a graph's."""
        return getattr(self.op, "node_def", self._node)

    def __reduce__(self) -> tuple[object, ...]:
        """Return what a copy in another process is made of: graphs are not sent there."""
        return type(self), self.args, {**self.__dict__, "op": None, "_node": None}

    @property
    def experimental_payloads(self) -> dict[bytes, bytes]:
        """Return what is said beside the message: nothing."""
        return {}


class InvalidArgumentError(OpError):
    """The values that an operation was given do not fit it."""

    code = "GV2301"
    error_code = 3


class FailedPreconditionError(OpError):
    """The state is not what the operation needs: a variable without a value, for one."""

    code = "GV2302"
    error_code = 9


class NotFoundError(OpError):
    """Something that was named is not there."""

    code = "GV2303"
    error_code = 5


class OutOfRangeError(OpError):
    """There is nothing more to read."""

    code = "GV2304"
    error_code = 11


class AbortedError(OpError):
    """A step was given up."""

    code = "GV2305"
    error_code = 10


class CancelledError(OpError):
    """A step was stopped from outside."""

    code = "GV2306"
    error_code = 1


class AlreadyExistsError(OpError):
    """Something of this name is there already."""

    code = "GV2307"
    error_code = 6


class UnimplementedError(OpError):
    """There is no code for this case."""

    code = "GV2308"
    error_code = 12


class ResourceExhaustedError(OpError):
    """There is not enough of something."""

    code = "GV2309"
    error_code = 8


class UnavailableError(OpError):
    """Something cannot be reached now."""

    code = "GV2310"
    error_code = 14


class InternalError(OpError):
    """Something is wrong inside."""

    code = "GV2311"
    error_code = 13


class UnknownError(OpError):
    """A function of the host failed."""

    code = "GV2312"
    error_code = 2


class DeadlineExceededError(OpError):
    """It took too long."""

    code = "GV2313"
    error_code = 4


class DataLossError(OpError):
    """A file is damaged."""

    code = "GV2314"
    error_code = 15


class PermissionDeniedError(OpError):
    """It is not allowed."""

    code = "GV2315"
    error_code = 7


class UnauthenticatedError(OpError):
    """Who asks is not known."""

    code = "GV2316"
    error_code = 16


OK, CANCELLED, UNKNOWN, INVALID_ARGUMENT, DEADLINE_EXCEEDED, NOT_FOUND = range(6)
ALREADY_EXISTS, PERMISSION_DENIED, RESOURCE_EXHAUSTED, FAILED_PRECONDITION = range(6, 10)
ABORTED, OUT_OF_RANGE, UNIMPLEMENTED, INTERNAL, UNAVAILABLE, DATA_LOSS = range(10, 16)
UNAUTHENTICATED = 16


def by_number(number: int) -> type[OpError]:
    """Return the class of errors that TensorFlow gives a number, or raise `KeyError`."""
    return {each.error_code: each for each in OpError.__subclasses__()}[number]
