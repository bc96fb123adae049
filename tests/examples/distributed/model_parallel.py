"""A recurrent network of two layers, each on a task of its own: one client, two workers.

gravure launch --cluster worker=2 model_parallel.py
"""

import json
import os
import sys

import numpy as np

from gravure import tf

v1 = tf.compat.v1
STEPS, WIDTH, ROWS = 4, 8, 16

told = json.loads(os.environ["TF_CONFIG"])
index = told["task"]["index"]
server = tf.distribute.Server(told["cluster"], job_name="worker", task_index=index)
if index == 1:
    server.join()
    print("ran", server.task.messages, "parts of steps")
    sys.exit()


def lstm(inputs, name):
    """Return the outputs of a layer, step by step."""
    with v1.variable_scope(name):
        weights = v1.get_variable(
            "weights", [2 * WIDTH, 4 * WIDTH], initializer=v1.random_normal_initializer(0, 0.3, 1)
        )
        cell = output = tf.zeros([ROWS, WIDTH])
        outputs = []
        for x in inputs:
            gates = tf.split(tf.matmul(tf.concat([x, output], 1), weights), 4, 1)
            keep, add, new, show = gates
            cell = tf.sigmoid(keep) * cell + tf.sigmoid(add) * tf.tanh(new)
            output = tf.sigmoid(show) * tf.tanh(cell)
            outputs.append(output)
    return outputs


with tf.Graph().as_default() as graph:
    data = v1.placeholder(tf.float32, [STEPS, ROWS, WIDTH])
    with tf.device("/job:worker/task:0"):
        first = lstm(tf.unstack(data), "first")
    with tf.device("/job:worker/task:1"):
        second = lstm(first, "second")
        loss = tf.reduce_mean((second[-1] - data[0]) ** 2.0)
    train = v1.train.GradientDescentOptimizer(0.5).minimize(loss)
    init = v1.global_variables_initializer()

rows = np.random.default_rng(0).normal(size=(STEPS, ROWS, WIDTH)).astype(np.float32)
with v1.Session(server.target, graph=graph) as session:
    session.run(init)
    before = session.run(loss, {data: rows})
    for _ in range(12):
        session.run(train, {data: rows})
    after = session.run(loss, {data: rows})
print("the loss is less:", bool(after < before))
