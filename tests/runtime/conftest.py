"""Small compiled models, made of kernels written by hand."""

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

from gravure.codegen.aot.library import Library, link
from gravure.codegen.aot.manifest import manifest
from gravure.codegen.aot.weights import Weights
from gravure.codegen.llvm.compile import assemble
from gravure.codegen.llvm.entry.functions import entry_objects
from gravure.runtime.artifact import (
    Description,
    DimInfo,
    Launch,
    Pointer,
    RawWeights,
    TensorInfo,
)
from gravure.target import X86_FEATURES, Feature, Target

TARGET = Target.parse("x86-64-v3")


def kernel(name: str, pointers: int, body: str, element: str = "float") -> str:
    """Return a kernel: `body` computes %result of element %i of its buffers and stores it."""
    loads = "\n".join(
        f"  %s{n} = getelementptr i64, ptr %ctx, i64 {n}\n  %p{n} = load ptr, ptr %s{n}"
        for n in range(pointers)
    )
    return f"""
define void @{name}(ptr %ctx, i64 %lo, i64 %hi, i64 %slot) nounwind {{
entry:
{loads}
  br label %test
test:
  %i = phi i64 [ %lo, %entry ], [ %next, %body ]
  %more = icmp slt i64 %i, %hi
  br i1 %more, label %body, label %end
body:
{body}
  %next = add i64 %i, 1
  br label %test
end:
  ret void
}}
"""


def load(n: int, kind: str = "float") -> str:
    return f"  %a{n} = getelementptr {kind}, ptr %p{n}, i64 %i\n  %v{n} = load {kind}, ptr %a{n}\n"


def store(n: int, value: str, kind: str = "float") -> str:
    return f"  %a{n} = getelementptr {kind}, ptr %p{n}, i64 %i\n  store {kind} {value}, ptr %a{n}\n"


KERNELS = {
    "add": kernel("add", 3, load(0) + load(1) + "  %r = fadd float %v0, %v1\n" + store(2, "%r")),
    "twice": kernel("twice", 2, load(0) + "  %r = fadd float %v0, %v0\n" + store(1, "%r")),
    "scale": kernel(
        "scale", 3, load(0) + load(1) + "  %r = fmul float %v0, %v1\n" + store(2, "%r")
    ),
    "increment": kernel(
        "increment", 1, load(0, "i64") + "  %r = add i64 %v0, 1\n  store i64 %r, ptr %a0\n"
    ),
    # Writes into its slot's scratch memory, waits a little, and copies from there.
    "slots": kernel(
        "slots",
        2,
        """
  %offset = mul i64 %slot, 64
  %mine = getelementptr i8, ptr %p0, i64 %offset
  store volatile i64 %i, ptr %mine
  call void asm sideeffect "pause", ""()
  %value = load volatile i64, ptr %mine
"""
        + store(1, "%value", "i64"),
    ),
    "avx512": """
define void @avx512(ptr %ctx, i64 %lo, i64 %hi, i64 %slot) nounwind {
  call void asm sideeffect ".byte 15, 11", ""()
  ret void
}
""",
}


@lru_cache
def compiled(name: str) -> bytes:
    return assemble(KERNELS[name], TARGET)


def objects_of(model: Description, embedded: bool = False) -> list[bytes]:
    """Return all objects of a model, whose kernels are among `KERNELS`."""
    kernels = [compiled(name) for name in model.kernels]
    text = manifest(model, kernels, embedded=embedded)
    return [*kernels, *entry_objects(model, text, TARGET, embedded=embedded)]


def build(model: Description, weights: Any = None, embed: bool = True) -> Library:
    """Link a model with its weights, an array."""
    model = replace(model, features=model.features or TARGET.features, target="x86-64-v3")
    given = None if weights is None else Weights.of(weights)
    objects = objects_of(model, embed and weights is not None)
    return link(objects, model.tag, weights=given, embed=embed)


def add_model(tag: str = "sum") -> Description:
    """Return z = x + y of four numbers."""
    tensors = [TensorInfo(name, "f32", (2, 2)) for name in "xyz"]
    pointers = (Pointer("input", 0), Pointer("input", 1), Pointer("output", 0))
    steps = (Launch("add", pointers, count=4),)
    return Description(tag, tuple(tensors[:2]), (tensors[2],), steps)


def rows_model(slots: int = 4) -> Description:
    """Return y = x + x of any number of rows of three, shared by threads."""
    return Description(
        "rows",
        (TensorInfo("x", "f32", ("N", 3)),),
        (TensorInfo("y", "f32", ("N", 3)),),
        (Launch("twice", (Pointer("input", 0), Pointer("output", 0)), count="N*3", grain=4),),
        dims=(DimInfo("N", 1, 1000),),
        slots=slots,
    )


def scale_model() -> Description:
    """Return y = x * w for weights w of 16 numbers, which `prepare` doubles."""
    raw = RawWeights(("w",), "f32", (16,))
    doubled = Launch("twice", (Pointer("raw", 0), Pointer("weights")), count=16)
    pointers = (Pointer("input", 0), Pointer("weights"), Pointer("output", 0))
    return Description(
        "scale",
        (TensorInfo("x", "f32", (16,)),),
        (TensorInfo("y", "f32", (16,)),),
        (Launch("scale", pointers, count=16),),
        weights=64,
        raw=(raw,),
        prepare=(doubled,),
    )


class Kit:
    """What tests of artefacts are made with."""

    target = TARGET
    build = staticmethod(build)
    objects_of = staticmethod(objects_of)
    add = staticmethod(add_model)
    rows = staticmethod(rows_model)
    scale = staticmethod(scale_model)

    @staticmethod
    def numbers(*shape: int, seed: int = 0) -> Any:
        return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@pytest.fixture(scope="session")
def kit() -> type[Kit]:
    return Kit


@pytest.fixture
def absent(monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the name of a feature that no processor has: its bit is a reserved one."""
    features: Any = X86_FEATURES
    monkeypatch.setitem(features, "reserved", Feature((), "reserved", (1, 0, 3, 20)))
    return "reserved"
