"""Checkpoints of objects: variables by the names on the way from a root to them.

Values whose variables do not exist yet wait for them: they are taken when an object gets an
attribute, or an optimiser makes what it keeps (`settle`).
"""

from __future__ import annotations

import os
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Self, SupportsIndex, SupportsInt, TypeAlias

import numpy as np

from ....ir.op import Array
from ....ir.types.dtypes import i64
from ....ir.types.tensor import TensorSpec, spec_of_array
from ...eager.tensor import Tensor
from ...formats.bundles import in_path
from ...function.traces import ACTIVE
from ...function.variable import Variable as CoreVariable
from ...graph.checkpoint_ops import (
    SUFFIX,
    NoCheckpointError,
    keep_newest,
    note_latest,
    noted,
    read_objects,
    refuse_unfit,
    write,
)
from ...graph.frame import Frame, Store
from ...graph.func_graph import FuncGraph
from ...graph.graph import Graph, GraphTensor, Operation
from ...graph.kinds import PyFunction
from ...values.context import STATE, default_session, entered
from ...values.run_errors import NotFoundError
from ...values.texts import TEXT
from ..core.values import path_of, static
from ..graph.sessions import Session
from ..graph.state import TfGraph, Variable
from .checkpoint_state import is_module_folder, told, values_of_module
from .savers import PARTS, latest_checkpoint
from .tracking import TRACKED, Trackable

Prefix: TypeAlias = "str | bytes | os.PathLike[str] | Tensor"
"""Where a checkpoint is written, or what names of checkpoints begin with."""

VALUE = ".ATTRIBUTES/VARIABLE_VALUE"
COUNTER = "save_counter"
UNFIT = "Received incompatible tensor with shape or type other than its variable's: "
"""What is said, as in TensorFlow, of saved values that do not fit."""


class NumpyState:
    """An array of numpy that is part of an object: restored in place."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def value(self) -> Array:
        """Return the elements."""
        return np.array(self.array)

    def assign(self, value: Array) -> None:
        """Change the elements."""
        self.array[...] = value


def running_session() -> Session | None:
    """Return the session that a graph's variables have their values in, None outside of graphs."""
    context = STATE.context
    if not isinstance(context, Graph) or isinstance(context, FuncGraph):
        return None
    found = default_session()
    if not isinstance(found, Session):
        raise ValueError("a checkpoint of a graph's variables needs a default session")
    return found


def number_of(value: object) -> int:
    """Return an integer, which a session may have to compute."""
    session, node = running_session(), getattr(value, "graph", None)
    return int(
        session.run(value) if session is not None and node is not None else np.asarray(value)
    )


def value_of(leaf: Any, store: Store | None = None) -> Array:
    """Return the value of a variable or an array; in a run, that of the run's store."""
    if _is_of_graph(leaf) and store is not None:
        made: Array = leaf.state.value_in(store)
        return made
    if _is_of_graph(leaf):
        session = running_session()
        assert session is not None, "a variable of a graph is saved in one"
        return np.asarray(session.run(leaf))
    if isinstance(leaf, NumpyState):
        return leaf.value()
    if isinstance(leaf, CoreVariable) and leaf.spread is not None:
        return leaf.numpy()  # what the replicas' values make together
    found: Array = leaf.state.value_in(ACTIVE[-1])
    return found


def spec_of_leaf(leaf: Any) -> TensorSpec:
    """Return the type of a variable or an array."""
    spec: TensorSpec = (
        spec_of_array(leaf.array) if isinstance(leaf, NumpyState) else leaf.state.spec
    )
    return spec


