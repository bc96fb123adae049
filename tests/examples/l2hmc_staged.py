"""L2HMC: a sampler with learnt moves, trained on a strongly correlated Gaussian.

    python tests/examples/l2hmc_eager.py
    python tests/examples/l2hmc_staged.py         the same, but for the line that stages it

Hamiltonian Monte Carlo whose leapfrog steps scale, shift and turn position and momentum by what
two small networks say (Levy, Hoffman, Sohl-Dickstein 2018). Each step of training runs ten
leapfrog steps forward and backward in time, for the samples of a chain and for fresh ones.
"""

import math

import numpy as np

import gravure.tf as tf

DIMS, HIDDEN, STEPS = 2, 10, 10
EPSILON, SCALE, RATE = 0.1, 0.1, 1e-2
COVARIANCE = np.array([[50.05, -49.95], [-49.95, 50.05]])


class Network:
    """Scale, translation and transformation of a half step, from position, momentum and time."""

    def __init__(self, random, factor):
        self.inputs = [dense(random, n, HIDDEN, factor / 3) for n in (DIMS, DIMS, 2)]
        self.hidden = dense(random, HIDDEN, HIDDEN, 1.0)
        self.heads = [dense(random, HIDDEN, DIMS, 0.001) for _ in range(3)]
        self.factors = [tf.Variable(np.zeros([1, DIMS], np.float32)) for _ in range(2)]
        layers = [*self.inputs, self.hidden, *self.heads]
        self.variables = [*(v for layer in layers for v in layer), *self.factors]

    def __call__(self, x, v, time):
        parts = zip(self.inputs, (x, v, time), strict=True)
        h = tf.nn.relu(sum(tf.matmul(value, w) + b for (w, b), value in parts))
        h = tf.nn.relu(tf.matmul(h, self.hidden[0]) + self.hidden[1])
        scale, shift, turn = (tf.matmul(h, w) + b for w, b in self.heads)
        scale = tf.tanh(scale) * tf.exp(self.factors[0])
        return scale, shift, tf.tanh(turn) * tf.exp(self.factors[1])


class Dynamics:
    """Proposes new positions; `variables` are what it learns."""

    def __init__(self, seed=0):
        random = np.random.default_rng(seed)
        self.of_position, self.of_momentum = Network(random, 2.0), Network(random, 1.0)
        self.epsilon = tf.Variable(np.float32(EPSILON))
        networks = [*self.of_position.variables, *self.of_momentum.variables]
        self.variables = [*networks, self.epsilon]
        self.precision = tf.constant(np.linalg.inv(COVARIANCE).astype(np.float32))
        order = [random.permutation(DIMS) for _ in range(STEPS)]
        self.masks = [(p < DIMS // 2).astype(np.float32).reshape(1, DIMS) for p in order]
        angles = [2 * math.pi * i / STEPS for i in range(STEPS)]
        self.times = [np.array([[math.cos(a), math.sin(a)]], np.float32) for a in angles]

    def energy(self, x, v):
        """Return the energy of each sample."""
        potential = 0.5 * tf.reduce_sum(tf.matmul(x, self.precision) * x, axis=1)
        return potential + 0.5 * tf.reduce_sum(v * v, axis=1)

    def move_momentum(self, x, v, time, sign):
        """Move the momentum by half a step; return the logarithm of how volume changes too."""
        force, e = tf.matmul(x, self.precision), self.epsilon
        scale, shift, turn = self.of_momentum(x, force, time)
        scale, push = 0.5 * sign * e * scale, 0.5 * e * (tf.exp(e * turn) * force + shift)
        grown = tf.exp(scale)
        v = v * grown - push if sign > 0 else grown * (v + push)
        return v, tf.reduce_sum(scale, axis=1)

    def move_position(self, x, v, time, sign, mask):
        """Move the positions that the mask does not hold."""
        e = self.epsilon
        scale, shift, turn = self.of_position(mask * x, v, time)
        scale, push = sign * e * scale, e * (tf.exp(e * turn) * v + shift)
        grown = tf.exp(scale)
        moved = x * grown + push if sign > 0 else grown * (x - push)
        return mask * x + (1 - mask) * moved, tf.reduce_sum((1 - mask) * scale, axis=1)

    def trajectory(self, x, v, sign):
        """Run all leapfrog steps; return position, momentum and the chance to accept them."""
        start, volume = self.energy(x, v), 0.0
        for i in range(STEPS) if sign > 0 else reversed(range(STEPS)):
            mask, time = self.masks[i], self.times[i]
            v, a = self.move_momentum(x, v, time, sign)
            x, b = self.move_position(x, v, time, sign, mask if sign > 0 else 1 - mask)
            x, c = self.move_position(x, v, time, sign, 1 - mask if sign > 0 else mask)
            v, d = self.move_momentum(x, v, time, sign)
            volume = volume + a + b + c + d
        chance = tf.exp(tf.minimum(start - self.energy(x, v) + volume, 0.0))
        return x, tf.where(tf.math.is_finite(chance), chance, tf.zeros_like(chance))

    def propose(self, x):
        """Return proposals, the chance to accept each, and the samples after that."""
        forward, p = self.trajectory(x, tf.random.normal(tf.shape(x)), 1)
        backward, q = self.trajectory(x, tf.random.normal(tf.shape(x)), -1)
        ahead = tf.cast(tf.random.uniform(tf.shape(p)) > 0.5, tf.float32)
        proposal = ahead[:, None] * forward + (1 - ahead[:, None]) * backward
        chance = ahead * p + (1 - ahead) * q
        taken = tf.cast(chance > tf.random.uniform(tf.shape(chance)), tf.float32)[:, None]
        return proposal, chance, taken * proposal + (1 - taken) * x

    def loss(self, x):
        """Return the loss, and the samples that the chain goes on with."""
        proposal, chance, after = self.propose(x)
        fresh = tf.random.normal(tf.shape(x))
        other, likely, _ = self.propose(fresh)
        total = jump(x, proposal, chance) + jump(fresh, other, likely)
        return total, after


def dense(random, inputs, outputs, factor):
    """Return the weights and the bias of a layer."""
    weights = random.normal(0, math.sqrt(2 * factor / inputs), (inputs, outputs))
    return tf.Variable(weights.astype(np.float32)), tf.Variable(np.zeros(outputs, np.float32))


def jump(x, proposal, chance):
    """Return the loss of jumps: small where they are expected to be long."""
    distance = tf.reduce_sum(tf.square(x - proposal), axis=1) * chance + 1e-4
    return tf.reduce_mean(SCALE / distance - distance / SCALE)


def training(samples=200, seed=0):
    """Return a function that trains for one step, and the dynamics that it trains."""
    dynamics = Dynamics(seed)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss, after = dynamics.loss(x)
        gradients, _ = tf.clip_by_global_norm(tape.gradient(loss, dynamics.variables), 1.0)
        for variable, gradient in zip(dynamics.variables, gradients, strict=True):
            variable.assign_sub(RATE * gradient)
        return loss, tf.stop_gradient(after)

    return step, tf.constant(np.random.default_rng(seed).normal(size=(samples, DIMS)), tf.float32)


def main(steps=5):
    """Train, and print the losses."""
    step, x = training()
    for number in range(steps):
        loss, x = step(x)
        print(number, float(loss))


if __name__ == "__main__":
    main()
