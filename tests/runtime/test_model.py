"""Models in Python: loading, calling, and what is refused."""

import gc
import os
import pickle
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gravure.runtime.direct
from gravure.codegen import digests
from gravure.codegen.aot.weights import Weights
from gravure.errors import ArtifactError, RuntimeInputError
from gravure.runtime.artifact import (
    Description,
    DimInfo,
    Launch,
    Pointer,
    TensorInfo,
)
from gravure.runtime.container import check_weights
from gravure.runtime.library import inspect
from gravure.runtime.model import Model


@pytest.fixture
def add(kit: Any) -> Model:
    return Model.load(kit.build(kit.add()).tobytes())


@pytest.fixture
def rows(kit: Any) -> Model:
    return Model.load(kit.build(kit.rows()).tobytes(), threads=2)


X, Y = np.arange(4, dtype=np.float32).reshape(2, 2), np.full((2, 2), 10, np.float32)


def test_results_are_new_arrays_in_a_list(add: Model) -> None:
    [first] = add.run({"x": X, "y": Y})
    [second] = add.run([X, Y])
    assert np.array_equal(first, X + Y)
    assert np.array_equal(second, X + Y)
    assert not np.shares_memory(first, second)
    assert first.flags.writeable
    assert first.__array_interface__["data"][0] % 64 == 0


def test_call_returns_the_array_itself(add: Model) -> None:
    assert np.array_equal(add(X, Y), X + Y)
    assert np.array_equal(add.call(X, Y), X + Y)


def test_model_says_what_goes_in_and_out(add: Model) -> None:
    assert [info.name for info in add.inputs] == ["x", "y"]
    assert add.outputs == (TensorInfo("z", "f32", (2, 2)),)
    assert add.workspace_bytes == 0
    assert add.manifest["target"] == "x86-64-v3"
    assert repr(add) == "<Model sum(x: f32[2, 2], y: f32[2, 2]) -> (z: f32[2, 2])>"


@pytest.mark.parametrize(
    "same",
    [
        X.tolist(),
        tuple(map(tuple, X.tolist())),
        [[0, 1], [2, 3]],
        np.asfortranarray(X),
        np.repeat(X, 2, axis=1)[:, ::2],
        X[::-1, ::-1][::-1, ::-1],
        X.astype(">f4"),
        np.ndarray((2, 2), np.float32, buffer=b"\0" + X.tobytes(), offset=1),
        memoryview(X),
        np.broadcast_to(X, (1, 2, 2))[0],
    ],
    ids=lambda value: type(value).__name__,
)
def test_any_layout_of_the_same_numbers_is_accepted(add: Model, same: Any) -> None:
    before = np.array(same, np.float32)
    assert np.array_equal(add(same, Y), X + Y)
    assert np.array_equal(np.array(same, np.float32), before)


def test_same_array_may_be_given_twice(add: Model) -> None:
    assert np.array_equal(add(X, X), X + X)


def test_read_only_array_is_accepted(add: Model) -> None:
    frozen = X.copy()
    frozen.flags.writeable = False
    assert np.array_equal(add(frozen, Y), X + Y)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"x": X, "y": Y[:1]}, "'y' compiled with f32[2, 2] and called with f32[1, 2]"),
        (
            {"x": X.astype(np.float64), "y": Y},
            "'x' compiled with f32[2, 2] and called with f64[2, 2]",
        ),
        (
            {"x": X.astype(np.int32), "y": Y},
            "'x' compiled with f32[2, 2] and called with i32[2, 2]",
        ),
        ({"x": X}, "missing argument 'y'"),
        ({"x": X, "yy": Y, "y": Y}, "unknown argument 'yy'"),
        ([X], "1 arguments: expected 2 ('x', 'y')"),
        ([X, Y, Y], "3 arguments: expected 2"),
        ([X, None], "'y' compiled with f32[2, 2] and called with object[]"),
        ([X, "text"], "'y' compiled with f32[2, 2] and called with <U4[]"),
        ([X, [[1, 2], [3]]], "'y': expected f32[2, 2], found list"),
        ([X, [[1, 2], [3, 1j]]], "'y' compiled with f32[2, 2] and called with c128[2, 2]"),
        ([X, 3], "'y' compiled with f32[2, 2] and called with f32[]"),
        ([X, np.ma.masked_array(Y, Y > 0)], "'y': a masked array"),
        ("xy", "expected a dictionary or a sequence, found str"),
        (3, "expected a dictionary or a sequence, found int"),
    ],
)
def test_wrong_argument_is_named(add: Model, inputs: Any, message: str) -> None:
    with pytest.raises(RuntimeInputError) as caught:
        add.run(inputs)
    assert message in str(caught.value)


