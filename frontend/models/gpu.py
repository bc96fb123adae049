"""Models that run on a GPU, with the face of all models.

    model = gravure.compile("model.onnx", target="cuda:sm_90a", device="gpu:0")
    [y] = model.run({"x": x})
    model.save("model.gpu")

`device="emulated"` runs the same code on a processor, and checks it: see `runtime.gpu.emulated`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...codegen.cache import default_cache
from ...codegen.compiled import Compiled
from ...errors import CompileError
from ...runtime.arguments import Inputs
from ...runtime.buffer import Array
from ...runtime.devices import open_driver
from ...runtime.gpu.driver import Driver
from ...runtime.gpu.file import from_bytes, write
from ...runtime.gpu.model import GpuModel
from ...runtime.gpu.plan import GpuPlan
from .compiled import CompiledModel

DEFAULT = "gpu:0"


class DeviceModel(CompiledModel):
    """A model whose kernels run on a GPU. Runs of several threads take turns."""

    def __init__(
        self, plan: GpuPlan, weights: Array | None, device: Driver | str | None = None
    ) -> None:
        self.plan = plan
        self.weights = weights
        device = DEFAULT if device is None else device
        driver = open_driver(device) if isinstance(device, str) else device
        self.gpu = GpuModel(plan, weights, driver)
        self.inputs, self.outputs, self.dims = plan.inputs, plan.outputs, plan.dims
        self.call = self.gpu

    def __repr__(self) -> str:
        return repr(self.gpu)

    @classmethod
    def of(cls, compiled: Compiled, device: Driver | str | None = None) -> DeviceModel:
        """Return a program compiled for GPUs, loaded on a device."""
        assert compiled.plan is not None, "compiled for a processor"
        made = cls(compiled.plan, compiled.blob if compiled.plan.weights else None, device)
        made.compiled = compiled
        return made

    @classmethod
    def read(
        cls, path: str | os.PathLike[str] | bytes, device: Driver | str | None = None
    ) -> DeviceModel:
        """Return a model of a file, loaded on a device."""
        if isinstance(path, bytes):
            return cls(*from_bytes(path), device)
        return cls(*from_bytes(Path(path).read_bytes(), os.fspath(path)), device)

    @property
    def manifest(self) -> Mapping[str, object]:
        """What the model is and how it was made."""
        return {
            "schema": "gravure.gpu/1",
            "tag": self.plan.tag,
            "target": self.plan.target,
            "device": self.gpu.driver.name,
            "inputs": [str(info) for info in self.inputs],
            "outputs": [str(info) for info in self.outputs],
            "kernels": len(self.plan.kernels),
            "launches": len(self.plan.launches),
            "workspace_bytes": self.plan.workspace,
            "weights_bytes": self.plan.weights,
            **self.plan.extras,
        }

    @property
    def workspace_bytes(self) -> int:
        """Return how much memory each run works in."""
        return self.plan.workspace

    @property
    def threads(self) -> int:
        """How many threads of the processor share the work: none of them does any."""
        return 1

    @threads.setter
    def threads(self, threads: int) -> None:
        """Change nothing."""

    def run(self, inputs: Inputs) -> list[Array]:
        """Run the model on inputs by name or in order, and return new arrays."""
        return self.gpu.run(inputs)

    def run_on_device(self, arrays: Sequence[Any]) -> list[object]:
        """Run the model on arrays wherever they are, and leave the results on the device."""
        return [*self.gpu.on_device(arrays)]

    def bind(
        self, inputs: Inputs, outputs: Inputs | None = None, *, release: bool | None = None
    ) -> Callable[[], list[Any]]:
        """Return a function that runs the model on these very arrays: see `GpuModel.bind`."""
        del release
        return self.gpu.bind(inputs, outputs)

    def set_weights(self, weights: Any) -> None:
        """Use other prepared weights from the next run on."""
        found = np.frombuffer(weights, np.uint8)
        self.gpu.set_weights(found)
        self.weights = found

    def check_weights(self) -> None:
        """Do nothing: the weights were compared when the file was read."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write plan, code and weights to a file, which `gravure.load` reads.

        The code is assembled as well where there is an assembler.
        """
        from ...codegen.ptx.assemble import with_cubins  # noqa: PLC0415  (loads xDSL)

        write(path, with_cubins(self.plan, default_cache()), self.weights)

    def close(self) -> None:
        """Give back the memory on the device."""
        self.gpu.close()


def load_on_gpu(compiled: Compiled, device: Driver | str | None = None) -> DeviceModel:
    """Load compiled code onto a GPU."""
    if compiled.plan is None:
        raise CompileError(f"target {compiled.target} is no GPU, expected one like cuda:sm_80")
    return DeviceModel.of(compiled, device)
