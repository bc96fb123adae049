"""Networks whose layers are written by hand."""

import numpy as np


def dense(tf, rng, n, m):
    """Return weights and biases."""
    scale = np.sqrt(2.0 / n)
    w = tf.Variable((rng.randn(n, m) * scale).astype(np.float32))
    return w, tf.Variable(tf.zeros([m]))


def perceptron_with_adam(tf):
    rng = np.random.RandomState(0)
    x = rng.randn(32, 8).astype(np.float32)
    y = (np.sum(x**2, axis=1) > 8).astype(np.int64)
    w1, b1 = dense(tf, rng, 8, 16)
    w2, b2 = dense(tf, rng, 16, 2)
    variables = [w1, b1, w2, b2]
    m = [tf.Variable(tf.zeros_like(v)) for v in variables]
    s = [tf.Variable(tf.zeros_like(v)) for v in variables]
    step = tf.Variable(0, dtype=tf.int64)

    @tf.function
    def train():
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(x @ w1 + b1)
            logits = hidden @ w2 + b2
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
            )
        grads = tape.gradient(loss, variables)
        step.assign_add(1)
        t = tf.cast(step, tf.float32)
        for g, v, mi, si in zip(grads, variables, m, s):
            mi.assign(0.9 * mi + 0.1 * g)
            si.assign(0.999 * si + 0.001 * tf.square(g))
            corrected = mi / (1.0 - 0.9**t)
            v.assign_sub(0.01 * corrected / (tf.sqrt(si / (1.0 - 0.999**t)) + 1e-7))
        return loss

    losses = [train().numpy() for _ in range(8)]
    return losses, b2, tf.linalg.global_norm(variables)


def convolutional_network(tf):
    rng = np.random.RandomState(1)
    images = rng.rand(8, 12, 12, 1).astype(np.float32)
    labels = rng.randint(0, 4, 8)
    f1 = tf.Variable((0.3 * rng.randn(3, 3, 1, 4)).astype(np.float32))
    f2 = tf.Variable((0.3 * rng.randn(3, 3, 4, 8)).astype(np.float32))
    w = tf.Variable((0.1 * rng.randn(72, 4)).astype(np.float32))
    variables = (f1, f2, w)

    def network(x):
        x = tf.nn.conv2d(x, f1, strides=1, padding="SAME")
        x = tf.nn.max_pool2d(tf.nn.relu(x), 2, 2, padding="VALID")
        x = tf.nn.relu(tf.nn.conv2d(x, f2, strides=[1, 1, 1, 1], padding="SAME"))
        x = tf.nn.avg_pool2d(x, ksize=2, strides=2, padding="VALID")
        return tf.reshape(x, [tf.shape(x)[0], -1]) @ w

    @tf.function
    def step(images, labels):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels, network(images))
            )
        for g, v in zip(tape.gradient(loss, variables), variables):
            v.assign_sub(0.1 * tf.clip_by_norm(g, 1.0))
        return loss

    return [step(images, labels) for _ in range(5)], tf.reduce_sum(f2), network(images)[0]


def recurrent_network_by_hand(tf):
    rng = np.random.RandomState(2)
    x = rng.randn(4, 7, 3).astype(np.float32)
    target = np.cumsum(x.sum(-1), axis=1)[:, -1:].astype(np.float32)
    wx = tf.Variable((0.4 * rng.randn(3, 5)).astype(np.float32))
    wh = tf.Variable((0.4 * rng.randn(5, 5)).astype(np.float32))
    wo = tf.Variable((0.4 * rng.randn(5, 1)).astype(np.float32))

    @tf.function
    def run(sequence):
        h = tf.zeros([tf.shape(sequence)[0], 5])
        for t in tf.range(tf.shape(sequence)[1]):
            h = tf.tanh(sequence[:, t] @ wx + h @ wh)
        return h @ wo

    losses = []
    for _ in range(6):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((run(x) - target) ** 2)
        grads = tape.gradient(loss, [wx, wh, wo])
        grads, norm = tf.clip_by_global_norm(grads, 5.0)
        for v, g in zip([wx, wh, wo], grads):
            v.assign_sub(0.02 * g)
        losses.append(loss)
    return losses, norm, wo


