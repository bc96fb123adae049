"""Train the demo's network on scikit-learn's handwritten digits and write it as ONNX.

    python tests/models/train_digits.py [FOLDER]

Writes `digits.onnx` and `digits_test.npz` (the 360 images that were held out, and their labels)
into tools/demo/, where `gravure demo` looks for them. Plain numpy, seeded: the same library
versions on the same machine give the same bytes.

    image 1x1x8x8 (ink, 0 to 16) -> /16 -> conv 16 -> norm -> relu -> conv 32 -> norm -> relu
        -> max pool 2 -> dense 10 -> logits
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits

Array = NDArray[np.float32]
Backward = Callable[[Array], Array]

HELD_OUT, SEED = 360, 0
EPOCHS, BATCH, RATE = 30, 48, 2e-3
EPSILON, MOMENTUM = 1e-5, 0.9
DEMO = Path(__file__).parents[2] / "tools" / "demo"


@dataclass
class Parameter:
    """An array that Adam moves against its gradient."""

    value: Array
    gradient: Array = field(init=False)
    mean: Array = field(init=False)
    square: Array = field(init=False)

    def __post_init__(self) -> None:
        self.mean, self.square = np.zeros_like(self.value), np.zeros_like(self.value)

    def move(self, step: int, rate: float) -> None:
        """Take Adam's step number `step`, counted from 1."""
        self.mean += 0.1 * (self.gradient - self.mean)
        self.square += 0.001 * (self.gradient**2 - self.square)
        mean, square = self.mean / (1 - 0.9**step), self.square / (1 - 0.999**step)
        self.value -= (rate * mean / (np.sqrt(square) + 1e-8)).astype(np.float32)


def patches(x: Array) -> Array:
    """Return the zero-padded 3x3 neighbourhood of each pixel: (n, 8, 8, channels * 9)."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = sliding_window_view(padded, (3, 3), axis=(2, 3))
    return windows.transpose(0, 2, 3, 1, 4, 5).reshape(*x.shape[:1], *x.shape[2:], -1)


@dataclass
class Convolution:
    """3x3, stride 1, padded, without bias: the normalisation behind it has one."""

    weight: Parameter

    def __call__(self, x: Array) -> tuple[Array, Backward]:
        """Return the output and the function from its gradient to the input's."""
        columns = patches(x)
        flat = self.weight.value.reshape(len(self.weight.value), -1)

        def backward(gradient: Array) -> Array:
            rows = gradient.transpose(0, 2, 3, 1).reshape(-1, len(flat))
            shape = self.weight.value.shape
            self.weight.gradient = (rows.T @ columns.reshape(len(rows), -1)).reshape(shape)
            turned = self.weight.value[:, :, ::-1, ::-1].transpose(1, 0, 2, 3)
            kernel = turned.reshape(shape[1], -1)
            return (patches(gradient) @ kernel.T).transpose(0, 3, 1, 2)

        return (columns @ flat.T).transpose(0, 3, 1, 2), backward


@dataclass
class Normalisation:
    """Batch normalisation over all but the channels."""

    scale: Parameter
    shift: Parameter
    mean: Array
    variance: Array

    def __call__(self, x: Array) -> tuple[Array, Backward]:
        """Normalise by the batch, and remember its statistics."""
        axes, wide = (0, 2, 3), (None, slice(None), None, None)
        mean, variance = x.mean(axes), x.var(axes)
        self.mean += (1 - MOMENTUM) * (mean - self.mean)
        self.variance += (1 - MOMENTUM) * (variance - self.variance)
        deviation = np.sqrt(variance + EPSILON)
        normal = (x - mean[wide]) / deviation[wide]

        def backward(gradient: Array) -> Array:
            self.scale.gradient = (gradient * normal).sum(axes)
            self.shift.gradient = gradient.sum(axes)
            centred = gradient - gradient.mean(axes)[wide]
            centred = centred - normal * (gradient * normal).mean(axes)[wide]
            return centred * (self.scale.value / deviation)[wide]

        return normal * self.scale.value[wide] + self.shift.value[wide], backward


def relu(x: Array) -> tuple[Array, Backward]:
    """Return max(x, 0), and its gradient."""
    return np.maximum(x, 0), lambda gradient: gradient * (x > 0)


