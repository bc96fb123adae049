"""Record graph files that TensorFlow writes, and what it computes with them: `graph_files.npz`.

`python record_graph_files.py` where TensorFlow is installed.
"""

from pathlib import Path

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
PROGRAMS = """
sep: tf.nn.depthwise_conv2d(f(None,8,8,3),tf.ones([3,3,3,2])*.1,[1,1,1,1],'SAME')
deconv: tf.nn.conv2d_transpose(f(2,4,4,3),tf.ones([3,3,5,3])*.1,[2,8,8,5],2,'SAME')
avg: tf.nn.avg_pool2d(f(None,8,8,3),3,2,'SAME')
bn: v1.nn.fused_batch_norm(f(4,8,8,3),tf.ones(3),tf.zeros(3),is_training=True)[1]
slice: f(None,8)[:,1:7:2]
newaxis: f(None,8)[:,tf.newaxis,2]
gather: tf.gather(f(5,8),[1,3,0],axis=1)
split: tf.add_n(tf.split(f(None,8),4,1))
splitv: tf.split(f(None,8),[3,5],1)[1]
unstack: tf.stack(tf.unstack(f(3,8),axis=1)[::-1],0)
where: (lambda x: tf.where(x>0,x,x*.1))(f(None,8))
pad: tf.pad(f(2,3),[[1,2],[0,1]],constant_values=7.)
mirror: tf.pad(f(4,5),[[1,2],[0,1]],'REFLECT')
onehot: tf.one_hot(tf.cast(f(6),tf.int32),5,on_value=2.,off_value=-1.)
resize: v1.image.resize_bilinear(f(1,4,4,2),[7,9])
resize2: tf.image.resize(f(1,4,4,2),[7,9],method='nearest')
einsum: tf.einsum('bij,bkj->bik',f(2,3,4),tf.ones([2,5,4]))
bmm: tf.linalg.matmul(f(2,3,4),tf.ones([2,5,4]),transpose_b=True)
range: tf.cast(tf.range(0,tf.shape(f(None,3))[0]*2,2),tf.float32)
s2b: tf.space_to_batch(f(1,4,4,1),[2,2],[[0,0],[0,0]])
topk: tf.math.top_k(f(3,8),3)[0]
lrn: tf.nn.lrn(f(1,4,4,8),depth_radius=2,alpha=.1)
squeeze: tf.squeeze(f(1,4,1,8),[0,2])
cumsum: tf.cumsum(f(3,4),1,exclusive=True)
l2: tf.nn.l2_normalize(f(3,4),1)
ctrl: (lambda x: [v1.assert_non_negative(x*x)] and tf.identity(x))(f(3,4))
gelu: tf.nn.gelu(f(3,4))
ln: tf.concat(tf.nn.moments(f(3,4),[1],keepdims=True), 1)
sparse: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1,0,3],logits=f(3,4))
argmin: tf.cast(tf.argmin(f(3,4),1),tf.float32)
clip: tf.clip_by_value(f(3,4),-.5,.5)
dropout: tf.nn.dropout(f(3,4),rate=0.)
tile: tf.tile(f(3,4),[2,1])
band: tf.linalg.band_part(f(4,4),1,0)
condv1: v1.cond(tf.reduce_sum(f(3))>0,lambda:tf.constant(1.),lambda:tf.constant(2.))
network: network(f(None, 8, 8, 3))
"""
"""A name, and what is computed of a placeholder `x`."""


def f(*shape):
    """Return what is fed."""
    return v1.placeholder(tf.float32, shape, name="x")


def network(x):
    """Return classes by a small frozen network."""
    random = np.random.default_rng(0)
    weights = tf.constant(random.normal(size=(3, 3, 3, 4)).astype("f"), name="w")
    y = tf.nn.bias_add(tf.nn.conv2d(x, weights, 1, "SAME"), tf.constant([1.0, 2, 3, 4]))
    y, _, _ = v1.nn.fused_batch_norm(
        y, tf.ones(4), tf.zeros(4), tf.zeros(4) + 0.1, tf.ones(4) * 2, is_training=False
    )
    y = tf.nn.max_pool2d(tf.nn.relu(y), 2, 2, "VALID")
    y = tf.reduce_mean(y, [1, 2], keepdims=True, name="mean")
    y = tf.reshape(y, tf.stack([tf.shape(y)[0], 4]))
    y = tf.matmul(y, tf.constant(random.normal(size=(4, 5)).astype("f")), name="fc")
    return tf.nn.softmax(tf.transpose(tf.concat([y, y * 2], 1)), name="shares")


def main():
    """Write all of them into one file."""
    v1.disable_control_flow_v2()
    random, kept = np.random.default_rng(3), {}
    for line in PROGRAMS.strip().splitlines():
        name, text = line.split(": ", 1)
        graph = tf.Graph()
        with graph.as_default():
            tf.identity(eval(text), name="out")
        x = graph.get_tensor_by_name("x:0")
        value = random.normal(size=[d or 2 for d in x.shape.as_list()]).astype("f")
        value = np.arange(6, dtype="f") if name == "onehot" else value
        with v1.Session(graph=graph) as session:
            kept[f"{name}.y"] = session.run("out:0", {x: value})
        kept[f"{name}.x"] = value
        kept[f"{name}.pb"] = np.frombuffer(graph.as_graph_def().SerializeToString(), np.uint8)
    np.savez_compressed(Path(__file__).parent / "graph_files.npz", **kept)


if __name__ == "__main__":
    main()
