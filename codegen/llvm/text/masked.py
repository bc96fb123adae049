"""Loads and stores of some lanes, by the back end's own instructions."""

from __future__ import annotations

from .build import Shape, Text


def masked_read(text: Text, shape: Shape, pointer: str, mask: str, other: str) -> str:
    """Return a masked load; the other lanes are those of `other`."""
    kind, masks = shape.name, shape.mask.name
    name = f"@llvm.masked.load.{shape.suffix}.p0"
    text.declare(f"declare {kind} {name}(ptr, {masks}, {kind})")
    align = shape.bits // 8
    return text.value(
        f"call {kind} {name}(ptr align {align} {pointer}, {masks} {mask}, {kind} {other})"
    )


def masked_store(text: Text, shape: Shape, value: str, pointer: str, mask: str) -> None:
    """Append a masked store."""
    kind, masks = shape.name, shape.mask.name
    name = f"@llvm.masked.store.{shape.suffix}.p0"
    text.declare(f"declare void {name}({kind}, ptr, {masks})")
    align = shape.bits // 8
    text.line(f"call void {name}({kind} {value}, ptr align {align} {pointer}, {masks} {mask})")
