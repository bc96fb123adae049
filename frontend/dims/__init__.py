"""Dimensions that are not numbers: named, bounded, assumed, or not known at all.

The lowest floor. `symbols` is what users say of dimensions, `assume` what must hold of them for
operations to fit, `slices` bounds as people write them, `unknown` sizes that equal no other.
`computed` tells which integers of a program are sizes, `alike` which values are computed in the
same way, `growing` what is known of sizes that change in a loop.
"""
