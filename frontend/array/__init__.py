"""The functions of the Python array API standard (2024.12), on tensors.

Each converts and promotes what it is given and applies operations of the IR, so that it works
at once, in a trace and under a tape. What numpy computes and no operation does (complex
transcendentals, results whose shape depends on data, decompositions) is a `HostOp`: it works on
computed values only.
"""
