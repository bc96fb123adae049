"""The machines that code is made for, as plain data: instruction set, registers, caches.

What a target may execute is decided by the tables here and by nothing else: LLVM is always given
the architecture's plainest processor plus every feature by name, and the processor's own name
only as something to schedule for. So the features that an artefact checks for before it runs are
exactly those that its code may use, and a misspelt name is an error (LLVM would ignore it).

    >>> target = Target.parse("x86-64-v4", mattr="+avx512vnni")
    >>> target.lanes, target.registers, target.has("avx512vnni"), target.has("gfni")
    (16, 32, True, False)
"""

from __future__ import annotations

import difflib
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

from . import plugins
from .capabilities import PLAIN, Capabilities
from .errors import GravureError
from .lazy import cached_property


class TargetError(GravureError, ValueError):
    """A target, processor feature or triple that gravure does not know.

    `gravure targets` lists the names there are.
    """

    code = "GV4100"
    exit_status = 2


class Feature(NamedTuple):
    """One optional part of an instruction set.

    `needs` are the features that it cannot be had without, `flag` is its name in Linux's
    /proc/cpuinfo, and `cpuid` (x86 only) is where the processor tells: leaf, subleaf, register
    (0 eax, 1 ebx, 2 ecx, 3 edx), bit.
    """

    needs: tuple[str, ...]
    flag: str
    cpuid: tuple[int, int, int, int] | None = None


X86_FEATURES: Mapping[str, Feature] = {
    "sse3": Feature((), "pni", (1, 0, 2, 0)),
    "ssse3": Feature(("sse3",), "ssse3", (1, 0, 2, 9)),
    "cx16": Feature((), "cx16", (1, 0, 2, 13)),
    "sahf": Feature((), "lahf_lm", (0x80000001, 0, 2, 0)),
    "sse4.1": Feature(("ssse3",), "sse4_1", (1, 0, 2, 19)),
    "sse4.2": Feature(("sse4.1",), "sse4_2", (1, 0, 2, 20)),
    "popcnt": Feature((), "popcnt", (1, 0, 2, 23)),
    "movbe": Feature((), "movbe", (1, 0, 2, 22)),
    "lzcnt": Feature((), "abm", (0x80000001, 0, 2, 5)),
    "bmi": Feature((), "bmi1", (7, 0, 1, 3)),
    "bmi2": Feature((), "bmi2", (7, 0, 1, 8)),
    "xsave": Feature((), "xsave", (1, 0, 2, 26)),
    "avx": Feature(("sse4.2", "xsave"), "avx", (1, 0, 2, 28)),
    "f16c": Feature(("avx",), "f16c", (1, 0, 2, 29)),
    "fma": Feature(("avx",), "fma", (1, 0, 2, 12)),
    "avx2": Feature(("avx",), "avx2", (7, 0, 1, 5)),
    "avxvnni": Feature(("avx2",), "avx_vnni", (7, 1, 0, 4)),
    "gfni": Feature(("sse3",), "gfni", (7, 0, 2, 8)),
    "avx512f": Feature(("avx2", "fma", "f16c"), "avx512f", (7, 0, 1, 16)),
    "avx512cd": Feature(("avx512f",), "avx512cd", (7, 0, 1, 28)),
    "avx512dq": Feature(("avx512f",), "avx512dq", (7, 0, 1, 17)),
    "avx512bw": Feature(("avx512f",), "avx512bw", (7, 0, 1, 30)),
    "avx512vl": Feature(("avx512f",), "avx512vl", (7, 0, 1, 31)),
    "avx512ifma": Feature(("avx512f",), "avx512ifma", (7, 0, 1, 21)),
    "avx512vbmi": Feature(("avx512bw",), "avx512vbmi", (7, 0, 2, 1)),
    "avx512vbmi2": Feature(("avx512bw",), "avx512_vbmi2", (7, 0, 2, 6)),
    "avx512vnni": Feature(("avx512f",), "avx512_vnni", (7, 0, 2, 11)),
    "avx512bitalg": Feature(("avx512bw",), "avx512_bitalg", (7, 0, 2, 12)),
    "avx512vpopcntdq": Feature(("avx512f",), "avx512_vpopcntdq", (7, 0, 2, 14)),
    "avx512bf16": Feature(("avx512bw",), "avx512_bf16", (7, 1, 0, 5)),
    "avx512fp16": Feature(("avx512bw", "avx512dq", "avx512vl"), "avx512_fp16", (7, 0, 3, 23)),
}
"""The x86 features that generated code may use, over plain x86-64."""

