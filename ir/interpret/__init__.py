"""The reference interpreter: programs of every level on numpy arrays.

`graph` runs operations on tensors, `planned` and `launch` programs of launches, `loops` and
`loop_values` the kernels.
"""
