"""Random ONNX graphs with open sizes: gravure's results against onnxruntime's.

    python tests/corpus/models/chance.py FOLDER --seed 1 --graphs 100

A node is kept if onnxruntime takes it for two sets of sizes. What differs, is refused, or ends the
process is written into the folder: the model, what it was given, and `why`.
"""

from __future__ import annotations

import argparse
import os
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from grown import OPSETS, Graph, Value, info, start_session
from nodes import KINDS

Array = np.ndarray[Any, Any]


def grown(seed: int, most: int) -> Graph:
    """Return a random graph."""
    random = np.random.default_rng(seed)
    g = Graph(random, int(random.choice(OPSETS)))
    shapes: list[list[int | str]] = [["n", 4, "h", "w"], ["n", "h", 6], ["n", 6], [3, "w"]]
    tried: list[dict[str, int]] = [{"n": 2, "h": 5, "w": 6}, {"n": 1, "h": 7, "w": 4}]
    chosen = [shapes[i] for i in random.permutation(len(shapes))[: random.integers(1, 4)]]
    for number, shape in enumerate(chosen):
        name = f"x{number}"
        g.inputs.append(info(name, np.float32, shape))
        arrays = []
        for each, given in zip(tried, g.given, strict=True):
            size = [n if isinstance(n, int) else each[n] for n in shape]
            arrays.append(random.standard_normal(size).astype(np.float32))
            given[name] = arrays[-1]
        g.values.append(Value(name, arrays))
    names, weights = list(KINDS), np.array([weight for _, weight in KINDS.values()], float)
    for _ in range(30 * most):
        if len(g.nodes) >= most:
            break
        kind = str(random.choice(names, p=weights / weights.sum()))
        before = len(g.values), len(g.nodes)
        try:
            KINDS[kind][0](g)
        except Exception:  # what onnxruntime does not take is not part of the graph
            del g.values[before[0] :], g.nodes[before[1] :]
    return g


def finished(g: Graph) -> onnx.ModelProto:
    """Return the graph as a model, whose results are the values that nothing uses."""
    used = {name for node in g.nodes for name in node.input}
    for node in g.nodes:
        for attribute in node.attribute:
            used |= {name for inner in attribute.g.node for name in inner.input}
    made = {name for node in g.nodes for name in node.output}
    names = [v.name for v in g.values if v.name in made and v.name not in used]
    return g.model(g.nodes, names, g.inputs)


def difference(want: Array, got: Array) -> float:
    """Return the largest difference as a part of the largest magnitude."""
    if want.shape != got.shape or want.dtype != got.dtype:
        return float("inf")
    if want.dtype.kind not in "fc":
        wide = want.astype(np.float64) - got.astype(np.float64)
        return float(np.max(np.abs(wide), initial=0.0))
    if not np.array_equal(np.isnan(want), np.isnan(got)):
        return float("inf")
    fine = np.isfinite(want)
    if not np.array_equal(fine, np.isfinite(got)):
        return float("inf")
    scale = float(np.max(np.abs(want[fine]), initial=1.0))
    return float(np.max(np.abs(want[fine] - got[fine].astype(want.dtype)), initial=0.0)) / scale


def attempt(seed: int, most: int, level: str) -> tuple[str, str, onnx.ModelProto, Graph]:
    """Compare one graph; return its state, and why."""
    import gravure as gv  # noqa: PLC0415  (after the switches are set)

    g = grown(seed, most)
    model = finished(g)
    session = start_session(model)
    wanted = [session.run(None, given) for given in g.given]
    dims = {"n": (1, 4), "h": (1, 9), "w": (1, 9)}
    named = {dim.dim_param for x in g.inputs for dim in x.type.tensor_type.shape.dim}
    try:
        program = model.SerializeToString()
        made = gv.compile(
            program, dims={k: v for k, v in dims.items() if k in named}, level=level, cache=False
        )
        found = [made.run(given) for given in g.given]
    except gv.GravureError as error:
        return "refused", str(error), model, g
    except BaseException:
        return "crash", traceback.format_exc(), model, g
    names = [each.name for each in model.graph.output]
    for wants, gots in zip(wanted, found, strict=True):
        for name, want, got in zip(names, wants, gots, strict=True):
            worst = difference(want, np.asarray(got))
            if worst > 1e-4:
                return "wrong", f"{name}: {worst}\n{want}\n{np.asarray(got)}", model, g
    return "equal", type(made).__name__, model, g


def main() -> None:
    """Try random graphs, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--graphs", type=int, default=100)
    parser.add_argument("--nodes", type=int, default=8)
    parser.add_argument("--level", default="O2")
    args = parser.parse_args()
    warnings.simplefilter("error")
    __import__("gravure")
    count: Counter[str] = Counter()
    for seed in range(args.seed, args.seed + args.graphs):
        child = os.fork()
        if not child:
            try:
                state, why, model, g = attempt(seed, args.nodes, args.level)
            except BaseException:
                state, why, model, g = "broken", traceback.format_exc(), None, None
            if state not in ("equal",):
                where = args.folder / f"{state}-{seed}"
                where.mkdir(parents=True, exist_ok=True)
                (where / "why").write_text(why)
                if model is not None:
                    onnx.save(model, where / "model.onnx")
                    for number, given in enumerate(g.given):
                        np.savez(where / f"{number}.npz", **given)
            states = ("equal", "refused", "crash", "wrong", "broken")
            os._exit(10 + states.index(state))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        names = {10: "equal", 11: "refused", 12: "crash", 13: "wrong", 14: "broken"}
        count[names.get(code, f"ended {code}")] += 1
        if code not in names:
            print("seed", seed, "ended", code, flush=True)
        if seed % 20 == 0:
            print(seed, dict(count), flush=True)
    print(dict(count))


if __name__ == "__main__":
    main()
