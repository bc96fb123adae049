"""Files, records and text that hold data, by TensorFlow's names: `tf.io`.

- `files`: whole files. `gfile`: folders and files as Python's. `decoding`: bytes as numbers.
- `pictures`: images as bytes. `features`, `parsing`: examples. `records`: files of records.
- `readers`, `producers`, `batches`: the queues of the first version. `names`: the namespaces.
"""
