"""Structured control flow, its gradient, and operations on state."""
