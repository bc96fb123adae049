"""Torch on the device that `bench_gpu` measures, and networks that both run: there and as ONNX.

Only who has torch imports this. Weights are random. Sizes are those of the papers, or small ones to
try the tool with.
Normalisation of ResNet-50 is folded into its convolutions, as it is to run it.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

Array = np.ndarray[Any, Any]
LENGTH = 128
"""Words of a text."""


class Bottleneck(nn.Module):  # type: ignore[misc]
    """Three convolutions around which the input goes, too."""

    def __init__(self, come: int, width: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(come, width, 1),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, stride, 1),
            nn.ReLU(),
            nn.Conv2d(width, 4 * width, 1),
        )
        changes = stride > 1 or come != 4 * width
        self.around = nn.Conv2d(come, 4 * width, 1, stride) if changes else nn.Identity()

    def forward(self, x: Any) -> Any:
        """Return both, added up."""
        return torch.relu(self.body(x) + self.around(x))


def resnet50(small: bool) -> Any:
    """Return the network of 3, 4, 6 and 3 bottlenecks."""
    counts, width = ((1, 1, 1, 1), 8) if small else ((3, 4, 6, 3), 64)
    parts: list[Any] = [nn.Conv2d(3, width, 7, 2, 3), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    come = width
    for stage, count in enumerate(counts):
        for number in range(count):
            parts.append(Bottleneck(come, width << stage, 2 if stage and not number else 1))
            come = 4 * width << stage
    return nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(come, 1000))


def attention(q: Any, k: Any, v: Any, *, causal: bool) -> Any:
    """Return attention: for ONNX, which torch writes in another type, by its parts."""
    if not torch.onnx.is_in_onnx_export():
        return functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
    scores = q @ k.transpose(-2, -1) * float(q.shape[-1]) ** -0.5
    if causal:
        place = torch.arange(int(q.shape[-2]))
        scores = scores.masked_fill(place > place[:, None], -torch.inf)
    return torch.softmax(scores, -1) @ v


class Layer(nn.Module):  # type: ignore[misc]
    """Attention and a network of two layers; what is added is normalised before, or the sum."""

    def __init__(self, width: int, heads: int, *, causal: bool) -> None:
        super().__init__()
        self.heads, self.causal = heads, causal
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.projections, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def attend(self, x: Any) -> Any:
        """Return what words take from each other."""
        batch, length, width = x.shape
        parts = self.projections(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        found = attention(*parts.unbind(0), causal=self.causal)
        return self.out(found.transpose(1, 2).reshape(batch, length, width))

    def think(self, x: Any) -> Any:
        """Return what each word makes of itself."""
        kind = "tanh" if self.causal else "none"
        return self.narrow(functional.gelu(self.wide(x), approximate=kind))

    def forward(self, x: Any) -> Any:
        """Return the words as they are then."""
        if self.causal:
            x = x + self.attend(self.first(x))
            return x + self.think(self.second(x))
        x = self.first(x + self.attend(x))
        return self.second(x + self.think(x))


class Words(nn.Module):  # type: ignore[misc]
    """A transformer of words: BERT, or, where words see only those before, GPT-2."""

    def __init__(self, vocabulary: int, small: bool, *, causal: bool) -> None:
        super().__init__()
        width, heads, depth = (64, 2, 2) if small else (768, 12, 12)
        self.causal = causal
        self.words, self.places = nn.Embedding(vocabulary, width), nn.Embedding(LENGTH, width)
        layers = [Layer(width, heads, causal=causal) for _ in range(depth)]
        self.layers, self.norm = nn.Sequential(*layers), nn.LayerNorm(width)

    def forward(self, numbers: Any) -> Any:
        """Return the words' vectors, or what may follow the last one."""
        x = self.words(numbers) + self.places.weight[: numbers.shape[1]]
        if not self.causal:
            return self.layers(self.norm(x))
        return self.norm(self.layers(x)[:, -1]) @ self.words.weight.T


Maker = Callable[[bool], Any]
MODELS: dict[str, Maker] = {
    "resnet50": resnet50,
    "bert_base": lambda small: Words(1000 if small else 30522, small, causal=False),
    "gpt2": lambda small: Words(1000 if small else 50257, small, causal=True),
}
"""What makes each network, of its own or a small size."""


def made(name: str, batch: int, dtype: str, *, small: bool) -> tuple[Any, Any]:
    """Return a network and its input, with random numbers."""
    torch.manual_seed(0)
    kind = {"f32": torch.float32, "bf16": torch.bfloat16}[dtype]
    network = MODELS[name](small).eval().to(kind)
    if name == "resnet50":
        size = 32 if small else 224
        return network, torch.randn(batch, 3, size, size).to(kind)
    length = 16 if small else LENGTH
    return network, torch.randint(0, 1000, (batch, length))


def exported(network: Any, x: Any) -> bytes:
    """Return a network as an ONNX model for inputs of this size."""
    file = io.BytesIO()
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            network, (x,), file, opset_version=17, dynamo=False, do_constant_folding=False
        )
    return file.getvalue()


def plain(tensor: Any) -> Array:
    """Return a tensor as an array; bf16 as f32."""
    wide = tensor.float() if tensor.is_floating_point() else tensor
    found: Array = wide.cpu().numpy()
    return found


@dataclass(frozen=True)
class Network:
    """A network on the device, the same as an ONNX model, and what it makes of an input."""

    module: Any
    given: Any
    onnx: bytes
    input: Array
    output: Array


class Peer:
    """Torch on one device; on the processor where the device is emulated."""

    def __init__(self, index: int | None) -> None:
        self.is_there = index is None or torch.cuda.is_available()
        self.said = f"torch {torch.__version__}"
        if not self.is_there:
            self.said += " sees no CUDA device"
        self.is_gpu = index is not None
        self.device = "cpu" if index is None else f"cuda:{index}"
        torch.backends.cudnn.allow_tf32 = False

    def tensor(self, array: Array) -> Any:
        """Return a copy of an array on the device."""
        if array.dtype.name == "bfloat16":
            return torch.from_numpy(array.astype(np.float32)).to(self.device, torch.bfloat16)
        return torch.from_numpy(array).to(self.device)

    def evaluation(self, text: str, names: Mapping[str, Any]) -> Callable[[], object]:
        """Return a function that evaluates an expression of tensors."""
        code, known = compile(text, text, "eval"), {"torch": torch, **names}

        def run() -> object:
            with torch.inference_mode():
                return eval(code, known)

        return run

    def seconds(self, action: Callable[[], object]) -> float:
        """Return how long the device works on what an action begins."""
        if not self.is_gpu:
            start = perf_counter()
            action()
            return perf_counter() - start
        with torch.cuda.device(self.device):
            begun, done = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begun.record()
            action()
            done.record()
            done.synchronize()
            return float(begun.elapsed_time(done)) * 1e-3

    def network(self, name: str, batch: int, dtype: str, *, small: bool) -> Network:
        """Return a network with random weights and input."""
        module, x = made(name, batch, dtype, small=small)
        onnx = exported(module, x)
        module, given = module.to(self.device), x.to(self.device)
        with torch.no_grad():
            return Network(module, given, onnx, plain(x), plain(module(given)))

    def compiled(self, network: Network) -> Callable[[], object]:
        """Return a function that runs a network as `torch.compile` does it, ready to be timed."""
        module = network.module
        if self.is_gpu:
            module = torch.compile(module, mode="reduce-overhead")

        def run() -> object:
            with torch.no_grad():
                return module(network.given)

        for _ in range(3):
            run()  # it is compiled, tried, and recorded
        return run
