"""Indexing: reading and assigning parts of tensors."""
