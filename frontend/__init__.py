"""How programs come in: model files, text, and Python.

Imports everything but `tools`. onnx is imported in `onnx/` (and for the standard's own tests in
`programs/`), lark in `text/` alone; both only when a program of that kind is read. The rooms, from
the bottom up; a file imports its own room and those below (`tests/test_layers.py` holds it):

- `dims/`: dimensions that are not numbers.
- `files/`: what lies beside a model. `formats/`: records, examples and event files. `values/`:
  element types, nested values, contexts, devices.
- `eager/`: tensors, and operations at once. `array/`: the array API, and networks.
- `models/`: from a program to something that runs.
- `onnx/`, `text/`: from model files to programs.
- `graph/`: graphs, and running parts of them.
- `function/`: Python functions that become graphs, and graphs that become programs; variables and
  sessions. `autograph/`: Python's own choices and loops in them.
- `programs/`: from a source to a program or a file: what the command does. `data/`: datasets.
- `tf/`: TensorFlow's names over all of this.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..lazy import cached_property
from .eager.above import Above

if TYPE_CHECKING:
    from .eager.tensor import Tensor
    from .values.devices import Device
    from .values.given import Index, TensorLike


class _Rooms:
    """What tensors need of the rooms above them, imported when it is first used."""

    @cached_property
    def stack(self) -> Callable[[Sequence[TensorLike]], Tensor]:
        """Join tensors of one shape along a new axis."""
        from .array.manipulation import stack  # noqa: PLC0415

        return stack

    @cached_property
    def matmul(self) -> Callable[[Any, Any], Tensor]:
        """Multiply matrices."""
        from .array.linear import matmul  # noqa: PLC0415

        return matmul

    @cached_property
    def matrix_transpose(self) -> Callable[[Any], Tensor]:
        """Exchange the last two axes."""
        from .array.linear import matrix_transpose  # noqa: PLC0415

        return matrix_transpose

    @cached_property
    def taken(self) -> Callable[[Tensor, Index], Tensor]:
        """Index by operations."""
        from .array.indexing import taken  # noqa: PLC0415

        return taken

    @cached_property
    def run_on_device(self) -> Callable[[Any, Sequence[Tensor], dict[str, Any]], Sequence[Tensor]]:
        """Carry an operation out on the device where it was to run."""
        from .function.on_device import run_on_device  # noqa: PLC0415

        return run_on_device

    @cached_property
    def moved(self) -> Callable[[Tensor, Device], Tensor]:
        """Bring a tensor to a device."""
        from .function.on_device import moved  # noqa: PLC0415

        return moved


Above.rooms = _Rooms()