ARM_FEATURES: Mapping[str, Feature] = {
    "neon": Feature((), "asimd"),
    "lse": Feature((), "atomics"),
    "fullfp16": Feature(("neon",), "asimdhp"),
    "dotprod": Feature(("neon",), "asimddp"),
    "i8mm": Feature(("neon",), "i8mm"),
    "bf16": Feature(("neon",), "bf16"),
}
"""The aarch64 features that generated code may use."""

RISCV_FEATURES: Mapping[str, Feature] = {
    "m": Feature((), "m"),
    "a": Feature((), "a"),
    "f": Feature((), "f"),
    "d": Feature(("f",), "d"),
    "c": Feature((), "c"),
    "v": Feature(("d",), "v"),
}
"""The riscv64 features (standard extensions) that generated code may use."""

CUDA_FEATURES: Mapping[str, Feature] = {
    "ptx70": Feature((), ""),
    "ptx78": Feature(("ptx70",), ""),
    "ptx80": Feature(("ptx78",), ""),
    "ptx83": Feature(("ptx80",), ""),
}
"""The versions of PTX, the text that drivers read: a newer one needs a newer driver."""

_V2 = ("cx16", "popcnt", "sahf", "sse4.2")
_V3 = (*_V2, "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")
_V4 = (*_V3, "avx512bw", "avx512cd", "avx512dq", "avx512vl")
_ICELAKE = (
    *_V4,
    *("avx512ifma", "avx512vbmi", "avx512vbmi2", "avx512vnni"),
    *("avx512bitalg", "avx512vpopcntdq", "gfni"),
)
_ZEN4 = (*_ICELAKE, "avx512bf16")
_ARM8_2 = ("neon", "lse", "fullfp16", "dotprod")
_RV64GC = ("m", "a", "f", "d", "c")

_KB, _MB = 1 << 10, 1 << 20
_SMALL_CACHES = (32 * _KB, 256 * _KB, 2 * _MB)


@dataclass(frozen=True)
class Architecture:
    """What all processors of one kind share, and the name that LLVM has for the plainest."""

    name: str
    plain: str
    triple: str
    features: Mapping[str, Feature]
    can: Capabilities = PLAIN
    backend: str = "processors"
    """What makes code for it: a row of `codegen.backends`."""
    lanes: int = 4
    """Elements of f32 in a vector, where no feature says more."""
    registers: int = 32
    """Of vectors."""


X86 = Architecture("x86_64", "x86-64", "x86_64-unknown-linux-gnu", X86_FEATURES)
ARM = Architecture(
    "aarch64",
    "generic",
    "aarch64-unknown-linux-gnu",
    ARM_FEATURES,
    Capabilities(convert_halves=True, repeat_launches=True),
)
RISCV = Architecture("riscv64", "generic-rv64", "riscv64-unknown-linux-gnu", RISCV_FEATURES)
CUDA = Architecture(
    "nvptx64",
    "sm_80",
    "nvptx64-nvidia-cuda",
    CUDA_FEATURES,
    Capabilities(
        pack_panels=False,
        turn_weights=True,
        multiply_wide=True,
        convolve_integers=False,
        attend_halves=True,
        reduce_columns=True,
        group_products=True,
        swap=True,
        share_blocks=2 * 132,  # two for each processor of an H100
        stream=False,
        step_out=False,
        check_sizes=False,
        walk_vectors=False,
        write_fused=False,
        convert_halves=True,
        convert_bfloats=True,
        approximate_exp2=True,
        load_unaligned=False,
        fill_masked=False,
        tune_any=False,
    ),
    "cuda",
)
ARCHITECTURES: dict[str, Architecture] = {each.name: each for each in (X86, ARM, RISCV, CUDA)}


