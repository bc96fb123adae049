"""The functions of an artefact that callers see: run, prepare, shapes, sizes, status, manifest.

`functions` emits them; start there. `routine` is a function under construction; `steps` the order
of a run, `checks` the arguments' shapes and types, `cpu` what the processor must have, `status` the
words for what went wrong, `profile` the clock; `pool` the threads, `python_call` what Python calls
directly. `gpu`, with `cuda_calls` and `cuda_text`, is the same for kernels on a GPU.
"""
