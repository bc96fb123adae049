"""The C interface of an artefact: statuses, shapes, steps."""

import ctypes
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gravure.codegen.aot.library import link
from gravure.codegen.llvm.compile import assemble, assembly
from gravure.codegen.llvm.entry.checks import RunSlots
from gravure.codegen.llvm.entry.cpu import check_cpu, messages
from gravure.codegen.llvm.entry.functions import emit_entry, emit_support, entry_target
from gravure.codegen.llvm.entry.steps import PIECE, SLOT_BITS, StepFunctions
from gravure.errors import RuntimeInputError
from gravure.runtime.artifact import (
    DTYPE_CODES,
    Description,
    DimInfo,
    If,
    Launch,
    Pointer,
    Repeat,
    Scalar,
    TensorInfo,
    While,
)
from gravure.runtime.buffer import address, aligned_bytes
from gravure.runtime.library import Library
from gravure.runtime.model import Model
from gravure.target import X86_FEATURES, Target

OK, CPU, DTYPE, RANK, SHAPE, RANGE, POINTER, WEIGHTS = range(8)


class Tensors:
    """Some `gravure_tensor`, of arrays or of (address, shape, rank, element type)."""

    def __init__(self, *rows: Any) -> None:
        self.kept: list[Any] = []
        self.table = np.zeros((max(len(rows), 1), 3), np.int64)
        for target, row in zip(self.table, rows, strict=False):
            data, shape, rank, dtype = row if isinstance(row, tuple) else self.row(row)
            target[:] = data, shape, rank | dtype << 32

    def row(self, array: Any) -> tuple[int, int, int, int]:
        shape = np.array(array.shape, np.int64)
        self.kept += [array, shape]
        names = {"f4": "f32", "i8": "i64", "f8": "f64", "c8": "c64", "b1": "bool"}
        code = DTYPE_CODES[names[array.dtype.str[1:]]]
        return address(array), address(shape), array.ndim, code

    @property
    def address(self) -> int:
        return address(self.table)


class Runner:
    """A loaded model, called as C does."""

    def __init__(self, kit: Any, model: Description, weights: Any = None) -> None:
        self.library = Library.load(kit.build(model, weights).tobytes())
        self.workspace = aligned_bytes(model.workspace_bytes + 64)
        self._run = self.library.function("run", "ipppp")

    def run(self, inputs: Any, outputs: Any, context: Any = None, workspace: int = 0) -> int:
        self.status = self._run(
            inputs.address if isinstance(inputs, Tensors) else inputs,
            outputs.address if isinstance(outputs, Tensors) else outputs,
            workspace or address(self.workspace),
            None if context is None else address(context),
        )
        return int(self.status)

    @property
    def text(self) -> str:
        return self.library.status(self.status)


F = DTYPE_CODES["f32"]
MODEL = Description(
    "m",
    (TensorInfo("x", "f32", ("N", 3)), TensorInfo("y\n\x1b", "f32", ("2*N + 1", "N"))),
    (TensorInfo("z", "f32", ("N", 3)),),
    (Launch("twice", (Pointer("input", 0), Pointer("output", 0)), count="N*3"),),
    dims=(DimInfo("N", 1, 8),),
    workspace=64,
)
X, Y, Z = np.ones((2, 3), "f4"), np.ones((5, 2), "f4"), np.zeros((2, 3), "f4")


@pytest.fixture(scope="module")
def runner(kit: Any) -> Runner:
    return Runner(kit, MODEL)


def shape_of(*sizes: int) -> int:
    shape = np.array(sizes, np.int64)
    KEPT.append(shape)
    return address(shape)


KEPT: list[Any] = []
GOOD_X, GOOD_Y, GOOD_Z = (Tensors(each) for each in (X, Y, Z))
A = address(X)


def test_good_arguments_run(runner: Runner) -> None:
    Z[...] = 0
    assert runner.run(Tensors(X, Y), Tensors(Z)) == OK
    assert np.array_equal(Z, 2 * X)
    assert runner.text == "ok"


