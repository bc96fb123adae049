"""What functions of tensors do with values that are made of several tensors.

Such a value says that it is no tensor when a function wants one (`NotDenseError`); the function
that was called is then looked up here. `remembered` does that for all of TensorFlow's operations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import signature
from typing import NoReturn, TypeVar

Handler = TypeVar("Handler", bound="Callable[..., object]")

HANDLERS: dict[Callable[..., object], list[tuple[type, Callable[..., object]]]] = {}
"""By a public function: what stands in for it, by the class of the value that is no tensor."""

BEHIND: dict[Callable[..., object], Callable[..., object]] = {}
"""By a public function that looks for other values first: the one that it calls then."""


class NotDenseError(ValueError, TypeError):
    """A tensor is wanted, and there is a value that is made of several."""

    def __init__(self, value: object) -> None:
        super().__init__(value)
        self.value = value

    @property
    def args(self) -> tuple[str, ...]:  # type: ignore[override]
        """Return the text, which Keras reads here."""
        return (str(self),)

    def __str__(self) -> str:
        """Say so; only here, since most of these errors are answered, and rows are long."""
        value = self.value
        if isinstance(value, str):  # made anew of its text, as Keras does with errors
            return value
        return (
            f"Attempt to convert a value ({value!r}) with an unsupported type ({type(value)}) to "
            "a Tensor."
        )


class Evaluated:
    """What a session gives for a value that is made of several tensors: it is an operand, too."""

    def composite(self) -> object:
        """Return the value that is made of tensors."""
        raise NotImplementedError

    def __gv_tensor__(self) -> NoReturn:
        raise NotDenseError(self)


def composites(given: object) -> object:
    """Return arguments with values made of tensors for those that sessions gave."""
    if isinstance(given, Evaluated):
        return given.composite()
    if type(given) is list:
        return [*map(composites, given)]
    return tuple(map(composites, given)) if type(given) is tuple else given


def handles(kind: type, *functions: Callable[..., object]) -> Callable[[Handler], Handler]:
    """Let a function stand in for public ones where they are given values of a class."""

    def decorate(handler: Handler) -> Handler:
        for function in functions:
            called = BEHIND.get(function, function)
            HANDLERS.setdefault(called, []).append((kind, handler))
        return handler

    return decorate


def answered(
    error: NotDenseError,
    function: Callable[..., object],
    args: Sequence[object],
    kwargs: dict[str, object],
) -> object:
    """Return what stands in for a function gives, or raise the error."""
    if isinstance(error.value, Evaluated):
        named = {name: composites(x) for name, x in kwargs.items()}
        return function(*map(composites, args), **named)
    found = HANDLERS.get(function, ())
    if found and not args:  # what stands in has its own name for what comes first
        first = next(iter(signature(function).parameters))
        if first in kwargs:
            args, kwargs = [kwargs[first]], {n: x for n, x in kwargs.items() if n != first}
    for kind, handler in found:
        if isinstance(error.value, kind):
            return handler(*args, **kwargs)
    raise error
