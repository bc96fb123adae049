"""Small parts of code generation that mutants lived in: each says what it gives for what."""

import struct
from types import SimpleNamespace
from typing import Any

import pytest

from gravure.codegen import digests, report
from gravure.codegen.aot.hashes import gnu_hash, gnu_table
from gravure.codegen.kernels.sort import heap_part
from gravure.codegen.llvm import limits
from gravure.codegen.state import Field, StateLibrary
from gravure.ir import TensorSpec
from gravure.ir.types import dtypes
from gravure.runtime.artifact import ALIGNMENT, TensorInfo
from gravure.target import Target


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Let each measurement call nothing and take half a second; return how many were called."""
    called: list[int] = []

    def together(calls: Any) -> float:
        called.append(len(calls))
        return 0.5

    monkeypatch.setattr(limits, "_together", together)
    return called


@pytest.mark.parametrize("threads", [1, 3])
def test_rates_count_what_all_threads_do(measured: list[int], threads: int) -> None:
    lanes = limits._lanes()
    found = limits.multiply_rate.__wrapped__(threads)
    assert found == threads * 1000 * 2 * limits.ACCUMULATORS * lanes / 0.5
    each = 1 << 20
    trips = limits.AT_LEAST // 4 // (8 * lanes)
    read = limits.read_rate.__wrapped__(threads, threads * each * 4)
    assert read == threads * trips * 8 * lanes * 4 / 0.5
    assert set(measured) == {threads}


@pytest.mark.parametrize("count", [1, 2, 5])
def test_each_call_is_made_once_together(count: int) -> None:
    called: list[int] = []
    seconds = limits._together([lambda i=i: called.append(i) for i in range(count)])  # type: ignore[misc]
    assert sorted(called) == [*range(count)]
    assert seconds >= 0


@pytest.mark.parametrize("size", [7, 8, 9, 16, 31, 32, 40])
def test_each_byte_counts_in_a_digest(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(digests, "PIECE", 8)
    plain = bytes(range(size))
    changed = [plain[:i] + b"\xff" + plain[i + 1 :] for i in range(size)]
    found = [digests.digest_of(data) for data in (plain, *changed, plain + b"\0", plain[:-1])]
    assert len(set(found)) == len(found)
    assert digests.digest_of(bytearray(plain)) == found[0]


@pytest.mark.parametrize("count", [1, 7, 8, 64, 200])
def test_a_table_of_symbols_has_filters_for_all_of_them(count: int) -> None:
    names = sorted((f"name{i}" for i in range(count)), key=gnu_hash)
    buckets, first, words, shift = struct.unpack_from("<4I", gnu_table(names, 1))
    assert (first, words & words - 1) == (1, 0)
    assert count // 8 < words <= max(1, count // 4)
    filters = struct.unpack_from(f"<{words}Q", gnu_table(names, 1), 16)
    for value in map(gnu_hash, names):
        word = filters[value // 64 % words]
        assert word >> value % 64 & word >> (value >> shift) % 64 & 1
    assert buckets >= 1


def test_rows_as_long_as_a_vector_are_not_too_short_for_one() -> None:
    target = Target.parse("x86-64-v3")

    def why(extent: int) -> str:
        outputs = [TensorSpec(dtypes.f32, (3, extent)).type]
        kernel: Any = SimpleNamespace(function_type=SimpleNamespace(outputs=outputs))
        info: Any = SimpleNamespace(kind="map")
        return report._why_scalar(kernel, info, target)

    assert "shorter than a vector" in why(target.lanes - 1)
    assert "no vector form" in why(target.lanes)


def size(fields: list[Field]) -> int:
    """Return the bytes of a state of these variables."""
    return StateLibrary("tag", fields, [], b"").size


def test_a_state_ends_behind_its_last_variable() -> None:
    fields = [
        Field(name, TensorInfo(name, "f32", (size,)), offset, offset)
        for name, size, offset in (("a", 300, 0), ("b", 1, 1216), ("c", 17, 1280))
    ]
    assert size(fields) == 1280 + 2 * ALIGNMENT
    assert size(fields[:2]) == 1216 + ALIGNMENT
    empty = Field("d", TensorInfo("d", "f32", (0,)), 1408, 1408)
    assert size([*fields, empty]) == 1408 + ALIGNMENT


@pytest.mark.parametrize(
    ("dtype", "length", "most"),
    [("f32", 100, 14), ("f32", 1000, 76), ("f32", 8400, 399), ("i64", 100, 33), ("i64", 1000, 166)],
)
def test_a_heap_has_what_is_little_of_a_row(dtype: str, length: int, most: int) -> None:
    """A twentieth of a row was merged: 50 of 1000 took 3 to 5 times onnxruntime's time."""
    part = heap_part(length, dtypes.DTYPES[dtype])
    assert [k * part < length for k in (most, most + 1)] == [True, False]
