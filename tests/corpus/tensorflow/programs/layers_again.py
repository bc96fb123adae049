"""Keras around a training: steps of ones own, masks, attention, evaluations, frozen layers."""

import numpy as np


def _data(n=32, d=6, k=3, seed=0):
    rs = np.random.RandomState(seed)
    x = rs.randn(n, d).astype("float32")
    return x, (x[:, :k].argmax(1)).astype("int64")


def _fixed(model, seed=1):
    rs = np.random.RandomState(seed)
    model.set_weights(
        [
            np.asarray(rs.randn(*w.shape) * 0.3, w.dtype) if w.dtype.kind == "f" else w
            for w in model.get_weights()
        ]
    )


def subclassed_with_own_training(tf):
    k = tf.keras

    class Block(k.layers.Layer):
        def __init__(self, n, rate=0.1, **kw):
            super().__init__(**kw)
            self.n, self.rate = n, rate

        def build(self, shape):
            self.w = self.add_weight(
                shape=(shape[-1], self.n),
                initializer="glorot_uniform",
                name="w",
                regularizer=k.regularizers.L2(0.01),
            )
            self.scale = self.add_weight(shape=(), initializer="ones", trainable=False, name="s")

        def call(self, x, training=False):
            y = tf.matmul(x, self.w) * self.scale
            if training:
                self.add_loss(1e-3 * tf.reduce_mean(tf.square(y)))
                self.scale.assign(self.scale * 0.99)
            return tf.nn.gelu(y)

        def get_config(self):
            return {**super().get_config(), "n": self.n, "rate": self.rate}

    class Net(k.Model):
        def __init__(self):
            super().__init__()
            self.blocks = [Block(8), Block(8)]
            self.head = k.layers.Dense(3)
            self.tracker = k.metrics.Mean(name="loss")
            self.acc = k.metrics.SparseCategoricalAccuracy(name="acc")

        def call(self, x, training=None):
            for b in self.blocks:
                x = b(x, training=training)
            return self.head(x)

        @property
        def metrics(self):
            return [self.tracker, self.acc]

        def train_step(self, data):
            x, y, w = k.utils.unpack_x_y_sample_weight(data)
            with tf.GradientTape() as tape:
                p = self(x, training=True)
                ce = tf.nn.sparse_softmax_cross_entropy_with_logits(y, p)
                loss = tf.reduce_mean(ce * tf.cast(w, ce.dtype)) + tf.add_n(self.losses)
            g = [tf.clip_by_norm(t, 0.5) for t in tape.gradient(loss, self.trainable_variables)]
            self.optimizer.apply_gradients(zip(g, self.trainable_variables))
            self.tracker.update_state(loss)
            self.acc.update_state(y, p)
            return {m.name: m.result() for m in self.metrics}

        def test_step(self, data):
            x, y = data
            self.acc.update_state(y, self(x))
            return {"acc": self.acc.result(), "extra": tf.constant(2.0)}

        def predict_step(self, data):
            return tf.argmax(self(data), -1)

    x, y = _data()
    m = Net()
    m(x[:2])
    _fixed(m)
    m.compile(optimizer=k.optimizers.SGD(0.1, momentum=0.9))
    h = m.fit(
        x,
        y,
        sample_weight=np.linspace(0.5, 1.5, 32),
        epochs=3,
        batch_size=8,
        shuffle=False,
        verbose=0,
    )
    e = m.evaluate(x, y, batch_size=16, verbose=0, return_dict=True)
    return h.history, e, Block.from_config(Block(4).get_config()).n


def attention_layers_of_keras(tf):
    k = tf.keras
    rs = np.random.RandomState(0)
    src, tgt = k.Input((6, 8)), k.Input((4, 8))
    att = k.layers.MultiHeadAttention(2, 4, value_dim=3, attention_axes=(1,))
    y, scores = att(tgt, src, return_attention_scores=True)
    z = k.layers.LayerNormalization(epsilon=1e-5)(y + tgt)
    c = k.layers.MultiHeadAttention(2, 4)(z, z, use_causal_mask=True)
    g = k.layers.GroupQueryAttention(4, 4, 2)(z, z)
    d = k.layers.Attention(use_scale=True)([z, src])
    ad = k.layers.AdditiveAttention()([z, src])
    out = k.layers.Dense(1)(k.layers.Concatenate()([c, d, ad, g]))
    m = k.Model([src, tgt], [out, scores])
    _fixed(m)
    a, b = rs.randn(5, 6, 8).astype("f"), rs.randn(5, 4, 8).astype("f")

    opt = k.optimizers.AdamW(0.01, weight_decay=0.02, clipnorm=1.0)

    @tf.function
    def step(a, b):
        with tf.GradientTape() as t:
            o, _ = m([a, b], training=True)
            loss = tf.reduce_mean((o - 1.0) ** 2)
        gs = t.gradient(loss, m.trainable_variables)
        opt.apply_gradients(zip(gs, m.trainable_variables))
        return loss

    r = [step(a, b) for _ in range(4)]
    return r, m.predict([a, b], verbose=0)


