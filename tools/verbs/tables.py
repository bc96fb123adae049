"""Rows of tables that several results have."""

from __future__ import annotations


def listed(name: str, lines: list[str]) -> list[list[str]]:
    """Return lines below each other, with their name before the first."""
    return [[name if number == 0 else "", line] for number, line in enumerate(lines)]