def lstm_cell_with_masks(tf):
    rng = np.random.RandomState(3)
    x = tf.constant(rng.randn(3, 6, 2), tf.float32)
    lengths = tf.constant([6, 2, 4])
    w = tf.Variable((0.3 * rng.randn(6, 16)).astype(np.float32))
    b = tf.Variable(tf.zeros(16))

    @tf.function
    def lstm(x, lengths):
        batch = tf.shape(x)[0]
        time = tf.shape(x)[1]
        c = tf.zeros([batch, 4])
        h = tf.zeros([batch, 4])
        outputs = tf.TensorArray(tf.float32, size=time)
        mask = tf.sequence_mask(lengths, time, dtype=tf.float32)
        for t in tf.range(time):
            i, j, f, o = tf.split(tf.concat([x[:, t], h], axis=1) @ w + b, 4, axis=1)
            new_c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
            new_h = tf.tanh(new_c) * tf.sigmoid(o)
            keep = mask[:, t, None]
            c = keep * new_c + (1 - keep) * c
            h = keep * new_h + (1 - keep) * h
            outputs = outputs.write(t, keep * new_h)
        return tf.transpose(outputs.stack(), [1, 0, 2]), h

    with tf.GradientTape() as tape:
        outputs, state = lstm(x, lengths)
        loss = tf.reduce_sum(state**2) + tf.reduce_mean(outputs)
    return outputs[1], state, tape.gradient(loss, w)[0]


def gru_over_unstacked_time(tf):
    rng = np.random.RandomState(4)
    x = tf.constant(rng.randn(2, 5, 3), tf.float32)
    wz, wr, wh = (tf.Variable((0.5 * rng.randn(7, 4)).astype("float32")) for _ in range(3))

    @tf.function
    def gru(x):
        h = tf.zeros([2, 4])
        states = []
        for xt in tf.unstack(x, axis=1):
            both = tf.concat([xt, h], -1)
            z = tf.sigmoid(tf.matmul(both, wz))
            r = tf.sigmoid(tf.matmul(both, wr))
            new = tf.tanh(tf.matmul(tf.concat([xt, r * h], -1), wh))
            h = (1.0 - z) * h + z * new
            states.append(h)
        return tf.stack(states, axis=1)

    for _ in range(4):
        states = gru(x)
    return states


def autoencoder_with_tied_weights(tf):
    rng = np.random.RandomState(5)
    x = rng.rand(20, 10).astype(np.float32)
    w = tf.Variable((0.2 * rng.randn(10, 3)).astype(np.float32), name="w")
    hidden_bias = tf.Variable(tf.zeros([3]))
    visible_bias = tf.Variable(tf.zeros([10]))
    variables = [w, hidden_bias, visible_bias]

    @tf.function
    def step(noise):
        corrupted = x * noise
        with tf.GradientTape() as tape:
            code = tf.nn.sigmoid(tf.matmul(corrupted, w) + hidden_bias)
            decoded = tf.nn.sigmoid(tf.matmul(code, w, transpose_b=True) + visible_bias)
            loss = tf.reduce_mean(tf.math.squared_difference(x, decoded))
        for v, g in zip(variables, tape.gradient(loss, variables)):
            v.assign_sub(0.5 * g)
        return loss

    masks = (rng.rand(12, 20, 10) > 0.3).astype(np.float32)
    return [step(mask) for mask in masks], w


