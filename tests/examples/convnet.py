"""A small network of convolutions for images of digits, in training.

    python tests/examples/convnet.py

Two convolutions, the largest of each four pixels, two dense layers; trained by gradient descent
on cross-entropy, on random images [N, 28, 28, 1].
"""

import numpy as np

import gravure.tf as tf

RATE = 0.002


class ConvNet:
    """The network; `variables` are what it learns. `width` and `hidden` make smaller ones."""

    def __init__(self, pixels=28, width=32, hidden=128, classes=10, seed=0):
        random = np.random.default_rng(seed)
        left = (pixels - 4) // 2
        shapes = [(3, 3, 1, width), (3, 3, width, 2 * width)]
        shapes += [(left * left * 2 * width, hidden), (hidden, classes)]
        self.variables = []
        for shape in shapes:
            spread = np.sqrt(2 / np.prod(shape[:-1]))
            weights = random.normal(0, spread, shape).astype(np.float32)
            biases = np.zeros(shape[-1], np.float32)
            self.variables += [tf.Variable(weights), tf.Variable(biases)]

    def __call__(self, images):
        first, a, second, b, hidden, c, last, d = self.variables
        x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(images, first, 1, "VALID"), a))
        x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, second, 1, "VALID"), b))
        x = tf.nn.max_pool2d(x, 2, 2, "VALID")
        x = tf.nn.relu(tf.matmul(tf.reshape(x, [x.shape[0], -1]), hidden) + c)
        return tf.matmul(x, last) + d


def training(model):
    """Return a function that trains a network for one step and returns the loss."""

    @tf.function
    def step(images, labels):
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, model(images))
            loss = tf.reduce_mean(losses)
        gradients = tape.gradient(loss, model.variables)
        for variable, gradient in zip(model.variables, gradients, strict=True):
            variable.assign_sub(RATE * gradient)
        return loss

    return step


def batch(size, pixels=28, classes=10, seed=0):
    """Return random images and labels."""
    random = np.random.default_rng(seed)
    images = random.random((size, pixels, pixels, 1), np.float32)
    return tf.constant(images), tf.constant(random.integers(0, classes, size), tf.int32)


def main(steps=5):
    """Train, and print the losses."""
    step, (images, labels) = training(ConvNet()), batch(64)
    for number in range(steps):
        print(number, float(step(images, labels)))


if __name__ == "__main__":
    main()
