"""What checkpoints call what they keep: the keys are those of TensorFlow 2.21."""

import numpy as np
import pytest

import gravure.tf as tf

keras = tf.keras


def pair():
    return [tf.Variable(1.0), tf.Variable(2.0)]


def built(optimizer, variables):
    optimizer.build(variables)
    return optimizer


def listed():
    v = pair()
    return tf.train.Checkpoint(opt=built(keras.optimizers.Adam(0.1), v), vars=v)


def alone():
    return tf.train.Checkpoint(opt=built(keras.optimizers.SGD(0.1, momentum=0.9), pair()))


def nested():
    v = pair()
    inside = {"a": v[0], "b": [v[1], {"c": tf.Variable(3.0)}]}
    return tf.train.Checkpoint(d=inside, opt=built(keras.optimizers.SGD(0.1), v))


def model():
    layers = [keras.layers.Input((2,)), keras.layers.Dense(3), keras.layers.BatchNormalization()]
    made = keras.Sequential(layers)
    optimizer = built(keras.optimizers.SGD(0.1), made.trainable_variables)
    return tf.train.Checkpoint(model=made, opt=optimizer)


def module():
    m = tf.Module()
    m.v = pair()
    m.opt = built(keras.optimizers.Adam(0.1), m.v)
    m.again = m.v
    return tf.train.Checkpoint(m)


def drawing():
    return tf.train.Checkpoint(g=tf.random.Generator.from_seed(1), x=tf.Variable(1.0))


KEYS = {
    listed: "opt/_iterations opt/_learning_rate opt/_variables/2 opt/_variables/3 opt/_variables/4 "
    "opt/_variables/5 vars/0 vars/1",
    alone: "opt/_iterations opt/_learning_rate opt/_trainable_variables/0 "
    "opt/_trainable_variables/1 opt/_variables/2 opt/_variables/3",
    nested: "d/a d/b/0 d/b/1/c opt/_iterations opt/_learning_rate",
    model: "model/_functional/_operations/2/moving_mean "
    "model/_functional/_operations/2/moving_variance opt/_iterations opt/_learning_rate "
    "opt/_trainable_variables/0 opt/_trainable_variables/1 opt/_trainable_variables/2 "
    "opt/_trainable_variables/3",
    module: "opt/_iterations opt/_learning_rate opt/_variables/2 opt/_variables/3 opt/_variables/4 "
    "opt/_variables/5 v/0 v/1",
    drawing: "g/_state_var x",
}


@pytest.mark.parametrize("make", KEYS, ids=lambda make: make.__name__)
def test_keys_are_those_of_tensorflow(make, tmp_path):
    path = make().save(str(tmp_path / "kept"))
    found = [name.partition("/.ATTR")[0] for name, _ in tf.train.list_variables(path)]
    wanted = [*KEYS[make].split(), "save_counter"]
    assert sorted(n for n in found if n != "_CHECKPOINTABLE_OBJECT_GRAPH") == sorted(wanted)


@pytest.mark.parametrize("make", [listed, alone, model])
def test_what_optimisers_keep_is_restored_by_these_keys(make, tmp_path):
    first, second = make(), make()
    for each in first.opt.variables:
        each.assign(each + 1)
    path = first.save(str(tmp_path / "kept"))
    second.restore(path).assert_consumed()
    for a, b in zip(first.opt.variables, second.opt.variables, strict=True):
        assert np.array_equal(a, b)
