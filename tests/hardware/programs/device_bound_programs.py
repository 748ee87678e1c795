"""Programs that the device binds: their kernels are long, so that no host is why they are fast or slow.

    device_bound_programs.py NAME [options of loop.py]

Each takes at most about a gigabyte, so that many processes fit on a device.
"""

import loop
import torch
from torch import nn
from torch.nn import functional as F
from torch_programs import profiled, ranged

HALF = torch.bfloat16


class Decoder(nn.Module):
    """Layers of a language model with `heads` heads; looks at the words before."""

    def __init__(self, width, layers, heads, words=8192):
        super().__init__()
        self.words, self.heads = nn.Embedding(words, width), heads
        self.layers = nn.ModuleList(
            nn.ModuleDict({"norm": nn.LayerNorm(width), "mix": nn.Linear(width, 3 * width),
                           "out": nn.Linear(width, width), "norm2": nn.LayerNorm(width),
                           "up": nn.Linear(width, 4 * width), "down": nn.Linear(4 * width, width)})
            for _ in range(layers))
        self.head = nn.Linear(width, words)

    def forward(self, x):
        x = self.words(x)
        for layer in self.layers:
            parts = layer["mix"](layer["norm"](x)).chunk(3, -1)
            q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in parts)
            seen = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
            x = x + layer["out"](seen)
            x = x + layer["down"](F.gelu(layer["up"](layer["norm2"](x))))
        return self.head(x)


def prompt_reading(run):
    """Two layers as wide as those of a model of 7 billion weights look at prompts of 2048 words."""
    model = Decoder(4096, 2, 32, words=2048).to(HALF).cuda().eval()
    prompts = torch.randint(0, 2048, (1, 2048), device="cuda")

    def step():
        with torch.no_grad():
            model(prompts)[:, -1].argmax(-1).cpu()
    run.run(step, step_is="one prompt")


def long_attention(run):
    """Attention over 8192 words with 16 heads, four times; nothing else."""
    q, k, v = (torch.randn(1, 16, 8192, 64, device="cuda", dtype=HALF) for _ in range(3))

    def step():
        x = q
        for _ in range(4):
            x = F.scaled_dot_product_attention(x, k, v)
        x[0, 0, 0, 0].item()
    run.run(step, step_is="four attentions")


def volume_filter(run):
    """Three-dimensional convolutions of a volume of 96^3 in single precision."""
    model = nn.Sequential(nn.Conv3d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv3d(16, 16, 3, padding=1), nn.ReLU(),
                          nn.Conv3d(16, 1, 3, padding=1)).cuda().eval()
    volume = torch.randn(1, 1, 96, 96, 96, device="cuda")

    def step():
        with torch.no_grad():
            model(volume).sum().item()
    run.run(step, step_is="one volume")


def wave_equation(run):
    """Steps of a wave on a grid of 4096^2, each a few sweeps over memory; 8 make a step."""
    now, before = torch.randn(4096, 4096, device="cuda"), torch.zeros(4096, 4096, device="cuda")

    def step():
        nonlocal now, before
        for _ in range(8):
            sum_of_neighbours = (torch.roll(now, 1, 0) + torch.roll(now, -1, 0) + torch.roll(now, 1, 1)
                                 + torch.roll(now, -1, 1))
            now, before = 1.5 * now - before + 0.1 * sum_of_neighbours, now
            now = now.clamp(-10, 10)
        now[0, 0].item()
    run.run(step, step_is="8 steps of the wave")


def sorting(run):
    """Sorts 8 million numbers and adds them up along."""
    numbers = torch.randn(8 << 20, device="cuda")

    def step():
        ordered, _ = torch.sort(numbers)
        torch.cumsum(ordered, 0)[-1].item()
    run.run(step, step_is="one sort and one sum along")


def embedding_training(run):
    """A recommender gathers 24 features of 8192 visits from a table of 200,000 rows and learns."""
    table, top = nn.EmbeddingBag(200_000, 128, mode="sum").cuda(), nn.Sequential(
        nn.Linear(24 * 128, 1024), nn.ReLU(), nn.Linear(1024, 512), nn.ReLU(), nn.Linear(512, 1)).cuda()
    optimizer = torch.optim.SGD([*table.parameters(), *top.parameters()], 0.1)
    visits = torch.randint(0, 200_000, (8192 * 24, 1), device="cuda")

    def step():
        optimizer.zero_grad()
        loss = top(table(visits).view(8192, -1)).square().mean()
        loss.backward()
        optimizer.step()
        loss.item()
    run.run(step, step_is="one training step, which reads its loss")


def equations(run):
    """Solves 256 systems of 256 linear equations by Cholesky's method, and multiplies large matrices."""
    x = torch.randn(256, 256, 256, device="cuda")
    systems = x @ x.transpose(1, 2) + 256 * torch.eye(256, device="cuda")
    right = torch.randn(256, 256, 16, device="cuda")
    large = torch.randn(3072, 3072, device="cuda")

    def step():
        factors, _ = torch.linalg.cholesky_ex(systems)
        torch.cholesky_solve(right, factors)
        (large @ large)[0, 0].item()
    run.run(step, step_is="all systems and one product")


def spectrum_filter(run):
    """Filters 24 pictures of 1024^2 by way of their spectra."""
    pictures, mask = torch.randn(24, 1024, 1024, device="cuda"), torch.rand(1024, 513, device="cuda")

    def step():
        torch.fft.irfft2(torch.fft.rfft2(pictures) * mask)[0, 0, 0].item()
    run.run(step, step_is="all pictures")


if __name__ == "__main__":
    loop.Loop({f.__name__: f for f in (prompt_reading, long_attention, volume_filter, wave_equation, sorting,
                                       embedding_training, equations, spectrum_filter)},
              torch.cuda.synchronize, ranged, profiled)
