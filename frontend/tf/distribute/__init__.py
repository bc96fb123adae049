"""`tf.distribute`: one step on several replicas, in this process and in others.

A replica is a device of this process in one of the ranks. Those of a process take turns: each runs
until it needs the others (`merge_call`, `all_reduce`, a variable that is changed), then the next
one does, so that a step is always made in the same order, and can be traced into a graph.
Variables are shared by the replicas of a process and changed once for all of them, by the same
numbers on every rank. Read in this order:

- `lockstep`: functions that take turns. `replicas`: values of replicas, and what a replica can do.
- `on_read`: variables that each replica has a value of.
- `inputs`: data for replicas. `positions`: how far they have drawn. `scopes`: where variables are
  made for them. `strategy`: the strategies. `extended`: what else they can be asked for.
  `options`: what can be wished of them. `cluster`: specs of clusters.
- `names`: the namespace.
"""
