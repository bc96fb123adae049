"""A module that is loaded: its variables lie in global memory, its kernels can be launched."""

from __future__ import annotations

from collections.abc import Mapping

from .machine import KernelRun, LoadedKernel, run_program
from .memory import Heap
from .program import make_program
from .text import Module


class Image:
    """A loaded module."""

    def __init__(self, module: Module, heap: Heap) -> None:
        self.module = module
        self.heap = heap
        self.addresses: dict[str, int] = {}
        self._programs: dict[str, LoadedKernel] = {}
        for variable in module.variables:
            if variable.space in ("global", "const"):
                at = heap.allocate(max(variable.size, 1))
                heap.bytes_at(at, variable.size)[:] = 0
                heap.bytes_at(at, len(variable.data))[:] = bytearray(variable.data)
                self.addresses[variable.name] = at

    def program(self, name: str) -> LoadedKernel:
        """Return a kernel, ready to run."""
        found = self._programs.get(name)
        if found is None:
            found = self._programs[name] = make_program(self.module, name, self.addresses)
        return found

    def launch(self, name: str, launch: KernelRun) -> Mapping[str, int]:
        """Run a kernel; return what was counted."""
        return run_program(self.program(name), launch, self.heap)

    def unload(self) -> None:
        """Give back the memory of the module's variables."""
        for at in self.addresses.values():
            self.heap.free(at)
        self.addresses.clear()
