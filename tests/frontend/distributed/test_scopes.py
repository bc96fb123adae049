"""Scopes of strategies: when one is in them, and when not."""

import gc
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from gravure import tf
from gravure.frontend.tf.distribute.replicas import CONTEXTS
from gravure.frontend.values.context import STATE
from gravure.frontend.values.devices import MACHINE


@pytest.fixture(autouse=True)
def two_devices() -> Iterator[None]:
    before = replace(MACHINE)
    MACHINE.processors, MACHINE.used = 2, False
    yield
    MACHINE.__dict__.update(before.__dict__)
    while CONTEXTS.entered:
        CONTEXTS.entered.pop()[1].close()
    assert (CONTEXTS.strategies, STATE.creating) == ([], None)


KINDS = [
    pytest.param(lambda: tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"]), id="mirrored"),
    pytest.param(lambda: tf.distribute.OneDeviceStrategy("/cpu:1"), id="one device"),
    pytest.param(tf.distribute.MultiWorkerMirroredStrategy, id="workers"),
]


@pytest.mark.parametrize("kind", KINDS)
def test_a_scope_that_nobody_keeps_goes_on(kind: Any) -> None:
    strategy = kind()
    strategy.scope().__enter__()
    gc.collect()
    assert tf.distribute.get_strategy() is strategy
    assert strategy.extended.variable_created_in_scope(tf.Variable(1.0))
    if "OneDevice" in type(strategy).__name__:
        assert tf.constant(1.0).device.endswith("CPU:1")


def test_a_scope_is_entered_again_also_within_itself() -> None:
    strategy = tf.distribute.MirroredStrategy()
    scope = strategy.scope()
    for _ in range(2):
        with scope as first, scope as second:
            assert first is second is strategy
        assert not tf.distribute.has_strategy()


def test_scopes_are_entered_between_replicas() -> None:
    strategy = tf.distribute.MirroredStrategy()

    def enters() -> None:
        with strategy.scope():
            pass

    with pytest.raises(RuntimeError, match="a scope is entered between the replicas"):
        strategy.run(enters)

    def merges(own: Any) -> bool:
        with own.scope():
            return tf.distribute.in_cross_replica_context()

    assert strategy.run(lambda: tf.distribute.get_replica_context().merge_call(merges))


def test_a_scope_that_was_not_entered_is_not_left() -> None:
    with pytest.raises(RuntimeError, match="is left, and was not entered"):
        tf.distribute.MirroredStrategy().scope().__exit__(None, None, None)
