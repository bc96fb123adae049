"""What converted code calls: each of its functions does what Python does, or adds to a graph.

A condition, or what a loop goes through, is looked at when it is there: where it is a tensor and
a graph is being made, the choice or the loop goes into the graph; else Python goes on as ever.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from typing import Any

from ..graph.graph import Graph, GraphTensor
from ..values import nest
from ..values.context import STATE
from ..values.origin import short, user_line
from . import calls
from .conditional import State, condition_of, staged_if
from .iteration import (
    Exits,
    Loopable,
    over_loopable,
    over_range,
    over_tensor,
    range_of,
)
from .lists import append as _append
from .lists import growing
from .loops import Tensors, Turns, here_graph, staged_loop
from .rollback import tried
from .state import MissingReturnError, Undefined, is_tensor
from .surface import MAKE, TensorRange, surface_of

called, append = calls.called, _append
Get = Callable[[], tuple[object, ...]]
Put = Callable[[Sequence[object]], None]
Give = Callable[[], object]


def graph_for(value: object) -> Graph | None:
    """Return the graph that a choice by a value goes into, None where Python decides."""
    graph = STATE.context
    one = is_tensor(value) and not isinstance(value, nest.TensorGroup)
    return graph if isinstance(graph, Graph) and one else None


def load(read: Give, name: str) -> object:
    """Return the value of a variable, or what says that it has none."""
    try:
        return read()
    except (NameError, AttributeError, KeyError, IndexError):
        return Undefined(name)


def is_undefined(value: object) -> bool:
    """Say whether a variable has no value."""
    return isinstance(value, Undefined)


def returned(done: object, result: Give) -> object:
    """Return the result of a function that may have ended before its last line."""
    if is_tensor(done):
        raise MissingReturnError(
            "a function that returns a value on one way, depending on a tensor, must also have a "
            "return statement on the others",
            location=short(user_line()),
        )
    return result() if done else None


def if_stmt(  # noqa: PLR0913, PLR0917  (a choice has as many parts)
    test: object,
    body: Callable[[], None],
    orelse: Callable[[], None],
    get: Get,
    put: Put,
    names: tuple[str, ...],
    count: int,
    jumping: Sequence[str],
) -> None:
    """Run one of two pieces of code."""
    graph = graph_for(test)
    if graph is not None:
        staged_if(graph, test, (body, orelse), State(get, put, names), count, jumping)
    elif test:
        body()
    else:
        orelse()


def while_stmt(  # noqa: PLR0913, PLR0917  (a loop has as many parts)
    exits: Exits | None,
    test: Give,
    body: Callable[[], None],
    get: Get,
    put: Put,
    names: tuple[str, ...],
    options: Callable[[], Mapping[str, object]] | None,
    lists: Sequence[str] = (),
) -> None:
    """Run a piece of code as long as a condition holds; from where it is a tensor on in a graph."""
    state, ends = State(get, put, names), exits_of(exits)

    def goes_on() -> object:
        return and_lazily([*(negated(flag) for flag in ends), test])

    while True:
        holds = tried(state, goes_on)
        graph = graph_for(holds)
        if graph is not None:
            break
        if not holds:
            return
        body()

    let_grow(state, lists)

    def tested(head: Tensors) -> GraphTensor:
        return condition_of(here_graph(), goes_on(), "while statement")

    def turn(head: Tensors) -> Tensors:
        body()
        return ()

    staged_loop(graph, state, Turns((), tested, turn), options() if options else {})


def let_grow(state: State, lists: Sequence[str]) -> None:
    """Let those lists grow in a loop of a graph that it appends to."""
    if lists:
        pairs = zip(state.names, state.get(), strict=True)
        state.put([growing(value) if name in lists else value for name, value in pairs])


def exits_of(exits: Exits | None) -> Exits:
    """Return the flags that end a loop."""
    return exits or ()


def negated(flag: Give) -> Give:
    """Return a function that says the contrary."""
    return lambda: not_(flag())


def for_stmt(  # noqa: PLR0913, PLR0917  (a loop has as many parts)
    values: Any,
    exits: Exits | None,
    body: Callable[[object], None],
    get: Get,
    put: Put,
    names: tuple[str, ...],
    options: Callable[[], Mapping[str, object]] | None,
    lists: Sequence[str] = (),
) -> None:
    """Run a piece of code for each of some values."""
    graph, state, ends = STATE.context, State(get, put, names), exits_of(exits)
    given: Mapping[str, object] = {}
    if isinstance(graph, Graph) and options is not None:
        given = options()
    has_rows = is_tensor(values) or isinstance(values, TensorRange)
    if isinstance(graph, Graph) and (has_rows or isinstance(values, Loopable)):
        let_grow(state, lists)
    if isinstance(graph, Graph) and isinstance(values, Loopable):
        over_loopable(graph, values, ends, body, state, given)
    elif isinstance(graph, Graph) and has_rows:
        numbers = range_of(values)
        if numbers is not None:
            over_range(graph, numbers, ends, body, state, given)
        else:
            over_tensor(graph, values, ends, body, state, given)
    else:
        over_python(values, ends, body, state)


def over_python(
    values: Iterable[object], exits: Exits, body: Callable[[object], None], state: State
) -> None:
    """Run a piece of code for each of some values of Python's, until a flag is set.

    A flag that is a tensor is asked in the graph before each value; the values must have an end.
    """
    for item in values:
        if any(is_tensor(flag()) for flag in exits):
            guarded(values, item, exits, body, state)
        else:
            body(item)
        if any(flag() is True for flag in exits):
            return


def guarded(
    values: Iterable[object],
    item: object,
    exits: Exits,
    body: Callable[[object], None],
    state: State,
) -> None:
    """Run a piece of code for one value, unless the graph says that the loop was left."""
    if not isinstance(values, Sized):
        raise calls.mixed(
            "a loop over values of Python's is left depending on a tensor, and how many values "
            f"there are is not known ({type(values).__name__})",
            hint="let it be a loop over a tensor",
        )
    go_on = and_lazily([negated(flag) for flag in exits])
    ways = lambda: body(item), lambda: None
    staged_if(here_graph(), go_on, ways, state, len(state.names), ("orelse",))


# Expressions.


def and_lazily(parts: Sequence[Give]) -> object:
    """Return the first value that does not hold, or the last."""
    return and_(parts[0](), *parts[1:])


def and_(first: object, *others: Give) -> object:
    """Return `first and ...`, of which each is evaluated only if those before it hold."""
    if not others:
        return first
    if graph_for(first) is not None:
        return if_exp(first, lambda: and_(others[0](), *others[1:]), lambda: first, "and")
    return and_(others[0](), *others[1:]) if first else first


def or_(first: object, *others: Give) -> object:
    """Return `first or ...`, of which each is evaluated only if none before it holds."""
    if not others:
        return first
    if graph_for(first) is not None:
        return if_exp(first, lambda: first, lambda: or_(others[0](), *others[1:]), "or")
    return first if first else or_(others[0](), *others[1:])


def not_(value: object) -> object:
    """Return `not value`."""
    graph = graph_for(value)
    if graph is None:
        return not value
    return MAKE.logical_not(condition_of(graph, value, "not", shape=False))


COMPARED: dict[str, Callable[[object, Any], object]] = {
    **{name: getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq", "ne")},
    **{name: getattr(operator, name) for name in ("is_", "is_not")},
    "contained": lambda a, b: a in b,
    "not_contained": lambda a, b: a not in b,
}


def chain(left: object, *links: tuple[str, Give]) -> object:
    """Return `left < b < ...`, of which each is evaluated once, if those before it hold."""
    (name, give), *rest = links
    right = give()
    holds = COMPARED[name](left, right)
    return and_(holds, lambda: chain(right, *rest)) if rest else holds


def if_exp(test: object, yes: Give, no: Give, text: str) -> object:
    """Return `yes() if test else no()`."""
    graph = graph_for(test)
    if graph is None:
        return yes() if test else no()
    found: list[object] = [Undefined(text)]

    def assign(give: Give) -> Callable[[], None]:
        return lambda: found.__setitem__(0, give())

    state = State(lambda: (found[0],), lambda values: found.__setitem__(0, values[0]), (text,))
    staged_if(graph, test, (assign(yes), assign(no)), state, 1, ())
    return found[0]


def assert_stmt(test: object, message: Give | None = None) -> None:
    """Raise `AssertionError`, or let the graph refuse to run on, unless a condition holds."""
    graph = graph_for(test)
    if graph is not None:
        surface_of(graph).require(graph, test, "" if message is None else message())
    elif not test:
        raise AssertionError(*(() if message is None else (message(),)))


calls.RUNTIME.append(sys.modules[__name__])
