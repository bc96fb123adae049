"""`gravure launch`: programs on several ranks.

`jobs` starts ranks by `mpiexec`, watches and ends them, and says why a job has failed; `lines`
hands on what they print, up to the last line of one that has died.
"""
