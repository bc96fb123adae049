"""Models that make new data, and what is done with pictures by gradients."""

import numpy as np


def variational_autoencoder(tf):
    tf.random.set_seed(11)
    rng = np.random.RandomState(0)
    x = (rng.rand(16, 12) > 0.5).astype(np.float32)
    init = lambda *s: tf.Variable(tf.random.stateless_normal(s, seed=[len(s), s[0]]) * 0.2)  # noqa
    w_mean, w_log, w_out = init(12, 2), init(12, 2), init(2, 12)
    variables = [w_mean, w_log, w_out]

    def log_normal_pdf(sample, mean, logvar, raxis=1):
        log2pi = tf.math.log(2.0 * np.pi)
        return tf.reduce_sum(
            -0.5 * ((sample - mean) ** 2.0 * tf.exp(-logvar) + logvar + log2pi), axis=raxis
        )

    @tf.function
    def step(x, seed):
        with tf.GradientTape() as tape:
            mean, logvar = x @ w_mean, x @ w_log
            eps = tf.random.stateless_normal(tf.shape(mean), seed=seed)
            z = eps * tf.exp(logvar * 0.5) + mean
            logits = z @ w_out
            cross = tf.nn.sigmoid_cross_entropy_with_logits(logits=logits, labels=x)
            logpx_z = -tf.reduce_sum(cross, axis=1)
            logpz = log_normal_pdf(z, 0.0, 0.0)
            logqz_x = log_normal_pdf(z, mean, logvar)
            loss = -tf.reduce_mean(logpx_z + logpz - logqz_x)
        for v, g in zip(variables, tape.gradient(loss, variables)):
            v.assign_sub(0.05 * g)
        return loss

    return [step(x, tf.constant([i, 7])) for i in range(8)], w_out


def adversarial_pair(tf):
    rng = np.random.RandomState(1)
    real = (rng.randn(32, 2) * 0.3 + [1.0, -1.0]).astype(np.float32)
    noise = rng.randn(6, 32, 3).astype(np.float32)
    g_w = tf.Variable((0.5 * rng.randn(3, 2)).astype(np.float32))
    g_b = tf.Variable(tf.zeros([2]))
    d_w = tf.Variable((0.5 * rng.randn(2, 1)).astype(np.float32))
    d_b = tf.Variable(tf.zeros([1]))

    def generator(z):
        return tf.tanh(z @ g_w) * 2.0 + g_b

    def discriminator(x):
        return x @ d_w + d_b

    def cross_entropy(labels, logits):
        return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits))

    @tf.function
    def train_step(images, noise):
        with tf.GradientTape() as gen_tape, tf.GradientTape() as disc_tape:
            fake = generator(noise)
            real_output, fake_output = discriminator(images), discriminator(fake)
            gen_loss = cross_entropy(tf.ones_like(fake_output), fake_output)
            disc_loss = cross_entropy(tf.ones_like(real_output), real_output)
            disc_loss += cross_entropy(tf.zeros_like(fake_output), fake_output)
        g_grads = gen_tape.gradient(gen_loss, [g_w, g_b])
        d_grads = disc_tape.gradient(disc_loss, [d_w, d_b])
        for v, g in zip([g_w, g_b, d_w, d_b], g_grads + d_grads):
            v.assign_sub(0.1 * g)
        return gen_loss, disc_loss

    losses = [train_step(real, z) for z in noise]
    return losses, g_w, d_w


def wasserstein_with_gradient_penalty(tf):
    rng = np.random.RandomState(2)
    real = tf.constant(rng.randn(10, 2), tf.float32)
    fake = tf.constant(rng.randn(10, 2) + 2, tf.float32)
    w1 = tf.Variable(rng.randn(2, 6).astype(np.float32))
    w2 = tf.Variable(rng.randn(6, 1).astype(np.float32))
    mix = tf.constant(rng.rand(10, 1), tf.float32)

    def critic(x):
        return tf.nn.softplus(x @ w1) @ w2

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            between = mix * real + (1 - mix) * fake
            with tf.GradientTape() as inner:
                inner.watch(between)
                scores = critic(between)
            slopes = inner.gradient(scores, between)
            norm = tf.sqrt(tf.reduce_sum(slopes**2, axis=1))
            penalty = tf.reduce_mean((norm - 1.0) ** 2)
            loss = tf.reduce_mean(critic(fake)) - tf.reduce_mean(critic(real)) + 10.0 * penalty
        for v, g in zip((w1, w2), tape.gradient(loss, (w1, w2))):
            v.assign_sub(0.01 * g)
        return loss, penalty

    return [step() for _ in range(5)], w2


