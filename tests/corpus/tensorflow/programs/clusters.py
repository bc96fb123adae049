"""Clusters, neighbours, trees, components and agents."""

import numpy as np


def points(seed, count=40):
    """Return points around three centres."""
    rng = np.random.RandomState(seed)
    centres = np.array([[0.0, 0.0], [4.0, 4.0], [0.0, 5.0]])
    labels = rng.randint(0, 3, count)
    return (centres[labels] + 0.5 * rng.randn(count, 2)).astype(np.float32), labels


def k_means(tf):
    x, _ = points(0)
    centroids = tf.Variable(x[:3])

    @tf.function
    def update(x):
        distances = tf.reduce_sum(tf.square(x[:, None] - centroids[None]), axis=2)
        nearest = tf.argmin(distances, axis=1)
        sums = tf.math.unsorted_segment_sum(x, nearest, 3)
        counts = tf.math.unsorted_segment_sum(tf.ones_like(x[:, :1]), nearest, 3)
        centroids.assign(sums / counts)
        return nearest

    for _ in range(6):
        nearest = update(tf.constant(x))
    return centroids, nearest


def k_means_by_partitions(tf):
    x, _ = points(1)

    @tf.function
    def update(x, centroids):
        d = tf.norm(tf.expand_dims(x, 1) - tf.expand_dims(centroids, 0), axis=-1)
        parts = tf.dynamic_partition(x, tf.argmin(d, 1, output_type=tf.int32), num_partitions=3)
        return tf.concat([tf.reduce_mean(p, 0, keepdims=True) for p in parts], 0)

    centroids = tf.constant(x[5:8])
    for _ in range(5):
        centroids = update(x, centroids)
    return centroids


def nearest_neighbours(tf):
    x, labels = points(2)
    new, wanted = points(3, 10)

    @tf.function
    def predict(query):
        distance = tf.reduce_sum(tf.abs(x - tf.expand_dims(query, 1)), axis=2)
        _, indices = tf.nn.top_k(tf.negative(distance), k=5)
        votes = tf.gather(tf.constant(labels, tf.int32), indices)
        counts = tf.reduce_sum(tf.one_hot(votes, 3, dtype=tf.int32), axis=1)
        return tf.argmax(counts, axis=1)

    found = predict(tf.constant(new))
    return found, tf.reduce_mean(tf.cast(found == wanted, tf.float32))


def gaussian_mixture_by_em(tf):
    x, _ = points(4)
    x = tf.constant(x)

    @tf.function
    def em(x, mu, sigma, pi):
        diff = x[:, None, :] - mu[None]
        inv = tf.linalg.inv(sigma)
        mahalanobis = tf.einsum("nki,kij,nkj->nk", diff, inv, diff)
        log_p = -0.5 * (mahalanobis + tf.linalg.logdet(sigma) + 2 * np.log(2 * np.pi))
        log_r = log_p + tf.math.log(pi)
        log_norm = tf.reduce_logsumexp(log_r, axis=1, keepdims=True)
        r = tf.exp(log_r - log_norm)
        n = tf.reduce_sum(r, axis=0)
        mu = tf.matmul(r, x, transpose_a=True) / n[:, None]
        diff = x[:, None, :] - mu[None]
        sigma = tf.einsum("nk,nki,nkj->kij", r, diff, diff) / n[:, None, None]
        return mu, sigma + 1e-3 * tf.eye(2), n / tf.reduce_sum(n), tf.reduce_mean(log_norm)

    mu = x[:3]
    sigma = tf.tile(tf.eye(2)[None], [3, 1, 1])
    pi = tf.fill([3], 1.0 / 3.0)
    for _ in range(6):
        mu, sigma, pi, likelihood = em(x, mu, sigma, pi)
    return mu, pi, likelihood


