"""Operations at once: tensors, and what watches them.

`tensor` has `Tensor` and `apply`, through which everything is computed; `kernels` runs one
operation on arrays, `remembered` what a function does to types that come again. `tape` and
`recorded` watch, `backward` walks back. `operators` are those that tensors and variables have;
`text_arrays` are operations on texts.
"""
