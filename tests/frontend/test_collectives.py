"""Collective operations of ranks: at once, under tapes, in functions, compiled."""

import threading
from typing import Any

import numpy as np
import pytest

import gravure as gv
from gravure import tf
from gravure.runtime.comm.local import run_ranks
from gravure.runtime.comm.protocol import LateError, in_step

distributed = gv.distributed


def test_ranks_compute_together_at_once() -> None:
    def run(comm: Any) -> Any:
        x = gv.asarray(np.float32([1, 2])) * (comm.rank + 1.0)
        return (
            distributed.all_reduce(x).tolist(),
            distributed.all_reduce(x, "max").tolist(),
            distributed.all_gather(x).tolist(),
            distributed.broadcast(x, 2).tolist(),
            (distributed.rank(), distributed.size()),
            distributed.barrier(),
        )

    found = run_ranks(3, run)
    for rank, row in enumerate(found):
        assert row == ([6, 12], [3, 6], [1, 2, 2, 4, 3, 6], [3, 6], (rank, 3), None)


def test_one_rank_gets_what_it_gives() -> None:
    x = gv.asarray([1.0, 2.0])
    assert distributed.all_reduce(x).tolist() == [1, 2]
    assert distributed.all_gather(x).tolist() == [1, 2]
    assert (distributed.rank(), distributed.size()) == (0, 1)
    with pytest.raises(TypeError, match="how is 'mean', expected one of sum, prod, min, max"):
        distributed.all_reduce(x, "mean")
    with pytest.raises(distributed.WorldError, match="broadcast from rank 1, there are 1 ranks"):
        distributed.broadcast(x, 1)


def test_gradients_go_over_ranks() -> None:
    def run(comm: Any) -> Any:
        x = gv.asarray(np.float32([1.0, 2.0]) + comm.rank)
        with gv.GradientTape(persistent=True) as tape:
            tape.watch(x)
            total = gv.sum(distributed.all_reduce(x) ** 2.0)
            weights = np.float32([[1, 2], [3, 4]]).ravel()
            rows = gv.sum(distributed.all_gather(x) * gv.asarray(weights))
        return tape.gradient(total, x).tolist(), tape.gradient(rows, x).tolist()

    # the loss of each of two ranks depends on all operands
    assert run_ranks(2, run) == [([12, 20], [2, 4]), ([12, 20], [6, 8])]


@pytest.mark.parametrize("staged", [False, True])
def test_gradients_go_back_to_the_rank_that_has_sent(*, staged: bool) -> None:
    def run(comm: Any) -> Any:
        def gradients(x: Any) -> Any:
            with gv.GradientTape(persistent=True) as tape:
                tape.watch(x)
                sent = gv.sum(distributed.broadcast(x, 1) * (comm.rank + 1.0))
                twice = distributed.all_reduce(distributed.all_reduce(gv.sum(x**2.0)))
            return tape.gradient(sent, x), tape.gradient(twice, x)

        step = gv.function(gradients) if staged else gradients
        x = gv.asarray(np.float32([1.0, 2.0]) + comm.rank)
        return [[g.tolist() for g in step(x)] for _ in range(4)][-1]

    assert run_ranks(2, run) == [[[0, 0], [8, 16]], [[3, 3], [16, 24]]]


def test_functions_have_them_in_loops_and_choices() -> None:
    def run(comm: Any) -> Any:
        @tf.function
        def step(x: Any, y: Any) -> Any:
            with tf.GradientTape() as tape:
                tape.watch(x)
                z = x
                for _ in tf.range(3):
                    z = distributed.all_reduce(z) * 0.5 * x
                if y > 0.0:
                    z = distributed.all_reduce(z)
            return z, tape.gradient(z, x)

        one, two = tf.constant(1.0 + comm.rank), tf.constant(1.0)
        return [[float(v) for v in step(one, two)] for _ in range(4)][-1]

    def total(rows: Any) -> Any:
        z = rows
        for _ in range(3):
            z = z.sum() * 0.5 * rows
        return z.sum()

    # each rank's loss is the same sum: the gradient is twice that of one
    at, tiny = np.array([1.0, 2.0]), np.eye(2) * 1e-6
    slopes = [2 * (total(at + d) - total(at - d)) / 2e-6 for d in tiny]
    for row, slope in zip(run_ranks(2, run), slopes, strict=True):
        np.testing.assert_allclose(row, [total(at), slope], rtol=1e-4)


def test_functions_are_compiled_around_them() -> None:
    def run(comm: Any) -> Any:
        v = gv.Variable(np.float32([1, 1]))

        @gv.function
        def step(x: Any) -> Any:
            with gv.GradientTape() as tape:
                loss = gv.sum((v * x) ** 2.0)
            grad = distributed.all_reduce(tape.gradient(loss, v))
            v.assign(v - 0.1 * grad)
            return loss, distributed.all_reduce(loss), distributed.all_gather(x)

        x = gv.asarray(np.float32([1, 2]) * (comm.rank + 1))
        found = [[y.tolist() for y in step(x)] for _ in range(5)]
        [concrete] = step.cache.values()
        plan = concrete.graph.whole_plan()
        compiled = [made for made in plan.compiled.values() if not isinstance(made, int)]
        steps = compiled[0].model.host_steps
        return found, v.numpy().tolist(), plan.refusal, [str(s.operation) for s in steps]

    (first, second) = run_ranks(2, run)
    value, losses = np.float32([1, 1]), []
    for _ in range(5):
        parts = [np.float32([1, 2]) * rank for rank in (1, 2)]
        losses.append([float(((value * x) ** 2).sum()) for x in parts])
        value = value - np.float32(0.1) * sum(2 * value * x * x for x in parts)
    for rank, (found, last, refusal, steps) in enumerate((first, second)):
        np.testing.assert_allclose([row[0] for row in found], [r[rank] for r in losses], 1e-5)
        np.testing.assert_allclose([row[1] for row in found], [sum(r) for r in losses], 1e-5)
        assert found[0][2] == [1, 2, 2, 4]
        np.testing.assert_allclose(last, value, rtol=1e-5)
        assert refusal == ""
        assert sorted(steps) == ["gv.all_gather", "gv.all_reduce", "gv.all_reduce"]


