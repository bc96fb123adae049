"""Arithmetic of PTX on numpy arrays: bits, floats, conversions."""
