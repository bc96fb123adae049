"""Text, sequences, attention and what is decoded from them."""

import numpy as np


def scaled_dot_product_attention(tf):
    rng = np.random.RandomState(0)
    q, k, v = (tf.constant(rng.randn(2, 4, 5, 8), tf.float32) for _ in range(3))

    def create_look_ahead_mask(size):
        return 1 - tf.linalg.band_part(tf.ones((size, size)), -1, 0)

    @tf.function
    def attention(q, k, v, mask):
        matmul_qk = tf.matmul(q, k, transpose_b=True)
        dk = tf.cast(tf.shape(k)[-1], tf.float32)
        logits = matmul_qk / tf.math.sqrt(dk)
        if mask is not None:
            logits += mask * -1e9
        weights = tf.nn.softmax(logits, axis=-1)
        return tf.matmul(weights, v), weights

    output, weights = attention(q, k, v, create_look_ahead_mask(5))
    return output[0, 0], weights[1, 1], attention(q, k, v, None)[0][0, 0, 0]


def transformer_encoder_step(tf):
    rng = np.random.RandomState(1)
    width, heads, depth = 8, 2, 4
    new = lambda *s: tf.Variable((rng.randn(*s) * 0.3).astype(np.float32))  # noqa: E731
    table, wq, wk, wv, wo = new(11, width), *(new(width, width) for _ in range(4))
    w1, w2 = new(width, 16), new(16, width)
    variables = [table, wq, wk, wv, wo, w1, w2]

    def positional_encoding(position, d_model):
        angle = np.arange(position)[:, None] / np.power(
            10000, (2 * (np.arange(d_model)[None] // 2)) / np.float32(d_model)
        )
        angle[:, 0::2] = np.sin(angle[:, 0::2])
        angle[:, 1::2] = np.cos(angle[:, 1::2])
        return tf.cast(angle[np.newaxis, ...], dtype=tf.float32)

    def layer_norm(x):
        mean, variance = tf.nn.moments(x, [-1], keepdims=True)
        return (x - mean) * tf.math.rsqrt(variance + 1e-6)

    def split_heads(x):
        x = tf.reshape(x, (tf.shape(x)[0], -1, heads, depth))
        return tf.transpose(x, perm=[0, 2, 1, 3])

    def encode(tokens):
        mask = tf.cast(tf.math.equal(tokens, 0), tf.float32)[:, tf.newaxis, tf.newaxis, :]
        x = tf.nn.embedding_lookup(table, tokens) * tf.math.sqrt(float(width))
        x += positional_encoding(50, width)[:, : tf.shape(x)[1], :]
        q, k, v = split_heads(x @ wq), split_heads(x @ wk), split_heads(x @ wv)
        scores = tf.matmul(q, k, transpose_b=True) / 2.0 + mask * -1e9
        mixed = tf.transpose(tf.nn.softmax(scores) @ v, [0, 2, 1, 3])
        x = layer_norm(x + tf.reshape(mixed, tf.shape(x)) @ wo)
        return layer_norm(x + tf.nn.gelu(x @ w1) @ w2)

    @tf.function
    def step(tokens):
        with tf.GradientTape() as tape:
            logits = tf.matmul(encode(tokens), table, transpose_b=True)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(tokens, logits)
            mask = tf.cast(tokens != 0, losses.dtype)
            loss = tf.reduce_sum(losses * mask) / tf.reduce_sum(mask)
        for v, g in zip(variables, tape.gradient(loss, variables)):
            v.assign_sub(0.1 * tf.convert_to_tensor(g))
        return loss

    tokens = tf.constant([[3, 5, 1, 0, 0], [7, 2, 9, 10, 4]])
    return [step(tokens) for _ in range(5)], encode(tokens)[0, 0]


def sequence_to_sequence_with_attention(tf):
    rng = np.random.RandomState(2)
    source = tf.constant(rng.randint(1, 6, (3, 5)))
    target = tf.reverse(source, axis=[1])
    new = lambda *s: tf.Variable((rng.randn(*s) * 0.4).astype(np.float32))  # noqa: E731
    embed, enc, dec, att, out = new(6, 4), new(8, 4), new(12, 4), new(4, 4), new(4, 6)
    variables = [embed, enc, dec, att, out]

    @tf.function
    def loss_of(source, target):
        h = tf.zeros((3, 4))
        memory = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        for t in range(5):
            token = tf.gather(embed, source[:, t])
            h = tf.tanh(tf.concat([token, h], -1) @ enc)
            memory = memory.write(t, h)
        keys = tf.transpose(memory.stack(), [1, 0, 2])
        loss = 0.0
        token = tf.zeros((3,), tf.int32)
        for t in range(5):
            score = tf.einsum("bth,hk,bk->bt", keys, att, h)
            context = tf.reduce_sum(tf.nn.softmax(score)[..., None] * keys, axis=1)
            h = tf.tanh(tf.concat([tf.gather(embed, token), context, h], -1) @ dec)
            loss += tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(target[:, t], h @ out)
            )
            token = tf.cast(target[:, t], tf.int32)
        return loss / 5.0

    losses = []
    for _ in range(5):
        with tf.GradientTape() as tape:
            loss = loss_of(source, target)
        for v, g in zip(variables, tape.gradient(loss, variables)):
            v.assign_sub(0.3 * tf.convert_to_tensor(g))
        losses.append(loss)
    return losses, out


def greedy_decoding_until_the_end(tf):
    rng = np.random.RandomState(3)
    table = tf.constant(rng.rand(6, 6), tf.float32)

    @tf.function
    def decode(start, most):
        token = start
        made = tf.TensorArray(tf.int32, size=0, dynamic_size=True, element_shape=[])
        made = made.write(0, token)
        i = 1
        while i < most:
            token = tf.argmax(table[token], output_type=tf.int32)
            made = made.write(i, token)
            if token == 5:
                break
            i += 1
        return made.stack()

    return [decode(tf.constant(s), tf.constant(8)) for s in range(5)]


def beam_search(tf):
    rng = np.random.RandomState(4)
    log_probs = tf.math.log_softmax(tf.constant(rng.randn(6, 7, 7), tf.float32))
    width = 3

    @tf.function
    def search(log_probs):
        scores = tf.constant([0.0] + [-1e9] * (width - 1))
        beams = tf.zeros([width, 1], tf.int32)
        for t in tf.range(tf.shape(log_probs)[0]):
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(beams, tf.TensorShape([width, None]))]
            )
            step = tf.gather(log_probs[t], beams[:, -1])
            total = tf.reshape(scores[:, None] + step, [-1])
            scores, flat = tf.math.top_k(total, k=width)
            origin, token = flat // 7, flat % 7
            beams = tf.concat([tf.gather(beams, origin), token[:, None]], axis=1)
        return scores, beams

    return search(log_probs)


