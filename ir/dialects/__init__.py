"""What the level `loops` says beyond upstream dialects, and where those are mended.

`kernel` for processors, `gpu` and `warpgroup` for blocks of threads, `upstream` for xDSL's `arith`.
"""