def style_by_gram_matrices(tf):
    rng = np.random.RandomState(3)
    filters = tf.constant(rng.randn(3, 3, 3, 5) * 0.2, tf.float32)
    style = tf.constant(rng.rand(1, 10, 10, 3), tf.float32)
    content = tf.constant(rng.rand(1, 8, 8, 3), tf.float32)

    def gram_matrix(features):
        result = tf.linalg.einsum("bijc,bijd->bcd", features, features)
        shape = tf.shape(features)
        return result / tf.cast(shape[1] * shape[2], tf.float32)

    def features(image):
        return tf.nn.relu(tf.nn.conv2d(image, filters, 1, "SAME"))

    target, wanted = gram_matrix(features(style)), features(content)
    image = tf.Variable(content)

    @tf.function()
    def train_step(image):
        with tf.GradientTape() as tape:
            found = features(image)
            loss = 10.0 * tf.add_n([tf.reduce_mean((gram_matrix(found) - target) ** 2)])
            loss += tf.reduce_mean((found - wanted) ** 2)
            loss += 1e-3 * tf.image.total_variation(image)[0]
        grad = tape.gradient(loss, image)
        image.assign(tf.clip_by_value(image - 0.1 * grad, 0.0, 1.0))
        return loss

    return [train_step(image) for _ in range(6)], image[0, 0]


def dream_of_octaves(tf):
    rng = np.random.RandomState(4)
    kernel = tf.constant(rng.randn(3, 3, 1, 4) * 0.3, tf.float32)
    image = tf.constant(rng.rand(8, 8, 1), tf.float32)

    @tf.function(
        input_signature=(
            tf.TensorSpec(shape=[None, None, 1], dtype=tf.float32),
            tf.TensorSpec(shape=[], dtype=tf.int32),
            tf.TensorSpec(shape=[], dtype=tf.float32),
        )
    )
    def ascend(img, steps, step_size):
        loss = tf.constant(0.0)
        for n in tf.range(steps):
            with tf.GradientTape() as tape:
                tape.watch(img)
                found = tf.nn.conv2d(tf.expand_dims(img, axis=0), kernel, 1, "VALID")
                loss = tf.math.reduce_mean(found)
            gradients = tape.gradient(loss, img)
            gradients /= tf.math.reduce_std(gradients) + 1e-8
            img = img + gradients * step_size
            img = tf.clip_by_value(img, -1, 1)
        return loss, img

    base = tf.shape(image)[:-1]
    for octave in range(-1, 1):
        size = tf.cast(tf.cast(base, tf.float32) * 1.3**octave, tf.int32)
        image = tf.image.resize(image, size)
        loss, image = ascend(image, 3, 0.02)
    return loss, image[:, 2, 0]


def saliency_and_adversarial_example(tf):
    rng = np.random.RandomState(5)
    w = tf.constant(rng.randn(16, 3), tf.float32)
    image = tf.constant(rng.rand(1, 4, 4, 1), tf.float32)
    label = tf.one_hot([1], 3)

    @tf.function
    def pattern(image, label):
        with tf.GradientTape() as tape:
            tape.watch(image)
            prediction = tf.nn.softmax(tf.reshape(image, [1, 16]) @ w)
            loss = tf.keras.losses.categorical_crossentropy(label, prediction)
        return tf.sign(tape.gradient(loss, image)), loss

    found, loss = pattern(image, label)
    moved = tf.clip_by_value(image + 0.1 * found, 0, 1)
    return loss, pattern(moved, label)[1], tf.reshape(found, [-1])


def integrated_gradients(tf):
    rng = np.random.RandomState(6)
    w = tf.constant(rng.randn(6, 3), tf.float32)
    x = tf.constant(rng.rand(6), tf.float32)
    baseline = tf.zeros_like(x)
    alphas = tf.linspace(start=0.0, stop=1.0, num=9)

    @tf.function
    def one_batch(alphas, target):
        line = baseline + alphas[:, tf.newaxis] * (x - baseline)
        with tf.GradientTape() as tape:
            tape.watch(line)
            probs = tf.nn.softmax(line @ w, axis=-1)[:, target]
        return tape.gradient(probs, line)

    gradients = tf.concat([one_batch(a, 2) for a in tf.split(alphas, 3)], axis=0)
    average = tf.math.reduce_mean((gradients[:-1] + gradients[1:]) / 2.0, axis=0)
    return (x - baseline) * average


