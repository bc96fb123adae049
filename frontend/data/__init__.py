"""Pipelines of elements: what `tf.data` describes, carried out.

A `Stage` says what is done to which other stages; `Run.open` makes a `Stream` of it, which gives
elements: tuples of arrays. A stream can be saved and goes on from there. Nothing here knows of
structures or of TensorFlow's tensors: those are in `tf/data`. Read in this order:

- `stages`: stages, streams, and what a run knows (values of tensors, the store of variables).
- `sources`: where elements come from: arrays, ranges, files, Python.
- `steps`: what is done to elements one by one. `batches`: to several that become one.
- `order`: shuffling, in TensorFlow's order for its seeds. `nested`: streams made of elements.
- `ahead`: several at once, and before they are asked for, on threads.
- `programs`: functions of elements: a graph, of which compiled code does what it can.
- `draws`: how often functions of elements have drawn. `states`: the state of a stream as bytes.
- `outside`: what a state does not hold. `fingerprints`: numbers for what pipelines do.
"""
