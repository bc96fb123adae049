"""Save what `test_bundles.py` restores: `python make.py`, with TensorFlow 2.21."""

from pathlib import Path

import numpy as np
import tensorflow as tf

HERE = Path(__file__).parent
v1 = tf.compat.v1


class Parts(tf.Module):
    """Variables of several types, in lists and dictionaries."""

    def __init__(self):
        self.w = tf.Variable(np.arange(6.0, dtype="f4").reshape(3, 2) / 4)
        self.b = [tf.Variable(np.arange(4)), {"k/l": tf.Variable(True)}]
        self.texts = tf.Variable(["ab", "", "\xe9" * 200])
        self.half = tf.Variable(tf.constant([1.5, 2.5], tf.bfloat16))
        self.number = tf.Variable(tf.complex(1.0, 2.0))
        self.again = self.b


def net():
    """Return a network that was trained a little."""
    tf.keras.utils.set_random_seed(1)
    layers = [tf.keras.Input((3,)), tf.keras.layers.Dense(2)]
    made = tf.keras.Sequential(layers)
    made.compile("adam", "mse")
    made.fit(np.ones((4, 3), "f4"), np.ones((4, 2), "f4"), epochs=2, verbose=0)
    return made


def main():
    """Save them."""
    tf.train.Checkpoint(parts=Parts(), step=tf.Variable(7)).write(str(HERE / "objects"))
    made = net()
    tf.train.Checkpoint(net=made, opt=made.optimizer).write(str(HERE / "net"))
    found = made.predict(np.ones((1, 3), "f4"), verbose=0), made.optimizer.iterations.numpy()
    print(found)
    with tf.Graph().as_default(), v1.Session() as session:
        for number in range(40):
            v1.get_variable(f"scope/part{number}", initializer=float(number))
        session.run(v1.global_variables_initializer())
        v1.train.Saver().save(session, str(HERE / "first"), write_meta_graph=False)
    with tf.Graph().as_default(), v1.Session() as session:
        v1.get_variable("p", [4], partitioner=v1.fixed_size_partitioner(2))
        session.run(v1.global_variables_initializer())
        v1.train.Saver().save(session, str(HERE / "slices"), write_meta_graph=False)
    lines = [
        f'{key}: "objects"\n' for key in ("model_checkpoint_path", "all_model_checkpoint_paths")
    ]
    (HERE / "checkpoint").write_text("".join(lines))


main()
