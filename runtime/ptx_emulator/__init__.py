"""A GPU without a GPU: PTX text executed by numpy, and checked while it runs.

    >>> heap = Heap()
    >>> image = Image(read_module(PTX), heap)                          # doctest: +SKIP
    >>> image.launch("twice", grid=(4, 1, 1), block=(128, 1, 1), arguments=packed)  # doctest: +SKIP

Read `text` (PTX as data), `machine` (who goes on, and how lanes wait), `memory`, then what
instructions do: `operands` and `floats` first, `arithmetic`, `bits`, `convert`, `access`, `warp`,
`control`, `matrix`, `copies` with `tensor_map`, `phases`, `warpgroup`. `races` finds accesses to
shared memory that nothing orders, and `block_races` blocks that touch what another wrote.
`program` puts a kernel together, `image` loads modules.

What it is not: a model of time, of memory that threads see in different orders, or of the error of
approximate functions (they are computed as well as can be).
"""

from .faults import KernelFault, UnsupportedPtx
from .image import Image
from .machine import KernelRun, Order
from .memory import Heap
from .tensor_map import TensorBox
from .text import Module, read_module

__all__ = [
    "Heap",
    "Image",
    "KernelFault",
    "KernelRun",
    "Module",
    "Order",
    "TensorBox",
    "UnsupportedPtx",
    "read_module",
]
