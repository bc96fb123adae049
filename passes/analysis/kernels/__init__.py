"""What passes ask about kernels: kinds, tiles, what is read in place, what a record chose."""
