"""Random draws go on behind a restart: a checkpoint of an ordered strategy keeps how far."""

import gc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gravure import tf
from gravure.frontend.values.devices import MACHINE
from gravure.runtime.comm.local import run_ranks

X = np.random.default_rng(1).normal(size=(22, 3)).astype(np.float32)


@pytest.fixture(autouse=True)
def unchanged() -> Iterator[None]:
    before = replace(MACHINE)
    yield
    MACHINE.__dict__.update(before.__dict__)
    tf.random.set_seed(None)


class Training:
    """Training with draws of all kinds, which begins where a checkpoint in a folder ends."""

    def __init__(self, folder: Path, how: str, keeps: str, *, between: bool = True) -> None:
        self.how, self.folder, self.between = how, folder, between
        self.strategy = tf.distribute.MultiWorkerMirroredStrategy(replicas=4, ordered=True)
        with self.strategy.scope():
            self.w = tf.Variable(np.ones((3, 1), np.float32))
        data = tf.data.Dataset.from_tensor_slices(X).repeat().batch(10)  # (not the same for all)
        self.rows = iter(self.strategy.experimental_distribute_dataset(data))
        kept = {"rows": self.rows} if keeps == "rows" else {"strategy": self.strategy}
        self.checkpoint = tf.train.Checkpoint(w=self.w, **kept)
        self.checkpoint.restore(tf.train.latest_checkpoint(str(folder)))
        self.strategy.comm.exchange(None, "restored")  # (threads have one process's counts)
        self.noise = tf.function(lambda: tf.random.uniform([]))
        self.whole = tf.function(self.step)
        self.inside = tf.function(lambda x: tf.nn.dropout(x, 0.5))

    def step(self, x: Any, scale: Any) -> None:
        if self.how == "a function inside":
            x = self.inside(x)
        elif self.how == "a loop":
            for _ in tf.range(2):
                x = tf.nn.dropout(x, 0.2)
        elif self.how == "of a seed":
            x = tf.nn.dropout(x, 0.5, seed=3) + tf.random.normal([3], seed=3)
        else:
            x = tf.nn.dropout(x, 0.5) + tf.cond(
                tf.size(x) > 0, lambda: tf.random.normal([3]), lambda: tf.zeros([3])
            )
        context = tf.distribute.get_replica_context()
        grad = context.all_reduce("SUM", tf.reduce_sum(x * scale, 0))
        self.w.assign_add(grad[:, None])

    def go(self, count: int, rank: int) -> bytes:
        """Make some steps, and a checkpoint; return the weights."""
        run = self.step if self.how == "at once" else self.whole
        alone = self.strategy.comm.size == 1 and self.between
        for _ in range(count):
            scale = self.noise() + tf.random.uniform([]) if alone else tf.constant(1.0)
            self.strategy.run(run, (next(self.rows), scale))
        if rank == 0:
            self.checkpoint.save(str(self.folder / "ckpt"))
        return self.w.numpy().tobytes()


HOW = ["at once", "a function", "a function inside", "a loop", "of a seed"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("how", HOW)
def test_c5_dropout_goes_on_behind_a_restart_on_other_ranks(tmp_path: Path, how: str) -> None:
    def steps(folder: Path, ranks: int, count: int) -> bytes:
        tf.random.set_seed(7)  # as a new process does

        def run(comm: Any) -> bytes:
            return Training(folder, how, "rows", between=False).go(count, comm.rank)

        [found] = set(run_ranks(ranks, run))
        return found

    whole = steps(tmp_path / "whole", 1, 7)
    for ranks in (2, 4):
        assert steps(tmp_path / f"whole {ranks}", ranks, 7) == whole
    for number, (before, behind) in enumerate([(1, 1), (4, 1), (1, 2), (2, 4)]):
        folder = tmp_path / str(number)
        first = steps(folder, before, 3)
        assert first != whole
        assert steps(folder, behind, 4) == whole


@pytest.mark.parametrize("how", HOW)
def test_draws_between_replicas_go_on_as_well(tmp_path: Path, how: str) -> None:
    def steps(folder: Path, count: int) -> bytes:
        tf.random.set_seed(7)
        return Training(folder, how, "rows").go(count, 0)

    whole = steps(tmp_path / "whole", 7)
    assert steps(tmp_path / "parts", 3) != whole
    assert steps(tmp_path / "parts", 4) == whole


def test_going_back_in_one_process_draws_the_same_once_more(tmp_path: Path) -> None:
    tf.random.set_seed(7)
    training = Training(tmp_path, "a function", "rows")
    training.go(2, 0)
    first = training.go(3, 1)
    training.checkpoint.restore(tf.train.latest_checkpoint(str(tmp_path)))
    assert training.go(3, 1) == first


def test_a_strategy_alone_keeps_how_far_its_replicas_have_drawn(tmp_path: Path) -> None:
    def drawn(count: int) -> list[float]:
        tf.random.set_seed(7)
        training = Training(tmp_path, "at once", "strategy")
        found = [float(training.noise()) for _ in range(count)]
        training.checkpoint.save(str(tmp_path / "ckpt"))
        return found

    whole = drawn(2) + drawn(3)
    assert len(set(whole)) == 5


def test_draws_of_another_seed_begin_at_their_start(tmp_path: Path) -> None:
    tf.random.set_seed(7)
    Training(tmp_path, "at once", "strategy").go(2, 0)
    tf.random.set_seed(8)
    fresh = [float(tf.random.uniform([])) for _ in range(3)]
    tf.random.set_seed(8)
    Training(tmp_path, "at once", "strategy")
    assert [float(tf.random.uniform([])) for _ in range(3)] == fresh


def test_a_checkpoint_refuses_replicas_that_have_drawn_unequally(tmp_path: Path) -> None:
    tf.random.set_seed(7)
    strategy = tf.distribute.MultiWorkerMirroredStrategy(replicas=4, ordered=True)

    def step() -> Any:
        number = int(tf.distribute.get_replica_context().replica_id_in_sync_group)
        return tf.random.uniform([2], seed=1) if number == 1 else tf.zeros([2])

    strategy.run(step)
    with pytest.raises(tf.errors.InvalidArgumentError, match="replica 1 has drawn other random"):
        tf.train.Checkpoint(strategy=strategy).save(str(tmp_path / "ckpt"))


def test_functions_of_one_name_draw_by_themselves_in_what_they_are_of() -> None:
    class One:
        @tf.function
        def step(self) -> Any:
            return tf.random.uniform([])

    class Other:
        @tf.function
        def step(self) -> Any:
            return tf.random.uniform([])

    def drawn(functions: list[Any]) -> list[list[float]]:
        tf.random.set_seed(1)
        return [[float(function()) for _ in range(2)] for function in functions]

    strategy = tf.distribute.MultiWorkerMirroredStrategy(replicas=2, ordered=True)
    first, second = drawn([One().step, Other().step])
    assert first == second  # (of one seed: neither goes on where the other has stopped)
    del strategy


def test_functions_draw_as_ever_once_there_is_no_ordered_strategy() -> None:
    def drawn(function: Any) -> list[float]:
        tf.random.set_seed(1)
        return [float(function()) for _ in range(3)]

    def looped() -> Any:
        turn = lambda i, x: (i + 1, x + tf.random.uniform([], seed=4))  # noqa: E731
        return tf.while_loop(lambda i, _: i < 3, turn, (0, 0.0))[1]

    before = drawn(tf.function(looped))
    strategy = tf.distribute.MultiWorkerMirroredStrategy(replicas=2, ordered=True)
    del strategy
    gc.collect()
    assert drawn(tf.function(looped)) == before
