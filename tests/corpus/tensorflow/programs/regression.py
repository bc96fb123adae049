"""Lines, planes and classes fitted to points: the first programs of every tutorial."""

import numpy as np


def line_with_a_tape(tf):
    rng = np.random.RandomState(0)
    x = rng.randn(100).astype(np.float32)
    y = 3.0 * x + 2.0 + 0.1 * rng.randn(100).astype(np.float32)

    class Line(tf.Module):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.w = tf.Variable(5.0)
            self.b = tf.Variable(0.0)

        def __call__(self, x):
            return self.w * x + self.b

    model = Line()
    history = []
    for _ in range(10):
        with tf.GradientTape() as t:
            loss = tf.reduce_mean(tf.square(y - model(x)))
        dw, db = t.gradient(loss, [model.w, model.b])
        model.w.assign_sub(0.1 * dw)
        model.b.assign_sub(0.1 * db)
        history.append(float(loss))
    return {"w": model.w, "b": model.b, "history": history, "names": len(model.variables)}


def polynomial_by_least_squares(tf):
    x = tf.linspace(-1.0, 1.0, 20)
    y = 1.0 - 2.0 * x + 0.5 * x**3
    design = tf.stack([x**k for k in range(4)], axis=1)
    solved = tf.linalg.lstsq(design, y[:, tf.newaxis])
    normal = tf.linalg.solve(
        tf.matmul(design, design, transpose_a=True), tf.matmul(design, y[:, None], transpose_a=True)
    )
    return tf.squeeze(solved), tf.squeeze(normal)


def logistic_regression(tf):
    rng = np.random.RandomState(1)
    x = rng.randn(64, 2).astype(np.float32)
    y = (x[:, 0] + 2 * x[:, 1] > 0.3).astype(np.float32)
    w = tf.Variable(tf.zeros([2, 1]))
    b = tf.Variable(tf.zeros([1]))

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            logits = tf.squeeze(tf.matmul(x, w) + b, axis=1)
            loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logits))
        grads = tape.gradient(loss, [w, b])
        for g, v in zip(grads, [w, b]):
            v.assign_sub(0.5 * g)
        return loss

    losses = [train_step(x, y) for _ in range(20)]
    predicted = tf.cast(tf.sigmoid(tf.matmul(x, w) + b) > 0.5, tf.float32)[:, 0]
    accuracy = tf.reduce_mean(tf.cast(tf.equal(predicted, y), tf.float32))
    return losses[-1], w, b, accuracy


def softmax_regression_in_batches(tf):
    rng = np.random.RandomState(2)
    centres = 3 * rng.randn(3, 4).astype(np.float32)
    labels = rng.randint(0, 3, 90)
    x = centres[labels] + rng.randn(90, 4).astype(np.float32)
    data = tf.data.Dataset.from_tensor_slices((x, labels.astype(np.int32))).batch(30).repeat(5)
    w = tf.Variable(tf.zeros([4, 3]), name="w")
    b = tf.Variable(tf.zeros([3]), name="b")

    @tf.function
    def step(images, labels):
        with tf.GradientTape() as tape:
            logits = images @ w + b
            one_hot = tf.one_hot(labels, depth=3)
            loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(one_hot, logits))
        dw, db = tape.gradient(loss, [w, b])
        w.assign_sub(0.1 * dw)
        b.assign_sub(0.1 * db)
        return loss, tf.argmax(logits, axis=-1)

    for images, targets in data:
        loss, found = step(images, targets)
    confusion = tf.math.confusion_matrix(targets, found, num_classes=3)
    return loss, w, confusion


def ridge_and_lasso(tf):
    rng = np.random.RandomState(3)
    x = tf.constant(rng.randn(50, 6), tf.float32)
    true = tf.constant([[1.0], [0.0], [-2.0], [0.0], [0.5], [0.0]])
    y = x @ true
    gram = tf.matmul(x, x, transpose_a=True)
    ridge = tf.linalg.inv(gram + 0.1 * tf.eye(6)) @ tf.transpose(x) @ y

    @tf.function
    def soft_threshold(w, level):
        return tf.sign(w) * tf.maximum(tf.abs(w) - level, 0.0)

    w = tf.zeros([6, 1])
    rate = 1.0 / tf.reduce_max(tf.linalg.eigvalsh(gram))
    for _ in range(30):
        w = soft_threshold(w - rate * (tf.transpose(x) @ (x @ w - y)), rate * 2.0)
    return ridge, w, tf.math.count_nonzero(w)


