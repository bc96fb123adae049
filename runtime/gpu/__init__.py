"""What runs models on GPUs, without the compiler.

`plan` is a compiled model as data, `driver` what running it needs of a device, `steps` choices and
loops between launches, `model` something to call, `file` and `library` what is loaded. The drivers
are `cuda` (by pycuda, with `driver_calls`) and `emulated`; `device_array` is memory on a device.
"""
