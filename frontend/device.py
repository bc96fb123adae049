"""Where tensors lie, as the array API sees it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Device:
    """A device of this machine.

    >>> CPU, CPU == "cpu"
    (Device('cpu:0'), True)
    """

    kind: str
    index: int = 0

    def __str__(self) -> str:
        return f"{self.kind}:{self.index}"

    def __repr__(self) -> str:
        return f"Device({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return other in (str(self), self.kind if not self.index else str(self))
        return isinstance(other, Device) and (other.kind, other.index) == (self.kind, self.index)

    def __hash__(self) -> int:
        return hash(str(self))


CPU = Device("cpu")


def as_device(device: object) -> Device:
    """Return the device that is meant; None means the one where tensors are made."""
    if device is None or device == CPU:
        return CPU
    raise ValueError(f"device {str(device)!r} is unknown, expected {str(CPU)!r}")
