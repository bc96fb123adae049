"""Models of Keras with steps, layers, metrics and callbacks of the programs' own."""

import numpy as np


def _data(n=24, d=4, seed=0):
    rs = np.random.RandomState(seed)
    x = rs.randn(n, d).astype("f4")
    y = (x[:, :1] * 2 - x[:, 1:2] + 0.1 * rs.randn(n, 1)).astype("f4")
    return x, y


def custom_metrics_and_callbacks(tf):
    class Within(tf.keras.metrics.Metric):
        def __init__(self, tol=0.5, name="within", **kw):
            super().__init__(name=name, **kw)
            self.tol = tol
            self.hits = self.add_weight(name="h", initializer="zeros")
            self.n = self.add_weight(name="n", initializer="zeros")

        def update_state(self, y, p, sample_weight=None):
            self.hits.assign_add(tf.reduce_sum(tf.cast(tf.abs(y - p) < self.tol, tf.float32)))
            self.n.assign_add(tf.cast(tf.size(y), tf.float32))

        def result(self):
            return self.hits / self.n

    class Log(tf.keras.callbacks.Callback):
        def __init__(self):
            super().__init__()
            self.seen = []

        def on_epoch_end(self, epoch, logs=None):
            self.seen.append((epoch, sorted(logs)))
            if epoch == 2:
                self.model.stop_training = True

        def on_train_batch_end(self, batch, logs=None):
            self.seen.append(batch)

    x, y = _data()
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="zeros")])
    model.compile(
        tf.keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True),
        loss=lambda a, b: tf.reduce_mean(tf.square(a - b), -1),
        metrics=[Within()],
    )
    log = Log()
    lr = tf.keras.callbacks.LearningRateScheduler(lambda e, r: r * 0.8)
    h = model.fit(
        x,
        y,
        epochs=5,
        batch_size=8,
        verbose=0,
        shuffle=False,
        callbacks=[
            log,
            lr,
            tf.keras.callbacks.EarlyStopping("loss", patience=1),
            tf.keras.callbacks.ReduceLROnPlateau("loss"),
        ],
        validation_split=0.25,
    )
    return log.seen, sorted(h.history), h.history["loss"], h.history["val_within"]


def train_step_overridden(tf):
    class M(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.d = tf.keras.layers.Dense(1, kernel_initializer="zeros")
            self.tracker = tf.keras.metrics.Mean(name="loss")

        def call(self, x):
            return self.d(x)

        @property
        def metrics(self):
            return [self.tracker]

        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(self(x, training=True) - y))
            g = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip(g, self.trainable_variables))
            self.tracker.update_state(loss)
            return {m.name: m.result() for m in self.metrics}

        def test_step(self, data):
            x, y = data
            self.tracker.update_state(tf.reduce_mean(tf.abs(self(x, training=False) - y)))
            return {"loss": self.tracker.result()}

    m = M()
    m.compile(optimizer="rmsprop")
    x, y = _data()
    h = m.fit(x, y, epochs=3, batch_size=8, verbose=0, shuffle=False)
    return h.history, m.evaluate(x, y, verbose=0)


def keras_gan(tf):
    g = tf.keras.Sequential(
        [
            tf.keras.Input((2,)),
            tf.keras.layers.Dense(4, kernel_initializer="ones"),
            tf.keras.layers.LeakyReLU(),
            tf.keras.layers.Dense(2, kernel_initializer=tf.keras.initializers.Constant(0.2)),
        ]
    )
    d = tf.keras.Sequential(
        [
            tf.keras.Input((2,)),
            tf.keras.layers.Dense(4, kernel_initializer=tf.keras.initializers.Constant(0.3)),
            tf.keras.layers.LeakyReLU(0.1),
            tf.keras.layers.Dense(1, kernel_initializer="ones"),
        ]
    )
    go, do = tf.keras.optimizers.Adam(1e-2, beta_1=0.5), tf.keras.optimizers.Adam(1e-2)
    bce = tf.keras.losses.BinaryCrossentropy(from_logits=True, label_smoothing=0.1)
    rs = np.random.RandomState(3)

    @tf.function
    def step(real, z):
        with tf.GradientTape() as gt, tf.GradientTape() as dt:
            fake = g(z, training=True)
            r, f = d(real, training=True), d(fake, training=True)
            gl = bce(tf.ones_like(f), f)
            dl = bce(tf.ones_like(r), r) + bce(tf.zeros_like(f), f)
        go.apply_gradients(zip(gt.gradient(gl, g.trainable_variables), g.trainable_variables))
        do.apply_gradients(zip(dt.gradient(dl, d.trainable_variables), d.trainable_variables))
        return gl, dl

    return [
        step(tf.constant(rs.randn(6, 2), tf.float32), tf.constant(rs.randn(6, 2), tf.float32))
        for _ in range(4)
    ]