def max_pool(x: Array) -> tuple[Array, Backward]:
    """Return the largest of each 2x2 square, and its gradient."""
    n, c, h, w = x.shape
    squares = x.reshape(n, c, h // 2, 2, w // 2, 2)
    largest = squares.max((3, 5))
    hit = squares == largest[:, :, :, None, :, None]
    share = hit / hit.sum((3, 5), keepdims=True)
    return largest, lambda g: (g[:, :, :, None, :, None] * share).reshape(x.shape).astype("f4")


class Network:
    """The digits network: its layers, forward and backward."""

    def __init__(self, random: np.random.Generator) -> None:
        def normal(*shape: int) -> Parameter:
            scale = np.sqrt(2 / np.prod(shape[1:]))
            return Parameter((random.standard_normal(shape) * scale).astype(np.float32))

        def norm(channels: int) -> Normalisation:
            one, zero = np.ones(channels, np.float32), np.zeros(channels, np.float32)
            return Normalisation(Parameter(one), Parameter(zero), zero.copy(), one.copy())

        self.convolutions = Convolution(normal(16, 1, 3, 3)), Convolution(normal(32, 16, 3, 3))
        self.norms = norm(16), norm(32)
        self.weight, self.bias = normal(10, 512), Parameter(np.zeros(10, np.float32))

    @property
    def parameters(self) -> list[Parameter]:
        """Return all that is trained."""
        norms = [part for norm in self.norms for part in (norm.scale, norm.shift)]
        return [*(c.weight for c in self.convolutions), *norms, self.weight, self.bias]

    def train(self, images: Array, labels: NDArray[np.int64], step: int, rate: float) -> None:
        """Take one step of Adam on one batch by the softmax cross-entropy."""
        (one, two), (norm_one, norm_two) = self.convolutions, self.norms
        x, trail = images / np.float32(16), []
        for layer in (one, norm_one, relu, two, norm_two, relu, max_pool):
            x, backward = layer(x)
            trail.append(backward)
        flat = x.reshape(len(x), -1)
        logits = flat @ self.weight.value.T + self.bias.value
        odds = np.exp(logits - logits.max(1, keepdims=True))
        gradient = odds / odds.sum(1, keepdims=True)
        gradient[np.arange(len(labels)), labels] -= 1
        gradient /= len(labels)
        self.weight.gradient, self.bias.gradient = gradient.T @ flat, gradient.sum(0)
        gradient = (gradient @ self.weight.value).reshape(x.shape)
        for backward in reversed(trail):
            gradient = backward(gradient)
        for parameter in self.parameters:
            parameter.move(step, rate)

    def constants(self) -> dict[str, Array]:
        """Return what the ONNX file holds, by name."""
        held = {
            "scale": np.array(1 / 16, np.float32),
            "weight": self.weight.value,
            "bias": self.bias.value,
        }
        for i, (conv, norm) in enumerate(zip(self.convolutions, self.norms, strict=True), 1):
            held |= {
                f"conv{i}.weight": conv.weight.value,
                f"norm{i}.scale": norm.scale.value,
                f"norm{i}.shift": norm.shift.value,
                f"norm{i}.mean": norm.mean,
                f"norm{i}.variance": norm.variance,
            }
        return held

    def to_onnx(self) -> onnx.ModelProto:
        """Return the network as an ONNX model for one image."""
        nodes = [helper.make_node("Mul", ["image", "scale"], ["x0"])]
        for i in (1, 2):
            norm = [f"norm{i}.{part}" for part in ("scale", "shift", "mean", "variance")]
            nodes += [
                helper.make_node(
                    "Conv", [f"x{i - 1}", f"conv{i}.weight"], [f"c{i}"], pads=[1, 1, 1, 1]
                ),
                helper.make_node(
                    "BatchNormalization", [f"c{i}", *norm], [f"n{i}"], epsilon=EPSILON
                ),
                helper.make_node("Relu", [f"n{i}"], [f"x{i}"]),
            ]
        nodes += [
            helper.make_node("MaxPool", ["x2"], ["pooled"], kernel_shape=[2, 2], strides=[2, 2]),
            helper.make_node("Flatten", ["pooled"], ["flat"], axis=1),
            helper.make_node("Gemm", ["flat", "weight", "bias"], ["logits"], transB=1),
        ]
        for node in nodes:
            node.name = f"{node.op_type}_{node.output[0]}"
        graph = helper.make_graph(
            nodes,
            "digits",
            [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 1, 8, 8])],
            [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, 10])],
            [numpy_helper.from_array(value, name) for name, value in self.constants().items()],
        )
        opset = [helper.make_opsetid("", 20)]
        model = helper.make_model(graph, opset_imports=opset, ir_version=10)
        model.producer_name = "train_digits.py"
        return model


def shifted(images: Array, random: np.random.Generator) -> Array:
    """Move each image by up to one pixel, so that the network does not learn places by heart."""
    padded = np.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)))
    rows, columns = random.integers(0, 3, (2, len(images)))
    windows = sliding_window_view(padded, (8, 8), axis=(2, 3))
    return windows[np.arange(len(images)), :, rows, columns]


def train(images: Array, labels: NDArray[np.int64]) -> Network:
    """Return a trained network."""
    random = np.random.default_rng(SEED)
    network, step = Network(random), 0
    steps = EPOCHS * (len(images) // BATCH)
    for _ in range(EPOCHS):
        order = random.permutation(len(images))
        for start in range(0, len(images) - BATCH + 1, BATCH):
            chosen = order[start : start + BATCH]
            step += 1
            rate = RATE * (1 + np.cos(np.pi * step / steps)) / 2
            network.train(shifted(images[chosen], random), labels[chosen], step, rate)
    return network


def main(folder: Path) -> None:
    """Train, and write model and held-out images into a folder."""
    data = load_digits()
    order = np.random.default_rng(SEED).permutation(len(data.images))
    images = data.images[order, None].astype(np.float32)
    labels = data.target[order]
    network = train(images[HELD_OUT:], labels[HELD_OUT:])
    model = network.to_onnx()
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, folder / "digits.onnx")
    np.savez_compressed(
        folder / "digits_test.npz",
        images=images[:HELD_OUT].astype(np.uint8),
        labels=labels[:HELD_OUT].astype(np.uint8),
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DEMO)
