"""Products and convolutions on GPUs.

`nest` sees operands as matrices, `shape` chooses how large a tile is and how threads share it.
`tile` multiplies elements, `thin` few rows, `matrix` on tensor cores, `warpgroup` by warpgroups on
Hopper, `grouped` where groups of rows have a matrix each.
"""
