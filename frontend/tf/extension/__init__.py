"""Types that a user makes of several tensors: `tf.experimental.ExtensionType`.

`fields` checks and converts what a field is declared as, `types` has the values and what describes
them, `dispatching` lets functions of tensors take them.
"""
