"""Names and devices that code asks for: `tf.name_scope` and `tf.device`, eagerly and in graphs."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import TracebackType

from ...function.on_device import RemoteDevice
from ...graph.func_graph import graph_around
from ...graph.graph import Graph
from ...values.context import STATE, entered, running_on
from ...values.devices import CPU, MACHINE, parse_device, wanted_device


class name_scope:  # noqa: N801  (TensorFlow's name; it is used like a function)
    """Puts operations under a name."""

    needs_text = True

    def __init__(
        self, name: str | None, default_name: str | None = None, values: object = None
    ) -> None:
        if self.needs_text and not isinstance(name, str):
            raise ValueError("name for name_scope must be a string.")
        self._name = default_name if name is None else name
        self._entered: list[AbstractContextManager[str] | str] = []
        """The scopes of graphs, and what was around those of eager code, which need not be kept."""

    @property
    def name(self) -> str | None:
        """Return the name."""
        return self._name

    def __enter__(self) -> str:
        graph, name, before = STATE.context, self._name, SCOPE.name
        if isinstance(graph, Graph):
            made = graph.name_scope(name)
            self._entered.append(made)
            return made.__enter__()
        self._entered.append(before)
        SCOPE.name = name if name and name.endswith("/") else f"{before}{name}/" if name else ""
        return SCOPE.name

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        entered = self._entered.pop()
        if isinstance(entered, str):
            SCOPE.name = entered
        else:
            entered.__exit__(kind, error, trace)


class EagerScope(threading.local):
    """The scope of eager code, with a slash behind: variables are named by it."""

    name = ""


SCOPE = EagerScope()


def scope_around() -> str:
    """Return what names of operations begin with here."""
    context = STATE.context
    return context.scope if isinstance(context, Graph) else SCOPE.name


@contextmanager
def outside() -> Iterator[str]:
    """Leave functions for the graph of sessions that they belong to, if there is one.

    Given is what names of variables begin with there: the scope around, if the graph has it not.
    """
    context = STATE.context
    home = graph_around(context)
    if home is context:
        yield "" if home is not None else SCOPE.name
    elif home is None:
        yield scope_around()
    else:
        scope = scope_around()
        with entered(home), home.name_scope(None):
            yield scope


@contextmanager
def device(device_name: object) -> Iterator[None]:
    """Ask for a device.

    Eagerly one that is not there is refused, unless placement is soft: then it is the processor.
    """
    graph = STATE.context
    if isinstance(graph, Graph):
        asked = (
            None if device_name is None or callable(device_name) else name_of_device(device_name)
        )
        with graph.by_function(device_name) if callable(device_name) else graph.on_device(asked):
            yield
        return
    if callable(device_name):
        raise RuntimeError("tf.device does not support functions.")
    if device_name is None:
        with running_on(None, soft=MACHINE.soft):
            yield
        return
    wish = parse_device(name_of_device(device_name))
    if wish == parse_device(""):
        yield  # (as it was)
        return
    outer = STATE.device
    there = isinstance(outer, RemoteDevice) and wish.job is None
    if outer is not None and (there or wish.kind is None):
        wish = parse_device(f"/{outer}").merge(wish)
    place = wanted_device(str(wish))
    several = MACHINE.processors > 1 or place != CPU or outer is not None
    with running_on(place, soft=MACHINE.soft) if several else nullcontext():
        yield


def name_of_device(name: object) -> str:
    """Return the name of a device as graphs show it: the short form is written out."""
    name = getattr(name, "to_string", lambda: name)()
    short = re.fullmatch(r"/?(cpu|gpu):(\d+|\*)", str(name or ""), re.IGNORECASE)
    return f"/device:{short[1].upper()}:{short[2]}" if short else str(name or "")
