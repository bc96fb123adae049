"""Summaries by TensorFlow's names: `tf.summary`, and that of the first version.

- `graphs`: graphs as `GraphDef` messages, which TensorBoard draws.
- `first`: operations that give summaries, and `FileWriter`. `second`: writers that are entered.
- `names`: the namespaces.
"""
