"""Hooks: what a monitored session calls before, within and behind its steps."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...formats.messages import RunOptions
from ...graph.graph import Graph
from ...graph.graph import op_of as operation_of
from ..core.bridge import Common
from ..graph.sessions import Session
from ..graph.state import Variable, get_default_graph
from ..program.logging import logger
from ..train.coordinator import Coordinator
from ..train.savers import get_global_step


class SessionRunArgs(NamedTuple):
    """What a hook wants to be run with the step: fetches, and values to be fed."""

    fetches: object
    feed_dict: Mapping[object, object] | None = None
    options: object = None


class SessionRunValues(NamedTuple):
    """What a step gave for a hook's fetches."""

    results: Any
    options: object = None
    run_metadata: object = None


class SessionRunContext:
    """What hooks know of a step: what was asked for, and the session; they may end the loop."""

    def __init__(self, original_args: SessionRunArgs, session: Session) -> None:
        self._original_args, self._session = original_args, session
        self._stop_requested = False

    @property
    def original_args(self) -> SessionRunArgs:
        """Return what the program asked to be run."""
        return self._original_args

    @property
    def session(self) -> Session:
        """Return the session."""
        return self._session

    @property
    def stop_requested(self) -> bool:
        """Say whether this is to be the last step."""
        return self._stop_requested

    def request_stop(self) -> None:
        """Let this be the last step."""
        self._stop_requested = True


class SessionRunHook:
    """What a monitored session calls; each method does nothing unless it is overridden."""

    def begin(self) -> None:
        """Prepare, once, before the session is made: the graph may still grow."""

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        """Take note of a new session: it is called again after a failure."""

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Return what else the step shall run."""
        return None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Look at what the step gave."""

    def end(self, session: Session) -> None:
        """Finish, when the session ends without an error."""


class SecondOrStepTimer:
    """Says when so many steps or seconds have passed since it last did."""

    def __init__(self, every_secs: float | None = None, every_steps: int | None = None) -> None:
        if every_secs is None and every_steps is None:
            raise ValueError("Either every_secs or every_steps should be provided.")
        if every_secs is not None and every_steps is not None:
            raise ValueError("Can not provide both every_secs and every_steps.")
        self._secs, self._steps = every_secs, every_steps
        self.reset()

    def reset(self) -> None:
        """Begin anew."""
        self._step: int | None = None
        self._time: float | None = None

    def should_trigger_for_step(self, step: int) -> bool:
        """Say whether it is time at a step; it is at the first one."""
        if self._step is None or self._time is None:
            return True
        if step == self._step:
            return False
        if self._secs is not None:
            return time.time() >= self._time + self._secs
        return self._steps is not None and step >= self._step + self._steps

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        """Take note of a step at which it was time; return seconds and steps since the last."""
        now = time.time()
        passed: tuple[float | None, int | None] = None, None
        if self._step is not None and self._time is not None:
            passed = now - self._time, step - self._step
        self._step, self._time = step, now
        return passed

    def last_triggered_step(self) -> int | None:
        """Return the step at which it was last time."""
        return self._step


class NeverTriggerTimer(SecondOrStepTimer):
    """A timer for which it is never time."""

    def __init__(self) -> None:
        super().__init__(every_steps=1)

    def should_trigger_for_step(self, step: int) -> bool:
        """Say no."""
        return False


def the_global_step(hook: str) -> Variable:
    """Return the count of steps of the graph, which a hook needs."""
    found = get_global_step()
    if found is None:
        raise RuntimeError(f"Global step should be created to use {hook}.")
    step: Variable = found
    return step


def read_of_the_global_step(hook: str) -> object:
    """Return what reads the count as it is before the step that it is fetched with.

    A variable of the first version that is fetched gives what it has behind the step; hooks that
    reckon which step comes next want what it had before.
    """
    return the_global_step(hook).snapshot


def element(value: object, graph: Graph | None = None) -> object:
    """Return a tensor that may be given by its name."""
    home = graph or get_default_graph()
    if isinstance(value, str):
        return home.get_tensor_by_name(value) if ":" in value else home.by_name[value].outputs[0]
    return value