def test_unknown_name_gets_a_suggestion(add: Model) -> None:
    with pytest.raises(RuntimeInputError, match="help: did you mean 'x'"):
        add.run({"xx": X, "y": Y})


@pytest.mark.parametrize("rows_given", [1, 7, 64, 1000])
def test_symbolic_dimension_takes_any_size_of_its_range(rows: Model, rows_given: int) -> None:
    x = np.arange(3 * rows_given, dtype=np.float32).reshape(-1, 3)
    assert np.array_equal(rows(x), 2 * x)
    assert np.array_equal(rows.run([np.asfortranarray(x)])[0], 2 * x)


@pytest.mark.parametrize("rows_given", [0, 1001])
def test_dimension_out_of_range_is_refused(rows: Model, rows_given: int) -> None:
    with pytest.raises(RuntimeInputError, match=r"f32\[N, 3\] with N from 1 to 1000 and called"):
        rows(np.zeros((rows_given, 3), np.float32))


def test_threads_give_the_same_bits(kit: Any) -> None:
    library = kit.build(kit.rows()).tobytes()
    x = kit.numbers(999, 3)
    expected = Model.load(library)(x)
    for threads in (2, 3, 4):
        model = Model.load(library, threads=threads)
        assert model.threads == threads
        for _ in range(50):
            assert np.array_equal(model(x), expected)


def test_threads_can_be_changed_and_are_not_more_than_compiled_for(kit: Any) -> None:
    model = Model.load(kit.build(kit.rows(slots=2)).tobytes(), threads=8)
    assert model.threads == 2
    model.threads = 1
    assert model.threads == 1
    with pytest.raises(RuntimeInputError, match="0 threads"):
        model.threads = 0


def slots_model() -> Description:
    pointers = (Pointer("workspace"), Pointer("output", 0))
    return Description(
        "slots",
        (TensorInfo("n", "f32", ("N",)),),
        (TensorInfo("y", "i64", ("N",)),),
        (Launch("slots", pointers, count="N"),),
        dims=(DimInfo("N", 1, 10000),),
        workspace=3 * 64,
        slots=3,
    )


def test_threads_do_not_share_scratch_memory(kit: Any) -> None:
    model = Model.load(kit.build(slots_model()).tobytes(), threads=3)
    assert model.workspace_bytes == 3 * 64
    for size in (1, 2, 3, 5, 3000):
        result = model(np.zeros(size, np.float32))
        assert np.array_equal(result, np.arange(size))


def test_bound_call_sees_what_is_in_its_arrays(add: Model) -> None:
    x, y = X.copy(), Y.copy()
    call = add.bind({"x": x, "y": y})
    [first] = call()
    assert np.array_equal(first, X + Y)
    x += 1
    [second] = call()
    assert second is first
    assert np.array_equal(first, X + Y + 1)


def test_bound_call_writes_into_given_outputs(add: Model) -> None:
    out = np.zeros((2, 2), np.float32)
    results = add.bind([X, Y], {"z": out})()
    assert results[0] is out
    assert np.array_equal(out, X + Y)


def test_bound_call_outlives_model_and_names(add: Model) -> None:
    call = add.bind([X.copy(), Y.copy()])
    add.close()
    del add
    gc.collect()
    assert np.array_equal(call()[0], X + Y)