def batch_normalised_network(tf):
    rng = np.random.RandomState(6)
    x = rng.randn(16, 5).astype(np.float32) * 3 + 1
    gamma, beta = tf.Variable(tf.ones([5])), tf.Variable(tf.zeros([5]))
    mean = tf.Variable(tf.zeros([5]), trainable=False)
    variance = tf.Variable(tf.ones([5]), trainable=False)

    @tf.function
    def normalise(x, training):
        if training:
            m, v = tf.nn.moments(x, axes=[0])
            mean.assign(0.9 * mean + 0.1 * m)
            variance.assign(0.9 * variance + 0.1 * v)
            return tf.nn.batch_normalization(x, m, v, beta, gamma, 1e-3)
        return tf.nn.batch_normalization(x, mean, variance, beta, gamma, 1e-3)

    for _ in range(4):
        trained = normalise(x, tf.constant(True))
    return trained[0], normalise(x, tf.constant(False))[0], normalise(x, False)[1], mean


def residual_network_with_modules(tf):
    rng = np.random.RandomState(7)

    class Dense(tf.Module):
        def __init__(self, n, m, name=None):
            super().__init__(name=name)
            self.w = tf.Variable((rng.randn(n, m) / np.sqrt(n)).astype(np.float32), name="w")
            self.b = tf.Variable(tf.zeros([m]), name="b")

        @tf.Module.with_name_scope
        def __call__(self, x):
            return x @ self.w + self.b

    class Residual(tf.Module):
        def __init__(self, depth, width):
            super().__init__(name="residual")
            self.layers = [Dense(width, width, name=f"block{i}") for i in range(depth)]
            self.last = Dense(width, 1)

        @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32)])
        def __call__(self, x):
            for layer in self.layers:
                x = x + tf.nn.elu(layer(x))
            return self.last(x)

    net = Residual(3, 4)
    x = rng.randn(6, 4).astype(np.float32)
    for _ in range(4):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.abs(net(x) - 1.0))
        grads = tape.gradient(loss, net.trainable_variables)
        for v, g in zip(net.trainable_variables, grads):
            v.assign_sub(0.05 * g)
    names = sorted(v.name for v in net.variables)
    return loss, net(x[:2]), names, len(list(net.submodules))


def mixture_of_experts(tf):
    rng = np.random.RandomState(8)
    x = tf.constant(rng.randn(10, 3), tf.float32)
    experts = tf.Variable(rng.randn(4, 3, 2).astype(np.float32))
    gate = tf.Variable(rng.randn(3, 4).astype(np.float32))

    @tf.function
    def forward(x):
        weights = tf.nn.softmax(x @ gate)
        top, chosen = tf.math.top_k(weights, k=2)
        top = top / tf.reduce_sum(top, axis=-1, keepdims=True)
        picked = tf.gather(experts, chosen)
        made = tf.einsum("bi,bkio->bko", x, picked)
        return tf.reduce_sum(made * top[..., None], axis=1), chosen

    with tf.GradientTape() as tape:
        y, chosen = forward(x)
        loss = tf.reduce_sum(y**2)
    load = tf.math.bincount(tf.reshape(chosen, [-1]), minlength=4)
    return y, load, tape.gradient(loss, gate)


def separable_and_transposed_convolutions(tf):
    rng = np.random.RandomState(9)
    x = tf.constant(rng.rand(2, 6, 6, 3), tf.float32)
    depth = tf.Variable(rng.randn(3, 3, 3, 2).astype(np.float32) * 0.2)
    point = tf.Variable(rng.randn(1, 1, 6, 4).astype(np.float32) * 0.2)
    up = tf.Variable(rng.randn(2, 2, 3, 4).astype(np.float32) * 0.2)

    @tf.function
    def forward(x):
        y = tf.nn.separable_conv2d(x, depth, point, strides=[1, 1, 1, 1], padding="SAME")
        y = tf.nn.leaky_relu(y, alpha=0.1)
        size = tf.shape(x)
        shape = tf.stack([size[0], size[1] * 2, size[2] * 2, 3])
        y = tf.nn.conv2d_transpose(y, up, shape, strides=2, padding="SAME")
        return tf.nn.space_to_depth(y, 2)

    with tf.GradientTape() as tape:
        y = forward(x)
        loss = tf.reduce_mean(y**2)
    grads = tape.gradient(loss, [depth, point, up])
    return y[0, 0], [tf.norm(g) for g in grads]
