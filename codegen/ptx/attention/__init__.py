"""Attention on GPUs: `base` is what the templates share, each other file is one of them.

`elements` multiplies in f32, `flash` on tensor cores, `flash_wide` by warpgroups on Hopper.
"""
