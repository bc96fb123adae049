"""Programs that import TensorFlow run as they are."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import pickle
import sys

import keras
import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as v1
from tensorflow import keras as other
from tensorflow.keras import backend
from tensorflow.keras.layers import Dense
from tensorflow.nn import relu


class Note:
    pass


@tf.function
def halved(x):
    while tf.reduce_max(x) > 1.0:
        x = x / 2.0
    return relu(x)


model = keras.Sequential([Dense(2)])
model.compile("sgd", "mse")
history = model.fit(np.ones((4, 3), "f4"), np.ones((4, 2), "f4"), verbose=0).history
with v1.Graph().as_default(), v1.Session() as session:
    found = session.run(v1.placeholder_with_default(3.0, []) + 1.0)
print(tf.__name__, backend.backend(), other.layers.Dense is Dense, __name__, sys.argv[1:])
print(halved(tf.constant([3.0, -3.0])).numpy().tolist(), float(found), sorted(history))
pickle.loads(pickle.dumps(Note()))
"""
SAID = """gravure.frontend.tf gravure True __main__ ['--epochs', '3']
[0.75, 0.0] 4.0 ['loss']
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gravure.as_tensorflow", *arguments]
    return subprocess.run(command, check=False, cwd=folder, capture_output=True, text=True)


@pytest.mark.parametrize("named", [["program.py"], ["-m", "program"], ["below/program.py"]])
def test_a_program_runs_as_it_is(tmp_path, named):
    (tmp_path / "below").mkdir()
    for folder in (tmp_path, tmp_path / "below"):
        (folder / "program.py").write_text(PROGRAM)
    made = run(tmp_path, *named, "--epochs", "3")
    assert (made.stdout, made.returncode) == (SAID, 0), made.stderr


def test_modules_beside_a_program_and_its_exit_status_are_its_own(tmp_path):
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "beside.py").write_text(
        "import tensorflow as tf\n\ntwo = tf.constant(2)\n"
    )
    (tmp_path / "below" / "program.py").write_text(
        "import beside\n\nraise SystemExit(int(beside.two))"
    )
    assert run(tmp_path, "below/program.py").returncode == 2
    (tmp_path / "below" / "program.py").write_text("def f():\n    return 1 / 0\n\n\nf()\n")
    assert 'below/program.py", line 2, in f' in run(tmp_path, "below/program.py").stderr


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("from tensorflow.python.ops import gen_math_ops", "tensorflow.python.ops.gen_math_ops"),
        ("from tensorflow.python.ops.math_ops import no", "tensorflow.python.ops.math_ops.no"),
        ("import tensorflow.python.keras.engine", "tensorflow.python.keras.engine"),
        ("import tensorflow.contrib.slim as slim", "tensorflow.contrib"),
        ("import tensorflow.keras.nothing", "tensorflow.keras.nothing"),
        ("from tensorflow.train.nothing import x", "tensorflow.train.nothing"),
    ],
)
def test_modules_that_are_not_here_are_refused_by_name(tmp_path, line, name):
    program = f"try:\n    {line}\nexcept ImportError as error:\n    print(error)\n"
    (tmp_path / "program.py").write_text(program)
    assert run(tmp_path, "program.py").stdout.startswith(f"No module named {name!r}")


INNER = """
import keras
import tensorflow as tf
import tensorflow.python.framework.ops as same
from tensorflow.python.framework import dtypes, ops, tensor_shape
from tensorflow.python.keras.layers import Dense
from tensorflow.python.ops import array_ops, math_ops, nn, nn_ops, rnn_cell_impl
from tensorflow.python.ops import variable_scope as vs
from tensorflow.python.ops.rnn_cell_impl import LSTMCell
from tensorflow.python.platform import gfile
from tensorflow.python.training import saver
from tensorflow.python.util import nest

v1 = tf.compat.v1
ops.reset_default_graph()
pairs = [
    (same, ops), (Dense, keras.layers.Dense), (LSTMCell, v1.nn.rnn_cell.LSTMCell),
    (rnn_cell_impl.LSTMCell, LSTMCell), (dtypes.float32, tf.float32), (nn.relu, tf.nn.relu),
    (tensor_shape.TensorShape, tf.TensorShape), (math_ops.reduce_sum, v1.reduce_sum),
    (array_ops.shape, v1.shape), (nn_ops.softmax, v1.nn.softmax), (saver.Saver, v1.train.Saver),
    (vs.get_variable, v1.get_variable), (gfile.GFile, tf.io.gfile.GFile),
    (nest.map_structure, tf.nest.map_structure), (math_ops.bincount, v1.bincount),
]
print([a is b for a, b in pairs].count(False), hasattr(ops, "_nothing"), hasattr(ops, "nothing"))
"""


def test_inner_modules_have_what_is_public(tmp_path):
    (tmp_path / "program.py").write_text(INNER)
    made = run(tmp_path, "program.py")
    assert (made.stdout, made.returncode) == ("0 False False\n", 0), made.stderr


def test_tensorflow_itself_is_not_mixed_with_it(tmp_path):
    (tmp_path / "tensorflow.py").write_text("")
    program = "import tensorflow\nimport gravure.as_tensorflow\n"
    command = [sys.executable, "-c", program]
    made = subprocess.run(command, check=False, cwd=tmp_path, capture_output=True, text=True)
    assert f"tensorflow was imported before, from {tmp_path}/tensorflow.py" in made.stderr
    assert made.returncode == 1


def test_what_cannot_be_read_is_said(tmp_path):
    made = run(tmp_path, "nothing.py")
    assert made.returncode == 2
    assert "can't open file 'nothing.py': No such file or directory" in made.stderr
