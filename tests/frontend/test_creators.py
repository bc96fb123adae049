"""`tf.variable_creator_scope`: functions that make variables in place of `tf.Variable`."""

import gravure.tf as tf


def test_the_innermost_creator_is_asked_first() -> None:
    asked = []

    def creator(tag):
        def make(next_creator, **kwargs):
            asked.append((tag, kwargs["name"]))
            return next_creator(**kwargs)

        return make

    with tf.variable_creator_scope(creator("outer")):
        with tf.variable_creator_scope(creator("inner")):
            v = tf.Variable(1.0, name="v")
        tf.Variable(2.0, name="w")
    tf.Variable(3.0, name="nobody")
    assert asked == [("inner", "v"), ("outer", "v"), ("outer", "w")]
    assert v.numpy() == 1.0


def test_creators_change_what_is_made() -> None:
    def frozen(next_creator, **kwargs):
        return next_creator(**{**kwargs, "trainable": False})

    with tf.Graph().as_default(), tf.compat.v1.variable_creator_scope(frozen):
        tf.compat.v1.get_variable("v", [2])
        assert not tf.compat.v1.trainable_variables()


def test_creators_hear_of_variables_of_functions() -> None:
    made, heard = [], []

    @tf.function
    def f():
        if not made:
            made.append(tf.Variable(1.0))
        return made[0] + 1.0

    def listen(next_creator, **kwargs):
        heard.append(next_creator(**kwargs))
        return heard[-1]

    with tf.variable_creator_scope(listen):
        assert f().numpy() == 2.0
    assert len(heard) == 1
    assert heard[0] is made[0]


def test_traces_say_their_names_and_what_they_return() -> None:
    signature = [tf.TensorSpec([None], name="given")]

    @tf.function(input_signature=signature)
    def f(x):
        return {"twice": x * 2.0}

    trace = f.get_concrete_function()
    assert [x.op.get_attr("_user_specified_name") for x in trace.inputs] == [b"given"]
    assert trace.name.startswith(b"__inference_f_")
    assert [*trace.graph.structured_outputs] == ["twice"]


def test_a_trace_takes_other_shapes_at_once() -> None:
    trace = tf.function(lambda x: x + 1.0).get_concrete_function(tf.TensorSpec([1]))
    assert trace(tf.constant([1.0, 2.0])).numpy().tolist() == [2.0, 3.0]


def test_what_functions_put_into_collections_stays_there() -> None:
    with tf.Graph().as_default() as graph:
        graph.add_to_collection("outside", 1)

        @tf.function
        def f():
            inner = tf.compat.v1.get_default_graph()
            inner.add_to_collection("inside", 7)
            return tf.constant(inner.get_collection("outside")[0])

        f()
        assert graph.get_collection("inside") == []


def test_slices_are_parts_of_structures_where_that_is_asked() -> None:
    slices = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))
    assert len(tf.nest.flatten([slices], expand_composites=True)) == 2
    assert tf.nest.flatten([slices]) == [slices]
    made = tf.nest.map_structure(lambda x: x + 1, slices, expand_composites=True)
    assert (made.values.numpy().tolist(), made.indices.numpy().tolist()) == ([2.0], [1])
