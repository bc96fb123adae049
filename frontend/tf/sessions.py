"""Sessions by TensorFlow's names, and whether operations go to the default graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..context import STATE, entered
from ..func_graph import FuncGraph
from ..graph import ForeignTensorError, Graph, op_of
from ..session import Session as CoreSession
from ..session import stack
from ..variables import CONTAINERS
from .graph_def import GraphDef
from .state import get_default_graph


class Session(CoreSession):
    """Runs a graph; `strict=False` initialises variables that were not."""

    def __init__(
        self, target: str = "", graph: Any = None, config: Any = None, strict: bool = True
    ) -> None:
        del target
        if not isinstance(graph, Graph | None):
            raise TypeError(
                f'Argument `graph` must be a tf.Graph, but got "{type(graph).__name__}"'
            )
        super().__init__(graph if graph is not None else get_default_graph(), strict=strict)
        self.soft_placement = bool(getattr(config, "allow_soft_placement", False))

    @property
    def graph_def(self) -> GraphDef:
        """Return the graph as data."""
        return GraphDef(self.graph)

    def element(self, value: Any) -> Any:
        """Return the tensor or operation that a fetch names, which must not be forbidden."""
        found = super().element(value.decode() if isinstance(value, bytes) else value)
        if op_of(found) in getattr(self.graph, "unfetchable", ()):
            raise ForeignTensorError(f"{found!r} has been marked as not fetchable.")
        return found

    def _feed_key(self, key: Any) -> Any:
        found = super()._feed_key(key)
        if found in getattr(self.graph, "unfeedable", ()):
            raise ValueError(f"Tensor {key} may not be fed.")
        return found

    @staticmethod
    def reset(
        target: str = "", containers: Sequence[str] | None = None, config: Any = None
    ) -> None:
        """Forget the values in containers, of all of them if none is named."""
        del target, config
        for name in [*CONTAINERS] if containers is None else containers:
            CONTAINERS.pop(name, None)

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        """Return what the fetches are."""
        del options, run_metadata
        with entered(None):
            return super().run(fetches, feed_dict)

    def make_callable(self, fetches: Any, feed_list: Sequence[Any] = ()) -> Callable[..., Any]:
        """Return a function of the fed values."""
        return lambda *values: self.run(fetches, dict(zip(feed_list, values, strict=True)))

    def __enter__(self) -> Session:
        super().__enter__()
        self._before.append((STATE.context, STATE.recorders))
        STATE.set(self.graph, ())
        return self

    def __exit__(self, *error: object) -> None:
        STATE.set(*self._before.pop())
        super().__exit__(*error)

    @contextmanager
    def as_default(self) -> Iterator[Session]:
        """Let `eval` and `run` use this session."""
        stack().append(self)
        try:
            yield self
        finally:
            stack().pop()


class InitialisingSession(Session):
    """The white paper's session: variables have their initial value at first use."""

    def __init__(
        self, target: str = "", graph: Any = None, config: Any = None, strict: bool = False
    ) -> None:
        super().__init__(target, graph, config, strict)


class InteractiveSession(Session):
    """A session that is the default one from the start."""

    def __init__(self, target: str = "", graph: Any = None, config: Any = None) -> None:
        super().__init__(target, graph, config)
        stack().append(self)

    def close(self) -> None:
        """Run nothing any more, and be no default."""
        if self in stack():
            stack().remove(self)
        super().close()


def disable_eager_execution() -> None:
    """Let operations go to the default graph from now on."""
    STATE.set(get_default_graph(), ())


def enable_eager_execution() -> None:
    """Let operations run at once again."""
    STATE.set(None, ())


def executing_eagerly_outside_functions() -> bool:
    """Say whether what is outside of all functions runs at once."""
    context: Any = STATE.context
    while isinstance(context, FuncGraph):
        context = context.outer
    return context is None
