"""From a program to something that runs.

`making` decides what it becomes: `compiled` (code of this process, kept in the cache), `gpu`,
`executed` (by a back end from outside), or `pieces` (host steps or several devices between compiled
parts; `given` is what these take and give, `room` how large their sizes may be); `growing` are
loops in these whose values grow, `loops` what computes steps in place of numpy, `reducing` one of
them. `several` are models, one for each number of a size that decides about ranks. `threads` says
on how many.
"""
