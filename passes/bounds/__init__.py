"""What is known of index expressions, and the proof that accesses lie inside of buffers.

`polynomial` has the expressions, `prover` what bounds their atoms and how an inequality follows,
`values` what each operation of the level `loops` makes of them, `accesses` what each one that
reads or writes touches.
"""
