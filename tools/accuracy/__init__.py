"""How exact and how fast the device math is, and the fit of its coefficients."""
