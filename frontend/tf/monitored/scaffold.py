"""`Scaffold`: the operations that a session needs to begin, save itself and be looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from ...graph.graph import GraphTensor, Operation
from ..graph.graph_lists import (
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
)
from ..graph.sessions import Session
from ..graph.state import get_default_graph, group
from ..summary.first import merge_all
from ..train.reports import report_uninitialized_variables
from ..train.savers import Saver

Node: TypeAlias = GraphTensor | Operation | None
"""What is run: an operation or a tensor; None where there is nothing to run."""
Feeds: TypeAlias = Mapping[object, object] | None
TABLES = "table_initializer"
"""The list of operations that fill tables."""
SAVERS = "savers"


class Scaffold:
    """What a session starts with; what is not given is found in the graph's lists, or made."""

    _init_op: Node
    _ready_op: Node
    _ready_for_local_init_op: Node
    _local_init_op: Node
    _summary_op: Node
    _init_feed_dict: Feeds
    _local_init_feed_dict: Feeds
    _saver: Saver | None
    _init_fn: Callable[[Session], object] | None

    def __init__(
        self,
        init_op: Node = None,
        init_feed_dict: Feeds = None,
        init_fn: Callable[..., object] | None = None,
        ready_op: Node = None,
        ready_for_local_init_op: Node = None,
        local_init_op: Node = None,
        summary_op: Node = None,
        saver: Saver | None = None,
        copy_from_scaffold: Scaffold | None = None,
        local_init_feed_dict: Feeds = None,
    ) -> None:
        if copy_from_scaffold is not None and not isinstance(copy_from_scaffold, Scaffold):
            raise TypeError("copy_from_scaffold is not a Scaffold instance.")
        old = copy_from_scaffold or self._empty()
        self._init_op = old._init_op if init_op is None else init_op
        self._init_feed_dict = old._init_feed_dict if init_feed_dict is None else init_feed_dict
        self._ready_op = old._ready_op if ready_op is None else ready_op
        self._ready_for_local_init_op = (
            old._ready_for_local_init_op
            if ready_for_local_init_op is None
            else ready_for_local_init_op
        )
        self._local_init_op = old._local_init_op if local_init_op is None else local_init_op
        self._local_init_feed_dict = (
            old._local_init_feed_dict if local_init_feed_dict is None else local_init_feed_dict
        )
        self._summary_op = old._summary_op if summary_op is None else summary_op
        self._saver = old._saver if saver is None else saver
        self._init_fn = old._init_fn
        if init_fn is not None:
            given = init_fn
            self._init_fn = lambda sess: given(self, sess)

    @classmethod
    def _empty(cls) -> Scaffold:
        """Return one of which nothing is known."""
        made = cls.__new__(cls)
        made._init_op = made._ready_op = made._ready_for_local_init_op = None
        made._local_init_op = made._summary_op = None
        made._init_feed_dict = made._local_init_feed_dict = None
        made._saver, made._init_fn = None, None
        return made

    def finalize(self) -> Scaffold:
        """Make what is missing, and let the graph grow no more."""
        kept = self.kept
        if self._init_op is None:
            self._init_op = kept("init_op", self.default_init_op)
        if self._ready_op is None:
            self._ready_op = kept("ready_op", report_uninitialized_variables)
        if self._ready_for_local_init_op is None:
            self._ready_for_local_init_op = kept(
                "ready_for_local_init_op",
                lambda: report_uninitialized_variables(global_variables()),
            )
        if self._local_init_op is None:
            self._local_init_op = kept("local_init_op", self.default_local_init_op)
        if self._summary_op is None:
            self._summary_op = kept("summary_op", merge_all)
        if self._saver is None:
            self._saver = kept(SAVERS, lambda: Saver(allow_empty=True))
        assert self._saver is not None, "one was made"
        self._saver.build()
        get_default_graph().finalize()
        return self

    @staticmethod
    def kept(key: str, make: Callable[[], object]) -> Any:
        """Return the one that a list of the graph has, or a new one, which is put there."""
        found = get_default_graph().get_collection(key)
        if len(found) > 1:
            raise RuntimeError(f"More than one item in the collection {key!r}: pass it explicitly")
        if found:
            return found[0]
        made = make()
        if made is not None:
            get_default_graph().add_to_collection(key, made)
        return made

    @staticmethod
    def get_or_default(
        arg_name: str, collection_key: str, default_constructor: Callable[[], object]
    ) -> object:
        """Return what is in a list of the graph, made and added if there is nothing."""
        return Scaffold.kept(collection_key, default_constructor)

    @staticmethod
    def default_init_op() -> Node:
        """Return what initialises variables."""
        return group(global_variables_initializer())

    @staticmethod
    def default_local_init_op() -> Node:
        """Return what initialises local variables and tables."""
        tables = get_default_graph().get_collection(TABLES)
        return group(local_variables_initializer(), *tables)

    @property
    def init_op(self) -> Node:
        """Return what initialises variables."""
        return self._init_op

    @property
    def init_feed_dict(self) -> Feeds:
        """Return what is fed to that."""
        return self._init_feed_dict

    @property
    def init_fn(self) -> Callable[[Session], object] | None:
        """Return what is called with a new session behind that."""
        return self._init_fn

    @property
    def ready_op(self) -> Node:
        """Return what gives the names of variables without a value."""
        return self._ready_op

    @property
    def ready_for_local_init_op(self) -> Node:
        """Return what must give nothing before local variables are initialised."""
        return self._ready_for_local_init_op

    @property
    def local_init_op(self) -> Node:
        """Return what initialises local variables."""
        return self._local_init_op

    @property
    def local_init_feed_dict(self) -> Feeds:
        """Return what is fed to that."""
        return self._local_init_feed_dict

    @property
    def summary_op(self) -> Node:
        """Return all summaries as one, None if there are none."""
        return self._summary_op

    @property
    def saver(self) -> Saver | None:
        """Return what saves."""
        return self._saver
