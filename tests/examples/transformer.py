"""A small causal transformer over bytes, in training.

    python tests/examples/transformer.py

Blocks that are normalised first: attention of several heads, then two dense layers with a gelu
between them. Trained by Adam on the cross-entropy of each next byte, of random text.
"""

import numpy as np

import gravure.tf as tf

RATE, KEEP, KEEP_SQUARES, SMALL = 1e-3, 0.9, 0.999, 1e-8
WORDS = 256


class Dense:
    """A dense layer."""

    def __init__(self, model, inputs, outputs):
        self.weights = model.variable(0.02 * model.random.normal(size=(inputs, outputs)))
        self.bias = model.variable(np.zeros(outputs))

    def __call__(self, x):
        return tf.matmul(x, self.weights) + self.bias


class Norm:
    """Rows of mean 0 and variance 1, scaled and shifted."""

    def __init__(self, model, width):
        self.scale, self.shift = model.variable(np.ones(width)), model.variable(np.zeros(width))

    def __call__(self, x):
        mean, variance = tf.nn.moments(x, [-1], keepdims=True)
        return (x - mean) * tf.math.rsqrt(variance + 1e-5) * self.scale + self.shift


class Block:
    """Attention, then two dense layers, each added to what it was given."""

    def __init__(self, model, width, heads):
        self.heads = heads
        self.first, self.second = Norm(model, width), Norm(model, width)
        self.three, self.joined = Dense(model, width, 3 * width), Dense(model, width, width)
        self.wide, self.narrow = Dense(model, width, 4 * width), Dense(model, 4 * width, width)

    def __call__(self, x, mask, shape):
        x = x + self.joined(self.attention(self.three(self.first(x)), mask, shape))
        return x + self.narrow(tf.nn.gelu(self.wide(self.second(x)), approximate=True))

    def attention(self, x, mask, shape):
        """Return for each position the mean of what earlier ones say, weighted by head."""
        count, length, width = shape
        each = width // self.heads
        x = tf.reshape(x, [count, length, 3, self.heads, each])
        query, key, value = tf.unstack(tf.transpose(x, [2, 0, 3, 1, 4]))
        scores = tf.matmul(query, key, transpose_b=True) * each**-0.5 + mask
        seen = tf.matmul(tf.nn.softmax(scores), value)
        return tf.reshape(tf.transpose(seen, [0, 2, 1, 3]), [count * length, width])


class Transformer:
    """The network; `variables` are what it learns."""

    def __init__(self, length=128, width=256, heads=4, blocks=4, seed=0):
        self.random, self.variables = np.random.default_rng(seed), []
        self.words = self.variable(0.02 * self.random.normal(size=(WORDS, width)))
        self.places = self.variable(0.02 * self.random.normal(size=(length, width)))
        self.blocks = [Block(self, width, heads) for _ in range(blocks)]
        self.last, self.head = Norm(self, width), Dense(self, width, WORDS)
        self.mask = np.triu(np.full((length, length), -1e30, np.float32), 1)

    def variable(self, value):
        """Return a new variable of the network."""
        self.variables.append(tf.Variable(np.asarray(value, np.float32)))
        return self.variables[-1]

    def __call__(self, text):
        x = tf.gather(self.words, text) + self.places
        shape, mask = x.shape, tf.constant(self.mask)
        x = tf.reshape(x, [shape[0] * shape[1], shape[2]])
        for block in self.blocks:
            x = block(x, mask, shape)
        return self.head(self.last(x))


def training(model):
    """Return a function that trains a network for one step and returns the loss."""
    zeros = [np.zeros(v.shape, np.float32) for v in model.variables]
    means, squares = [tf.Variable(x) for x in zeros], [tf.Variable(x) for x in zeros]
    time = tf.Variable(0.0)

    @tf.function
    def step(text, following):
        with tf.GradientTape() as tape:
            labels = tf.reshape(following, [-1])
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, model(text))
            loss = tf.reduce_mean(losses)
        gradients = [tf.convert_to_tensor(g) for g in tape.gradient(loss, model.variables)]
        time.assign_add(1.0)
        unbiased, unbiased_squares = 1 - KEEP**time, 1 - KEEP_SQUARES**time
        for row in zip(model.variables, gradients, means, squares, strict=True):
            variable, gradient, mean, square = row
            mean.assign(KEEP * mean + (1 - KEEP) * gradient)
            square.assign(KEEP_SQUARES * square + (1 - KEEP_SQUARES) * gradient * gradient)
            spread = tf.sqrt(square / unbiased_squares) + SMALL
            variable.assign_sub(RATE * (mean / unbiased) / spread)
        return loss

    return step


def batch(size, length=128, seed=0):
    """Return random text and the bytes that follow."""
    text = np.random.default_rng(seed).integers(0, WORDS, (size, length + 1))
    return tf.constant(text[:, :-1], tf.int32), tf.constant(text[:, 1:], tf.int32)


def main(steps=5):
    """Train, and print the losses."""
    step, (text, following) = training(Transformer()), batch(16)
    for number in range(steps):
        print(number, float(step(text, following)))


if __name__ == "__main__":
    main()
