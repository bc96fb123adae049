"""Kernels become PTX, from the cache where it has them; `ptxas` says what they take."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from xdsl.dialects.builtin import IntegerAttr, StringAttr
from xdsl.dialects.func import FuncOp

from ...errors import CompileError
from ...ir.dialects.gpu import MAPS, MOST_BLOCKS, SHARED_BYTES
from ...ir.interpret.launch import SCRATCH, UNITS
from ...ir.text import print_function
from ...runtime.gpu.plan import GpuModule, GpuPlan
from ...target import Target
from ..cache import Cache
from ..keys import key_of
from ..llvm.ptx import assemble_ptx
from .emit import emit_gpu_kernel, text_of, threads_of
from .kernels import lower


@dataclass(frozen=True)
class GpuCode:
    """A kernel as PTX, and what a launch has to know of it."""

    name: str
    ptx: str
    units: str
    scratch_bytes: str
    threads: int
    """Threads of a block that is one unit; 0 where a unit is a thread."""
    shared: int = 0
    """Bytes of shared memory that a launch gives each block."""
    blocks: int = 0
    """How many blocks a launch has at most, where they take one unit after the other; 0: any."""
    maps: str = ""
    """The tensor maps of its operands (`warpgroup.MapRow`), as JSON."""

    @property
    def scratch(self) -> bool:
        """Say whether each thread has scratch memory."""
        return self.scratch_bytes != "0"

    def note(self, function: FuncOp) -> None:
        """Write on the kernel function what describing a launch needs."""
        function.attributes[UNITS] = StringAttr(self.units)
        function.attributes[SCRATCH] = StringAttr(self.scratch_bytes)


def gpu_code(loops: FuncOp, target: Target) -> GpuCode:
    """Return the PTX of a kernel's loops."""
    return GpuCode(
        loops.sym_name.data,
        assemble_ptx(emit_gpu_kernel(loops, target), target),
        text_of(loops, UNITS),
        text_of(loops, SCRATCH),
        threads_of(loops),
        _number(loops, SHARED_BYTES),
        _number(loops, MOST_BLOCKS),
        text_of(loops, MAPS) if MAPS in loops.attributes else "",
    )


def _number(loops: FuncOp, name: str) -> int:
    row = loops.attributes.get(name)
    return int(row.value.data) if isinstance(row, IntegerAttr) else 0


def gpu_codes(
    functions: Sequence[FuncOp], target: Target, cache: Cache, *, lowered: bool
) -> tuple[list[GpuCode], int]:
    """Return the PTX of kernel functions, and how many were in the cache."""
    made: list[GpuCode] = []
    cached = 0
    for function in functions:
        decided = f"{target.choices}\n{function.sym_name.data}\n{print_function(function)}"
        key = key_of(f"ptx {decided}", target)
        content = cache.get(key)
        if content is None:
            code = gpu_code(function if lowered else lower(function, target), target)
            cache.put(key, json.dumps(vars(code)).encode(), f"ptx {function.sym_name.data}")
        else:
            code = GpuCode(**json.loads(content))
            cached += 1
        code.note(function)
        made.append(code)
    return made, cached


# -- the assembler -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Assembled:
    """A module as the device runs it, and what the assembler says of it."""

    cubin: bytes
    registers: int
    spilled: int
    """Bytes of registers that are stored and loaded again."""
    stack: int
    """Bytes of memory that each thread has for itself."""
    shared: int
    warnings: tuple[str, ...]


def find_ptxas() -> str | None:
    """Return the path of `ptxas`: on PATH, or of the wheel `nvidia-cuda-nvcc`."""
    found = shutil.which("ptxas")
    if found is not None:
        return found
    spec = find_spec("nvidia")
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        for path in sorted(Path(folder).glob("*/bin/ptxas")):
            if os.access(path, os.X_OK):
                return str(path)
    return None


def assemble(ptx: str, architecture: str, ptxas: str) -> Assembled:
    """Return a module assembled for a device (`sm_90a`)."""
    with tempfile.TemporaryDirectory() as folder:
        source, result = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_text(ptx)
        command = [ptxas, f"-arch={architecture}", "-v", str(source), "-o", str(result)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        said = done.stdout + done.stderr
        if done.returncode:
            raise CompileError(f"ptxas refuses the module for {architecture}: {said.strip()}")
        return Assembled(result.read_bytes(), *_largest_numbers(said), _warnings(said))


def with_cubins(plan: GpuPlan, cache: Cache) -> GpuPlan:
    """Return a plan whose modules are assembled as well; as it is where there is no assembler."""
    ptxas = find_ptxas()
    if ptxas is None:
        return plan
    version = subprocess.run([ptxas, "--version"], capture_output=True, text=True, check=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        made = pool.map(lambda m: _with_cubin(m, ptxas, version.stdout, cache), plan.modules)
        return replace(plan, modules=tuple(made))


def _with_cubin(module: GpuModule, ptxas: str, version: str, cache: Cache) -> GpuModule:
    if module.cubin:
        return module
    key = hashlib.sha256(f"cubin {version}\n{module.architecture}\n{module.ptx}".encode())
    made = cache.get_or_make(
        key.hexdigest(), lambda: assemble(module.ptx, module.architecture, ptxas).cubin, "cubin"
    )
    return replace(module, cubin=made)


def _largest_numbers(said: str) -> tuple[int, int, int, int]:
    def largest(pattern: str) -> int:
        return max((int(number) for number in re.findall(pattern, said)), default=0)

    return (
        largest(r"Used (\d+) registers"),
        max(largest(r"(\d+) bytes spill stores"), largest(r"(\d+) bytes spill loads")),
        largest(r"(\d+) bytes stack frame"),
        largest(r"(\d+) bytes smem"),
    )


def _warnings(said: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in said.splitlines() if re.search(r"warning|C75\d\d", line))