class Status:
    """How far the values of a checkpoint have found their variables."""

    def __init__(self, checkpoint: Checkpoint, path: str | None) -> None:
        self._checkpoint, self._path = checkpoint, path

    def assert_consumed(self) -> Status:
        """Raise unless every value was used; variables made since then get theirs first."""
        self._checkpoint.take_pending()
        there, same = self._checkpoint.leaves(), self._checkpoint._same
        reached = {same.get(name, name) for name in there}
        left = [name for name in self._checkpoint.pending if same.get(name, name) not in reached]
        if left:
            names = ", ".join(f"(root).{name.replace('/', '.')}" for name in left)
            raise AssertionError(f"Unresolved object in checkpoint {names}")
        return self.assert_existing_objects_matched()

    def assert_existing_objects_matched(self) -> Status:
        """Raise unless every variable that exists was found."""
        self._checkpoint.take_pending()
        missing = [
            n for n, _ in self._checkpoint.reached() if n not in self._checkpoint.known | {COUNTER}
        ]
        if missing and self._path:
            raise AssertionError(
                f"Found {len(missing)} Python objects that were not bound to checkpointed values, "
                f"likely due to changes in the Python program: {', '.join(missing)}"
            )
        return self

    def assert_nontrivial_match(self) -> Status:
        """Raise unless something was found."""
        self._checkpoint.take_pending()
        if not any(n in self._checkpoint.known for n, _ in self._checkpoint.reached()):
            raise AssertionError("Nothing to load: no object of the checkpoint is there")
        return self

    def expect_partial(self) -> Status:
        """Accept that values are left."""
        return self

    def initialize_or_restore(self, session: Session | None = None) -> None:
        """Give a graph's variables their values in a session, and others what they start with.

        Outside of graphs values are restored at once.
        """
        found = session if session is not None else running_session()
        if found is None:
            return
        leaves = self._checkpoint.leaves().items()
        others = [v for n, v in leaves if n not in self._checkpoint.known and _is_of_graph(v)]
        if others:
            found.run([variable.initializer for variable in others])
        self._checkpoint.take_pending(found)

    def run_restore_ops(self, session: Session | None = None) -> None:
        """Give a graph's variables their values in a session."""
        found = session if session is not None else running_session()
        if found is not None:
            self._checkpoint.take_pending(found)


WAITING: list[weakref.ref[Checkpoint]] = []
"""Checkpoints with values whose variables do not exist yet, while anyone may make these."""
WAITS = "_gravure_waits"
"""The attribute of an object with the checkpoints whose values may be for variables in it."""


class HeldBack:
    """What keeps checkpoints as long as the object that may get their values; no part of it."""

    __slots__ = ("checkpoints",)

    def __init__(self) -> None:
        self.checkpoints: list[Checkpoint] = []

    def __deepcopy__(self, memo: object) -> HeldBack:
        """Return none: values that wait are for the object itself."""
        return HeldBack()


def settle() -> None:
    """Give variables that were made values that wait for them."""
    for each in list(WAITING):
        checkpoint = each()
        if checkpoint is not None:
            checkpoint.take_pending()
        if checkpoint is None or not checkpoint.pending:
            WAITING.remove(each)


class ListWrapper(list[object]):
    """A list that is part of a checkpoint."""

    def __repr__(self) -> str:
        return f"ListWrapper({super().__repr__()})"

    def append(self, value: object) -> None:
        """Add an element at the end."""
        super().append(value)
        settle()

    def insert(self, index: SupportsIndex, value: object) -> None:
        """Add an element before another one."""
        super().insert(index, value)
        settle()

    def extend(self, values: Iterable[object]) -> None:
        """Add elements at the end."""
        super().extend(values)
        settle()

    def __iadd__(self, values: Iterable[object]) -> Self:  # type: ignore[misc]
        self.extend(values)
        return self


class DictWrapper(dict[object, object]):
    """A dictionary that is part of a checkpoint."""

    def __repr__(self) -> str:
        return f"DictWrapper({super().__repr__()})"

    def __setitem__(self, key: object, value: object) -> None:
        super().__setitem__(key, value)
        settle()

    def update(self, *rows: Mapping[object, object], **named: object) -> None:  # type: ignore[override]
        """Set several elements."""
        super().update(*rows, **named)
        settle()