def transfer_with_frozen_layers(tf):
    k = tf.keras
    rs = np.random.RandomState(0)
    x, y = rs.rand(12, 12, 12, 3).astype("f"), rs.randint(0, 2, 12).astype("f")
    i = k.Input((12, 12, 3))
    h = i
    for n in (4, 6):
        h = k.layers.Conv2D(n, 3, padding="same", use_bias=False)(h)
        h = k.layers.BatchNormalization()(h)
        h = k.layers.ReLU(6.0)(h)
        h = k.layers.DepthwiseConv2D(3, strides=2, padding="same")(h)
    base = k.Model(i, h, name="base")
    _fixed(base)
    base.trainable = False
    i2 = k.Input((12, 12, 3))
    aug = k.Sequential([k.layers.Rescaling(2.0, offset=-1.0), k.layers.CenterCrop(12, 12)])
    h = base(aug(i2), training=False)
    h = k.layers.GlobalAveragePooling2D()(h)
    o = k.layers.Dense(1, kernel_initializer="ones")(k.layers.Dropout(0.0)(h))
    m = k.Model(i2, o)
    m.compile(
        k.optimizers.Adam(0.05),
        k.losses.BinaryCrossentropy(from_logits=True),
        metrics=[k.metrics.BinaryAccuracy(threshold=0.0)],
    )
    h1 = m.fit(x, y, epochs=2, batch_size=6, shuffle=False, verbose=0).history
    n1 = len(m.trainable_weights)
    base.trainable = True
    for layer in base.layers[:4]:
        layer.trainable = False
    m.compile(k.optimizers.SGD(1e-2), k.losses.BinaryCrossentropy(from_logits=True))
    h2 = m.fit(x, y, epochs=2, batch_size=6, shuffle=False, verbose=0).history
    total = sum(int(np.prod(v.shape)) for v in m.trainable_weights)
    return h1, n1, h2, len(m.trainable_weights), total, m.count_params()


def gan_with_two_optimisers(tf):
    k = tf.keras
    g = k.Sequential(
        [
            k.Input((4,)),
            k.layers.Dense(12),
            k.layers.LeakyReLU(0.2),
            k.layers.Reshape((2, 2, 3)),
            k.layers.Conv2DTranspose(2, 3, 2, padding="same", activation="tanh"),
        ]
    )
    d = k.Sequential(
        [
            k.Input((4, 4, 2)),
            k.layers.Conv2D(4, 3, 2, padding="same"),
            k.layers.LeakyReLU(),
            k.layers.Flatten(),
            k.layers.SpectralNormalization(k.layers.Dense(1)),
        ]
    )
    _fixed(g), _fixed(d, 2)

    class Gan(k.Model):
        def __init__(self):
            super().__init__()
            self.g, self.d = g, d
            self.seed = k.random.SeedGenerator(1)

        def compile(self, og, od, loss):
            super().compile()
            self.og, self.od, self.loss_fn = og, od, loss
            self.md, self.mg = k.metrics.Mean(name="d"), k.metrics.Mean(name="g")

        @property
        def metrics(self):
            return [self.md, self.mg]

        def train_step(self, real):
            real = real[0] if isinstance(real, (tuple, list)) else real
            n = tf.shape(real)[0]
            z = tf.reshape(tf.sin(tf.range(tf.cast(n * 4, tf.float32))), [n, 4])
            with tf.GradientTape() as t:
                fake = self.g(z, training=True)
                both = tf.concat([fake, real], 0)
                lab = tf.concat([tf.ones((n, 1)), tf.zeros((n, 1))], 0)
                ld = self.loss_fn(lab, self.d(both, training=True))
            self.od.apply_gradients(
                zip(t.gradient(ld, self.d.trainable_weights), self.d.trainable_weights)
            )
            with tf.GradientTape() as t:
                lg = self.loss_fn(tf.zeros((n, 1)), self.d(self.g(z, training=True)))
            self.og.apply_gradients(
                zip(t.gradient(lg, self.g.trainable_weights), self.g.trainable_weights)
            )
            self.md.update_state(ld)
            self.mg.update_state(lg)
            return {"d": self.md.result(), "g": self.mg.result()}

    real = np.random.RandomState(0).rand(12, 4, 4, 2).astype("f")
    m = Gan()
    m.compile(
        k.optimizers.Adam(0.01, beta_1=0.5),
        k.optimizers.Adam(0.01, beta_1=0.5),
        k.losses.BinaryCrossentropy(from_logits=True),
    )
    h = m.fit(real, batch_size=6, epochs=3, shuffle=False, verbose=0).history
    return h, g(tf.ones((1, 4)))
