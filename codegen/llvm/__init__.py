"""From loops to objects: LLVM text, and the only place that imports llvmlite.

- `text`: LLVM IR as text under construction; `emitter` and `emit_*`: one function an operation.
- `emit`: a kernel as a module. Start here. `micro_kernels`, `transpose`: what loops do not spell.
- `math` and `math_*`: exp, log, sin and their kin as straight lines of instructions.
- `entry` and `entry_*`, `routine`, `pool`, `python_call`: the functions that callers see.
- `entry_gpu` with `cuda_calls` and `cuda_text`: the same for kernels on a GPU.
- `compile`: text to objects, for the machine that `cpu` makes; `cache` keeps them on disk.
"""
