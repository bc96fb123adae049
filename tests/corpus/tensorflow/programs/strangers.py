"""Programs that somebody wrote who had not seen the project."""

import numpy as np


def an_actor_learns_from_a_world_in_python(tf):
    """Steps of a world, of shapes that only runs tell, are called in a loop under the tape."""
    rows = np.random.RandomState(3)
    shared, actor, critic = (
        tf.Variable(rows.standard_normal(shape).astype("float32") * 0.5)
        for shape in ((3, 5), (5, 2), (5, 1))
    )

    def world(state, action):
        moved = 0.8 * state + 0.2 * np.eye(3, dtype="float32")[action]
        return moved.astype("float32"), np.float32(moved[0] - 0.3), np.int32(moved[1] > 0.5)

    def returns(rewards):
        count, total = tf.shape(rewards)[0], tf.constant(0.0)
        rewards, shape = rewards[::-1], total.shape
        made = tf.TensorArray(tf.float32, size=count)
        for i in tf.range(count):
            total = rewards[i] + 0.9 * total
            total.set_shape(shape)
            made = made.write(i, total)
        return made.stack()[::-1]

    def episode(state):
        chances, values, rewards = (
            tf.TensorArray(tf.float32, 0, dynamic_size=True) for _ in range(3)
        )
        shape = state.shape
        for i in tf.range(6):
            hidden = tf.nn.relu(state[None] @ shared)
            logits, value = hidden @ actor, hidden @ critic
            action = tf.argmax(logits, 1)[0]
            chances = chances.write(i, tf.nn.softmax(logits)[0, action])
            values = values.write(i, tf.squeeze(value))
            given = [tf.float32, tf.float32, tf.int32]
            state, reward, done = tf.numpy_function(world, [state, action], given)
            state.set_shape(shape)
            rewards = rewards.write(i, reward)
            if tf.cast(done, tf.bool):
                break
        return chances.stack(), values.stack(), rewards.stack()

    @tf.function
    def train(state):
        with tf.GradientTape() as tape:
            chances, values, rewards = episode(state)
            wanted = returns(rewards)
            gain = tf.math.log(chances) * tf.stop_gradient(wanted - values)
            loss = -tf.reduce_sum(gain) + tf.reduce_sum((values - wanted) ** 2)
        weights = [shared, actor, critic]
        slopes = tape.gradient(loss, weights)
        for weight, slope in zip(weights, slopes, strict=True):
            weight.assign_sub(0.05 * slope)
        return loss, tf.linalg.global_norm(slopes)

    return [train(tf.constant([1.0, 0.2, 0.4])) for _ in range(6)]


def lists_of_words_are_weighed_in_a_function_of_their_own(tf):
    """A table's rows are taken for ragged numbers, and Adam changes only those rows."""
    lists = tf.ragged.constant([[1, 1, 3], [2], [4, 1, 5, 2]])
    table = tf.Variable(tf.random.stateless_normal([8, 4], [1, 1]))
    asks, weighs = (tf.Variable(tf.random.stateless_normal([4], [1, i])) for i in (2, 3))
    optimizer = tf.keras.optimizers.Adam(0.05)

    @tf.function
    def pooled(ids):
        rows, line = tf.gather(table, ids.flat_values), ids.value_rowids()
        scores = tf.linalg.matvec(rows, asks)
        raised = tf.exp(scores - tf.gather(tf.math.segment_max(scores, line), line))
        share = raised / tf.gather(tf.math.segment_sum(raised, line), line)
        return tf.math.segment_sum(rows * share[:, None], line)

    @tf.function
    def train(ids, labels):
        with tf.GradientTape() as tape:
            logits = tf.linalg.matvec(pooled(ids), weighs)
            losses = tf.nn.sigmoid_cross_entropy_with_logits(labels, logits)
            loss = tf.reduce_mean(losses)
        weights = [table, asks, weighs]
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        return loss

    losses = [train(lists, tf.constant([1.0, 0.0, 1.0])) for _ in range(6)]
    return [losses, table, asks]
