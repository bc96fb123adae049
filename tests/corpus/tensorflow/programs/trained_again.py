"""Learning, physics and decisions: agents, graphs, flows, chains, speech, decoding with a cache."""

import numpy as np


def _v(tf, seed, *shape, scale=0.4):
    return tf.Variable(tf.constant(np.random.RandomState(seed).randn(*shape) * scale, tf.float32))


def deep_q_with_replay_and_target(tf):
    rs = np.random.RandomState(0)
    online = [
        _v(tf, 1, 4, 16),
        tf.Variable(tf.zeros(16)),
        _v(tf, 2, 16, 3),
        tf.Variable(tf.zeros(3)),
    ]
    target = [tf.Variable(v) for v in online]

    def q(p, s):
        return tf.nn.relu(s @ p[0] + p[1]) @ p[2] + p[3]

    opt = tf.keras.optimizers.Adam(0.01)

    @tf.function
    def act(s, eps, u, r):
        if u < eps:
            return r
        return tf.argmax(q(online, s[None]), 1, output_type=tf.int32)[0]

    @tf.function
    def learn(s, a, r, s2, done):
        best = tf.argmax(q(online, s2), 1)
        nxt = tf.gather(q(target, s2), best, batch_dims=1)
        y = tf.stop_gradient(r + 0.9 * nxt * (1.0 - tf.cast(done, tf.float32)))
        with tf.GradientTape() as t:
            now = tf.reduce_sum(q(online, s) * tf.one_hot(a, 3), 1)
            err = tf.abs(y - now)
            loss = tf.reduce_mean(tf.where(err < 1.0, 0.5 * err**2, err - 0.5))
        g = t.gradient(loss, online)
        opt.apply_gradients(zip(g, online))
        for v, w in zip(target, online):
            v.assign(0.95 * v + 0.05 * w)
        return loss

    memory, s, out = [], rs.randn(4).astype("f"), []
    for i in range(40):
        a = int(
            act(
                tf.constant(s),
                tf.constant(0.3),
                tf.constant(rs.rand(), tf.float32),
                tf.constant(rs.randint(3)),
            )
        )
        s2 = (0.9 * s + 0.1 * (a - 1) + 0.05 * rs.randn(4)).astype("f")
        memory.append((s, a, float(-abs(s2[0])), s2, i % 10 == 9))
        s = s2
        if i >= 16 and i % 4 == 0:
            pick = rs.choice(len(memory), 8, replace=False)
            b = [np.array(c) for c in zip(*[memory[j] for j in pick])]
            b[2] = b[2].astype("f")
            out.append(learn(*map(tf.constant, b)))
    list(map(tf.constant, b))
    return out, online[3]


def advantage_actor_critic_with_gae(tf):
    wp, wv = _v(tf, 1, 3, 2), _v(tf, 2, 3, 1)
    opt = tf.keras.optimizers.RMSprop(0.02)

    @tf.function
    def gae(rewards, values, dones, last, gamma=0.99, lam=0.95):
        n = tf.shape(rewards)[0]
        adv = tf.TensorArray(tf.float32, n)
        run = tf.constant(0.0)
        for i in tf.range(n - 1, -1, -1):
            nxt = last if i == n - 1 else values[i + 1]
            keep = 1.0 - dones[i]
            delta = rewards[i] + gamma * nxt * keep - values[i]
            run = delta + gamma * lam * keep * run
            adv = adv.write(i, run)
        return adv.stack()

    @tf.function
    def update(s, a, old, adv, ret, clip):
        for _ in tf.range(2):
            with tf.GradientTape() as t:
                logits = s @ wp
                logp = -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=a, logits=logits)
                ratio = tf.exp(logp - old)
                norm = (adv - tf.reduce_mean(adv)) / (tf.math.reduce_std(adv) + 1e-8)
                pol = -tf.reduce_mean(
                    tf.minimum(ratio * norm, tf.clip_by_value(ratio, 1 - clip, 1 + clip) * norm)
                )
                ent = tf.reduce_mean(
                    -tf.reduce_sum(tf.nn.softmax(logits) * tf.nn.log_softmax(logits), 1)
                )
                val = tf.reduce_mean(tf.square(ret - tf.squeeze(s @ wv, 1)))
                loss = pol + 0.5 * val - 0.01 * ent
            g = t.gradient(loss, [wp, wv])
            g, _ = tf.clip_by_global_norm(g, 0.5)
            opt.apply_gradients(zip(g, [wp, wv]))
        return pol, val, ent

    rs = np.random.RandomState(0)
    out = []
    for _ in range(3):
        s = tf.constant(rs.randn(12, 3), tf.float32)
        a = tf.constant(rs.randint(0, 2, 12))
        old = -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=a, logits=s @ wp)
        v = tf.squeeze(s @ wv, 1)
        r = tf.constant(rs.rand(12), tf.float32)
        d = tf.constant((np.arange(12) % 5 == 4).astype("f"))
        adv = gae(r, v, d, tf.constant(0.1))
        out.append((adv, update(s, a, old, adv, adv + v, tf.constant(0.2))))
    return out