@pytest.mark.parametrize(
    ("inputs", "outputs", "message"),
    [
        ([X.T, Y], None, "would have to be copied"),
        ([X.tolist(), Y], None, "called with list"),
        ([X, Y], [np.zeros((3, 2), np.float32)], "output 'z' compiled with f32[2, 2]"),
        ([X, Y], [Y], "overlaps another array"),
        ([X, Y], [np.zeros((2, 2))], "called with f64[2, 2]"),
        ([X, Y], [np.frombuffer(bytes(16), np.float32).reshape(2, 2)], "a read-only array"),
    ],
)
def test_array_that_cannot_be_bound_is_refused(
    add: Model, inputs: Any, outputs: Any, message: str
) -> None:
    with pytest.raises(RuntimeInputError) as caught:
        add.bind(inputs, outputs)
    assert message in str(caught.value)


def test_calls_by_ctypes_do_the_same(add: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gravure.runtime.direct, "is_possible", lambda: False)
    add.threads = 1  # makes the calls again
    assert np.array_equal(add(X, Y), X + Y)
    assert np.array_equal(add.bind([X, Y])()[0], X + Y)


def test_arrays_that_were_unpickled_are_called_as_directly(
    kit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow: list[object] = []
    monkeypatch.setattr(Model, "_slow_call", lambda _, *values: slow.append(values[0].dtype))
    loaded = Model.load(kit.build(kit.add()).tobytes())
    x = pickle.loads(pickle.dumps(X))
    assert x.dtype is not np.dtype(np.float32)
    assert np.array_equal(loaded(x, Y), X + Y)
    assert not slow
    for other in (X.astype(">f4"), X.astype(np.int32), X.view("f4,f4")):
        assert loaded(other, Y) is None  # looked at once more
    assert len(slow) == 3


def test_several_outputs_are_a_tuple(kit: Any) -> None:
    pair = (TensorInfo("a", "f32", ("N",)), TensorInfo("b", "f32", ("N", 1)))
    steps = tuple(
        Launch("twice", (Pointer("input", 0), Pointer("output", n)), count="N") for n in range(2)
    )
    model = Description(
        "pair", (TensorInfo("x", "f32", ("N",)),), pair, steps, dims=(DimInfo("N", 0, 9),)
    )
    loaded = Model.load(kit.build(model).tobytes())
    a, b = loaded(np.ones(3, np.float32))
    assert a.tolist() == [2, 2, 2]
    assert b.tolist() == [[2], [2], [2]]
    assert [each.shape for each in loaded.run([np.ones(0, np.float32)])] == [(0,), (0, 1)]


def test_scalars_and_bfloat16_pass(kit: Any) -> None:
    info = TensorInfo("x", "bf16", ())
    model = Description("s", (info,), (TensorInfo("y", "bf16", ()),), ())
    loaded = Model.load(kit.build(model).tobytes())
    assert loaded(np.array(1, ml_dtypes.bfloat16)).dtype == ml_dtypes.bfloat16
    assert loaded(1.5).shape == ()
    with pytest.raises(RuntimeInputError, match=r"bf16\[\] and called with f32\[\]"):
        loaded(np.float32(1))


def test_model_runs_in_many_threads_at_once(kit: Any) -> None:
    model = Model.load(kit.build(kit.rows()).tobytes(), threads=2)
    model_slots = Model.load(kit.build(slots_model()).tobytes(), threads=2)
    failures: list[object] = []

    def work(seed: int) -> None:
        x = kit.numbers(50 + seed, 3, seed=seed)
        for _ in range(100):
            if not np.array_equal(model(x), 2 * x):
                failures.append(seed)
            if not np.array_equal(model_slots(x[:, 0].copy()), np.arange(len(x))):
                failures.append(-seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_forked_process_runs_and_gets_threads_again(kit: Any) -> None:
    model = Model.load(kit.build(kit.rows()).tobytes(), threads=2)
    x = kit.numbers(100, 3)
    call = model.bind([x])
    call()
    child = os.fork()
    if child == 0:
        good = np.array_equal(call()[0], 2 * x) and np.array_equal(model(x), 2 * x)
        good = good and np.array_equal(model.run([x.copy(order="F")])[0], 2 * x)
        os._exit(0 if good and threading.active_count() == 2 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert np.array_equal(model(x), 2 * x)


def test_no_thread_is_made_for_one(kit: Any) -> None:
    before = set(threading.enumerate())
    Model.load(kit.build(kit.rows()).tobytes())(kit.numbers(10, 3))
    assert set(threading.enumerate()) == before


def test_closed_model_says_so(add: Model) -> None:
    with add as model:
        pass
    for use in (lambda: model(X, Y), lambda: model.run([X, Y]), lambda: model.bind([X, Y])):
        with pytest.raises(ArtifactError, match="the model is closed"):
            use()


def test_saved_model_is_the_same_file(kit: Any, tmp_path: Path) -> None:
    data = kit.build(kit.add()).tobytes()
    path = tmp_path / "sum.so"
    Model.load(data).save(path)
    assert path.read_bytes() == data
    Model.load(path).save(tmp_path / "again.so")
    assert (tmp_path / "again.so").read_bytes() == data
    assert sorted(each.name for each in tmp_path.iterdir()) == ["again.so", "sum.so"]


def test_new_file_under_an_old_name_is_the_new_model(kit: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.so"
    kit.build(kit.add()).save(path)
    first = Model.load(path)
    kit.build(kit.rows()).save(path)
    second = Model.load(path)
    assert np.array_equal(first(X, Y), X + Y)
    assert second.inputs[0].shape == ("N", 3)


def test_missing_file_is_an_artifact_error(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=r"nothing\.so: no such file"):
        Model.load(tmp_path / "nothing.so")
    with pytest.raises(ArtifactError, match="not a file"):
        Model.load(tmp_path)


W = np.arange(16, dtype=np.float32)
V = np.linspace(1, 2, 16, dtype=np.float32)


def test_weights_in_the_library(kit: Any) -> None:
    model = Model.load(kit.build(kit.scale(), W).tobytes())
    assert np.array_equal(model(V), V * W)
    model.check_weights()


def test_weights_in_a_file(kit: Any, tmp_path: Path) -> None:
    path, other = tmp_path / "scale.weights", tmp_path / "other.weights"
    Weights.of(W).save(path)
    Weights.of(W + 1).save(other)
    data = kit.build(kit.scale(), W, embed=False).tobytes()
    model = Model.load(data, weights=path)
    assert np.array_equal(model(V), V * W)
    model.check_weights()
    with pytest.raises(ArtifactError, match="weights of another model"):
        Model.load(data, weights=other)
    with pytest.raises(ArtifactError, match="in a file of their own"):
        Model.load(data)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ArtifactError, match="the weights are not whole"):
        Model.load(data, weights=path)
    path.write_bytes(b"something else")
    with pytest.raises(ArtifactError, match="not a file of weights"):
        Model.load(data, weights=path)


def test_weights_that_are_cut_while_a_model_uses_them_are_an_error(
    kit: Any, tmp_path: Path
) -> None:
    path = tmp_path / "scale.weights"
    Weights.of(W).save(path)
    data = path.read_bytes()
    model = Model.load(kit.build(kit.scale(), W, embed=False).tobytes(), weights=path)
    bound = model.bind([V])
    os.truncate(path, 100)
    for use in (lambda: model(V), lambda: model.run([V]), bound):
        with pytest.raises(ArtifactError, match=f"were cut .*: 100 bytes of {len(data)}"):
            use()
    path.unlink()
    path.write_bytes(data)  # another file of the same name
    with pytest.raises(ArtifactError, match="were cut"):
        model(V)
    model.set_weights(path)
    assert np.array_equal(model(V), V * W)


@pytest.mark.parametrize("few", [1 << 22, 8])
@pytest.mark.parametrize("embed", [True, False])
def test_changed_weights_are_found_when_a_model_is_loaded(
    kit: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, embed: bool, few: int
) -> None:
    monkeypatch.setattr("gravure.runtime.container.FEW", few)
    path, beside = tmp_path / "scale.so", tmp_path / "scale.weights"
    kit.build(kit.scale(), W, embed=embed).save(path)
    Weights.of(W).save(beside)
    damaged, given = (path, None) if embed else (beside, beside)
    assert np.array_equal(Model.load(path, weights=given)(V), V * W)
    data = bytearray(damaged.read_bytes())
    data[-1] ^= 1
    damaged.unlink()  # code of the first model is still mapped from it
    damaged.write_bytes(data)
    with pytest.raises(ArtifactError, match="weights were changed"):
        Model.load(path, weights=given)
    if embed:
        with pytest.raises(ArtifactError, match="weights were changed"):
            inspect(path)


@pytest.mark.parametrize("few", [1 << 22, 8])
def test_weights_that_change_while_a_model_uses_them_are_an_error(
    kit: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr("gravure.runtime.container.FEW", few)
    path = tmp_path / "scale.weights"
    Weights.of(W).save(path)
    model = Model.load(kit.build(kit.scale(), W, embed=False).tobytes(), weights=path)
    bound = model.bind([V])
    path.touch()  # the same bytes at another time
    assert np.array_equal(model(V), V * W)
    with path.open("r+b") as file:
        file.seek(-1, 2)
        last = file.read(1)[0]
        file.seek(-1, 2)
        file.write(bytes([last ^ 1]))
    for use in (lambda: model(V), lambda: model.run([V]), bound, model.check_weights):
        with pytest.raises(ArtifactError, match="weights were changed"):
            use()


def test_large_weights_are_read_once_for_each_time_that_they_change(
    kit: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gravure.runtime.container.FEW", 8)
    monkeypatch.setattr(digests, "SETTLED", -1.0)
    monkeypatch.setenv("GRAVURE_CACHE", str(tmp_path / "cache"))
    read: list[str] = []

    def check(chunks: Any, seal: Any, location: str) -> None:
        read.append(Path(location).name)
        check_weights(chunks, seal, location)

    monkeypatch.setattr("gravure.runtime.container.check_weights", check)
    path, beside = tmp_path / "scale.so", tmp_path / "scale.weights"
    whole = tmp_path / "whole.so"
    kit.build(kit.scale(), W, embed=False).save(path)
    kit.build(kit.scale(), W).save(whole)
    Weights.of(W).save(beside)
    for _ in range(3):
        assert np.array_equal(Model.load(path, weights=beside)(V), V * W)
        assert np.array_equal(Model.load(whole)(V), V * W)
    assert read == ["scale.weights", "whole.so"]
    times = os.stat(beside)
    data = bytearray(beside.read_bytes())
    data[-1] ^= 1
    beside.write_bytes(data)
    os.utime(beside, ns=(times.st_atime_ns, times.st_mtime_ns))  # the time of change stays known
    for _ in range(2):  # what was found to be damaged is not remembered
        with pytest.raises(ArtifactError, match="weights were changed"):
            Model.load(path, weights=beside)
    assert read == ["scale.weights", "whole.so", "scale.weights", "scale.weights"]


def test_weights_are_prepared_from_raw_ones(kit: Any) -> None:
    model = Model.load(kit.build(kit.scale()).tobytes(), weights={"w": W})
    assert np.array_equal(model(V), V * (2 * W))
    model.set_weights({"w": W + 1})
    assert np.array_equal(model(V), V * (2 * (W + 1)))
    with pytest.raises(RuntimeInputError, match=r"weight 'w' compiled with f32\[16\]"):
        model.set_weights({"w": W[:3]})


def test_prepared_weights_are_given_as_bytes(kit: Any) -> None:
    data = kit.build(kit.scale()).tobytes()
    for weights in (W, W.tobytes(), memoryview(W.tobytes())):
        assert np.array_equal(Model.load(data, weights=weights)(V), V * W)
    with pytest.raises(ArtifactError, match="weights of 4 bytes, expected 64"):
        Model.load(data, weights=b"abcd")


def test_other_processor_is_refused(kit: Any, absent: str) -> None:
    steps = (Launch("avx512", ()),)
    model = replace(kit.add(), features=("avx2", absent), steps=steps)
    with pytest.raises(ArtifactError, match=f"this processor has no {absent}"):
        Model.load(kit.build(model).tobytes())


def test_models_are_unloaded(kit: Any) -> None:
    data = kit.build(kit.add("unloaded")).tobytes()
    mapped = Path("/proc/self/maps")
    before = mapped.read_text().count("memfd:gravure")
    for _ in range(50):
        Model.load(data)(X, Y)
    gc.collect()
    assert mapped.read_text().count("memfd:gravure") <= before