@dataclass(frozen=True)
class Processor:
    """One row of the table of known processors; `tune` is LLVM's name to schedule for."""

    name: str
    architecture: Architecture
    tune: str
    features: tuple[str, ...]
    caches: tuple[int, int, int]
    description: str


_BIG_CACHES = (32 * _KB, _MB, 32 * _MB)
_AMPERE = (163 * _KB, 40 * _MB, 40 * _MB)
_HOPPER = (227 * _KB, 50 * _MB, 50 * _MB)
"""Of a GPU: the shared memory that one block can have, then what all share."""

PROCESSORS: dict[str, Processor] = {
    row.name: row
    for row in (
        Processor("x86-64-v2", X86, "x86-64", _V2, _SMALL_CACHES, "x86 since 2009: SSE4.2"),
        Processor("x86-64-v3", X86, "x86-64-v3", _V3, _SMALL_CACHES, "x86 since 2013: AVX2, FMA"),
        Processor("x86-64-v4", X86, "x86-64-v4", _V4, (32 * _KB, _MB, 8 * _MB), "x86 with AVX-512"),
        Processor("haswell", X86, "haswell", _V3, (32 * _KB, 256 * _KB, 8 * _MB), "Intel, 2013"),
        Processor(
            "skylake-avx512", X86, "skylake-avx512", _V4, (32 * _KB, _MB, 16 * _MB), "Intel, 2017"
        ),
        Processor(
            "icelake-server",
            X86,
            "icelake-server",
            _ICELAKE,
            (48 * _KB, 1280 * _KB, 32 * _MB),
            "Intel, 2021",
        ),
        Processor(
            "sapphirerapids",
            X86,
            "sapphirerapids",
            (*_ZEN4, "avx512fp16", "avxvnni"),
            (48 * _KB, 2 * _MB, 32 * _MB),
            "Intel, 2023",
        ),
        Processor("znver2", X86, "znver2", _V3, (32 * _KB, 512 * _KB, 16 * _MB), "AMD Zen 2"),
        Processor("znver3", X86, "znver3", _V3, (32 * _KB, 512 * _KB, 32 * _MB), "AMD Zen 3"),
        Processor("znver4", X86, "znver4", _ZEN4, _BIG_CACHES, "AMD Zen 4: AVX-512"),
        Processor(
            "znver5",
            X86,
            "znver5",
            (*_ZEN4, "avxvnni"),
            (48 * _KB, _MB, 32 * _MB),
            "AMD Zen 5: AVX-512 at full width",
        ),
        Processor("aarch64", ARM, "generic", ("neon",), _SMALL_CACHES, "any 64-bit Arm: NEON"),
        Processor(
            "cortex-a76",
            ARM,
            "cortex-a76",
            _ARM8_2,
            (64 * _KB, 256 * _KB, 2 * _MB),
            "Arm Cortex-A76 (Raspberry Pi 5)",
        ),
        Processor(
            "neoverse-n1",
            ARM,
            "neoverse-n1",
            _ARM8_2,
            (64 * _KB, _MB, 32 * _MB),
            "Arm Neoverse N1 (Graviton 2)",
        ),
        Processor(
            "neoverse-v2",
            ARM,
            "neoverse-v2",
            (*_ARM8_2, "bf16", "i8mm"),
            (64 * _KB, 2 * _MB, 32 * _MB),
            "Arm Neoverse V2 (Graviton 4, Grace)",
        ),
        Processor(
            "apple-m1",
            ARM,
            "apple-m1",
            _ARM8_2,
            (64 * _KB, 4 * _MB, 8 * _MB),
            "Apple M1, with Linux on it",
        ),
        Processor(
            "riscv64", RISCV, "generic-rv64", _RV64GC, _SMALL_CACHES, "RISC-V rv64gc: no vectors"
        ),
        Processor(
            "riscv64-v",
            RISCV,
            "generic-rv64",
            (*_RV64GC, "v"),
            _SMALL_CACHES,
            "RISC-V rv64gcv: vectors of 128 bits or more",
        ),
        Processor("cuda:sm_80", CUDA, "sm_80", ("ptx70",), _AMPERE, "NVIDIA A100 and later"),
        Processor("cuda:sm_90", CUDA, "sm_90", ("ptx80",), _HOPPER, "NVIDIA H100 and later"),
        Processor("cuda:sm_90a", CUDA, "sm_90a", ("ptx80",), _HOPPER, "NVIDIA H100, H200 only"),
    )
}