@pytest.mark.parametrize(
    ("inputs", "outputs", "code", "argument", "text"),
    [
        ([X.astype("f8"), Y], [Z], DTYPE, 0, "input 'x': another element type than f32"),
        ([X, Y.astype("i8")], [Z], DTYPE, 1, "input 'y\\n\\x1b': another element type than f32"),
        ([X, Y], [Z.astype("f8")], DTYPE, 2, "output 'z': another element type than f32"),
        ([X[0], Y], [Z], RANK, 0, "input 'x': another rank than that of f32[N, 3]"),
        ([X, Y], [Z[0]], RANK, 2, "output 'z': another rank than that of f32[N, 3]"),
        ([X[:, :2], Y], [Z], SHAPE, 0, "input 'x': another shape than f32[N, 3]"),
        ([X, Y[:4]], [Z], SHAPE, 1, "another shape than f32[2*N + 1, N]"),
        ([X, np.ones((5, 3), "f4")], [Z], SHAPE, 1, "another shape"),
        ([X, Y], [Z[:1]], SHAPE, 2, "output 'z': another shape than f32[N, 3]"),
        ([np.ones((9, 3), "f4"), Y], [Z], RANGE, 0, "out of range: expected N = 1 to 8"),
        ([np.ones((0, 3), "f4"), Y], [Z], RANGE, 0, "out of range"),
        ([(A, shape_of(-1, 3), 2, F), Y], [Z], RANGE, 0, "out of range"),
        ([(A, shape_of(1 << 62, 3), 2, F), Y], [Z], RANGE, 0, "out of range"),
        ([(0, shape_of(2, 3), 2, F), Y], [Z], POINTER, 0, "input 'x': an address is null"),
        ([(A + 2, shape_of(2, 3), 2, F), Y], [Z], POINTER, 0, "not aligned to 4 bytes"),
        ([(A, 0, 2, F), Y], [Z], POINTER, 0, "input 'x': an address is null"),
        ([(A, shape_of(2, 3) + 4, 2, F), Y], [Z], POINTER, 0, "input 'x': an address"),
        ([X, Y], [(0, shape_of(2, 3), 2, F)], POINTER, 2, "output 'z': an address is null"),
    ],
)
def test_wrong_argument_is_a_status(
    runner: Runner, inputs: Any, outputs: Any, code: int, argument: int, text: str
) -> None:
    arrays = [np.ascontiguousarray(x) if isinstance(x, np.ndarray) else x for x in inputs]
    status = runner.run(Tensors(*arrays), Tensors(*outputs))
    assert (status & 255, status >> 8) == (code, argument)
    assert text in runner.text


def test_null_tables_and_bad_workspace_are_statuses(runner: Runner) -> None:
    good, out = Tensors(X, Y), Tensors(Z)
    assert runner.run(None, out) == POINTER
    assert runner.run(good, None) == POINTER | 2 << 8
    assert runner.run(good, out, workspace=address(runner.workspace) + 8) == POINTER | 3 << 8
    assert runner.text == "workspace: null or not aligned to 64 bytes"
    assert runner.library.function("run", "ipppp")(good.address, out.address, None, None) == (
        POINTER | 3 << 8
    )


def test_unknown_status_has_a_text(runner: Runner) -> None:
    for status in (-1, 77, 1 << 30, CPU | 200 << 8):
        assert runner.library.status(status) == "unknown status"


