"""Time single operators of ONNX beside onnxruntime, and pairs of them that are often met.

    python tools/measuring/onnx_operators.py                       # where onnxruntime is installed
    python tools/measuring/onnx_operators.py --only 'Transpose,(0, 2, 3)'
    python tools/measuring/onnx_operators.py --open 0              # the first axis of x is open

Each is a model of its own, run on one thread; a row is the least processor time of both in
microseconds, gravure's as a part of onnxruntime's, and how far the results are apart. The last line
is their geometric mean, and how many are above 1.2.
"""

from __future__ import annotations

import argparse
import importlib
import math
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import process_time
from typing import Any

ONE_THREAD = dict.fromkeys(("GRAVURE_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
os.environ.update(ONE_THREAD)  # before numpy begins threads

import numpy as np  # noqa: E402

parser, helper, inference = (
    importlib.import_module(f"onnx.{name}") for name in ("parser", "helper", "shape_inference")
)
FLOAT, INT32, INT64 = 1, 6, 7
PATIENCE = 0.02
"""Seconds of the processor that a run is repeated for, ..."""
ROUNDS = 3
"""... so often by each side in turn."""
HIGHEST = 100
"""Above all indices that are drawn."""
REDUCTIONS: Sequence[tuple[str, str]] = (
    ("1000,1000", "0"), ("1000,1000", "1"), ("64,100,100", "1"), ("64,100,100", "0,2"),
    ("8,64,56,56", "2,3"), ("8,64,56,56", "0,2,3"), ("100000,3", "0"), ("100000,3", "1"),
    ("1000000", "0"), ("7,13,17,19", "0,3"),
)  # fmt: skip
ORDERS: Sequence[tuple[str, Sequence[str]]] = (
    ("1000,1000", ["1,0"]),
    ("64,100,100", ["0,2,1", "1,0,2", "2,1,0", "2,0,1", "1,2,0"]),
    ("8,64,56,56", ["0,2,3,1", "0,3,1,2", "0,2,1,3", "3,2,1,0"]),
    ("1000000,2", ["1,0"]), ("2,1000000", ["1,0"]), ("1000,3,10", ["2,1,0"]),
)  # fmt: skip
PRODUCTS: Sequence[tuple[str, str]] = (
    ("1,64", "64,64"), ("1,1024", "1024,1024"), ("1,1024", "1024,50000"), ("1024,1024", "1024,1"),
    ("8,1,1024", "8,1024,1024"), ("16,512,64", "16,64,1"), ("4,1024", "1024,1024"),
    ("1000,1000", "1000,10"), ("1000,3", "3,1000"), ("100000,3", "3,3"), ("64,32,32", "64,32,32"),
    ("300,300", "300,300"),
)  # fmt: skip
MATRICES = "float[1000,1000] x, float[1000,1000] z"


@dataclass(frozen=True)
class SmallModel:
    """One small model, in the text form of ONNX."""

    inputs: str
    nodes: str
    constants: str = ""
    element: int = FLOAT

    def __str__(self) -> str:
        nodes = " ".join(self.nodes.split())
        return ", ".join(filter(None, (f"{nodes} of {self.inputs}", self.constants)))


def cases() -> Iterator[SmallModel]:
    """Give all cases."""
    for shape, axes in REDUCTIONS:
        for name in ("ReduceSum", "ReduceMax"):
            count = axes.count(",") + 1
            yield SmallModel(
                f"float[{shape}] x", f"y = {name}<keepdims=0>(x, a)",
                f"int64[{count}] a = {{{axes}}}",
            )  # fmt: skip
    for shape, orders in ORDERS:
        for order in orders:
            for kind in ("float", "uint8", "double"):
                yield SmallModel(f"{kind}[{shape}] x", f"y = Transpose<perm=[{order}]>(x)")
    for left, right in PRODUCTS:
        yield SmallModel(f"float[{left}] x, float[{right}] w", "y = MatMul(x, w)")
        if left.count(",") == 1:
            turned = ",".join(reversed(right.split(",")))
            for kind in ("float", "double"):
                yield SmallModel(
                    f"{kind}[{left}] x, {kind}[{turned}] w", "y = Gemm<transB=1>(x, w)"
                )
    yield from pairs()
    yield from others()
    yield from selections()


def pairs() -> Iterator[SmallModel]:
    """Give what is fused, or had better not be."""
    yield SmallModel(MATRICES, "t = Add(x, z) y = Transpose(t)")
    yield SmallModel(MATRICES, "t = Transpose(x) y = Add(t, z)")
    yield SmallModel("float[1000,1000] x", "t = Transpose(x) y = Softmax(t)")
    yield SmallModel("float[1000,1000] x", "t = Relu(x) y = Transpose(t)")
    yield SmallModel("float[1000] x, float[1000,1000] w", "t = Tanh(x) y = Mul(t, w)")
    yield SmallModel("float[1000,1] x, float[1000,1000] w", "t = Tanh(x) y = Mul(t, w)")
    yield SmallModel("float[1,1024] x, float[1024,1024] w", "t = Tanh(x) y = Gemm<transB=1>(t, w)")
    yield SmallModel("float[1,1024] x, float[1024,1024] w, float[1024] b",
               "p = MatMul(x, w) q = Add(p, b) y = Relu(q)")  # fmt: skip


def others() -> Iterator[SmallModel]:
    """Give one or two of each kind of operator."""
    image = "float[8,64,56,56] x"
    for shape, axis in (("1000,1000", 1), ("1000,1000", 0), ("100000,10", 1), ("32,50000", 1)):
        yield SmallModel(f"float[{shape}] x", f"y = Softmax<axis={axis}>(x)")
    for window, stride, pad in ((2, 2, 0), (3, 2, 1), (3, 1, 1), (7, 1, 3)):
        sizes = f"kernel_shape=[{window},{window}],strides=[{stride},{stride}]"
        for name in ("MaxPool", "AveragePool"):
            yield SmallModel(image, f"y = {name}<{sizes},pads=[{pad},{pad},{pad},{pad}]>(x)")
    for window, stride, more in ((2, 2, ""), (3, 1, ""), (4, 2, ""), (3, 2, ",pads=[1,1,1,1]")):
        yield SmallModel(f"float[1,64,28,28] x, float[64,32,{window},{window}] w",
                   f"y = ConvTranspose<strides=[{stride},{stride}]{more}>(x, w)")  # fmt: skip
    for mode in ("nearest", "linear", "cubic"):
        yield SmallModel("float[1,64,56,56] x", f'y = Resize<mode="{mode}">(x, , s)',
                   "float[4] s = {1,1,2,2}")  # fmt: skip
    yield from doubled()
    yield SmallModel("float[1,32,64,64] x, float[1,64,64,2] z", "y = GridSample(x, z)")
    yield SmallModel("float[10000,64] x, int64[5000] i", "y = Gather(x, i)")
    yield SmallModel("float[1000,1000] x, int64[100] i", "y = Gather<axis=1>(x, i)")
    yield SmallModel("float[100,100,64] x, int64[5000,2] i, float[5000,64] u",
               'y = ScatterND<reduction="add">(x, i, u)')  # fmt: skip
    yield SmallModel("float[1000,1000] x", "y, i = TopK(x, k)", "int64[1] k = {5}")
    yield SmallModel("float[1000,1000] x", "y = CumSum(x, a)", "int64 a = {0}")
    yield SmallModel("float[64,200,200] x", "y = Trilu<upper=0>(x)")
    yield SmallModel("uint8[128,256] x, uint8[256,256] w", "y = MatMulInteger(x, w)", "", INT32)
    yield SmallModel("float[1000,500] x, float[1000,500] z", "y = Concat<axis=1>(x, z)")
    yield SmallModel(image, 'y = Pad<mode="reflect">(x, p)', "int64[8] p = {0,0,1,1,0,0,1,1}")
    for name in ("Exp", "Tanh", "Erf", "Sin", "Log", "Sqrt", "Softplus", "Floor"):
        yield SmallModel("float[300000] x", f"y = {name}(x)")


def doubled() -> Iterator[SmallModel]:
    """Give images of twice the size, and what is done with those."""
    how = 'mode="nearest",coordinate_transformation_mode="asymmetric",nearest_mode="floor"'
    for shape, larger in (("1,64,40,40", "1,64,80,80"), ("1,256,13,13", "1,256,26,26")):
        images = f"float[{shape}] x, float[{larger}] z"
        for then in ("y = Add(d, z)", "y = Concat<axis=1>(d, z)", "e = Sigmoid(d) y = Mul(e, z)"):
            nodes = f"d = Resize<{how}>(x, , s) {then}"
            yield SmallModel(images, nodes, "float[4] s = {1,1,2,2}")


def selections() -> Iterator[SmallModel]:
    """Give what selects, sorts and chooses."""
    for shape, axis, count in (("10,100", 0, 10), ("1000,1000", 0, 1000)):
        yield SmallModel(f"float[{shape}] x", "f = Relu(x) y = NonZero(f)", "", INT64)
        yield SmallModel(f"float[{shape}] x, bool[{count}] c", f"y = Compress<axis={axis}>(x, c)")
    for count in (100, 10000):
        yield SmallModel(f"float[{count}] x", "f = Floor(x) y = Unique(f)")
    for kind, k in (("float", 50), ("float", 1000), ("double", 1000)):
        sizes = f"int64[1] k = {{{k}}}"
        yield SmallModel(f"{kind}[100,1000] x", "y, i = TopK(x, k)", sizes)
    for shape, k in (("1000,64", 20), ("1000,64", 1000), ("5000,16", 50)):
        sizes = f"int64[1] k = {{{k}}}"
        yield SmallModel(f"float[{shape}] x", "y, i = TopK<axis=0>(x, k)", sizes)
    yield SmallModel("float[1,500,4] x, float[1,1,500] s", "y = NonMaxSuppression(x, s, m, o)",
               "int64 m = {50}, float o = {0.5}", INT64)  # fmt: skip
    for count in (100, 10000):
        yield SmallModel(f"bool[1] c, float[{count}] x", """y = If (c) <
            then_branch = one () => (float[A] t) { t = Slice(x, a, b) },
            else_branch = other () => (float[B] e) { e = Concat<axis=0>(x, x) }
        >""", "int64[1] a = {0}, int64[1] b = {50}")  # fmt: skip
    yield SmallModel("float[10] x", """s, y = Loop (, on, x) <
        body = trip (int64 i, bool f, float[10] old) => (bool g, float[10] new, float[10] part) {
            new = Tanh(old) m = ReduceMax<keepdims=0>(new) g = Greater(m, least) part = Neg(new)
        }
    >""", "bool on = {1}, float least = {0.05}")  # fmt: skip


def model_of(case: SmallModel, axis: int | None) -> tuple[bytes, Mapping[str, tuple[int, int]]]:
    """Return a case as a model, and the range of the size that is open."""
    inputs, dims = case.inputs, dict[str, tuple[int, int]]()
    if axis is not None:
        shape = re.search(r"\[([\d,]+)\] x", inputs)
        assert shape is not None, "x has axes"
        sizes = shape[1].split(",")
        dims["N"], sizes[axis] = (1, 2 * int(sizes[axis])), "N"
        inputs = inputs.replace(shape[0], f"[{','.join(sizes)}] x", 1)
    constants = f"<{case.constants}>" if case.constants else ""
    head = '<ir_version: 10, opset_import: ["" : 21]>'
    made = parser.parse_model(f"{head} g ({inputs}) => (float[?] y) {constants} {{ {case.nodes} }}")
    del made.graph.output[:]
    made.graph.output.append(helper.make_empty_tensor_value_info("y"))
    made = inference.infer_shapes(made)
    if not made.graph.output[0].type.WhichOneof("value"):
        made.graph.output[0].type.tensor_type.elem_type = case.element
    data: bytes = made.SerializeToString()
    return data, dims


def operands(case: SmallModel) -> list[np.ndarray[Any, Any]]:
    """Return random operands."""
    random, found = np.random.default_rng(0), []
    for kind, sizes in re.findall(r"(\w+)\[([\d,]+)\]", case.inputs):
        shape = [*map(int, sizes.split(","))]
        if kind in ("float", "double"):
            found.append(
                random.standard_normal(shape).astype({"float": "f4", "double": "f8"}[kind])
            )
        else:
            found.append(random.integers(0, HIGHEST, shape).astype(kind))
    return found


def least(run: Callable[[], object]) -> float:
    """Return the seconds of the processor that a run takes, in the mean of a short while."""
    run()
    start = process_time()
    run()
    count = max(1, int(PATIENCE / max(process_time() - start, 1e-7)))
    start = process_time()
    for _ in range(count):
        run()
    return (process_time() - start) / count


def measured(case: SmallModel, axis: int | None, gv: Any, ort: Any) -> tuple[float, float, float]:
    """Return the seconds of both, and the largest difference of their results."""
    data, dims = model_of(case, axis)
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    given = operands(case)
    feed = dict(zip([each.name for each in session.get_inputs()], given, strict=True))
    with gv.compile(data, dims=dims, threads=1, cache=False) as model:
        results = np.asarray(model.run(given)[0]), np.asarray(session.run(["y"], feed)[0])
        ours, theirs = (result.astype(np.float64) for result in results)
        apart = float(np.max(np.abs(ours - theirs), initial=0))
        times = [
            (least(lambda: model.run(given)), least(lambda: session.run(["y"], feed)))
            for _ in range(ROUNDS)
        ]
    one, other = (min(column) for column in zip(*times, strict=True))
    return one, other, apart


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    arguments.add_argument("--only", metavar="TEXTS", default="", help="what is in the rows' names")
    arguments.add_argument("--open", type=int, metavar="AXIS", help="of x: its size is a symbol")
    args = arguments.parse_args()
    gv, ort = (importlib.import_module(name) for name in ("gravure", "onnxruntime"))
    ratios = []
    for case in cases():
        if not any(text in str(case) for text in args.only.split(",")):
            continue
        ours, theirs, apart = measured(case, args.open, gv, ort)
        ratios.append(ours / theirs)
        row = f"{1e6 * ours:10.1f}{1e6 * theirs:10.1f}{ratios[-1]:8.2f}{apart:10.1e}  {case}"
        sys.stdout.write(row + "\n")
        sys.stdout.flush()
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        above = sum(ratio > 1.2 for ratio in ratios)
        sys.stdout.write(f"{mean:.2f} in the mean of {len(ratios)}, {above} above 1.2\n")


if __name__ == "__main__":
    main()
