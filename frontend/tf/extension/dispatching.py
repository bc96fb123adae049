"""What functions of tensors do with the types that a user makes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar, get_type_hints

from ...values.dispatch import HANDLERS, handles
from ..ragged.elementwise import BINARY, UNARY

Handler = TypeVar("Handler", bound="Callable[..., object]")


def _classes(given: object) -> list[type]:
    """Return the user's classes of an annotation: `X`, `Union[X, tf.Tensor]`, `List[X]`."""
    found = [each for part in getattr(given, "__args__", ()) for each in _classes(part)]
    return [given] if isinstance(given, type) and not found else found


def _with_first(
    api: Callable[..., object], handler: Callable[..., object], count: int
) -> Callable[..., object]:
    """Return what calls a handler with a function and so many operands, for one that was named."""
    names = [*inspect.signature(api).parameters][:count]

    def public(*args: object, **kwargs: object) -> object:
        """Give the operands to the handler; other arguments to the function."""
        operands = [*args[:count], *(kwargs.pop(n) for n in names[len(args) :] if n in kwargs)]
        rest = args[count:]
        plain = {k: v for k, v in kwargs.items() if not (k == "name" and v is None)}
        called = partial(_called, api, rest, plain) if rest or plain else api
        return handler(called, *operands)

    return public


def _called(
    api: Callable[..., object], rest: Sequence[object], options: Mapping[str, object], *x: object
) -> object:
    return api(*x, *rest, **options)


def dispatch_for_unary_elementwise_apis(x_type: object) -> Callable[[Handler], Handler]:
    """Let a function of a function and a value stand in for all functions of each element."""

    def decorate(handler: Handler) -> Handler:
        for kind in _classes(x_type):
            for api in UNARY:
                handles(kind, api)(_with_first(api, handler, 1))
        return handler

    return decorate


def dispatch_for_binary_elementwise_apis(
    x_type: object, y_type: object
) -> Callable[[Handler], Handler]:
    """Let a function of a function and two values stand in for all functions of pairs."""

    def decorate(handler: Handler) -> Handler:
        for kind in dict.fromkeys([*_classes(x_type), *_classes(y_type)]):
            for api in BINARY:
                handles(kind, api)(_with_first(api, handler, 2))
        return handler

    return decorate


def dispatch_for_api(
    api: Callable[..., object], *signatures: Mapping[str, object]
) -> Callable[[Handler], Handler]:
    """Let a function stand in for a public one where arguments are of a user's types."""

    def decorate(handler: Handler) -> Handler:
        told = [get_type_hints(handler)] if not signatures else [*signatures]
        kinds = [kind for each in told for given in each.values() for kind in _classes(given)]
        for kind in dict.fromkeys(kinds):
            handles(kind, api)(handler)
        return handler

    return decorate


def unregister_dispatch_for(dispatch_target: Callable[..., object]) -> None:
    """Let a function no longer stand in for others."""
    for found in HANDLERS.values():
        found[:] = [pair for pair in found if pair[1] is not dispatch_target]