def principal_components(tf):
    rng = np.random.RandomState(5)
    x = tf.constant(rng.randn(30, 4) @ np.diag([3.0, 1.0, 0.5, 0.1]), tf.float64)
    x -= tf.reduce_mean(x, axis=0)
    s, u, v = tf.linalg.svd(x, full_matrices=False)
    values, vectors = tf.linalg.eigh(tf.transpose(x) @ x)
    scores = tf.matmul(x, v[:, :2])
    rebuilt = scores @ tf.transpose(v[:, :2])
    error = tf.norm(x - rebuilt) / tf.norm(x)
    return s, tf.sqrt(values), tf.abs(tf.linalg.diag_part(tf.abs(vectors))), error


def matrix_factorisation(tf):
    rng = np.random.RandomState(6)
    users, items = rng.randint(0, 6, 40), rng.randint(0, 5, 40)
    ratings = rng.randint(1, 6, 40).astype(np.float32)
    p = tf.Variable((0.3 * rng.rand(6, 3)).astype(np.float32))
    q = tf.Variable((0.3 * rng.rand(5, 3)).astype(np.float32))
    bias = tf.Variable(tf.zeros([6]))
    optimizer = tf.keras.optimizers.SGD(0.2)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            pu, qi = tf.nn.embedding_lookup(p, users), tf.nn.embedding_lookup(q, items)
            guess = tf.reduce_sum(pu * qi, axis=1) + tf.gather(bias, users)
            loss = tf.reduce_mean((guess - ratings) ** 2) + 0.01 * tf.nn.l2_loss(pu)
        variables = [p, q, bias]
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    return [step() for _ in range(8)], bias


def decision_stumps_boosted(tf):
    x, labels = points(7)
    y = tf.constant(np.where(labels == 1, 1.0, -1.0), tf.float32)
    x = tf.constant(x)

    @tf.function
    def best_stump(x, y, weights):
        thresholds = tf.sort(x, axis=0)
        sides = tf.where(x[:, None, :] > thresholds[None], 1.0, -1.0)
        wrong = tf.cast(sides != y[:, None, None], tf.float32)
        errors = tf.reduce_sum(weights[:, None, None] * wrong, axis=0)
        flat = tf.argmin(tf.reshape(errors, [-1]))
        row, column = tf.unstack(tf.unravel_index(flat, tf.shape(errors, out_type=tf.int64)))
        error = errors[row, column]
        alpha = 0.5 * tf.math.log((1.0 - error + 1e-6) / (error + 1e-6))
        guess = sides[:, row, column]
        new = weights * tf.exp(-alpha * y * guess)
        return alpha, guess, new / tf.reduce_sum(new)

    weights = tf.fill([40], 1.0 / 40)
    score = tf.zeros([40])
    for _ in range(4):
        alpha, guess, weights = best_stump(x, y, weights)
        score += alpha * guess
    return alpha, tf.reduce_mean(tf.cast(tf.sign(score) == y, tf.float32))


def kernel_perceptron(tf):
    x, labels = points(8, 20)
    y = np.where(labels == 2, 1.0, -1.0).astype(np.float32)

    @tf.function
    def fit(x, y):
        gram = tf.exp(-tf.reduce_sum((x[:, None] - x[None]) ** 2, -1))
        alpha = tf.zeros_like(y)
        for epoch in tf.range(3):
            mistakes = 0
            for i in tf.range(tf.shape(x)[0]):
                if y[i] * tf.reduce_sum(alpha * y * gram[:, i]) <= 0:
                    alpha = tf.tensor_scatter_nd_add(alpha, [[i]], [1.0])
                    mistakes += 1
            if mistakes == 0:
                break
        return alpha, mistakes

    return fit(tf.constant(x), tf.constant(y))


