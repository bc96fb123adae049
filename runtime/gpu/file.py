"""A model for GPUs in a file: its plan, the code of its modules, and its weights.

    magic, SHA-256 of all behind it | bytes of the header | header, as JSON | parts

The header has the plan, and for each part where it is; parts begin at multiples of 64. Nothing of
a file is used before its digest was compared.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ...errors import ArtifactError
from ..artifact import ALIGNMENT, CLASSES, plain, rebuild, round_up
from ..buffer import Array, aligned_bytes
from ..files import replacing
from .plan import GpuChoice, GpuKernel, GpuLaunch, GpuLoop, GpuModule, GpuPlan, TensorMap

MAGIC = b"GVGPU\0\0\1"
_DIGEST = 32
_START = len(MAGIC) + _DIGEST
_KINDS: Mapping[str, type] = {
    **CLASSES,
    **{
        each.__name__: each
        for each in (GpuChoice, GpuKernel, GpuLaunch, GpuLoop, GpuPlan, TensorMap)
    },
}


def to_bytes(plan: GpuPlan, weights: Array | None) -> bytes:
    """Return a file's bytes; equal models give equal bytes."""
    parts: list[bytes] = []

    def place(data: bytes) -> list[int]:
        at = sum(round_up(len(part), ALIGNMENT) for part in parts)
        parts.append(data)
        return [at, len(data)]

    modules = [
        {
            "name": module.name,
            "architecture": module.architecture,
            "version": module.version,
            "ptx": place(module.ptx.encode("ascii")),
            "cubin": place(module.cubin),
        }
        for module in plan.modules
    ]
    header = {
        "plan": plain(replace(plan, modules=())),
        "modules": modules,
        "weights": place(b"" if weights is None else weights.tobytes()),
    }
    text = json.dumps(header, sort_keys=True).encode()
    start = round_up(_START + 8 + len(text), ALIGNMENT)
    body = struct.pack("<Q", len(text)) + text
    body = body.ljust(start - _START, b"\0")
    body += b"".join(part.ljust(round_up(len(part), ALIGNMENT), b"\0") for part in parts)
    return MAGIC + hashlib.sha256(body).digest() + body


def from_bytes(data: bytes, location: str = "<bytes>") -> tuple[GpuPlan, Array | None]:
    """Return plan and weights of a file."""
    if not is_gpu_file(data):
        raise ArtifactError("not a model for GPUs", location=location)
    body = memoryview(data)[_START:]
    if hashlib.sha256(body).digest() != data[len(MAGIC) : _START]:
        raise ArtifactError("the file is damaged: its digest is another", location=location)
    (size,) = struct.unpack("<Q", body[:8])
    header = json.loads(bytes(body[8 : 8 + size]))
    start = round_up(_START + 8 + size, ALIGNMENT) - _START

    def part(place: list[int]) -> bytes:
        return bytes(body[start + place[0] : start + place[0] + place[1]])

    modules = tuple(_module(row, part(row["ptx"]), part(row["cubin"])) for row in header["modules"])
    plan = rebuild(header["plan"], _KINDS)
    assert isinstance(plan, GpuPlan), "the header of something else"
    found = part(header["weights"])
    weights = None
    if found:
        weights = aligned_bytes(len(found))
        weights[:] = np.frombuffer(found, np.uint8)
    return replace(plan, modules=modules), weights


def _module(row: Mapping[str, Any], ptx: bytes, cubin: bytes) -> GpuModule:
    version = (row["version"][0], row["version"][1])
    return GpuModule(row["name"], ptx.decode("ascii"), row["architecture"], version, cubin)


def is_gpu_file(data: bytes) -> bool:
    """Say whether bytes begin as such a file does."""
    return data[: len(MAGIC)] == MAGIC


def write(path: str | os.PathLike[str], plan: GpuPlan, weights: Array | None) -> None:
    """Write a file, which is replaced only when all of it is written."""
    with replacing(path) as file:
        file.write(to_bytes(plan, weights))
