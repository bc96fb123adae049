"""An array that lies on a GPU.

>>> from gravure.runtime.gpu.emulated import EmulatedDriver
>>> import numpy as np
>>> array = DeviceArray.of(EmulatedDriver(), np.arange(3.0))
>>> array, array.numpy().tolist()
(f64[3] on emulated GPU, [0.0, 1.0, 2.0])
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arguments import NUMPY_NAMES, numpy_dtype
from ..artifact import DTYPES
from ..buffer import Array, aligned_array
from .driver import Driver


class DeviceArray:
    """Memory on a device with an element type and a shape; it goes when the array does."""

    def __init__(self, driver: Driver, address: int, shape: tuple[int, ...], dtype: str) -> None:
        self.driver = driver
        self.address = address
        self.shape = shape
        self.dtype = dtype
        self._release = weakref.finalize(self, driver.free, address)
        self._release.atexit = False

    @classmethod
    def empty(cls, driver: Driver, shape: Sequence[int], dtype: str) -> DeviceArray:
        """Return an array that is not set to anything."""
        size = math.prod(shape) * DTYPES[dtype]
        return cls(driver, driver.allocate(max(1, size)), tuple(shape), dtype)

    @classmethod
    def of(cls, driver: Driver, values: Any) -> DeviceArray:
        """Return a copy of an array on a device."""
        array = np.ascontiguousarray(values).reshape(np.shape(values))
        found = cls.empty(driver, array.shape, dtype_name(array.dtype))
        found.write(array)
        return found

    @property
    def ndim(self) -> int:
        """Return how many dimensions there are."""
        return len(self.shape)

    @property
    def nbytes(self) -> int:
        """Return the bytes that it takes."""
        return math.prod(self.shape) * DTYPES[self.dtype]

    def numpy(self) -> Array:
        """Return a copy in the memory of the processor."""
        found = aligned_array(self.shape, numpy_dtype(self.dtype))
        if found.nbytes:
            self.driver.read(self.address, found)
        return found

    def write(self, array: Array) -> None:
        """Set it to the values of an array of the same shape and type."""
        assert (array.shape, array.nbytes) == (self.shape, self.nbytes)
        if array.nbytes:
            self.driver.write(self.address, np.ascontiguousarray(array))

    def close(self) -> None:
        """Give its memory back now."""
        self._release()

    def __repr__(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.shape))}] on {self.driver.name}"


def dtype_name(dtype: np.dtype[Any]) -> str:
    """Return gravure's name of numpy's element type."""
    if dtype.name == "bfloat16":
        return "bf16"
    for name in NUMPY_NAMES:
        if numpy_dtype(name) == dtype:
            return name
    raise TypeError(f"arrays of {dtype} do not lie on devices")
