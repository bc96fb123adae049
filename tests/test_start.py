"""What is loaded when a program starts: only what it needs before anything is compiled."""

import subprocess
import sys

HEAVY = ("llvmlite", "gravure.codegen.backends", "gravure.codegen.llvm.compile",
         "gravure.passes.fuse", "asyncio", "ssl", "onnx", "keras")  # fmt: skip
PROGRAM = """
import sys
import gravure.tf as tf

x = tf.constant([1.0, 2.0])
assert float(tf.reduce_sum(x * x)) == 5.0
print([name for name in sys.argv[1:] if name in sys.modules])
assert callable(tf.test.mock.Mock) and callable(tf.compat.v1.test.mock.Mock)
"""


def test_a_program_that_compiles_nothing_loads_neither_llvm_nor_passes() -> None:
    words = [sys.executable, "-c", PROGRAM, *HEAVY]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"