def enter_processors(rows: Sequence[Processor]) -> Callable[[], None]:
    """Enter processors from outside into the table; return what takes them out again.

    Raises `TargetError` for a name that is taken, or that is read as something else.
    """
    architectures = {row.architecture.name: row.architecture for row in rows}
    for row in rows:
        if row.name in (*PROCESSORS, NATIVE):
            raise TargetError(f"target {row.name!r} is defined twice")
        if not re.fullmatch(r"[A-Za-z_][\w.:]*", row.name):
            raise TargetError(f"target {row.name!r}: expected letters, digits, and '_', '.', ':'")
    for name, each in architectures.items():
        if ARCHITECTURES.get(name, each) is not each:
            raise TargetError(f"architecture {name!r} is defined twice")
        if each.triple.partition("-")[0] != name:
            raise TargetError(f"architecture {name!r}: its triple is {each.triple!r}")
    new = [name for name in architectures if name not in ARCHITECTURES]
    ARCHITECTURES.update(architectures)
    PROCESSORS.update({row.name: row for row in rows})

    def forget() -> None:
        for row in rows:
            del PROCESSORS[row.name]
        for name in new:
            del ARCHITECTURES[name]

    return forget


NATIVE = "native"
SYSTEMS = ("linux", "darwin", "macosx", "windows", "none")
"""The operating systems a triple may name."""