@pytest.mark.parametrize(("size", "code"), [(5, OK), (17, OK), (4, SHAPE), (19, RANGE), (1, RANGE)])
def test_dimension_follows_from_a_size(kit: Any, size: int, code: int) -> None:
    model = Description(
        "line",
        (TensorInfo("x", "f32", ("2*N + 1",)),),
        (TensorInfo("y", "f32", ("N",)),),
        (Launch("twice", (Pointer("input", 0), Pointer("output", 0)), count="N"),),
        dims=(DimInfo("N", 1, 8),),
    )
    library = kit.build(model).tobytes()
    x = np.ones(size, "f4")
    if code == OK:
        assert Model.load(library).run([x])[0].shape == ((size - 1) // 2,)
        return
    run = Library.load(library).function("run", "ipppp")
    assert run(Tensors(x).address, Tensors(x).address, None, None) == code
    with pytest.raises(RuntimeInputError, match=r"f32\[2\*N \+ 1\]"):
        Model.load(library).run([x])


def test_output_shapes_are_computed(runner: Runner) -> None:
    shape = np.zeros(2, np.int64)
    places = np.array([address(shape)], np.int64)
    shapes = runner.library.function("output_shapes", "ipp")
    assert shapes(Tensors(X, Y).address, address(places)) == OK
    assert shape.tolist() == [2, 3]
    assert shapes(Tensors(X[0], Y).address, address(places)) == RANK


def test_shape_of_a_static_tensor_may_be_left_out(kit: Any) -> None:
    runner = Runner(kit, kit.add())
    x, y, z = (np.ones((2, 2), "f4") for _ in range(3))
    rows = [(address(each), 0, 2, F) for each in (x, y, z)]
    assert runner.run(Tensors(*rows[:2]), Tensors(rows[2])) == OK
    assert z.tolist() == [[2, 2], [2, 2]]
    rows[1] = (rows[1][0], shape_of(2, 3), 2, F)
    assert runner.run(Tensors(*rows[:2]), Tensors(rows[2])) == SHAPE | 1 << 8


def test_empty_tensor_may_be_null(kit: Any) -> None:
    model = replace(MODEL, dims=(DimInfo("N", 0, 8),))
    runner = Runner(kit, model)
    empty = (0, shape_of(0, 3), 2, F)
    y = (A, shape_of(1, 0), 2, F)
    assert runner.run(Tensors(empty, y), Tensors(empty)) == OK


def test_weights_must_be_given_and_aligned(kit: Any) -> None:
    runner = Runner(kit, kit.scale())
    x, z = np.ones(16, "f4"), np.zeros(16, "f4")
    arguments = Tensors(x), Tensors(z)
    assert runner.run(*arguments) == WEIGHTS | 3 << 8
    context = np.zeros(5, np.int64)
    assert runner.run(*arguments, context) == WEIGHTS | 3 << 8
    weights = aligned_bytes(128)
    weights[:64].view("f4")[:] = 3
    context[2] = address(weights) + 4
    assert runner.run(*arguments, context) == POINTER | 3 << 8
    context[2] = address(weights)
    assert runner.run(*arguments, context) == OK
    assert z.tolist() == [3.0] * 16


def test_given_weights_win_over_embedded_ones(kit: Any) -> None:
    runner = Runner(kit, kit.scale(), np.full(16, 5, "f4"))
    x, z = np.ones(16, "f4"), np.zeros(16, "f4")
    assert runner.run(Tensors(x), Tensors(z)) == OK
    assert z[0] == 5
    weights = aligned_bytes(64)
    weights.view("f4")[:] = 3
    assert runner.run(Tensors(x), Tensors(z), np.array([0, 0, address(weights), 0, 0])) == OK
    assert z[0] == 3


def test_prepare_checks_its_arguments(kit: Any) -> None:
    runner = Runner(kit, kit.scale())
    prepare = runner.library.function("prepare", "ipppp")
    raw, weights = np.ones(16, "f4"), aligned_bytes(64)
    table = np.array([address(raw)], np.int64)
    work = address(runner.workspace)
    assert prepare(address(table), address(weights), work, None) == OK
    assert weights.view("f4").tolist() == [2.0] * 16
    assert prepare(None, address(weights), work, None) == POINTER | 4 << 8
    assert prepare(address(table), None, work, None) == WEIGHTS | 3 << 8
    table[0] = 0
    assert prepare(address(table), address(weights), work, None) == POINTER | 4 << 8
    assert "raw weight 'w'" in runner.library.status(POINTER | 4 << 8)


PAUSED = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
TASK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
SCOPE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int32)


@pytest.mark.parametrize(("threads", "parts"), [(0, 4), (1, 0), (2, 2), (3, 3), (64, 4)])
def test_callers_own_pool_gets_parts_in_any_order(kit: Any, threads: int, parts: int) -> None:
    runner = Runner(kit, kit.rows(slots=4))
    asked, scopes = [], []

    def parallel_for(pool: int, task: int, context: int, count: int) -> None:
        asked.append(count)
        for unit in reversed(range(count)):
            TASK(task)(context, unit, unit + 1, 12345)

    call, scope = PAUSED(parallel_for), SCOPE(lambda pool, begins: scopes.append(begins))
    context = np.zeros(5, np.int64)
    context[0] = ctypes.cast(call, ctypes.c_void_p).value
    context[3] = ctypes.cast(scope, ctypes.c_void_p).value
    context[4] = threads
    x, y = np.arange(300, dtype="f4").reshape(100, 3), np.zeros((100, 3), "f4")
    assert runner.run(Tensors(x), Tensors(y), context) == OK
    assert np.array_equal(y, 2 * x)
    assert asked == ([parts] if parts else [])
    assert scopes == [1, 0]