def maml(tf):
    w = tf.Variable([[0.5], [-0.3]])
    b = tf.Variable([0.1])
    opt = tf.keras.optimizers.SGD(0.1)
    x = tf.constant(np.random.RandomState(0).randn(3, 5, 2), tf.float32)
    y = tf.reduce_sum(x * [1.0, 2.0], -1, keepdims=True) * tf.reshape([1.0, 0.5, -1.0], (3, 1, 1))

    def forward(x, w, b):
        return tf.tanh(x @ w + b)

    @tf.function
    def meta():
        with tf.GradientTape() as outer:
            total = 0.0
            for i in range(3):
                with tf.GradientTape() as inner:
                    inner.watch([w, b])
                    loss = tf.reduce_mean((forward(x[i], w, b) - y[i]) ** 2)
                gw, gb = inner.gradient(loss, [w, b])
                total += tf.reduce_mean((forward(x[i], w - 0.1 * gw, b - 0.1 * gb) - y[i]) ** 2)
        g = outer.gradient(total, [w, b])
        opt.apply_gradients(zip(g, [w, b]))
        return total, g

    return [meta() for _ in range(3)], w, b


def bidirectional_masked_gru(tf):
    c = tf.keras.initializers.Constant
    inp = tf.keras.Input((None,), dtype="int32")
    h = tf.keras.layers.Embedding(8, 3, mask_zero=True, embeddings_initializer=c(0.3))(inp)
    h, f, b = tf.keras.layers.Bidirectional(
        tf.keras.layers.GRU(
            2,
            return_sequences=True,
            return_state=True,
            kernel_initializer=c(0.3),
            recurrent_initializer=c(0.2),
        )
    )(h)
    o = tf.keras.layers.TimeDistributed(tf.keras.layers.Dense(2, kernel_initializer="ones"))(h)
    m = tf.keras.Model(inp, [o, f, b])
    x = np.array([[1, 2, 3, 0, 0], [4, 5, 0, 0, 0], [1, 1, 1, 1, 1]])
    return m.predict(x, verbose=0), m(x)


