"""Programs on several devices: placement, mixed graphs, and copies where values cross."""

import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gravure as gv
from gravure import tf
from gravure.codegen.compile import Options
from gravure.errors import CompileError
from gravure.frontend.formats.messages import RewriterConfig
from gravure.frontend.graph.placement import PlacementError
from gravure.frontend.models import pieces
from gravure.frontend.programs.compile import compile_source
from gravure.frontend.values.devices import list_devices
from gravure.ir import Program, parse
from gravure.runtime.devices import standing_in
from gravure.runtime.gpu.device_array import DeviceArray
from gravure.runtime.gpu.emulated import EmulatedDriver

X = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)


class Recording(EmulatedDriver):
    """An emulated device that notes what it is told to do."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[str] = []

    def write(self, address: int, array: Any) -> None:
        self.calls.append(f"write {array.nbytes}")
        super().write(address, array)

    def read(self, address: int, array: Any) -> None:
        self.calls.append(f"read {array.nbytes}")
        super().read(address, array)


@pytest.fixture
def gpu() -> Iterator[Recording]:
    with standing_in(0, Recording()) as driver:
        assert isinstance(driver, Recording)
        yield driver


@pytest.fixture
def gpus(gpu: Recording) -> Iterator[tuple[Recording, Recording]]:
    with standing_in(1, Recording()) as second:
        assert isinstance(second, Recording)
        yield gpu, second


def test_devices_are_listed_by_their_full_names(gpus: tuple[Recording, Recording]) -> None:
    assert list_devices()[-2:] == [
        "/job:localhost/replica:0/task:0/device:GPU:0",
        "/job:localhost/replica:0/task:0/device:GPU:1",
    ]
    assert len(tf.config.list_physical_devices("GPU")) == len(list_devices()) - 1
    assert [str(each) for each in gv.__array_namespace_info__().devices()][:2] == ["cpu:0", "gpu:0"]


def mixed_graph() -> tuple[Any, Any, Any]:
    graph = tf.Graph()
    with graph.as_default():
        x = tf.compat.v1.placeholder(tf.float32, (3, 4), name="x")
        with tf.device("/gpu:0"):
            a = tf.exp(x, name="a")
            b = tf.add(a, 1.0, name="b")
        c = tf.tanh(b, name="c")
        with graph.colocate_with(b.op):
            d = tf.multiply(c, a, name="d")
    return graph, x, d


def test_a_session_cuts_a_graph_between_devices(gpu: Recording) -> None:
    graph, x, d = mixed_graph()
    with tf.compat.v1.Session(graph=graph) as session:
        for scale in (1.0, 2.0):
            found = session.run(d, {x: X * scale})
            wanted = np.tanh(np.exp(X * scale) + 1) * np.exp(X * scale)
            np.testing.assert_allclose(found, wanted, rtol=1e-5)
        gpu.calls.clear()
        session.run(d, {x: X})
    # the input goes there, `b` comes back, `c` goes there, the result comes back; `a` stays
    assert gpu.calls == ["write 48", "read 48", "write 48", "read 48"]
    assert gpu.launched == 6


def test_a_value_that_two_parts_need_is_copied_once(gpu: Recording) -> None:
    graph = tf.Graph()
    with graph.as_default():
        x = tf.compat.v1.placeholder(tf.float32, (3, 4))
        with tf.device("/gpu:0"):
            a = tf.exp(x)
        b = tf.sin(a)
        with tf.device("/gpu:0"):
            c = tf.cumsum(b)
        d = tf.add(tf.tanh(c), a)
    with tf.compat.v1.Session(graph=graph) as session:
        found = session.run(d, {x: X})
    wanted = np.tanh(np.cumsum(np.sin(np.exp(X)), axis=0)) + np.exp(X)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
    assert gpu.calls == ["write 48", "read 48", "write 48", "read 48"]


def test_soft_placement_moves_what_has_no_kernel(gpu: Recording) -> None:
    graph = tf.Graph()
    with graph.as_default(), tf.device("/gpu:0"):
        x = tf.constant(X)
        y = tf.numpy_function(lambda a: a + 1, [tf.exp(x)], tf.float32, name="host")
        z = tf.tanh(y)
    with (
        tf.compat.v1.Session(graph=graph) as session,
        pytest.raises(PlacementError, match=r"operation 'host' .* assigned to /device:GPU:0"),
    ):
        session.run(z)
    soft = tf.compat.v1.ConfigProto(allow_soft_placement=True)
    with tf.compat.v1.Session(graph=graph, config=soft) as session:
        np.testing.assert_allclose(session.run(z), np.tanh(np.exp(X) + 1), rtol=1e-5)


def test_operations_run_where_they_are_told_to(gpu: Recording) -> None:
    with gv.device("gpu:0") as place:
        x = gv.asarray(X)
        y = gv.exp(x) @ gv.ones((4, 2)) + 1.0
    assert (str(place), x.device, y.device) == ("gpu:0", "gpu:0", "gpu:0")
    assert gpu.launched == 3
    np.testing.assert_allclose(y.numpy(), np.exp(X) @ np.ones((4, 2)) + 1, rtol=1e-5)
    z = y * 2  # where its operand is
    assert (z.device, z.shape, z.dtype) == ("gpu:0", (3, 2), gv.float32)
    with gv.device("cpu:0"):
        assert (z + y).device == "cpu:0"
    assert z[0, 1].device == "gpu:0"
    assert float(z[0, 1]) == pytest.approx(2 * float(y[0, 1]))
    assert (gv.ones(2).device, gv.zeros_like(z).device) == ("cpu:0", "gpu:0")


def test_copies_are_explicit_and_made_once(gpu: Recording) -> None:
    x = gv.asarray(X)
    there = x.to_device("gpu:0")
    assert there.to_device("gpu:0") is there
    assert x.cpu() is x
    assert there.gpu(0) is there
    gpu.calls.clear()
    for _ in range(2):
        np.testing.assert_array_equal(there.numpy(), X)
    assert gpu.calls == ["read 48"]
    there[1] = 7.0
    assert (there.device, there.numpy()[1].tolist()) == ("gpu:0", [7.0] * 4)
    assert x.numpy()[1, 1] != 7
    with pytest.raises(ValueError, match="device 'gpu:5' is unknown, expected one of 'cpu:0', 'g"):
        x.to_device("gpu:5")


def test_what_has_no_kernel_runs_on_the_processor_or_is_refused(gpu: Recording) -> None:
    with gv.device("gpu:0"):
        found = gv.linalg.qr(gv.asarray(X))[1]
        assert found.device == "cpu:0"
    with (
        gv.device("gpu:0", soft=False),
        pytest.raises(PlacementError, match=r"gpu:0 has no kernel for gv\.linalg\.qr\(f32"),
    ):
        gv.linalg.qr(gv.asarray(X))


def test_gradients_go_over_devices(gpu: Recording) -> None:
    x = gv.asarray(X)
    with gv.GradientTape() as tape:
        tape.watch(x)
        there = gv.tanh(x.to_device("gpu:0"))
        y = gv.sum(there * there)
    grad = tape.gradient(y, x)
    assert (y.device, grad.device) == ("gpu:0", "cpu:0")
    np.testing.assert_allclose(grad.numpy(), 2 * np.tanh(X) / np.cosh(X) ** 2, rtol=1e-5)


def test_a_function_runs_where_it_is_called_and_what_it_asks_for_goes_before(
    gpus: tuple[Recording, Recording],
) -> None:
    first, second = gpus

    @gv.function
    def inner(x: Any) -> Any:
        return gv.tanh(x)

    @gv.function
    def both(x: Any) -> Any:
        a = gv.exp(x)
        with gv.device("/cpu:0"):
            b = gv.sin(a)
        with gv.device("/gpu:1"):
            c = inner(b)
        return a + c, b

    a = np.exp(X)
    wanted = a + np.tanh(np.sin(a))
    with gv.device("gpu:0"):
        for _ in range(2):
            total, b = both(gv.asarray(X, device="cpu:0"))
    np.testing.assert_allclose(total.numpy(), wanted, rtol=1e-5)
    assert (total.device, b.device) == ("gpu:0", "cpu:0")
    assert (first.launched, second.launched) == (4, 2)
    total, b = both(gv.asarray(X))  # the processor, but for what asks for another device
    np.testing.assert_allclose(total.numpy(), wanted, rtol=1e-5)
    assert (total.device, second.launched, first.launched) == ("cpu:0", 3, 4)
    total, _ = both(gv.asarray(X).to_device("gpu:0"))
    assert (total.device, first.launched) == ("gpu:0", 6)


def test_the_facade_has_devices_too(gpu: Recording) -> None:
    a = tf.constant(1.0)
    with tf.device("/gpu:0"):
        b = a + tf.constant(2.0)
    assert b.device == "/job:localhost/replica:0/task:0/device:GPU:0"
    assert (float(b.cpu()), float(b)) == (3.0, 3.0)
    assert b.cpu().device.endswith("CPU:0")
    assert a.gpu().device == b.device
    assert (b * 2.0).device == b.device
    assert (b.shape, b.dtype) == ((), tf.float32)

    @tf.function
    def f(x: Any) -> Any:
        with tf.device("/cpu:0"):
            inner = tf.exp(x)
        return tf.tanh(x), inner

    with tf.device("/gpu:0"):
        there, here = f(tf.constant(X))
    assert (there.device, here.device) == (b.device, a.device)
    np.testing.assert_allclose(there.numpy(), np.tanh(X), rtol=1e-5)


def test_choices_and_loops_run_on_the_device(gpu: Recording) -> None:
    @gv.function
    def both(x: Any) -> Any:
        y = gv.cond(gv.sum(x) > 0.0, lambda: gv.exp(x), lambda: gv.sin(x))
        return gv.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, gv.tanh(y)), (0, y))[1]

    with gv.device("gpu:0"):
        y = both(gv.asarray(X - 1))
    assert y.device == "gpu:0"
    np.testing.assert_allclose(y.numpy(), np.tanh(np.tanh(np.tanh(np.sin(X - 1)))), rtol=1e-5)
    assert gpu.calls.count("read 1") == 5  # flags: one of the choice, four of the loop


def test_what_gpus_have_no_numbers_for_stays_on_the_processor(gpu: Recording) -> None:
    with gv.device("gpu:0"):
        z = gv.asarray(np.ones(3, np.complex64))
        assert (z + z).device == "cpu:0"
        assert gv.asarray(np.array(["text"])).device == "cpu:0"
    with pytest.raises(ValueError, match="'/job:worker/gpu:0' is on another machine"):
        gv.ones(2).to_device("/job:worker/gpu:0")


def test_all_memory_goes_with_what_used_it(gpu: Recording) -> None:
    def used() -> None:
        model = gv.compile(b"model m(x: f32[3, 4]) -> (y) { y = exp(x) }", device=gpu,
                           target="cuda:sm_90a")  # fmt: skip
        bound = model.bind([DeviceArray.of(gpu, X)])
        np.testing.assert_allclose(bound()[0].numpy(), np.exp(X), rtol=1e-6)
        model.run([X])

    before = len(gpu.heap.starts)
    used()
    gc.collect()
    assert len(gpu.heap.starts) == before


def test_a_program_with_devices_is_no_library(gpu: Recording) -> None:
    text = """func.func @main(%x: t {gv.name = "x"}) -> (t {gv.name = "y"}) {
      %0 = gv.exp %x attributes {gv.device = "gpu:0", source = "first"} : (t) -> t
      %1 = gv.tanh %0 : (t) -> t
      func.return %1 : t
    }""".replace(" t", " tensor<3x4xf32>").replace("(t", "(tensor<3x4xf32>")
    [y] = gv.compile(Program(parse(text))).run([X])
    np.testing.assert_allclose(y, np.tanh(np.exp(X)), rtol=1e-5)
    with pytest.raises(CompileError, match=r"host steps.*first \(exp\)"):
        compile_source(Program(parse(text)), Options())


def test_only_what_is_on_a_gpu_is_swapped(gpu: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, found = pieces.compile_piece, []

    def noted(program: Program, options: Options) -> Any:
        found.append((options.target.partition(":")[0], options.swap))
        return compiled(program, options)

    monkeypatch.setattr(pieces, "compile_piece", noted)
    graph, x, d = mixed_graph()
    config = tf.compat.v1.ConfigProto()
    config.graph_options.rewrite_options.memory_optimization = RewriterConfig.SWAPPING_HEURISTICS
    with tf.compat.v1.Session(graph=graph, config=config) as session:
        session.run(d, {x: X})
    assert set(found) == {("cuda", True), ("native", False)}
    found.clear()

    @tf.function(swap=True)
    def mixed(x: Any) -> Any:
        with tf.device("/gpu:0"):
            y = tf.exp(x)
        return tf.tanh(y)

    np.testing.assert_allclose(mixed(X), np.tanh(np.exp(X)), rtol=1e-5)
    assert set(found) == {("cuda", True), ("native", False)}
    here = tf.function(lambda x: tf.exp(x) + 1.0, swap=True)  # where there is nothing to swap
    np.testing.assert_allclose(here(X), np.exp(X) + 1, rtol=1e-5)


def test_variables_of_a_graph_may_be_placed_on_a_gpu(gpu: Recording) -> None:
    """Their values are kept by the session; what computes with them runs where it says."""
    v1 = tf.compat.v1
    with v1.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None, 4])
        with tf.device("/gpu:0"):
            w = v1.get_variable("w", initializer=np.eye(4, dtype=np.float32))
            changed = v1.assign_add(w, tf.matmul(x, x, transpose_a=True))
        missing = v1.report_uninitialized_variables()
        assert session.run(missing).tolist() == [b"w"]
        session.run(v1.global_variables_initializer())
        assert session.run(missing).tolist() == []
        given = np.arange(8, dtype=np.float32).reshape(2, 4)
        for trip in (1, 2):
            found = session.run(changed, {x: given})
            np.testing.assert_allclose(found, np.eye(4) + trip * (given.T @ given))
    assert any(call.startswith("write") for call in gpu.calls)
