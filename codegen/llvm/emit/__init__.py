"""From loops to LLVM text: one function an operation.

`kernel` emits a whole kernel function; start there. `emitter` is what all share (names of values,
shapes, helpers); `control`, `convert`, `float`, `integer`, `memory`, `vector` hold the operations
of the upstream dialects, `micro_kernels` and `gemm_pair` what loops are too long to spell, `gpu`
and `warpgroup` what the threads of a block do together.
"""
