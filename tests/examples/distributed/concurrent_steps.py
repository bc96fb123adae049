"""Steps of one graph that overlap: threads of one client fill the pipeline over two tasks.

    gravure launch --cluster worker=2 concurrent_steps.py

While the second task is at work on one batch, the first one is at the next; a counter that all
steps change loses nothing.
"""

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from gravure import tf

v1 = tf.compat.v1
told = json.loads(os.environ["TF_CONFIG"])
index = told["task"]["index"]
server = tf.distribute.Server(told["cluster"], job_name="worker", task_index=index)
if index == 1:
    server.join()
    sys.exit()

with tf.Graph().as_default() as graph:
    x = v1.placeholder(tf.float32, [32, 32])
    with tf.device("/job:worker/task:0"):
        first = tf.tanh(tf.matmul(x, x))
    with tf.device("/job:worker/task:1"):
        done = v1.get_variable("done", [], initializer=v1.zeros_initializer(), use_resource=True)
        second = tf.tanh(tf.matmul(first, first))
        with tf.control_dependencies([second]):
            more = done.assign_add(1.0)

batches = np.random.default_rng(0).normal(size=(40, 32, 32)).astype(np.float32) / 8
with v1.Session(server.target, graph=graph) as session:
    session.run(done.initializer)
    in_order = [session.run(second, {x: batch}) for batch in batches]
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda batch: session.run([second, more], {x: batch})[0], batches))
    same = np.allclose(in_order, found, atol=1e-6)  # (steps before it is compiled round otherwise)
    print("the same results:", bool(same), "steps:", session.run(done))
