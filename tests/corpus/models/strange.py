"""Small modules written by hand, of operations that are seldom met: sorting, scatters, loops.

Each is a function of tensors, its weights are drawn when it is made; `CASES` gives each with its
sizes, among them 0, 1 and odd ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import torch
from architectures import Axes, Case
from torch import Tensor, nn
from torch.nn import functional as fn

Made = Callable[..., Any]
Sizes = Sequence[Sequence[int]]


class Of(nn.Module):
    """A function of tensors as a module, beside the modules that it uses."""

    def __init__(self, run: Made, *parts: nn.Module) -> None:
        super().__init__()
        self.run, self.parts = run, nn.ModuleList(parts)

    def forward(self, *values: Tensor) -> Any:
        return self.run(*self.parts, *values)


def floats(*size: int) -> Tensor:
    """Return random numbers."""
    return torch.randn(*size)


def below(most: int) -> Callable[..., Tensor]:
    """Return what draws whole numbers below another."""
    return lambda *size: torch.randint(0, most, size)


def case(
    run: Made, names: str, *sizes: Sizes, parts: Sequence[nn.Module] = (), axes: Sequence[str],
    draw: Sequence[Callable[..., Tensor]] = (), edges: Sequence[Sizes] = (),
) -> Case:  # fmt: skip
    """Return a case: names of inputs, what sizes they have in each try, names of their axes.

    Axes are said as `b.n`: the first is open and called b, the second is not, the third is n.
    """
    split = names.split()
    drawn = [*draw, *[floats] * (len(split) - len(draw))]
    given = [
        {n: make(*size) for n, make, size in zip(split, drawn, each, strict=True)}
        for each in (*sizes, *edges)
    ]
    opened: Axes = {
        name: {i: letter for i, letter in enumerate(letters) if letter != "."}
        for name, letters in zip(split, axes, strict=True)
    }
    return Case(Of(run, *parts), given[: len(sizes)], opened, given[len(sizes) :])


IMAGE = ([[1, 4, 8, 8]], [[2, 4, 12, 10]])
ODD = ([[1, 4, 9, 7]], [[3, 4, 1, 1]], [[0, 4, 8, 8]])
ROWS = ([[1, 6, 8]], [[2, 9, 8]])
FEW = ([[1, 1, 8]], [[2, 0, 8]], [[0, 6, 8]])


def of_image(run: Made, *parts: nn.Module, edges: Sequence[Sizes] = ODD) -> Case:
    """Return a case of images of any size."""
    return case(run, "x", *IMAGE, parts=parts, axes=["b.hw"], edges=edges)


def of_rows(run: Made, *parts: nn.Module, edges: Sequence[Sizes] = FEW) -> Case:
    """Return a case of sequences of any length."""
    return case(run, "x", *ROWS, parts=parts, axes=["bn."], edges=edges)


# -- attention and sequences --------------------------------------------------------------


def linear_attention(to: nn.Module, x: Tensor) -> Tensor:
    q, k, v = to(x).chunk(3, -1)
    q, k = fn.elu(q) + 1, fn.elu(k) + 1
    context = torch.einsum("bnd,bne->bde", k, v)
    scale = 1 / (torch.einsum("bnd,bd->bn", q, k.sum(1)) + 1e-6)
    return torch.einsum("bnd,bde,bn->bne", q, context, scale)


def alibi(to: nn.Module, x: Tensor) -> Tensor:
    b, n, d = x.shape
    q, k, v = (t.view(b, n, 2, d // 2).transpose(1, 2) for t in to(x).chunk(3, -1))
    place = torch.arange(n)
    bias = -(place[None, :] - place[:, None]).abs() * torch.tensor([0.5, 0.25]).view(2, 1, 1)
    causal = torch.full((n, n), float("-inf")).triu(1)
    weights = (q @ k.transpose(-1, -2) / (d // 2) ** 0.5 + bias + causal).softmax(-1)
    return (weights @ v).transpose(1, 2).reshape(b, n, d)


def rotary(to: nn.Module, x: Tensor) -> Tensor:
    b, n, d = x.shape
    q, k, v = (t.view(b, n, 2, d // 2).transpose(1, 2) for t in to(x).chunk(3, -1))
    angle = torch.outer(torch.arange(n).float(), 1 / 10 ** (torch.arange(0, d // 2, 2) / 4))
    cos, sin = angle.cos().repeat_interleave(2, -1), angle.sin().repeat_interleave(2, -1)

    def turned(t: Tensor) -> Tensor:
        even, odd = t[..., ::2], t[..., 1::2]
        return t * cos + torch.stack([-odd, even], -1).flatten(-2) * sin

    made = fn.scaled_dot_product_attention(turned(q), turned(k), v, is_causal=True)
    return made.transpose(1, 2).reshape(b, n, d)


def chunks_of_attention(to: nn.Module, x: Tensor) -> Tensor:
    """Attention inside of windows of four; the end is padded and cut off."""
    n = x.shape[1]
    short = (4 - n % 4) % 4
    q, k, v = fn.pad(to(x), (0, 0, 0, short)).unflatten(1, (-1, 4)).chunk(3, -1)
    seen = (torch.arange(n + short) < n).view(1, -1, 1, 4)
    weights = (q @ k.transpose(-1, -2)).masked_fill(~seen, -1e9).softmax(-1)
    return (weights @ v).flatten(1, 2)[:, :n]


def relative(to: nn.Module, table: nn.Module, x: Tensor) -> Tensor:
    n = x.shape[1]
    q, k, v = to(x).chunk(3, -1)
    gap = (torch.arange(n)[:, None] - torch.arange(n)[None]).clamp(-4, 4) + 4
    more = torch.einsum("bid,ijd->bij", q, table(gap))
    return ((q @ k.transpose(-1, -2) + more) / 3).softmax(-1) @ v


def selective_scan(to: nn.Module, x: Tensor) -> Tensor:
    """A state-space layer whose steps are sums along the length."""
    step, into, out = to(x).split([8, 8, 8], -1)
    step = fn.softplus(step)
    kept = torch.cumsum(-step, 1)
    inside = torch.cumsum(torch.exp(-kept).clamp(max=1e4) * step * into * x, 1)
    return torch.exp(kept) * inside * out


def causal_convolution(conv: nn.Module, x: Tensor) -> Tensor:
    y = conv(fn.pad(x.transpose(1, 2), (6, 0)))
    left, right = y.chunk(2, 1)
    return (torch.tanh(left) * torch.sigmoid(right)).transpose(1, 2)


def pooled_by_mask(x: Tensor, length: Tensor) -> Any:
    seen = torch.arange(x.shape[1])[None] < length[:, None]
    mean = (x * seen.unsqueeze(-1)).sum(1) / seen.sum(1, keepdim=True).clamp(min=1)
    most = x.masked_fill(~seen.unsqueeze(-1), -100.0).amax(1)
    last = x.gather(1, (length - 1).clamp(min=0).view(-1, 1, 1).expand(-1, 1, x.shape[2]))
    return mean, most, last.squeeze(1)


def shifted(x: Tensor) -> Any:
    return x.roll(2, 1) - x.roll((-1, 3), (1, 2)), x.flip(1) * x, x.diff(dim=1)


def kernels_of_words(x: Tensor, w: Tensor) -> Tensor:
    """A convolution whose weights are data, of its own for each of the batch."""
    b, n, d = x.shape
    made = fn.conv1d(x.transpose(1, 2).reshape(1, b * d, n), w.view(b * d, 1, 3),
                    padding=1, groups=b * d)  # fmt: skip
    return made.view(b, d, n).transpose(1, 2)


# -- choosing, sorting, scattering --------------------------------------------------------


def experts(gate: nn.Module, first: nn.Module, second: nn.Module, x: Tensor) -> Tensor:
    """Two of three experts for each row; each sees only its own rows."""
    rows = x.flatten(0, 1)
    weights, chosen = gate(rows).softmax(-1).topk(2, -1)
    weights = weights / weights.sum(-1, keepdim=True)
    made = torch.zeros_like(rows)
    for number, expert in enumerate((first, second, first)):
        row, place = torch.where(chosen == number)
        made = made.index_add(0, row, expert(rows[row]) * weights[row, place, None])
    return made.view_as(x)


def nucleus(x: Tensor) -> Tensor:
    """Keeps of chances the largest, up to a sum."""
    order = x.sort(-1, descending=True)
    total = order.values.softmax(-1).cumsum(-1)
    drop = (total - order.values.softmax(-1)) > 0.7
    return x.masked_fill(drop.scatter(-1, order.indices, drop), -1e4).softmax(-1)


def neighbours(mix: nn.Module, x: Tensor) -> Tensor:
    """A layer on the graph of the three nearest."""
    far = torch.cdist(x, x)
    near = far.topk(3, dim=-1, largest=False).indices
    b = x.shape[0]
    found = x[torch.arange(b).view(b, 1, 1), near]
    edges = torch.cat([x.unsqueeze(2).expand(-1, -1, 3, -1), found - x.unsqueeze(2)], -1)
    return mix(edges).amax(2)


def messages(mix: nn.Module, x: Tensor, edges: Tensor) -> Tensor:
    """Sums along edges, and means of what arrives."""
    source, target = edges[0], edges[1]
    sent = mix(torch.cat([x[source], x[target]], -1))
    total = torch.zeros(x.shape[0], 8).index_add(0, target, sent)
    count = torch.zeros(x.shape[0]).scatter_add(0, target, torch.ones_like(target).float())
    most = torch.zeros(x.shape[0], 8).scatter_reduce(
        0, target.unsqueeze(1).expand(-1, 8), sent, "amax"
    )
    return total / count.clamp(min=1).unsqueeze(1) + most


def codebook(table: nn.Embedding, x: Tensor) -> Any:
    rows = x.reshape(-1, 8)
    far = (rows**2).sum(1, keepdim=True) + (table.weight**2).sum(1) - 2 * rows @ table.weight.t()
    chosen = far.argmin(1)
    used = fn.one_hot(chosen, 16).float().mean(0)
    return table(chosen).view_as(x), torch.exp(-(used * (used + 1e-9).log()).sum())


def ranks(x: Tensor) -> Any:
    order = x.argsort(dim=1, stable=True)
    rank = order.argsort(dim=1)
    middle = x.sort(1).values[:, x.shape[1] // 2]
    return rank, middle, torch.gather(x, 1, order) - x


def distinct(x: Tensor) -> Any:
    whole = (x * 2).round().long().flatten()
    values, inverse, counts = torch.unique(whole, return_inverse=True, return_counts=True)
    return values, inverse, counts, values[inverse] - whole


def kept_rows(mix: nn.Module, x: Tensor) -> Any:
    """Rows that a mask keeps, and what they are put back as."""
    keep = x.sum(-1) > 0
    some = mix(x[keep])
    back = x.clone()
    back[keep] = some
    return some, back, torch.nonzero(keep)


def suppressed(x: Tensor) -> Any:
    ops = __import__("torchvision").ops
    rows = x.flatten(0, 1)
    start = rows[:, :2].sigmoid()
    boxes = torch.cat([start, start + rows[:, 2:4].abs() + 0.1], 1)
    kept = ops.nms(boxes, rows[:, 4], 0.3)
    return boxes[kept], kept


def regions(x: Tensor) -> Tensor:
    ops = __import__("torchvision").ops
    boxes = torch.tensor([[0, 0.0, 0.0, 3.0, 4.0], [0, 1.0, 1.5, 6.0, 5.0]])
    return ops.roi_align(x, boxes, (3, 3), 0.5, 2, aligned=True)


def buckets(x: Tensor) -> Tensor:
    edges = torch.tensor([-1.0, -0.5, 0.0, 0.25, 1.0])
    return torch.bucketize(x, edges) + torch.searchsorted(edges, x, right=True)


def put(x: Tensor, where: Tensor) -> Tensor:
    y = torch.zeros(x.shape[0], 5, x.shape[2])
    y = y.index_put((torch.arange(x.shape[0]).unsqueeze(1), where), x, accumulate=True)
    return torch.cat([y, x], 1).index_select(1, torch.tensor([0, 2, 4]))


# -- images -------------------------------------------------------------------------------


def spatial_transformer(place: nn.Module, x: Tensor) -> Tensor:
    theta = place(fn.adaptive_avg_pool2d(x, 1).flatten(1)).view(-1, 2, 3)
    grid = fn.affine_grid(theta, [x.shape[0], x.shape[1], 6, 5], align_corners=False)
    return fn.grid_sample(x, grid, padding_mode="border", align_corners=False)


def folded(x: Tensor) -> Tensor:
    patches = fn.unfold(x, 3, padding=1)
    mixed = patches * patches.softmax(1)
    return fn.fold(mixed, (x.shape[2], x.shape[3]), 3, padding=1)


def unpooled(x: Tensor) -> Tensor:
    small, where = fn.max_pool2d(x, 2, return_indices=True)
    return fn.max_unpool2d(small, where, 2)


def shuffled(conv: nn.Module, x: Tensor) -> Tensor:
    y = fn.pixel_shuffle(conv(x), 2)
    y = fn.channel_shuffle(fn.pixel_unshuffle(y, 2), 4)
    return y + fn.interpolate(x, scale_factor=1.0).repeat(1, 4, 1, 1)


def skipping(down: nn.Module, up: nn.Module, x: Tensor) -> Tensor:
    """A network that goes down and up; what is one too large is cut to what it is added to."""
    small = fn.relu(down(x))
    large = fn.interpolate(up(small), scale_factor=2, mode="nearest")
    h, w = min(large.shape[2], x.shape[2]), min(large.shape[3], x.shape[3])
    return torch.cat([large[:, :, :h, :w], x[:, :, :h, :w]], 1)


def resized_like(x: Tensor) -> Any:
    small = fn.avg_pool2d(x, 3, 2, ceil_mode=True, count_include_pad=False)
    back = fn.interpolate(small, x.shape[2:], mode="bilinear", align_corners=True)
    fine = fn.interpolate(small, x.shape[2:], mode="bicubic", align_corners=False)
    return back - x, fine


def pyramid_of_pools(x: Tensor) -> Tensor:
    found = [fn.adaptive_max_pool2d(x, n).flatten(1) for n in (1, 2, 4)]
    return torch.cat([*found, x.mean((2, 3)), x.std((2, 3)), x.amax((2, 3))], 1)


def styled(x: Tensor) -> Tensor:
    mean, std = x.mean((2, 3), keepdim=True), x.var((2, 3), keepdim=True, unbiased=False).sqrt()
    gram = torch.einsum("bchw,bdhw->bcd", x, x) / (x.shape[2] * x.shape[3])
    return ((x - mean) / (std + 1e-5)).flatten(2).transpose(1, 2) @ gram


def blocked(x: Tensor) -> Tensor:
    """Windows by reshaping, with what lacks padded."""
    h, w = x.shape[2], x.shape[3]
    y = fn.pad(x, (0, (4 - w % 4) % 4, 0, (4 - h % 4) % 4), mode="constant", value=0.5)
    b, c, high, wide = y.shape
    y = y.view(b, c, high // 4, 4, wide // 4, 4).permute(0, 2, 4, 3, 5, 1).reshape(-1, 16, c)
    y = y.softmax(1).view(b, high // 4, wide // 4, 4, 4, c).permute(0, 5, 1, 3, 2, 4)
    return y.reshape(b, c, high, wide)[:, :, :h, :w]


def soft_argmax(x: Tensor) -> Tensor:
    b, c, h, w = x.shape
    chance = x.flatten(2).softmax(-1).view(b, c, h, w)
    ys, xs = torch.meshgrid(torch.arange(h).float(), torch.arange(w).float(), indexing="ij")
    return torch.stack([(chance * ys).sum((2, 3)), (chance * xs).sum((2, 3))], -1)


def correlation(x: Tensor) -> Tensor:
    """What lies around each place, compared with it."""
    h, w = x.shape[2], x.shape[3]
    wide = fn.pad(x, (2, 2, 2, 2), mode="replicate")
    found = [
        (x * wide[:, :, i : i + h, j : j + w]).mean(1, keepdim=True)
        for i in range(0, 5, 2)
        for j in range(0, 5, 2)
    ]
    return torch.cat(found, 1)


def warped(x: Tensor) -> Tensor:
    """What a flow moves, the flow taken from the channels."""
    h, w = x.shape[2], x.shape[3]
    ys, xs = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij")
    grid = torch.stack([xs, ys], -1).float() + x[:, :2].permute(0, 2, 3, 1)
    size = torch.tensor([max(w - 1, 1), max(h - 1, 1)])
    return fn.grid_sample(x, 2 * grid / size - 1, mode="nearest", align_corners=True)


# -- signals and numbers ------------------------------------------------------------------


def spectrum(x: Tensor) -> Tensor:
    window = torch.hann_window(16)
    made = torch.stft(x.flatten(1), 16, 4, window=window, center=False, return_complex=False)
    power = made.pow(2).sum(-1)
    return torch.log10(power.clamp(min=1e-6))


def wavelet(x: Tensor) -> Tensor:
    even, odd = x[:, 0::2], x[:, 1::2]
    n = odd.shape[1]
    low, high = (even[:, :n] + odd) / 2**0.5, (even[:, :n] - odd) / 2**0.5
    return torch.stack([low, high], 2).flatten(1, 2).cumsum(1)


def splines(weight: nn.Module, x: Tensor) -> Tensor:
    """A layer of splines: bases by recursion."""
    grid = torch.linspace(-2, 2, 9)
    y = x.unsqueeze(-1)
    bases = ((y >= grid[:-1]) & (y < grid[1:])).to(x.dtype)
    for k in (1, 2):
        left = (y - grid[: -(k + 1)]) / (grid[k:-1] - grid[: -(k + 1)]) * bases[..., :-1]
        right = (grid[k + 1 :] - y) / (grid[k + 1 :] - grid[1:-k]) * bases[..., 1:]
        bases = left + right
    return weight(bases.flatten(-2))


def integrated(field: nn.Module, x: Tensor) -> Tensor:
    """Four steps of Runge and Kutta."""
    for _ in range(4):
        a = field(x)
        b = field(x + 0.125 * a)
        c = field(x + 0.125 * b)
        x = x + 0.25 / 6 * (a + 2 * b + 2 * c + field(x + 0.25 * c))
    return x


def transported(x: Tensor) -> Tensor:
    """Rows and columns of a plan scaled in turn."""
    plan = -torch.cdist(x, x.flip(1), p=1.0)
    for _ in range(5):
        plan = plan - plan.logsumexp(2, keepdim=True)
        plan = plan - plan.logsumexp(1, keepdim=True)
    return plan.exp()


def capsules(x: Tensor) -> Tensor:
    votes = x.unsqueeze(2) * torch.linspace(0.5, 2, 3).view(1, 1, 3, 1)
    logit = torch.zeros(x.shape[0], x.shape[1], 3, 1)
    made = votes[:, 0]
    for _ in range(3):
        total = (logit.softmax(2) * votes).sum(1)
        square = total.pow(2).sum(-1, keepdim=True)
        made = square / (1 + square) * total / (square + 1e-6).sqrt()
        logit = logit + (votes * made.unsqueeze(1)).sum(-1, keepdim=True)
    return made


def odd_numbers(x: Tensor) -> Any:
    return (
        torch.special.expit(x) * x.erf(),
        torch.atan2(x, x.flip(-1)), x.fmod(0.7), x.remainder(-0.7), torch.frac(x),
        torch.hypot(x, x + 1), torch.nan_to_num(x / x.round()), x.sign() * x.abs().log1p(),
        torch.where(x.isnan(), 0.0, x).trunc().int() // 3,
    )  # fmt: skip


def bits(x: Tensor) -> Any:
    whole = (x * 7).int()
    return whole & 5, whole | 2, whole ^ 3, whole << 1, (whole.abs() >> 1), ~whole


def halves(linear: nn.Module, x: Tensor) -> Tensor:
    y = x.half().float() + x.double().cumsum(1).float()
    return linear(y.to(torch.bfloat16).float()).masked_fill(y[..., :1] > 1, 0.0)


def stairs(x: Tensor) -> Any:
    n = x.shape[1]
    square = x @ x.transpose(1, 2)
    return (square.tril(-1), square.triu(1), torch.diagonal(square, 0, 1, 2),
            torch.diag_embed(x[:, :, 0]), torch.eye(n) + square,
            torch.ones(n, n).tril().cumsum(0))  # fmt: skip


def block(*channels: int) -> nn.Module:
    """Return layers of linear maps."""
    return nn.Sequential(
        *(part for a, b in pairwise(channels) for part in (nn.Linear(a, b), nn.GELU()))
    )


def bag() -> Case:
    """Return sums of embeddings, by offsets."""
    table = nn.EmbeddingBag(20, 8, mode="mean")
    return case(lambda t, x, start: t(x, start), "x start", [[9], [3]], [[12], [4]],
                parts=[table], axes=["n", "m"],
                draw=[below(20), lambda n: torch.arange(n) * 3])  # fmt: skip


# -- with loops, by scripts ---------------------------------------------------------------


class Viterbi(nn.Module):
    """The best path, forward and back."""

    def __init__(self) -> None:
        super().__init__()
        self.moves = nn.Parameter(torch.randn(4, 4))

    def forward(self, x: Tensor) -> Tensor:
        score = x[0]
        back: list[Tensor] = []
        for i in range(1, x.size(0)):
            best = (score.unsqueeze(1) + self.moves).max(0)
            score = best[0] + x[i]
            back.append(best[1])
        path = [score.argmax(0)]
        for i in range(len(back)):
            path.append(back[len(back) - 1 - i][path[-1]])
        return torch.stack(path)


class Farthest(nn.Module):
    """Points that lie far from each other, one by one."""

    def forward(self, x: Tensor, count: Tensor) -> Tensor:
        far = torch.full([x.size(0)], 1e9)
        last = torch.zeros([1], dtype=torch.long)
        found = last
        for _ in range(int(count) - 1):
            far = torch.minimum(far, (x - x[last]).pow(2).sum(1))
            last = far.argmax(0, keepdim=True)
            found = torch.cat([found, last])
        return x[found]


class Merged(nn.Module):
    """What repeats, left out, as connectionist models do."""

    def forward(self, x: Tensor) -> Tensor:
        best = x.argmax(-1)
        kept: list[Tensor] = []
        last = torch.tensor(-1)
        for i in range(best.size(0)):
            if bool(best[i] != last) and bool(best[i] != 0):
                kept.append(best[i])
            last = best[i]
        return torch.stack(kept) if len(kept) > 0 else best[:0]


class Adaptive(nn.Module):
    """Layers until what they add is small, at most nine, and how many."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        count = torch.zeros([], dtype=torch.long)
        for _ in range(9):
            y = torch.tanh(self.layer(x))
            count = count + 1
            if bool((y - x).abs().mean() < 0.3):
                break
            x = 0.5 * x + 0.5 * y
        return x, count


