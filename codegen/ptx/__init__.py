"""From planned IR to PTX: kernels of threads, and the plan of their launches.

The same kernel functions, read the same way, become loops of which a thread runs one unit, or a
block of threads one unit together (`ir/gpu_ops.py`). LLVM's text is that of processors but for the
head of the kernel.

- `kernels`: which template a kernel goes by; `tile`, `rows`: templates of blocks.
- `emit`: loops as a module of LLVM text with one PTX entry.
- `plan`: the launches as plain data; `compile`: the whole way.
"""
