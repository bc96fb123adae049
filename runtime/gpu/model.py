"""A model compiled for a GPU, with the face of one for processors.

    >>> model = GpuModel(plan, weights, driver)          # doctest: +SKIP
    >>> [scores] = model.run({"x": batch})               # doctest: +SKIP

The arena, the weights and, for each set of sizes, the inputs and outputs have fixed addresses, so
a run is: copy the inputs, launch all at once, copy the outputs. Arrays that lie on the device
already (`DeviceArray`) are used where they are by `bind`.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from ...errors import ArtifactError, RuntimeInputError
from ...requirements import NUMBERS, check
from ..arguments import (
    Inputs,
    bind_dims,
    check_demands,
    describe,
    in_order,
    mismatch,
    numpy_dtype,
    result_shape,
    to_array,
)
from ..artifact import REQUIRED, DimInfo, Pointer, TensorInfo
from ..buffer import Array, aligned_array
from ..tracing import EARS, span
from .device_array import DeviceArray
from .driver import Code, Driver, Find, GpuError, Replay, check_fits
from .plan import GpuPlan
from .steps import Maker

PREPARED = 8
"""For how many sets of sizes buffers and launches are kept."""

Key: TypeAlias = tuple[tuple[str, int], ...]


@dataclass
class Prepared:
    """What is ready for inputs of some sizes."""

    replay: Replay
    inputs: list[int]
    outputs: list[int]
    shapes: list[tuple[int, ...]]
    """The shapes of the outputs."""
    owned: list[int] = field(default_factory=list)
    """The memory that goes with it."""


class Holdings:
    """What a model holds on a device: its code, its memory, and what is ready for some sizes."""

    def __init__(self, plan: GpuPlan, driver: Driver) -> None:
        self.driver = driver
        self.prepared: dict[Key, Prepared] = {}
        self.bound: list[Prepared] = []
        self.code: Code | None = driver.load(plan.modules)
        # (What has no elements is an argument all the same, also of weights of no bytes.)
        self.bases = {"workspace": 0, "weights": 0}
        for name, size in (("workspace", plan.workspace), ("weights", plan.weights)):
            if size:
                self.bases[name] = driver.allocate(size)
        if plan.host:
            self.bases["host"] = driver.allocate_host(plan.host)

    def close(self) -> None:
        """Give all back, when what runs is done."""
        if self.code is None:
            return
        self.driver.wait()
        for prepared in (*self.prepared.values(), *self.bound):
            self.drop(prepared)
        self.prepared.clear()
        self.bound.clear()
        for address in filter(None, self.bases.values()):
            self.driver.free(address)
        self.code.close()
        self.code = None

    def drop(self, prepared: Prepared) -> None:
        """Give back what was ready for some sizes."""
        prepared.replay.close()
        for address in prepared.owned:
            self.driver.free(address)


class GpuModel:
    """A model on a GPU. Runs of several threads take turns."""

    def __init__(
        self, plan: GpuPlan, weights: Array | None, driver: Driver, *, check: bool = False
    ) -> None:
        check_fits(plan, driver)
        self.plan = plan
        self.driver = driver
        self.inputs: tuple[TensorInfo, ...] = plan.inputs
        self.outputs: tuple[TensorInfo, ...] = plan.outputs
        self.dims: tuple[DimInfo, ...] = plan.dims
        self._check = check
        self._lock = threading.RLock()
        self._held = Holdings(plan, driver)
        weakref.finalize(self, self._held.close).atexit = False
        self.set_weights(np.zeros(0, np.uint8) if weights is None else weights)

    def __repr__(self) -> str:
        arguments = ", ".join(f"{info.name}: {info}" for info in self.inputs)
        results = ", ".join(f"{info.name}: {info}" for info in self.outputs)
        return f"<GpuModel {self.plan.tag}({arguments}) -> ({results}) on {self.driver.name}>"

    def __enter__(self) -> GpuModel:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        # After a kernel failed, the device answers everything with that error, which is told here.
        with suppress(GpuError) if isinstance(error, GpuError) else nullcontext():
            self.close()

    @property
    def workspace_bytes(self) -> int:
        """Return the bytes of the arena that every run works in."""
        return self.plan.workspace

    def __call__(self, *arrays: Any) -> Any:
        """Run the model on arrays in order; return an array, or a tuple if it is not one."""
        results = self.run(arrays)
        return results[0] if len(results) == 1 else tuple(results)

    def run(self, inputs: Inputs) -> list[Array]:
        """Run the model on inputs by name or in order, and return new arrays."""
        values = in_order(inputs, self.inputs)
        arrays = [
            to_array(value.numpy() if isinstance(value, DeviceArray) else value, info)
            for value, info in zip(values, self.inputs, strict=True)
        ]
        with self._lock:
            prepared = self._for_sizes(arrays)
            results = self._new_results(prepared.shapes)
            self._go(prepared, arrays, results)
        return results

    def on_device(self, inputs: Sequence[Array | DeviceArray]) -> list[DeviceArray]:
        """Run the model on arrays in order, wherever they are, and leave the results there."""
        arrays = [
            value if isinstance(value, DeviceArray) else to_array(value, info)
            for value, info in zip(inputs, self.inputs, strict=True)
        ]
        for value, info in zip(arrays, self.inputs, strict=True):
            _check_bound(value, info, "argument", self.driver)
        with self._lock:
            prepared = self._for_sizes(arrays)
            results = [
                DeviceArray.empty(self.driver, shape, info.dtype)
                for shape, info in zip(prepared.shapes, self.outputs, strict=True)
            ]
            self._go(prepared, arrays, results)
        return results

    def bind(
        self, inputs: Inputs, outputs: Inputs | None = None
    ) -> Callable[[], list[Array | DeviceArray]]:
        """Return a function that runs the model on these very arrays, whatever is in them then.

        Arrays on the device are read and written where they are; if all are, the function
        returns before the results are there, and whoever reads them waits; a model that requires
        something of values, as that indices are in range, looks at that first. Its results are the
        outputs given, or new arrays like the inputs, in the list that it returns each time.
        """
        values = in_order(inputs, self.inputs)
        for value, info in zip(values, self.inputs, strict=True):
            _check_bound(value, info, "argument", self.driver)
        with self._lock:
            dims = bind_dims(values, self.inputs, self.dims)
            check_demands(self.plan.demands, dims)
            shapes = [result_shape(info, dims) for info in self.outputs]
            on_device = bool(values) and all(isinstance(each, DeviceArray) for each in values)
            results = self._results(outputs, shapes, on_device=on_device)
            prepared = self._prepare(dims, values, results)
            self._held.bound.append(prepared)

        def run() -> list[Array | DeviceArray]:
            with self._lock:
                self._go(prepared, values, results)
            return results

        return run

    def set_weights(self, weights: Array) -> None:
        """Use other weights, of the same bytes, from the next run on."""
        if weights.nbytes != self.plan.weights:
            raise ArtifactError(f"weights of {weights.nbytes} bytes, expected {self.plan.weights}")
        with self._lock:
            if weights.nbytes:
                self.driver.write(self._held.bases["weights"], weights)

    def close(self) -> None:
        """Give back the memory on the device; functions made by `bind` end with it."""
        with self._lock:
            self._held.close()

    def _go(
        self,
        prepared: Prepared,
        arrays: Sequence[Array | DeviceArray],
        results: Sequence[Array | DeviceArray],
    ) -> None:
        """Copy what is not on the device, run, and copy what is not to stay there."""
        if self._held.code is None:
            raise ArtifactError("the model is closed")
        lane = f"{self.driver.name} stream"
        with span("copy", "arguments", lane, bytes=sum(a.nbytes for a in arrays)):
            for address, array in zip(prepared.inputs, arrays, strict=True):
                if isinstance(array, DeviceArray):
                    self._move(address, array.address, array.nbytes)
                elif array.nbytes:
                    self.driver.write(address, array)
        with span("launch", self.plan.tag, lane, launches=len(self.plan.launches)):
            prepared.replay.launch()
            if EARS.count:
                self.driver.wait()  # who listens wants to know how long it took
        if REQUIRED in self.plan.extras:
            self._look(self.plan.extras[REQUIRED])
        with span("copy", "results", lane, bytes=sum(r.nbytes for r in results)):
            for address, result in zip(prepared.outputs, results, strict=True):
                if isinstance(result, DeviceArray):
                    self._move(result.address, address, result.nbytes)
                elif result.nbytes:
                    self.driver.read(address, result)

    def _look(self, required: Mapping[str, Any]) -> None:
        """Raise if a run, which is waited for, found a requirement of values wrong."""
        found = np.empty(NUMBERS, np.int64)
        self.driver.read(self._held.bases["workspace"] + required["offset"], found)
        check(required["rows"], found)

    def _move(self, to: int, come: int, size: int) -> None:
        """Copy on the device, unless it is there already."""
        if size and to != come:
            self.driver.copy(to, come, size)

    def _for_sizes(self, arrays: Sequence[Array | DeviceArray]) -> Prepared:
        """Return what is ready for inputs of these sizes."""
        found_arrays: list[Any] = [*arrays]
        dims = bind_dims(found_arrays, self.inputs, self.dims)
        check_demands(self.plan.demands, dims)
        key = tuple(dims.items())
        found = self._held.prepared.pop(key, None)
        if found is None:
            while len(self._held.prepared) >= PREPARED:
                self._held.drop(self._held.prepared.pop(next(iter(self._held.prepared))))
            shapes = [result_shape(info, dims) for info in self.outputs]
            found = self._prepare(dims, arrays, self._new_results(shapes), own=True)
        self._held.prepared[key] = found  # the last used is the last to be dropped
        return found

    def _prepare(
        self,
        dims: Mapping[str, int],
        arrays: Sequence[Array | DeviceArray],
        results: Sequence[Array | DeviceArray],
        *,
        own: bool = False,
    ) -> Prepared:
        """Make room for what is not on the device, or for all, and the launches for it."""
        if self._held.code is None:
            raise ArtifactError("the model is closed")
        owned: list[int] = []

        def place(array: Array | DeviceArray) -> int:
            if isinstance(array, DeviceArray) and not own:
                return array.address
            owned.append(self.driver.allocate(max(1, array.nbytes)))
            return owned[-1]

        try:
            inputs, outputs = [place(each) for each in arrays], [place(each) for each in results]
            find = self._finder(inputs, outputs)
            maker = Maker(self.plan, dims, find, self.driver, self._held.code, self._check)
            replay = maker.replay(self.plan.steps)
        except GpuError:
            for address in owned:
                self.driver.free(address)
            raise
        shapes = [each.shape for each in results]
        return Prepared(replay, inputs, outputs, shapes, owned)

    def _finder(self, inputs: Sequence[int], outputs: Sequence[int]) -> Find:
        """Return what gives the address of a base."""

        def find(pointer: Pointer) -> int:
            if pointer.base in ("input", "output"):
                assert isinstance(pointer.index, int), "nothing counts in a plan for GPUs"
                return (inputs if pointer.base == "input" else outputs)[pointer.index]
            if pointer.base not in self._held.bases:
                raise GpuError(f"a plan for GPUs has no memory of kind {pointer.base!r}")
            return self._held.bases[pointer.base]

        return find

    def _new_results(self, shapes: Sequence[tuple[int, ...]]) -> list[Array]:
        return [
            aligned_array(shape, numpy_dtype(info.dtype))
            for shape, info in zip(shapes, self.outputs, strict=True)
        ]

    def _results(
        self, outputs: Inputs | None, shapes: Sequence[tuple[int, ...]], *, on_device: bool
    ) -> list[Array | DeviceArray]:
        """Return the arrays that a bound function writes to."""
        if outputs is None and not on_device:
            return [*self._new_results(shapes)]
        if outputs is None:
            return [
                DeviceArray.empty(self.driver, shape, info.dtype)
                for shape, info in zip(shapes, self.outputs, strict=True)
            ]
        found = in_order(outputs, self.outputs, "output")
        for value, info, shape in zip(found, self.outputs, shapes, strict=True):
            exact = TensorInfo(info.name, info.dtype, shape)
            _check_bound(value, exact, "output", self.driver)
            if value.shape != shape:
                raise mismatch(_describe(value), exact, "output")
        return found


def _describe(value: Any) -> str:
    return str(value) if isinstance(value, DeviceArray) else describe(value)


def _check_bound(value: Any, info: TensorInfo, kind: str, driver: Driver) -> None:
    """Refuse what code cannot work on without a copy of another layout."""
    if isinstance(value, DeviceArray):
        if value.driver is not driver:
            raise RuntimeInputError(f"{kind} {info.name!r} lies on another device")
        if value.dtype != info.dtype:
            raise mismatch(str(value), info, kind)
        return
    if not isinstance(value, np.ndarray) or value.dtype != numpy_dtype(info.dtype):
        raise mismatch(describe(value), info, kind)
    if not value.flags.c_contiguous or (kind == "output" and not value.flags.writeable):
        raise RuntimeInputError(
            f"{kind} {info.name!r}: an array that would have to be copied cannot be bound",
            hint="numpy.ascontiguousarray makes it usable",
        )
