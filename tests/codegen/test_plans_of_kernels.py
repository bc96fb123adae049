"""Numbers that kernels and states are planned by, beside what they have to keep to."""

import ctypes
from dataclasses import replace
from itertools import pairwise
from struct import unpack_from
from types import SimpleNamespace
from typing import Any

import pytest

import gravure as gv
from gravure.codegen.aot.elf import Section
from gravure.codegen.aot.program import group_of
from gravure.codegen.compiled import Options
from gravure.codegen.kernels.attention_blocks import keys_for
from gravure.codegen.kernels.builder.elements import _wrap
from gravure.codegen.kernels.builder.window import Window
from gravure.codegen.limits import SIZES, Limits
from gravure.codegen.llvm.emit.warpgroup import _fixed
from gravure.codegen.ptx.plan import _meet
from gravure.codegen.scratch import FreePlaces
from gravure.codegen.state import layout
from gravure.errors import CompileError
from gravure.frontend.programs.compile import compile_source
from gravure.runtime.artifact import ALIGNMENT, TensorInfo
from gravure.runtime.elf import SHF_ALLOC, SHF_TLS, SHF_WRITE, SHT_INIT_ARRAY, SectionHeader
from gravure.runtime.gpu.driver_calls import Parameters
from gravure.target import Target


@pytest.mark.parametrize("before", [0, 1, 4])
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("dilation", [1, 2])
@pytest.mark.parametrize("source", range(3, 12))
def test_the_last_window_ends_inside_where_its_last_tap_does(
    source: int, dilation: int, stride: int, before: int
) -> None:
    window = Window(source, 4, taps=3, stride=stride, dilation=dilation, before=before)
    places = [at * stride - before + tap * dilation for at in range(4) for tap in range(3)]
    assert window.fits_behind() == (max(places) < source)


@pytest.mark.parametrize("name", ["x86-64-v3", "x86-64-v4", "aarch64"])
@pytest.mark.parametrize("width", [16, 64, 128, 1024])
def test_keys_and_values_of_a_block_take_half_of_the_cache(name: str, width: int) -> None:
    target = Target.parse(name)
    keys = keys_for(target, width)
    assert keys.bit_count() == 1
    assert keys == 64 or keys * width * 4 <= target.l2 // 2


def test_what_no_cache_holds_is_read_as_fast_as_the_most_that_was_measured() -> None:
    limits = Limits(1, 1e9, {size: float(number) for number, size in enumerate(SIZES, 1)})
    assert limits.memory == len(SIZES)
    assert limits.least_of((0, 0, 0, SIZES[-1], 0)) == (SIZES[-1] / len(SIZES), "memory")


def test_variables_of_a_state_lie_apart_also_those_without_elements() -> None:
    infos = [("a", (3, 5)), ("none", (0, 4)), ("b", ()), ("c", (100,))]
    fields = layout((name, TensorInfo(name, "f64", shape), 0) for name, shape in infos)
    ends = [0, *(each.offset + max(each.bytes, 1) for each in fields)]
    assert all(each.offset >= end for each, end in zip(fields, ends, strict=False))
    assert all(each.offset % ALIGNMENT == 0 for each in fields)
    assert [each.bytes for each in fields] == [120, 0, 8, 800]


def test_a_descriptor_says_how_far_pieces_and_panels_are_apart_in_units_of_16_bytes() -> None:
    found = _fixed(2048)
    assert (found >> 16 & 0x3FFF) * 16 == 2048
    assert (found >> 32 & 0x3FFF) * 16 == 1024
    assert found >> 62 == 1


@pytest.mark.parametrize("arguments", [(), (b"one",), (b"12345678", bytes(128), b"3")])
def test_a_launch_is_told_where_each_argument_is(arguments: tuple[bytes, ...]) -> None:
    given = Parameters(arguments)
    for at, argument in zip(given.words, arguments, strict=bool(arguments)):
        assert ctypes.string_at(at, len(argument)) == argument


@pytest.mark.parametrize(("taps", "stride", "before"), [(3, 1, 1), (5, 2, 3), (2, 1, 0)])
def test_places_with_the_same_taps_are_one_run(taps: int, stride: int, before: int) -> None:
    window = Window(12, 11 // stride, taps=taps, stride=stride, dilation=1, before=before)
    runs = window.ranges()
    assert [start for start, _, _ in runs] == [0, *(end for _, end, _ in runs[:-1])]
    assert runs[-1][1] == window.result
    assert all(one[2] != other[2] for one, other in pairwise(runs))
    assert all(window.taps_of(at) == seen for low, high, seen in runs for at in range(low, high))


def test_numbers_are_taken_with_the_sign_of_their_bits() -> None:
    assert [_wrap(value, 8) for value in (0, 127, 128, 255, 256, -1)] == [0, 127, -128, -1, 0, -1]


def test_sections_that_would_run_when_a_library_is_loaded_are_refused() -> None:
    loaded = SectionHeader(type=1, flags=SHF_ALLOC | SHF_WRITE)
    for header in (
        replace(loaded, type=SHT_INIT_ARRAY), replace(loaded, flags=loaded.flags | SHF_TLS),
    ):  # fmt: skip
        with pytest.raises(CompileError, match="a library runs no code when it is loaded"):
            group_of(Section(".init", header, b""))


def test_places_overlap_where_one_is_entered_that_another_has_a_part_of() -> None:
    places = FreePlaces()
    for span in ((0, 64), (64, 128), (0, 64)):
        places.enter(span)
    assert not places.overlap
    places.enter((32, 96))
    assert places.overlap


def test_memory_that_touches_is_not_shared() -> None:
    one: Any = SimpleNamespace()
    assert _meet([(one, 0, 64)], [(one, 63, 128)])
    assert not _meet([(one, 0, 64)], [(one, 64, 128)])
    assert not _meet([(one, 64, 128)], [(one, 0, 64)])
    assert not _meet([(one, 0, 64)], [(SimpleNamespace(), 0, 64)])  # type: ignore[list-item]


def test_blocks_that_are_one_unit_have_a_processor_to_themselves() -> None:
    for expression, whole in (("softmax(x, axis=1)", True), ("exp(x)", False)):
        text = f"model m(x: f32[8, 1000]) -> (y) {{ y = {expression} }}"
        plan = compile_source(text.encode(), Options(target="cuda:sm_80")).plan
        assert plan is not None
        assert (".minnctapersm 1" in plan.modules[0].ptx) == whole


def test_a_table_of_symbols_has_those_first_that_are_of_the_file_alone() -> None:
    data = gv.compile(b"model m(x: f32[8]) -> (y) { y = exp(x) * 2 }", cache=False).compiled
    whole = data.library().tobytes()
    start, size, count = (unpack_from("<Q", whole, 40), *unpack_from("<HH", whole, 58))
    tables = []
    for number in range(count):
        row = unpack_from("<IIQQQQIIQQ", whole, start[0] + number * size)
        if row[1] in (2, 11):  # SHT_SYMTAB, SHT_DYNSYM
            places = range(row[4], row[4] + row[5], row[9])
            tables.append((row[7], [whole[place + 4] >> 4 for place in places]))
    assert len(tables) == 2
    for first, bindings in tables:
        assert not any(bindings[:first])
        assert all(bindings[first:])
