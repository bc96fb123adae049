"""How functions are converted: what of them stays, what is said, what is left as it is."""

import functools
import inspect
import traceback
import warnings
from contextlib import suppress

import numpy as np
import pytest

import gravure as gv
import gravure.tf as tf
from gravure.frontend.autograph import AutographWarning
from gravure.frontend.autograph.syntax.convert import converted_code


def scaled(x, k=2, *, low: int = 0):
    """Scale what is large."""
    if x > low:  # a comment
        return x * k
    return x


def line_of(function, text):
    """Return the number of the line of a function that holds a text."""
    lines, first = inspect.getsourcelines(function)
    return first + next(i for i, line in enumerate(lines) if text in line)


def test_a_converted_function_is_the_users_to_all_who_look():
    made = tf.autograph.to_graph(scaled)
    assert made is not scaled
    assert (made.__name__, made.__qualname__, made.__doc__) == ("scaled", "scaled", scaled.__doc__)
    assert inspect.signature(made) == inspect.signature(scaled)
    assert inspect.getsource(made) == inspect.getsource(scaled)
    assert made.__globals__ is scaled.__globals__
    assert (made(3), made(-3), made(3, 5, low=4)) == (6, -3, 3)


def test_pieces_of_a_function_are_called_as_the_function_is():
    def codes(code):
        yield code
        for constant in code.co_consts:
            if inspect.iscode(constant):
                yield from codes(constant)

    made = tf.autograph.to_graph(scaled)
    found = list(codes(made.__code__))
    assert len(found) > 3
    assert {code.co_filename for code in found} == {__file__}
    assert not [code.co_qualname for code in found if "ag__" in code.co_qualname]
    first, last = scaled.__code__.co_firstlineno, line_of(scaled, "return x\n")
    lines = {line for code in found for _, _, line in code.co_lines() if line}
    assert lines <= {*range(first, last + 1)}


def test_code_is_converted_once():
    def make(k):
        def inner(x):
            return x if x > k else k

        return inner

    a, b = make(1), make(5)
    assert converted_code(a.__code__) is converted_code(b.__code__)
    assert [tf.autograph.to_graph(f)(3) for f in (a, b)] == [3, 5]


def test_a_closure_is_shared_with_the_converted_function():
    count = 0

    def step(by):
        nonlocal count
        if by > 0:
            count += by
        return count

    made = tf.autograph.to_graph(step)
    assert (made(2), step(3), made(-1)) == (2, 5, 5)
    count = 100
    assert made(1) == 101


def test_lambdas_of_one_line_are_told_apart():
    a, b, c = (lambda x: x + 1 if x > 0 else 0), (lambda x: x * 2 if x else 7), lambda x: not x
    made = [tf.autograph.to_graph(f) for f in (a, b, c)]
    assert [f(3) for f in made] == [4, 6, False]
    assert [f(0) for f in made] == [0, 7, True]


@pytest.mark.parametrize("kind", ["choice", "loop"])
def test_errors_name_the_variable_and_the_line(kind):
    @tf.function
    def choice(x):
        if x > 0:  # here
            y = x
        else:
            y = 1.0
            y *= 2
        return y

    @tf.function
    def loop(x):
        y = 1
        for i in tf.range(x):  # here
            y = [y, i]
        return y

    function = {"choice": choice, "loop": loop}[kind]
    with pytest.raises(TypeError, match="'y'") as caught:
        function(tf.constant(1))
    place = f"test_conversion.py:{line_of(function.python_function, '# here')}: "
    assert place in str(caught.value)


def test_a_traceback_shows_the_users_lines():
    @tf.function
    def f(x):
        if x > 0:
            for _ in tf.range(x):
                y = {}["missing"]  # the fault
        else:
            y = x
        return y

    with pytest.raises(KeyError) as caught:
        f(tf.constant(1))
    mine = [e for e in traceback.extract_tb(caught.tb) if e.filename == __file__]
    assert mine[-1].line == 'y = {}["missing"]  # the fault'
    assert {entry.name for entry in mine[1:]} == {"f"}


