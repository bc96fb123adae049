"""TensorFlow's namespaces, put together of the rooms below: version two, and `compat.v1`."""