def self_organising_map(tf):
    x, _ = points(9, 16)
    grid = tf.constant([[i, j] for i in range(3) for j in range(3)], tf.float32)
    weights = tf.Variable(np.random.RandomState(9).rand(9, 2).astype(np.float32) * 4)

    @tf.function
    def train(sample, t):
        nearest = tf.argmin(tf.reduce_sum((weights - sample) ** 2, axis=1))
        distance = tf.reduce_sum((grid - grid[nearest]) ** 2, axis=1)
        rate = 0.5 * (1.0 - t / 16.0)
        influence = rate * tf.exp(-distance / (2.0 * (1.0 - t / 20.0) ** 2))
        weights.assign_add(influence[:, None] * (sample - weights))

    for t, sample in enumerate(tf.data.Dataset.from_tensor_slices(x)):
        train(sample, tf.constant(t, tf.float32))
    return weights


def table_of_q_values(tf):
    rng = np.random.RandomState(10)
    q = tf.Variable(tf.zeros([6, 2]))

    @tf.function
    def update(state, action, reward, following, done):
        target = reward
        if not done:
            target = reward + 0.9 * tf.reduce_max(q[following])
        q.scatter_nd_add([[state, action]], [0.5 * (target - q[state, action])])

    state = 0
    for _ in range(60):
        action = int(rng.rand() < 0.6) if rng.rand() < 0.5 else int(tf.argmax(q[state]))
        following = min(max(state + (1 if action else -1), 0), 5)
        done = following == 5
        update(
            tf.constant(state),
            tf.constant(action),
            tf.constant(1.0 if done else 0.0),
            tf.constant(following),
            tf.constant(done),
        )
        state = 0 if done else following
    return q


def policy_gradient(tf):
    rng = np.random.RandomState(11)
    w = tf.Variable((0.1 * rng.randn(4, 2)).astype(np.float32))
    states = tf.constant(rng.randn(3, 10, 4), tf.float32)
    uniform = tf.constant(rng.rand(3, 10), tf.float32)

    def expected_return(rewards, gamma, standardize=True):
        n = tf.shape(rewards)[0]
        returns = tf.TensorArray(dtype=tf.float32, size=n)
        rewards = tf.cast(rewards[::-1], dtype=tf.float32)
        discounted_sum = tf.constant(0.0)
        shape = discounted_sum.shape
        for i in tf.range(n):
            discounted_sum = rewards[i] + gamma * discounted_sum
            discounted_sum.set_shape(shape)
            returns = returns.write(i, discounted_sum)
        returns = returns.stack()[::-1]
        if standardize:
            returns = (returns - tf.math.reduce_mean(returns)) / (
                tf.math.reduce_std(returns) + 1e-6
            )
        return returns

    @tf.function
    def train_step(states, uniform):
        with tf.GradientTape() as tape:
            logits = states @ w
            probs = tf.nn.softmax(logits)
            actions = tf.cast(uniform > probs[:, 0], tf.int32)
            picked = tf.gather(probs, actions, axis=1, batch_dims=1)
            rewards = tf.cast(actions, tf.float32) * states[:, 0]
            returns = expected_return(rewards, 0.9)
            loss = -tf.reduce_sum(tf.math.log(picked) * returns)
        w.assign_sub(0.1 * tape.gradient(loss, w))
        return loss, tf.reduce_sum(rewards)

    return [train_step(s, u) for s, u in zip(states, uniform)], w


def bandit_with_confidence_bounds(tf):
    rng = np.random.RandomState(12)
    rewards = tf.constant(rng.rand(25, 4) < [0.2, 0.5, 0.8, 0.4])
    counts, sums = tf.Variable(tf.zeros(4)), tf.Variable(tf.zeros(4))

    @tf.function
    def play(rewards):
        for t in tf.range(len(rewards)):
            bound = sums / tf.maximum(counts, 1.0) + tf.sqrt(
                2.0 * tf.math.log(tf.cast(t + 1, tf.float32)) / tf.maximum(counts, 1e-3)
            )
            arm = tf.argmax(bound, output_type=tf.int32)
            counts.scatter_add(tf.IndexedSlices(tf.constant(1.0), arm))
            sums.scatter_add(tf.IndexedSlices(tf.cast(rewards[t, arm], tf.float32), arm))
        return tf.argmax(counts)

    return play(rewards), counts, sums
