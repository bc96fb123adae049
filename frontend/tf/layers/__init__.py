"""The layers of TensorFlow's first version, `tf.layers` and `tf.nn.rnn_cell`.

`base` has what all of them share: variables by name in a variable scope. A function is a layer
that is called once.
"""
