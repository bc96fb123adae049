"""Values that are made of several tensors: sparse and ragged ones, and what is computed of them.

Read in this order:

- `composite`: what they have in common; structures are flattened into their tensors.
- `sparse_tensor`, then `sparse_*`: `tf.SparseTensor` and `tf.sparse`.
- `names`: the namespaces.

What depends on indices alone is found by the host (`io.host_ops`); values go through operations
that are compiled and have gradients.
"""
