"""From a source to a program or a file.

`load` reads any source, `compile` makes a model of it, `emit` and `save` write files. `difference`
compares, `reduce` shrinks what fails, `constraints` says what sizes must be.
`python_files` are functions of Python files; `onnx_backend` and `onnx_cases` serve the standard's
own tests.
"""