class Windowed(nn.Module):
    """Parts of a long signal, each by itself, joined again."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Conv1d(2, 2, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        made: list[Tensor] = []
        start = 0
        while start < x.size(2):
            made.append(self.layer(x[:, :, start : start + 5]) + float(start))
            start += 5
        return torch.cat(made, 2)


class Nested(nn.Module):
    """Loops in loops in branches."""

    def forward(self, x: Tensor, n: Tensor) -> Tensor:
        total = torch.zeros_like(x)
        for i in range(int(n)):
            if i % 2 == 0:
                for j in range(i):
                    total = total + x * float(j)
            elif bool(total.sum() > 3):
                total = total.cumsum(0)
            else:
                total = total - x.flip(0)
        return total


def scripted(module: nn.Module, names: str, axes: Sequence[str], *sizes: Sequence[Any]) -> Case:
    """Return a case of a script: sizes, or numbers, for each input."""
    split = names.split()
    given = [
        {n: floats(*s) if isinstance(s, list) else torch.tensor(s)
         for n, s in zip(split, each, strict=True)}
        for each in sizes
    ]  # fmt: skip
    opened: Axes = {
        name: {i: letter for i, letter in enumerate(letters) if letter != "."}
        for name, letters in zip(split, axes, strict=True)
    }
    return Case(torch.jit.script(module), given[:2], opened, given[2:])


CASES: dict[str, Callable[[], Case]] = {
    "linear_attention": lambda: of_rows(linear_attention, nn.Linear(8, 24)),
    "alibi": lambda: of_rows(alibi, nn.Linear(8, 24)),
    "rotary": lambda: of_rows(rotary, nn.Linear(8, 24)),
    "chunks": lambda: of_rows(chunks_of_attention, nn.Linear(8, 24)),
    "relative": lambda: of_rows(relative, nn.Linear(8, 24), nn.Embedding(9, 8), edges=FEW[:1]),
    "scan": lambda: of_rows(selective_scan, nn.Linear(8, 24)),
    "causal": lambda: of_rows(causal_convolution, nn.Conv1d(8, 12, 4, dilation=2)),
    "masked": lambda: case(pooled_by_mask, "x length", [[2, 6, 8], [2]], [[3, 9, 8], [3]],
                           axes=["bn.", "b"], draw=[floats, below(5)],
                           edges=[[[1, 1, 8], [1]], [[2, 0, 8], [2]]]),
    "shifted": lambda: of_rows(shifted),
    "data_kernels": lambda: case(kernels_of_words, "x w", [[1, 6, 4], [1, 4, 3]],
                                 [[3, 9, 4], [3, 4, 3]], axes=["bn.", "b.."]),
    "multihead": lambda: of_rows(lambda m, x: m(x, x, x),
                                 nn.MultiheadAttention(8, 2, batch_first=True)),
    "encoder": lambda: of_rows(lambda m, x: m(x), nn.TransformerEncoder(
        nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, norm_first=True), 2)),
    "decoder": lambda: case(lambda m, x, y: m(y, x), "x y", [[1, 6, 8], [1, 3, 8]],
                            [[2, 9, 8], [2, 5, 8]], axes=["bn.", "bm."],
                            parts=[nn.TransformerDecoder(nn.TransformerDecoderLayer(
                                8, 2, 16, batch_first=True), 2)],
                            edges=[[[1, 1, 8], [1, 1, 8]]]),
    "projected_lstm": lambda: of_rows(lambda m, x: m(x)[0], nn.GRU(8, 6, 2, bidirectional=True)),
    "experts": lambda: of_rows(experts, nn.Linear(8, 3), block(8, 8), block(8, 8)),
    "nucleus": lambda: of_rows(nucleus),
    "neighbours": lambda: of_rows(neighbours, nn.Linear(16, 8), edges=[[[1, 3, 8]]]),
    "messages": lambda: case(messages, "x edges", [[5, 8], [2, 9]], [[7, 8], [2, 14]],
                             parts=[nn.Linear(16, 8)], axes=["n.", ".e"],
                             draw=[floats, below(5)], edges=[[[5, 8], [2, 0]]]),
    "codebook": lambda: of_rows(codebook, nn.Embedding(16, 8)),
    "ranks": lambda: of_rows(ranks),
    "distinct": lambda: of_rows(distinct),
    "kept_rows": lambda: of_rows(kept_rows, nn.Linear(8, 8)),
    "suppressed": lambda: of_rows(suppressed),
    "regions": lambda: of_image(regions),
    "buckets": lambda: of_rows(buckets),
    "put": lambda: case(put, "x where", [[2, 6, 8], [2, 6]], [[3, 9, 8], [3, 9]],
                        axes=["bn.", "bn"], draw=[floats, below(5)]),
    "transformer_of_space": lambda: of_image(spatial_transformer, nn.Linear(4, 6)),
    "folded": lambda: of_image(folded),
    "unpooled": lambda: of_image(unpooled),
    "shuffled": lambda: of_image(shuffled, nn.Conv2d(4, 16, 3, padding=1)),
    "skipping": lambda: of_image(skipping, nn.Conv2d(4, 6, 3, 2, 1), nn.Conv2d(6, 4, 1)),
    "resized_like": lambda: of_image(resized_like),
    "pools": lambda: case(pyramid_of_pools, "x", [[1, 4, 8, 8]], [[3, 4, 8, 8]], axes=["b"]),
    "styled": lambda: of_image(styled),
    "blocked": lambda: of_image(blocked),
    "soft_argmax": lambda: of_image(soft_argmax),
    "correlation": lambda: of_image(correlation),
    "warped": lambda: of_image(warped),
    "spectrum": lambda: of_rows(spectrum),
    "wavelet": lambda: of_rows(wavelet),
    "splines": lambda: of_rows(splines, nn.Linear(48, 8)),
    "integrated": lambda: of_rows(integrated, block(8, 16, 8)),
    "transported": lambda: of_rows(transported),
    "capsules": lambda: of_rows(capsules),
    "odd_numbers": lambda: of_rows(odd_numbers),
    "bits": lambda: of_rows(bits),
    "halves": lambda: of_rows(halves, nn.Linear(8, 8)),
    "stairs": lambda: of_rows(stairs),
    "bag": bag,
    "viterbi": lambda: scripted(Viterbi(), "x", ["n."], [[6, 4]], [[9, 4]], [[1, 4]]),
    "farthest": lambda: scripted(Farthest(), "x count", ["n.", ""], [[6, 3], 3], [[9, 3], 5],
                                 [[1, 3], 1]),
    "merged": lambda: scripted(Merged(), "x", ["n."], [[6, 3]], [[12, 3]], [[1, 3]]),
    "adaptive": lambda: scripted(Adaptive(), "x", ["n."], [[2, 8]], [[5, 8]], [[1, 8]]),
    "windowed": lambda: scripted(Windowed(), "x", ["b.n"], [[1, 2, 12]], [[2, 2, 15]], [[1, 2, 1]]),
    "nested": lambda: scripted(Nested(), "x n", ["m.", ""], [[3, 4], 4], [[5, 4], 7], [[2, 4], 0]),
}  # fmt: skip
