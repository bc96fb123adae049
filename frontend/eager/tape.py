"""`GradientTape`: remembers what is computed from watched values, and gives gradients of it.

    with GradientTape() as tape:
        tape.watch(x)
        y = x * x
    tape.gradient(y, x)

Variables are watched when they are read. A tape records where it is opened: eagerly, or in the
graph that is being made; gradients come out the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, ClassVar, Self

import numpy as np

from ...errors import printed_as
from ...ir.compose.functions import stack, unsqueeze
from ...ir.compose.maker import Maker
from ...ir.op import REGISTRY
from ...ir.ops.gradient import Identity, StopGradient
from ...ir.types.dims import product
from ..values import nest
from ..values.context import Use, start, stop
from .backward import Sparse, backward, dense, filled_like, frozen, is_smooth, key_of
from .conversions import read
from .tensor import Tensor, apply, as_tensor, cast


@printed_as(RuntimeError)
class TapeError(RuntimeError):
    """A tape was used in a way or at a time that it does not allow."""


@printed_as(ValueError)
class StillRecordingError(TapeError, ValueError):
    """A tape was entered again before it was left."""


def _refused(
    tape: object, target: Any, sources: object, unconnected: object, *, batch: bool
) -> Sequence[object]:
    """Refuse jacobians of a target whose sizes only the run knows."""
    raise NotImplementedError(
        f"jacobian: the target is {target.spec}, expected one whose sizes are known before the "
        "run; of batch_jacobian the first may be open"
    )


class GradientTape:
    """Records operations for gradients.

    A tape that is not `persistent` gives gradients once and then forgets. Without
    `watch_accessed_variables` only what is given to `watch` is watched.
    """

    OPEN_ROWS: ClassVar[Callable[..., Sequence[object]]] = _refused
    """Gives jacobians of a target whose sizes only the run knows, if there is a way to."""

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent = persistent
        self._watches_variables = watch_accessed_variables
        self._recording = False
        self._used = False
        self._forget()

    def _forget(self) -> None:
        self._uses: list[Use] = []
        self._known: set[object] = set()
        self._variables: dict[int, object] = {}

    def __enter__(self) -> Self:
        if self._recording:
            raise StillRecordingError(
                "Tape is still recording, This can happen if you try to re-enter an "
                "already-active tape: it is already recording"
            )
        self._recording = True
        start(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()

    def _stop(self) -> None:
        if self._recording:
            self._recording = False
            stop(self)

    @property
    def is_recording(self) -> bool:
        """Say whether it is entered."""
        return self._recording

    def watch(self, value: object) -> None:
        """Watch tensors or variables, or a structure of them."""
        for x in nest.flatten(value):
            if not (isinstance(x, Tensor) or hasattr(x, "__gv_tensor__")):
                raise TypeError(f"a {type(x).__name__} cannot be watched, expected a tensor")
            if is_smooth(x):
                self._known.add(key_of(x))
            if hasattr(x, "__gv_tensor__"):
                self._variables.setdefault(id(x), x)

    def record(self, use: Use) -> None:
        """See one use."""
        if any(key_of(x) in self._known for x in use.operands):
            made = [key_of(r) for r in use.results if is_smooth(r)]
            if made:
                self._known.update(made)
                self._uses.append(frozen(use))

    def accessed(self, variable: object) -> None:
        """Watch a variable that is about to be read."""
        if self._watches_variables and getattr(variable, "trainable", True):
            self.watch(variable)

    def knows(self, value: object) -> bool:
        """Say whether a value is watched or computed from what is."""
        return key_of(value) in self._known

    def watched_variables(self) -> tuple[object, ...]:
        """Return the variables that are watched, in the order they were read."""
        return tuple(self._variables.values())

    def reset(self) -> None:
        """Forget everything, as if the tape were new."""
        self._used = False
        self._forget()

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Record nothing inside."""
        if not self._recording:
            raise TapeError("the tape is not recording")
        self._stop()
        try:
            yield
        finally:
            self.__enter__()

    def gradient(
        self,
        target: object,
        sources: object,
        output_gradients: object = None,
        unconnected_gradients: object = "none",
    ) -> Any:
        """Return the gradient of the sum of the target's elements, for each source.

        `sources` is a structure; the result has the same one. `output_gradients` weigh the
        elements of the targets. Where nothing depends on a source the gradient is None, or with
        `unconnected_gradients="zero"` zeros.
        """
        targets = list(map(_value, nest.flatten(target)))  # what is read is recorded, too
        self._begin()
        weights = nest.flatten(output_gradients) if output_gradients is not None else None
        flat = nest.flatten(sources)
        found = self._backward(_weighted(targets, weights, flat), flat)
        self._end()
        if wants_zeros(unconnected_gradients):
            found = [
                filled_like(x, 0) if g is None else g for x, g in zip(flat, found, strict=True)
            ]
        return nest.pack_gradients(sources, found)

    def jacobian(
        self, target: object, sources: object, unconnected_gradients: object = "none"
    ) -> Any:
        """Return the derivative of each element of the target by each element of the sources.

        The shape is the target's followed by the source's.
        """
        y = _value(target)
        self._begin()
        if not y.spec.is_static:
            flat = nest.flatten(sources)
            made = self.OPEN_ROWS(y, flat, unconnected_gradients, batch=False)
            self._end()
            return nest.pack(sources, made)
        shape, flat = y.spec.static_shape, nest.flatten(sources)
        count = int(np.prod(shape, dtype=np.int64))
        basis = np.eye(count, dtype=y.dtype.numpy).reshape(count, *shape)
        rows = [self._dense([(key_of(y), as_tensor(b))], flat) for b in basis]
        self._end()
        if not rows:
            filled = Maker(apply).filled
            empty = [filled(0, x.spec.dtype, (*shape, *x.spec.dims)) for x in flat]
            return nest.pack(sources, empty)
        zeros = wants_zeros(unconnected_gradients)
        found = [
            _stacked([row[i] for row in rows], x, shape, zeros=zeros) for i, x in enumerate(flat)
        ]
        return nest.pack(sources, found)

    def batch_jacobian(
        self, target: object, source: Any, unconnected_gradients: object = "none"
    ) -> Any:
        """Return the jacobian of each example: target and source have a first axis of examples.

        Example i of the target must depend on example i of the source only.
        """
        y = _value(target)
        self._begin()
        inner = None if y.spec.shape is None else y.spec.dims[1:]
        count = None if inner is None else product(inner)
        if inner is None or not isinstance(count, int):
            [open_rows] = self.OPEN_ROWS(y, [source], unconnected_gradients, batch=True)
            self._end()
            return open_rows
        batch = y.spec.dims[0]
        rows = []
        for b in np.eye(count, dtype=y.dtype.numpy).reshape(count, 1, *inner):
            grad = apply(REGISTRY["gv.broadcast_to"], as_tensor(b), shape=(batch, *inner))
            rows.append(self._dense([(key_of(y), grad)], [source])[0])
        self._end()
        examples, *sizes = source.spec.dims  # (as many as of the target, maybe by another name)
        zeros, shape = wants_zeros(unconnected_gradients), (examples, *inner, *sizes)
        made: Tensor
        if not rows:
            made = Maker(apply).filled(0, source.spec.dtype, shape)
            return made
        if all(row is None for row in rows) and not zeros:
            return None
        parts = [filled_like(source, 0) if row is None else row for row in rows]
        made = apply(REGISTRY["gv.reshape"], stack(apply, parts, 1), shape=shape)
        return made

    def uses_of(self, value: object) -> list[Use]:
        """Return the uses that were seen of a value, in their order."""
        return [use for use in self._uses if any(x is value for x in use.operands)]

    def _begin(self) -> None:
        if self._used and not self._persistent:
            raise TapeError(
                "a tape that is not persistent gives gradients once; make it by "
                "GradientTape(persistent=True)"
            )
        self._used = True
        if not self._persistent:
            self._stop()

    def _end(self) -> None:
        if not self._persistent:
            self._uses = []

    def sparse(self, use: Use, grads: Sequence[object]) -> Sequence[object] | None:
        """Return the gradients of a use of which some are slices with indices, or None."""
        return None

    def _dense(
        self, given: Iterable[tuple[object, object]], sources: Sequence[object]
    ) -> list[object]:
        """Return gradients of which none are slices with indices."""
        return list(map(dense, self._walked(given, sources, lambda *_: None)))

    def _backward(
        self, given: Iterable[tuple[object, object]], sources: Sequence[object]
    ) -> list[object]:
        return self._walked(given, sources, self.sparse)

    def _walked(
        self, given: Iterable[tuple[object, object]], sources: Sequence[object], sparse: Sparse
    ) -> list[object]:
        """Return gradients; those of what was not watched are what is given for it as a target.

        An operation has gradients for all its operands as soon as one of them is watched.
        """
        wanted = list(given)
        found = backward(list(self._uses), wanted, sources, sparse)
        if all(map(self.knows, sources)):
            return found
        own = backward((), wanted, sources, sparse)
        return [
            g if self.knows(x) else alone for x, g, alone in zip(sources, found, own, strict=True)
        ]


