"""Datasets by TensorFlow's names: `tf.data`.

- `functions`: functions of elements, traced.
- `arguments`: what methods are given. `rows`: datasets as parts of elements.
- `dataset`: `Dataset`. `combining`: what is made of several. `grouping`: of elements in groups.
- `saving`: datasets in folders. `readers`: of what is in files.
- `iterators`: taking elements, at once, in functions and in sessions.
- `optional`: an element that may not be there. `options`: what a pipeline is told.
- `names`: the namespace.
"""