@dataclass(frozen=True)
class Target:
    """A machine to make code for."""

    name: str
    triple: str
    cpu: str
    """The processor that LLVM schedules for; it does not say what may be executed."""
    features: tuple[str, ...]
    """All that may be executed beyond the plain architecture, in the tables' order."""
    l1: int
    l2: int
    l3: int
    choices: tuple[tuple[str, int], ...] = ()
    """Decisions that were measured on it, by name: see `passes/analysis/choices`."""
    is_common: bool = False
    """Whether functions have the bits that they have on processors without AVX-512 too."""

    @staticmethod
    def known() -> dict[str, str]:
        """Return every name that `parse` takes (besides triples), with a line about it."""
        plugins.load_installed()
        rows = {row.name: row.description for row in PROCESSORS.values()}
        return {NATIVE: "this machine", **rows}

    @classmethod
    def parse(cls, name: str = "native", mattr: str = "") -> Target:
        """Return the target called `name` (a processor, a triple, or `native`).

        `mattr` adds and removes features: "+avx512vnni,-avx512cd". With a feature comes all it
        needs, and without it goes all that needs it. A word `NAME=3` is a decision that was
        measured. They may also stand behind the name and a comma, so that one text says all of it.
        """
        name, _, more = name.partition(",")
        mattr = ",".join(filter(None, (more, mattr)))
        if name == NATIVE:
            return change(native(), mattr)
        row = PROCESSORS.get(name)
        is_triple = "-" in name and not name.startswith("x86-")
        if row is None and not is_triple and plugins.load_installed():
            row = PROCESSORS.get(name)
        if row is not None:
            return change(_target(row), mattr)
        refuse_platform(name)
        if not is_triple:
            raise TargetError(f"unknown target {name!r}{_meant(name, cls.known())}")
        architecture, triple = parse_triple(name)
        default = {"x86_64": "x86-64-v2"}.get(architecture.name, architecture.name)
        return change(_target(PROCESSORS[default], triple=triple, name=name), mattr)

    def has(self, feature: str) -> bool:
        """Say whether code may use `feature`."""
        assert any(feature in each.features for each in ARCHITECTURES.values()), feature
        return feature in self.features

    @property
    def architecture(self) -> Architecture:
        """Return the row that all processors of this kind share."""
        return ARCHITECTURES[self.triple.partition("-")[0]]

    @cached_property
    def records(self) -> Mapping[str, int]:
        """Return the decisions that were measured, by name."""
        return dict(self.choices)

    @property
    def can(self) -> Capabilities:
        """Return what kernels of its architecture can do, and want."""
        return self.architecture.can

    @property
    def lanes(self) -> int:
        """Return how many f32 a vector register holds; of a GPU, one load or store."""
        if "avx512vl" in self.features and "avx512bw" in self.features:
            return 16
        has_wide = "avx2" in self.features and "fma" in self.features
        return 8 if has_wide else self.architecture.lanes

    @property
    def has_halves(self) -> bool:
        """Say whether a whole vector takes as long as two of half its lanes."""
        return self.lanes == 16 and self.cpu == "znver4"

    @property
    def adds_pairs_of_bf16(self) -> bool:
        """Say whether adding up products of pairs of bf16 takes less time than those of f32.

        On Intel's processors it takes twice as long: 77 GFLOP/s beside 152 (Emerald Rapids).
        """
        return self.lanes == 16 and self.has("avx512bf16") and self.cpu != "sapphirerapids"

    @property
    def registers(self) -> int:
        """Return how many vector registers there are (without vectors, as many as four fit)."""
        if self.architecture is X86:
            return 32 if self.lanes == 16 else 16
        has_none = self.architecture is RISCV and "v" not in self.features
        return 8 if has_none else self.architecture.registers

    def in_common(self) -> Target:
        """Return the target whose functions have the bits of processors without AVX-512.

        Some have forms of their own there, with larger tables, that are as near and have other
        last bits.
        """
        return replace(self, is_common=True) if any(map(is_avx512, self.features)) else self

    def for_functions(self) -> Target:
        """Return the target that says which forms functions have."""
        if not self.is_common:
            return self
        return replace(self, features=tuple(x for x in self.features if not is_avx512(x)))

    @property
    def has_fma(self) -> bool:
        """Say whether the machine multiplies and adds with one rounding."""
        return self.architecture is not X86 or "fma" in self.features

    @property
    def system(self) -> str:
        """Return the operating system: `linux`, `darwin`, `windows`, or `none`."""
        found = next((each for each in SYSTEMS if each in self.triple), "none")
        return "darwin" if found == "macosx" else found

    @property
    def llvm_features(self) -> str:
        """Return the features as LLVM reads them."""
        extra = ("zvl128b",) if "v" in self.features else ()
        return ",".join(f"+{feature}" for feature in (*self.features, *extra))

    @property
    def llvm_attributes(self) -> str:
        """Return the attributes that LLVM wants on every function made for this target."""
        if not self.can.tune_any:
            return "nounwind"
        width = 32 * self.lanes
        return f'nounwind "prefer-vector-width"="{width}" "tune-cpu"="{self.cpu}"'

    @property
    def key(self) -> str:
        """Return all that the making of code depends on, as one line."""
        common = " common" if self.is_common else ""
        return f"{self.triple} {self.architecture.plain} {self.cpu} {self.llvm_features}{common}"

    def __str__(self) -> str:
        return self.name


def is_avx512(feature: str) -> bool:
    """Say whether a feature is one of AVX-512's."""
    return feature.startswith("avx512")