def _value(target: object) -> Any:
    """Return what is differentiated: a variable stands for itself."""
    if isinstance(target, Tensor) or hasattr(target, "__gv_tensor__"):
        return target
    return as_tensor(read(target))


def _weighted(
    targets: Sequence[Any], weights: Sequence[object] | None, sources: Sequence[Any]
) -> Iterator[tuple[object, object]]:
    """Give the gradient of each target that has one: its weight, or ones.

    A target that is a source has one whatever it counts in.
    """
    own = {key_of(x) for x in sources}
    for i, y in enumerate(targets):
        if is_smooth(y) or (key_of(y) in own and y.dtype.kind in "iu"):
            weight = None if weights is None else weights[i]
            given = filled_like(y, 1) if weight is None else cast(as_tensor(weight), y.spec.dtype)
            yield key_of(y), given


def wants_zeros(choice: object) -> bool:
    """Say whether gradients are zeros where nothing depends; refuse the name of another choice."""
    text = str(getattr(choice, "value", choice)).lower()
    if text not in ("none", "zero"):
        raise ValueError(
            f"Unknown value for unconnected_gradients: {choice!r}, expected 'none' or 'zero'"
        )
    return text == "zero"


def _stacked(
    rows: list[object], source: Any, shape: tuple[int, ...], *, zeros: bool
) -> Tensor | None:
    """Return one tensor of the gradients of all elements of a target of this shape."""
    wanted = (*shape, *source.spec.dims)
    if all(row is None for row in rows):
        like: Tensor = apply(REGISTRY["gv.broadcast_to"], filled_like(source, 0), shape=wanted)
        return like if zeros else None
    parts = [filled_like(source, 0) if row is None else row for row in rows]
    joined = apply(REGISTRY["gv.concat"], *(unsqueeze(apply, part, (0,)) for part in parts), axis=0)
    made: Tensor = apply(REGISTRY["gv.reshape"], joined, shape=wanted)
    return made


def identity(x: object) -> Tensor:
    """Return the same value as a tensor of its own."""
    value = as_tensor(x)
    made: Tensor = value.alias() if value.dtype.kind == "s" else apply(Identity, value)
    return made


def stop_gradient(x: object) -> Any:
    """Return the same value, through which no gradient passes; of a structure, of each part."""
    return nest.map_structure(_stopped, x)


def _stopped(x: object) -> Tensor:
    value = as_tensor(x)
    made: Tensor = value.alias() if value.dtype.kind == "s" else apply(StopGradient, value)
    return made
