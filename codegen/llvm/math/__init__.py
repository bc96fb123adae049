"""The functions of the `math` dialect as straight lines of LLVM instructions.

`functions` finds them by name. They are written in the words of `lanes`, with the coefficients of
`tables`; `lookup` reads tables that lie in registers.
"""
