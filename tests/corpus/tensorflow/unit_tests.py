"""Run TensorFlow's own unit tests on gravure: `python unit_tests.py FOLDER [PART OF A PATH ...]`.

FOLDER holds sources of TensorFlow (`FOLDER/tensorflow/python/...`), which are brought from
outside. What the tests import of `tensorflow.python` is answered with the public names of
`gravure.tf`: first those of `compat.v1`, of functions that end in `_v2` those of the second
version. A test that asks for a name that TensorFlow does not make public is not counted, and
neither is one whose source does so and that does not get so far, or passes by another way; nor
one that makes an operation of a type which only TensorFlow's tests have (`FloatOutput`).

Each file runs in a process of its own. Printed is, for each file, how many tests pass of those
that public names are enough for; then the reasons of failures, the most frequent first.

`--write FILE` notes what became of each test. Run so by TensorFlow's own Python and with
`UNIT_TESTS_ON=tensorflow`, it says which tests TensorFlow itself fails by its public names;
`--apart FILE` takes such a note and lists these tests apart.
"""

import argparse
import collections
import contextlib
import functools
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import itertools
import json
import re
import signal
import subprocess
import sys
import types
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from absl import flags
from combined import NAMES
from conversions import ConversionCase
from decorators import (
    both_modes,
    for_all_tests,
    graph_mode,
    of_all,
    on_either,
    skipped,
    skipped_if,
    tf,
)
from numpy_names import NAMES as NUMPY_NAMES
from numpy_names import begin
from older import as_older_numpy, six
from public_names import NotPublicError, Sources
from used_names import private_name

CORE = Path(__file__).parents[3] / "frontend/tf/core"
PACKAGES = {
    *("autograph", "client", "compat", "data", "eager", "framework", "kernel_tests", "layers"),
    *("lib", "ops", "platform", "saved_model", "summary", "training", "util", "distribute"),
    *("data.ops", "ops.linalg", "ops.losses", "ops.ragged", "ops.signal", "keras", "lib.io"),
    *("training.tracking", "ops.random_ops_util", "ops.numpy_ops"),
}
SPACES = (
    *("", "math", "nn", "linalg", "image", "random", "strings", "io", "train", "losses", "metrics"),
    *("sparse", "data", "debugging", "bitwise", "signal", "summary", "dtypes", "errors", "test"),
    *("initializers", "layers", "saved_model", "graph_util", "sets", "ragged", "quantization"),
    *("lookup", "experimental", "nn.rnn_cell"),
)
PARTS = "python|core|compiler|lite|tools"
"""What there is below `tensorflow` that is not public."""
OUTSIDE = ("core", "compiler", "lite", "tools")
"""Folders whose sources are not looked at: all but the last part of a path is a folder."""
SECONDS = 100
KINDS = ("missing", "private", "skipped", "apart")