class Checkpoint(Trackable):
    """The variables that can be reached from named objects, by the names on the way."""

    _given: object
    """The root, or what refers to it weakly."""
    _objects: dict[str, object]
    _is_named: bool
    _same: dict[str, str]
    """Other names of values in the file that was restored last."""
    pending: dict[str, Array]
    """Values whose variables do not exist yet: they are taken when they do."""
    known: set[str]
    """The names in the file that was restored last."""
    _counter: object
    _counting: object
    """What counts a saving, in a graph."""

    def __init__(self, root: object = None, **objects: object) -> None:
        strange = [n for n, x in objects.items() if isinstance(x, int | float | str | bytes)]
        if strange:
            raise ValueError(
                f"`Checkpoint` was expecting {strange[0]} to be a trackable object, got "
                f"{objects[strange[0]]!r}."
            )
        known = {} if root is None else dict(parts_of(root))
        for name, each in sorted(objects.items()):
            if known.get(name, each) is not each:
                raise ValueError(
                    f"Cannot create a Checkpoint with keyword argument {name} if root.{name} "
                    "already exists."
                )
            setattr(self, name, each)
        self._given = root

    def __new__(cls, *_: object, **__: object) -> Self:
        """Return one without objects: classes that extend it need not call `__init__`."""
        made = super().__new__(cls)
        made._given, made._counter, made._counting = None, None, None
        made._objects, made._same, made._is_named = {}, {}, False
        made.pending, made.known = {}, set()
        return made

    def __setattr__(self, name: str, value: object) -> None:
        """Set an attribute; what is public and may have variables is part of the checkpoint.

        Lists and dictionaries are kept as such that take values which wait when they grow.
        """
        if name.startswith("_") or name in ("pending", "known"):
            super().__setattr__(name, value)
            return
        if type(value) is list:
            value = ListWrapper(value)
        elif type(value) is dict:
            value = DictWrapper(value)
        super().__setattr__(name, value)
        if is_part(value):
            self._objects[name] = value
            settle()

    def _parts(self) -> dict[str, object]:
        return dict(parts_of(self))

    @property
    def _root(self) -> object:
        """Return the root, None if there is none any more."""
        given = self._given
        return given() if isinstance(given, weakref.ref) else given

    @property
    def save_counter(self) -> Any:
        """Return how often it was saved, a variable: of the graph, if there is a session's."""
        if self._counter is None:
            context = STATE.context
            home = context if isinstance(context, TfGraph) else None
            with entered(None if home is None or isinstance(home, FuncGraph) else home):
                self._counter = Variable(np.int64(0), trainable=False, name=COUNTER)
            self.take_pending()
        return self._counter

    def count(self) -> int:
        """Count a saving, and return how many there were."""
        session, known = running_session(), self._counter is not None
        counter = self.save_counter
        if session is None and _is_of_graph(counter):
            raise ValueError("a checkpoint of a graph is counted outside of its functions: write")
        if session is None or not _is_of_graph(counter):
            counter.assign_add(np.int64(1))
            return int(counter.numpy())
        if not known:  # nothing was restored: it begins
            session.run(counter.initializer)
        if self._counting is None:
            self._counting = counter.assign_add(np.int64(1))
        return int(session.run(self._counting))

    def leaves(self) -> dict[str, Any]:
        """Return the variables by the names on the way to them."""
        return self.walk().found

    def reached(self) -> list[tuple[str, Any]]:
        """Return the variables, with what the file that was restored last calls them.

        One of a `Saver` has them by their own names.
        """
        found = self.leaves()
        if not self._is_named:
            return [*found.items()]
        return [(x.state.name, x) for x in found.values() if not isinstance(x, NumpyState)]

    def walk(self) -> Walk:
        """Find the variables, and by which other names they may be reached."""
        walk = Walk()
        if self._counter is not None:
            walk.found[COUNTER] = self._counter
        roots: list[tuple[object, str]] = [(each, name) for name, each in parts_of(self)]
        root = self._root
        if root is not None:
            roots = [*walk.opened(root, ""), *roots]
        walk.collect(roots)
        return walk

    def write(self, file_prefix: Prefix, options: object = None) -> str | GraphTensor:
        """Write the values; in a function each time it is called."""
        return _when_run(lambda at, store: told(options, self._write(at, store)), file_prefix)

    def _write(self, file_prefix: str, store: Store | None = None) -> str:
        walk = self.walk()
        values = {f"{n}/{VALUE}": value_of(leaf, store) for n, leaf in walk.found.items()}
        write(file_prefix, values, {"leaves": sorted(walk.found), "others": walk.others()})
        return file_prefix

    def save(self, file_prefix: Prefix, options: object = None) -> str | GraphTensor:
        """Write the values under the next number; in a function each time it is called."""
        return _when_run(lambda at, store: told(options, self._save(at, store)), file_prefix)

    def _save(self, file_prefix: str, store: Store | None = None) -> str:
        path = self._write(f"{file_prefix}-{self.count()}", store)
        note_latest(path)
        return path

    def restore(self, save_path: str | None, options: object = None) -> Status:
        """Give the variables their values; those made later get theirs when they are reached."""
        found, others = _read(os.fspath(save_path)) if save_path else ({}, {})
        self._is_named = bool(found) and not any(n.endswith(VALUE) for n in found)
        values = {n.removesuffix(f"/{VALUE}"): v for n, v in found.items()}
        self._same = {}
        for other, name in others.items():
            same = {n: other + n[len(name) :] for n in values if f"{n}/".startswith(f"{name}/")}
            self._same |= {alike: n for n, alike in same.items() if alike not in values}
        values |= {alike: values[n] for alike, n in self._same.items()}
        specs = {COUNTER: TensorSpec(i64, ())}
        specs |= {name: spec_of_leaf(leaf) for name, leaf in self.reached()}
        refuse_unfit(str(save_path), values, specs, UNFIT)
        self.pending = values
        self.known = set(self.pending)
        if COUNTER in self.pending:
            _ = self.save_counter
        self.take_pending()
        self._wait()
        return Status(self, save_path)

    def _wait(self) -> None:
        """Be there for variables to come, as long as this or an object that may make them is."""
        waiting = [each for each in WAITING if each() is not self]
        WAITING[:] = [*waiting, weakref.ref(self)] if self.pending else waiting
        for part in (self._root, *self._objects.values()):
            if hasattr(part, "__dict__") and not hasattr(part, "state") and part is not self:
                found = vars(part).setdefault(WAITS, HeldBack()).checkpoints
                found[:] = [c for c in found if c is not self and c.pending]
                found += [self] if self.pending else []

    def read(self, save_path: str, options: object = None) -> Status:
        """Give the variables their values."""
        return self.restore(save_path)

    def take_pending(self, session: object = None) -> None:
        """Give variables that are there by now the values that wait for them.

        At once, also while a function is traced or a replica runs: it is no step of theirs. Those
        of a graph get theirs in a session.
        """
        if not self.pending:
            return
        replica, STATE.replica = STATE.replica, None
        try:
            with entered(None):
                done = set()
                for name, leaf in self.reached():
                    if name not in self.pending:
                        continue
                    if not _is_of_graph(leaf):
                        leaf.assign(self.pending[name])
                    elif session is not None:
                        leaf.load(self.pending[name], session)
                    else:
                        continue  # it gets its value when there is a session
                    done.add(self._same.get(name, name))
                for name in [n for n in self.pending if self._same.get(n, n) in done]:
                    del self.pending[name]
        finally:
            STATE.replica = replica


