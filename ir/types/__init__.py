"""The types: elements, dimensions, tensors, values; and arithmetic on them.

`dtypes` has a row for each element type, `dims` integer polynomials with ranges, `tensor` the type
of a tensor, `values` what is no tensor of numbers, `attributes` attributes as Python values,
`shapes` and `numerics` arithmetic on shapes and arrays.
"""
