"""Functions of Python's own loops and numbers, compiled as they are written: see `function`."""
