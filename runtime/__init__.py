"""What a compiled program needs to run, without the compiler.

Imports numpy and the standard library, and nothing of gravure but its errors. Read `artifact` (what
a compiled model is, as data), `container` (how a file shows that it is whole), `library` (a file
becomes code), `model` (the code becomes something to call), `pool` (threads), and `direct` (calls
that take nanoseconds). `measure`, `profile` and `compare` say how long runs take, what in them
takes how long, and how far results are apart; `tracing` is told what happens when, `traces/` is
what becomes of that, and `deadline` says until when whoever waits may do so. `values` are what
models with host steps take beside arrays of numbers. `include/gravure.h` is what all models have in
common for C.

For GPUs: `gpu/`, whose emulated device runs the same code by `ptx_emulator`.
"""