def viterbi_of_a_conditional_random_field(tf):
    rng = np.random.RandomState(5)
    unary = tf.constant(rng.randn(6, 4), tf.float32)
    transition = tf.Variable(rng.randn(4, 4).astype(np.float32))
    tags = tf.constant([0, 2, 1, 3, 3, 1])

    @tf.function
    def log_norm(unary):
        def step(alpha, potential):
            return potential + tf.reduce_logsumexp(alpha[:, None] + transition, axis=0)

        alphas = tf.scan(step, unary[1:], initializer=unary[0])
        return tf.reduce_logsumexp(alphas[-1])

    @tf.function
    def sequence_score(unary, tags):
        n = tf.shape(tags)[0]
        points = tf.gather_nd(unary, tf.stack([tf.range(n), tags], axis=1))
        pairs = tf.gather_nd(transition, tf.stack([tags[:-1], tags[1:]], axis=1))
        return tf.reduce_sum(points) + tf.reduce_sum(pairs)

    def viterbi(unary):
        trellis, back = unary[0], []
        for t in range(1, unary.shape[0]):
            v = trellis[:, None] + transition
            back.append(tf.argmax(v, 0))
            trellis = unary[t] + tf.reduce_max(v, 0)
        path = [int(tf.argmax(trellis))]
        for b in reversed(back):
            path.insert(0, int(b[path[0]]))
        return path, tf.reduce_max(trellis)

    for _ in range(5):
        with tf.GradientTape() as tape:
            loss = log_norm(unary) - sequence_score(unary, tags)
        transition.assign_sub(0.5 * tf.convert_to_tensor(tape.gradient(loss, transition)))
    return loss, viterbi(unary), transition


def connectionist_temporal_classification(tf):
    rng = np.random.RandomState(6)
    logits = tf.Variable(rng.randn(8, 2, 5).astype(np.float32))
    labels = tf.constant([[1, 2, 2], [3, 1, 0]])
    with tf.GradientTape() as tape:
        loss = tf.nn.ctc_loss(
            labels, logits, label_length=[3, 2], logit_length=[8, 6], blank_index=4
        )
        total = tf.reduce_mean(loss)
    return loss, tape.gradient(total, logits)[0]


