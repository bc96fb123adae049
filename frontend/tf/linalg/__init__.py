"""Factors of matrices, functions of matrices, and operators that stand for them: tf.linalg."""