def _read(path: str) -> tuple[dict[str, Array], dict[str, str]]:
    """Return the values of a checkpoint or a saved module, and other names of theirs."""
    if is_module_folder(path):
        return {f"{n}/{VALUE}": x for n, x in values_of_module(path).items()}, {}
    try:
        return read_objects(path)
    except NoCheckpointError as error:
        raise NoCheckpointError(
            f"Error when restoring from checkpoint or SavedModel at {path}: {error.args[0]}"
        ) from None


def _is_of_graph(leaf: object) -> bool:
    """Say whether a leaf is a variable of a graph, whose value is a session's."""
    return getattr(leaf, "graph", None) is not None


Step: TypeAlias = Callable[[str, Store | None], str]
"""Writes a checkpoint at a path, in a run with the values of its store; gives the path."""


def _when_run(step: Step, prefix: Prefix) -> str | GraphTensor:
    """Return the path that a step gives; in a function the step is an operation."""
    graph, given = STATE.context, static(prefix)
    if not isinstance(graph, FuncGraph):
        return step(path_of(prefix, "Checkpoint"), None)
    computed = isinstance(given, GraphTensor)
    inputs = [graph.owned(given)] if isinstance(given, GraphTensor) else []
    kind = WriteCheckpoint(step, None if computed else path_of(prefix, "Checkpoint"))
    path = graph.add(kind, inputs, name="SaveV2").outputs[0]
    path.set_shape([])
    return path