def test_operations_know_the_users_lines():
    @tf.function
    def f(x):
        while x < 10:
            x = x * 3  # multiplied
        return x

    trace = f.get_concrete_function(tf.TensorSpec([], tf.int32))
    loop = next(op for op in trace.graph.operations if op.type == "While")
    found = [op.source for op in loop.kind.body.operations if op.type == "Mul"]
    line = line_of(f.python_function, "# multiplied")
    assert found == [f"{__file__}:{line}"]


def test_a_function_without_source_runs_as_it_is_and_says_so_once():
    names = {}
    exec("def f(x):\n    return x if x > 0 else -x\ndef g(x):\n    return x * 2", names)
    with pytest.warns(AutographWarning, match="'g' is not converted and runs as it is: the source"):
        assert tf.function(names["g"])(tf.constant(2)).numpy() == 4
    assert tf.function(names["g"])(tf.constant(3)).numpy() == 6  # a second warning would raise
    with pytest.warns(AutographWarning), pytest.raises(TypeError, match="autograph=True"):
        tf.function(names["f"])(tf.constant(2))


def test_a_source_that_has_changed_is_not_taken_for_the_function(tmp_path):
    path = tmp_path / "changing.py"
    path.write_text("def f(x):\n    return x + 1\n")
    names = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    path.write_text("# moved\n\n\ndef f(x):\n    return x + 2\n")
    with pytest.warns(AutographWarning, match="does not hold 'f'"):
        assert tf.function(names["f"])(tf.constant(1)).numpy() == 2


def test_what_is_not_converted_runs_as_it_is():
    def choose(x):
        return x if x > 0 else -x

    with pytest.raises(TypeError):
        tf.function(choose, autograph=False)(tf.constant(1))
    plain = tf.autograph.experimental.do_not_convert(choose)
    assert plain.__wrapped__ is choose
    with pytest.raises(TypeError):
        tf.function(plain)(tf.constant(1))
    with pytest.raises(TypeError):
        tf.function(lambda x: plain(x) + 1)(tf.constant(1))
    assert tf.function(choose)(tf.constant(-4)).numpy() == 4


def test_generators_and_coroutines_are_refused_by_name():
    def numbers(x):
        yield x

    async def later(x):
        return x

    with pytest.raises(TypeError, match="numbers' is a generator"):
        tf.function(numbers)(tf.constant(1))
    with pytest.raises(TypeError, match="later' is a coroutine"):
        tf.function(later)(tf.constant(1))
    assert tf.function(lambda x: sum(numbers(x)))(tf.constant(3)).numpy() == 3


def test_libraries_are_not_converted():
    seen = []

    @tf.function
    def f(x):
        seen.append(np.linspace(0, 1, 3).tolist())
        seen.append(functools.reduce(lambda a, b: a + b, [1, 2, 3]))
        return x

    f(tf.constant(1))
    assert seen == [[0.0, 0.5, 1.0], 6]


def test_the_code_can_be_seen():
    code = tf.autograph.to_code(scaled)
    compile(code, "code", "exec")
    assert code.startswith("def scaled(x, k=")
    assert "ag__.if_stmt" in code
    with pytest.raises(TypeError, match="not a function that was written in Python"):
        tf.autograph.to_code(len)


def test_print_prints_in_the_run_where_that_is_asked_for(capsys):
    def f(x):
        if x > 1:
            print("big", x)
        return x

    g = tf.function(f, experimental_autograph_options=tf.autograph.experimental.Feature.ALL)
    for value in (1, 2, 3):
        g(tf.constant(value))
    assert capsys.readouterr().out == "big 2\nbig 3\n"
    tf.function(f)(tf.constant(3))
    assert capsys.readouterr().out.startswith("big Tensor(")
    with pytest.raises(TypeError, match="Feature"):
        tf.function(f, experimental_autograph_options="ALL")


def test_assertions_hold_in_the_run():
    @tf.function
    def f(x, n):
        assert n > 0, "python"
        for i in tf.range(n):
            assert x > i, f"not above {n}"
        return x

    assert f(tf.constant(3), 2).numpy() == 3
    with pytest.raises(AssertionError, match="python"):
        f(tf.constant(3), 0)
    for _ in range(4):
        with pytest.raises(tf.errors.InvalidArgumentError, match="not above 2"):
            f(tf.constant(1), 2)


