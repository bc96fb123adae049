"""Functions that few programs use: Bessel's, the incomplete beta function, fake quantisation.

`bessel` and `beta` are element-wise; `fake_quantised` rounds as few bits would, and goes back
through that as if nothing was rounded.
"""
