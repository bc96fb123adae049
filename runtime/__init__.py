"""What a compiled program needs to run, without the compiler.

Imports numpy and the standard library, and nothing of gravure but its errors. A C program needs
nothing of this folder but `include/gravure.h`. Read in this order:

- `artifact`, with `expression`: what a compiled model is, as plain data.
- `model`: load a compiled model, look at it, run it. `arguments`: what it may be called with;
  `buffer`: aligned memory; `direct`: calls without ctypes in between.
- `library`, with `container` and `elf`: check an artefact before any of its code is mapped.
- `pool`: threads for runs.
- `files`: writing that leaves the old file or the new one, never a mixture.
"""
