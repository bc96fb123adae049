"""Ask the processor for all that the kernels may use, in code that every processor can run."""

from __future__ import annotations

from ....runtime.artifact import Description
from ....target import RISCV, X86, X86_FEATURES, with_needs
from .routine import Routine

CPU = 1
"""The code of a status of this function; its argument is the number of what is missing."""

CPUID = (
    'call { i32, i32, i32, i32 } asm sideeffect "cpuid",'
    ' "={ax},={bx},={cx},={dx},{ax},{cx},~{dirflag},~{fpsr},~{flags}"'
)
XGETBV = (  # as bytes: the assembler refuses what the plain processor need not have
    'call { i32, i32 } asm sideeffect ".byte 15, 1, 208",'
    ' "={ax},={dx},{cx},~{dirflag},~{fpsr},~{flags}"(i32 0)'
)
OSXSAVE = (1, 0, 2, 27)
"""Whether the operating system saves more than SSE registers, and XGETBV tells which."""
SAVED_AVX, SAVED_AVX512 = 0x06, 0xE6

VECTORS = "v"
"""The feature of RISC-V that not every processor has which Linux runs on."""
HWPROBE, EXTENSIONS, HAS_VECTORS = 258, 4, 1 << 2
"""Linux's system call that says what a processor has, which key it asks for, and the bit there."""
SYSTEM_CALL = """
define weak hidden i64 @TAG.system_call(
    i64 %a0, i64 %a1, i64 %a2, i64 %a3, i64 %a4, i64 %a5, i64 %a6, i64 %a7
) nounwind noinline prologue i32 115 {
  ret i64 %a0
}
"""
"""`ecall` as a number, which comes first in the function: LLVM may lack the target's assembler.

Arguments lie where Linux wants them, the number of the call last, and what it answers lies where
the function returns it from. It is weak so that nobody concludes that it returns its argument.
"""


def messages(model: Description) -> list[str]:
    """Return what it means when the processor is not fit, by the number in the status."""
    if not is_asked(model):
        return []
    found = [f"this processor has no {name}" for name in model.features]
    if model.triple.startswith(X86.name):
        found.append("the operating system does not save the registers of AVX")
    return [f"{text}, and the code is for target {model.target}" for text in found]


def is_asked(model: Description) -> bool:
    """Say whether there is something to ask for.

    Of x86 a program asks the processor, of RISC-V Linux.
    """
    if model.triple.startswith(RISCV.name):
        return VECTORS in model.features and "linux" in model.triple
    return bool(model.features) and model.triple.startswith(X86.name)


def check_cpu(model: Description) -> Routine:
    """Make the function that asks for every feature, and whether registers are saved."""
    routine = Routine()
    if not is_asked(model):
        return routine
    if model.triple.startswith(RISCV.name):
        _require_vectors(routine, model.tag, _missing(model, VECTORS))
        return routine
    leaves: dict[tuple[int, int], list[str]] = {}
    for name in model.features:
        place = X86_FEATURES[name].cpuid
        assert place is not None, f"no way to ask for {name}"
        leaves.setdefault(place[:2], []).append(name)
    for (leaf, subleaf), names in sorted(leaves.items()):
        _require_leaf(routine, leaf, subleaf, _missing(model, names[0]))
        answer = _cpuid(routine, leaf, subleaf)
        for name in names:
            _require_bit(routine, answer, X86_FEATURES[name].cpuid, _missing(model, name))
    needed = with_needs(X86, model.features)
    if "avx" in needed:
        _require_saved(
            routine, len(model.features), SAVED_AVX512 if "avx512f" in needed else SAVED_AVX
        )
    return routine


def system_call(model: Description) -> str:
    """Return the function by which the operating system is asked, if it is."""
    asks = is_asked(model) and model.triple.startswith(RISCV.name)
    return SYSTEM_CALL.replace("TAG", model.tag) if asks else ""


def _require_vectors(routine: Routine, tag: str, missing: int) -> None:
    """Return `missing` if Linux does not say that all processors have vectors.

    A Linux that cannot be asked (before 6.4) knows no vectors either: it answers with a number
    below 0. A key that it does not know comes back as -1.
    """
    pair = routine.value("alloca [2 x i64], align 8")
    routine.store("i64", EXTENSIONS, pair)
    routine.store("i64", 0, pair, 8)
    place = routine.value(f"ptrtoint ptr {pair} to i64")
    given = f"i64 {place}, i64 1, i64 0, i64 0, i64 0, i64 0, i64 0, i64 {HWPROBE}"
    answer = routine.value(f"call i64 @{tag}.system_call({given})")
    routine.require(routine.value(f"icmp eq i64 {answer}, 0"), missing)
    key = routine.load("i64", pair)
    routine.require(routine.value(f"icmp eq i64 {key}, {EXTENSIONS}"), missing)
    bit = routine.value(f"and i64 {routine.load('i64', pair, 8)}, {HAS_VECTORS}")
    routine.require(routine.value(f"icmp ne i64 {bit}, 0"), missing)


def _missing(model: Description, feature: str) -> int:
    """Return the status when the processor lacks a feature."""
    return CPU | model.features.index(feature) << 8


def _cpuid(routine: Routine, leaf: int, subleaf: int) -> str:
    """Ask for a leaf: four registers come back."""
    low = leaf - (1 << 32) if leaf >> 31 else leaf
    return routine.value(f"{CPUID}(i32 {low}, i32 {subleaf})")


def _require_leaf(routine: Routine, leaf: int, subleaf: int, missing: int) -> None:
    """Return `missing` if the processor does not know a leaf."""
    first = 0x80000000 if leaf >> 31 else 0
    pairs = [(first, leaf)] if not subleaf else [(first, leaf), (leaf, subleaf)]
    for asked, last in pairs:
        highest = routine.value(
            f"extractvalue {{ i32, i32, i32, i32 }} {_cpuid(routine, asked, 0)}, 0"
        )
        low = last - (1 << 32) if last >> 31 else last
        routine.require(routine.value(f"icmp uge i32 {highest}, {low}"), missing)


def _require_bit(
    routine: Routine, answer: str, place: tuple[int, int, int, int] | None, missing: int
) -> None:
    """Return `missing` if a bit of an answer is not set."""
    assert place is not None, "a feature without a bit"
    word = routine.value(f"extractvalue {{ i32, i32, i32, i32 }} {answer}, {place[2]}")
    bit = routine.value(f"and i32 {word}, {1 << place[3] if place[3] < 31 else -(1 << 31)}")
    routine.require(routine.value(f"icmp ne i32 {bit}, 0"), missing)


def _require_saved(routine: Routine, number: int, mask: int) -> None:
    """Return a status if the operating system does not save the registers in `mask`."""
    missing = CPU | number << 8
    _require_bit(routine, _cpuid(routine, 1, 0), OSXSAVE, missing)
    saved = routine.value(f"extractvalue {{ i32, i32 }} {routine.value(XGETBV)}, 0")
    some = routine.value(f"and i32 {saved}, {mask}")
    routine.require(routine.value(f"icmp eq i32 {some}, {mask}"), missing)
