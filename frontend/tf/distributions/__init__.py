"""`compat.v1.distributions`: classes of probability distributions; TensorFlow's numbers.

`base` has the class that all extend, by methods that begin with an underscore as in TensorFlow,
and divergences between two.
"""
