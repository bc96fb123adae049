"""Functions over one state that were saved together, in Python: `gravure.load_functions`.

    line = gravure.load_functions("line.so")
    loss = line["learn"](x, y)               # changes the state
    line.state["weights"]                    # what is in it now
    line.restore(line.saved())               # the bytes of a safetensors file

Loading a library runs its code: load only what you trust.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from threading import RLock
from typing import Any

import numpy as np

from ...errors import ArtifactError, RequirementError, RuntimeInputError
from ...runtime.arguments import describe, in_order, mismatch, numpy_dtype, to_array
from ...runtime.artifact import FUNCTIONS, TensorInfo
from ...runtime.buffer import Array, address, aligned_array, aligned_bytes
from ...runtime.direct import tensor_table
from ...runtime.library import Library
from ...runtime.model import REQUIREMENT, Context


class SavedFunctions(Mapping[str, "SavedFunction"]):
    """Functions by their names, and the state that they share; one of them runs at a time."""

    def __init__(self, library: Library) -> None:
        manifest = library.manifest
        if FUNCTIONS not in manifest:
            raise ArtifactError(
                "no functions over one state",
                location=library.location,
                hint="it is a model: load it as one",
            )
        self.library, self.lock = library, RLock()
        self.memory = aligned_bytes(manifest["state_bytes"])
        self.workspace = aligned_bytes(manifest["workspace_bytes"])
        self.context = Context.make(None, None)  # loading asked for the processor
        self._fields = {row["name"]: self._field(row) for row in manifest["state"]}
        found = [SavedFunction(self, row) for row in manifest[FUNCTIONS]]
        self._functions = {function.name: function for function in found}
        self.check(library.function("init", "ip")(address(self.memory)))

    def _field(self, row: Mapping[str, Any]) -> Array:
        """Return a variable where it lies in the state, to be looked at."""
        dtype, shape = numpy_dtype(row["dtype"]), tuple(row["shape"])
        end = row["offset"] + dtype.itemsize * int(np.prod(shape, dtype=np.int64))
        view = self.memory[row["offset"] : end].view(dtype).reshape(shape)
        view.flags.writeable = False
        return view

    def __getitem__(self, name: str) -> SavedFunction:
        return self._functions[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)

    def __repr__(self) -> str:
        return f"<functions {', '.join(self)} over {', '.join(self._fields)}>"

    @property
    def state(self) -> dict[str, Array]:
        """Return the variables as they are now."""
        with self.lock:
            return {name: view.copy() for name, view in self._fields.items()}

    def saved(self) -> bytes:
        """Return the state as the bytes of a safetensors file."""
        data = aligned_bytes(self.library.manifest["saved_bytes"])
        with self.lock:
            self.library.function("save", "vpp")(address(self.memory), address(data))
        return data.tobytes()

    def restore(self, data: bytes) -> None:
        """Give the state what was saved of one; anything else changes nothing."""
        taken = np.frombuffer(data, np.uint8)
        with self.lock:
            load = self.library.function("load", "ippl")
            self.check(load(address(self.memory), address(taken), taken.nbytes))

    def check(self, status: int) -> None:
        """Raise the error that a status stands for."""
        if status:
            is_required = status & 0xFF == REQUIREMENT
            raise (RequirementError if is_required else RuntimeInputError)(
                self.library.status(status)
            )


class SavedFunction:
    """One of the functions; it is called with arrays."""

    def __init__(self, of: SavedFunctions, row: Mapping[str, Any]) -> None:
        self.name: str = row["name"]
        self.inputs, self.outputs = (
            tuple(TensorInfo(x["name"], x["dtype"], tuple(x["shape"])) for x in row[kind])
            for kind in ("inputs", "outputs")
        )
        self._of, self._run = of, of.library.function(self.name, "ippppp")
        self._tables = tensor_table(self.inputs), tensor_table(self.outputs)

    def __repr__(self) -> str:
        arguments = ", ".join(f"{info.name}: {info}" for info in self.inputs)
        return f"<{self.name}({arguments}) -> ({', '.join(map(str, self.outputs))})>"

    def __call__(self, *arrays: Any, **named: Any) -> Any:
        """Run it on arrays, in order or by name; return an array, or a tuple if not one."""
        if arrays and named:
            raise RuntimeInputError(f"{self.name}: arguments either in order or by name")
        given = [
            to_array(value, info)
            for value, info in zip(in_order(named or arrays, self.inputs), self.inputs, strict=True)
        ]
        for array, info in zip(given, self.inputs, strict=True):
            if array.shape != info.shape:
                raise mismatch(describe(array), info)
        made = [aligned_array(info.shape_for({}), numpy_dtype(info.dtype)) for info in self.outputs]
        of, context = self._of, self._of.context
        with of.lock:
            for table, values in zip(self._tables, (given, made), strict=True):
                table[:, 0] = [address(x) for x in values]
            places = map(address, (of.memory, *self._tables, of.workspace))
            of.check(self._run(*places, context.address))
        return made[0] if len(made) == 1 else tuple(made)


def load_functions(path: str | os.PathLike[str] | bytes) -> SavedFunctions:
    """Load functions over one state, which `save_functions` has written into a library.

    The state begins with what the variables were then.
    """
    return SavedFunctions(Library.load(path))
