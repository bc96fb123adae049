"""Graphs that nobody would write: ONNX models that are grown operation by operation.

- `maker`: a graph under construction. Each dimension is known in several worlds at once, so that an
  open size is 0, 1, one less, or one more than usual; each value knows how far its elements may be
  from the exact ones.
- `elementwise`, `moves`, `indices`, `products`, `reductions`, `quantised`, `control`, `standard`:
  rules by which a graph grows; each takes the maker and a value, and returns another value.
- `grown`: a graph of a seed and a number.

Elements are small multiples of powers of two where that is possible: sums and products are exact
then, in any order, and have to be equal to the last bit.
"""
