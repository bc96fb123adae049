"""From planned IR to PTX: kernels of threads, and the plan of their launches.

The same kernel functions, read the same way, become loops of which a thread runs one unit, or a
block of threads one unit together (`ir/dialects/gpu.py`, `ir/dialects/warpgroup.py`). LLVM's text
is that of processors but for the head of the kernel.

- `compile`: the whole way, from a planned program to the plan of its launches. Start here.
- `kernels`: which template a kernel goes by. Those of processors make units of one vector, which a
  thread runs; those below make units that a block of threads runs.
- `products/`: products and convolutions. `attention/`: attention.
- `rows`: reductions of rows, softmax, norms; `scan`: running sums; `turned`: moves across memory;
  `recurrent`: layers that go through time.
- `emit`: loops as a module of LLVM text with one PTX entry; `assemble`: PTX, and the assembler.
- `plan`: the launches as plain data; `listing`: the text of all kernels.
"""