def word_embeddings_with_skip_grams(tf):
    words = "the quick brown fox jumps over the lazy dog and the quick cat".split()
    vocabulary = {w: i for i, w in enumerate(sorted(set(words)))}
    ids = [vocabulary[w] for w in words]
    pairs = [(ids[i], ids[j]) for i in range(len(ids)) for j in (i - 1, i + 1) if 0 <= j < len(ids)]
    centre, context = (np.array(x, np.int32) for x in zip(*pairs))
    rng = np.random.RandomState(7)
    negatives = rng.randint(0, len(vocabulary), (len(pairs), 3))
    table = tf.Variable(rng.uniform(-0.5, 0.5, (len(vocabulary), 4)).astype(np.float32))
    output = tf.Variable(rng.uniform(-0.5, 0.5, (len(vocabulary), 4)).astype(np.float32))

    @tf.function
    def step(centre, context, negatives):
        with tf.GradientTape() as tape:
            v = tf.nn.embedding_lookup(table, centre)
            positive = tf.reduce_sum(v * tf.nn.embedding_lookup(output, context), axis=1)
            negative = tf.einsum("bd,bkd->bk", v, tf.nn.embedding_lookup(output, negatives))
            loss = -tf.reduce_mean(
                tf.math.log_sigmoid(positive) + tf.reduce_sum(tf.math.log_sigmoid(-negative), 1)
            )
        for v, g in zip((table, output), tape.gradient(loss, (table, output))):
            v.scatter_sub(tf.IndexedSlices(g.values, g.indices)) if isinstance(
                g, tf.IndexedSlices
            ) else v.assign_sub(g)
        return loss

    losses = [step(centre, context, negatives) for _ in range(5)]
    unit = tf.math.l2_normalize(table, axis=1)
    return losses, tf.matmul(unit, unit, transpose_b=True)[0]


def characters_to_numbers(tf):
    text = "hello tensors, hello graphs"
    vocabulary = sorted(set(text))
    index = {c: i for i, c in enumerate(vocabulary)}
    encoded = np.array([index[c] for c in text])
    data = tf.data.Dataset.from_tensor_slices(encoded).batch(9, drop_remainder=True)
    data = data.map(lambda chunk: (chunk[:-1], chunk[1:])).shuffle(10, seed=3).batch(3)
    counts = tf.zeros([len(vocabulary), len(vocabulary)], tf.int32)
    for x, y in data:
        pairs = tf.stack([tf.reshape(x, [-1]), tf.reshape(y, [-1])], axis=1)
        ones = tf.ones(tf.shape(pairs)[:1], tf.int32)
        counts = tf.tensor_scatter_nd_add(counts, pairs, ones)
    likely = tf.argmax(counts, axis=1)
    return counts, "".join(vocabulary[i] for i in likely.numpy())


def strings_split_and_joined(tf):
    lines = tf.constant(["3,apple,0.5", "1,pear,2.5", "7,fig,1.25"])
    lengths = tf.strings.length(lines)
    upper = tf.strings.upper(tf.strings.substr(lines, 2, 3))
    cleaned = tf.strings.regex_replace(lines, "[0-9.]+", "#")
    numbers = tf.strings.to_number(tf.strings.substr(lines, 0, 1), tf.int32)
    joined = tf.strings.reduce_join(tf.as_string(numbers), separator="-")
    buckets = tf.strings.to_hash_bucket_fast(upper, 100)
    columns = tf.io.decode_csv(lines, record_defaults=[[0], [""], [0.0]])
    return lengths, upper, cleaned, numbers, joined, buckets, columns


def hidden_markov_model(tf):
    start = tf.constant([0.6, 0.4])
    move = tf.constant([[0.7, 0.3], [0.4, 0.6]])
    emit = tf.constant([[0.1, 0.4, 0.5], [0.6, 0.3, 0.1]])
    seen = tf.constant([0, 1, 2, 2, 0])

    @tf.function
    def forward(seen):
        def step(alpha, o):
            new = tf.linalg.matvec(move, alpha, transpose_a=True) * emit[:, o]
            return new

        return tf.scan(step, seen[1:], initializer=start * emit[:, seen[0]])

    @tf.function
    def backward(seen):
        beta = tf.ones([2])
        betas = tf.TensorArray(tf.float32, size=tf.size(seen), clear_after_read=False)
        betas = betas.write(tf.size(seen) - 1, beta)
        for t in tf.range(tf.size(seen) - 2, -1, -1):
            beta = tf.linalg.matvec(move, emit[:, seen[t + 1]] * beta)
            betas = betas.write(t, beta)
        return betas.stack()

    alphas, betas = forward(seen), backward(seen)
    gamma = alphas * betas[1:]
    return alphas, betas, gamma / tf.reduce_sum(gamma, axis=1, keepdims=True)


def edit_distance_by_dynamic_programming(tf):
    @tf.function
    def distance(a, b):
        row = tf.range(tf.size(b) + 1)
        for i in tf.range(tf.size(a)):
            previous = row
            cost = tf.cast(b != a[i], tf.int32)
            least = tf.minimum(previous[1:] + 1, previous[:-1] + cost)
            made = tf.TensorArray(tf.int32, tf.size(b) + 1)
            made = made.write(0, i + 1)
            left = i + 1
            for j in tf.range(tf.size(b)):
                left = tf.minimum(left + 1, least[j])
                made = made.write(j + 1, left)
            row = tf.ensure_shape(made.stack(), row.shape)
        return row[-1]

    def codes(word):
        return tf.strings.unicode_decode(tf.constant(word), "UTF-8")

    return distance(codes("kitten"), codes("sitting")), distance(codes("graph"), codes("giraffe"))
