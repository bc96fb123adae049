"""The place in the data is a part of checkpoints: on the same ranks, on others, on each rank."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gravure import tf
from gravure.frontend.tf.runs.seeds import Seeds
from gravure.frontend.values.run_errors import InvalidArgumentError
from gravure.runtime.comm.local import run_ranks


@pytest.fixture(autouse=True)
def no_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the seed that another test has set: ranks that are threads would count it together."""
    monkeypatch.setattr(Seeds, "value", None)


def pipelines() -> dict[str, Any]:
    """Return pipelines of 24 numbers, three times, in batches of 6, which look ahead or shuffle."""
    numbers = tf.data.Dataset.range(24)
    return {
        "plain": numbers.repeat(3).batch(6),
        "shuffled": numbers.shuffle(7, seed=3).repeat(3).batch(6).prefetch(2),
        "drawn": numbers.shuffle(24).repeat(3).map(lambda x: x + 1).batch(6),
        "mapped ahead": numbers.map(lambda x: x * 2, num_parallel_calls=2).repeat(3).batch(6),
    }


def read(strategy: Any, rows: Any) -> list[int]:
    """Return what the replicas of this process get, in their order."""
    parts = strategy.experimental_local_results(rows)
    return [int(x) for part in parts for x in np.ravel(part)]


def joined(rows: Any) -> list[int]:
    return [x for row in rows for x in row]


def taken(ranks: int, name: str, folder: Path, first: int, last: int) -> list[list[int]]:
    """Return the batches from one to another, going on from what was saved before the first."""

    def run(comm: Any) -> list[list[int]]:
        strategy = tf.distribute.MultiWorkerMirroredStrategy(replicas=4)
        iterator = iter(strategy.experimental_distribute_dataset(pipelines()[name]))
        kept = tf.train.Checkpoint(iterator=iterator)
        if first:
            kept.restore(str(folder / f"at-{first}"))
        found = [read(strategy, next(iterator)) for _ in range(first, last)]
        if comm.rank == 0:
            kept.write(str(folder / f"at-{last}"))
        return found

    found = run_ranks(ranks, run)
    return [joined(rows) for rows in zip(*found, strict=True)]


@pytest.mark.parametrize("name", ["plain", "shuffled", "drawn", "mapped ahead"])
def test_other_ranks_go_on_in_the_middle_of_an_epoch(tmp_path: Path, name: str) -> None:
    whole = taken(2, name, tmp_path, 0, 3)
    for ranks, first, last in ((4, 3, 5), (1, 5, 6), (2, 6, 12)):
        whole += taken(ranks, name, tmp_path, first, last)
    epochs = [sorted(joined(whole[n : n + 4])) for n in (0, 4, 8)]
    assert epochs[0] == epochs[1] == epochs[2]
    assert len(set(epochs[0])) == 24
    if name != "drawn":
        assert taken(1, name, tmp_path, 0, 12) == whole


def test_each_rank_reads_the_order_that_the_first_one_draws() -> None:
    def run(comm: Any) -> list[list[int]]:
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        data = tf.data.Dataset.range(12).shuffle(12).repeat(4).batch(12)
        return [read(strategy, rows) for rows in strategy.experimental_distribute_dataset(data)]

    first, second = run_ranks(2, run)
    assert [sorted(a + b) for a, b in zip(first, second, strict=True)] == [[*range(12)]] * 4


def sharded(count: int, index: int, places: dict[str, Any], path: str, *, save: bool) -> Any:
    """Return three elements of a shard, behind a place that was saved, or before one is."""
    data = places["before"](tf.data.Dataset.range(60)).shard(count, index)
    iterator = iter(places["behind"](data))
    kept = tf.train.Checkpoint(iterator=iterator)
    if not save:
        kept.restore(path)
    found = [next(iterator).numpy().tolist() for _ in range(3)]
    if save:
        kept.write(path)
    return found


def test_shards_go_on_as_shards_of_another_number(tmp_path: Path) -> None:
    places = {"before": lambda x: x.shuffle(9, seed=2), "behind": lambda x: x.batch(2)}
    shuffled = [int(x) for x in tf.data.Dataset.range(60).shuffle(9, seed=2)]
    for index in range(2):
        path = str(tmp_path / f"{index}")
        assert sharded(2, index, places, path, save=True)[0] == shuffled[index:4:2]
        for other in range(3):
            found = sharded(3, other, places, path, save=False)
            assert joined(found) == shuffled[12 + other : 30 : 3]


def test_what_waits_behind_another_shard_is_not_taken_for_this_ones(tmp_path: Path) -> None:
    path = str(tmp_path / "kept")
    places = {"before": lambda x: x, "behind": lambda x: x.shuffle(4, seed=1)}
    sharded(2, 0, places, path, save=True)
    sharded(2, 0, places, path, save=False)
    with pytest.raises(
        InvalidArgumentError, match=r"shard 0 of 2 in shard 1 of 2: . elements wait"
    ):
        sharded(2, 1, places, path, save=False)


def test_a_pipeline_of_each_rank_goes_on_only_there(tmp_path: Path) -> None:
    def run(comm: Any) -> Any:
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        data = strategy.distribute_datasets_from_function(
            lambda context: (
                tf.data.Dataset.range(12)
                .shard(context.num_input_pipelines, context.input_pipeline_id)
                .batch(context.get_per_replica_batch_size(4))
            )
        )
        iterator = iter(data)
        kept = tf.train.Checkpoint(iterator=iterator)
        first = read(strategy, next(iterator))
        kept.write(str(tmp_path / f"{comm.rank}"))
        second = read(strategy, next(iterator))
        kept.restore(str(tmp_path / f"{comm.rank}"))
        assert read(strategy, iterator.get_next()) == second
        comm.exchange(None, "saved")
        with pytest.raises(InvalidArgumentError, match=r"of rank . of 2, restored on rank . of 2"):
            kept.restore(str(tmp_path / f"{1 - comm.rank}"))
        return first, second

    assert run_ranks(2, run) == [([0, 2], [4, 6]), ([1, 3], [5, 7])]
