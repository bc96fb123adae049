"""`tf.RaggedTensor`: rows of different lengths, and what is computed of them.

Read in this order:

- `rows`: rows as the host knows them, where elements are places in the flat values.
- `partition`, `tensor`: how rows are cut, and the tensor with its description.
- `planning`: an operation that moves elements is a plan of the host and one gather, which is
  compiled and has a gradient.
- the others: operations by kind; `dispatched` lets TensorFlow's functions take ragged values.
"""