def graph_attention_and_messages(tf):
    rs = np.random.RandomState(0)
    n, e = 10, 24
    src, dst = tf.constant(rs.randint(0, n, e)), tf.constant(np.sort(rs.randint(0, n, e)))
    x = tf.constant(rs.randn(n, 5), tf.float32)
    y = tf.constant(rs.randint(0, 3, n))
    w, a1, a2, out = _v(tf, 1, 5, 8), _v(tf, 2, 8, 1), _v(tf, 3, 8, 1), _v(tf, 4, 16, 3)
    opt = tf.keras.optimizers.Adam(0.05)

    def edge_softmax(s, seg, n):
        m = tf.math.unsorted_segment_max(s, seg, n)
        p = tf.exp(s - tf.gather(m, seg))
        return p / (tf.gather(tf.math.unsorted_segment_sum(p, seg, n), seg) + 1e-9)

    @tf.function
    def step(x, src, dst, mask):
        with tf.GradientTape() as t:
            h = x @ w
            s = tf.nn.leaky_relu(tf.gather(h @ a1, src) + tf.gather(h @ a2, dst), 0.2)[:, 0]
            p = edge_softmax(s, dst, n)
            agg = tf.math.unsorted_segment_sum(p[:, None] * tf.gather(h, src), dst, n)
            avg = tf.math.unsorted_segment_mean(tf.gather(h, src), dst, n)
            logits = tf.concat([tf.nn.elu(agg), avg], 1) @ out
            ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
            loss = tf.reduce_sum(ce * mask) / tf.reduce_sum(mask)
        vs = [w, a1, a2, out]
        opt.apply_gradients(zip(t.gradient(loss, vs), vs))
        return loss, p

    adj = tf.sparse.reorder(
        tf.SparseTensor(
            tf.stack([tf.cast(dst, tf.int64), tf.cast(src, tf.int64)], 1), tf.ones(e), [n, n]
        )
    )
    deg = tf.sparse.reduce_sum(adj, 1)
    prop = tf.sparse.sparse_dense_matmul(adj, x) / tf.maximum(deg, 1.0)[:, None]
    mask = tf.constant((np.arange(n) < 6).astype("f"))
    r = [step(x, src, dst, mask) for _ in range(4)]
    return r, deg, prop


def sentences(tf, vocab):
    rs = np.random.RandomState(0)
    src = rs.randint(3, vocab, (4, 6)).astype("int32")
    tgt = rs.randint(3, vocab, (4, 5)).astype("int32")
    src[1, 4:] = 0
    tgt[2, 3:] = 0
    return tf.constant(src), tf.constant(tgt)


