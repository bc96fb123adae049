"""Functions that few programs use: Bessel's, integrals with names, fake quantisation.

`bessel`, `waves`, `integrals` and `beta` are element-wise; `fake_quantised` rounds as few bits
would, and goes back through that as if nothing was rounded.
"""
