"""Sessions: run any part of a graph, with any of its edges fed.

    with Session(graph) as s:
        s.run([loss, train], {x: batch})

What a set of fetches and feeds needs is found once and kept. A session holds the values of the
graph's variables. Threads may run it at once: steps that change the same variables take turns,
others overlap. A step that waits for queues or calls Python changes one variable after the other.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from sys import getrefcount
from typing import Any

import numpy as np

from ...forks import renewed
from ...ir.op import Array
from ...ir.types.dtypes import DType
from ...runtime.deadline import DEADLINE
from ...runtime.queues import Queue
from ...runtime.tracing import EARS, OWN, span
from ..eager.recorded import unboxed
from ..graph.accumulator_ops import Accumulated
from ..graph.execute import Plan, Wishes, initialise
from ..graph.frame import Frame, NotStageableError, Store
from ..graph.graph import Graph, GraphTensor, Operation, dims_or_none
from ..graph.kinds import DEAD, MissingFeedError
from ..graph.placement import available_with, check_placement
from ..graph.symbolic import ForeignTensorError, NameFormError, NoSuchNameError
from ..graph.tolls import Account
from ..graph.variables import Held
from ..models.pieces import on_host
from ..values import nest
from ..values.context import Context, Recorder, stack
from ..values.dtypes import named
from ..values.run_errors import InvalidArgumentError
from .in_common import Where
from .staged import Staged, compiled_for, counted, reads_any, refused, run_rest


class KnownFetch:
    """A fetch, or a list of fetches, and the keys of feeds, which are kept, with their plan."""

    def __init__(self, fetches: tuple[object, ...], keys: tuple[object, ...], plan: Plan) -> None:
        self.fetches, self.keys, self.plan = fetches, keys, plan
        self.dtypes = [tensor.spec.dtype.numpy for tensor in plan.feeds]

    def run(
        self, session: Session, feeds: Mapping[object, object] | None, *, calls: bool
    ) -> list[object] | None:
        """Return the values if the plan is compiled for arrays like these, as they are.

        One that calls Python is not run unless that is said.
        """
        arrays: list[Array] = []
        for value, dtype in zip(feeds.values() if feeds else (), self.dtypes, strict=True):
            if type(value) is not np.ndarray or value.dtype != dtype:
                return None
            arrays.append(value)
        native = self.plan.compiled.get(tuple([array.shape for array in arrays]))
        if native.__class__ is not Staged or (native.calls and not calls):
            return None
        return [on_host(value) for value in native.run(session.store, arrays)]


def key_of(fetches: object, feeds: Mapping[object, object] | None) -> object:
    """Return what a session knows fetches and the keys of feeds by, as they are given."""
    keys = map(id, feeds or ())
    if isinstance(fetches, list | tuple):
        return (fetches.__class__, *map(id, fetches)), *keys
    return id(fetches), *keys


class Session:
    """Runs parts of one graph."""

    def __init__(self, graph: Graph, *, strict: bool = True) -> None:
        self.graph = graph
        self.store = Store()
        self.store.initialise = None if strict else initialise
        self.order: Callable[[int], int] | None = None
        """Chooses among operations that are ready, by their count, to try other orders."""
        self.soft_placement = False
        """Whether what asks for a device that is not there runs elsewhere."""
        self.processors = 0
        """As how many devices the processor appears; 0: as many as elsewhere in the process."""
        self.wishes = Wishes()
        """How plans are compiled, and when."""
        self.compiles = 0
        """How many plans were made."""
        self._plans: dict[object, Plan] = {}
        self._known: dict[object, KnownFetch] = {}
        """Runs of compiled plans by the fetch and the keys of feeds, as they are given."""
        self._asked: dict[tuple[Plan, Hashable], list[GraphTensor]] = {}
        """Which feeds plans can do without that lack them, by shapes of those that they have."""
        self._making = renewed(threading.RLock())
        self._closed = False
        self._before: list[tuple[Context | None, tuple[Recorder, ...]]] = []

    def run(self, fetches: object, feeds: Mapping[object, object] | None = None) -> Any:
        """Return what the fetches are, in the structure that they have; None for operations."""
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        if not self.graph.operations:
            raise RuntimeError(
                "The Session graph is empty. Add operations to the graph before calling run()."
            )
        known = self.at_once(fetches, feeds)
        if known is not None:
            return known[0]
        wanted: list[GraphTensor | Operation] = []
        rebuild = self._flatten(fetches, wanted)
        given = {}
        for key, value in (feeds or {}).items():
            tensor = self._feed_key(key)
            given[tensor] = self._feed_value(tensor, value)
        plan = self._plan(wanted, list(given))
        unread = self._unread(plan, [*given.values()]) if plan.unfed else []
        if unread:
            for tensor in unread:
                given[tensor] = np.zeros(tensor.spec.static_shape, tensor.spec.dtype.numpy)
            plan = self._plan(wanted, list(given))
        with span("step", ", ".join(f.name for f in wanted) or "nothing"):
            try:
                values = self.run_plan(plan, list(given.values()))
            except MissingFeedError as error:
                raise self._missing(error.op) from None
        if any(value is DEAD for value in values):
            dead = next(f for f, v in zip(wanted, values, strict=True) if v is DEAD)
            raise InvalidArgumentError(
                f"Retval[{wanted.index(dead)}] does not have value: {dead.name} is on a way that "
                "was not taken"
            )
        if plan.compiled and not unread and self.order is None and is_plain(fetches):
            kept = (*fetches,) if isinstance(fetches, list | tuple) else (fetches,)
            self._known[key_of(fetches, feeds)] = KnownFetch(kept, tuple(feeds or ()), plan)
        return rebuild(iter(fetched(values)))

    def at_once(
        self, fetches: object, feeds: Mapping[object, object] | None, *, calls: bool = True
    ) -> tuple[object] | None:
        """Return what the fetches are, if these were asked for before and are compiled."""
        known = self._known.get(key_of(fetches, feeds))
        if known is None or self._closed or self.order is not None or EARS.count or DEADLINE.at:
            return None
        values = known.run(self, feeds, calls=calls)
        if values is None:
            return None
        found = fetched(values)
        if isinstance(fetches, list | tuple):
            return (found if isinstance(fetches, list) else (*found,),)
        return (found[0],)

    def _plan(
        self, fetches: Sequence[GraphTensor | Operation], feeds: Sequence[GraphTensor]
    ) -> Plan:
        key = (tuple(map(id, fetches)), tuple(map(id, feeds)))
        plan = self._plans.get(key)
        if plan is not None:
            return plan
        with self._making:
            if key in self._plans:
                return self._plans[key]
            plan = Plan(fetches, feeds)
            plan.wishes = self.wishes
            soft = self.soft_placement
            self._placed(plan, check_placement(plan.ops, soft=soft, available=self.available()))
            self._plans[key] = plan
            self.compiles += 1
        return plan

    def _unread(self, plan: Plan, values: Sequence[Array]) -> list[GraphTensor]:
        """Return what a plan lacks, if gradients ask it for no more than the shapes, all known."""
        key = plan, tuple(value.shape for value in values)
        if key not in self._asked:
            tensors = [op.outputs[0] for op in plan.unfed]
            pairs = zip(plan.feeds, values, strict=True)
            specs = [t.spec.with_shape(value.shape) for t, value in pairs]
            specs += [t.spec for t in tensors]
            needs = True
            if all(spec.is_static and spec.dtype.kind != "s" for spec in specs):
                whole = Plan([*plan.fetches, *plan.awaited], [*plan.feeds, *tensors])
                needs = reads_any(whole, specs, range(len(values), len(specs)))
            self._asked[key] = [] if needs else tensors
        return self._asked[key]

    def available(self) -> list[str]:
        """Return the full names of the devices that operations can be put on."""
        return available_with(self.processors)

    def _placed(self, plan: Plan, found: Mapping[Operation, str]) -> None:
        """See where the operations of a plan are."""

    def run_plan(self, plan: Plan, values: list[Array]) -> list[object]:
        """Run a plan: compiled, if it was run often with these shapes."""
        frame = Frame(self.store)
        if self.order is not None:
            frame.order = self.order
            return plan.run(frame, values)
        if plan.waits:
            frame.run_piece = partial(self._run_piece, frame)
            if plan.parts.reason and not plan.refusal:
                refused(plan, NotStageableError(plan.parts.reason))
            return plan.run(frame, values)
        return self._run_piece(frame, plan, values)

    def _run_piece(self, frame: Frame, plan: Plan, values: list[Array]) -> list[object]:
        """Run a plan that waits for nothing, or a piece of one between waits."""
        where = Where(soft=self.soft_placement, processors=self.processors)
        wanted = plan.wishes.at_once
        alone = wanted is None or OWN.traces  # who looks at a step sees each operation by itself
        never = alone and not plan.asks_for_gpu
        at_once = wanted is not False or plan.slides([x.shape for x in values])
        native = None if never else compiled_for(plan, values, where, at_once=at_once)
        if native is not None:
            return [on_host(value) for value in native.run(self.store, values)]
        account = None
        if not never:
            account = plan.compiled.setdefault(tuple(x.shape for x in values), Account())
            frame.run_rest = None if self.processors else partial(run_rest, self.store)
        with nullcontext() if plan.calls_python or plan.waits else Held(plan.changed):
            return counted(account, partial(plan.run, frame, values))

    def _missing(self, op: Operation) -> InvalidArgumentError:
        spec = op.outputs[0].spec
        shape = dims_or_none(spec.shape)
        sizes = ",".join("?" if size is None else str(size) for size in shape or ())
        text = f" and shape [{sizes}]" if sizes else ""
        return InvalidArgumentError(
            f"You must feed a value for placeholder tensor '{op.name}' with dtype "
            f"{named(spec.dtype)}{text}",
            location=op.source,
        )

    def element(self, value: object) -> GraphTensor | Operation:
        """Return the tensor or operation that a fetch names."""
        if isinstance(value, str):
            by_port = ":" in value
            graph = self.graph
            return (
                graph.get_tensor_by_name(value) if by_port else graph.get_operation_by_name(value)
            )
        node = getattr(value, "as_graph_element", None)
        found = node() if node is not None else value
        if not isinstance(found, GraphTensor | Operation):
            raise TypeError(
                f'Argument `fetch` = {value!r} has invalid type "{type(value).__name__}" must be '
                "a string or Tensor."
            )
        if found.graph is not self.graph:
            raise ForeignTensorError(f"Tensor {found!r} is not an element of this graph.")
        return found.edge if isinstance(found, GraphTensor) else found

    def _flatten(
        self, fetches: Any, wanted: list[GraphTensor | Operation]
    ) -> Callable[[Iterator[object]], object]:
        """Collect the fetches of a structure; return what builds it again from their values."""
        if isinstance(fetches, Mapping):
            parts = {k: self._flatten(v, wanted) for k, v in fetches.items()}
            return lambda found: {k: part(found) for k, part in parts.items()}
        if isinstance(fetches, list | tuple):
            listed = [self._flatten(each, wanted) for each in fetches]
            kind: Callable[..., object] = type(fetches)
            if hasattr(fetches, "_fields"):
                return lambda found: kind(*[part(found) for part in listed])
            return lambda found: kind([part(found) for part in listed])
        if nest.is_own(fetches):
            of_own = [self._flatten(each, wanted) for each in nest.own_parts(fetches)]
            return lambda found: nest.with_own_parts(fetches, [part(found) for part in of_own])
        if hasattr(fetches, "fetched"):
            several = [self._flatten(each, wanted) for each in fetches.fetched_parts]
            return lambda found: fetches.fetched([part(found) for part in several])
        if fetches is None:
            raise TypeError(f"Argument `fetch` = {fetches!r} has invalid type. Cannot be None")
        try:
            wanted.append(self.element(fetches))
        except (NoSuchNameError, NameFormError, ForeignTensorError) as error:
            raise ForeignTensorError(
                f"Argument `fetch` = {fetches} cannot be interpreted as a Tensor. ({error})"
            ) from None
        return next

    def _feed_key(self, key: object) -> GraphTensor:
        try:
            found = self.element(key)
        except (TypeError, KeyError, ValueError) as error:
            raise TypeError(f"Cannot interpret feed_dict key as Tensor: {error}") from None
        if isinstance(found, Operation):
            raise TypeError(f"Cannot interpret feed_dict key {key!r} as Tensor: it is an Operation")
        return found

    def _feed_value(self, tensor: GraphTensor, value: object) -> Array:
        if isinstance(value, GraphTensor):
            raise TypeError(
                "The value of a feed cannot be a tf.Tensor object; acceptable are Python numbers, "
                f"strings, lists, numpy arrays. It was passed with key {tensor!r}"
            )
        dtype = tensor.spec.dtype
        try:
            array = text_of(value) if is_text(dtype) else np.asarray(value, dtype.numpy)
        except OverflowError as error:
            raise TypeError(
                f"Type of feed value {value} is not compatible with Tensor type {dtype}: {error}"
            ) from None
        shape = dims_or_none(tensor.spec.shape)
        if shape is not None and (
            len(shape) != array.ndim
            or any(d is not None and d != n for d, n in zip(shape, array.shape, strict=True))
        ):
            raise ValueError(
                f"Cannot feed value of shape {array.shape} for Tensor {tensor.name}, which has "
                f"shape {shape}"
            )
        return array

    def save(
        self,
        path: str | os.PathLike[str],
        fetches: Sequence[object],
        feeds: Sequence[object] = (),
    ) -> None:
        """Compile fetches of feeds into a library; the suffix says what is written. See `ahead`."""
        from .libraries import save_plan  # noqa: PLC0415  (only who saves needs it)

        wanted = [self.element(each) for each in fetches]
        given = [self._feed_key(each) for each in feeds]
        names = [x.op.name if isinstance(x, GraphTensor) else x.name for x in wanted]
        try:
            save_plan(path, Plan(wanted, given), given, names, self.store)
        except MissingFeedError as error:
            raise self._missing(error.op) from None

    def close(self) -> None:
        """Run nothing any more."""
        self._closed = True
        for queue in [*self.store.queues.values(), *self.store.own.values()]:
            if isinstance(queue, Queue | Accumulated):
                queue.abandon()
        self._plans.clear()
        self._known.clear()

    def __enter__(self) -> Session:
        stack().append(self)
        return self

    def __exit__(self, *error: object) -> None:
        stack().pop()
        self.close()


def text_of(value: object) -> Array:
    """Return text as an array of bytes."""
    plain = isinstance(value, bytes | str | list | tuple)
    array = np.array(value, object) if plain else np.asarray(value)
    flat = [x.encode() if isinstance(x, str) else x for x in array.ravel().tolist()]
    made = np.empty(len(flat), object)
    made[:] = flat
    return made.reshape(array.shape)


def is_text(dtype: DType) -> bool:
    """Say whether elements are bytes."""
    return dtype.kind == "s"


def is_plain(fetches: object) -> bool:
    """Say whether fetches are a tensor or operation, or a list of such."""
    several = fetches if type(fetches) in (list, tuple) else [fetches]
    assert isinstance(several, list | tuple)
    return all(isinstance(each, GraphTensor | Operation) for each in several)


def fetched(values: list[object]) -> list[Array | np.generic | None]:
    """Take the values of a run away from a list, and return them as a caller gets them.

    They are arrays of its own, or numbers of numpy's: what a variable, a constant or a feed lies in
    is copied, and so is a view, which may be one of these.
    """
    values.reverse()
    found: list[Array | np.generic | None] = []
    while values:
        value = unboxed(values.pop())
        if type(value) is np.ndarray and value.ndim:
            is_new = value.base is None and getrefcount(value) <= ALONE
            found.append(value if is_new else value.copy())
        else:
            found.append(None if value is None else np.asarray(value)[()])
    return found


def _alone() -> int:
    """Return how many references a value has that one variable holds."""
    value = np.empty(1)
    return getrefcount(value)


ALONE = _alone()
