"""Windows that are combined: pooling. See `sliding_rows`."""

from __future__ import annotations

from .sliding_rows import lower

__all__ = ["lower"]
