"""How sessions run graphs, and what they say of it: TensorFlow's options and metadata as messages.

`options`: which fields of `ConfigProto` and `RunOptions` have an effect, and the refusal of others.
`metadata`: what a run fills into a `RunMetadata`. `graph_messages`: graphs as `GraphDef`.
`python_calls`: functions of Python that graphs call.
"""
