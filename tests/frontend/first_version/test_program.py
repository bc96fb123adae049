"""Flags, messages and test cases as programs of TensorFlow have them."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gravure.tf as tf

ROOT = Path(__file__).parents[3]


class TestOfTensors(tf.test.TestCase):
    def test_close_and_equal(self):
        self.assertAllClose([1.0, 2.0], tf.constant([1.0, 2.0]))
        self.assertAllClose({"a": 1.0}, {"a": 1.0000001})
        self.assertAllClose([[1.0], [1.0, 2.0]], [[1.0], [1.0, 2.0]])
        self.assertAllEqual(tf.constant(["a", "b"]), ["a", "b"])
        self.assertNotAllClose([1.0], [2.0])
        self.assertShapeEqual(np.ones((2, 3)), tf.ones([2, 3]))
        self.assertAllInRange([1, 2], 1, 2)
        assert self.evaluate({"x": tf.constant(3)}) == {"x": 3}

    def test_what_differs_is_said(self):
        for check in (
            lambda: self.assertAllClose([1.0, 2.0], [1.0, 2.1]),
            lambda: self.assertAllClose([1.0], [1.0, 1.0]),
            lambda: self.assertAllEqual([1, 2], [1, 3]),
            lambda: self.assertAllInSet([1, 4], {1, 2}),
            lambda: self.assertAllGreater([1, 2], 1),
            lambda: self.assertNear(1.0, 2.0, 0.5),
            lambda: self.assertNotAllEqual([1], [1]),
        ):
            with pytest.raises(AssertionError):
                check()

    def test_rows(self):
        rows = tf.ragged.constant([[1.0, 2.0], [], [3.0]])
        words = tf.ragged.constant([["a"], ["b", "c"]])
        for wanted in (rows, rows.to_list(), tf.ragged.constant([[1.0, 2.0], [], [3.0]])):
            self.assertAllEqual(rows, wanted)
            self.assertAllClose(rows, wanted)
        self.assertAllEqual(words, [[b"a"], [b"b", b"c"]])
        self.assertAllClose(rows + 1e-8, rows)
        self.assertAllEqual(tf.RaggedTensor.from_tensor([[1, 2], [3, 4]]), [[1, 2], [3, 4]])
        even = tf.ragged.constant([[[1, 2]], [[3, 4]]], ragged_rank=1)
        for check in (
            lambda: self.assertAllEqual(rows, [[1.0, 2.0], [3.0]]),
            lambda: self.assertAllEqual(rows, [[1.0, 2.0], [], [4.0]]),
            lambda: self.assertAllClose(rows + 0.1, rows),
            lambda: self.assertAllEqual(even, tf.ragged.constant([[[1, 2]], [[3, 4]]])),
            lambda: self.assertAllEqual(even, tf.constant([[[1, 2]], [[3, 4]]])),
        ):
            with pytest.raises(AssertionError):
                check()
        with tf.Graph().as_default(), self.session():
            made = tf.ragged.range([2, 0, 1])
            self.assertAllEqual(made, [[0, 1], [], [0]])
            self.assertAllEqual(self.evaluate(made), made)

    def test_sessions(self):
        v1 = tf.compat.v1
        with tf.Graph().as_default(), self.session() as session:
            x = v1.placeholder(tf.float32)
            self.assertAllClose(session.run(x * 2, {x: 3.0}), 6.0)
            self.assertAllEqual(tf.constant([1, 2]), [1, 2])
            with self.assertRaisesOpError("feed"):
                session.run(x * 1)
        with tf.Graph().as_default(), self.cached_session():
            assert tf.constant(3).eval() == 3

    def test_slopes(self):
        exact, near = tf.test.compute_gradient(lambda x: x * x, [np.array([1.0, 2.0])])
        self.assertAllClose(exact, near, rtol=1e-3)
        self.assertAllClose(exact[0], [[2.0, 0.0], [0.0, 4.0]])


def test_a_program_with_flags():
    program = (
        "import gravure.tf as tf; v1 = tf.compat.v1\n"
        "v1.flags.DEFINE_integer('steps', 3, 'how many')\n"
        "def main(argv): print(v1.flags.FLAGS.steps, argv[1:], bool(v1.flags.FLAGS.test_tmpdir))\n"
        "v1.logging.set_verbosity(v1.logging.INFO); v1.logging.info('about %d', 7)\n"
        "v1.app.run(main)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", program, "--steps=5", "more"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert done.stdout == "5 ['more'] True\n"
    assert "INFO:tensorflow:about 7" in done.stderr


def test_messages_are_counted(caplog):
    log = tf.compat.v1.logging
    with caplog.at_level("INFO", logger="tensorflow"):
        for number in range(5):
            log.log_first_n(log.INFO, "first %d", 2, number)
            log.log_every_n(log.INFO, "every %d", 2, number)
        log.debug("not seen")
    found = [record.getMessage() for record in caplog.records]
    assert found == ["first 0", "every 0", "first 1", "every 2", "every 4"]
