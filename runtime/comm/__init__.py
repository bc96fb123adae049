"""Several processes, or threads that stand in for them, that work together: ranks of a world.

- `protocol`: what a world can do, how long a wait may take, and the errors of all worlds.
- `local`: a world of threads, for tests, and the world of one.
- `mpi`: the world that `mpiexec` started; the only file that knows mpi4py.
- `world`: the world of this process.
- `guard`: how `gravure launch` starts a rank, and is told how it ends; `rank`: what a rank does.
- `progress`: how far this process is. `pulse`: signs of life between ranks.
- `mailbox`: messages by key, for whoever waits for them. `halves`: numbers in 16 bits, as they go.

Nothing here is a transport of our own: between processes all goes through MPI.
"""
