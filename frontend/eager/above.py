"""What the methods of tensors need of rooms further up, which import tensors themselves.

`frontend/__init__` says where each is; it is imported when it is first used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from ..values.given import TensorLike


class Rooms(Protocol):
    """Functions of `array/` and of `function/`."""

    @property
    def stack(self) -> Callable[[Sequence[TensorLike]], Any]:
        """Join tensors of one shape along a new axis."""

    @property
    def matmul(self) -> Callable[[object, object], Any]:
        """Multiply matrices."""

    @property
    def matrix_transpose(self) -> Callable[[object], Any]:
        """Exchange the last two axes."""

    @property
    def taken(self) -> Callable[[Any, Any], Any]:
        """Index by operations."""

    @property
    def run_on_device(
        self,
    ) -> Callable[[object, Sequence[Any], dict[str, object]], Sequence[object]]:
        """Carry an operation out on the device where it was to run."""

    @property
    def moved(self) -> Callable[[Any, Any], Any]:
        """Bring a tensor to a device."""


class Above:
    """Holds them."""

    rooms: ClassVar[Rooms]
