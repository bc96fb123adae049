"""Factors of matrices, functions of matrices, and operators that stand for them: tf.linalg.

`running_logs` goes along an axis in a loop, as these do.
"""