class WriteCheckpoint(PyFunction):
    """Writes a checkpoint of what there is in the run, each time that it runs."""

    def __init__(self, step: Step, prefix: str | None) -> None:
        super().__init__(partial(self.written, None), (TEXT,), pure=False)
        self.step, self.prefix = step, prefix

    def written(self, store: Store | None, *found: Array) -> Array:
        """Write at a path, which the run may say: then its folder has to be there."""
        at = self.prefix if self.prefix is not None else os.fsdecode(found[0].item())
        if self.prefix is None and not os.path.isdir(os.path.dirname(at) or "."):
            raise NotFoundError(f"{at}; No such file or directory")
        return np.array(os.fsencode(self.step(at, store)), object)

    def run(self, frame: Frame, op: Operation, inputs: Sequence[object]) -> Sequence[object]:
        """Write; compiled code writes what the process has."""
        if frame.is_staging:
            return super().run(frame, op, inputs)
        return frame.host(partial(self.written, frame.store), inputs, self.dtypes)


class Walk:
    """Finds variables by the attributes, keys and indices that lead to them.

    What several ways lead to is called by the shortest of them, by the first of those.
    """

    def __init__(self) -> None:
        self.found: dict[str, Any] = {}
        self.seen: dict[int, tuple[object, str]] = {}
        """What was found and how: parts may be made for the walk, so that they are kept."""
        self.again: dict[str, str] = {}
        """By other ways to what was found before: the first one."""

    def collect(self, parts: Iterable[tuple[object, str]]) -> None:
        """Find variables in objects, given with the ways to them."""
        waiting = deque(parts)
        while waiting:
            value, path = waiting.popleft()
            if id(value) in self.seen:
                self.again[path] = self.seen[id(value)][1]
            else:
                waiting += self.opened(value, path)

    def opened(self, value: object, path: str) -> list[tuple[object, str]]:
        """Note an object that is met for the first time, and return what it leads to."""
        self.seen[id(value)] = value, path
        if hasattr(value, "state") and hasattr(value, "assign"):
            self.found[path] = value
            return []
        if isinstance(value, np.ndarray):
            self.found[path] = NumpyState(value)
            return []
        plain = [(in_path(n), x) for n, x in parts_of(value)]
        return [(x, f"{path}/{n}" if path else n) for n, x in plain if is_part(x)]

    def others(self) -> dict[str, str]:
        """Return the other ways that lead to variables, each with the first one."""
        ways = {"/".join(n.split("/")[:i]) for n in self.found for i in range(1, n.count("/") + 2)}
        return {other: first for other, first in self.again.items() if first in ways}