def seq2seq_attention_keras(tf):
    c = tf.keras.initializers.Constant

    class Bahdanau(tf.keras.layers.Layer):
        def __init__(self, u):
            super().__init__()
            self.W1, self.W2, self.V = (
                tf.keras.layers.Dense(k, kernel_initializer=c(0.2)) for k in (u, u, 1)
            )

        def call(self, query, values):
            s = self.V(tf.nn.tanh(self.W1(tf.expand_dims(query, 1)) + self.W2(values)))
            a = tf.nn.softmax(s, axis=1)
            return tf.reduce_sum(a * values, axis=1), a

    emb = tf.keras.layers.Embedding(
        7, 4, embeddings_initializer=tf.keras.initializers.RandomUniform(seed=3)
    )
    emb.build((None,))
    emb.set_weights([np.random.RandomState(0).rand(7, 4)])
    enc = tf.keras.layers.GRU(
        3,
        return_sequences=True,
        return_state=True,
        kernel_initializer=c(0.2),
        recurrent_initializer=c(0.1),
    )
    dec = tf.keras.layers.GRU(
        3,
        return_sequences=True,
        return_state=True,
        kernel_initializer=c(0.2),
        recurrent_initializer=c(0.1),
    )
    att, fc = Bahdanau(3), tf.keras.layers.Dense(7, kernel_initializer=c(0.1))
    loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")
    opt = tf.keras.optimizers.Adam()

    def loss_function(real, pred):
        mask = tf.math.logical_not(tf.math.equal(real, 0))
        loss = loss_object(real, pred)
        return tf.reduce_mean(loss * tf.cast(mask, loss.dtype))

    @tf.function
    def step(inp, targ):
        loss = 0.0
        with tf.GradientTape() as tape:
            out, state = enc(emb(inp))
            x = tf.expand_dims([1] * 2, 1)
            for t in range(1, targ.shape[1]):
                ctx, _ = att(state, out)
                e = tf.concat([tf.expand_dims(ctx, 1), emb(x)], -1)
                o, state = dec(e, initial_state=state)
                loss += loss_function(targ[:, t], fc(tf.reshape(o, (-1, 3))))
                x = tf.expand_dims(targ[:, t], 1)
        vs = (
            emb.trainable_variables
            + enc.trainable_variables
            + dec.trainable_variables
            + att.trainable_variables
            + fc.trainable_variables
        )
        opt.apply_gradients(zip(tape.gradient(loss, vs), vs))
        return loss / int(targ.shape[1])

    i = tf.constant([[1, 3, 4, 2], [1, 5, 2, 0]])
    t = tf.constant([[1, 4, 3, 2], [1, 6, 2, 0]])
    return [step(i, t) for _ in range(3)]


def gradient_accumulation(tf):
    o = tf.keras.optimizers.SGD(0.1, gradient_accumulation_steps=2)
    w = tf.Variable([1.0, 2.0])
    seen = []
    for i in range(5):
        o.apply_gradients([(tf.constant([1.0, i]), w)])
        seen.append(tf.identity(w))
    acc = [tf.Variable(tf.zeros_like(w), trainable=False)]

    @tf.function
    def add(x):
        with tf.GradientTape() as t:
            loss = tf.reduce_sum(w * w * x)
        for a, g in zip(acc, t.gradient(loss, [w])):
            a.assign_add(g)

    add(tf.constant(1.0))
    add(tf.constant(2.0))
    return seen, acc[0]


def keras_transformer_block(tf):
    c = tf.keras.initializers.Constant

    class PosEmb(tf.keras.layers.Layer):
        def __init__(self, n, v, d):
            super().__init__()
            self.t = tf.keras.layers.Embedding(v, d, embeddings_initializer=c(0.1))
            self.p = tf.keras.layers.Embedding(
                n, d, embeddings_initializer=tf.keras.initializers.Identity()
            )

        def call(self, x):
            n = tf.shape(x)[-1]
            return self.t(x) + self.p(tf.range(start=0, limit=n, delta=1))

    inp = tf.keras.Input((6,))
    h = PosEmb(6, 9, 4)(inp)
    a = tf.keras.layers.MultiHeadAttention(2, 2, kernel_initializer=c(0.2))(
        h, h, use_causal_mask=True
    )
    h = tf.keras.layers.LayerNormalization(epsilon=1e-6)(h + a)
    f = tf.keras.layers.Dense(4, activation="gelu", kernel_initializer=c(0.1))(h)
    h = tf.keras.layers.LayerNormalization()(h + f)
    o = tf.keras.layers.Dense(2, activation="softmax")(tf.keras.layers.GlobalMaxPooling1D()(h))
    m = tf.keras.Model(inp, o)
    m.layers[-1].set_weights([np.arange(8.0).reshape(4, 2) * 0.1, np.zeros(2)])
    m.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    x = np.arange(48).reshape(8, 6) % 9
    y = np.arange(8) % 2
    return m.fit(x, y, epochs=2, shuffle=False, verbose=0).history, m.predict(x, verbose=0)
