"""Simulations, fractals, samplers and optimisers that are no neural networks."""

import numpy as np


def mandelbrot_set(tf):
    y, x = np.mgrid[-1.3:1.3:0.2, -2:1:0.25]
    z = tf.constant((x + 1j * y).astype(np.complex64))
    zs = tf.Variable(z)
    ns = tf.Variable(tf.zeros_like(z, tf.float32))

    @tf.function
    def step():
        zs_ = zs * zs + z
        not_diverged = tf.abs(zs_) < 4
        zs.assign(zs_)
        ns.assign_add(tf.cast(not_diverged, tf.float32))

    for _ in range(12):
        step()
    return ns


def julia_set_in_a_loop(tf):
    y, x = np.mgrid[-1:1:9j, -1.5:1.5:11j]
    c = tf.constant(-0.7 + 0.27j, tf.complex64)

    @tf.function
    def iterate(z, most):
        count = tf.zeros(tf.shape(z), tf.int32)
        alive = tf.ones(tf.shape(z), tf.bool)
        i = 0
        while i < most and tf.reduce_any(alive):
            z = tf.where(alive, z * z + c, z)
            alive = tf.abs(z) < 2.0
            count += tf.cast(alive, tf.int32)
            i += 1
        return count, i

    return iterate(tf.constant((x + 1j * y).astype(np.complex64)), tf.constant(20))


def rain_on_a_pond(tf):
    def laplace(x):
        kernel = np.array([[0.5, 1.0, 0.5], [1.0, -6.0, 1.0], [0.5, 1.0, 0.5]], np.float32)
        x = tf.expand_dims(tf.expand_dims(x, 0), -1)
        y = tf.nn.depthwise_conv2d(x, kernel.reshape(3, 3, 1, 1), [1, 1, 1, 1], padding="SAME")
        return y[0, :, :, 0]

    u_init = np.zeros([16, 16], dtype=np.float32)
    u_init[4, 7], u_init[11, 3] = 0.8, 0.5
    u, ut = tf.Variable(u_init), tf.Variable(np.zeros([16, 16], np.float32))

    @tf.function
    def step(eps, damping):
        u_ = u + eps * ut
        ut_ = ut + eps * (laplace(u) - damping * ut)
        u.assign(u_)
        ut.assign(ut_)

    for _ in range(15):
        step(tf.constant(0.03), tf.constant(0.04))
    return u[4], tf.reduce_sum(ut)


def game_of_life(tf):
    board = np.zeros((8, 8), np.int32)
    board[1, 2] = board[2, 3] = board[3, 1] = board[3, 2] = board[3, 3] = 1

    @tf.function
    def generation(board):
        neighbours = tf.zeros_like(board)
        for dx in (-1, 0, 1):
            for dy in (-1, 0, 1):
                if dx != 0 or dy != 0:
                    neighbours += tf.roll(board, shift=[dx, dy], axis=[0, 1])
        born = tf.equal(neighbours, 3)
        stays = tf.logical_and(tf.equal(neighbours, 2), board > 0)
        return tf.cast(born | stays, tf.int32)

    state = tf.constant(board)
    for _ in range(9):
        state = generation(state)
    return state


def heat_until_it_is_even(tf):
    @tf.function
    def solve(u, tolerance):
        change = tf.constant(np.inf, u.dtype)
        steps = 0
        while change > tolerance:
            inner = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
            new = tf.pad(inner, [[1, 1], [1, 1]])
            new = tf.concat([u[:1], new[1:-1], u[-1:]], axis=0)
            change = tf.reduce_max(tf.abs(new - u))
            u = new
            steps += 1
            if steps >= 200:
                break
        return u, steps

    plate = np.zeros((8, 8))
    plate[0] = 1.0
    return solve(tf.constant(plate), tf.constant(1e-3, tf.float64))


def planets_by_leapfrog(tf):
    mass = tf.constant([1.0, 1e-3, 2e-3], tf.float64)
    x = tf.constant([[0.0, 0.0], [1.0, 0.0], [0.0, 1.8]], tf.float64)
    v = tf.constant([[0.0, 0.0], [0.0, 1.0], [-0.7, 0.0]], tf.float64)

    def acceleration(x):
        d = x[None, :, :] - x[:, None, :]
        r2 = tf.reduce_sum(d**2, -1) + tf.eye(3, dtype=tf.float64)
        return tf.einsum("ijk,ij,j->ik", d, r2**-1.5, mass)

    @tf.function
    def simulate(x, v, n, dt):
        energy = tf.TensorArray(tf.float64, n)
        for i in tf.range(n):
            v += 0.5 * dt * acceleration(x)
            x += dt * v
            v += 0.5 * dt * acceleration(x)
            energy = energy.write(i, tf.reduce_sum(0.5 * mass[:, None] * v**2))
        return x, v, energy.stack()

    return simulate(x, v, tf.constant(20), tf.constant(0.05, tf.float64))