def test_functions_of_the_core_are_converted_on_request():
    def f(x, n):
        total = 0.0
        for _ in range(n):
            if x > 2.0:
                break
            x = x * 1.5
            total += x
        return x, total

    with pytest.raises(TypeError, match="range"):
        gv.function(f)(gv.asarray(1.0), gv.asarray(5))
    x, total = gv.function(f, autograph=True)(gv.asarray(1.0), gv.asarray(5))
    assert (float(x), float(total)) == (2.25, 3.75)


def test_a_tensor_of_the_core_is_gone_through():
    @gv.function(autograph=True)
    def f(x):
        best = x[0]
        for row in x:
            if gv.sum(row) > gv.sum(best):
                best = row
        return best, len(x)

    best, count = f(gv.asarray([[1.0, 2.0], [5.0, 4.0], [3.0, 3.0]]))
    assert best.numpy().tolist() == [5.0, 4.0]
    assert int(count) == 3


def test_methods_are_freed_with_their_objects():
    class Model:
        @tf.function
        def step(self, x):
            if x > 0:
                return x
            return -x

    model = Model()
    assert model.step(tf.constant(-2)).numpy() == 2
    assert Model.step.python_function is not None
    gone = inspect.getattr_static(Model, "step")._bound
    assert len(gone) == 1
    del model
    assert len(gone) == 0


def test_debuggers_stop_at_the_users_lines():
    import bdb  # noqa: PLC0415

    seen = []

    class Stops(bdb.Bdb):
        def user_line(self, frame):
            if frame.f_code.co_filename == __file__:
                seen.append((frame.f_code.co_name, frame.f_lineno))
            self.set_step()

    made = tf.autograph.to_graph(scaled)
    Stops().runcall(made, 5)
    wanted = [line_of(scaled, text) for text in ("if x > low", "return x * k")]
    lines = [line for name, line in seen if name == "scaled"]
    assert [line for line in dict.fromkeys(lines) if line in wanted] == wanted


def test_nothing_is_said_of_what_is_converted():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f = tf.function(lambda x: x if x > 0 else -x)
        assert f(tf.constant(-1)).numpy() == 1


def test_options_of_functions_are_honoured_or_refused_by_name():
    f = tf.function(lambda x: x * 2, experimental_relax_shapes=True, jit_compile=True)
    for n in range(1, 6):
        assert f(tf.ones([n])).shape == [n]
    assert f.experimental_get_tracing_count() == 2
    with pytest.raises(TypeError, match="jit_compile is 'yes'"):
        tf.function(lambda x: x, jit_compile="yes")
    with pytest.raises(TypeError, match="unexpected keyword argument 'speed'"):
        tf.function(lambda x: x, speed=3)


def returns_in_with(x, q=False):
    if q:
        with tf.name_scope("s"):
            return x * 3.0
    if x > 2.0:
        with tf.name_scope("s"):
            return x * 4.0
    if x > 1.0:
        with tf.name_scope("s"):
            return x * 5.0
    else:
        x = x - 1.0
    return x + 100.0


def returns_inside_of_with(x):
    if x > 1.0:
        with tf.name_scope("s"):
            if x > 2.0:
                return x * 2.0
            return x + 10.0
    return x


def returns_unless_refused(x, key):
    if x is not None:
        with suppress(KeyError):
            return x * {"one": 2.0}[key]
    return x * 7.0


@pytest.mark.parametrize("value", [0.5, 1.5, 2.5])
def test_a_with_in_a_choice_may_return(value):
    x = tf.constant(value)
    for function in (returns_in_with, returns_inside_of_with):
        assert float(tf.function(function)(x)) == float(function(x))
    assert float(tf.function(returns_in_with)(x, q=True)) == value * 3
    staged = tf.function(returns_unless_refused)
    assert float(staged(x, "one")) == value * 2
    assert float(staged(x, "two")) == value * 7


class Bank:
    """A method that is a function, with a choice inside."""

    rate = 2

    @tf.function
    def paid(self, amount):
        """Return twice what is there, or nothing."""
        if amount > 0:
            return amount * self.rate
        return tf.zeros_like(amount)


def test_the_source_of_a_method_is_the_one_of_its_function():
    bank = Bank()
    for method in (bank.paid, bank.paid.python_function):
        assert tf.autograph.to_code(method) == tf.autograph.to_code(Bank.paid)
        assert int(tf.autograph.to_graph(method)(tf.constant(3))) == 6
