"""What is known of index expressions, and the proof that accesses lie inside of buffers.

`polynomial` has the expressions, `prover` what bounds their atoms and how an inequality follows,
`scopes` facts that hold for a while, `bound` what replaces an atom, `factors` sizes that are
products of sums, `rests` what quotients of a place leave, `points` values that show at once what
cannot follow, `every` all values where sizes are numbers, `values` what each operation of the level
`loops` makes of them, `carried` what loops hand on, and `accesses` what each operation that reads
or writes touches: `walks` has those that go in steps, `blocks` those of a GPU's blocks of threads.
"""