def parts_of_attention(tf, d, h):
    def heads(x):
        return tf.transpose(tf.reshape(x, [tf.shape(x)[0], -1, h, d // h]), [0, 2, 1, 3])

    def merge(x):
        return tf.reshape(tf.transpose(x, [0, 2, 1, 3]), [tf.shape(x)[0], -1, d])

    def att(q, k, v, mask):
        s = tf.matmul(q, k, transpose_b=True) / tf.sqrt(float(d // h))
        s = tf.where(mask, s, -1e9)
        return merge(tf.nn.softmax(s) @ v)

    def norm(x):
        m, v = tf.nn.moments(x, -1, keepdims=True)
        return (x - m) * tf.math.rsqrt(v + 1e-6)

    return heads, att, norm


def translation_with_cached_decoding(tf):
    d, h, vocab = 8, 2, 11
    ws = {
        k: _v(tf, i, d, d)
        for i, k in enumerate(["eq", "ek", "ev", "dq", "dk", "dv", "cq", "ck", "cv", "f1", "f2"])
    }
    emb = _v(tf, 20, vocab, d)
    pos = tf.constant(np.sin(np.arange(16)[:, None] / 10 ** (np.arange(d)[None] / d)), tf.float32)

    heads, att, norm = parts_of_attention(tf, d, h)

    def encode(src):
        x = tf.gather(emb, src) + pos[: tf.shape(src)[1]]
        mask = (src != 0)[:, None, None, :]
        return norm(
            x + att(heads(x @ ws["eq"]), heads(x @ ws["ek"]), heads(x @ ws["ev"]), mask)
        ), mask

    def decode(tgt, mem, mask):
        n = tf.shape(tgt)[1]
        x = tf.gather(emb, tgt) + pos[:n]
        causal = tf.linalg.band_part(tf.ones([n, n], tf.bool), -1, 0)
        x = norm(x + att(heads(x @ ws["dq"]), heads(x @ ws["dk"]), heads(x @ ws["dv"]), causal))
        x = norm(x + att(heads(x @ ws["cq"]), heads(mem @ ws["ck"]), heads(mem @ ws["cv"]), mask))
        return tf.matmul(norm(x + tf.nn.relu(x @ ws["f1"]) @ ws["f2"]), emb, transpose_b=True)

    opt = tf.keras.optimizers.Adam(0.01, beta_2=0.98)
    vs = [*ws.values(), emb]

    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32)] * 2)
    def train(src, tgt):
        with tf.GradientTape() as t:
            mem, mask = encode(src)
            logits = decode(tgt[:, :-1], mem, mask)
            y = tgt[:, 1:]
            w = tf.cast(y != 0, tf.float32)
            loss = tf.reduce_sum(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits) * w
            ) / tf.reduce_sum(w)
        opt.apply_gradients(zip(t.gradient(loss, vs), vs))
        return loss

    @tf.function
    def generate(src, steps):
        mem, mask = encode(src)
        b = tf.shape(src)[0]
        k = tf.zeros([b, h, 0, d // h])
        v = tf.zeros([b, h, 0, d // h])
        tok = tf.ones([b], tf.int32)
        out = tf.TensorArray(tf.int32, steps)
        ended = tf.zeros([b], tf.bool)
        for i in tf.range(steps):
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[
                    (k, tf.TensorShape([None, h, None, d // h])),
                    (v, tf.TensorShape([None, h, None, d // h])),
                ]
            )
            x = (tf.gather(emb, tok) + pos[i])[:, None]
            k = tf.concat([k, heads(x @ ws["dk"])], 2)
            v = tf.concat([v, heads(x @ ws["dv"])], 2)
            x = norm(x + att(heads(x @ ws["dq"]), k, v, tf.ones([1, 1, 1, i + 1], tf.bool)))
            x = norm(
                x + att(heads(x @ ws["cq"]), heads(mem @ ws["ck"]), heads(mem @ ws["cv"]), mask)
            )
            logits = tf.matmul(
                norm(x + tf.nn.relu(x @ ws["f1"]) @ ws["f2"])[:, 0], emb, transpose_b=True
            )
            tok = tf.where(ended, 0, tf.argmax(logits, -1, output_type=tf.int32))
            ended = ended | (tok == 2)
            out = out.write(i, tok)
            if tf.reduce_all(ended):
                break
        return tf.transpose(out.stack())

    src, tgt = sentences(tf, vocab)
    r = [train(src, tgt) for _ in range(5)] + [train(src[:2, :5], tgt[:2, :4])]
    g = generate(src, 6)
    return r, g


def speech_features_and_ctc_training(tf):
    t = np.arange(4 * 800).reshape(4, 800) / 400.0
    wave = tf.constant(np.sin(t * 90 + np.arange(4)[:, None] * 7 * t) * 0.5, tf.float32)
    w, b = _v(tf, 1, 10, 6), tf.Variable(tf.zeros(6))
    mel = tf.signal.linear_to_mel_weight_matrix(10, 65, 8000, 80.0, 3800.0)

    @tf.function
    def features(x):
        f = tf.signal.stft(
            x, 128, 64, fft_length=128, window_fn=tf.signal.hamming_window, pad_end=True
        )
        p = tf.abs(f) ** 2
        logmel = tf.math.log(tf.tensordot(p, mel, 1) + 1e-5)
        m = tf.reduce_mean(logmel, 1, keepdims=True)
        s = tf.math.reduce_std(logmel, 1, keepdims=True)
        return (logmel - m) / (s + 1e-6)

    labels = tf.constant([[1, 2, 3], [2, 2, 0], [4, 0, 0], [3, 1, 5]])
    ll = tf.constant([3, 2, 1, 3])

    @tf.function
    def train(x):
        with tf.GradientTape() as tape:
            logits = tf.transpose(tf.tensordot(features(x), w, 1) + b, [1, 0, 2])
            n = tf.fill([tf.shape(x)[0]], tf.shape(logits)[0])
            loss = tf.reduce_mean(tf.nn.ctc_loss(labels, logits, ll, n, blank_index=0))
        g = tape.gradient(loss, [w, b])
        w.assign_sub(0.05 * g[0])
        b.assign_sub(0.05 * g[1])
        return loss

    r = [train(wave) for _ in range(4)]
    inv = tf.signal.inverse_stft(
        tf.signal.stft(wave, 128, 32), 128, 32, window_fn=tf.signal.inverse_stft_window_fn(32)
    )
    return (
        r,
        features(wave)[0, :2],
        inv[0, 200:205],
        tf.signal.mfccs_from_log_mel_spectrograms(features(wave))[1, 2, :5],
        tf.signal.dct(wave[:, :8], 2, norm="ortho"),
        tf.signal.frame(wave[0, :20], 6, 4, pad_end=True),
        tf.signal.overlap_and_add(tf.reshape(wave[0, :12], (3, 4)), 2),
    )


def physics_informed_network(tf):
    sizes = [(2, 10), (10, 10), (10, 1)]
    ws = [_v(tf, i, *s, scale=0.6) for i, s in enumerate(sizes)]
    bs = [tf.Variable(tf.zeros(s[1])) for s in sizes]
    nu = tf.Variable(0.1)

    def u(x, t):
        h = tf.stack([x, t], 1)
        for w, b in zip(ws[:-1], bs[:-1]):
            h = tf.tanh(h @ w + b)
        return (h @ ws[-1] + bs[-1])[:, 0]

    opt = tf.keras.optimizers.Adam(tf.keras.optimizers.schedules.ExponentialDecay(0.01, 5, 0.9))
    vs = [*ws, *bs, nu]

    @tf.function
    def step(x, t, x0, u0):
        with tf.GradientTape() as outer:
            with tf.GradientTape(persistent=True) as second:
                second.watch(x)
                with tf.GradientTape(persistent=True) as first:
                    first.watch([x, t])
                    v = u(x, t)
                vx = first.gradient(v, x)
                vt = first.gradient(v, t)
            vxx = second.gradient(vx, x)
            del first, second
            res = vt + v * vx - nu * vxx
            loss = tf.reduce_mean(res**2) + tf.reduce_mean((u(x0, tf.zeros_like(x0)) - u0) ** 2)
        g = outer.gradient(loss, vs)
        opt.apply_gradients(zip(g, vs))
        return loss, tf.reduce_mean(tf.abs(vxx))

    rs = np.random.RandomState(0)

    def c(a):
        return tf.constant(a, tf.float32)

    x, t, x0 = c(rs.uniform(-1, 1, 20)), c(rs.rand(20)), c(np.linspace(-1, 1, 10))
    args = x, t, x0, -tf.sin(np.pi * x0)
    r = [step(*args) for _ in range(5)]
    return r, nu


def neural_ode_with_adjoint(tf):
    w1, w2 = _v(tf, 1, 2, 8), _v(tf, 2, 8, 2)

    def f(y, t):
        return tf.tanh(y @ w1) @ w2 * tf.cos(t)

    def solve(y, t0, t1, n):
        h = (t1 - t0) / float(n)
        t = t0
        for _ in range(n):
            k1 = f(y, t)
            k2 = f(y + h / 2 * k1, t + h / 2)
            y = y + h * k2
            t += h
        return y

    @tf.custom_gradient
    def odeint(y0):
        y1 = tf.stop_gradient(solve(y0, tf.constant(0.0), tf.constant(1.0), 8))

        def grad(dy, variables=None):
            y, a, h = y1, dy, 1.0 / 8
            gs = [tf.zeros_like(v) for v in variables]
            for i in range(8):
                t = tf.constant(1.0 - i * h)
                with tf.GradientTape() as tape:
                    tape.watch(y)
                    out = f(y, t)
                g = tape.gradient(out, [y, *variables], a)
                y = y - h * out
                a = a + h * g[0]
                gs = [p + h * q for p, q in zip(gs, g[1:])]
            return a, gs

        return y1, grad

    x = tf.constant(np.random.RandomState(0).randn(6, 2), tf.float32)

    @tf.function
    def train(x, y):
        with tf.GradientTape() as t:
            t.watch(x)
            loss = tf.reduce_mean((odeint(x) - y) ** 2)
        g = t.gradient(loss, [w1, w2, x])
        w1.assign_sub(0.1 * g[0])
        w2.assign_sub(0.1 * g[1])
        return loss, g[2]

    r = [train(x, x[::-1]) for _ in range(4)]
    exact = tf.function(solve, autograph=True)(x, tf.constant(0.0), tf.constant(1.0), 20)
    return r, exact


def jacobians_hessians_and_newton(tf):
    w = _v(tf, 0, 4, 3)

    @tf.function
    def all_of(x):
        with tf.GradientTape(persistent=True) as t2:
            t2.watch(x)
            with tf.GradientTape(persistent=True) as t1:
                t1.watch(x)
                y = tf.tanh(x @ w)
                s = tf.reduce_sum(y**3)
            g = t1.gradient(s, x)
        return t1.jacobian(y, w), t1.batch_jacobian(y, x), t2.jacobian(g, x)

    @tf.function
    def hvp(x, v):
        with tf.autodiff.ForwardAccumulator(x, v) as acc:
            with tf.GradientTape() as t:
                t.watch(x)
                y = tf.reduce_sum(tf.sin(x) * tf.reduce_prod(x))
            g = t.gradient(y, x)
        return acc.jvp(g)

    @tf.function
    def newton(x, steps):
        for _ in tf.range(steps):
            with tf.GradientTape() as o:
                o.watch(x)
                with tf.GradientTape() as i:
                    i.watch(x)
                    y = tf.reduce_sum((x - [1.0, 2.0, 3.0]) ** 4) + tf.reduce_sum(x**2)
                g = i.gradient(y, x)
            h = o.jacobian(g, x)
            d = tf.linalg.solve(h, g[:, None])[:, 0]
            x -= d
        return x

    x = tf.constant(np.random.RandomState(0).randn(2, 4), tf.float32)
    return (
        all_of(x),
        hvp(x[0], x[1]),
        newton(tf.zeros(3), tf.constant(5)),
        tf.vectorized_map(lambda a: tf.reduce_sum(a) * a, x),
    )


def variational_regression_and_hmc(tf):
    rs = np.random.RandomState(0)
    x = tf.constant(rs.randn(20, 2), tf.float32)
    y = tf.linalg.matvec(x, [1.5, -0.7]) + tf.constant(rs.randn(20) * 0.1, tf.float32)
    mu, rho = tf.Variable(tf.zeros(2)), tf.Variable(tf.fill([2], -2.0))

    @tf.function
    def elbo_step(seed):
        with tf.GradientTape() as t:
            s = tf.nn.softplus(rho)
            eps = tf.random.stateless_normal([5, 2], seed)
            w = mu + s * eps
            ll = tf.reduce_mean(
                tf.reduce_sum(-0.5 * tf.square((tf.matmul(w, x, transpose_b=True) - y) / 0.3), 1)
            )
            kl = tf.reduce_sum(-tf.math.log(s) + 0.5 * (s**2 + mu**2) - 0.5)
            loss = kl - ll
        g = t.gradient(loss, [mu, rho])
        mu.assign_sub(0.003 * g[0])
        rho.assign_sub(0.003 * g[1])
        return loss

    def logp(w):
        return -0.5 * tf.reduce_sum(
            ((tf.linalg.matvec(x, w) - y) / 0.3) ** 2
        ) - 0.5 * tf.reduce_sum(w**2)

    @tf.function
    def chain(w, n, seed):
        out = tf.TensorArray(tf.float32, n)
        taken = 0
        for i in tf.range(n):
            seeds = tf.random.experimental.stateless_fold_in(seed, i)
            p0 = tf.random.stateless_normal([2], seeds)
            q, p = w, p0
            for _ in tf.range(5):
                with tf.GradientTape() as t:
                    t.watch(q)
                    lp = logp(q)
                p += 0.02 * t.gradient(lp, q)
                q += 0.04 * p
                with tf.GradientTape() as t:
                    t.watch(q)
                    lp = logp(q)
                p += 0.02 * t.gradient(lp, q)
            dh = logp(q) - logp(w) - 0.5 * (tf.reduce_sum(p**2) - tf.reduce_sum(p0**2))
            if tf.math.log(tf.random.stateless_uniform([], seeds + 1)) < dh:
                w = q
                taken += 1
            out = out.write(i, w)
        return out.stack(), taken

    e = [elbo_step(tf.constant([i, 7])) for i in range(6)]
    s, taken = chain(tf.zeros(2), tf.constant(10), tf.constant([1, 2]))
    return e, s, taken, mu


def recommender_of_two_towers(tf):
    rs = np.random.RandomState(0)
    users, items = _v(tf, 1, 30, 6), _v(tf, 2, 40, 6)
    bias = tf.Variable(tf.zeros(40))
    buckets = tf.strings.to_hash_bucket_fast
    opt = tf.keras.optimizers.Adagrad(0.2)

    @tf.function
    def step(u, i, names):
        h = tf.cast(buckets(names, 30), tf.int32)
        with tf.GradientTape() as t:
            a = tf.nn.embedding_lookup(users, u) + tf.gather(users, h)
            b = tf.nn.embedding_lookup(items, i)
            scores = tf.matmul(a, b, transpose_b=True) + tf.gather(bias, i)
            same = tf.cast(i[:, None] == i[None], tf.float32) - tf.eye(tf.shape(i)[0])
            scores -= 1e9 * same
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(
                    labels=tf.range(tf.shape(i)[0]), logits=scores
                )
            )
            loss += 0.01 * tf.nn.l2_loss(a)
        vs = [users, items, bias]
        opt.apply_gradients(zip(t.gradient(loss, vs), vs))
        return loss

    @tf.function
    def recommend(u, seen, k):
        s = tf.matmul(tf.gather(users, u), items, transpose_b=True) + bias
        s = tf.tensor_scatter_nd_update(s, seen, tf.fill([tf.shape(seen)[0]], -1e9))
        v, i = tf.math.top_k(s, k)
        return tf.nn.softmax(v), i

    u, i = tf.constant(rs.randint(0, 30, 8)), tf.constant(rs.randint(0, 40, 8))
    names = tf.constant([f"film {j}" for j in rs.randint(0, 9, 8)])
    r = [step(u, i, names) for _ in range(4)]
    combined = tf.nn.safe_embedding_lookup_sparse(
        items, tf.sparse.from_dense([[3, 0, 5], [0, 0, 0], [7, 7, 0]]), combiner="mean"
    )
    return r, recommend(tf.constant([1, 5]), tf.constant([[0, 3], [1, 7]]), 4), combined


def lotka_volterra_and_event_loops(tf):
    a = tf.Variable([1.1, 0.4, 0.1, 0.4], dtype=tf.float64)

    def rhs(y):
        return tf.stack([a[0] * y[0] - a[1] * y[0] * y[1], a[2] * y[0] * y[1] - a[3] * y[1]])

    @tf.function
    def adaptive(y, t1, tol):
        t = tf.constant(0.0, tf.float64)
        h = tf.constant(0.1, tf.float64)
        n = 0
        rejected = 0
        while t < t1:
            h = tf.minimum(h, t1 - t)
            k1 = rhs(y)
            k2 = rhs(y + h * k1)
            low = y + h * k1
            high = y + h / 2 * (k1 + k2)
            err = tf.reduce_max(tf.abs(high - low))
            if err < tol:
                t += h
                y = high
                n += 1
            else:
                rejected += 1
            h *= tf.clip_by_value(0.9 * tf.sqrt(tol / (err + 1e-12)), 0.2, 4.0)
            if n + rejected > 150:
                break
        return y, n, rejected

    @tf.function
    def fit(y0, target):
        with tf.GradientTape() as t:
            y = y0
            for _ in tf.range(20):
                y = y + 0.05 * rhs(y)
            loss = tf.reduce_sum((y - target) ** 2)
        g = t.gradient(loss, a)
        a.assign_sub(0.01 * tf.convert_to_tensor(g))
        return loss

    y0 = tf.constant([10.0, 5.0], tf.float64)
    first = adaptive(y0, tf.constant(2.0, tf.float64), tf.constant(1e-3, tf.float64))
    r = [fit(y0, tf.constant([8.0, 6.0], tf.float64)) for _ in range(4)]
    return first, r, a


def sparse_models_and_pruning(tf):
    rs = np.random.RandomState(0)
    w = tf.Variable(tf.constant(rs.randn(12, 3), tf.float32))
    mask = tf.Variable(tf.ones([12, 3]), trainable=False)
    idx = tf.constant([[0, 1], [0, 5], [1, 2], [2, 11], [3, 0], [3, 7]], tf.int64)
    sp = tf.SparseTensor(idx, tf.constant(rs.randn(6), tf.float32), [4, 12])
    y = tf.constant([0, 2, 1, 1])

    @tf.function
    def step(sp):
        with tf.GradientTape() as t:
            logits = tf.sparse.sparse_dense_matmul(sp, w * mask)
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
            ) + 0.01 * tf.reduce_sum(tf.abs(w))
        w.assign_sub(0.3 * t.gradient(loss, w))
        return loss

    @tf.function
    def prune(share):
        flat = tf.sort(tf.reshape(tf.abs(w), [-1]))
        n = tf.cast(tf.cast(tf.size(flat), tf.float32) * share, tf.int32)
        mask.assign(tf.cast(tf.abs(w) >= flat[n], tf.float32))
        return tf.reduce_sum(mask)

    r = [(step(sp), prune(tf.constant(0.1 * i))) for i in range(1, 5)]
    s2 = tf.sparse.concat(0, [sp, sp])
    s3 = tf.sparse.slice(s2, [1, 0], [4, 6])
    return (
        r,
        tf.sparse.to_dense(s3),
        tf.sparse.softmax(tf.sparse.reorder(sp)).values,
        tf.sparse.map_values(tf.square, sp).values,
        tf.sparse.reduce_max(sp, 1),
        tf.sparse.transpose(sp).dense_shape,
        tf.sparse.maximum(sp, sp * 2.0).values,
        tf.sparse.retain(sp, sp.values > 0).indices,
    )