def test_little_work_is_not_shared(kit: Any) -> None:
    runner = Runner(kit, kit.rows(slots=4))
    refuse = PAUSED(lambda *arguments: pytest.fail("work was shared"))
    context = np.zeros(5, np.int64)
    context[0] = ctypes.cast(refuse, ctypes.c_void_p).value
    x, y = np.ones((1, 3), "f4"), np.zeros((1, 3), "f4")
    assert runner.run(Tensors(x), Tensors(y), context) == OK
    assert np.array_equal(y, 2 * x)


COUNTER = Pointer("output", 0)
ADD_ONE = Launch("increment", (COUNTER,))
CONTROL = Description(
    "c",
    (TensorInfo("x", "f32", ("N",)), TensorInfo("flag", "bool", ())),
    (TensorInfo("count", "i64", ("N",)),),
    (),
    dims=(DimInfo("N", 1, 100),),
)


def count(kit: Any, size: int, flag: bool, *steps: Any) -> list[int]:
    runner = Runner(kit, replace(CONTROL, steps=steps))
    x, counts = np.zeros(size, "f4"), np.zeros(size, np.int64)
    assert runner.run(Tensors(x, np.array(flag)), Tensors(counts)) == OK
    return list(counts)


def test_steps_are_repeated(kit: Any) -> None:
    assert count(kit, 3, True, Repeat("i", "N*2", (ADD_ONE,))) == [6, 0, 0]
    at = Launch("increment", (Pointer("output", 0, "i*8"),))
    assert count(kit, 3, True, Repeat("i", "N", (at,))) == [1, 1, 1]
    nested = Repeat("i", "N", (Repeat("j", "i + 1", (at,)),))
    assert count(kit, 4, True, nested) == [1, 2, 3, 4]
    assert count(kit, 1, True, Repeat("i", 0, (ADD_ONE,))) == [0]
    many = Repeat("i", "N", (ADD_ONE,) * (2 * PIECE + 1))
    assert count(kit, 3, True, many, Repeat("j", 2, (many,))) == [9 * (2 * PIECE + 1), 0, 0]


def test_steps_depend_on_a_condition(kit: Any) -> None:
    flag, other = Pointer("input", 1), Launch("increment", (Pointer("output", 0, 8),))
    for value, expected in ((True, [1, 0]), (False, [0, 1])):
        assert count(kit, 2, value, If(flag, (ADD_ONE,), (other,))) == expected


def test_loop_ends_when_its_condition_says_so(kit: Any) -> None:
    # The low byte of the counter is zero after 256 steps.
    down = While((ADD_ONE,), COUNTER, ())
    assert count(kit, 1, True, down) == [256]


def test_launch_of_nothing_calls_nothing(kit: Any) -> None:
    assert count(kit, 1, True, Launch("increment", (COUNTER,), count="N - 1")) == [0]


