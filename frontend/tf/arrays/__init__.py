"""numpy's names over tensors: `tf.experimental.numpy`.

Arrays are tensors. Unlike TensorFlow's own functions these promote element types, by numpy's rule
(`promoting`); a number of Python's gives way to any tensor. `elementwise`, `reducing`, `shaping`
and `making` are tables of functions by their names; `names` is the namespace.
"""