def diffusion_of_points(tf):
    rng = np.random.RandomState(7)
    data = tf.constant(rng.randn(24, 2) * [1.0, 0.2], tf.float32)
    betas = tf.linspace(1e-3, 0.2, 10)
    kept = tf.math.cumprod(1.0 - betas)
    w = tf.Variable((0.3 * rng.randn(3, 2)).astype(np.float32))
    steps = tf.constant(rng.randint(0, 10, (6, 24)))
    noise = tf.constant(rng.randn(6, 24, 2), tf.float32)

    @tf.function
    def train(t, eps):
        a = tf.gather(kept, t)[:, None]
        x_t = tf.sqrt(a) * data + tf.sqrt(1.0 - a) * eps
        with tf.GradientTape() as tape:
            time = tf.cast(t, tf.float32)[:, None] / 10.0
            guess = tf.concat([x_t, time], axis=-1) @ w
            loss = tf.reduce_mean((guess - eps) ** 2)
        w.assign_sub(0.1 * tape.gradient(loss, w))
        return loss

    losses = [train(t, e) for t, e in zip(steps, noise)]

    @tf.function
    def sample(x):
        for t in tf.range(9, -1, -1):
            beta, a = betas[t], kept[t]
            time = tf.fill([tf.shape(x)[0], 1], tf.cast(t, tf.float32) / 10.0)
            guess = tf.concat([x, time], axis=-1) @ w
            x = (x - beta / tf.sqrt(1.0 - a) * guess) / tf.sqrt(1.0 - beta)
        return x

    return losses, sample(noise[0, :3])


def normalising_flow(tf):
    rng = np.random.RandomState(8)
    x = tf.constant(rng.randn(20, 2) * [2.0, 0.5] + 1.0, tf.float32)
    shift, scale = tf.Variable([0.0, 0.0]), tf.Variable([0.0, 0.0])
    coupling = tf.Variable([[0.1, 0.0]])

    @tf.function
    def loss_and_step():
        with tf.GradientTape() as tape:
            z = (x - shift) * tf.exp(-scale)
            first, second = tf.split(z, 2, axis=1)
            s, t = tf.unstack(tf.tanh(first @ coupling), axis=1)
            second = second * tf.exp(s)[:, None] + t[:, None]
            z = tf.concat([first, second], axis=1)
            log_det = s - tf.reduce_sum(scale)
            log_p = -0.5 * tf.reduce_sum(z**2 + np.log(2 * np.pi).astype("f"), axis=1) + log_det
            loss = -tf.reduce_mean(log_p)
        variables = tape.watched_variables()
        for v, g in zip(variables, tape.gradient(loss, variables)):
            v.assign_sub(0.1 * g)
        return loss

    return [loss_and_step() for _ in range(10)], shift, scale, coupling


def restricted_boltzmann_machine(tf):
    rng = np.random.RandomState(9)
    v0 = tf.constant((rng.rand(12, 6) > 0.5).astype(np.float32))
    w = tf.Variable((0.1 * rng.randn(6, 4)).astype(np.float32))
    a, b = tf.Variable(tf.zeros([6])), tf.Variable(tf.zeros([4]))
    uniform = tf.constant(rng.rand(5, 2, 12, 6), tf.float32)

    @tf.function
    def contrastive(v0, u):
        h0 = tf.sigmoid(v0 @ w + b)
        sample = tf.nn.relu(tf.sign(h0 - u[0, :, :4]))
        v1 = tf.sigmoid(tf.matmul(sample, w, transpose_b=True) + a)
        h1 = tf.sigmoid(v1 @ w + b)
        n = tf.cast(tf.shape(v0)[0], tf.float32)
        positive = tf.matmul(v0, h0, transpose_a=True)
        negative = tf.matmul(v1, h1, transpose_a=True)
        w.assign_add(0.1 * (positive - negative) / n)
        a.assign_add(0.1 * tf.reduce_mean(v0 - v1, 0))
        b.assign_add(0.1 * tf.reduce_mean(h0 - h1, 0))
        return tf.sqrt(tf.reduce_mean(tf.square(v0 - v1)))

    return [contrastive(v0, u) for u in uniform], w