def loaded(path, name, text=None):
    """Return a module that is made of a file, or of another text of it."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    exec(compile(text or path.read_text(), str(path), "exec"), module.__dict__)
    return module


LISTING = loaded(CORE / "listing.py", "listing_of_names")


@functools.cache
def signatures():
    """Return the names of operations without case and underscores, and their arguments in order."""
    made = {}
    for line in LISTING.lines("signatures.txt"):
        found = re.match(r"(\w+)\((.*?)(?:;(.*))?\)", line)
        if not found:
            continue
        inputs = [x.partition(":")[0] for x in found[2].split(",") if x]
        types = set(re.findall(r":(\w+)", found[2])) | set(re.findall(r"(\w+)\*", found[2]))
        attributes = [x for x in (found[3] or "").split(",") if ":" in x]
        attributes.sort(key=lambda x: "=" in x)
        names = [x.partition(":")[0] for x in attributes]
        made[found[1].lower()] = found[1], inputs + [x for x in names if x not in types]
    return made


class NotHereError(AttributeError):
    """A public name of TensorFlow is not here."""


class Without:
    """Stands for a base class that is not here."""


class Absent:
    """Stands for a name that is not here, until a test uses it.

    While a file is read, what is made of it is absent too: a test that it decorates raises.
    """

    loading = False

    def __init__(self, error):
        self._error = error

    def __call__(self, *args, **options):
        if not Absent.loading:
            raise self._error
        if len(args) == 1 and not options and isinstance(args[0], types.FunctionType):
            return functools.wraps(args[0])(lambda *_, **__: self())
        return Absent(self._error)

    def __getattr__(self, name):
        if not Absent.loading or name.startswith("__"):
            raise self._error
        return Absent(self._error)

    def __instancecheck__(self, value):
        raise self._error

    def __getitem__(self, key):
        raise self._error

    def __iter__(self):
        return iter([self()])

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = lambda self, _: self()

    def __repr__(self):
        return f"<{type(self._error).__name__} {self._error}>"

    def __mro_entries__(self, bases):
        return (type(str(self._error), (Without,), {"_error": self._error}),)


def is_private(value):
    """Say whether a value stands for a name that is not public."""
    if isinstance(value, StandIn):
        return value.__name__.split(".")[1:2] in (["compiler"], ["lite"], ["tools"])
    stands = type(value) is Absent or (isinstance(value, type) and issubclass(value, Without))
    return stands and isinstance(value._error, NotPublicError)


def of_rows(name):
    """Return what a name of the modules of ragged tensors stands for."""
    short = name.removesuffix("_v2")
    for space in (tf.compat.v1.ragged, tf.RaggedTensor, tf.strings):
        with contextlib.suppress(AttributeError):
            return getattr(space, short)
    return public(f"{short}_v2")


def at(path):
    """Return what stands at a public path (`compat.v1.nn.relu`), None if nothing does."""
    found = tf
    for part in path.split("."):
        found = getattr(found, part, None)
        if found is None:
            return None
    return found


def exported(path, name):
    """Return what stands for a name of a module, by what its source says of public names."""
    found = SOURCES and SOURCES.find(f"tensorflow.python.{path}", name)
    if found is None:
        return public(name)
    if found is False:
        return Absent(NotPublicError(name))
    for each in found.names():
        made = at(each)
        if made is not None:
            return made
    spaces = LISTING.listed()
    for each in found.names():
        space, _, last = f"tf.{each}".rpartition(".")
        if last in spaces.get(space, ()):
            return Absent(NotHereError(each))
    return Absent(NotPublicError(name))


def public(name):
    """Return what a public name of TensorFlow stands for in gravure, or what is absent."""
    second = name.endswith("_v2")
    short = name.removesuffix("_v2") if second else name
    for version in (tf, tf.compat.v1) if second else (tf.compat.v1, tf):
        for space in SPACES:
            with contextlib.suppress(AttributeError):
                return getattr(functools.reduce(getattr, space.split("."), version)
                               if space else version, short)  # fmt: skip
    if any(short in names for space, names in LISTING.listed().items() if "raw_ops" not in space):
        return Absent(NotHereError(short))
    return Absent(NotPublicError(name))


@functools.cache
def raw_names():
    """Return the names of operations without case and underscores."""
    return {name.lower(): name for name in LISTING.listed()["tf.raw_ops"]}


def raw(name):
    """Return what a function of a module of generated operations stands for: one of `raw_ops`.

    These take keywords only; the generated functions have them in the order of the operation's
    signature. Where that is not known here, it is that of the operation if it is there.
    """
    key = name.replace("_", "")
    type_, order = signatures().get(key, (raw_names().get(key), None))
    if type_ not in LISTING.listed()["tf.raw_ops"]:
        return Absent(NotPublicError(name))
    operation = getattr(tf.raw_ops, type_, None)
    if operation is None:
        made = public(name) if order is None else Absent(NotHereError(f"raw_ops.{type_}"))
        return made if isinstance(made, Absent) else Absent(NotPublicError(name))
    if order is None:
        order = [*inspect.signature(operation).parameters]

    def call(*args, **kwargs):
        return operation(**dict(zip([*order, "name"], args, strict=False)), **kwargs)

    return call


class StandIn(types.ModuleType):
    """A module of TensorFlow: its names are public ones of gravure."""

    def __getattr__(self, name):
        if name.startswith("__") or name in OF_LOADERS:
            raise AttributeError(name)
        path = self.__name__.removeprefix("tested").removeprefix(".python").strip(".")
        inner = f"{path}.{name}".strip(".")
        if is_package(path) or is_package(inner):
            return importlib.import_module(f"{self.__name__}.{name}")
        own = OWN.get(path, OWN.get(path.rpartition(".")[2], {}))
        made = own[name] if name in own else other(path, name)
        setattr(self, name, made)
        return made

    def __call__(self, *_, **__):
        raise NotPublicError(self.__name__)

    def __mro_entries__(self, bases):
        return Absent(NotPublicError(self.__name__)).__mro_entries__(bases)


def is_package(path):
    """Say whether a path is that of a folder of modules."""
    if path.startswith(OUTSIDE):
        return not path.endswith("_pb2") and "_pb2." not in path
    whole = f"tensorflow.python.{path}"
    return path in {"", *PACKAGES} or bool(SOURCES and SOURCES.is_package(whole))


def other(path, name):
    """Return what stands for a name of a module without names of its own."""
    decorators = not name.startswith("assert") or name.startswith("assert_no_")
    if path.endswith("framework.test_util") and name == "create_local_cluster":
        return exported(path, name)
    if path.endswith("framework.test_util") and decorators:
        return as_it_is
    if path.rpartition(".")[2].startswith("gen_"):
        return raw(name)
    made = exported(path, name)
    if path.startswith("ops.ragged.") and isinstance(made, Absent):
        return of_rows(name)
    return made


def as_it_is(target=None, *_, **__):
    """Decorate nothing."""
    return target if callable(target) else lambda f: f


OF_TESTS = re.compile(
    r"python\.(data\.)?kernel_tests\..*(?<!_test)|python\..*\w_test_(util|base)"
    r"|python\.util\.numpy_compat|python\.ops\.(parallel_for\.test_util|numpy_ops\.tests\.(config|extensions|test_util))"
)
"""The modules that tests share among them: they are read, and not answered by public names."""
OF_LOADERS = ("setUpModule", "tearDownModule", "load_tests")
"""What `unittest` asks a module of tests for, and that no module of TensorFlow has to have."""


def as_tested(text):
    """Return a source that imports TensorFlow by the name that is answered here.

    What files do when they are run is done, too: some make their tests there.
    """
    text = text.replace("._next_internal", ".get_next")
    text = re.sub(r"\b(tf\.test|absltest)\.main\(\)", "None", text)
    text = re.sub(r"""^if __name__ == (["'])__main__\1:""", "if True:", text, flags=re.M)
    return re.sub(rf"\btensorflow(?=\.({PARTS})\b)", "tested", text)


class TensorFlowFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds TensorFlow, which the tests are made to import by another name."""

    def find_spec(self, name, path=None, target=None):
        """Return the spec of a module of TensorFlow."""
        if name.partition(".")[0] != "tested":
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        """Return the module; `tensorflow` itself is the facade."""
        return StandIn(spec.name)

    def exec_module(self, module):
        """Read a module that belongs to the tests; others make names when they are asked for."""
        name = module.__name__.removeprefix("tested.")
        if SOURCES and OF_TESTS.fullmatch(name) and SOURCES.is_file(f"tensorflow.{name}"):
            path = SOURCES.path(f"tensorflow.{name}")
            module.__file__ = str(path)
            exec(compile(as_tested(path.read_text()), path, "exec"), module.__dict__)


NARROW = {3: [0, 2, 1], 4: [0, 3, 1, 2], 5: [0, 4, 1, 2, 3]}
WIDE = {3: [0, 2, 1], 4: [0, 2, 3, 1], 5: [0, 2, 3, 4, 1]}


def channels_moved(order):
    """Return what moves the axis of channels of a tensor, or of a list of sizes."""

    def move(value):
        if isinstance(value, tf.Tensor):
            return tf.transpose(value, order[len(value.shape)])
        return [value[axis] for axis in order[len(value)]]

    return move


class EitherTape:
    """A tape, or what asks a graph for its gradients as if it were one."""

    def __init__(self, use_tape, persistent=False):
        self.tape = tf.GradientTape(persistent=persistent) if use_tape else None

    def __enter__(self):
        return self.tape.__enter__() if self.tape else self

    def __exit__(self, *raised):
        return self.tape.__exit__(*raised) if self.tape else None

    def watch(self, _):
        """Do nothing: a graph knows all that was computed."""

    def gradient(self, y, x, grad_ys=None):
        """Return the gradients of a graph."""
        found = tf.compat.v1.gradients(y, x, grad_ys)
        return found if isinstance(x, list | tuple) else found[0]


def named_cases(**options):
    """Return all choices of one value for each option, each with a name."""
    lists = {k: v if isinstance(v, list) else [v] for k, v in sorted(options.items())}
    made = [dict(zip(lists, each, strict=True)) for each in itertools.product(*lists.values())]
    plain = lambda x: "".join(filter(str.isalnum, str(x)))  # noqa: E731
    names = ["".join(f"_{plain(k)}_{plain(v)}" for k, v in case.items()) for case in made]
    return [{**case, "testcase_name": f"_test{n}"} for case, n in zip(made, names, strict=True)]


def one_process(num_workers, num_ps, **_):
    """Return the workers and the parameter servers of a cluster: all of them are this process."""
    task = types.SimpleNamespace(target="")
    return [task] * num_workers, [task] * num_ps


class Resource(type):
    """What tests ask of the class of variables that are resources."""

    def __call__(cls, *args, **kwargs):
        """Make a variable."""
        return tf.compat.v1.Variable(*args, use_resource=True, **kwargs)

    def __instancecheck__(cls, value):
        """Say whether a value is a variable."""
        return isinstance(value, tf.Variable)


class ResourceVariable(metaclass=Resource):
    """A variable."""

    from_proto = tf.compat.v1.Variable.from_proto


def entered_scope(*args, skip_on_eager=True, **kwargs):
    """Return the scope of a name, eagerly too: it is never skipped here."""
    return tf.compat.v1.name_scope(*args, **kwargs)


def at_once():
    """Return what lets operations run at once, whatever graph is entered."""
    if "gravure" not in sys.modules:  # TensorFlow itself is asked
        return tf.init_scope()
    return importlib.import_module("gravure.frontend.values.context").entered(None)


def own_names():
    """Return names of modules for the tests themselves, and those that are called otherwise."""
    v1 = tf.compat.v1
    never = lambda *_, **__: False  # noqa: E731
    there = contextlib.nullcontext
    case = v1.test.TestCase
    return {
        "test_util": {
            "TensorFlowTestCase": case,
            "run_in_graph_and_eager_modes": both_modes,
            "run_all_in_graph_and_eager_modes": of_all(both_modes),
            "run_deprecated_v1": on_either(graph_mode),
            "run_v1_only": on_either(graph_mode),
            "deprecated_graph_mode_only": on_either(graph_mode),
            **dict.fromkeys(("use_gpu", "force_cpu", "force_gpu", "deterministic_ops"), there),
            "run_gpu_only": skipped,
            "run_cuda_only": skipped,
            "device": lambda *_, **__: there(),
            "is_gpu_available": never,
            "IsMklEnabled": never,
            "IsBuiltWithROCm": never,
            "is_xla_enabled": never,
            "gpu_device_name": lambda: "",
            "NHWCToNCHW": channels_moved(NARROW),
            "NCHWToNHWC": channels_moved(WIDE),
            "AbstractGradientTape": EitherTape,
            "GpuSupportsHalfMatMulAndConv": never,
            "is_mlir_bridge_enabled": never,
            "is_asan_enabled": never,
            "matmul_without_tf32": tf.matmul,
            "generate_combinations_with_testcase_name": named_cases,
            "for_all_test_methods": for_all_tests,
        },
        "test": {
            "TestCase": case,
            "Benchmark": object,
            "main": lambda *_, **__: None,
            "disable_with_predicate": skipped_if,
            "create_local_cluster": one_process,
        },
        "ops": {
            "convert_to_tensor": v1.convert_to_tensor,
            "name_scope": entered_scope,
        },
        "googletest": {"TestCase": case, "main": lambda *_, **__: None},
        "context": {
            "executing_eagerly": tf.executing_eagerly,
            "graph_mode": lambda: tf.Graph().as_default(),
            "eager_mode": at_once,
            "num_gpus": lambda: 0,
        },
        "def_function": {"function": tf.function},
        "converter_testing": {"TestCase": ConversionCase},
        "function": {"defun": tf.function},
        "resource_variable_ops": {"ResourceVariable": ResourceVariable},
        "compat": {"forward_compatible": lambda *_: True},
        "control_flow_util": {"ENABLE_CONTROL_FLOW_V2": True},
        "ragged_math_ops": {
            f"segment_{how}": getattr(tf.math, f"unsorted_segment_{how}")
            for how in ("sum", "prod", "min", "max", "mean", "sqrt_n")
        },
        "ragged_array_ops": {"split": tf.split},
        "ragged_where_op": {"where": v1.where, "where_v2": tf.where},
        "ragged_conversion_ops": {
            "to_tensor": lambda x, *args, **kwargs: (
                x if isinstance(x, tf.Tensor) else x.to_tensor(*args, **kwargs)
            ),
        },
        "random_seed": {"DEFAULT_GRAPH_SEED": 87654321},
        "tf2": {"enabled": lambda: True},
        "tf_logging": {},
        "array_ops": {"newaxis": None},
        "dtypes": {"_TYPE_TO_STRING": {}},
        "gradient_checker_v2": {
            "compute_gradient": tf.test.compute_gradient,
            "max_error": lambda a, b: max(
                (abs(x - y).max() for x, y in zip(a, b, strict=True) if x.size), default=0.0
            ),
        },
    }


OWN = {}
SOURCES = None


def private_parameter(test):
    """Return the first name that is not public and that a test is given something of, or None."""
    found = re.search(r"<NotPublicError (\w+)>", test.id())
    return found and found[1]


class Noting(unittest.TestResult):
    """Writes a line for each test; one that takes too long has failed, and the next one goes on."""

    SECONDS: float = 0

    def startTest(self, test):
        """Let the test's time begin."""
        signal.signal(signal.SIGALRM, self.too_long)
        signal.setitimer(signal.ITIMER_REAL, self.SECONDS)

    def stopTest(self, test):
        """Let the test's time end."""
        signal.setitimer(signal.ITIMER_REAL, 0)

    def too_long(self, *_):
        """End a test."""
        raise TimeoutError(f"more than {self.SECONDS:g} s")

    def note(self, test, kind, text=""):
        """Write what became of a test; one whose source asks for private names is not counted."""
        if kind in ("passed", "failed", "missing"):
            name = private_name(test, is_private) or private_parameter(test)
            kind, text = ("private", f"{name} ({kind})") if name else (kind, text)
        label = re.sub(r" at 0x[0-9a-f]+", "", test.id().partition(".")[2])
        print("RESULT " + json.dumps([label, kind, text]), flush=True)

    def addSuccess(self, test):
        """Note that a test passed."""
        self.note(test, "passed")

    def addSkip(self, test, reason):
        """Note that a test does not want to run here."""
        self.note(test, "skipped", reason)

    def addError(self, test, err):
        """Note an error, and of which kind."""
        error, seen = err[1], set()
        if asks_for_inner(err[1], err[2]):
            self.note(test, "private", str(err[1])[:160])
            return
        while error is not None and id(error) not in seen:
            seen.add(id(error))
            if isinstance(error, NotPublicError | NotHereError):
                kind = "private" if isinstance(error, NotPublicError) else "missing"
                self.note(test, kind, str(error))
                return
            error = error.__cause__ or error.__context__
        absent = re.search(r"<(NotPublic|NotHere)Error (\w+)>", str(err[1]))
        if absent:
            self.note(test, "private" if absent[1] == "NotPublic" else "missing", absent[2])
            return
        type_ = re.search(r"Op type not registered '(\w+)'", str(err[1]))
        if type_ and type_[1] not in LISTING.listed()["tf.raw_ops"]:
            self.note(test, "private", f"raw_ops.{type_[1]}")
            return
        name = re.search(r"gravure\.(tf\S*) has no '(\w+)'", str(err[1]))
        if name:
            self.note(test, "missing", name[2])
        else:
            self.note(test, "failed", f"{err[0].__name__}: {str(err[1])[:160]}")

    addFailure = addError

    def addSubTest(self, test, subtest, err):
        """Note an error of a part of a test."""
        if err is not None:
            self.addError(test, err)


def asks_for_inner(error, trace):
    """Say whether a test itself asks an object for a name that begins with an underscore."""
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    inner = isinstance(error, AttributeError) and str(error.name or "").startswith("_")
    return inner and "/tensorflow/python/" in trace.tb_frame.f_code.co_filename


def child(path, seconds):
    """Run the tests of a file, each for so many seconds at the most."""
    global SOURCES  # noqa: PLW0603  (one file a process)
    SOURCES = Sources(path.parents[len(path.parts) - 1 - path.parts.index("tensorflow")])
    as_older_numpy()
    flags.FLAGS(["unit_tests"])
    sys.modules.setdefault("six", six())
    sys.modules.setdefault("six.moves", sys.modules["six"].moves)
    sys.meta_path.insert(0, TensorFlowFinder())
    OWN.update({**own_names(), **NAMES, **NUMPY_NAMES})
    begin(path)
    sys.modules.update({"tensorflow": tf, "tensorflow.compat.v2": tf})
    sys.modules.update({"tensorflow.compat": tf.compat, "tensorflow.compat.v1": tf.compat.v1})
    Absent.loading = True
    module = loaded(path, f"unit_{path.stem}", as_tested(path.read_text()))
    Absent.loading = False
    Noting.SECONDS = seconds
    unittest.TestLoader().loadTestsFromModule(module).run(Noting())


def outcomes(path, seconds=SECONDS, each=0):
    """Return what became of the tests of a file: for each its kind and a text."""
    command = [sys.executable, "-W", "ignore", __file__, "--child", f"--each={each}", str(path)]
    try:
        found = subprocess.run(
            command, check=False, capture_output=True, text=True, timeout=seconds, errors="replace"
        )
        out, err = found.stdout, found.stderr.strip().splitlines()[-1:] if found.returncode else []
    except subprocess.TimeoutExpired as error:
        out, err = (error.stdout or b"").decode(), [f"more than {seconds} s"]
    lines = [json.loads(x[7:]) for x in out.splitlines() if x.startswith("RESULT ")]
    worst = {}
    for name, kind, text in lines:
        if worst.get(name, ("passed",))[0] == "passed":
            worst[name] = kind, text
    if err:
        is_private = any(name in err[0] for name in ("NotPublicError", "named 'gast'"))
        worst["(the file)"] = ("private" if is_private else "failed"), err[0][:160]
    return worst


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("parts", nargs="*", help="parts of paths: only such files are run")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--reasons", type=int, default=40, help="how many reasons are printed")
    parser.add_argument("--jobs", type=int, default=1, help="how many files run at a time")
    parser.add_argument("--seconds", type=int, default=SECONDS, help="how long a file may take")
    parser.add_argument("--each", type=float, default=0, help="seconds for each test; 0: any")
    parser.add_argument("--write", type=Path, help="a file for what became of each test")
    parser.add_argument("--apart", type=Path, help="a note of --write, by TensorFlow itself")
    given = parser.parse_args()
    if given.child:
        child(given.folder, given.each)
        return
    total, reasons = collections.Counter(), collections.Counter()
    names = {
        path: str(path.relative_to(given.folder)).removeprefix("tensorflow/python/")
        for path in sorted(given.folder.rglob("*_test.py"))
    }
    paths = [x for x in names if not given.parts or any(part in names[x] for part in given.parts)]
    there = json.loads(given.apart.read_text()) if given.apart else {}
    written = {}
    with ThreadPoolExecutor(given.jobs) as pool:
        every = pool.map(functools.partial(outcomes, seconds=given.seconds, each=given.each), paths)
        for path, found in zip(paths, every, strict=True):
            written[names[path]] = found
            report(names[path], set_apart(found, there.get(names[path], {})), total, reasons)
            if given.write:
                given.write.write_text(json.dumps(written, indent=1))
    counted = total["passed"] + total["failed"] + total["missing"]
    print(f"{'all':60} {total['passed']:4} of {counted:4}  {dict(total)}")
    for (kind, text), count in reasons.most_common(given.reasons):
        print(f"{count:5} {kind}: {text.splitlines()[0] if text else ''}")


def set_apart(found, there):
    """Return what became of the tests, and which of those that fail TensorFlow fails, too."""
    bad = ("failed", "missing")
    return {
        test: ("apart", text) if kind in bad and there.get(test, ("",))[0] == "failed" else each
        for test, each in found.items()
        for kind, text in [each]
    }


def report(name, found, total, reasons):
    """Print the line of a file, and count what is in it."""
    kinds = collections.Counter(kind for kind, _ in found.values())
    counted = kinds["passed"] + kinds["failed"] + kinds["missing"]
    total.update(kinds)
    left = ", ".join(f"{kinds[k]} {k}" for k in KINDS if kinds[k])
    print(f"{name:60} {kinds['passed']:4} of {counted:4}  {left}", flush=True)
    for test, (kind, text) in found.items():
        if kind in ("failed", "missing"):
            reasons[kind, re.sub(r"\d+", "#", text)] += 1
            print(f"    {kind} {test}: {text}"[:220], file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