def linear_classifier_with_hinge(tf):
    rng = np.random.RandomState(4)
    x = rng.randn(60, 2).astype("float32")
    y = np.where(x[:, 0] - x[:, 1] > 0, 1.0, -1.0).astype("float32")
    a = tf.Variable([[0.1], [0.2]])
    b = tf.Variable([[0.0]])
    optimizer = tf.keras.optimizers.SGD(learning_rate=0.05)

    def loss_fn():
        out = x @ a - b
        margin = tf.maximum(0.0, 1.0 - y[:, None] * out)
        return tf.reduce_mean(margin) + 0.01 * tf.nn.l2_loss(a)

    for _ in range(15):
        with tf.GradientTape() as tape:
            loss = loss_fn()
        optimizer.apply_gradients(zip(tape.gradient(loss, [a, b]), [a, b]))
    return a, b, loss_fn()


def poisson_counts_by_newton(tf):
    rng = np.random.RandomState(5)
    x = np.concatenate([np.ones((40, 1)), rng.randn(40, 2)], axis=1)
    y = rng.poisson(np.exp(x @ [0.5, 0.3, -0.4])).astype(np.float64)
    x, y = tf.constant(x), tf.constant(y)
    beta = tf.Variable(tf.zeros([3], tf.float64))

    @tf.function
    def newton():
        rate = tf.exp(tf.linalg.matvec(x, beta))
        slope = tf.linalg.matvec(x, y - rate, transpose_a=True)
        curve = tf.einsum("ni,n,nj->ij", x, rate, x)
        beta.assign_add(tf.linalg.solve(curve, slope[:, None])[:, 0])
        return tf.reduce_sum(y * tf.math.log(rate) - rate - tf.math.lgamma(y + 1.0))

    return [newton() for _ in range(6)], beta


def gaussian_process(tf):
    x = np.linspace(0.0, 3.0, 8)[:, None]
    y = np.sin(2 * x)
    new = np.linspace(0.2, 2.8, 5)[:, None]

    def kernel(a, b, length=0.7):
        distance = tf.reduce_sum((a[:, None, :] - b[None, :, :]) ** 2, axis=-1)
        return tf.exp(-0.5 * distance / length**2)

    @tf.function
    def posterior(x, y, new):
        lower = tf.linalg.cholesky(kernel(x, x) + 1e-4 * tf.eye(tf.shape(x)[0], dtype=x.dtype))
        alpha = tf.linalg.cholesky_solve(lower, y)
        cross = kernel(x, new)
        mean = tf.matmul(cross, alpha, transpose_a=True)
        v = tf.linalg.triangular_solve(lower, cross, lower=True)
        variance = tf.linalg.diag_part(kernel(new, new)) - tf.reduce_sum(v**2, axis=0)
        return mean, variance, tf.reduce_sum(tf.math.log(tf.linalg.diag_part(lower)))

    return posterior(tf.constant(x), tf.constant(y), tf.constant(new))


def quantile_regression(tf):
    rng = np.random.RandomState(6)
    x = tf.constant(rng.rand(80, 1).astype(np.float32))
    y = 2.0 * x + tf.constant(rng.rand(80, 1).astype(np.float32))
    quantiles = tf.constant([0.1, 0.5, 0.9])
    w = tf.Variable(tf.zeros([1, 3]))
    b = tf.Variable(tf.zeros([3]))

    @tf.function(reduce_retracing=True)
    def fit(steps):
        loss = tf.constant(0.0)
        for _ in tf.range(steps):
            with tf.GradientTape() as tape:
                error = y - (tf.matmul(x, w) + b)
                loss = tf.reduce_mean(tf.maximum(quantiles * error, (quantiles - 1.0) * error))
            gw, gb = tape.gradient(loss, (w, b))
            w.assign_sub(0.5 * gw)
            b.assign_sub(0.5 * gb)
        return loss

    return fit(tf.constant(25)), w, b


def isotonic_and_moving_averages(tf):
    y = tf.constant([1.0, 3.0, 2.0, 4.0, 3.5, 6.0, 5.0])
    kernel = tf.fill([3, 1, 1], 1.0 / 3.0)
    smooth = tf.nn.conv1d(y[None, :, None], kernel, stride=1, padding="SAME")

    @tf.function
    def pool(y):
        blocks = tf.identity(y)
        for _ in tf.range(tf.size(y)):
            worse = tf.concat([[False], blocks[1:] < blocks[:-1]], 0)
            before = tf.roll(blocks, 1, axis=0)
            half = tf.where(worse, (blocks + before) / 2.0, blocks)
            blocks = tf.where(tf.roll(worse, -1, 0), (blocks + tf.roll(blocks, -1, 0)) / 2.0, half)
        return blocks

    cumulative = tf.math.cumulative_logsumexp(y)
    return tf.reshape(smooth, [-1]), pool(y), cumulative
