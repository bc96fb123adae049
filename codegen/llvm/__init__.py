"""From loops to objects: LLVM text, and the only place that imports llvmlite.

- `text/`: LLVM IR as text under construction. `math/`: exp, log, sin and their kin in it.
- `emit/`: a kernel as a module, one function an operation. Start at `emit/kernel`.
- `entry/`: the functions that callers see, for processors and for GPUs.
- `serial/`: a function of Python's loops and numbers as a module.
- `compile`: text to objects, for the machine that `cpu` makes, `uninterrupted` by Ctrl-C.
"""
