"""The networks of the examples in torch's words, for `data_parallel.py`: same sizes, same steps.

It needs torch only, not gravure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

torch: Any = import_module("torch")
nn: Any = torch.nn
WORDS = 256


def conv_net(pixels: int = 28, width: int = 32, hidden: int = 128, classes: int = 10) -> Any:
    """Return two convolutions, the largest of each four pixels, and two dense layers."""
    left = (pixels - 4) // 2
    return nn.Sequential(
        *(nn.Conv2d(1, width, 3), nn.ReLU(), nn.Conv2d(width, 2 * width, 3), nn.ReLU()),
        *(nn.MaxPool2d(2), nn.Flatten(), nn.Linear(left * left * 2 * width, hidden), nn.ReLU()),
        nn.Linear(hidden, classes),
    )


def normalised(window: int, inputs: int, outputs: int, stride: int = 1) -> Any:
    """Return a convolution, normalised over the batch."""
    convolution = nn.Conv2d(inputs, outputs, window, stride, window // 2, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(outputs, track_running_stats=False))


class NarrowBlock(nn.Module):  # type: ignore[misc]
    """Three convolutions, added to what they were given."""

    def __init__(self, inputs: int, channels: int, stride: int) -> None:
        super().__init__()
        outputs = 4 * channels
        self.long = nn.Sequential(
            *(normalised(1, inputs, channels, stride), nn.ReLU()),
            *(normalised(3, channels, channels), nn.ReLU()),
            normalised(1, channels, outputs),
        )
        changes = stride != 1 or inputs != outputs
        self.short = normalised(1, inputs, outputs, stride) if changes else nn.Identity()

    def forward(self, x: Any) -> Any:
        """Add both."""
        return torch.relu(self.long(x) + self.short(x))


class ImageMean(nn.Module):  # type: ignore[misc]
    """The mean of an image."""

    def forward(self, x: Any) -> Any:
        """Return a row for each image."""
        return x.mean((2, 3))


def res_net(classes: int, stages: Sequence[tuple[int, int]], width: int) -> Any:
    """Return residual blocks behind a convolution."""
    layers, inputs = [normalised(7, 3, width, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)], width
    for number, (count, channels) in enumerate(stages):
        for place in range(count):
            stride = 2 if place == 0 and number > 0 else 1
            layers.append(NarrowBlock(inputs, channels, stride))
            inputs = 4 * channels
    return nn.Sequential(*layers, ImageMean(), nn.Linear(inputs, classes))


class TextBlock(nn.Module):  # type: ignore[misc]
    """Attention, then two dense layers, each added to what it was given."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.three, self.joined = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Any) -> Any:
        """Add what attention says, then what the layers make of it."""
        count, length, width = x.shape
        x = x + self.joined(self.attention(self.three(self.first(x)), count, length, width))
        inner = nn.functional.gelu(self.wide(self.second(x)), approximate="tanh")
        return x + self.narrow(inner)

    def attention(self, x: Any, count: int, length: int, width: int) -> Any:
        """Return for each position the mean of what earlier ones say, weighted by head."""
        parts = x.reshape(count, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        seen = nn.functional.scaled_dot_product_attention(*parts.unbind(0), is_causal=True)
        return seen.transpose(1, 2).reshape(count, length, width)


class TextNetwork(nn.Module):  # type: ignore[misc]
    """A causal transformer over bytes."""

    def __init__(
        self, length: int = 128, width: int = 256, heads: int = 4, blocks: int = 4
    ) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, width)
        self.places = nn.Parameter(0.02 * torch.randn(length, width))
        layers = [TextBlock(width, heads) for _ in range(blocks)]
        self.inner = nn.Sequential(*layers, nn.LayerNorm(width), nn.Linear(width, WORDS))

    def forward(self, text: Any) -> Any:
        """Return a row for each byte."""
        return self.inner(self.words(text) + self.places).flatten(0, 1)


def images(size: int, pixels: int = 28, classes: int = 10, channels: int = 1) -> tuple[Any, Any]:
    """Return random images and labels."""
    return torch.rand(size, channels, pixels, pixels), torch.randint(0, classes, (size,))


def photographs(size: int, pixels: int, classes: int) -> tuple[Any, Any]:
    """Return random images of three colours and labels."""
    return images(size, pixels, classes, channels=3)


def text(size: int, length: int = 128) -> tuple[Any, Any]:
    """Return random text and the bytes that follow."""
    made = torch.randint(0, WORDS, (size, length + 1))
    return made[:, :-1], made[:, 1:].flatten()


NETWORKS: dict[str, Callable[..., Any]] = {
    "convnet": conv_net, "resnet": res_net, "resnet50": res_net, "transformer": TextNetwork,
}  # fmt: skip
BATCHES: dict[str, Callable[..., Any]] = {
    "convnet": images, "resnet": photographs, "resnet50": photographs, "transformer": text,
}  # fmt: skip
