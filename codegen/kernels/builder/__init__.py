"""What kernel templates are built with: loops, indices, and elements that are read where they lie.

The floor below the templates. `loops` builds the function; `space`, `plan` and `read` know which
loop walks what, and give the element of a value at an index through the operations that make it,
by the rules that these have.
"""