def runge_kutta_and_its_sensitivity(tf):
    rate = tf.Variable(1.2)

    def lotka(state):
        prey, predator = tf.unstack(state)
        return tf.stack([rate * prey - prey * predator, prey * predator - predator])

    @tf.function
    def integrate(state, steps, dt):
        for _ in range(steps):
            k1 = lotka(state)
            k2 = lotka(state + dt / 2 * k1)
            k3 = lotka(state + dt / 2 * k2)
            k4 = lotka(state + dt * k3)
            state = state + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return state

    with tf.GradientTape() as tape:
        final = integrate(tf.constant([1.5, 0.5]), 6, 0.1)
    return final, tape.jacobian(final, rate)


def minimum_of_rosenbrock(tf):
    def rosenbrock(p):
        return tf.reduce_sum(100.0 * (p[1:] - p[:-1] ** 2) ** 2 + (1 - p[:-1]) ** 2)

    @tf.function
    def newton(p):
        with tf.GradientTape() as outer:
            outer.watch(p)
            with tf.GradientTape() as inner:
                inner.watch(p)
                value = rosenbrock(p)
            slope = inner.gradient(value, p)
        hessian = outer.jacobian(slope, p)
        return value, p - tf.linalg.solve(hessian, slope[:, tf.newaxis])[:, 0]

    p = tf.constant([-1.2, 1.0], tf.float64)
    values = []
    for _ in range(7):
        value, p = newton(p)
        values.append(value)
    return values[0], p


def conjugate_gradients(tf):
    rng = np.random.RandomState(0)
    m = rng.randn(6, 6)
    a, b = tf.constant(m @ m.T + np.eye(6)), tf.constant(rng.randn(6))

    @tf.function
    def solve(a, b):
        x = tf.zeros_like(b)
        r = b
        p = r
        rr = tf.tensordot(r, r, 1)
        k = 0
        while tf.sqrt(rr) > 1e-8 and k < 50:
            ap = tf.linalg.matvec(a, p)
            alpha = rr / tf.tensordot(p, ap, 1)
            x, r = x + alpha * p, r - alpha * ap
            new = tf.tensordot(r, r, 1)
            p = r + new / rr * p
            rr = new
            k += 1
        return x, k

    x, k = solve(a, b)
    return x, tf.reduce_max(tf.abs(tf.linalg.matvec(a, x) - b)) < 1e-6, k <= 8


def hamiltonian_monte_carlo(tf):
    rng = np.random.RandomState(1)
    covariance = tf.constant([[1.0, 0.6], [0.6, 2.0]])
    precision = tf.linalg.inv(covariance)
    momenta = tf.constant(rng.randn(12, 2), tf.float32)
    uniform = tf.constant(rng.rand(12), tf.float32)

    def energy(q):
        return 0.5 * tf.tensordot(q, tf.linalg.matvec(precision, q), 1)

    def slope(q):
        with tf.GradientTape() as tape:
            tape.watch(q)
            e = energy(q)
        return tape.gradient(e, q)

    @tf.function
    def sample(q, p0, u):
        start, p = q, p0
        p -= 0.1 * slope(q)
        for i in tf.range(5):
            q += 0.2 * p
            if i < 4:
                p -= 0.2 * slope(q)
        p -= 0.1 * slope(q)
        before = energy(start) + 0.5 * tf.reduce_sum(p0**2)
        after = energy(q) + 0.5 * tf.reduce_sum(p**2)
        accept = tf.math.log(u) < before - after
        return tf.cond(accept, lambda: q, lambda: start), accept

    q, accepted = tf.constant([2.0, -2.0]), 0
    for p, u in zip(momenta, uniform):
        q, taken = sample(q, p, u)
        accepted += int(taken)
    return q, accepted


