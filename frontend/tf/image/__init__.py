"""TensorFlow's `tf.image`: images are [..., height, width, channels].

Heights and widths may be open: what a file holds is known only when it has been read. Then they
are scalars that the run computes (`sizes`), and what would have been refused while the graph is
made is refused in the run.

- `sizes`: heights and widths, and images alone or in batches.
- `resizing`: other sizes by all of TensorFlow's methods.
- `cutting`: rectangles, frames, mirrors, turns.
- `colours`: channels, brightness, types.
- `quality`: differences of images, edges.
- `boxes`: rectangles out of images, and which of many to keep.
- `chance`: what augments a training set.
"""
