"""`tf.lookup`: tables that the host keeps, of keys and values. `initial` fills, `tables` asks."""