def metropolis_chain_in_while_loop(tf):
    rng = np.random.RandomState(2)
    steps = tf.constant(rng.randn(30), tf.float32)
    uniform = tf.constant(rng.rand(30), tf.float32)

    def log_density(x):
        return tf.reduce_logsumexp([-0.5 * (x - 2.0) ** 2, -0.5 * (x + 2.0) ** 2])

    @tf.function
    def chain():
        def body(i, x, trace):
            new = x + steps[i]
            take = tf.math.log(uniform[i]) < log_density(new) - log_density(x)
            x = tf.where(take, new, x)
            return i + 1, x, trace.write(i, x)

        trace = tf.TensorArray(tf.float32, size=30)
        found = tf.while_loop(lambda i, *_: i < 30, body, (0, tf.constant(0.0), trace))
        return found[2].stack()

    return chain()


def ising_model(tf):
    rng = np.random.RandomState(3)
    spins = tf.Variable(np.where(rng.rand(8, 8) > 0.5, 1.0, -1.0).astype(np.float32))
    mask = tf.constant((np.indices((8, 8)).sum(0) % 2).astype(np.float32))
    uniform = tf.constant(rng.rand(6, 8, 8), tf.float32)

    @tf.function
    def sweep(u, colour):
        s = spins.read_value()
        field = sum(tf.roll(s, shift, axis) for axis in (0, 1) for shift in (-1, 1))
        flip = tf.logical_and(u < tf.exp(-2.0 * 0.4 * s * field), tf.equal(mask, colour))
        spins.assign(tf.where(flip, -s, s))
        return tf.reduce_mean(spins)

    return [sweep(u, tf.constant(float(i % 2))) for i, u in enumerate(uniform)], spins


def simplex_of_option_prices(tf):
    rng = np.random.RandomState(4)
    normal = tf.constant(rng.randn(50, 8), tf.float64)
    spot = tf.Variable(100.0, dtype=tf.float64)
    vol = tf.Variable(0.2, dtype=tf.float64)

    @tf.function
    def price():
        dt = tf.constant(1.0 / 8, tf.float64)
        moves = (0.01 - 0.5 * vol**2) * dt + vol * tf.sqrt(dt) * normal
        paths = spot * tf.exp(tf.cumsum(moves, axis=1))
        payoff = tf.nn.relu(tf.reduce_mean(paths, axis=1) - 98.0)
        return tf.reduce_mean(payoff) * tf.exp(tf.constant(-0.01, tf.float64))

    with tf.GradientTape(persistent=True) as tape:
        value = price()
    delta, vega = tape.gradient(value, spot), tape.gradient(value, vol)
    del tape
    d1 = (tf.math.log(spot / 98.0) + 0.01 + 0.5 * vol**2) / vol
    normal_cdf = 0.5 * (1.0 + tf.math.erf(d1 / np.sqrt(2.0)))
    return value, delta, vega, normal_cdf


def pagerank_until_it_settles(tf):
    links = tf.constant([[0, 1], [0, 2], [1, 2], [2, 0], [3, 2], [3, 0]])
    out = tf.math.unsorted_segment_sum(tf.ones([6]), links[:, 0], 4)

    @tf.function
    def rank(links, damping=0.85):
        r = tf.fill([4], 0.25)
        delta = tf.constant(1.0)
        n = 0
        while delta > 1e-5:
            share = tf.gather(r / out, links[:, 0])
            new = (1 - damping) / 4.0 + damping * tf.math.unsorted_segment_sum(
                share, links[:, 1], num_segments=4
            )
            delta = tf.norm(new - r, ord=1)
            r = new
            n = n + 1
        return r, n > 5

    return rank(links)


def sieve_fibonacci_and_collatz(tf):
    @tf.function
    def sieve(n):
        prime = tf.ones([n], tf.bool)
        index = tf.range(n)
        for k in tf.range(2, n):
            if k * k >= n:
                break
            if prime[k]:
                prime = prime & ~((index % k == 0) & (index > k))
        return tf.reshape(tf.where(prime), [-1])[2:]

    @tf.function
    def collatz(n):
        steps = 0
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            steps += 1
        return steps

    @tf.function
    def fibonacci(n):
        a, b = tf.constant(0), tf.constant(1)
        for _ in tf.range(n):
            a, b = b, a + b
        return a

    return sieve(30), [collatz(tf.constant(k)) for k in (6, 7, 27)], fibonacci(tf.constant(20))
