"""Targets say what may be executed, and nothing else is believed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gravure.errors import GravureError
from gravure.target import (
    ARCHITECTURES,
    PROCESSORS,
    X86_FEATURES,
    Target,
    TargetError,
    native,
    with_needs,
)


@pytest.mark.parametrize("name", Target.known())
def test_every_known_name_parses(name: str) -> None:
    target = Target.parse(name)
    assert str(target) == name
    assert target.lanes in (4, 8, 16)
    assert target.registers in (8, 16, 32)
    assert 0 < target.l1 < target.l2
    assert set(target.features) <= set(target.architecture.features)
    assert Target.parse(name) == target


@pytest.mark.parametrize(
    ("name", "lanes", "registers"),
    [
        ("x86-64-v2", 4, 16),
        ("x86-64-v3", 8, 16),
        ("x86-64-v4", 16, 32),
        ("znver5", 16, 32),
        ("aarch64", 4, 32),
        ("riscv64", 4, 8),
        ("riscv64-v", 4, 32),
    ],
)
def test_registers(name: str, lanes: int, registers: int) -> None:
    target = Target.parse(name)
    assert (target.lanes, target.registers) == (lanes, registers)


def test_pairs_are_added_up_where_that_takes_less_time() -> None:
    fast = [name for name in PROCESSORS if Target.parse(name).adds_pairs_of_bf16]
    assert fast == ["znver4", "znver5"]  # Intel's have the instruction, at half the speed of f32


def test_a_feature_brings_what_it_needs_and_takes_what_needs_it() -> None:
    wide = Target.parse("x86-64-v3", "+avx512bw,+avx512vl")
    assert wide.lanes == 16
    assert wide.has("avx512f")
    narrow = Target.parse("znver4", "-avx2")
    assert narrow.lanes == 4
    assert not any(feature.startswith("avx512") for feature in narrow.features)
    assert narrow.has("fma")
    assert Target.parse("znver4", "") == Target.parse("znver4")
    assert Target.parse("x86-64-v2", "-sse4.1").features == (
        "sse3",
        "ssse3",
        "cx16",
        "sahf",
        "popcnt",
    )


@pytest.mark.parametrize(
    ("name", "mattr", "message"),
    [
        ("znver6", "", "unknown target 'znver6'; did you mean 'znver5'?"),
        ("x86-64-v9", "", "unknown target 'x86-64-v9'; did you mean 'x86-64-v4'?"),
        ("", "", "unknown target ''"),
        ("mips-unknown-linux", "", "unknown target 'mips-unknown-linux'"),
        ("aarch64-unknown-plan9", "", "expected one of linux"),
        ("x86-64-v4", "+avx512vni", "unknown feature 'avx512vni' of x86_64; did you mean"),
        ("x86-64-v4", "avx512vnni", "expected '+' or '-' before it"),
        ("aarch64", "+avx2", "unknown feature 'avx2' of aarch64"),
    ],
)
def test_what_is_not_known_is_refused(name: str, mattr: str, message: str) -> None:
    with pytest.raises(TargetError) as caught:
        Target.parse(name, mattr)
    assert message in str(caught.value)
    assert isinstance(caught.value, GravureError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("triple", "spelt", "system"),
    [
        ("aarch64-apple-darwin", "aarch64-apple-darwin", "darwin"),
        ("arm64-apple-macosx14.0", "aarch64-apple-macosx14.0", "darwin"),
        ("x86_64-pc-windows-msvc", "x86_64-pc-windows-msvc", "windows"),
        ("riscv64-unknown-none-elf", "riscv64-unknown-none-elf", "none"),
        ("x86_64-unknown-linux-musl", "x86_64-unknown-linux-musl", "linux"),
    ],
)
def test_triples(triple: str, spelt: str, system: str) -> None:
    target = Target.parse(triple)
    assert (target.triple, target.system) == (spelt, system)


def test_this_machine() -> None:
    target = Target.parse("native")
    assert target == native()
    assert target.architecture.name in ARCHITECTURES
    assert target.l1 >= 8192
    assert Target.parse("native", "").name == "native"


def test_features_need_only_known_ones_and_tell_where_the_processor_has_them() -> None:
    for architecture in ARCHITECTURES.values():
        for name, feature in architecture.features.items():
            assert set(feature.needs) <= set(architecture.features)
            assert with_needs(architecture, [name])
    places = [feature.cpuid for feature in X86_FEATURES.values()]
    assert None not in places
    assert len(set(places)) == len(places)


def test_equal_code_has_an_equal_key() -> None:
    keys = {Target.parse(name).key for name in PROCESSORS}
    assert len(keys) == len(PROCESSORS)


def test_llvm_knows_our_names() -> None:
    """LLVM would only complain on stderr, and go on without."""
    script = """
import sys
from gravure.codegen.llvm.compile import assembly
from gravure.target import Target
for name in Target.known():
    target = Target.parse(name)
    print(name, file=sys.stderr)
    text = "define void @k() #0 { ret void } attributes #0 = { "
    assembly(text + target.llvm_attributes + " }", target)
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONPATH": ":".join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr.splitlines() == list(Target.known())
    assert done.returncode == 0


def test_features_may_stand_behind_the_name() -> None:
    assert Target.parse("x86-64-v4,+avx512vnni,-gfni") == Target.parse(
        "x86-64-v4", "+avx512vnni,-gfni"
    )


def test_functions_in_common_have_the_forms_of_smaller_processors() -> None:
    large, small = Target.parse("x86-64-v4"), Target.parse("x86-64-v3")
    assert large.for_functions() == large
    common = large.in_common()
    assert common.features == large.features, "the rest of the code uses all"
    assert common.for_functions().features == small.features
    assert common.key != large.key, "what is kept of one is not taken for the other"
    assert small.in_common() == small