def _meant(name: str, names: Iterable[str]) -> str:
    """Return a suggestion for a name that is not one of `names`, or nothing."""
    close = difflib.get_close_matches(name, list(names), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _target(row: Processor, *, triple: str = "", name: str = "") -> Target:
    """Return the target of a row of the table."""
    l1, l2, l3 = row.caches
    features = with_needs(row.architecture, row.features)
    triple = triple or row.architecture.triple
    choices = measured(row.tune) if row.architecture is CUDA else ()
    return Target(name or row.name, triple, row.tune, features, l1, l2, l3, choices)


MEASURED = Path(__file__).with_name("measured.json")
"""Decisions that were measured on GPUs, by architecture; `tools.tune_gpu` writes it."""


@cache
def measured(architecture: str) -> tuple[tuple[str, int], ...]:
    """Return what was measured to be best on a GPU, so that no build needs one."""
    rows = json.loads(MEASURED.read_text(encoding="utf-8"))["records"].get(architecture, {})
    return tuple(sorted((name, int(row["choice"])) for name, row in rows.items()))


def with_needs(architecture: Architecture, features: Iterable[str]) -> tuple[str, ...]:
    """Return features with all that they need, in the order of the table."""
    found: set[str] = set()
    waiting = list(features)
    while waiting:
        feature = waiting.pop()
        if feature not in found:
            found.add(feature)
            waiting.extend(architecture.features[feature].needs)
    return tuple(feature for feature in architecture.features if feature in found)


def change(target: Target, mattr: str) -> Target:
    """Return the target with features added and removed, and decisions: "+x,-y,name=3"."""
    features, records = target.features, dict(target.records)
    architecture = target.architecture
    for word in filter(None, (part.strip() for part in mattr.split(","))):
        decision, equals, value = word.partition("=")
        if equals and decision.isidentifier() and value.isdecimal():
            records[decision] = int(value)
            continue
        feature = word[1:]
        if word[0] not in "+-":
            raise TargetError(f"feature {word!r} of {target.name}: expected '+' or '-' before it")
        if feature not in architecture.features:
            meant = _meant(feature, architecture.features)
            raise TargetError(f"unknown feature {feature!r} of {architecture.name}{meant}")
        if word[0] == "+":
            features = with_needs(architecture, (*features, feature))
        else:
            features = tuple(
                each for each in features if feature not in with_needs(architecture, [each])
            )
    name = target.name if features == target.features else f"{target.name} {mattr}"
    return replace(target, name=name, features=features, choices=tuple(sorted(records.items())))


PLATFORMS = {
    "tpu": "there is no backend for TPUs",
    "android": "libraries for Android are not made",
    "ios": "libraries for iOS are not made",
}
"""What the papers run on that is not supported here, and why."""


def refuse_platform(name: str) -> None:
    """Raise for a target or triple that is of a platform which is not supported, by its name."""
    for part in name.lower().split("-"):
        found = re.match(rf"({'|'.join(PLATFORMS)})(eabi)?[\d.]*$", part)
        if found is not None:
            raise TargetError(f"target {name!r} is not supported: {PLATFORMS[found[1]]}")


def parse_triple(text: str) -> tuple[Architecture, str]:
    """Return the architecture of a triple, and the triple as LLVM spells it."""
    first, *rest = text.split("-")
    first = {"arm64": "aarch64", "amd64": "x86_64"}.get(first, first)
    architecture = ARCHITECTURES.get(first)
    if architecture is None:
        names = [*PROCESSORS, *ARCHITECTURES]
        raise TargetError(f"unknown target {text!r}{_meant(text, names)}")
    if not any(re.match(rf"{system}[\d.]*$", part) for part in rest for system in SYSTEMS):
        raise TargetError(
            f"triple {text!r}: expected one of {', '.join(SYSTEMS)} as operating system"
        )
    return architecture, "-".join([first, *rest])


@cache
def native() -> Target:
    """Return this machine as a target."""
    machine = os.uname().machine if hasattr(os, "uname") else "x86_64"
    machine = {"arm64": "aarch64", "amd64": "x86_64"}.get(machine.lower(), machine.lower())
    architecture = ARCHITECTURES.get(machine)
    if architecture is None:
        raise TargetError(f"target native: no code for machines of kind {machine!r}")
    system = {"linux": "unknown-linux-gnu", "darwin": "apple-darwin"}.get(
        sys.platform, "pc-windows-msvc"
    )
    triple = f"{machine}-{system}"
    information = _cpu_information()
    flags = frozenset(information.get("flags", information.get("Features", "")).split())
    if not flags:
        row = PROCESSORS["apple-m1" if "apple" in triple else _plainest(architecture)]
        return _target(row, triple=triple, name="native")
    features = tuple(
        name for name, feature in architecture.features.items() if feature.flag in flags
    )
    features = tuple(  # a hypervisor may hide what another feature needs
        name
        for name in features
        if all(need in features for need in with_needs(architecture, [name]))
    )
    row = PROCESSORS[_recognise(architecture, information, features)]
    l1, l2, l3 = _cache_sizes(row.caches)
    return Target("native", triple, row.tune, features, l1, l2, l3)


def _plainest(architecture: Architecture) -> str:
    """Return the name of the processor without anything optional."""
    return "x86-64-v2" if architecture is X86 else architecture.name


def _cpu_information() -> dict[str, str]:
    """Return the first processor's lines of /proc/cpuinfo; nothing where there is no such file."""
    path = Path("/proc/cpuinfo")
    if not path.exists():
        return {}
    first = path.read_text(encoding="utf-8", errors="replace").partition("\n\n")[0]
    pairs = (line.partition(":") for line in first.splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}


_INTEL_MODELS = {
    0x55: "skylake-avx512",
    0x6A: "icelake-server",
    0x6C: "icelake-server",
    0x8F: "sapphirerapids",
    0xCF: "sapphirerapids",
}
_ZEN4_MODELS = (*range(0x10, 0x20), *range(0x60, 0x80), *range(0xA0, 0xB0))


def _recognise(
    architecture: Architecture, information: Mapping[str, str], features: Sequence[str]
) -> str:
    """Return the row of the table to schedule for."""
    if architecture is RISCV:
        return "riscv64-v" if "v" in features else "riscv64"
    if architecture is ARM:
        parts = {"0xd0c": "neoverse-n1", "0xd4f": "neoverse-v2", "0xd0b": "cortex-a76"}
        return parts.get(information.get("CPU part", ""), "aarch64")
    family, model = int(information.get("cpu family", 0)), int(information.get("model", 0))
    name = ""
    if information.get("vendor_id") == "AuthenticAMD":
        zen3 = "znver4" if model in _ZEN4_MODELS else "znver3"
        name = {23: "znver2", 25: zen3, 26: "znver5"}.get(family, "")
    elif family == 6:
        name = _INTEL_MODELS.get(model, "")
    levels = (name, "x86-64-v4", "x86-64-v3")
    for level in filter(None, levels):
        if set(PROCESSORS[level].features) <= set(features):
            return level
    return "x86-64-v2"


def _cache_sizes(default: tuple[int, int, int]) -> tuple[int, int, int]:
    """Return the sizes of the data caches in bytes as Linux tells them."""
    sizes = dict(zip((1, 2, 3), default, strict=True))
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        kind, level, size = [
            (index / name).read_text(encoding="utf-8").strip() if (index / name).exists() else ""
            for name in ("type", "level", "size")
        ]
        match = re.fullmatch(r"(\d+)([KM])", size)
        if kind != "Instruction" and match and level in ("1", "2", "3"):
            sizes[int(level)] = int(match[1]) * {"K": _KB, "M": _MB}[match[2]]
    return sizes[1], sizes[2], sizes[3]
