"""What a compiled program needs to run, without the compiler.

Imports numpy and the standard library, and nothing of gravure but its errors. Read `artifact` (what
a compiled model is, as data), `container` (how a file shows that it is whole), `library` (a file
becomes code), `model` (the code becomes something to call), `pool` (threads), and `direct` (calls
that take nanoseconds). `measure`, `profile` and `compare` say how long runs take, what in them
takes how long, and how far results are apart. `values` are what models with host steps take beside
arrays of numbers. `include/gravure.h` is what all models have in common
for C.

For GPUs: `gpu_plan` (what a compiled model is), `gpu_driver` (what running it needs of a device),
`gpu_steps` (choices and loops between launches), `gpu_model` (something to call), `device_array`,
and `gpu_library` (what libraries need beyond those of processors); the drivers are `cuda` with
`cuda_calls`, and `emulated`, which runs the same code by `ptx_emulator`.
"""
