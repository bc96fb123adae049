"""Python functions of loops and numbers as LLVM modules: see `codegen/serial/function`.

`kinds` are the types of values, `expressions` and `statements` say what may stand in a function
and what becomes of it, `affine` which loops stay inside of arrays when they begin to, `module` is
the text of the whole. Start there.

Variables lie in memory of the stack until LLVM's own passes put them into registers. What a
function calls is written out in its place. Anything that is not known here is a `TypeError` that
names the line.
"""
