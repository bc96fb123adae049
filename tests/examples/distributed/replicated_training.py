"""Replicas that train by parameter servers, each at its own pace, and go on from shards.

    gravure launch --cluster ps=2,worker=2 replicated_training.py FOLDER STEPS

Every worker changes the variables that all share; the first one saves them. Started again, also
with another number of parameter servers, the job goes on from what was saved.
"""

import json
import os
import sys
import time

import numpy as np

from gravure import tf

v1 = tf.compat.v1
told = json.loads(os.environ["TF_CONFIG"])
job, index = told["task"]["type"], told["task"]["index"]
folder, steps = sys.argv[1], int(sys.argv[2])
server = tf.distribute.Server(told["cluster"], job_name=job, task_index=index)
if job == "ps":
    server.join()
    sys.exit()

setter = tf.train.replica_device_setter(
    cluster=told["cluster"], worker_device=f"/job:worker/task:{index}"
)
with tf.Graph().as_default() as graph, tf.device(setter):
    x = v1.placeholder(tf.float32, [None, 4])
    y = v1.placeholder(tf.float32, [None, 1])
    w = v1.get_variable("w", [4, 1], initializer=v1.zeros_initializer())
    b = v1.get_variable("b", [1], initializer=v1.zeros_initializer())
    count = v1.train.get_or_create_global_step()
    loss = tf.reduce_mean((tf.matmul(x, w) + b - y) ** 2.0)
    train = v1.train.GradientDescentOptimizer(0.05).minimize(loss, global_step=count)
    ready = [v1.is_variable_initialized(each) for each in v1.global_variables()]
    init, saver = v1.global_variables_initializer(), v1.train.Saver()

rng = np.random.default_rng(index)
rows = rng.normal(size=(64, 4)).astype(np.float32)
feeds = {x: rows, y: rows @ np.float32([[1], [-2], [3], [0.5]]) + 1}
with v1.Session(server.target, graph=graph) as session:
    if index == 0:
        found = v1.train.latest_checkpoint(folder)
        if found is None:
            session.run(init)
        else:
            saver.restore(session, found)
        print("begins at step", session.run(count))
    while not all(session.run(ready)):
        time.sleep(0.01)
    while session.run(count) < steps:
        session.run(train, feeds)
    if index == 0:
        saver.save(session, f"{folder}/model", global_step=count)
    print("the loss is small:", bool(session.run(loss, feeds) < 0.5))