def parts_of(value: object) -> list[tuple[str, object]]:
    """Return what an object leads to, by name."""
    own: Callable[[], dict[str, object]] | None = getattr(value, PARTS, None)
    if own is not None:
        return list(own().items())
    if isinstance(value, dict):
        return [(str(k), v) for k, v in value.items()]
    if isinstance(value, list | tuple):
        return [(str(i), v) for i, v in enumerate(value)]
    if isinstance(value, Checkpoint):
        return list({**value._objects, **vars(value).get(TRACKED, {})}.items())
    if hasattr(value, "__dict__") and not isinstance(value, type):
        tracked = list(vars(value).get(TRACKED, {}).items())
        held = [(k, v) for k, v in vars(value).items() if k != TRACKED]
        return [*[(k, v) for k, v in held if not callable(v) or is_module(v)], *tracked]
    return []


def is_part(value: object) -> bool:
    """Say whether a value may lead to variables."""
    return (
        isinstance(value, dict | list | tuple | np.ndarray)
        or hasattr(value, "state")
        or is_module(value)
    )


def is_module(value: object) -> bool:
    """Say whether an object may have parts."""
    return (
        hasattr(value, "__dict__")
        and not isinstance(value, type)
        and not callable(getattr(value, "graph", None))
        and type(value).__module__ not in ("builtins", "types", "functools")
        and not hasattr(value, "python_function")
    )


class CheckpointManager:
    """Keeps the newest checkpoints of a folder."""

    def __init__(
        self,
        checkpoint: Checkpoint,
        directory: str,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
        step_counter: Variable | None = None,
        checkpoint_interval: int | None = None,
        init_fn: Callable[[], object] | None = None,
        last_checkpoint_step: SupportsInt | None = None,
    ) -> None:
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(
                f"Expected a positive integer or `None` for `max_to_keep`, got {max_to_keep}."
            )
        if checkpoint_interval is not None and step_counter is None:
            raise ValueError(
                "`step_counter` should be passed if `checkpoint_interval` is not None."
            )
        self._checkpoint, self._keep, self._hours = (
            checkpoint,
            max_to_keep,
            keep_checkpoint_every_n_hours,
        )
        self.directory = os.fspath(directory)
        self._name, self._begin = checkpoint_name, init_fn
        self._steps, self.checkpoint_interval = step_counter, checkpoint_interval
        last = last_checkpoint_step
        self._saved_at = None if last is None else number_of(last)
        """The step of the newest checkpoint, where there is an interval."""
        self._stays = 0.0
        """When the last one was written that stays for good."""
        self.checkpoints = noted(self.directory)

    @property
    def checkpoint(self) -> Checkpoint:
        """Return what is saved."""
        return self._checkpoint

    def save(
        self,
        checkpoint_number: SupportsInt | None = None,
        check_interval: bool = True,
        options: object = None,
    ) -> str | None:
        """Write a checkpoint, and drop the oldest; None if the last one is not old enough."""
        if self.checkpoint_interval is not None:
            now, last = number_of(self._steps), self._saved_at
            if check_interval and last is not None and now - last < self.checkpoint_interval:
                return None
            self._saved_at = now
        count = self._checkpoint.count()
        number = count if checkpoint_number is None else number_of(checkpoint_number)
        path = os.path.join(self.directory, f"{self._name}-{number}")
        self._checkpoint.write(path, options)
        self._let_stay()
        keep_newest(path, self.checkpoints, self._keep)
        return path

    def _let_stay(self) -> None:
        """Take the oldest off the list if it is to go, and is the first of its hours."""
        if self._hours is None or self._keep is None or len(self.checkpoints) < self._keep:
            return
        written = os.path.getmtime(self.checkpoints[0] + SUFFIX)
        if written - self._stays >= self._hours * 3600:
            self._stays = written
            self.checkpoints.pop(0)

    @property
    def latest_checkpoint(self) -> str | None:
        """Return the newest checkpoint."""
        return latest_checkpoint(self.directory)

    def restore_or_initialize(self) -> str | None:
        """Restore the newest checkpoint if there is one."""
        latest = self.latest_checkpoint
        if latest is not None:
            self._checkpoint.restore(latest)
            if self.checkpoint_interval is not None:
                self._saved_at = number_of(self._steps)
        elif self._begin is not None:
            self._begin()
        return latest