def test_sizes_round_down_and_never_trap(kit: Any) -> None:
    at = Launch("increment", (Pointer("output", 0, "8 * ((0 - N) // 2 + N % 4 + min(N, 1))"),))
    assert count(kit, 3, True, at)[(-3 // 2) + 3 % 4 + 1] == 1
    zero = Launch("increment", (Pointer("output", 0, "N // (N - 3) + N % (N - 3)"),))
    assert count(kit, 3, True, zero) == [1, 0, 0]


def test_long_programs_are_cut_into_pieces(kit: Any) -> None:
    assert count(kit, 1, True, *[ADD_ONE] * 150) == [150]


def test_launches_of_which_all_is_known_are_rows_of_a_table(kit: Any) -> None:
    far = Pointer("output", 0, 16)
    known = (Launch("increment", (far,)), Launch("increment", (COUNTER,), count=1, grain=3))
    sized = Launch("increment", (COUNTER,), count="min(N, 1)")
    at = Launch("increment", (Pointer("output", 0, "8 * (N - 1)"),))
    assert count(kit, 3, True, *known, sized, at) == [2, 0, 2]
    steps = StepFunctions(CONTROL, RunSlots(CONTROL))
    slot = steps.frame.bases["output"]
    assert [steps.row(each) for each in known] == [
        [1, 1, 1, 16 << SLOT_BITS | slot],
        [1, 3, 1, slot],
    ]
    beyond = Launch("increment", (Pointer("output", 0, 1 << 63 - SLOT_BITS),))
    behind = Launch("increment", (Pointer("output", 1 << SLOT_BITS),))
    number = Launch("increment", (COUNTER, Scalar(3)))
    assert [steps.row(each) for each in (sized, at, beyond, behind, number)] == [None] * 5


def test_checks_can_be_left_out(kit: Any) -> None:
    runner = Runner(kit, replace(MODEL, checks=False))
    assert runner.run(Tensors(X, Y), Tensors(Z)) == OK
    wrong = (address(X), shape_of(2, 3), 2, 77)
    assert runner.run(Tensors(wrong, Y), Tensors(Z)) == OK
    text = emit_entry(replace(MODEL, checks=False), "{}")
    assert len(text) < len(emit_entry(MODEL, "{}"))


def test_wrong_processor_is_a_status_and_no_crash(kit: Any, absent: str) -> None:
    features = ("sse3", "avx2", absent)
    model = replace(kit.add("cpu"), features=features, steps=(Launch("avx512", ()),))
    path = kit.build(model).tobytes()
    found = unchecked(path)
    assert found.function("check_cpu", "i")() == CPU | 2 << 8
    x = np.ones((2, 2), "f4")
    run = found.function("run", "ipppp")
    tables = Tensors(x, x).address, Tensors(x).address, None
    for context in (None, address(np.zeros(5, np.int64))):
        assert run(*tables, context) == CPU | 2 << 8
    text = f"this processor has no {absent}, and the code is for target x86-64-v3"
    assert found.status(CPU | 2 << 8) == text


def test_linux_is_asked_whether_there_are_vectors(kit: Any) -> None:
    target = Target.parse("riscv64-v")
    model = replace(
        kit.add("r"), triple=target.triple, features=target.features, target=target.name
    )
    plain = entry_target(target)
    assert plain.features == Target.parse("riscv64").features
    code = assembly(emit_support(model), plain)
    asking = code.partition("\nr.check_cpu:")[2].partition("\nr_check_cpu:")[0]
    assert "a7, 258" in asking
    assert "r.system_call" in asking
    assert re.search(r"\nr.system_call:.*\n(\t\..*\n)*\t\.word\t115\n(.*\n){0,3}\tret\n", code)
    assert messages(model)[target.features.index("v")].startswith("this processor has no v, ")
    assert "vset" not in code
    for other in (replace(model, features=plain.features),
                  replace(model, triple="riscv64-unknown-none-elf")):  # fmt: skip
        assert messages(other) == []
        assert "system_call" not in assembly(emit_support(other), plain)


def unchecked(data: bytes) -> Library:
    """Return a library that was loaded although the processor does not fit."""

    class Unchecked(Library):
        def _check_cpu(self) -> None:
            pass

    return Unchecked.load(data)


def test_every_known_feature_can_be_asked_for(kit: Any, tmp_path: Path) -> None:
    text = '@f_manifest = constant [3 x i8] c"{}\\00"\n'
    for number, name in enumerate(X86_FEATURES):
        routine = check_cpu(replace(kit.add("f"), features=(name,)))
        text += routine.finish(f"i32 @f_{number}()")
    path = tmp_path / "f.so"
    link([assemble(text, entry_target(kit.target))], "f").save(path)
    module = ctypes.CDLL(str(path))
    cpuinfo = Path("/proc/cpuinfo").read_text().partition("\n\n")[0]
    flags = cpuinfo.partition("\nflags")[2].partition("\n")[0].split()
    for number, (name, feature) in enumerate(X86_FEATURES.items()):
        assert (module[f"f_{number}"]() == 0) == (feature.flag in flags), name
