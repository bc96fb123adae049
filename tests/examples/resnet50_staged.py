"""ResNet-50 in training: residual blocks of convolutions, each normalised over its batch.

    python tests/examples/resnet50_eager.py
    python tests/examples/resnet50_staged.py      the same, but for the line that stages it

The network of He, Zhang, Ren and Sun (2015) for images [N, H, W, 3]; blocks that halve the image
do so in their first convolution. Trained by gradient descent on cross-entropy.
"""

import numpy as np

import gravure.tf as tf

STAGES = ((3, 64), (4, 128), (6, 256), (3, 512))
"""How many blocks, and the channels inside of each."""
RATE = 0.01


class Convolution:
    """A convolution, normalised over the batch, scaled and shifted."""

    def __init__(self, model, window, inputs, outputs, stride=1):
        spread = np.sqrt(2 / (window * window * inputs))
        weights = model.random.normal(0, spread, (window, window, inputs, outputs))
        self.weights = model.variable(weights)
        self.scale, self.shift = model.variable(np.ones(outputs)), model.variable(np.zeros(outputs))
        self.stride = stride
        model.channels += outputs

    def __call__(self, x):
        x = tf.nn.conv2d(x, self.weights, self.stride, "SAME")
        mean, variance = tf.nn.moments(x, [0, 1, 2])
        return tf.nn.batch_normalization(x, mean, variance, self.shift, self.scale, 1e-5)


class Block:
    """Three convolutions, added to what they were given."""

    def __init__(self, model, inputs, channels, stride):
        outputs = 4 * channels
        self.first = Convolution(model, 1, inputs, channels, stride)
        self.second = Convolution(model, 3, channels, channels)
        self.third = Convolution(model, 1, channels, outputs)
        changes = stride != 1 or inputs != outputs
        self.short = Convolution(model, 1, inputs, outputs, stride) if changes else None

    def __call__(self, x):
        kept = x if self.short is None else self.short(x)
        x = tf.nn.relu(self.first(x))
        x = tf.nn.relu(self.second(x))
        return tf.nn.relu(self.third(x) + kept)


class ResNet:
    """The network; `variables` are what it learns. `stages` and `width` make smaller ones."""

    def __init__(self, classes=1000, stages=STAGES, width=64, seed=0):
        self.random, self.variables = np.random.default_rng(seed), []
        self.channels = 0
        self.first = Convolution(self, 7, 3, width, 2)
        self.blocks, inputs = [], width
        for number, (count, channels) in enumerate(stages):
            for place in range(count):
                stride = 2 if place == 0 and number > 0 else 1
                self.blocks.append(Block(self, inputs, channels, stride))
                inputs = 4 * channels
        self.weights = self.variable(self.random.normal(0, 0.01, (inputs, classes)))
        self.bias = self.variable(np.zeros(classes))

    @property
    def size(self):
        """Return how many numbers it learns, and how many it has where, as in Keras, convolutions
        have biases (which normalising takes out again) and means and variances are kept."""
        learned = sum(int(np.prod(variable.shape)) for variable in self.variables)
        return learned, learned + 3 * self.channels

    def variable(self, value):
        """Return a new variable of the network."""
        self.variables.append(tf.Variable(np.asarray(value, np.float32)))
        return self.variables[-1]

    def __call__(self, images):
        x = tf.nn.relu(self.first(images))
        x = tf.nn.max_pool2d(x, 3, 2, "SAME")
        for block in self.blocks:
            x = block(x)
        return tf.matmul(tf.reduce_mean(x, [1, 2]), self.weights) + self.bias


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


def batch(size, pixels=224, classes=1000, seed=0):
    """Return random images and labels."""
    random = np.random.default_rng(seed)
    images = random.random((size, pixels, pixels, 3), np.float32)
    return tf.constant(images), tf.constant(random.integers(0, classes, size), tf.int32)


def main(steps=3):
    """Train, and print the losses."""
    model = ResNet()
    print("{} parameters are learned, of {} as published".format(*model.size))
    step, (images, labels) = training(model), batch(4)
    for number in range(steps):
        print(number, float(step(images, labels)))


if __name__ == "__main__":
    main()