class StopAtStepHook(SessionRunHook):
    """Ends the loop after so many steps, or when the count of steps is so high."""

    def __init__(self, num_steps: int | None = None, last_step: int | None = None) -> None:
        if num_steps is None and last_step is None:
            raise ValueError("One of num_steps or last_step must be specified.")
        if num_steps is not None and last_step is not None:
            raise ValueError("Only one of num_steps or last_step can be specified.")
        self._number, self._last = num_steps, last_step

    def begin(self) -> None:
        """Find the count of steps."""
        self._step = the_global_step("StopAtStepHook")

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        """Count from where the session starts."""
        if self._last is None and self._number is not None:
            self._last = int(session.run(self._step)) + self._number

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for the count."""
        return SessionRunArgs(self._step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """End the loop if the last step was made; the count may be one behind."""
        last = self._last
        assert last is not None, "a session was made"
        if int(run_values.results) + 1 >= last and int(run_context.session.run(self._step)) >= last:
            run_context.request_stop()


class NanLossDuringTrainingError(RuntimeError):
    """A loss became NaN."""

    def __str__(self) -> str:
        return "NaN loss during training."


class NanTensorHook(SessionRunHook):
    """Ends the loop, or raises, when a loss is NaN."""

    def __init__(self, loss_tensor: object, fail_on_nan_loss: bool = True) -> None:
        self._loss, self._fails = loss_tensor, fail_on_nan_loss

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for the loss."""
        return SessionRunArgs(self._loss)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Look at the loss."""
        if not np.any(np.isnan(run_values.results)):
            return
        if self._fails:
            logger().error("Model diverged with loss = NaN.")
            raise NanLossDuringTrainingError
        logger().warning("Model diverged with loss = NaN.")
        run_context.request_stop()


def _tag(tensor: object) -> str:
    """Return what a tensor is called in messages."""
    return tensor if isinstance(tensor, str) else str(getattr(tensor, "name", tensor))


class LoggingTensorHook(SessionRunHook):
    """Writes values of tensors as messages, every so many steps or seconds, or at the end."""

    def __init__(
        self,
        tensors: Mapping[str, object] | Sequence[object],
        every_n_iter: int | None = None,
        every_n_secs: float | None = None,
        at_end: bool = False,
        formatter: Callable[[dict[str, object]], str] | None = None,
    ) -> None:
        only_at_end = at_end and every_n_iter is None and every_n_secs is None
        if not only_at_end and (every_n_iter is None) == (every_n_secs is None):
            raise ValueError(
                "either at_end and/or exactly one of every_n_iter and every_n_secs must be "
                "provided."
            )
        if every_n_iter is not None and every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        named = tensors if isinstance(tensors, Mapping) else {_tag(x): x for x in tensors}
        self._tensors, self._order = dict(named), [*named]
        self._timer = (
            NeverTriggerTimer() if only_at_end else SecondOrStepTimer(every_n_secs, every_n_iter)
        )
        self._at_end, self._formatter = at_end, formatter

    def begin(self) -> None:
        """Find the tensors."""
        self._timer.reset()
        self._steps = 0
        self._wanted = {tag: element(self._tensors[tag]) for tag in self._order}

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Ask for the tensors if it is time."""
        self._due = self._timer.should_trigger_for_step(self._steps)
        return SessionRunArgs(self._wanted) if self._due else None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Write them."""
        if self._due:
            self._write(run_values.results)
        self._steps += 1

    def _write(self, values: dict[str, object]) -> None:
        seconds, _ = self._timer.update_last_triggered_step(self._steps)
        if self._formatter is not None:
            logger().info(self._formatter(values))
            return
        text = ", ".join(f"{tag} = {values[tag]!s}" for tag in self._order)
        logger().info(text if seconds is None else f"{text} ({seconds:.3f} sec)")

    def end(self, session: Session) -> None:
        """Write the last values if they are wanted."""
        if self._at_end:
            self._write(session.run(self._wanted))


class GlobalStepWaiterHook(SessionRunHook):
    """Lets the first step wait until others have made so many."""

    def __init__(self, wait_until_step: int) -> None:
        self._until = wait_until_step
        self._waited = wait_until_step <= 0

    def begin(self) -> None:
        """Find the count of steps."""
        self._step = the_global_step("_GlobalStepWaiterHook")

    def before_run(self, run_context: SessionRunContext) -> None:
        """Wait."""
        told = 0
        while not self._waited:
            now = int(run_context.session.run(self._step))
            self._waited = now >= self._until
            if not self._waited:
                if now - told > 1000:
                    logger().info("Waiting for global step %d: it is %d", self._until, now)
                    told = now
                time.sleep(0.5)


class FinalOpsHook(SessionRunHook):
    """Runs fetches once, when the session ends."""

    def __init__(
        self, final_ops: object, final_ops_feed_dict: Mapping[object, object] | None = None
    ) -> None:
        self._fetches, self._feeds = final_ops, final_ops_feed_dict
        self._values: object = None

    @property
    def final_ops_values(self) -> object:
        """Return what the fetches were."""
        return self._values

    def end(self, session: Session) -> None:
        """Run them."""
        if self._fetches is not None:
            self._values = session.run(self._fetches, feed_dict=self._feeds)


class FeedFnHook(SessionRunHook):
    """Feeds each step what a function returns."""

    def __init__(self, feed_fn: Callable[[], Mapping[object, object]]) -> None:
        self.feed_fn = feed_fn

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Return the values."""
        return SessionRunArgs(fetches=None, feed_dict=self.feed_fn())


def as_feed(key: object) -> object:
    """Return what tells apart what is fed."""
    return key if not isinstance(key, Common) else id(operation_of(key))


def merged(options: RunOptions | None, others: RunOptions | None) -> RunOptions | None:
    """Return options of a run with those of a hook: what either asks for."""
    if others is None:
        return options
    made = RunOptions()
    made.CopyFrom(others)
    if options is not None:
        made.MergeFrom(options)
        made.trace_level = max(options.trace_level, others.trace_level)
        made.timeout_in_ms = max(options.timeout_in_ms, others.timeout_in_ms)
        made.output_partition_graphs |= others.output_partition_graphs
    return made


def asked(
    hooks: Sequence[SessionRunHook], context: SessionRunContext
) -> tuple[dict[SessionRunHook, object], dict[object, object], object]:
    """Return what hooks want to be fetched and fed with a step, and with which options."""
    options = context.original_args.options
    fetches: dict[SessionRunHook, object] = {}
    given = context.original_args.feed_dict
    feeds: dict[object, object] = dict(given or {})
    by_user = {as_feed(key) for key in feeds}
    by_hooks: set[object] = set()
    for hook in hooks:
        wanted = hook.before_run(context)
        if wanted is None:
            continue
        options = merged(options, wanted.options)
        if wanted.fetches is not None:
            fetches[hook] = wanted.fetches
        for key, value in (wanted.feed_dict or {}).items():
            if as_feed(key) in by_hooks:
                raise RuntimeError("Same tensor is fed by two hooks.")
            if as_feed(key) in by_user:
                raise RuntimeError("Same tensor is fed by a SessionRunHook and user.")
            by_hooks.add(as_feed(key))
            feeds[key] = value
    return fetches, feeds, options


def rate_of(steps: int, seconds: float) -> float:
    """Return steps a second."""
    return steps / seconds if seconds > 0 else math.inf
