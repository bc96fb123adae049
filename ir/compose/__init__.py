"""Well-known operations that are a few others, as functions of an `emit`.

`functions` has `Maker` and most of them, `fourier` the discrete Fourier transform.
"""
