"""What proves, pass by pass, that a program stays what it was: `check`, `bisect`, `lint`.

`widen` writes a program in f64; `passes` runs a pipeline on it and takes down what each pass did
wrong; `blame` finds the operation; `bisect` makes that small.
"""
