"""Boxes that a detector found: matched, decoded, sorted out; and gradients of one's own."""

import numpy as np


def overlap(tf, a, b):
    """Return the shares that boxes have in common."""
    low = tf.maximum(a[:, None, :2], b[None, :, :2])
    high = tf.minimum(a[:, None, 2:], b[None, :, 2:])
    inner = tf.reduce_prod(tf.maximum(0.0, high - low), -1)
    first, second = (tf.reduce_prod(x[:, 2:] - x[:, :2], -1) for x in (a, b))
    return tf.math.divide_no_nan(inner, first[:, None] + second[None] - inner)


def boxes_of(pictures, count):
    """Return boxes of pictures."""
    boxes = np.random.rand(pictures, count, 4).astype(np.float32)
    boxes[..., 2:] = boxes[..., :2] + 0.1 + 0.2 * boxes[..., 2:]
    return boxes


def best_boxes_of_each_class(tf):
    """Keep few boxes of each class in each picture, and fill up what is missing."""
    boxes, scores = boxes_of(2, 20), np.random.rand(2, 20, 3).astype(np.float32)

    def of_one(pair):
        place, score = pair
        kept = []
        for label in range(3):
            strong = tf.where(score[:, label] > 0.5)[:, 0]
            near, sure = tf.gather(place, strong), tf.gather(score[:, label], strong)
            chosen = tf.image.non_max_suppression(near, sure, 4, iou_threshold=0.4)
            kept.append([tf.gather(near, chosen), tf.gather(sure, chosen)])
        near, sure = (tf.concat(list(x), 0) for x in zip(*kept, strict=True))
        count = tf.minimum(5, tf.size(sure))
        value, at = tf.nn.top_k(sure, count)
        missing = 5 - count
        return tf.pad(tf.gather(near, at), [[0, missing], [0, 0]]), tf.pad(value, [[0, missing]])

    @tf.function
    def best(boxes, scores):
        return tf.map_fn(of_one, (boxes, scores), fn_output_signature=(tf.float32, tf.float32))

    return [best(boxes, scores) for _ in range(3)][-1]


def anchors_matched_to_truth(tf):
    """Give each anchor its truth or none, each truth an anchor; then greedily drop neighbours."""
    truth, anchors = boxes_of(2, 8)
    truth = truth[:3]

    @tf.function
    def match(truth, anchors):
        common = overlap(tf, truth, anchors)
        best = tf.argmax(common, 0, output_type=tf.int32)
        best = tf.where(tf.reduce_max(common, 0) < 0.3, -1, best)
        forced = tf.argmax(common, 1, output_type=tf.int32)
        best = tf.tensor_scatter_nd_update(best, forced[:, None], tf.range(tf.shape(truth)[0]))
        return best, tf.math.count_nonzero(best >= 0)

    @tf.function
    def greedy(boxes, scores):
        kept = tf.TensorArray(tf.int32, size=0, dynamic_size=True, clear_after_read=False)
        alive = scores > 0.0
        while tf.reduce_any(alive):
            at = tf.argmax(tf.where(alive, scores, -1.0), output_type=tf.int32)
            kept = kept.write(kept.size(), at)
            alive &= overlap(tf, boxes[at : at + 1], boxes)[0] < 0.2
        return kept.stack()

    scores = np.random.rand(8).astype(np.float32)
    return [match(truth, anchors) for _ in range(3)][-1], greedy(anchors, scores)


def rounded_with_a_gradient_of_its_own(tf):
    """Train through rounding, by a gradient that asks for shapes."""

    @tf.custom_gradient
    def rounded(x):
        def gradient(grad):
            flat = tf.reshape(grad, [-1])
            inside = tf.cast(tf.abs(tf.reshape(x, [12])) < 2.0, x.dtype)
            return tf.reshape(flat * inside, [4, 3])

        return tf.round(x), gradient

    weights = tf.Variable(np.random.randn(4, 3).astype(np.float32))
    data = np.random.randn(8, 4).astype(np.float32)
    optimiser = tf.keras.optimizers.SGD(0.1)
    wanted = np.random.randn(8, 3).astype(np.float32)  # the same, Keras imported or not

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.matmul(data, rounded(weights)) - wanted) ** 2)
        grads = tape.gradient(loss, [weights])
        optimiser.apply_gradients(zip(grads, [weights], strict=True))
        return loss

    return [step() for _ in range(5)], weights
