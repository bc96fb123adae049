"""Row A10: buffers are freed at their last use; long loops need no more memory than short ones."""

import gc
import resource
import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest

import gravure as gv
import gravure.tf as tf

v1 = tf.compat.v1
Step = Callable[[], object]
SIZE = 1 << 14
"""Bytes of a tensor: far more than what Python keeps for itself."""


def eager() -> Step:
    """Return a step of eager operations."""
    x = tf.constant(np.ones(SIZE // 4, np.float32))
    return lambda: tf.reduce_sum(tf.exp(x) * x + 1.0)


def function() -> Step:
    """Return a step of a compiled function that changes a variable."""
    v = tf.Variable(np.ones(SIZE // 4, np.float32))
    return tf.function(lambda: v.assign(v * 0.5 + 1.0))


def session() -> Step:
    """Return a step of a session."""
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [SIZE // 4])
        y = tf.nn.softmax(x * 2.0)
    runner, value = v1.Session(graph=graph), np.ones(SIZE // 4, np.float32)
    return lambda: runner.run(y, {x: value})


@pytest.mark.parametrize("made", [eager, function, session])
def test_a10_as_many_buffers_are_freed_as_were_made(made: Callable[[], Step]) -> None:
    step = made()
    for _ in range(20):
        step()
    gc.collect()
    tracemalloc.start()
    try:
        step()
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(1000):
            step()
        gc.collect()
        after, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < SIZE, "not one of the thousand steps left a tensor"
    assert most < 64 * SIZE


@pytest.mark.parametrize("made", [eager, function, session])
def test_a10_the_allocator_counts_as_many_frees_as_allocations(made: Callable[[], Step]) -> None:
    step = made()
    for _ in range(20):
        step()
    rss = resident()
    with gv.count_memory() as memory:
        step()
        live, allocations = memory.live_bytes, memory.allocations
        for _ in range(1000):
            step()
        gc.collect()
        left = memory.allocations - memory.frees
        assert memory.allocations - allocations >= 1000
        assert memory.live_bytes - live < SIZE
        assert left < 10  # the value of a variable, and frames that steps work in
    assert memory.allocated_bytes - memory.freed_bytes == memory.live_bytes
    assert SIZE <= memory.peak_bytes < 64 * SIZE
    assert resident() - rss < 100 * SIZE


def resident() -> int:
    """Return the bytes of this process that are in memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def test_a10_what_is_freed_after_the_block_is_counted_then() -> None:
    with gv.count_memory() as memory:
        kept = np.zeros(SIZE, np.uint8)
        kept.resize(4 * SIZE)
    assert (memory.allocations, memory.frees) == (2, 1)
    assert (memory.live_bytes, memory.peak_bytes) == (4 * SIZE, 4 * SIZE)
    del kept
    assert (memory.allocations, memory.frees, memory.live_bytes) == (2, 2, 0)
    other = np.zeros(SIZE, np.uint8)
    assert memory.allocations == 2
    del other


def test_a10_memory_from_the_system_is_counted_too() -> None:
    x = gv.ones((4 << 20,))
    gv.exp(x)
    with gv.count_memory() as memory:
        y = gv.exp(x)
        assert memory.live_bytes >= 16 << 20
        y = None  # noqa: F841
    assert memory.live_bytes < 1 << 20


def test_a10_counters_in_each_other_count_what_is_theirs() -> None:
    inside = gv.count_memory()
    with gv.count_memory() as outer:
        first = np.zeros(100)
        with inside as inner:
            second = np.zeros(200)
        third = np.zeros(300)
    assert (outer.live_bytes, inner.live_bytes) == (3200, 1600)
    del first, second, third
    assert (outer.live_bytes, inner.live_bytes) == (0, 0)


def test_a10_tensorflows_names_give_what_is_counted() -> None:
    config = tf.config.experimental
    assert config.get_memory_info("CPU:0") == {"current": 0, "peak": 0}
    with gv.count_memory():
        x = np.zeros(SIZE, np.uint8)
        y = np.zeros(SIZE, np.uint8)
        assert config.get_memory_info("CPU:0") == {"current": 2 * SIZE, "peak": 2 * SIZE}
        del y
        assert config.get_memory_info("/device:CPU:0") == {"current": SIZE, "peak": 2 * SIZE}
        config.reset_memory_stats("CPU:0")
        assert config.get_memory_info("CPU:0") == {"current": SIZE, "peak": SIZE}
        assert config.get_memory_usage("CPU:0") == SIZE
    for name, message in (
        ("CPU", "Failed parsing device name: 'CPU'. Note a valid device string should"),
        ("CPU:7", "No matching devices found for 'CPU:7'"),
    ):
        with pytest.raises(ValueError, match=message):
            config.get_memory_info(name)
    del x


def test_a10_the_statistics_of_a_run_say_what_each_node_took() -> None:
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [64, 64])
        y = tf.matmul(x, x, name="product")
    said, options = v1.RunMetadata(), v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE)
    v1.Session(graph=graph).run(y, {x: np.ones((64, 64), np.float32)}, options, said)
    nodes = [n for device in said.step_stats.dev_stats for n in device.node_stats]
    (product,) = [n for n in nodes if n.node_name == "product"]
    (memory,) = product.memory
    assert (memory.allocator_name, memory.total_bytes) == ("cpu", 64 * 64 * 4)
    assert (memory.peak_bytes, memory.live_bytes) == (64 * 64 * 4, 64 * 64 * 4)
