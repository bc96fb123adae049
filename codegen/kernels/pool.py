"""Windows that are combined: pooling. See `sliding`."""

from __future__ import annotations

from .sliding import lower

__all__ = ["lower"]
