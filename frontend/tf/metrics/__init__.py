"""`tf.metrics` of the first version: sums in local variables, a value and what brings it on."""
