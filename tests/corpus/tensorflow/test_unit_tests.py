"""The runner of TensorFlow's own tests says which pass, and why others do not."""

import subprocess
import sys
from pathlib import Path

RUNNER = Path(__file__).with_name("unit_tests.py")
TESTS = """
from tensorflow.python.framework import constant_op
from tensorflow.python.framework import test_util
from tensorflow.python.ops import gen_math_ops
from tensorflow.python.ops import math_ops
from tensorflow.python.platform import test


class SumTest(test.TestCase):

  @test_util.run_in_graph_and_eager_modes
  def testSum(self):
    self.assertEqual(6.0, self.evaluate(math_ops.reduce_sum(constant_op.constant([2.0, 4.0]))))

  @test_util.run_deprecated_v1
  def testWrong(self):
    self.assertEqual(7, self.evaluate(math_ops.add(2, 4)))

  def testOfItsOwn(self):
    gen_math_ops.secret(1)


if __name__ == "__main__":
  test.main()
"""


def test_the_share_that_passes_is_printed_by_file(tmp_path):
    folder = tmp_path / "tensorflow/python/ops"
    folder.mkdir(parents=True)
    (folder / "sum_test.py").write_text(TESTS)
    command = [sys.executable, RUNNER, tmp_path]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    first, total, reason = found.stdout.splitlines()
    assert first.split() == ["ops/sum_test.py", "1", "of", "2", "1", "private,", "1", "skipped"]
    assert total.split()[:4] == ["all", "1", "of", "2"]
    assert "1 failed: AssertionError: # != " in reason
    assert "failed SumTest.testWrong" in found.stderr