def test_reductions_in_one_step_go_in_one_message_for_each_type() -> None:
    def run(comm: Any) -> Any:
        calls: list[list[int]] = []
        counted = comm.all_reduce_each

        def reduce(arrays: Any, how: str) -> Any:
            calls.append([x.size for x in arrays])
            return counted(arrays, how)

        comm.all_reduce_each = reduce
        large = np.full((300, 300), comm.rank + 1.0, np.float32)

        @gv.function
        def step(x: Any, y: Any) -> Any:
            given = (x, x + 1.0, y * 2, y, x[0] * 2.0)
            return [distributed.all_reduce(each) for each in given]

        for _ in range(4):
            calls.clear()
            found = step(large, gv.ones(3, dtype=np.int32))
        assert (large == comm.rank + 1.0).all()  # as it was
        return [float(np.max(x)) for x in found], calls

    wanted = [3.0, 5.0, 4.0, 2.0, 6.0], [[90000, 90000, 300], [3, 3]]
    assert run_ranks(2, run) == [wanted] * 2


def in_buckets(run: Any) -> list[Any]:
    """Return what two ranks give, which reduce three tensors of 14 MiB in three buckets."""

    def each(comm: Any) -> Any:
        calls: list[tuple[int, bool]] = []
        counted = comm.all_reduce_each

        def reduce(arrays: Any, how: str) -> Any:
            calls.append((int(arrays[0][0, 0]), threading.current_thread() is own))
            return counted(arrays, how)

        own, comm.all_reduce_each = threading.current_thread(), reduce

        @gv.function
        def step(x: Any) -> Any:
            y = x + 1.0
            z = y * 2.0
            return [distributed.all_reduce(each) for each in (z, y, x * 3.0)]

        large = gv.asarray(np.full((1900, 1900), comm.rank + 1.0, np.float32))
        for _ in range(4):
            calls.clear()
            found = run(comm, lambda: step(large))
        return [float(np.max(x)) for x in found], calls

    return run_ranks(2, each)


def test_reductions_go_on_while_the_rest_is_computed() -> None:
    found = in_buckets(lambda comm, step: step())
    for rank, (sums, calls) in enumerate(found):
        assert sums == [10.0, 5.0, 9.0]
        values = [rank + 2, 2 * (rank + 2), 3 * (rank + 1)]  # in the order that they are there in
        assert calls == [(values[0], False), (values[1], False), (values[2], True)]


def test_what_other_threads_may_not_do_is_done_in_order() -> None:
    def run(comm: Any, step: Any) -> Any:
        comm.has_threads = False
        return step()

    for sums, calls in in_buckets(run):
        assert sums == [10.0, 5.0, 9.0]
        assert all(own for _, own in calls)


def test_a_rank_that_is_gone_while_others_reduce_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAVURE_TIMEOUT", "3")

    def run(comm: Any, step: Any) -> Any:
        with in_step(7):
            return step() if comm.rank == 0 else [0.0]

    with pytest.raises(
        LateError, match=r"rank 0 has waited 3 s for rank 1 in all_reduce of step 7"
    ):
        in_buckets(run)


def test_graphs_hold_them_and_sessions_run_them() -> None:
    def run(comm: Any) -> Any:
        with tf.Graph().as_default() as graph:
            x = tf.compat.v1.placeholder(tf.float32, [2])
            y = distributed.all_reduce(x * 2.0) + 1.0
        with tf.compat.v1.Session(graph=graph) as session:
            return [session.run(y, {x: [n, comm.rank]}).tolist() for n in range(6)]

    assert run_ranks(2, run) == [[[4.0 * n + 1, 3] for n in range(6)]] * 2


def test_ordered_sums_are_the_same_for_any_number_of_ranks() -> None:
    rng = np.random.default_rng(0)
    parts = (rng.normal(size=(8, 5)) * 10.0 ** rng.integers(-4, 5, (8, 5))).astype(np.float32)

    def run(comm: Any) -> bytes:
        mine = np.split(parts, comm.size)[comm.rank]

        @gv.function
        def total(rows: Any) -> Any:
            return distributed.ordered_sum([rows[i] for i in range(len(mine))])

        found = [total(gv.asarray(mine)).numpy().tobytes() for _ in range(4)]
        assert len(set(found)) == 1
        return found[0]

    assert len({x for count in (1, 2, 4, 8) for x in run_ranks(count, run)}) == 1
    with pytest.raises(ValueError, match="a sum of no parts"):
        distributed.ordered_sum([])


def test_a_rank_that_does_not_come_is_named_in_compiled_code(monkeypatch: Any) -> None:
    monkeypatch.setenv("GRAVURE_TIMEOUT", "0.3")

    def run(comm: Any) -> None:
        step = gv.function(lambda x: distributed.all_reduce(x + 1.0))
        for number in range(5):
            if (comm.rank, number) == (1, 4):
                return
            step(gv.ones(2))

    with pytest.raises(distributed.LateError, match=r"rank 0 has waited 0\.3 s for rank 1 in all_"):
        run_ranks(2, run)
