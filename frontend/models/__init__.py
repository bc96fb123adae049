"""From a program to something that runs.

`making` decides what it becomes: `compiled` (code of this process, kept in the cache), `gpu`, or
`pieces` (host steps or several devices between compiled parts). `threads` says on how many.
"""
