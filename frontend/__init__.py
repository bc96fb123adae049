"""How programs come in: model files, text, and Python.

Imports everything but `tools`. onnx is imported in `onnx/` (and for the standard's own tests in
`programs/`), lark in `text/` alone; both only when a program of that kind is read. The rooms, from
the bottom up; a file imports its own room and those below (`tests/test_layers.py` holds it):

- `dims/`: dimensions that are not numbers.
- `files/`: what lies beside a model. `formats/`: records, examples and event files. `values/`:
  element types, nested values, contexts, devices.
- `eager/`: tensors, and operations at once. `array/`: the array API, and networks.
- `models/`: from a program to something that runs.
- `onnx/`, `text/`: from model files to programs.
- `graph/`: graphs, and running parts of them.
- `function/`: Python functions that become graphs, and graphs that become programs; variables and
  sessions. `autograph/`: Python's own choices and loops in them.
- `programs/`: from a source to a program or a file: what the command does. `data/`: datasets.
- `tf/`: TensorFlow's names over all of this.
"""
